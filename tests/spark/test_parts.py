"""Predicates in parts, where rules are stratified by constants only."""

from __future__ import annotations

from zodiac_sql.language.syntax import Aggregate, Atom, Negation, Rule
from zodiac_sql.spark.parts import in_parts
from zodiac_sql.spark.planning import plan_rules


def told(rule: Rule) -> str:
    """A rule as its literals say it, names of predicates in brackets."""

    def literal(one: object) -> str:
        if isinstance(one, Negation):
            return f"not {literal(one.atom)}"
        if isinstance(one, Aggregate):
            return f"AGGREGATE({', '.join(map(literal, one.body))})"
        assert isinstance(one, Atom)
        return f"[{one.predicate}]({', '.join(map(str, one.terms))})"

    return f"{literal(rule.head)} :- {', '.join(map(literal, rule.body))}."


def rules_in_parts(text: str) -> list[str]:
    planned = plan_rules(text, {})
    columns = {name: known.columns for name, known in planned.schema.items()}
    parted = in_parts(planned.graph, columns)
    assert {*parted.explicit.values()} <= {*parted.columns}
    return [told(rule) for rule in parted.rules]


def test_an_atom_reads_the_parts_that_can_match_it() -> None:
    but_r1 = "[status in status of r2, status explicit]"
    assert rules_in_parts("""
        .decl part(x: symbol)
        .decl broken(x: symbol)
        r1: status(X, good) :- part(X), not status(X, bad).
        r2: status(X, bad) :- broken(X).
        r3: n(N) :- AGGREGATE(status(X, good)) WITH COUNT(X) AS N.
        r4: any(X) :- status(X, _).
    """) == [
        "[status of r2](X, bad) :- [broken](X).",
        f"[status of r1](X, good) :- [part](X), not {but_r1}(X, bad).",
        "[any](X) :- [status](X, _).",
        "[n](N) :- AGGREGATE([status in status of r1, status explicit](X, good)).",
        "[status in status of r2, status explicit](V0, V1) :- [status of r2](V0, V1).",
        "[status in status of r2, status explicit](V0, V1) :- [status explicit](V0, V1).",
        "[status in status of r1, status explicit](V0, V1) :- [status of r1](V0, V1).",
        "[status in status of r1, status explicit](V0, V1) :- [status explicit](V0, V1).",
        "[status](V0, V1) :- [status of r2](V0, V1).",
        "[status](V0, V1) :- [status of r1](V0, V1).",
        "[status](V0, V1) :- [status explicit](V0, V1).",
    ]


def test_a_program_stratified_by_predicates_stays_as_it_is() -> None:
    text = "r1: status(X, good) :- part(X), not broken(X). r2: status(X, bad) :- broken(X)."
    assert rules_in_parts(".decl part(x: symbol) .decl broken(x: symbol) " + text) == [
        "[status](X, good) :- [part](X), not [broken](X).",
        "[status](X, bad) :- [broken](X).",
    ]


def test_names_of_parts_are_nobody_elses() -> None:
    found = rules_in_parts("""
        .decl part(x: symbol)
        r1: status(X, good) :- part(X), not status(X, bad).
        r2: status(X, bad) :- `status of r1`(X).
        r3: `status of r1`(X) :- part(X).
    """)
    assert "[status of r1'](X, good) :- [part](X), not" in " ".join(found)
    assert "[status of r2](X, bad) :- [status of r1](X)." in found
