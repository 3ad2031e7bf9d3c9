"""Articulated characters (paper 003): rigs from files, bodies of tetrahedra, Position Based Skinning, and on-demand
spatial hashing."""
