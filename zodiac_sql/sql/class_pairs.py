"""A relation as pairs of nodes of the same class, read from a table of nodes and their classes.

A symmetric and transitive relation of n connected nodes has n * n pairs, but n rows define it: the
class of each node (paper 2, section 6). SQL makes the pairs when somebody reads them.

A relation that is transitive alone relates a node to the nodes of other classes, too. Then a second
table has the pairs of classes that are related, and nothing else relates two nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import joining
from zodiac_sql.database.store import Store
from zodiac_sql.names import DERIVED_SCHEMA
from zodiac_sql.rewrite.closures.module import FIRST, LOOPS, NODE, SECOND


@dataclass(frozen=True, slots=True)
class Between:
    """A table of pairs of classes: each node of the first is related to each of the second."""

    schema: str
    table: str

    def named(self, alias: str) -> exp.Expr:
        """The table as an item of FROM."""
        catalog = "temp" if self.schema == "temp" else None
        schema = "main" if self.schema == "temp" else self.schema
        found = exp.table_(self.table, db=schema, catalog=catalog, quoted=True)
        return exp.alias_(found, alias, table=True)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which pairs: two nodes of the same class by column `by`, but not by column `lacks`.

    If `unequal`, a node is not related to itself unless its column of loops says so. With
    `between`, these are pairs of nodes whose classes stand in that table, in this order.
    """

    by: str = "class"
    lacks: str | None = None
    unequal: bool = False
    between: Between | None = None


def pairs_query(
    pairs: Pairs, table: exp.Expr, names: Sequence[str], shown: str = NODE
) -> exp.Query:
    """SELECT the pairs that a table of classes stands for.

    `names` are the names of the two columns. Both show the column `shown` of their nodes.
    """
    first, second = (
        exp.column(shown, table=alias, quoted=True).as_(name, quoted=True)
        for alias, name in zip("ab", names, strict=True)
    )
    related = exp.select(first, second)
    if pairs.between:
        query = related.from_(pairs.between.named("c"))
        for end, alias in ((FIRST, "a"), (SECOND, "b")):
            there = exp.alias_(table.copy(), alias, table=True)
            query = query.join(there, on=_is_in(pairs.by, alias, "c", end), copy=False)
        return query
    if pairs.lacks is None:
        query = related.from_(exp.alias_(table.copy(), "a", table=True))
        other = exp.alias_(table.copy(), "b", table=True)
        return query.join(other, on=_holds(pairs.by, pairs.unequal), copy=False)
    moved, stayed = _moved(table, pairs, True), _moved(table, pairs, False)
    whole = table.copy()
    queries = [_gained(related, moved, whole, pairs), _gained(related, stayed, moved, pairs)]
    if pairs.unequal:
        queries.append(_looped(table, pairs, names))
    return exp.union(*queries, distinct=False, copy=False)


def joined(
    query: exp.Select,
    pairs: Pairs,
    table: exp.Expr,
    columns: Sequence[exp.Column],
    alias: str,
    holds: bool,
) -> exp.Select:
    """Only those rows of a query whose two columns are related, or only those that are not.

    This looks up the class of each end; a join with the pairs would make all of them.
    """
    ends = [f"{alias}{end}" for end in "ab"]
    for column, end in zip(columns, ends, strict=True):
        node = exp.column(NODE, table=end, quoted=True)
        query = query.join(
            joining(exp.alias_(table.copy(), end, table=True), "LEFT"), on=node.eq(column.copy()),
            copy=False,
        )  # fmt: skip
    if pairs.between:
        between = f"{alias}c"
        places = zip(ends, (FIRST, SECOND), strict=True)
        same = (_is_in(pairs.by, end, between, place) for end, place in places)
        there = joining(pairs.between.named(between), "LEFT")
        query = query.join(there, on=exp.and_(*same), copy=False)
        lacking = exp.column(FIRST, table=between, quoted=True).is_(exp.null())
        return query.where(exp.not_(lacking) if holds else lacking, copy=False)
    related = exp.Is(this=exp.paren(_holds(pairs.by, pairs.unequal, *ends)), expression=exp.true())
    return query.where(related if holds else exp.not_(related), copy=False)


