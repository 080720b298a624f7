"""Explicit facts: from rows and files into staged tables, and out again."""
