"""What a change does to every hypernode (Algorithm 1 of paper 1).

change/begin.py has prepared the extensions. Hypernodes are visited in the order of Algorithm 4. A
hypernode without tables to begin with is evaluated from scratch; one whose rules or inputs have
changed is maintained by a strategy (maintain/); all others cost no statement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Protocol, runtime_checkable

from zodiac_sql.change.begin import save_classes
from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.change.choose_rewrites import (
    expand,
    is_otherwise,
    other_trees,
    with_components,
    with_decisions,
    with_modules,
)
from zodiac_sql.change.fresh import fresh_hypernodes, is_impaired
from zodiac_sql.change.make_task import Due, make_task, marking_of
from zodiac_sql.change.plan_sizes import PlannedSizes, plan_of
from zodiac_sql.change.rule_stats import RulesOfHypernode
from zodiac_sql.change.stats import HypernodeStats, considered
from zodiac_sql.change.workspace import Basis, Workspace
from zodiac_sql.cost.operator import Decision
from zodiac_sql.evaluate.rule_errors import evaluating_all
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import execution_plan
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import require
from zodiac_sql.maintain.contract import Anew, Maintained, ManyRounds, Outcome, Task
from zodiac_sql.maintain.operators.recompute import recompute
from zodiac_sql.maintain.registry import maintain
from zodiac_sql.maintain.weighed import Moves
from zodiac_sql.program.clock import clocked
from zodiac_sql.rewrite.hypertree.stored import tables_of_trees
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.sources import Sources

Progress = Callable[[str, int, int], None]
"""Called before a hypernode is evaluated: with its name, its position, and the number of all."""

LEAST_FORESEEN = 200_000
"""From so many explicit facts on, an evaluation of everything is estimated before it begins. What
takes fewer is over soon."""


@runtime_checkable
class Foresees(Protocol):
    """A report of progress that is also told what is expected, if the change is a large one."""

    def expects(self, plan: PlannedSizes) -> None:
        """Called once, before the first hypernode."""

    def comes(self, done: int, total: int | None) -> None:
        """Called while a hypernode is evaluated: so many parts of a total are done, or, without a
        total, its rules have derived so many facts."""


def materialise(work: Workspace, progress: Progress | None = None) -> ManyRounds | None:
    """Compute what a change does to every hypernode, in temporary tables, unless that takes many
    rounds.
    """
    basis, extensions = work.basis, work.extensions
    planned = basis.planned
    fresh = fresh_hypernodes(basis)
    changed = {h.id for name in extensions.touched for h in planned.graph.readers.get(name, ())}
    clocked_ = clocked(planned.graph) if basis.ticked else frozenset()
    direct = planned.restructuring.direct | fresh | changed | clocked_
    hypernodes = execution_plan(planned.graph, direct)
    from_scratch = len(fresh) == len(planned.graph.hypernodes)
    with _foreseen(basis, extensions.new, progress if from_scratch else None):
        for number, hypernode in enumerate(hypernodes):
            deltas = {} if hypernode.id in fresh else _deltas_for(extensions, hypernode)
            heritage = planned.restructuring.heritages.get(hypernode.id)
            is_due = hypernode.id in fresh or hypernode.id in clocked_ or bool(deltas)
            if not is_due and not is_impaired(heritage):
                continue
            if progress:
                progress(hypernode.name, number, len(hypernodes))
            new = hypernode.id in fresh or heritage is not None
            inner = with_components(work, hypernode, new)
            inner = with_decisions(work, hypernode, inner, new)
            anew = hypernode.id in fresh or is_otherwise(work.outcomes, hypernode, inner)
            if many := _evaluate(work, Due(hypernode, deltas, heritage, anew), inner):
                return many
    return None


@contextmanager
def _foreseen(basis: Basis, new: Sources, progress: Progress | None) -> Iterator[None]:
    """Tell a report what is expected of an evaluation of everything, if it is a large one, and
    inside the block how far that has come.
    """
    parts = (part for parts in new.explicit.values() for part in parts)
    if not isinstance(progress, Foresees) or sum(part.rows for part in parts) < LEAST_FORESEEN:
        yield
        return
    progress.expects(plan_of(basis, new, None))
    with basis.store.watch.telling(progress.comes):
        yield


def _deltas_for(extensions: ChangedExtensions, hypernode: Hypernode) -> dict[str, Delta]:
    """How a hypernode's inputs have changed; unchanged inputs are left out."""
    deltas = {}
    for name in sorted(name for name in hypernode.reads if name in extensions.touched):
        own = hypernode.id if name in hypernode.derives else None
        delta = extensions.delta(name, own)
        if delta:
            deltas[name] = delta
    return deltas


