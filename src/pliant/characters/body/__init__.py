"""The body of a character: tetrahedra under its skin, how bones carry them, obstacles around it."""
