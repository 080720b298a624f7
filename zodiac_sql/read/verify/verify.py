"""Whether a database holds exactly what its rules and explicit facts entail.

Everything is derived once more from the catalog and edb, by other code than the one that filled the
tables (second_opinion.py), and compared with the tables in idb and with the views that people see.
The results stay in temporary tables of a separate connection: the file is only read, and the facts
of the last Change can still be asked for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.condensation import Condensation
from zodiac_sql.facts.arrow_types import no_facts
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import resolve
from zodiac_sql.names import is_classes
from zodiac_sql.program.state import State, hypergraph_of
from zodiac_sql.read.one_state import one_state
from zodiac_sql.read.verify.compare_feed import compare_feed
from zodiac_sql.read.verify.compare_tables import (
    check_ranks,
    compare_classes,
    compare_symbols,
    compare_tables,
    find_strays,
)
from zodiac_sql.read.verify.compare_triples import compare_triples
from zodiac_sql.read.verify.compare_views import compare_extensions
from zodiac_sql.read.verify.expected import (
    as_evaluated,
    begin,
    derive_otherwise,
    evaluate_again,
    is_affordable,
    require_functions,
)
from zodiac_sql.read.verify.work import Sample, VerifiedFile
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.relations import HOLDS
from zodiac_sql.tables import Table, first_as_html

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.materialise import Progress


@dataclass(frozen=True, slots=True)
class Verification:
    """The differences between a database and what its rules and explicit facts entail.

    A Verification is true if nothing differs.
    """

    missing: Mapping[str, int]
    """For each predicate whose view lacks facts, how many it lacks."""
    surplus: Mapping[str, int]
    """For each predicate whose view shows surplus rows, how many. A duplicate row counts once."""
    tables: Mapping[str, tuple[int, int]]
    """The same two numbers for each wrong table of the file ("idb.h1_near"): in a view, the fault
    of one table may be hidden by another table."""
    unsupported: Mapping[str, int]
    """For each table of a recursive hypernode, how many facts have ranks out of order, if any. The
    facts are right, but a later deletion could keep them wrongly."""
    predicates: int
    """How many predicates the file has."""
    facts: int
    """How many facts there should be, explicit and derived, in all extensions together."""
    seconds: float
    """How long the verification took, in seconds."""
    _state: State = field(repr=False, compare=False)
    _samples: Mapping[str, Sample] = field(repr=False, compare=False)

    def missing_facts(self, predicate: str) -> pa.Table:
        """The first facts (100 at most) that the predicate's view lacks.

        The columns are those of `kb.table`: symbols as text, other values in their own types;
        `holds: bool` for a predicate without columns. Raises QueryError if there is no such
        predicate.
        """
        return self._sample(predicate).missing

    def surplus_facts(self, predicate: str) -> pa.Table:
        """The first surplus rows (100 at most) that the predicate's view shows.

        Columns and errors are those of `missing_facts`.
        """
        return self._sample(predicate).surplus

    def _sample(self, predicate: str) -> Sample:
        name = resolve(predicate, self._state.schema, self._state.prefixes)
        if name not in self._state.schema:
            raise QueryError(f"there is no predicate {predicate}")
        nothing = no_facts(self._state.schema[name].columns or (HOLDS,))
        return self._samples.get(name, Sample(nothing, nothing))

    def _repr_html_(self) -> str:
        """What a notebook shows: that nothing differs, or tables of what does."""
        is_so = "exactly" if self else "not"
        told = f"The database is {is_so} what its rules and facts entail: {self.predicates:,} "
        told += f"predicates, {self.facts:,} facts, in {self.seconds:.2f} s"
        return f"<p>{told}</p>" + first_as_html(self._tables())

    def _tables(self) -> Iterator[Table]:
        names = sorted({*self.missing, *self.surplus})
        if names:
            rows = [(name, self.missing.get(name, 0), self.surplus.get(name, 0)) for name in names]
            yield ("predicate", "missing", "surplus"), rows
        if self.tables:
            yield ("table", "missing", "surplus"), [(n, *two) for n, two in self.tables.items()]
        if self.unsupported:
            yield ("table", "facts with ranks out of order"), [*self.unsupported.items()]

    def __bool__(self) -> bool:
        """Whether nothing differs."""
        return not (self.missing or self.surplus or self.tables or self.unsupported)


def verify(store: Store, functions: Functions, progress: Progress | None = None) -> Verification:
    """Derive everything once more in temporary tables, and compare. Changes nothing.

    Raises FunctionError if rules use a function that is not registered.
    """
    started = time.perf_counter()
    with one_state(store, "it was verified") as (aside, state):
        work = _compared(aside, state, functions, progress)
    return Verification(
        {name: rows for name, (rows, _) in sorted(work.extensions.items()) if rows},
        {name: rows for name, (_, rows) in sorted(work.extensions.items()) if rows},
        dict(sorted(work.tables.items())),
        work.unsupported,
        len(work.state.schema),
        work.facts,
        time.perf_counter() - started,
        work.state,
        work.samples,
    )


def _compared(
    store: Store, state: State, functions: Functions, progress: Progress | None
) -> VerifiedFile:
    """Compare all that is in the file with what should be there."""
    work = begin(store, state, functions)
    compare_symbols(work)
    compare_feed(work)
    find_strays(work)
    hypernodes = hypergraph_of(work.state).hypernodes
    require_functions(work, [rule for h in hypernodes for rule in h.rules])
    rows = {row.id: row for row in work.state.hypernodes}
    for number, hypernode in enumerate(hypernodes):
        if progress:
            progress(hypernode.name, number, len(hypernodes))
        _verify_hypernode(work, as_evaluated(work.state, hypernode, rows[hypernode.id]), hypernode)
    compare_tables(work)
    compare_extensions(work)
    compare_triples(work)
    return work


def _verify_hypernode(work: VerifiedFile, inner: Inner, hypernode: Hypernode) -> None:
    """Compare the tables of a hypernode with what it derives."""
    closures: Mapping[str, Closure | Condensation] = {}
    if is_affordable(work, inner):
        derive_otherwise(work, inner, hypernode)
    else:
        again, _ = evaluate_again(work, inner)
        closures = {**again.closures, **again.condensed}
    parted = {row.predicate: row for row in inner.rows if row.parted}
    for predicate in dict.fromkeys((*hypernode.derives, *inner.tables)):
        if predicate in parted:
            compare_classes(work, parted[predicate], inner, closures.get(predicate))
        elif not is_classes(predicate):
            work.waiting.append((predicate, inner))
            check_ranks(work, predicate, inner)
