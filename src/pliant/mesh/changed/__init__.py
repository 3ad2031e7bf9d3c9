"""The parts of a changed mesh, surface or volume, brought up to date from those of the mesh before
(paper 004, sections 5.1 and 6.3)."""
