"""How one hypernode reacts to a change of its inputs: one file per strategy, one written contract.

contract.py     what a strategy gets, what it returns, and what the driver relies on
choose.py       which strategy maintains a hypernode
auto.py         the cheapest strategy by estimated costs
recompute.py    evaluate anew, and compare with what was there
candidates.py   one rule that is not recursive: find candidates, check each once
components.py   find the components of a relation anew, and compare them
support.py      take out what has lost its support by ranks, then rederive
dred.py         take out all that may be lost, then rederive
bf.py           look for proofs before anything is taken out
prove.py        which facts are provable, for bf.py
fact_sets.py    the sets of facts that bf.py works with
marking.py      what one update of a stream finds out about the next
steps/          the steps that several strategies are made of
"""
