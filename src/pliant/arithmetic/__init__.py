"""Arithmetic that the proofs stand on: vectors, error bounds of polynomials, double-doubles, wide integers, signs."""
