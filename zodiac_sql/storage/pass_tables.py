"""Tables that pass from old hypernodes to new ones: they are renamed, not copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import rename
from zodiac_sql.graph.restructuring import Restructuring
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, RANK, derived, moving
from zodiac_sql.program.state import State
from zodiac_sql.storage.edits import Edits
from zodiac_sql.storage.remove_tables import Remover, stored_table
from zodiac_sql.storage.sources import inner_tables


@dataclass(frozen=True, slots=True)
class _Move:
    """A table that passes from one hypernode to another."""

    source: str
    target: str
    was_recursive: bool
    is_recursive: bool


def pass_tables(
    remover: Remover,
    old: State,
    new: State,
    restructuring: Restructuring,
    edits: Edits,
) -> None:
    """Give the tables of old hypernodes to those that take them over; the others go."""
    rows = remover.rows
    moves = [
        move for move in _moves(restructuring, new, edits) if (DERIVED_SCHEMA, move.source) in rows
    ]
    staying = {(DERIVED_SCHEMA, move.source) for move in moves}
    unchanged = restructuring.unchanged()
    for number, keys in inner_tables(old).items():
        if number in unchanged:
            staying |= keys
    for key in list(rows):
        if key[0] != EXPLICIT_SCHEMA and key not in staying:
            remover.remove(key)
    renamed = [move for move in moves if move.source != move.target]
    for number, move in enumerate(renamed):  # in two steps: a target can be the source of another
        remover.run(rename(stored_table(move.source), moving(number)))
    counts = [rows.pop((DERIVED_SCHEMA, move.source)) for move in renamed]
    for number, move in enumerate(renamed):
        remover.run(rename(stored_table(moving(number)), move.target))
        rows[DERIVED_SCHEMA, move.target] = counts[number]
    for move in moves:
        _add_or_drop_ranks(remover, move)


def _moves(restructuring: Restructuring, new: State, edits: Edits) -> Iterator[_Move]:
    """The tables that stay, except those that are written anew."""
    old = {h.id: h for h in restructuring.before.hypernodes}
    for hypernode in restructuring.after.hypernodes:
        heritage = restructuring.heritages.get(hypernode.id)
        if hypernode.id not in restructuring.sources or (heritage and not heritage.origins):
            continue
        base = old[heritage.base if heritage else hypernode.id]
        for predicate in hypernode.derives:
            edit = edits.get((predicate, hypernode.id))
            passes = heritage is None or base.id in heritage.tables[predicate]
            if passes and not (edit and edit.rewritten):
                end = new.schema[predicate].sql_name
                yield _Move(
                    derived(base.id, end), derived(hypernode.id, end), base.recursive,
                    hypernode.recursive,
                )  # fmt: skip


def _add_or_drop_ranks(remover: Remover, move: _Move) -> None:
    """Only tables of recursive hypernodes have ranks; a new column of ranks has 0 everywhere."""
    if move.was_recursive == move.is_recursive:
        return
    action: exp.Expr = exp.Drop(tables=[exp.column(RANK, quoted=True)], kind="COLUMN")
    if move.is_recursive:
        zero = exp.DefaultColumnConstraint(this=exp.Literal.number(0))
        action = exp.ColumnDef(
            this=exp.to_identifier(RANK, quoted=True),
            kind=exp.DataType.build("BIGINT"),
            constraints=[exp.ColumnConstraint(kind=zero)],
        )
    remover.run(exp.Alter(this=stored_table(move.target), kind="TABLE", actions=[action]))
