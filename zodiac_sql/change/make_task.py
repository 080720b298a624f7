"""Makes the task that a strategy gets for a hypernode with work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from zodiac_sql.change.choose_rewrites import (
    copied_from_outside,
    reconsiders,
    types_of,
    with_all,
)
from zodiac_sql.change.fresh import past_columns
from zodiac_sql.change.workspace import Basis, Workspace
from zodiac_sql.database.rule_work import RuleWork
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.language.syntax import Type
from zodiac_sql.maintain.contract import ChangedInputs, Former, Instead, Task
from zodiac_sql.maintain.papers.marking import NO_MARKS, Marking
from zodiac_sql.names import given
from zodiac_sql.program.build import Planned
from zodiac_sql.program.clock import reads_clock
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Delta
from zodiac_sql.storage.sources import Sources, inside


@dataclass(frozen=True, slots=True)
class Due:
    """A hypernode that has work, and the cause: inputs that have changed, or other rules."""

    hypernode: Hypernode
    deltas: Mapping[str, Delta]
    heritage: Heritage | None
    anew: bool
    """Whether it is evaluated from scratch, because none of its tables is of use."""
    rules: RuleWork = field(default_factory=RuleWork)
    """What its rules take."""


def make_task(work: Workspace, due: Due, inner: Inner) -> Task:
    """The task for a hypernode, with the modules and trees at work in it."""
    hypernode, heritage, basis = due.hypernode, due.heritage, work.basis
    old, new = work.extensions.old, work.extensions.new
    inputs = ChangedInputs(
        hypernode=inner.hypernode,
        before=inside(old, inner, hypernode.id),
        after=inside(new, inner, hypernode.id),
        deltas=_deltas_inside(due.deltas, inner),
        edges=_edges(basis.planned, new, hypernode, inner),
        ticked=basis.ticked if reads_clock(hypernode.rules) else None,
    )
    types = with_all(_types(basis, heritage), types_of(inner.schema))
    ranked = work.outcomes.ranked.get(hypernode.id, False)
    # If its own rules change, its tables will have other names at the next change.
    cache = StatementCache() if heritage else basis.cache.of(hypernode.id)
    return Task(
        runner=Runner(basis.store, cache, due.rules),
        inner=inner,
        former=Former(_tables(old, inner), ranked, heritage),
        inputs=inputs,
        context=Context(
            inputs.relation, types, basis.functions, basis.ids, datatypes=basis.datatypes
        ),
        instead=Instead(reconsiders(basis, new, hypernode, inner), basis.most_rounds),
    )


def _tables(old: Sources, inner: Inner) -> Mapping[str, tuple[Part, ...]]:
    """The tables that a hypernode begins with."""
    names = (*inner.hypernode.derives, *(row.predicate for row in inner.rows))
    number = inner.hypernode.id
    return {name: old.derived.get(name, {}).get(number, ()) for name in names}


def _edges(planned: Planned, new: Sources, hypernode: Hypernode, inner: Inner) -> str | None:
    """The relation whose closure a hypernode is (maintain/contract.py), before the change, too."""
    structure = planned.restructuring
    if structure.before is not structure.after:
        return None
    paths = inner.forms.paths
    if paths is None or len(hypernode.derives) != 1:
        return None
    (predicate,) = hypernode.derives
    if paths.edges == given(predicate):
        return paths.edges
    edges = copied_from_outside(planned, new, hypernode, predicate)
    return edges if edges == paths.edges and inner.forms.along else None


def marking_of(work: Workspace, due: Due, inner: Inner) -> Marking:
    """The marks that concern a hypernode. One that is rewritten has none."""
    hypernode, marked = due.hypernode, work.marked
    if due.heritage or inner.tables or inner.outside:
        return NO_MARKS
    implicit = work.basis.settings.strategy == "dred_marking"
    known = [(name, part) for name, part in marked.next.items()]
    if implicit:
        known += [(p, part) for (p, owner), part in marked.derived.items() if owner != hypernode.id]
    next_: dict[str, tuple[Part, ...]] = {}
    for name, part in known:
        if name in hypernode.reads:
            next_[name] = (*next_.get(name, ()), part)
    found = marked.before.found.items() if marked.before else ()
    given = {name: part for (name, owner), part in found if owner == hypernode.id}
    return Marking(next_, given, implicit)


def _types(basis: Basis, heritage: Heritage | None) -> Mapping[str, tuple[Type | None, ...]]:
    """The types of all columns; in predicates of lost rules, open columns keep their old types."""
    lost = heritage.lost if heritage else ()
    names = {p for rule in lost for p in rule.positive() | rule.negative()}
    return with_all(basis.types, {n: tuple(c.meant for c in past_columns(basis, n)) for n in names})


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
