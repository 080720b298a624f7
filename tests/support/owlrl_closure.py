"""What owlrl derives of a Turtle text, for comparison, and what zodiac_sql derives of the same."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from generators.ontologies import CLASSES, PROPERTIES

from zodiac_sql.ontology.translate import translate
from zodiac_sql.ontology.vocabulary import OWL, SAME_AS, TYPE

if TYPE_CHECKING:
    import rdflib

    from zodiac_sql import KnowledgeBase

BASE = "http://example.org/"

_NAMES = {BASE + name[1:] for name in (*CLASSES, *PROPERTIES)}
"""What is no individual."""

Statement = tuple[str, str, str]


@dataclass(frozen=True)
class Closed:
    """The statements about named things, and whether something cannot be."""

    statements: frozenset[Statement]
    inconsistent: bool


def _counts(subject: str, predicate: str, object_: str) -> bool:
    """Whether a statement is one about individuals. Nothing is told to equal itself."""
    if predicate == SAME_AS:
        return subject != object_ and subject not in _NAMES and object_ not in _NAMES
    return predicate.startswith(BASE) or (predicate == TYPE and object_.startswith(BASE))


def by_owlrl(text: str) -> Closed:
    """The closure by owlrl, without axiomatic statements."""
    import rdflib
    from owlrl import DeductiveClosure, OWLRL_Semantics

    graph = rdflib.Graph()
    graph.parse(data=text, format="turtle")
    _unite_equal_expressions(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DeductiveClosure(
            OWLRL_Semantics, rdfs_closure=False, axiomatic_triples=False, datatype_axioms=False
        ).expand(graph)
    error = rdflib.URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")
    named = (
        (str(s), str(p), str(o))
        for s, p, o in graph
        if isinstance(s, rdflib.URIRef) and isinstance(o, rdflib.URIRef | rdflib.Literal)
    )
    return Closed(
        frozenset(one for one in named if _counts(*one) and one[0].startswith(BASE)),
        (None, error, None) in graph,
    )


def _unite_equal_expressions(graph: rdflib.Graph) -> None:
    """Let class expressions that say the same be one node, as they are one class for us."""
    import rdflib

    while True:
        alike: dict[frozenset[object], list[rdflib.BNode]] = defaultdict(list)
        for node in {s for s in graph.subjects() if isinstance(s, rdflib.BNode)}:
            alike[frozenset(graph.predicate_objects(node))].append(node)
        twins = {other: first for first, *others in alike.values() for other in others}
        if not twins:
            return
        for s, p, o in list(graph):
            if s in twins or o in twins:
                graph.remove((s, p, o))
                graph.add((twins.get(s, s), p, twins.get(o, o)))


def by_rules(
    text: str, folder: Path, open_kb: Callable[[], KnowledgeBase], *, few: bool = False
) -> Closed:
    """The closure by the rules that the text becomes; with `few`, only by those that it needs."""
    file = folder / "ontology.ttl"
    file.write_text(text)
    translation = translate([file], given=() if few else None)
    rules = translation.applicable(()) if few else translation.rules
    found: set[Statement] = set()
    with open_kb() as kb:
        with kb.update() as update:
            for predicate, rows in translation.facts.items():
                update.insert(predicate, list(rows))
            update.add_rules(translation.text(rules))
        names = {row[0]: row for row in kb.predicates().fetchall()}
        for name in names:
            if not name.startswith((BASE, OWL)):
                continue
            for row in kb.table(name).fetchall():
                if len(row) == 1:
                    found.add((row[0], TYPE, name))
                else:
                    found.add((row[0], name, str(row[1])))
        wrong = "inconsistent" in names and len(kb.table("inconsistent").fetchall()) > 0
    return Closed(frozenset(one for one in found if _counts(*one)), wrong)
