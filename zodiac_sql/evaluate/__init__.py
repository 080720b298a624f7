"""What a hypernode derives from its inputs, from scratch.

registry.py      all ways to evaluate a hypernode, a file each in operators/
semi_naive.py    a recursive hypernode, by a loop over delta tables
run_plans.py     what some plans derive of one predicate, into a temporary table
make_tables.py   temporary tables whose statements are the same in every change
cache_keys.py    what the text of a statement depends on
rule_errors.py   errors that name the rules they come from
groups_in_shares.py  aggregates in shares of their groups, where not all of them fit the memory
in_shares.py     a recursive statement in shares, where all of it would not fit the memory
partition/       closures kept as classes of connected nodes
"""
