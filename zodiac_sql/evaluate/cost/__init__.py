"""Estimates of sizes, and what is decided by them."""
