"""Evaluates every hypernode once more, aside, and tells how that was done.

Each is evaluated from the explicit facts and what the hypernodes before it have derived, with the
modules and trees that were at work when the file was written. All of it is in temporary tables of a
connection of its own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from zodiac_sql.change.choose_rewrites import types_of
from zodiac_sql.change.plan_sizes import plan_of
from zodiac_sql.change.settings import Settings
from zodiac_sql.change.stats import HypernodeStats, considered
from zodiac_sql.change.workspace import Basis
from zodiac_sql.database import dictionary
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.semi_naive import Fixpoint
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.graph.restructuring import unchanged
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.functions import Functions
from zodiac_sql.program.build import Planned
from zodiac_sql.program.derived_datatypes import datatypes_in
from zodiac_sql.program.rule_sets import SetLabels
from zodiac_sql.program.state import State, hypergraph_of
from zodiac_sql.read.explain.decisions import Decisions, decisions
from zodiac_sql.read.explain.rule_times import times_of_bodies
from zodiac_sql.read.explain.work import HypernodeWork
from zodiac_sql.read.one_state import one_state
from zodiac_sql.read.verify.expected import as_evaluated, evaluate_again, require_functions
from zodiac_sql.read.verify.work import VerifiedFile
from zodiac_sql.read.why.known import prefixes_of
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.storage.sources import Sources, sources_of

if TYPE_CHECKING:
    from zodiac_sql.change.materialise import Progress


def explain(store: Store, functions: Functions, progress: Progress | None = None) -> Decisions:
    """Evaluate every hypernode from scratch in temporary tables. Changes nothing.

    Raises FunctionError if rules use a function that is not registered.
    """
    started = time.perf_counter()
    with one_state(store, "it was explained") as (aside, state):
        graph = hypergraph_of(state)
        work = _begun(aside, state, graph, functions)
        require_functions(work, graph.rules())
        expected = _expected_facts(work, graph)
        rows = {row.id: row for row in state.hypernodes}
        found = []
        for number, hypernode in enumerate(graph.hypernodes):
            if progress:
                progress(hypernode.name, number, len(graph.hypernodes))
            inner = as_evaluated(state, hypernode, rows[hypernode.id])
            found.append(_explained(work, hypernode, inner, expected[hypernode.name]))
    return decisions(time.perf_counter() - started, False, found, prefixes_of(state))


def _begun(store: Store, state: State, graph: Hypergraph, functions: Functions) -> VerifiedFile:
    """The explicit facts alone: all others will be derived."""
    ids = dictionary.ids_of(store, symbols_in(graph.rules()))
    there = sources_of(state)
    given = Sources(state.schema, dict(there.explicit))
    return VerifiedFile(store, state, functions, ids, there, given, types_of(state.schema))


def _expected_facts(work: VerifiedFile, graph: Hypergraph) -> Mapping[str, int]:
    """How many facts each hypernode was expected to derive, before any was evaluated."""
    state, rules = work.state, tuple(graph.rules())
    structure = unchanged(graph)
    planned = Planned(rules, graph, state.schema, state.functions, structure, SetLabels())
    basis = Basis(
        store=work.store,
        state=state,
        planned=planned,
        types=types_of(state.schema),
        datatypes=datatypes_in(state),
        functions=work.functions,
        ids=work.ids,
        settings=Settings(),
        cache=StatementCache(),
    )
    return {one.hypernode: one.rows for one in plan_of(basis, work.wanted, None).hypernodes}


def _explained(
    work: VerifiedFile, hypernode: Hypernode, inner: Inner, expected: int
) -> HypernodeWork:
    """Evaluate a hypernode, and then, if it has several rules, each of them by itself."""
    started = time.perf_counter()
    fixpoint, decision = evaluate_again(work, inner)
    stats = HypernodeStats(
        strategy=decision.name,
        why=decision.why,
        method=fixpoint.method,
        modules=[str(row) for row in inner.rows],
        trees=[tree.told for tree in inner.trees],
        iterations=fixpoint.iterations,
        inserted=_facts(fixpoint, hypernode),
        seconds=time.perf_counter() - started,
        evaluated=considered(decision),
        expected_inserted=expected,
    )
    several = len(hypernode.rules) > 1
    return HypernodeWork(
        hypernode, stats, times_of_bodies(work, hypernode, inner) if several else {}
    )


def _facts(fixpoint: Fixpoint, hypernode: Hypernode) -> int:
    """How many facts a hypernode derives, without those that only its modules and trees know."""
    parts = (fixpoint.parts.get(name) for name in dict.fromkeys(hypernode.derives))
    return sum(part.rows for part in parts if part)
