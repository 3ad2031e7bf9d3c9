"""Topology: edges, incidence, boundary, components, and which element owns which feature."""
