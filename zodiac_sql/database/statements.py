"""Small sqlglot trees that many statements are made of. No SQL is ever put together as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp


def temp_table(name: str) -> exp.Table:
    """A temporary table by name."""
    return exp.table_(name, db="main", catalog="temp", quoted=True)


def shown(database: str, name: str) -> exp.Table:
    """The view in main that shows a predicate. It names the database, because DuckDB has another
    main for temporary tables.
    """
    return exp.table_(name, db="main", catalog=database, quoted=True)


def text(value: str) -> exp.Expr:
    """A text in SQL. A NUL cannot be in a literal, where DuckDB's parser ends the statement."""
    first, *others = (exp.Literal.string(part) for part in value.split("\0"))
    result: exp.Expr = first
    for other in others:
        nul = exp.Anonymous(this="chr", expressions=[exp.Literal.number(0)])
        result = exp.DPipe(this=exp.DPipe(this=result, expression=nul), expression=other)
    return exp.paren(result, copy=False) if others else result


def without_sign_of_zero(value: exp.Expr) -> exp.Expr:
    """A float, with 0.0 for -0.0. Adding 0.0 does this, and changes no other float."""
    return exp.paren(exp.Add(this=value, expression=exp.Literal.number("0e0")), copy=False)


LEAST_HEAVY = 4
"""An expression is heavy, and not repeated, if this many of its parts repeat their own parts."""


def once(
    values: Sequence[exp.Expr], build: Callable[..., exp.Expr], each: str, first: str
) -> exp.Expr:
    """An expression built from values that it may repeat, with heavy values written only once.

    If such expressions are nested, repeating would double their size with each level. So a heavy
    value becomes a list of one element; the dialect's function `each` computes the expression from
    the element, and `first` takes the result out.
    """
    for place, value in enumerate(values):
        if _is_heavy(value):
            name = f"p{place}"
            others = [*values[:place], exp.column(name), *values[place + 1 :]]
            inside = once(others, build, each, first)
            element = exp.Lambda(this=inside, expressions=[exp.to_identifier(name)])
            computed = exp.Anonymous(
                this=each, expressions=[exp.Array(expressions=[value]), element]
            )
            return exp.Anonymous(this=first, expressions=[computed, exp.Literal.number(1)])
    return build(*values)


def _is_heavy(value: exp.Expr) -> bool:
    if value.find(exp.Lambda):
        return True
    return sum(1 for _ in value.find_all(exp.Case, exp.Nullif, exp.Mul)) >= LEAST_HEAVY


def decimal_text(value: exp.Expr) -> exp.Expr:
    """A decimal as people write it: no zero says nothing, and a digit follows the point."""
    zeros, nothing = text("0{1,17}$"), text("")
    written = exp.cast(value, "TEXT")
    return exp.Anonymous(this="regexp_replace", expressions=[written, zeros, nothing])


def create_temp(name: str, query: exp.Query) -> exp.Create:
    """CREATE OR REPLACE TEMP TABLE name AS query."""
    return exp.Create(
        this=temp_table(name), kind="TABLE", expression=query, replace=True,
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
    return all_of(union)


def all_of(query: exp.Query) -> exp.Select:
    """SELECT * FROM a query. (A star that is written as text would be parsed.)"""
    return exp.select(exp.Star(), copy=False).from_(query.subquery("u", copy=False), copy=False)


def distinct(query: exp.Query | None) -> exp.Select:
    """The rows of a query, each once."""
    assert query is not None
    return (
        exp.select(exp.Star(), copy=False)
        .distinct(copy=False)
        .from_(query.subquery("u", copy=False), copy=False)
    )


def minus(left: exp.Query, right: exp.Query) -> exp.Query:
    """The distinct rows of one query that another does not have.

    Each operand is a subquery, because EXCEPT and UNION associate to the left.
    """
    operands = (
        exp.select(exp.Star(), copy=False).from_(q.subquery("u", copy=False), copy=False)
        for q in (left, right)
    )
    return exp.except_(*operands, copy=False)


def joining(item: exp.Expr, kind: str) -> exp.Expr:
    """A table or query to be joined as ANTI, SEMI, LEFT or CROSS; as usual if that is "".

    The kind as a text would be parsed each time, which takes as long as a small statement.
    """
    if not kind:
        return item
    return exp.Join(this=item, **({"side": kind} if kind == "LEFT" else {"kind": kind}))


def anti_join(
    query: exp.Select,
    columns: Sequence[exp.Column],
    other: exp.Expr,
    alias: str = "x",
    kind: str = "ANTI",
) -> exp.Select:
    """Only the rows whose columns are not in the other table, under the same names.

    The other table becomes a part of the query.
    """
    same = [
        exp.EQ(this=c.copy(), expression=exp.column(c.name, table=alias, quoted=True))
        for c in columns
    ]
    item = joining(exp.alias_(other, alias, table=True, copy=False), kind)
    return query.join(item, on=exp.and_(*same, copy=False), copy=False)


def semi_join(
    query: exp.Select, columns: Sequence[exp.Column], other: exp.Expr, alias: str = "x"
) -> exp.Select:
    """Only the rows whose columns are in the other table, under the same names."""
    return anti_join(query, columns, other, alias, "SEMI")


def data_type(name: str) -> exp.DataType:
    """A type of DuckDB's by its name, which need not be parsed."""
    plain, _, sizes = name.rstrip(")").partition("(")
    inside = [exp.DataTypeParam(this=exp.convert(int(size))) for size in sizes.split(",") if size]
    return exp.DataType(this=exp.DType[_SYNONYMS.get(plain, plain)], expressions=inside)


_SYNONYMS = {"INTEGER": "INT"}


def parameter(name: str) -> exp.Parameter:
    return exp.Parameter(this=exp.var(name))
