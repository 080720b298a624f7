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
from zodiac_sql.database.statements import temp_table
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.passed_over import Asked, asked
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.relations import Relation, relation_query

_PARTS = {Type.FLOAT: "number", Type.TIMESTAMP: "moment", Type.BOOL: "truth"}

_KINDS = {
    Type.FLOAT: "number", Type.TIMESTAMP: "date or time", Type.BOOL: "boolean",
    Type.SYMBOL: "text",
}  # fmt: skip


def passed_over(work: Workspace) -> list[str]:
    """The notes on a change that has been computed."""
    planned = work.basis.planned
    if not any(column.mixed for known in planned.schema.values() for column in known.columns):
        return []
    old = {rule.name for rule in planned.restructuring.before.rules()}
    found: dict[tuple[str, int, Type, bool], list[Asked]] = defaultdict(list)
    for hypernode in planned.graph.hypernodes:
        if hypernode.name in work.outcomes.evaluated:
            for one in _asked(work, hypernode):
                is_new = one.rule not in old
                found[one.predicate, one.place, one.kind, is_new].append(one)
    notes = []
    for (predicate, place, kind, is_new), each in found.items():
        if rows := _count(work, predicate, place, kind, is_new):
            notes += [_note(one, rows, kind) for one in each]
    return notes


def _asked(work: Workspace, hypernode: Hypernode) -> Iterator[Asked]:
    for rule in hypernode.rules:
        yield from asked(rule, work.basis.types, work.basis.functions)


def _count(work: Workspace, predicate: str, place: int, kind: Type, is_new: bool) -> int:
    """How many facts have no value of a kind in a column."""
    extensions = work.extensions
    relation = (
        extensions.new.relation(predicate) if is_new else extensions.delta(predicate).inserted
    )
    if not relation.rows:
        return 0
    column = relation.columns[place].name
    same = exp.column("id", table="s").eq(exp.column(column, table="f", quoted=True))
    part = _PARTS.get(kind)
    there = exp.column(part or "sort", table="s").is_(exp.null())
    query = exp.select(exp.Count(this=exp.Star())).from_(_facts(relation).subquery("f"))
    query = query.join(temp_table(KNOWN).as_("s"), on=same)
    return work.basis.store.count(query.where(there if part else exp.not_(there)))


def _facts(relation: Relation) -> exp.Query:
    return relation_query(relation, distinct=True)


def _note(one: Asked, rows: int, kind: Type) -> str:
    facts = "1 fact" if rows == 1 else f"{rows} facts"
    verb = "has" if rows == 1 else "have"
    return (
        f"rule {one.rule}: {one.told} passed over {facts} of {one.predicate} that {verb} no "
        f"{_KINDS[kind]} there"
    )
