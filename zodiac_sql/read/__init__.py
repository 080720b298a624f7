"""Asking: queries, descriptions, verification and drawings."""
