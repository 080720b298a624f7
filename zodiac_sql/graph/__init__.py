"""The graph of rules: which hypernodes there are, their order, and what a change of rules does to them."""
