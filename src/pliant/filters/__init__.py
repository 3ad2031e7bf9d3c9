"""Filters: cheap proofs that a pair of features does not meet. A filter discards only what it can prove."""
