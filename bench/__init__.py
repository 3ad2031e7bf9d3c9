"""Benchmarks: times, pairs and memory of pliant and its peers. ``python -m bench`` runs them; see README.md."""
