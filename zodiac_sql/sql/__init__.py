"""Rules as queries: one plan for a rule and a delta, one SELECT for a plan."""
