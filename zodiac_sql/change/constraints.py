"""What a change does to constraints: it is refused if one of them is violated anew.

A constraint's rule has derived the violations as facts of a predicate of its own, so those that the
change brings are what enters its extension. A violation that was let pass earlier is there already,
and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.change.change import Change
from zodiac_sql.change.difference import Difference
from zodiac_sql.change.workspace import Basis
from zodiac_sql.database import dictionary
from zodiac_sql.errors import ConstraintError, Violation
from zodiac_sql.language.syntax import Rule, Variable
from zodiac_sql.language.written import on_one_line
from zodiac_sql.names import is_constraint
from zodiac_sql.sql.relations import columns_of
from zodiac_sql.storage.extensions import decoded, distinct_query


class BrokenError(ConstraintError):
    """Constraints that a change violates, with the change, as long as its tables are there."""

    def __init__(self, violations: Sequence[Violation], change: Change) -> None:
        self.change = change
        super().__init__(violations)


ROWS_TOLD = 3
"""So many violations of a constraint are told; the others are counted."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The differences that users see, and the violations that the change brings."""

    differences: dict[str, Difference]
    violations: tuple[Violation, ...] = ()


def kept(basis: Basis, differences: Mapping[str, Difference]) -> Kept:
    """Tell violations from the facts of other predicates."""
    mine = {name: d for name, d in differences.items() if is_constraint(name)}
    if not mine:
        return Kept(dict(differences))
    others = {name: d for name, d in differences.items() if name not in mine}
    new = [name for name, difference in mine.items() if difference.inserted_count]
    rules = {rule.head.predicate: rule for rule in basis.planned.rules} if new else {}
    return Kept(others, tuple(_violation(basis, rules[n], mine[n]) for n in new))


def violation(rule: Rule, place: str, rows: Sequence[tuple[object, ...]], count: int) -> Violation:
    """What is told of a constraint with so many violations, of which `rows` are the first."""
    terms = rule.head.terms
    told = [n for n, term in enumerate(terms) if isinstance(term, Variable) and term.written]
    return Violation(
        rule.name,
        on_one_line(rule.text),
        place,
        tuple(str(terms[n]) for n in told),
        tuple(tuple(row[n] for n in told) for row in rows) if told else (),
        count,
        rule.head.predicate,
        rows[0] if terms else (),
    )


def _violation(basis: Basis, rule: Rule, difference: Difference) -> Violation:
    relation = difference.inserted
    facts = decoded(relation, distinct_query(relation), f'temp."{dictionary.KNOWN}"')
    columns = columns_of(relation, "v")
    first = exp.select(*columns).from_(facts.subquery("v")).order_by(*columns).limit(ROWS_TOLD)
    rows = basis.store.rows(first)
    return violation(rule, _place(basis, rule), rows, difference.inserted_count)


def _place(basis: Basis, rule: Rule) -> str:
    """Where a constraint stands: a place in the text that the change brings, else its set."""
    if rule.span is not None and not rule.span.source.name.startswith("<rule "):
        return str(rule.span)
    files = {one.name: one.source for one in basis.state.sets}
    names = [name for name, _ in basis.planned.places.of_rule(rule.name)]
    told = [f"{name} ({files[name]})" if files.get(name) else name for name in names]
    return f"rule set {', '.join(told)}"
