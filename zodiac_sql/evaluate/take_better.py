"""Better values in the place of those that they beat."""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, joining, temp_table
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.improving import Improving, Loop
from zodiac_sql.sql.best_values import in_group
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, source


def take_better(loop: Loop, own: Improving, new: Part) -> None:
    """Put better values in the place of those that they beat. They are the next delta."""
    _take_out_of_stored(loop, own, new)
    key = own.table, relation_key(Relation(own.columns, (new,)))
    if own.rows:
        own.rows -= loop.store.count(loop.text(("beaten", key), partial(_beaten, own, new)))
        loop.store.run(loop.text(("insert", key), partial(_insertion, own, new)))
    else:
        loop.store.run(loop.text(("begin", key), partial(_copy, own, new)))
    own.rows += new.rows
    own.delta = new


def _take_out_of_stored(loop: Loop, own: Improving, new: Part) -> None:
    """Take the stored facts out that better ones replace."""
    base = own.base
    if base is None:
        return
    relation = Relation(own.columns, (base,))

    def query() -> exp.Select:
        rows = exp.select(*columns_of(relation, "s")).from_(
            part_query(base, relation).subquery("s")
        )
        on = in_group(relation, own.best, "n", "s")
        return rows.join(joining(_item(own, new), "SEMI"), on=on)

    def statement() -> exp.Expr:
        if own.gone:
            return exp.insert(query(), temp_table(own.gone_table))
        return create_temp(own.gone_table, query())

    key = own.gone_table, relation_key(Relation(own.columns, (new,)))
    own.gone += loop.store.count(loop.text(("gone", key, relation_key(relation)), statement))


def _beaten(own: Improving, new: Part) -> exp.Expr:
    """The statement that deletes what better values replace."""
    on = in_group(own.shape, own.best, "n", "t")
    there = exp.select(exp.Literal.number(1)).from_(_item(own, new)).where(on)
    target = exp.alias_(temp_table(own.table), "t", table=True)
    return exp.Delete(this=target, where=exp.Where(this=exp.Exists(this=there)))


def _insertion(own: Improving, new: Part) -> exp.Expr:
    return exp.insert(_rows(own, new), temp_table(own.table))


def _copy(own: Improving, new: Part) -> exp.Expr:
    return create_temp(own.table, _rows(own, new))


def _rows(own: Improving, new: Part) -> exp.Select:
    return exp.select(*columns_of(own.shape, "n")).from_(_item(own, new))


def _item(own: Improving, new: Part) -> exp.Expr:
    """The better values as an item of FROM."""
    return source(Relation(own.columns, (new,)), "n")
