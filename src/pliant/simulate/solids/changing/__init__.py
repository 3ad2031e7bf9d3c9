"""Solids whose topology changes: they split, erode, merge and are cut, with mass, momentum and their past."""
