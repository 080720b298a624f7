"""The statements that move facts of one predicate, and those that tell what has moved."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from zodiac_sql.lookups.tables import (
    DELTA,
    ENTERED,
    FACT,
    GONE,
    LEFT,
    LOST,
    MOVED,
    OWNERS,
    RANK,
    WON,
    Copy,
    column_names,
    has,
    holds,
    insertion,
    render,
)

_kept = lru_cache(maxsize=10_000)
"""The texts depend on the number and the arity of a copy alone."""


def _owner() -> exp.Placeholder:
    return exp.Placeholder(this="bit")


def _rank(alias: str) -> exp.Column:
    return exp.column(RANK, table=alias)


def _fact_of(copy: Copy, kind: str, alias: str, *values: exp.Expr) -> exp.Select:
    """SELECT .. FROM one of the small tables and the facts that its rows are."""
    query = exp.select(*values).from_(copy.table(kind, alias))
    query = query.join(exp.Join(this=copy.table(FACT, "t"), kind="CROSS"), copy=False)
    return query.where(*copy.same(alias, "t"), copy=False)


# --- what is lost and won -------------------------------------------------------------------------


@_kept
def put(copy: Copy, kind: str) -> str:
    """Facts given as parameters."""
    names = column_names(copy.arity)
    into = exp.Schema(
        this=exp.table_(copy.name(kind)), expressions=[exp.to_identifier(n) for n in names]
    )
    values = exp.values([tuple(exp.Placeholder() for _ in names)])
    return render(exp.Insert(this=into, expression=values, alternative="IGNORE"))


@_kept
def absent(copy: Copy) -> str:
    """No longer lose what an owner does not have."""
    return _without(copy, LOST, there=False)


@_kept
def known(copy: Copy) -> str:
    """No longer win what an owner has."""
    return _without(copy, WON, there=True)


def _without(copy: Copy, kind: str, there: bool) -> str:
    name = copy.name(kind)
    found = exp.select("1").from_(copy.table(FACT, "t"))
    found = found.where(*copy.same(name, "t"), has("t", _owner()), copy=False)
    test: exp.Expr = exp.Exists(this=found)
    return render(exp.delete(exp.table_(name)).where(test if there else exp.not_(test)))


@_kept
def stays(copy: Copy) -> str:
    """No longer lose what is won."""
    name = copy.name(LOST)
    found = exp.select("1").from_(copy.table(WON, "w")).where(*copy.same(name, "w"), copy=False)
    return render(exp.delete(exp.table_(name)).where(exp.Exists(this=found)))


@_kept
def count(copy: Copy, kind: str) -> str:
    """How many rows a table has."""
    return render(exp.select(exp.Count(this=exp.Star())).from_(exp.table_(copy.name(kind))))


@_kept
def empty(copy: Copy, kind: str) -> str:
    """Delete all rows of a table."""
    return render(exp.delete(exp.table_(copy.name(kind))))


@_kept
def note_lost(copy: Copy) -> str:
    """Note what facts were like that are about to be lost."""
    owners = exp.column(OWNERS, table="t")
    query = _fact_of(copy, LOST, "l", *copy.columns("t"), owners, _rank("t"))
    return insertion(copy, MOVED, query)


@_kept
def note_won(copy: Copy) -> str:
    """Note what facts were like that are about to be won."""
    before = exp.func("coalesce", exp.column(OWNERS, table="t"), exp.Literal.number(0))
    query = exp.select(*copy.columns("w"), before, _rank("t")).from_(copy.table(WON, "w"))
    query = query.join(copy.table(FACT, "t"), on=exp.and_(*copy.same("w", "t")), join_type="left")
    return insertion(copy, MOVED, query)


@_kept
def clear_bit(copy: Copy) -> str:
    """Take what is lost, which is there, out of an owner's table."""
    query = exp.select(*copy.columns("l"), exp.null(), exp.null()).from_(copy.table(LOST, "l"))
    left = exp.BitwiseAnd(this=exp.column(OWNERS), expression=exp.BitwiseNot(this=_owner()))
    return _merge(copy, query.where(exp.true()), exp.column(OWNERS).eq(left))


@_kept
def set_bit(copy: Copy) -> str:
    """Put what is won into an owner's table."""
    query = exp.select(*copy.columns("w"), _owner(), exp.null()).from_(copy.table(WON, "w"))
    return _merge(copy, query.where(exp.true()), _with_bit())


@_kept
def set_bit_and_rank(copy: Copy) -> str:
    """Put what is won into the table of a recursive hypernode."""
    rank = exp.Placeholder(this="rank")
    query = exp.select(*copy.columns("w"), _owner(), rank).from_(copy.table(WON, "w"))
    return merge_ranked(copy, query.where(exp.true()))


def merge_ranked(copy: Copy, query: exp.Query) -> str:
    """Put facts, with the bit of a recursive hypernode and their ranks, into its table.

    The query needs a WHERE: SQLite takes ON for that of a join else.
    """
    ranks = exp.column(RANK).eq(exp.column(RANK, table="excluded"))
    return _merge(copy, query, _with_bit(), ranks)


def _with_bit() -> exp.Expr:
    both = exp.BitwiseOr(this=exp.column(OWNERS), expression=_owner())
    return exp.column(OWNERS).eq(both)


def _merge(copy: Copy, query: exp.Query | exp.Values, *changes: exp.Expr) -> str:
    """INSERT, or UPDATE where the fact is there."""
    keys = [exp.to_identifier(name) for name in column_names(copy.arity)]
    conflict = exp.OnConflict(
        conflict_keys=keys, action=exp.var("DO UPDATE"), expressions=list(changes)
    )
    into = exp.table_(copy.name(FACT))
    return render(exp.Insert(this=into, expression=query, conflict=conflict))


