"""Notes on terms that a comparison passed over, because they have no value to compare.

What cannot be compared is no error: one text among numbers must not stop a device. So a change says
how many facts of mixed columns had no value for what a rule asks: of those that the change inserts,
or of all, if the rule is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from sqlglot import exp

from zodiac_sql.change.workspace import Workspace
from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.statements import temp_table, text
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.passed_over import Asked, Compared, asked, compared
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.relations import Relation, relation_query
from zodiac_sql.sql.select import compile_facts_without_value

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
    return [*notes, *_of_pairs(work, old)]


def _asked(work: Workspace, hypernode: Hypernode) -> Iterator[Asked]:
    for rule in hypernode.rules:
        yield from asked(rule, work.basis.types, work.basis.functions)


def _of_pairs(work: Workspace, old: Collection[str]) -> Iterator[str]:
    """The notes on comparisons of two values of one fact."""
    for hypernode in work.basis.planned.graph.hypernodes:
        if hypernode.name not in work.outcomes.evaluated:
            continue
        for rule in hypernode.rules:
            for one in compared(rule, work.basis.types, work.basis.functions):
                relation = _relation(work, one.atom.predicate, rule.name not in old)
                if rows := _without_value(work, one, relation):
                    facts = _facts_of(one.atom.predicate, rows)
                    yield f"rule {one.rule}: {one.told} passed over {facts} no order there"


def _without_value(work: Workspace, one: Compared, relation: Relation) -> int:
    """Of how many facts a comparison has no value."""
    if not relation.rows:
        return 0
    basis = work.basis
    context = Context(lambda *_: relation, basis.types, basis.functions, basis.ids)
    found = compile_facts_without_value(one.atom, one.test, context)
    facts = (found.distinct(copy=False) if relation.overlaps else found).subquery("f")
    return basis.store.count(exp.select(exp.Count(this=exp.Star())).from_(facts))


def _count(work: Workspace, one: Asked, is_new: bool) -> int:
    """How many facts have no value of a kind in a column."""
    relation = _relation(work, one.predicate, is_new)
    if not relation.rows:
        return 0
    column = relation.columns[one.place].name
    value = exp.column("id", table="v").eq(exp.column(column, table="f", quoted=True))
    same = exp.column("id", table="s").eq(exp.column(column, table="f", quoted=True))
    query = exp.select(exp.Count(this=exp.Star())).from_(_facts(relation).subquery("f"))
    query = query.join(temp_table(KNOWN).as_("s"), on=same)
    query = query.join(temp_table(KNOWN_VALUES).as_("v"), on=value, join_type="LEFT")
    return work.basis.store.count(query.where(_lacks(one)))


def _relation(work: Workspace, predicate: str, is_new: bool) -> Relation:
    """The facts that a rule reads: all of them if it is new."""
    extensions = work.extensions
    return extensions.new.relation(predicate) if is_new else extensions.delta(predicate).inserted


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
    facts = _facts_of(one.predicate, rows)
    return f"rule {one.rule}: {one.told} passed over {facts} no {kinds[one.kind]} there"


def _facts_of(predicate: str, rows: int) -> str:
    return f"{rows} fact{'s' * (rows > 1)} of {predicate} that {'has' if rows == 1 else 'have'}"
