"""The elementary test: do a vertex and a triangle, or two edges, meet during the motion, and when."""
