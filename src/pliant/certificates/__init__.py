"""Certificates: why a result is true, in a file that anybody can check."""
