"""The same scenes in pliant and in other simulators of cloth: what each costs, and what it lets through."""

from bench.simulators.table import simulators

__all__ = ["simulators"]
