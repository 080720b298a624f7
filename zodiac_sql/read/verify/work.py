"""What is in the file, what should be in it, and the differences found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import anti_join
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.passed_on import Datatypes
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.program.derived_datatypes import datatypes_in
from zodiac_sql.program.state import State
from zodiac_sql.read.verify.values import ProgramMeaning
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.relations import Part, Relation, columns_of
from zodiac_sql.storage.sources import Sources

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Sample:
    """The first facts that a view lacks, and the first surplus rows that it shows."""

    missing: pa.Table
    surplus: pa.Table


@dataclass(slots=True)
class VerifiedFile:
    """What is in the file, what should be there, and the differences found so far."""

    store: Store
    state: State
    functions: Functions
    ids: Mapping[str, int]
    """The dictionary ids of the symbols in rules."""
    there: Sources
    """The tables of the file."""
    wanted: Sources
    """What should be in them; it grows hypernode by hypernode."""
    types: Mapping[str, Sequence[Type | None]]
    tables: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each table that is not as it should be, how many rows are missing and surplus."""
    unsupported: dict[str, int] = field(default_factory=dict)
    extensions: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each predicate whose view differs, the same two numbers."""
    samples: dict[str, Sample] = field(default_factory=dict)
    waiting: list[tuple[str, Inner]] = field(default_factory=list)
    """Tables of hypernodes that have to be compared with what the hypernodes derive."""
    facts: int = 0

    @property
    def datatypes(self) -> Datatypes:
        """Which literals the native values of columns are."""
        return datatypes_in(self.state)

    def known(self, inner: Inner) -> Mapping[str, Predicate]:
        """All predicates, including those inside a hypernode."""
        return {**self.state.schema, **inner.schema} if inner.schema else self.state.schema

    def program(self, inner: Inner, hypernode: Hypernode) -> ProgramMeaning:
        """What a hypernode's rules mean, both as written and as evaluated."""
        known = self.known(inner)
        both = (inner.hypernode, hypernode)
        names = {name for one in both for name in one.reads.union(one.derives)}
        return ProgramMeaning(
            {name: known[name] for name in sorted(names)},
            self.functions,
            self.ids,
            datatypes=self.datatypes,
        )

    def note(self, table: str, missing: int, surplus: int) -> None:
        """Note how many rows a table lacks and how many are surplus, unless both are 0."""
        if missing or surplus:
            self.tables[table] = missing, surplus


def relation_of(predicate: Predicate, parts: tuple[Part, ...]) -> Relation:
    return Relation(predicate.columns, parts)


def count_rows(store: Store, query: exp.Query) -> int:
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(query.subquery("n")))


def rows_lacking(relation: Relation, wanted: exp.Query, there: exp.Query) -> exp.Select:
    """The wanted rows that are not there.

    No row is wanted twice. So each wanted row that is not lacking accounts for one row that is
    there, and all other rows there are surplus: counting them needs no second join.
    """
    columns = columns_of(relation, "c")
    query = exp.select(*columns).from_(wanted.subquery("c"))
    return anti_join(query, columns, there.subquery())
