"""Rules that read the values of terms in columns of all kinds.

Rules that only copy such terms, or join them with each other, treat them as symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zodiac_sql.language.binding import arrange, calls
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Expression,
    Literal,
    Rule,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, expression_type, is_narrowed

Columns = Mapping[str, Sequence[Type | None]]


def reads_values(rule: Rule, columns: Columns, functions: Functions) -> bool:
    """Whether a rule reads the value of a term, or makes a term of a native value.

    The predicate of the head may be none of the program's: it has then the types of its variables.
    """
    head = columns.get(rule.head.predicate, ())
    if Type.ANY not in head and not any(
        Type.ANY in columns[predicate] for predicate in (*rule.positive(), *rule.negative())
    ):
        return False
    types = body_types(rule.body, columns, functions).types
    made = any(
        is_narrowed(column, expression_type(term, types, functions))
        for column, term in zip(head, rule.head.terms, strict=False)
    )
    return made or body_reads_values(rule.body, columns, functions)


def body_reads_values(body: tuple[Literal, ...], columns: Columns, functions: Functions) -> bool:
    """Whether a body reads the value of a term."""
    types = body_types(body, columns, functions).types
    arranged = arrange(body)

    def read(expression: Expression) -> bool:
        return reads_terms(expression, types, functions)

    return (
        any(_atom_reads(atom, columns, types) for atom in arranged.atoms)
        or any(_atom_reads(one.atom, columns, types) for one in arranged.negations)
        or any(_aggregate_reads(one, columns, types, functions) for one in arranged.aggregates)
        or any(read(step.expression) for step in arranged.steps)
        or any(_compares(one, types, functions) for one in arranged.filters)
    )


def reads_terms(
    expression: Expression, types: Mapping[str, Type | None], functions: Functions
) -> bool:
    """Whether an expression computes with the values of terms, so that it may have none."""
    return isinstance(expression, Call) and any(
        expression_type(argument, types, functions) is Type.ANY
        for call in calls(expression)
        for argument in call.arguments
    )


def _atom_reads(atom: Atom, columns: Columns, types: Mapping[str, Type | None]) -> bool:
    """Whether terms and native values meet in an atom."""
    for column, term in zip(columns[atom.predicate], atom.terms, strict=True):
        given = types.get(term.name) if isinstance(term, Variable) else term.type
        if is_narrowed(column, given) or is_narrowed(given, column):
            return True
    return False


def _compares(
    comparison: Comparison, types: Mapping[str, Type | None], functions: Functions
) -> bool:
    sides = comparison.left, comparison.right
    return any(expression_type(side, types, functions) is Type.ANY for side in sides)


def _aggregate_reads(
    aggregate: Aggregate,
    columns: Columns,
    types: Mapping[str, Type | None],
    functions: Functions,
) -> bool:
    inside = body_types(aggregate.body, columns, functions).types
    takes = aggregate.function != "count" and inside.get(aggregate.argument.name) is Type.ANY
    groups = any(is_narrowed(inside.get(v.name), types.get(v.name)) for v in aggregate.group)
    return takes or groups or body_reads_values(aggregate.body, columns, functions)
