"""Views of files of older versions, rewritten for the tables that they read now (migrate.py)."""

from __future__ import annotations

import sqlglot
from sqlglot import exp


def with_values_apart(text: str, database: str) -> exp.Create:
    """The statement that replaces a view, whose numbers were in the dictionary, by one that reads
    them from zodiac.symbol_value (migration 19).
    """
    view = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(view, exp.Create)
    view.set("replace", True)
    view.this.set("catalog", exp.to_identifier(database, quoted=True))
    view.this.set("db", exp.to_identifier("main", quoted=True))
    joins = {join.alias_or_name: join for join in view.find_all(exp.Join)}
    for number in list(view.find_all(exp.Column)):
        if number.name != "number" or number.table not in joins:
            continue
        of_symbol = joins[number.table]
        alias = f"w{number.table[1:]}"
        same = of_symbol.args["on"].transform(_moved, number.table, alias)
        values = exp.to_table("zodiac.symbol_value").as_(alias)
        select = of_symbol.parent_select
        assert isinstance(select, exp.Select)
        number.set("table", exp.to_identifier(alias))
        select.join(values, on=same, join_type="LEFT", copy=False)
    return view


def _moved(node: exp.Expr, table: str, alias: str) -> exp.Expr:
    """A column of one table as a column of another."""
    if isinstance(node, exp.Column) and node.table == table:
        return exp.column(node.this.copy(), table=alias)
    return node
