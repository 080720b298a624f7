"""Where facts are stored: in tables, and in extensions, which are unions of tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import anti_join, parameter, temp_table
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import RANK, TAG
from zodiac_sql.sql.class_pairs import Pairs, pairs_query

FIRST = 1
"""The lowest rank that is given to a derived fact."""

OUTSIDE = -(2**62)
"""The rank of facts from outside a recursive hypernode: lower than that of any fact in it."""

HOLDS = Column("holds", Type.BOOL)
"""The one column of the tables of a predicate of arity 0: true in its one row."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Which rows of a table that many predicates share, and which of its columns, are meant."""

    tag: int
    columns: tuple[tuple[str, str], ...]
    """The names that columns should have, and those that they have."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read of which not each row is one of the facts that are meant."""

    minus: str | None = None
    """A temporary table of facts that are left out."""
    ranks: Literal["derived", "old"] | None = None
    """Of a table under evaluation, what its rules derived (rank over 0), or what was there before
    iteration $i."""
    pairs: Pairs | None = None
    """The table has nodes and their classes, and the facts are pairs of nodes."""
    picked: Picked | None = None
    """The table holds rows of other parts, too."""
    rank: int | None = None
    """The table has no column of ranks: all of its facts have this one."""


AS_IT_IS = Reading()


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a predicate's facts: those of one table, as it is read.

    `ranked` tells whether its column of ranks is reliable. A part that `covers` also has the facts
    of all other owners. What `enters` a table has none of the facts that another part still has in
    it.
    """

    schema: str
    table: str
    rows: int
    """How many facts these are."""
    ranked: bool = False
    read: Reading = AS_IT_IS
    covers: bool = False
    enters: tuple[str, str] | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The schema and the name of its table."""
        return self.schema, self.table

    def without(self, minus: str | None) -> Part:
        """The same part, but for the facts of a temporary table, if there is one."""
        if minus == self.read.minus:
            return self
        return replace(self, read=replace(self.read, minus=minus))

    @property
    def is_temporary(self) -> bool:
        """Whether it is a temporary table as it is, and nothing else is said of its facts."""
        return self == Part("temp", self.table, self.rows)


@dataclass(frozen=True, slots=True)
class Relation:
    """What a scan reads: the union of parts. Rows can repeat where parts overlap.

    A `ranked` relation also has the column of ranks, with OUTSIDE in parts without ranks.
    """

    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    ranked: bool = False

    @property
    def stored(self) -> tuple[Column, ...]:
        """The columns of its tables, of which there is at least one."""
        return self.columns or (HOLDS,)

    @property
    def rows(self) -> int:
        """An upper bound of the number of rows; 0 means empty."""
        return sum(part.rows for part in self.parts)

    @property
    def overlaps(self) -> bool:
        """Whether a fact may be in two of its parts."""
        if len(self.parts) != 2:
            return len(self.parts) > 2
        first, second = self.parts
        return second.enters != first.place


def table(part: Part) -> exp.Table | exp.Subquery:
    """A part's table by its name, or the rows that are picked from it."""
    catalog = "temp" if part.schema == "temp" else None
    schema = "main" if part.schema == "temp" else part.schema
    named = exp.table_(part.table, db=schema, catalog=catalog, quoted=True)
    picked = part.read.picked
    if picked is None:
        return named
    wanted = [
        exp.column(there, quoted=True).as_(name, quoted=True, copy=False)
        for name, there in picked.columns
    ]
    tag = exp.column(TAG, quoted=True).eq(exp.Literal.number(picked.tag))
    return exp.select(*wanted).from_(named).where(tag).subquery(copy=False)


def columns_of(relation: Relation, alias: str | None = None) -> list[exp.Column]:
    """The columns of a relation's tables as expressions."""
    return [exp.column(c.name, table=alias, quoted=True) for c in relation.stored]


def part_query(part: Part, relation: Relation) -> exp.Select:
    """SELECT columns FROM one part."""
    query = exp.select(*columns_of(relation, "t"), copy=False)
    query = query.from_(_rows(part, relation, "t"), copy=False)
    rank = rank_of("t")
    if relation.ranked:
        query = query.select(_rank(part).as_(RANK, quoted=True, copy=False), copy=False)
    if part.read.ranks == "derived":
        query = query.where(exp.GT(this=rank, expression=exp.Literal.number(0)), copy=False)
    if part.read.ranks == "old":
        query = query.where(exp.LT(this=rank, expression=parameter("i")), copy=False)
    if part.read.minus:
        columns = columns_of(relation, "t")
        query = anti_join(query, columns, temp_table(part.read.minus), "m")
    return query


def _rows(part: Part, relation: Relation, alias: str) -> exp.Expr:
    """The table of a part, or the pairs that it stands for, as an item of FROM."""
    if part.read.pairs is None:
        return table(part).as_(alias, copy=False)
    names = [column.name for column in relation.columns]
    return pairs_query(part.read.pairs, table(part), names).subquery(alias, copy=False)


def rank_of(alias: str) -> exp.Column:
    """The column of ranks."""
    return exp.column(RANK, table=alias, quoted=True)


def _rank(part: Part) -> exp.Expr:
    if not part.ranked:
        return exp.Literal.number(OUTSIDE)
    if part.read.rank is None:
        return rank_of("t")
    return exp.cast(exp.Literal.number(part.read.rank), "BIGINT")


def relation_query(relation: Relation, distinct: bool = False) -> exp.Query:
    """The union of a relation's parts, with or without repetitions; of no part: no rows."""
    queries = [part_query(part, relation) for part in relation.parts]
    if not queries:
        nothing = [
            exp.cast(exp.null(), SQL_TYPES[c.type or Type.SYMBOL]).as_(c.name, quoted=True)
            for c in relation.stored
        ]
        return exp.select(*nothing).where(exp.false(), copy=False)
    if len(queries) == 1:
        return queries[0]
    return exp.union(*queries, distinct=distinct, copy=False)


def source(relation: Relation, alias: str) -> exp.Expr:
    """A relation as an item of FROM."""
    if len(relation.parts) == 1:
        part = relation.parts[0]
        read = part.read
        plain = read.minus is None and read.ranks is None and read.rank is None
        if plain and (part.ranked or not relation.ranked):
            return _rows(part, relation, alias)
    return relation_query(relation).subquery(alias, copy=False)