def _evaluate(work: Workspace, due: Due, inner: Inner) -> ManyRounds | None:
    """Bring one hypernode up to date, unless that takes many rounds."""
    hypernode, basis, old = due.hypernode, work.basis, work.extensions.old
    for rule in hypernode.rules:
        require(used_functions([rule]), basis.planned.functions, f"rule {rule.name}")
    started = time.perf_counter()
    former: list[str] = []
    if due.anew:
        save_classes(basis.store, old, {hypernode.id}, hypernode.derives)
        for name in tables_of_trees(work.outcomes.trees.get(hypernode.id, ())):
            # The tables of other trees have other columns.
            former += [name] if old.derived.get(name, {}).get(hypernode.id) else []
            old.leave_out(name, hypernode.id)
    task = make_task(work, due, inner)
    with evaluating_all(basis.store, hypernode, old):
        done, decision, expected = _maintained(work, due, inner, task)
        if isinstance(done, Anew):
            before, inner = inner, with_components(work, hypernode, True)
            due = replace(due, anew=inner.rows != before.rows)
            task = make_task(work, due, inner)
            done = recompute(task)
    if isinstance(done, ManyRounds):
        return done
    first = True
    while due.anew and (
        trees := other_trees(
            work, hypernode, inner, context=task.context, done=done, decide_again=first
        )
    ):
        first = False
        inner = expand(basis.cache, hypernode, with_modules(basis, hypernode), trees)
        task = make_task(work, due, inner)
        with evaluating_all(basis.store, hypernode, old):
            done = recompute(task)
    _take(work, hypernode, inner, _emptied(done, [name for name in former if name in inner.tables]))
    seconds = time.perf_counter() - started
    stats = _stats(due, inner, done, decision, expected, seconds)
    work.outcomes.evaluated[hypernode.name] = stats
    return None


def _stats(
    due: Due,
    inner: Inner,
    done: Maintained,
    decision: Decision,
    expected: Moves | None,
    seconds: float,
) -> HypernodeStats:
    """What a hypernode had to do."""
    outer, rounds, ran = _outer(inner, done), done.work.iterations, done.evaluation or decision
    left = {rule.name for rule in inner.hypernode.rules}
    taken = [rule.name for rule in due.hypernode.rules if inner.rows and rule.name not in left]
    return HypernodeStats(
        strategy=decision.name,
        why=decision.why,
        method=done.method,
        modules=[str(row) for row in inner.rows],
        trees=[tree.told for tree in inner.trees],
        **{one.name: getattr(done.work, one.name) for one in fields(done.work)},
        inserted=sum(e.inserted.rows for e in outer if e.inserted),
        deleted=sum(e.deleted.rows for e in outer if e.deleted),
        seconds=seconds,
        considered=considered(decision),
        evaluated=considered(done.evaluation),
        expected_inserted=expected.gained if expected else None,
        expected_deleted=expected.lost if expected else None,
        rules=RulesOfHypernode(due.hypernode, ran.name, seconds, rounds, due.rules, taken),
    )


_NEW = Decision("recompute", "its rules, columns, modules or trees are new", ())


def _maintained(
    work: Workspace, due: Due, inner: Inner, task: Task
) -> tuple[Outcome, Decision, Moves | None]:
    """The outcome of a task, which operator computed it, and why that one, and how many facts were
    expected to move.
    """
    if due.anew:
        return recompute(task), _NEW, None
    return maintain(task, work.basis.settings.strategy, marking_of(work, due, inner))


def _emptied(done: Maintained, former: Sequence[str]) -> Maintained:
    """The outcome with an edit for each table of a former tree whose name a new node has.

    The node of the new tree may have no row, and then nothing else would replace that table.
    """
    nothing = Edit(None, None, None, None, rewritten=True)
    return replace(done, edits={**dict.fromkeys(former, nothing), **done.edits})


def _outer(inner: Inner, done: Maintained) -> list[Edit]:
    """The edits of tables that do not belong to modules."""
    return [edit for name, edit in done.edits.items() if name not in inner.tables]


def _take(work: Workspace, hypernode: Hypernode, inner: Inner, done: Maintained) -> None:
    """Remember what became of a hypernode's tables."""
    outcomes, marked = work.outcomes, work.marked
    outcomes.ranked[hypernode.id] = done.ranked
    outcomes.modules[hypernode.id] = inner.rows
    outcomes.trees[hypernode.id] = inner.trees
    outcomes.inner.update(inner.tables)
    marked.derived.update({(name, hypernode.id): part for name, part in done.marked.items()})
    for name, edit in done.edits.items():
        if name in inner.tables:
            outcomes.inside[name, hypernode.id] = edit
            continue
        work.extensions.edit(name, hypernode.id, edit)
