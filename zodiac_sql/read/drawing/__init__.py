"""The graph of hypernodes as a picture.

draw.py     Drawing: what is drawn, in which format
panel.py    one graph of a drawing: the words, texts and colours that all formats share
contents.py what boxes say: rules, or predicates
merged.py   before and after a change as one graph
layout.py   where boxes and lines stand
shapes.py   what SVG documents are made of
svg.py      as an SVG document
mermaid.py  as a Mermaid flowchart
dot.py      as a Graphviz digraph
text.py     as text for a terminal
"""
