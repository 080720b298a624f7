"""What work costs: the one estimator of sizes, and how the cheapest of several operators is found.

operator.py            what a way to do some work is, and how the cheapest that can do it is run
once.py                what is found out about a piece of work when an operator first asks
calibration.py         what statements and rows cost, in milliseconds: all estimates follow from it
sizes.py               what sizes of tables alone tell, before anything is counted
moves.py               what a change is expected to move of what rules derive
statistics.py          how many rows joins of a rule's atoms have, and how many different values
most_facts.py          how many facts a recursion derives at most
closures.py            how large a closure along known edges is
components.py          the components of the graph of these edges; strong.py finds them
rounds.py              when one recursive statement costs less than to go on round by round
products.py            what a product costs, and whether less than the join in its place
join_steps.py          which two atoms of a body to join first
choose_trees.py        which cyclic rules are decomposed, and how
"""
