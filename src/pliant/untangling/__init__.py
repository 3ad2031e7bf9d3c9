"""Repair of what intersects: vertices move, connectivity stays."""
