"""The graph of rules as a picture."""
