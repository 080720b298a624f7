"""Notes on terms that a comparison passed over, because they have no value to compare.

What cannot be compared is no error: one text among numbers must not stop a device. So a change says
how many facts of mixed columns had no value for what a rule asks: of those that the change inserts,
or of all, if the rule is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp

from zodiac_sql.change.workspace import Workspace
from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.statements import temp_table, text
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.passed_over import Asked, asked
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.relations import Relation, relation_query

_PARTS = {Type.FLOAT: "number", Type.TIMESTAMP: "moment", Type.BOOL: "truth"}

_KINDS = {
    Type.FLOAT: "number", Type.TIMESTAMP: "date or time", Type.BOOL: "boolean",
    Type.SYMBOL: "text", Type.ANY: "value with an order",
}  # fmt: skip


def passed_over(work: Workspace) -> list[str]:
    """The notes on a change that has been computed."""
    planned = work.basis.planned
    if not any(column.mixed for known in planned.schema.values() for column in known.columns):
        return []
    old = {rule.name for rule in planned.restructuring.before.rules()}
    found: dict[tuple[str, int, Type, bool, bool], list[Asked]] = defaultdict(list)
    for hypernode in planned.graph.hypernodes:
        if hypernode.name in work.outcomes.evaluated:
            for one in _asked(work, hypernode):
                is_new = one.rule not in old
                key = (one.predicate, one.place, one.kind, one.is_compared, is_new)
                found[key].append(one)
    notes = []
    for (*_, is_new), each in found.items():
        if rows := _count(work, each[0], is_new):
            notes += [_note(one, rows) for one in each]
    return notes


def _asked(work: Workspace, hypernode: Hypernode) -> Iterator[Asked]:
    for rule in hypernode.rules:
        yield from asked(rule, work.basis.types, work.basis.functions)


def _count(work: Workspace, one: Asked, is_new: bool) -> int:
    """How many facts have no value of a kind in a column."""
    extensions = work.extensions
    new, delta = extensions.new, extensions.delta(one.predicate)
    relation = new.relation(one.predicate) if is_new else delta.inserted
    if not relation.rows:
        return 0
    column = relation.columns[one.place].name
    value = exp.column("id", table="v").eq(exp.column(column, table="f", quoted=True))
    same = exp.column("id", table="s").eq(exp.column(column, table="f", quoted=True))
    query = exp.select(exp.Count(this=exp.Star())).from_(_facts(relation).subquery("f"))
    query = query.join(temp_table(KNOWN).as_("s"), on=same)
    query = query.join(temp_table(KNOWN_VALUES).as_("v"), on=value, join_type="LEFT")
    return work.basis.store.count(query.where(_lacks(one)))


def _lacks(one: Asked) -> exp.Expr:
    """Whether a symbol has no value of the kind that is asked."""
    if part := _PARTS.get(one.kind):
        return exp.column(part, table="v").is_(exp.null())
    has_value = exp.column("sort", table="v").is_(exp.null()).not_()
    is_plain = exp.column("kind", table="s").eq(text("plain"))
    if one.kind is Type.ANY:
        return exp.not_(exp.or_(has_value, is_plain))
    return exp.not_(is_plain) if one.is_compared else has_value


def _facts(relation: Relation) -> exp.Query:
    return relation_query(relation, distinct=True)


def _note(one: Asked, rows: int) -> str:
    kinds = {**_KINDS, Type.SYMBOL: "plain text"} if one.is_compared else _KINDS
    facts = "1 fact" if rows == 1 else f"{rows} facts"
    verb = "has" if rows == 1 else "have"
    return (
        f"rule {one.rule}: {one.told} passed over {facts} of {one.predicate} that {verb} no "
        f"{kinds[one.kind]} there"
    )
