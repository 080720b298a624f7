"""What Spark would compute otherwise than DuckDB is computed by DuckDB, in Spark's Python workers.

That is all that reads the values of terms, and the functions that `leaves` tells. A rule's SELECT
has marks around such expressions (sql/for_duckdb.py). Each becomes a call of a function that gets
the values of a row, or what Spark has aggregated, and works on a batch of rows at a time:

    SELECT ... WHERE zodiac$for_duckdb(zodiac$value_of(a1.value).number > 3)
    SELECT ... WHERE f(a1.value)      f: SELECT t0.number > 3 FROM (SELECT ..(a0) AS t0 FROM rows)

So there is one meaning of values, and no second one in Spark's SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa
from sqlglot import exp

from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.render import render
from zodiac_sql.database.store import Store
from zodiac_sql.database.term_values import VALUE_OF_MACROS
from zodiac_sql.language.syntax import Type
from zodiac_sql.spark.workers import memory_of_one
from zodiac_sql.sql.for_duckdb import VALUE_OF, is_aggregate, marked

_PATTERNS = frozenset(("matches", "regex_replace", "regex_extract"))
"""Spark's patterns are those of Java, which mean something else."""

_OF_MOMENTS = frozenset(
    (
        "add_days", "add_seconds", "days_between", "seconds_between", "epoch", "date",
        "time_bucket", "format_time",
    )
)  # fmt: skip
"""Spark has no such functions, or others."""


def leaves(function: str, types: Sequence[Type | None], made: Type | None) -> bool:
    """Whether a function is left to DuckDB, with these types of its arguments and its value.

    Spark writes floats and decimals otherwise (1.0E10), and rounds decimals where they are long.
    """
    if function in _PATTERNS or function in _OF_MOMENTS:
        return True
    if function in ("concat", "text"):
        return not {Type.DECIMAL, Type.FLOAT}.isdisjoint(types)
    if function == "int":
        return types[0] is Type.DECIMAL
    return made is Type.DECIMAL and function not in ("if", "least", "greatest", "abs")


# --- SQL ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """A function that DuckDB computes: a query for its values, and their type in Spark's words."""

    query: str
    returns: str


Named = Callable[[Function], str]
"""Makes a function known to Spark, and returns its name."""


def with_calls(query: exp.Query, named: Named) -> exp.Query:
    """A query with calls of functions in the place of all marks."""
    tree = query.copy()
    waiting: list[exp.Expr] = [tree]
    while waiting:
        node = waiting.pop()
        if (expression := marked(node)) is not None:
            call = _call(expression, node.args["to"], named)
            node.replace(call)
            node = call
        waiting += node.iter_expressions()
    return tree


def _call(expression: exp.Expr, type_: exp.DataType, named: Named) -> exp.Expr:
    """The call that an expression of a type becomes."""
    taken = _Arguments()
    inside = expression.copy().transform(taken.replaced, copy=False)
    value = exp.cast(inside, type_).as_(_VALUE)
    query = exp.select(value).from_(taken.rows())
    returns = type_.copy().transform(_as_in_spark).sql(dialect="spark")
    arguments = [*taken.arguments.values()] or [exp.true()]
    return exp.Anonymous(this=named(Function(render(query), returns)), expressions=arguments)


def _as_in_spark(type_: exp.Expr) -> exp.Expr:
    local = isinstance(type_, exp.DataType) and type_.this is exp.DataType.Type.TIMESTAMP
    return exp.DataType.build("TIMESTAMPNTZ") if local else type_


_ROWS, _VALUE = "zodiac$rows", "zodiac$value"


@dataclass(slots=True)
class _Arguments:
    """The arguments of a function: what its expression reads of a row, each once.

    `terms` are the texts whose values it reads: these are found before anything is computed.
    """

    arguments: dict[str, exp.Expr] = field(default_factory=dict)
    terms: dict[str, exp.Expr] = field(default_factory=dict)

    def replaced(self, node: exp.Expr) -> exp.Expr:
        """What stands in the function in the place of a node."""
        if isinstance(node, exp.Anonymous) and node.name == VALUE_OF:
            term = node.expressions[0].transform(self.replaced)
            return _column(_place(self.terms, term), "t")
        # A column without a table is the parameter of a lambda.
        if is_aggregate(node) or (isinstance(node, exp.Column) and node.table):
            return _column(_place(self.arguments, node), "a")
        return node

    def rows(self) -> exp.Expr:
        """The table that the function's query reads."""
        rows: exp.Expr = exp.table_(_ROWS, quoted=True)
        if not self.terms:
            return rows
        query = exp.select(exp.Star()).from_(rows)
        for place, term in enumerate(self.terms.values()):
            value = exp.Anonymous(this="zodiac_value_of", expressions=[term])
            query = query.select(value.as_(_column(place, "t").this), copy=False)
        return query.subquery("r")


def _place(known: dict[str, exp.Expr], node: exp.Expr) -> int:
    """The place of an expression among those that are known; it is added if it is not yet."""
    known.setdefault(key := node.sql(), node.copy())
    return list(known).index(key)


def _column(place: int, letter: str) -> exp.Column:
    return exp.column(f"zodiac${letter}{place}", quoted=True)


# --- in a worker ----------------------------------------------------------------------------------


def computed(query: str) -> Callable[..., pa.Array]:
    """What a worker does with the arguments of a batch of rows."""

    def compute(*arguments: pa.Array) -> pa.Array:
        names = [_column(place, "a").name for place in range(len(arguments))]
        store = _engine()
        with store.offered(_ROWS, pa.table(list(arguments), names)):
            return store.arrow(query).column(0).combine_chunks()

    return compute


@cache
def _engine() -> Store:
    """The engine of this worker. With one thread, values come in the order of their rows."""
    store = open_store(threads=1, memory_limit=memory_of_one())
    for macro in VALUE_OF_MACROS:
        store.run(macro)
    return store
