"""Closures that are kept as classes of nodes rather than pairs (paper 2, section 6)."""
