"""The tables of a predicate in SQLite, and how rows in them are compared.

Each copied predicate has a number n, and its columns are c0, c1, ...; so nothing that a user has
named stands in a statement. Its facts are in fact_n, each once, with

* owners: a bit for each table of the file that has the fact (`Copy.bits`). While a change is
  computed, a fact that has left all of them stays, without a bit, because what it was joined with
  may still be looked for;
* rank: that of the recursive hypernode that derives the predicate, if there is one.

The others are small, and empty between changes:

    moved_n      the facts whose owners or ranks the change has touched, as they were before
    entered_n    what entered the extension, or what of it a hypernode sees from outside
    left_n       what left it
    lost_n       facts that a hypernode may not derive any more
    won_n        facts that it derives newly
    delta_n      those of the last round of a recursive hypernode
    gone_n       all that a recursive hypernode has lost
    groups_n     the groups that are to be aggregated anew for it, with 0 in all other columns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from sqlglot import exp

FACT, MOVED, ENTERED, LEFT = "fact", "moved", "entered", "left"
LOST, WON, DELTA, GONE = "lost", "won", "delta", "gone"
GROUPS = "groups"

SMALL = (MOVED, ENTERED, LEFT, LOST, WON, DELTA, GONE, GROUPS)
"""The tables that are empty between changes."""

OWNERS, RANK = "owners", "rank"

_BESIDE = {FACT: (OWNERS, RANK), MOVED: (OWNERS, RANK), LOST: (RANK,), DELTA: (RANK,)}
"""The columns that tables have beside those of the predicate."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A predicate that is copied: its number, and the bit of each owner of a table of it."""

    number: int
    arity: int
    bits: Mapping[int, int] = field(compare=False)
    recursive: int | None = field(compare=False)
    """The recursive hypernode that derives it, whose ranks its facts have."""
    facts: int = field(compare=False)
    distinct: tuple[int, ...] = field(compare=False)
    """About how many facts it had when it was made, and how many values in each column."""
    together: Mapping[tuple[int, ...], int] = field(default_factory=dict, compare=False)
    """About how many different values it had in several columns, where that is known."""

    def found(self, places: Iterable[int]) -> float:
        """About how many facts have given values in some columns."""
        key = tuple(sorted({*places}))
        values = self.together.get(key) or prod(self.distinct[place] for place in key)
        return self.facts / max(1, min(values, self.facts))

    def name(self, kind: str) -> str:
        """The name of one of its tables."""
        return f"{kind}_{self.number}"

    def table(self, kind: str, alias: str) -> exp.Expr:
        """One of its tables as an item of FROM."""
        return exp.table_(self.name(kind)).as_(alias)

    def columns(self, alias: str | None = None) -> list[exp.Column]:
        """Its columns."""
        return [exp.column(name, table=alias) for name in column_names(self.arity)]

    def same(self, one: str, other: str) -> list[exp.Expr]:
        """Two rows are of the same fact."""
        pairs = zip(self.columns(one), self.columns(other), strict=True)
        return [a.eq(b) for a, b in pairs]


def column_names(arity: int) -> list[str]:
    """The names of columns in SQLite."""
    return [f"c{place}" for place in range(arity)]


def creations(copy: Copy) -> Iterator[str]:
    """CREATE TABLE for the facts of a predicate, and for what a change does to them."""
    for kind in (FACT, *SMALL):
        names = column_names(copy.arity)
        columns = [exp.ColumnDef(this=exp.to_identifier(n)) for n in names]
        columns += [exp.ColumnDef(this=exp.to_identifier(n)) for n in _BESIDE.get(kind, ())]
        key = exp.PrimaryKey(expressions=[exp.to_identifier(n) for n in names])
        table = exp.Schema(this=exp.table_(copy.name(kind)), expressions=[*columns, key])
        # The key is the table: sqlglot has no node for that.
        yield f"{render(exp.Create(this=table, kind='TABLE'))} WITHOUT ROWID"


def index(copy: Copy, places: Sequence[int]) -> exp.Create:
    """CREATE INDEX to look facts up by the values of some columns."""
    name = "_".join([FACT, str(copy.number), "by", *map(str, places)])
    columns = [exp.Ordered(this=exp.column(f"c{place}"), nulls_first=True) for place in places]
    made = exp.Index(
        this=exp.to_identifier(name),
        table=exp.table_(copy.name(FACT)),
        params=exp.IndexParameters(columns=columns),
    )
    return exp.Create(this=made, kind="INDEX")


def insertion(copy: Copy, kind: str, query: exp.Query) -> str:
    """INSERT OR IGNORE into one of the tables: a query may have the same row twice."""
    into = exp.table_(copy.name(kind))
    return render(exp.Insert(this=into, expression=query, alternative="IGNORE"))


def has(alias: str, bits: exp.Expr | int, column: str = OWNERS) -> exp.Expr:
    """A row has one of some owners."""
    mask = exp.Literal.number(bits) if isinstance(bits, int) else bits
    both = exp.BitwiseAnd(this=exp.column(column, table=alias), expression=mask)
    return exp.NEQ(this=exp.paren(both), expression=exp.Literal.number(0))


def holds(alias: str) -> exp.Expr:
    """A row is a fact of the extension now."""
    return exp.NEQ(this=exp.column(OWNERS, table=alias), expression=exp.Literal.number(0))


def render(tree: exp.Expr) -> str:
    """The text of a statement for SQLite."""
    return tree.sql(dialect="sqlite", copy=False)
