"""Small sqlglot trees that many statements are made of. No SQL is ever put together as text."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def temp_table(name: str) -> exp.Table:
    """A temporary table by name."""
    return exp.table_(name, db="main", catalog="temp", quoted=True)


def create_temp(name: str, query: exp.Query) -> exp.Create:
    """CREATE OR REPLACE TEMP TABLE name AS query."""
    return exp.Create(
        this=exp.table_(name, quoted=True), kind="TABLE", expression=query, replace=True,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )  # fmt: skip


def create_temp_view(name: str, query: exp.Query) -> exp.Create:
    """CREATE OR REPLACE TEMP VIEW name AS query."""
    create = create_temp(name, query)
    create.set("kind", "VIEW")
    return create


def drop_view(name: str) -> exp.Drop:
    """DROP VIEW of a temporary view."""
    return exp.Drop(tables=[temp_table(name)], kind="VIEW")


def drop(name: str) -> exp.Drop:
    """DROP TABLE IF EXISTS of a temporary table."""
    return exp.Drop(tables=[temp_table(name)], kind="TABLE", exists=True)


def rename(old: exp.Table, new: str) -> exp.Alter:
    """ALTER TABLE old RENAME TO new."""
    action = exp.AlterRename(this=exp.table_(new, quoted=True))
    return exp.Alter(this=old, kind="TABLE", actions=[action])


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """Queries with the same columns as one query, which can be an operand of another union."""
    if len(queries) == 1:
        return queries[0]
    union = exp.union(*queries, distinct=False, copy=False)
    return exp.select("*").from_(union.subquery("u", copy=False))


def distinct(query: exp.Query | None) -> exp.Select:
    """The rows of a query, each once."""
    assert query is not None
    return exp.select("*").distinct(copy=False).from_(query.subquery("u", copy=False), copy=False)


def minus(left: exp.Query, right: exp.Query) -> exp.Query:
    """The distinct rows of one query that another does not have.

    Each operand is closed into a subquery: EXCEPT and UNION associate to the left.
    """
    operands = (exp.select("*").from_(q.subquery("u", copy=False)) for q in (left, right))
    return exp.except_(*operands, copy=False)


def anti_join(
    query: exp.Select,
    columns: Sequence[exp.Column],
    other: exp.Expr,
    alias: str = "x",
    kind: str = "ANTI",
) -> exp.Select:
    """Only the rows whose columns do not stand in the other table, under the same names."""
    same = [c.copy().eq(exp.column(c.name, table=alias, quoted=True)) for c in columns]
    return query.join(
        exp.alias_(other, alias, table=True), on=exp.and_(*same, copy=False), join_type=kind,
        copy=False,
    )  # fmt: skip


def semi_join(
    query: exp.Select, columns: Sequence[exp.Column], other: exp.Expr, alias: str = "x"
) -> exp.Select:
    """Only the rows whose columns stand in the other table, under the same names."""
    return anti_join(query, columns, other, alias, "SEMI")


def parameter(name: str) -> exp.Parameter:
    return exp.Parameter(this=exp.var(name))
