"""A program: what is known of it between two changes, and how a new one is checked and built."""
