"""How one hypernode reacts to a change of its inputs: one file per strategy, one written contract."""
