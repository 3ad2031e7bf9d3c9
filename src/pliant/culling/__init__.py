"""What whole patches of surface prove about themselves: normal cones and the unprojected contour test (paper 000)."""
