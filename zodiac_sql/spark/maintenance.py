"""How the tables of one hypernode follow a change, on Spark: which of four ways.

Deletions by delete and rederive, and insertions semi-naively (dred.py); or by pivots, for a
recursion that the workers can compute apart (by_pivots.py); or from scratch, where that is less
work: if nothing is there yet, most of what a hypernode reads has changed, half of it would be taken
out, an aggregate has other facts to range over, or predicates keep the best value of each group.
"""

from __future__ import annotations

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Aggregate, atoms_of
from zodiac_sql.spark.apart import can_be_apart
from zodiac_sql.spark.by_pivots import maintain_by_pivots
from zodiac_sql.spark.dred import overdeleted, rederive_and_insert
from zodiac_sql.spark.from_scratch import from_scratch
from zodiac_sql.spark.ledger import NOTHING, DueHypernode, Ledger, compared
from zodiac_sql.spark.pivots import pivot_of


def maintain(ledger: Ledger, task: DueHypernode) -> str:
    """Maintain the tables of a hypernode.

    Returns how: "dred", "semi-naive", "by pivots" or "from scratch".
    """
    if not _starts_over(ledger, task):
        pivot = pivot_of(task.hypernode, ledger.columns)
        if pivot is None or not can_be_apart(ledger.tables.frames, pivot, ledger.context):
            taken = overdeleted(ledger, task)
            if taken is not None:
                rederive_and_insert(ledger, task, taken)
                return "dred" if any(table.rows for table in taken.values()) else "semi-naive"
        elif not pivot.made or not (task.came or task.gone):
            maintain_by_pivots(ledger, task, pivot)
            return "by pivots"
    _start_over(ledger, task.hypernode)
    return "from scratch"


def _start_over(ledger: Ledger, hypernode: Hypernode) -> None:
    """Evaluate the hypernode from scratch, and compare."""
    frames = ledger.tables.frames
    owns, rounds = from_scratch(frames, hypernode, ledger.columns, ledger.context)
    for _ in rounds:
        pass
    for predicate, own in owns.items():
        table = ledger.tables.taken(own.known, own.columns)
        gained, lost = compared(ledger, predicate, table)
        ledger.note_whole(predicate, table, gained, lost)


def _starts_over(ledger: Ledger, task: DueHypernode) -> bool:
    """Whether the hypernode is evaluated from scratch right away."""
    if task.hypernode.bests or task.anew:
        return True
    reads = task.hypernode.reads - {*task.hypernode.derives}
    gained, lost = ledger.changed(reads)
    ranged = (a for r in task.kept for a in r.body if isinstance(a, Aggregate))
    if any(atom.predicate in gained | lost for one in ranged for atom in atoms_of(one.body)):
        return True
    there = sum(ledger.before[p].rows for p in task.hypernode.derives if p in ledger.before)
    rows = sum(ledger.after[p].rows for p in reads if p in ledger.after)
    moved = sum(ledger.gained[p].rows for p in gained) + sum(ledger.lost[p].rows for p in lost)
    return not there or 2 * moved > rows or other_types(ledger, task.hypernode)


def other_types(ledger: Ledger, hypernode: Hypernode) -> bool:
    """Whether a column that the hypernode reads or derives has another type than before."""
    tables = ((p, ledger.before.get(p, NOTHING)) for p in {*hypernode.reads, *hypernode.derives})
    return any(
        table.rows and table.types != tuple(c.meant for c in ledger.columns[p])
        for p, table in tables
    )
