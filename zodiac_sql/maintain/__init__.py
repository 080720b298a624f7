"""How one hypernode reacts to a change of its inputs: operators with one written contract.

contract.py     what an operator gets, what it returns, and what the driver relies on
registry.py     all operators, and the strategies that users may choose
weighed.py      what is known of a task before anything is done for it
operators/      the operators, a file each
papers/         the strategies of papers 3 and 4, as their algorithms are
steps/          the steps that several of them are made of
"""
