"""Writers: meshes, sequences, and meshes with what collides in red. Every file is whole or not there."""
