"""Rules that compare times of facts with now(): such comparisons become rules of their own.

    recent(X) :- reading(X, A), A > add_seconds(now(), -600).

is evaluated as these two, of which the first keeps the text that its user wrote:

    recent(X) :- <filter>(X, A).
    <filter>(V1, V2) :- reading(V1, V2), V2 > add_seconds(now(), -600).

Reason: a tick moves only facts of the filter, which maintain/operators/band.py finds between the
border before and the border after; all that follows is an ordinary change. What is written in
another way, such as epoch(A) > epoch(now()), is evaluated anew at each tick.

The name of a filter tells what it keeps, so rules that say the same share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256

from zodiac_sql.errors import Span
from zodiac_sql.language.schema import local_name
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Program,
    Rule,
    Variable,
)
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.names import VARIES, filter_, is_filter

_LABEL = "now:"
"""The labels of filters begin so. No label in a text has a colon."""

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def is_label_of_filter(label: str) -> bool:
    """Whether a rule of this label is a filter."""
    return label.startswith(_LABEL)


def with_filters(program: Program) -> Program:
    """A text whose rules read filters, with these."""
    rules: list[Rule] = []
    filters: dict[str, Rule] = {}
    for rule in program.rules:
        read, made = filtered(rule)
        rules.append(read)
        filters |= {one.name: one for one in made}
    there = {rule.name for rule in rules}
    new = [one for name, one in filters.items() if name not in there]
    return replace(program, rules=(*rules, *new)) if filters else program


def filtered(rule: Rule) -> tuple[Rule, list[Rule]]:
    """A rule that reads filters where it compares with now(), and these filters."""
    if is_filter(rule.head.predicate):
        return rule, []
    made: dict[str, Rule] = {}
    body = _filtered(rule.body, rule, made)
    return (replace(rule, body=body), [*made.values()]) if made else (rule, [])


def _filtered(body: tuple[Literal, ...], rule: Rule, made: dict[str, Rule]) -> tuple[Literal, ...]:
    """A body whose atoms are those of filters."""
    found = tuple(
        replace(one, body=_filtered(one.body, rule, made)) if isinstance(one, Aggregate) else one
        for one in body
    )
    by_atom: dict[int, list[tuple[Literal, Comparison]]] = {}
    for literal in found:
        turned = isinstance(literal, Comparison) and _with_variable_first(literal)
        if not turned:
            continue
        assert isinstance(turned.left, Variable)
        for place, atom in enumerate(found):
            if isinstance(atom, Atom) and _has(atom, turned.left):
                by_atom.setdefault(place, []).append((literal, turned))
                break
    reads: dict[int, Atom] = {}
    for place, pairs in by_atom.items():
        atom = found[place]
        assert isinstance(atom, Atom)
        one = _filter_of(atom, [comparison for _, comparison in pairs], rule)
        made[one.name] = one
        reads[place] = replace(atom, predicate=one.head.predicate)
    gone = {id(literal) for pairs in by_atom.values() for literal, _ in pairs}
    return tuple(
        reads.get(place, literal) for place, literal in enumerate(found) if id(literal) not in gone
    )


def _with_variable_first(comparison: Comparison) -> Comparison | None:
    """A comparison of a variable with a time that depends on now() alone, in this order."""
    left, right = comparison.left, comparison.right
    operator: str | None = comparison.operator
    if _is_time(left):
        left, right, operator = right, left, _TURNED.get(comparison.operator)
    if operator not in _TURNED or not isinstance(left, Variable) or not _is_time(right):
        return None
    return Comparison(left, operator, right, comparison.span)


def _is_time(expression: Expression) -> bool:
    return isinstance(expression, Call) and _is_fixed(expression) and "now" in _called(expression)


def _is_fixed(expression: Expression) -> bool:
    """Whether no variable is in an expression."""
    if isinstance(expression, Call):
        return all(map(_is_fixed, expression.arguments))
    return isinstance(expression, Constant)


def _called(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Call):
        yield expression.function
        for argument in expression.arguments:
            yield from _called(argument)


def _has(atom: Atom, variable: Variable) -> bool:
    """Whether a variable is a term of an atom whose columns are all in place."""
    return atom.predicate != VARIES and not atom.names and variable in atom.terms


def _filter_of(atom: Atom, comparisons: Iterable[Comparison], rule: Rule) -> Rule:
    """The filter that keeps those facts of an atom's predicate that pass comparisons."""
    terms = tuple(Variable(f"V{place}") for place in range(1, len(atom.terms) + 1))
    tests: list[Comparison] = []
    texts: list[str] = []
    for one in sorted(set(comparisons), key=str):
        assert isinstance(one.left, Variable)
        kept = terms[atom.terms.index(one.left)]
        tests.append(Comparison(kept, one.operator, one.right))
        texts.append(f"{kept} {one.operator} {_source(one.right)}")
    digest = sha256(repr((atom.predicate, list(map(str, tests)))).encode()).hexdigest()[:12]
    predicate = filter_(digest, local_name(atom.predicate))
    written = ", ".join(term.name for term in terms)
    read = f"{spelled_predicate(atom.predicate)}({written})"
    text = f"<{predicate}>({written}) :- {', '.join([read, *texts])}."
    body: tuple[Literal, ...] = (Atom(atom.predicate, terms), *tests)
    return Rule(f"{_LABEL}{digest}", Atom(predicate, terms), body, text=text, span=rule.span)


def _source(expression: Expression) -> str:
    """An expression as it is written."""
    span = expression.span
    assert isinstance(span, Span)
    offset = span.source.offset
    end = offset(span.end_line, span.end_column)
    return span.source.text[offset(span.line, span.column) : end]
