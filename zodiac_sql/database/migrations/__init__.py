"""Numbered SQL files that bring a database file to the current catalog (database/migrate.py)."""
