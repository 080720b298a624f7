"""The strategies of papers 3 and 4, as their algorithms are, for those who choose them.

bf.py          look for proofs before anything is taken out (paper 3)
prove.py       which facts are provable, for bf.py
fact_sets.py   the sets of facts that bf.py works with
dred.py        take out all that may be lost, then rederive (paper 3, section 3)
marking.py     what one update of a stream finds out about the next (paper 4)
"""
