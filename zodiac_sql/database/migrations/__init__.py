"""Numbered SQL files that bring a database file to the current catalog (zodiac_sql.store)."""
