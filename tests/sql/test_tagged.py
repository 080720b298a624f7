"""Rows of several predicates in one table (sql/tagged.py)."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Part, Reading, Relation, relation_query
from zodiac_sql.sql.tagged import layout_of, typed

P = (Column("s", Type.SYMBOL), Column("o", Type.FLOAT))
Q = (Column("n", Type.SYMBOL),)
LAYOUT = layout_of({"p": typed(P, ranked=False), "q": typed(Q, ranked=True)})


def test_each_type_has_its_columns() -> None:
    assert LAYOUT.columns == ("zodiac$tag", "INTEGER 0", "DOUBLE 1", "BIGINT 1")


def test_rows_go_in() -> None:
    assert render(LAYOUT.put("q", exp.select("*").from_("found"))) == (
        'SELECT 2 AS "zodiac$tag", "t"."n" AS "INTEGER 0", CAST(NULL AS DOUBLE) AS "DOUBLE 1",'
        ' "t"."$rank" AS "BIGINT 1" FROM (SELECT * FROM found) AS t'
    )


def test_rows_come_out() -> None:
    part = Part("temp", "all", 7, read=Reading(picked=LAYOUT.picked["p"]))
    assert render(relation_query(Relation(P, (part,)))) == (
        'SELECT "t"."s", "t"."o" FROM (SELECT "INTEGER 0" AS "s", "DOUBLE 1" AS "o"'
        ' FROM "temp"."main"."all" WHERE "zodiac$tag" = 1) AS t'
    )
