"""Cyclic rules by hypertree decomposition (paper 5)."""
