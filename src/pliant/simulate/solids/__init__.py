"""Solid cells and shells, elastic and plastic: shape functions, constitutive laws, forces and stiffness; pressure in
chambers; central differences; contact by impact forces."""
