"""Modules: rules with a shape that algorithms of their own evaluate faster (paper 2)."""
