"""Everything that explanations read, for one state of a program."""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.database.dictionary import as_written
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.program.state import State, hypergraph_of
from zodiac_sql.read.why.asked import Known
from zodiac_sql.read.why.paths import ClosedPredicate, PathEdges
from zodiac_sql.read.why.search import EdgesOf, ProofSearch
from zodiac_sql.rewrite.rewritten_hypernode import modules_at_work
from zodiac_sql.storage.sources import EDGES, sources_of


def known_of(store: Store, state: State, functions: Functions) -> Known:
    """What explanations read of the file in a state."""
    graph = state.once("graph", lambda: hypergraph_of(state))
    cache = state.once("why", StatementCache)
    known = Known(
        store, state.schema, graph, sources_of(state), {**state.functions, **functions}, {}, cache
    )
    ids = cache.get("ids", lambda: as_written(store, sorted(symbols_in(graph.rules()))))
    return Known(store, state.schema, graph, known.sources, known.functions, ids, cache)


def search_in(state: State, known: Known) -> ProofSearch:
    """A search for proofs in a state. What it reads of closures, later ones in it use again."""
    edges: dict[EdgesOf, PathEdges | None] = state.once(EDGES, dict)
    return ProofSearch(known, state, _closures_of(state, known), edges=edges)


def prefixes_of(state: State) -> Mapping[str, str]:
    """The prefixes that a goal may have."""
    return {**WELL_KNOWN_PREFIXES, **state.prefixes}


def _closures_of(state: State, known: Known) -> Mapping[tuple[int, str], ClosedPredicate]:
    """The closures at work, by their hypernode and predicate."""

    def find() -> dict[tuple[int, str], ClosedPredicate]:
        found = {}
        for row in state.hypernodes:
            if not row.modules:
                continue
            rows = {one.predicate: one for one in row.modules}
            for module in modules_at_work(known.graph[row.id], row.modules, state.schema):
                name = module.predicate
                found[row.id, name] = ClosedPredicate(row.id, rows[name], module)
        return found

    return state.once("closures", find)
