"""Bounds of moving features: boxes and k-DOPs that provably contain the motion."""
