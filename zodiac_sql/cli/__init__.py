"""The command `zodiac`."""