# --- rounds of a recursive hypernode --------------------------------------------------------------


@_kept
def into_gone(copy: Copy) -> str:
    """Remember what is lost, to look whether it still follows from something else."""
    return insertion(copy, GONE, exp.select(*copy.columns("l")).from_(copy.table(LOST, "l")))


@_kept
def into_delta_lost(copy: Copy) -> str:
    """What leaves the extension, because no other owner has it."""
    others = exp.BitwiseAnd(
        this=exp.column(OWNERS, table="t"), expression=exp.BitwiseNot(this=_owner())
    )
    query = _fact_of(copy, LOST, "l", *copy.columns("t"), _rank("t"))
    return insertion(copy, DELTA, query.where(exp.paren(others).eq(0)))


@_kept
def into_delta_won(copy: Copy) -> str:
    """What enters the extension, because no owner had it."""
    there = exp.select("1").from_(copy.table(FACT, "t"))
    there = there.where(*copy.same("w", "t"), holds("t"), copy=False)
    query = exp.select(*copy.columns("w"), exp.null()).from_(copy.table(WON, "w"))
    return insertion(copy, DELTA, query.where(exp.not_(exp.Exists(this=there))))


@_kept
def highest(copy: Copy) -> str:
    """The highest rank."""
    return render(exp.select(exp.Max(this=_rank("t"))).from_(copy.table(FACT, "t")))


# --- what has moved -------------------------------------------------------------------------------


@_kept
def fill_left(copy: Copy) -> str:
    """What some owners had, and none of them has now."""
    return _difference(copy, LEFT, "m", "t")


@_kept
def fill_entered(copy: Copy) -> str:
    """What none of some owners had, and one of them has now."""
    return _difference(copy, ENTERED, "t", "m")


def _difference(copy: Copy, kind: str, yes: str, no: str) -> str:
    query = _fact_of(copy, MOVED, "m", *copy.columns("t"))
    wanted = has(yes, exp.Placeholder(this="mask"))
    refused = exp.not_(has(no, exp.Placeholder(this="mask")))
    return insertion(copy, kind, query.where(wanted, refused, copy=False))


@_kept
def facts(copy: Copy, kind: str) -> str:
    """The rows of a small table."""
    return render(exp.select(*copy.columns("x")).from_(copy.table(kind, "x")))


@_kept
def removed(copy: Copy, ranked: bool) -> str:
    """The rows that go out of an owner's table: what it lost, and what has another rank."""
    query = _fact_of(copy, MOVED, "m", *copy.columns("m"))
    return render(query.where(has("m", _owner()), _differs("t", ranked), copy=False))


@_kept
def added(copy: Copy, ranked: bool) -> str:
    """The rows that go into an owner's table: what it gained, and what has another rank."""
    ranks = [_rank("t")] if ranked else []
    query = _fact_of(copy, MOVED, "m", *copy.columns("t"), *ranks)
    return render(query.where(has("t", _owner()), _differs("m", ranked), copy=False))


def _differs(other: str, ranked: bool) -> exp.Expr:
    gone = exp.not_(has(other, _owner()))
    if not ranked:
        return gone
    return exp.or_(gone, exp.NEQ(this=_rank("m"), expression=_rank("t")))


@_kept
def remove_ghosts(copy: Copy) -> str:
    """Delete the facts that no owner has any more."""
    columns = copy.columns()
    moved = exp.select(*copy.columns("m")).from_(copy.table(MOVED, "m"))
    one = exp.Tuple(expressions=columns) if len(columns) > 1 else columns[0]
    among = exp.In(this=one, query=moved.subquery(copy=False))
    table = exp.table_(copy.name(FACT))
    return render(exp.delete(table).where(among, exp.column(OWNERS).eq(0)))


# --- following what was changed elsewhere ---------------------------------------------------------


def _is_given(copy: Copy) -> list[exp.Expr]:
    """A row is the fact that is given."""
    return [column.eq(exp.Placeholder()) for column in copy.columns()]


@_kept
def take_one(copy: Copy) -> str:
    """Take a fact out of an owner's table: its bit, and the fact, are parameters."""
    others = exp.BitwiseAnd(
        this=exp.column(OWNERS), expression=exp.BitwiseNot(this=exp.Placeholder())
    )
    change = exp.column(OWNERS).eq(others)
    where = exp.Where(this=exp.and_(*_is_given(copy)))
    return render(exp.Update(this=exp.table_(copy.name(FACT)), expressions=[change], where=where))


@_kept
def give_one(copy: Copy, ranked: bool) -> str:
    """Put a fact into an owner's table: the fact, the bit and the rank are parameters."""
    marks = tuple(exp.Placeholder() for _ in range(copy.arity + 2))
    both = exp.BitwiseOr(this=exp.column(OWNERS), expression=exp.column(OWNERS, table="excluded"))
    changes = [exp.column(OWNERS).eq(both)]
    changes += [exp.column(RANK).eq(exp.column(RANK, table="excluded"))] if ranked else []
    return _merge(copy, exp.values([marks]), *changes)


@_kept
def remove_ghost(copy: Copy) -> str:
    """Delete a fact that is given if no owner has it."""
    table = exp.table_(copy.name(FACT))
    return render(exp.delete(table).where(*_is_given(copy), exp.column(OWNERS).eq(0)))
