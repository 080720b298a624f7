"""The steps that strategies are made of.

working_table.py      a hypernode's table of one predicate while it is maintained
recursion.py          a recursive hypernode with these tables, as rounds change them
merge_tables.py       the tables of hypernodes that have merged
aggregate_groups.py   the groups of aggregates that a change reaches
overdelete.py         taking out what may have lost its support
find_candidates.py    the stored facts that a round of overdeletion looks at
extend.py             adding what a change brings, round by round
one_edge.py           what a closure gains by one new edge, in one step
cascade.py            all rounds of taking out, or of adding, in one recursive statement
slices.py             only the rows that the work at hand can reach
partitions.py         relations that are kept as classes of connected nodes
change_plans.py       the plans that find what a change may take, and bring, and check it
"""