def _gained(related: exp.Select, a: exp.Expr, b: exp.Expr, pairs: Pairs) -> exp.Select:
    """The pairs of two sets of nodes that hold by one column of classes and not by the other."""
    assert pairs.lacks is not None
    lacking = exp.not_(
        exp.Is(this=exp.paren(_holds(pairs.lacks, pairs.unequal)), expression=exp.true())
    )
    query = related.copy().from_(exp.alias_(a.copy(), "a", table=True))
    query = query.join(
        exp.alias_(b.copy(), "b", table=True), on=_holds(pairs.by, pairs.unequal), copy=False
    )
    return query.where(lacking, copy=False)


def _moved(table: exp.Expr, pairs: Pairs, moved: bool) -> exp.Subquery:
    """The nodes whose classes by the two columns differ, or those whose classes are the same.

    The larger part of a class keeps its number, so few nodes move.
    """
    assert pairs.lacks is not None
    by, lacks = (exp.column(name, quoted=True) for name in (pairs.by, pairs.lacks))
    kind = exp.NullSafeNEQ if moved else exp.NullSafeEQ
    return (
        exp.select(exp.Star()).from_(table.copy()).where(kind(this=by, expression=lacks)).subquery()
    )


def _looped(table: exp.Expr, pairs: Pairs, names: Sequence[str]) -> exp.Select:
    """Nodes that stay in their class and are newly related to themselves."""
    assert pairs.lacks is not None
    node = exp.column(NODE, table="a", quoted=True)
    by, lacks = (exp.column(name, table="a", quoted=True) for name in (pairs.by, pairs.lacks))
    is_, was = (exp.column(LOOPS[name], table="a", quoted=True) for name in (pairs.by, pairs.lacks))
    query = exp.select(*(node.copy().as_(name, quoted=True) for name in names))
    there = exp.alias_(table.copy(), "a", table=True)
    return query.from_(there).where(by.eq(lacks), is_, exp.not_(was))


def _is_in(column: str, node: str, between: str, end: str) -> exp.Expr:
    """Whether a node is in the class at one end of a pair of classes."""
    own = exp.column(column, table=node, quoted=True)
    return own.eq(exp.column(end, table=between, quoted=True))


def _holds(column: str, unequal: bool, a: str = "a", b: str = "b") -> exp.Expr:
    """Whether two nodes are related by a column of classes."""
    same = exp.column(column, table=a, quoted=True).eq(exp.column(column, table=b, quoted=True))
    if not unequal:
        return same
    first, second = (exp.column(NODE, table=alias, quoted=True) for alias in (a, b))
    loop = exp.column(LOOPS[column], table=a, quoted=True)
    return exp.and_(same, exp.paren(exp.or_(first.neq(second), loop)))


def count_pairs(store: Store, table_name: str, unequal: bool) -> int:
    """How many facts a table of classes in the file stands for."""
    number = exp.Count(this=exp.Star())
    facts: exp.Expr = exp.Mul(this=number, expression=number.copy())
    if unequal:
        loops = exp.CountIf(this=exp.column("loop", quoted=True))
        facts = facts - number.copy() + loops
    sizes = _by_class(table_name, facts)
    return store.count(exp.select(_total(exp.column("n"))).from_(sizes.subquery("sizes")))


def count_between(store: Store, table_name: str, between: str) -> int:
    """How many facts a table of classes in the file and one of pairs of classes stand for."""
    there = Between(DERIVED_SCHEMA, between).named("c")
    numbers = [exp.column("n", table=alias) for alias in "ab"]
    query = exp.select(_total(exp.Mul(this=numbers[0], expression=numbers[1]))).from_(there)
    for end, alias in ((FIRST, "a"), (SECOND, "b")):
        sizes = _by_class(table_name, exp.Count(this=exp.Star())).subquery(alias)
        query = query.join(sizes, on=_is_in("class", alias, "c", end), copy=False)
    return store.count(query)


def _by_class(table_name: str, number: exp.Expr) -> exp.Select:
    """A number `n` for each class of a table in the file."""
    there = exp.table_(table_name, db=DERIVED_SCHEMA, quoted=True)
    name = exp.column("class", quoted=True)
    return exp.select(name, number.as_("n")).from_(there).group_by(name.copy())


def _total(number: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=exp.Sum(this=number), expressions=[exp.Literal.number(0)])
