"""Atoms of a body as queries of their own, and the rest of the rule over their result.

For statements that are more than one flat join: products (product.py) and reductions (reducer.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.language.binding import arrange
from zodiac_sql.language.syntax import Atom, Column, Rule, Type, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.sql.select import Compiled, compile_rule


def column_name(name: str) -> str:
    """The column that holds a variable. SQL ignores case, and rules do not: ab is not Ab."""
    if name == name.capitalize():
        return f"v{name}"
    mask = sum(1 << place for place, letter in enumerate(name) if letter.isupper())
    return f"v{name}~{mask:x}"


def column_names(kept: Iterable[Variable]) -> list[str]:
    """The columns that hold some variables."""
    return [column_name(variable.name) for variable in kept]


def quoted(name: str, table: str | None = None) -> exp.Column:
    """A column as an expression."""
    return exp.column(name, table=table, quoted=True)


def side(scan: Scan, kept: Sequence[Variable], context: Context) -> exp.Select:
    """One scan, projected onto some variables: a column for each."""
    rule = Rule("", Atom("", tuple(kept)), (scan.atom,))
    types = body_types(rule.body, context.columns, context.functions).types
    columns = [Column(column_name(v.name), types.get(v.name)) for v in kept]
    return compile_rule(Plan(rule, (scan,), arrange(rule.body)), columns, context).query


def heads(
    plan: Plan,
    table: str,
    kept: Sequence[Variable],
    types: Sequence[Type | None],
    columns: Sequence[Column],
    context: Context,
    as_text: Collection[str],
) -> Compiled:
    """The rule of a plan over a table of some variables, which stands for all of its atoms."""
    given = tuple(Column(n, t) for n, t in zip(column_names(kept), types, strict=True))
    found = Relation(given, (Part("", table, 1),))
    # Longer than the name of each negated predicate, and so different from all of them.
    joined = "".join(["#", *(negation.atom.predicate for negation in plan.body.negations)])
    atom = Atom(joined, tuple(kept))
    others = tuple(literal for literal in plan.rule.body if not isinstance(literal, Atom))
    inside = replace(
        context,
        relation=lambda p, v: found if p == joined else context.relation(p, v),
        columns={**context.columns, joined: types},
    )
    body = replace(plan.body, atoms=(atom,))
    scans = (Scan(atom, Version.ALL),)
    rule = Rule(plan.rule.name, plan.rule.head, (atom, *others))
    return compile_rule(Plan(rule, scans, body, plan.state), columns, inside, as_text=as_text)
