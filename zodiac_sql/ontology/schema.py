"""What an ontology implies about its own classes and properties, by rules (schema.rules).

They run in a knowledge base in memory, over facts that are made here of the ontology's statements.

Translating does not wait for that: it needs only to know which expressions are below others, which
ontology/wider.py finds in milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files

from zodiac_sql.change.settings import Settings
from zodiac_sql.change.update import Update
from zodiac_sql.database.open_store import open_store
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.applicable import applicable
from zodiac_sql.ontology.graph import Graph, Property
from zodiac_sql.ontology.triples import Literal, Object, is_blank
from zodiac_sql.read.query import answer_goals
from zodiac_sql.session import Session
from zodiac_sql.updates import Updates

_SHOWN = {
    "sub": f"{v.RDFS}subClassOf",
    "part": f"{v.RDFS}subPropertyOf",
    "starts": f"{v.RDFS}domain",
    "ends": f"{v.RDFS}range",
    "same": f"{v.OWL}equivalentClass",
    "alike": f"{v.OWL}equivalentProperty",
}
"""What the rules derive, and the properties of RDFS and OWL that say it."""

Facts = dict[str, dict[tuple[str, ...], None]]
"""The rows of each predicate."""


def implied(graph: Graph) -> dict[str, tuple[tuple[str, str], ...]]:
    """What an ontology implies: pairs of named things for each property of RDFS and OWL."""
    with _derived(facts_of(graph)) as session:
        found = {iri: tuple(_named(session, name)) for name, iri in _SHOWN.items()}
    return {iri: pairs for iri, pairs in found.items() if pairs}


@contextmanager
def _derived(facts: Facts) -> Iterator[Session]:
    """A session in which the rules were applied."""
    opened = partial(open_store, ":memory:", threads=1)
    session = Session(opened)
    updates = Updates(session, Settings(hypertree=False))
    try:
        with updates.updating(None) as collected:
            update = Update(collected)
            for predicate, rows in facts.items():
                update.insert(predicate, list(rows))
            update.add_rules("".join(f"{rule}\n" for rule in applicable(_rules(), facts)))
        yield session
    finally:
        updates.close()


@cache
def _rules() -> tuple[Rule, ...]:
    """All rules. They use no prefixes, so each text can stand alone."""
    return parse((files("zodiac_sql.ontology") / "schema.rules").read_text("utf-8")).rules


def _rows(session: Session, predicate: str, variables: str) -> list[tuple[str, ...]]:
    """The facts of a predicate; none if no rule for it can apply."""
    if predicate not in session.state.schema:
        return []
    goal = f"{predicate}({variables})"
    answer = session.read(lambda state: answer_goals(session.store, state, {}, goal))
    return [tuple(map(str, row)) for row in answer.fetchall()]


def _named(session: Session, predicate: str) -> Iterator[tuple[str, str]]:
    """The facts about things that have names."""
    for sub, sup in sorted(_rows(session, predicate, "X, Y")):
        if sub != sup and not any(node.startswith(("_:", "^")) for node in (sub, sup)):
            yield sub, sup


def facts_of(graph: Graph) -> Facts:
    """The statements as facts of the predicates that schema.rules reads."""
    found: Facts = defaultdict(dict)
    for predicate, *row in (*_class_facts(graph), *_property_facts(graph)):
        found[predicate][tuple(row)] = None
        for node in row:
            kind = "property" if predicate in ("under",) else "class"
            if predicate in ("below", "under", "intersection", "union"):
                found[kind][(node,)] = None
    return found


def _class_facts(graph: Graph) -> Iterator[tuple[str, ...]]:
    for triple in graph.uses(f"{v.RDFS}subClassOf"):
        yield from _if_nodes("below", triple.subject, triple.object)
    for triple in graph.uses(f"{v.OWL}equivalentClass"):
        yield from _if_nodes("below", triple.subject, triple.object)
        yield from _if_nodes("below", triple.object, triple.subject)
    for name, predicate in (("intersectionOf", "intersection"), ("unionOf", "union")):
        for triple in graph.uses(f"{v.OWL}{name}"):
            for member in graph.items(triple.object):
                yield from _if_nodes(predicate, triple.subject, member)
    for name, predicate in (("someValuesFrom", "some"), ("allValuesFrom", "only")):
        for triple in graph.uses(f"{v.OWL}{name}"):
            for on in graph.objects(triple.subject, v.ON_PROPERTY):
                if isinstance(triple.object, str) and (property_ := graph.property(on)):
                    yield predicate, triple.subject, _text(property_), triple.object
                    yield "property", _text(property_)
                    yield "class", triple.object
    for triple in graph.uses(f"{v.OWL}hasValue"):
        for on in graph.objects(triple.subject, v.ON_PROPERTY):
            if property_ := graph.property(on):
                yield "value", triple.subject, _text(property_), _value(triple.object)
                yield "property", _text(property_)


def _property_facts(graph: Graph) -> Iterator[tuple[str, ...]]:
    for name in ("subPropertyOf", "equivalentProperty", "inverseOf"):
        for triple in graph.uses(f"{v.OWL if name != 'subPropertyOf' else v.RDFS}{name}"):
            first, second = graph.property(triple.subject), graph.property(triple.object)
            if (
                first is None
                or second is None
                or (name == "inverseOf" and is_blank(triple.subject))
            ):
                continue
            if name == "inverseOf":
                second = second.inverted()
            for one, other in ((first, second), (first.inverted(), second.inverted())):
                yield "under", _text(one), _text(other)
                if name != "subPropertyOf":
                    yield "under", _text(other), _text(one)
    for predicate in ("domain", "range"):
        for triple in graph.uses(f"{v.RDFS}{predicate}"):
            yield from _if_nodes(predicate, triple.subject, triple.object)


def _if_nodes(predicate: str, first: Object, second: Object) -> Iterator[tuple[str, ...]]:
    if isinstance(first, str) and isinstance(second, str):
        yield predicate, first, second


def _text(property_: Property) -> str:
    return f"^{property_.iri}" if property_.inverse else property_.iri


def _value(value: Object) -> str:
    return repr(value) if isinstance(value, Literal) else value
