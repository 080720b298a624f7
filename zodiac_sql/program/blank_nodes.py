"""Blank nodes of a new version of an ontology: those that are as before keep their names.

A file's blank nodes are named after the file's content, so in a new version all have other names.
Two blank nodes are alike if all that is said of them is, where other blank nodes count for what is
said of those. If several are alike, their order decides. So some facts may come and go that need
not, but never is one wrong: blank nodes get different names, and each fact says what it said.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zodiac_sql.language.syntax import Atom, Constant, Term

_Node = tuple[int, str]
"""A blank node: whether it is of the facts before (0) or of those now (1), and its name."""


def is_blank(term: Term) -> bool:
    """Whether a term of a fact is a blank node."""
    value = term.value if isinstance(term, Constant) else None
    return isinstance(value, str) and value.startswith("_:")


def of_blanks(facts: Iterable[Atom]) -> list[Atom]:
    """The facts that have blank nodes: of thousands in an ontology, a few."""
    return [fact for fact in facts if any(map(is_blank, fact.terms))]


def names_from(before: Sequence[Atom], facts: Sequence[Atom]) -> dict[str, str]:
    """The names that blank nodes of some facts had before, as far as any was alike."""
    sides = (_names(before), _names(facts))
    both = sides[0] & sides[1]  # of a file that has not changed
    colours = _colours([_said(before, 0, both), _said(facts, 1, both)])
    alike: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, name in sorted(colours, key=lambda node: (len(node[1]), node[1])):
        alike[colours[side, name]][side].append(name)
    return dict(pair for olds, news in alike.values() for pair in zip(news, olds, strict=False))


def _names(facts: Iterable[Atom]) -> set[str]:
    return {_text(term) for fact in facts for term in fact.terms if is_blank(term)}


def _said(facts: Iterable[Atom], side: int, known: set[str]) -> dict[_Node, list[Atom]]:
    """What is said of each blank node, without those that are known by their names."""
    said: dict[_Node, list[Atom]] = defaultdict(list)
    for fact in facts:
        for name in {_text(term) for term in fact.terms if is_blank(term)} - known:
            said[side, name].append(fact)
    return said


def _colours(sides: Iterable[Mapping[_Node, Sequence[Atom]]]) -> dict[_Node, str]:
    """A text for each blank node: those that are alike have the same.

    At first all do. Each round tells more of them apart, until one tells no more.
    """
    said = {node: facts for side in sides for node, facts in side.items()}
    colours = dict.fromkeys(said, "")
    while True:
        told = {node: _colour(node, facts, colours) for node, facts in said.items()}
        if len(set(told.values())) == len(set(colours.values())):
            return told
        colours = told


def _colour(node: _Node, facts: Iterable[Atom], colours: Mapping[_Node, str]) -> str:
    def shown(term: Term) -> tuple[str, str]:
        other = node[0], _text(term)
        if other == node:
            return "itself", ""
        if other in colours and is_blank(term):
            return "blank", colours[other]
        return str(getattr(term, "type", "")), _text(term)

    parts = sorted((fact.predicate, *map(shown, fact.terms)) for fact in facts)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def renamed(fact: Atom, names: Mapping[str, str]) -> Atom:
    """A fact whose blank nodes have other names."""
    if not any(is_blank(term) for term in fact.terms):
        return fact
    terms = (
        replace(term, value=names[_text(term)])
        if isinstance(term, Constant) and is_blank(term) and _text(term) in names
        else term
        for term in fact.terms
    )
    return replace(fact, terms=tuple(terms))


def _text(term: Term) -> str:
    return str(term.value) if isinstance(term, Constant) else ""
