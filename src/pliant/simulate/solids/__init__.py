"""Elastic and plastic solid cells: shape functions, constitutive laws, forces and stiffness."""
