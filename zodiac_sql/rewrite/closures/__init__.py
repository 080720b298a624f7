"""Modules: rules with a shape that algorithms of their own evaluate faster (paper 2).

`module.py`                what a module is, and what strategies expect of it
`shapes.py`                which rules have which shape
`recognise.py`             the modules in the rules of a hypernode
`transitive.py`            the transitive closure
`condensed.py`             the same as components, and which of them reach which
`symmetric_transitive.py`  the symmetric transitive closure, of which only classes are stored
"""
