"""The parts of a changed volume mesh, brought up to date from those of the mesh before (``mesh/changes.py``)."""
