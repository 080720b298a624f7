"""Files into staged facts."""
