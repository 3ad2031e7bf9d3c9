"""The parts of a changed mesh, surface or volume, brought up to date from those of the mesh before."""
