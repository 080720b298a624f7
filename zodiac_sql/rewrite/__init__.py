"""Other rules for the same facts: what stands inside a hypernode in place of what a user wrote."""
