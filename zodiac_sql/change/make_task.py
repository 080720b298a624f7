"""Makes the task that a strategy gets for a hypernode with work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zodiac_sql.change.choose_rewrites import copied_from_outside, types_of, with_all
from zodiac_sql.change.fresh import past_columns
from zodiac_sql.change.workspace import Materialisation
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.language.syntax import Type
from zodiac_sql.maintain.contract import Marking, Task
from zodiac_sql.names import given
from zodiac_sql.rewrite.closures.transitive import Transitive
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Delta
from zodiac_sql.storage.sources import inside


@dataclass(frozen=True, slots=True)
class Due:
    """A hypernode that has work, and the cause: inputs that have changed, or other rules."""

    hypernode: Hypernode
    deltas: Mapping[str, Delta]
    heritage: Heritage | None
    anew: bool
    """Whether it is evaluated from scratch, because none of its tables is of use."""


def make_task(work: Materialisation, due: Due, inner: Inner) -> Task:
    """The task for a hypernode, with the modules and trees at work in it."""
    hypernode, heritage = due.hypernode, due.heritage
    before, after = (inside(sources, inner, hypernode.id) for sources in (work.old, work.new))
    return Task(
        store=work.store,
        # If its own rules change, its tables will have other names at the next change.
        cache=StatementCache() if heritage else work.cache.of(hypernode.id),
        forms=inner.forms,
        schema=with_all(work.planned.schema, inner.schema),
        types=with_all(_types(work, heritage), types_of(inner.schema)),
        functions=work.functions,
        ids=work.ids,
        before=before,
        after=after,
        deltas=_deltas_inside(due.deltas, inner),
        ranked=work.ranked.get(hypernode.id, False),
        heritage=heritage,
        modules=inner.rows,
        marking=_marking(work, hypernode, inner, heritage),
        edges=_edges(work, hypernode, inner),
        most_rounds=work.most_rounds,
    )


def _edges(work: Materialisation, hypernode: Hypernode, inner: Inner) -> str | None:
    """The relation whose closure a hypernode is (maintain/contract.py), before the change, too."""
    structure = work.planned.restructuring
    if structure.before is not structure.after:
        return None
    if len(inner.hypernode.rules) != 1 or len(hypernode.derives) != 1:
        return None
    (predicate,) = hypernode.derives
    if inner.rows:
        is_closed = [row.kind == Transitive.kind and not row.fed for row in inner.rows] == [True]
        return given(predicate) if is_closed else None
    taken = inner.forms.along
    if taken is None or work.new.explicit.get(predicate):
        return None
    edges = copied_from_outside(work, hypernode, predicate)
    return edges if edges == taken.edges else None


def _marking(
    work: Materialisation, hypernode: Hypernode, inner: Inner, heritage: Heritage | None
) -> Marking:
    """The marks that concern a hypernode. One that is rewritten has none."""
    implicit = work.settings.strategy == "dred_marking"
    if heritage or inner.tables or inner.outside:
        return Marking(implicit=implicit)
    known = [(name, part) for name, part in work.next.items()]
    if implicit:
        known += [(p, part) for (p, owner), part in work.marked.items() if owner != hypernode.id]
    next_: dict[str, tuple[Part, ...]] = {}
    for name, part in known:
        if name in hypernode.reads:
            next_[name] = (*next_.get(name, ()), part)
    if work.marks is None or hypernode.id in work.marks.unmarked:
        return Marking(next_, {}, implicit)
    found = work.marks.found.items()
    given = {name: part for (name, owner), part in found if owner == hypernode.id}
    return Marking(next_, given, implicit, known=True)


def _types(
    work: Materialisation, heritage: Heritage | None
) -> Mapping[str, tuple[Type | None, ...]]:
    """The types of all columns; in predicates of lost rules, open columns keep their old types."""
    lost = heritage.lost if heritage else ()
    names = {p for rule in lost for p in rule.positive() | rule.negative()}
    return with_all(work.types, {n: tuple(c.type for c in past_columns(work, n)) for n in names})


def _deltas_inside(deltas: Mapping[str, Delta], inner: Inner) -> dict[str, Delta]:
    """How inputs have changed, including the facts that modules get from outside."""
    inside = dict(deltas)
    for predicate in inner.outside:
        if predicate in deltas:
            inside[given(predicate)] = deltas[predicate]
    for row in inner.rows:
        if row.predicate in deltas and row.parted and row.covers:
            del inside[row.predicate]  # the module takes all of this delta
    return inside
