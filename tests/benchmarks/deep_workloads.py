"""Programs whose recursions take many rounds, or join dense relations: rules, facts, SQL by hand.

Events one after the other, versions, edits, and control flow are chains, and devices have those.
All values are integers, so that the SQL by hand reads the same columns as the rules.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from . import deep_sql
from .workloads import REPOSITORY

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[tuple[int, ...]]

EDITING = REPOSITORY.parent / "shared" / "data" / "deep"
"""The real editing history; where it is absent, one of the same size and shape is made."""


@dataclass(frozen=True)
class Deep:
    """One program. Facts of `moved` go and come back; those of `counted` are counted in the end."""

    title: str
    rules: str
    facts: Callable[[], dict[str, Rows]]
    sql: str | deep_sql.Loop
    moved: str
    counted: str
    quick: bool = True
    named: tuple[tuple[str, int], ...] = ()
    """Places in the facts of `moved` whose changes get a line of their own, counted from 0, or from
    the end if negative."""


# --- chains ---------------------------------------------------------------------------------------

_REACH = """
    reach(X) :- start(X).
    reach(Y) :- reach(X), arc(X, Y).
"""


def _chain(length: int) -> Callable[[], dict[str, Rows]]:
    return lambda: {"start": [(0,)], "arc": [(n, n + 1) for n in range(length)]}


def _cycle(length: int) -> Callable[[], dict[str, Rows]]:
    def facts() -> dict[str, Rows]:
        arcs = [(n, (n + 1) % length) for n in range(length)]
        return {"start": [(0,)], "arc": [*arcs, (length // 4, 3 * length // 4)]}

    return facts


def _null_flow() -> dict[str, Rows]:
    """200 sources along a chain of 60,000 points: 6,030,200 facts."""
    return {
        "source": [(300 * n,) for n in range(200)],
        "arc": [(n, n + 1) for n in range(60_000)],
    }


# --- an editing history ---------------------------------------------------------------------------

_EDITING_RULES = """
    parent(PC, PN) :- put(_, _, PC, PN).
    passed(PC, PN, C, N) :- put(C, N, PC, PN), put(C2, N2, PC, PN), C2 * 10 + N2 > C * 10 + N.
    first(PC, PN, C, N) :- put(C, N, PC, PN), not passed(PC, PN, C, N).
    later(A, B, C, D) :- put(A, B, P, Q), put(C, D, P, Q), A * 10 + B > C * 10 + D.
    between(A, B, C, D) :- put(A, B, P, Q), put(E, F, P, Q), put(C, D, P, Q),
        A * 10 + B > E * 10 + F, E * 10 + F > C * 10 + D.
    sibling(A, B, C, D) :- later(A, B, C, D), not between(A, B, C, D).
    has_sibling(A, B) :- later(A, B, _, _).
    up(A, B, C, D) :- sibling(A, B, C, D).
    up(A, B, C, D) :- put(A, B, P, Q), not has_sibling(A, B), up(P, Q, C, D).
    next(A, B, C, D) :- first(A, B, C, D).
    next(A, B, C, D) :- up(A, B, C, D), not parent(A, B).
    visible(A, B) :- put(A, B, _, _), not removed(A, B).
    seen(A, B, C, D) :- next(A, B, C, D), visible(A, B).
    hidden(A, B, C, D) :- next(A, B, C, D), not visible(A, B).
    reach(A, B, C, D) :- seen(A, B, C, D).
    reach(A, B, C, D) :- reach(A, B, E, F), hidden(E, F, C, D).
    text(A, B, C, D) :- reach(A, B, C, D), visible(C, D).
"""


def _editing() -> dict[str, Rows]:
    if not EDITING.exists():
        return _made_up_editing(182_315, 77_463)
    found = {}
    for name in ("put", "removed"):
        with gzip.open(EDITING / f"{name}.csv.gz", "rt", newline="") as file:
            found[name] = [tuple(map(int, row)) for row in csv.reader(file) if row[0].isdigit()]
    return found


def _made_up_editing(insertions: int, removals: int) -> dict[str, Rows]:
    """Somebody types runs of letters, each behind the last, and removes some runs again."""
    chance = Random(14)
    put: Rows = []
    last = (0, 0)
    while len(put) < insertions:
        if chance.random() < 0.02 and put:  # go elsewhere
            last = put[chance.randrange(len(put))][:2]
        for _ in range(min(1 + int(chance.expovariate(1 / 12)), insertions - len(put))):
            letter = (len(put) + 1, 1)
            put.append((*letter, *last))
            last = letter
    removed: set[int] = set()
    while len(removed) < removals:
        begin = chance.randrange(insertions)
        length = min(1 + int(chance.paretovariate(0.6)), 14_000)
        removed.update(range(begin, min(begin + length, insertions)))
    rows = [put[n][:2] for n in sorted(removed)[:removals]]
    return {"put": put, "removed": rows}


# --- control flow ---------------------------------------------------------------------------------

_FLOW_RULES = """
    moved_or_assigned(V, P) :- assigned(V, P).
    moved_or_assigned(V, P) :- moved(V, P).
    variable(V) :- assigned(V, _).
    use_live(V, P) :- used(V, P).
    use_live(V, P) :- use_live(V, Q), flow(P, Q), not assigned(V, P).
    maybe_init(V, P) :- assigned(V, P).
    maybe_init(V, Q) :- maybe_init(V, P), flow(P, Q), not moved(V, Q).
    maybe_uninit(V, P) :- moved(V, P).
    maybe_uninit(V, Q) :- maybe_uninit(V, P), flow(P, Q), not assigned(V, Q).
    init_on_entry(V, Q) :- maybe_init(V, P), flow(P, Q).
    drop_live(V, P) :- dropped(V, P), init_on_entry(V, P).
    drop_live(V, P) :- drop_live(V, Q), flow(P, Q), maybe_init(V, P), not assigned(V, P).
    live(V, P) :- use_live(V, P).
    live(V, P) :- drop_live(V, P).
    move_error(V, Q) :- used(V, Q), maybe_uninit(V, P), flow(P, Q).
    dead_assignment(V, P) :- assigned(V, P), not live(V, P).
"""


def _flow() -> dict[str, Rows]:
    """A function of 50,000 points: straight code, branches that skip some of it, and loops."""
    chance, points = Random(5), 50_000
    flow = {(n, n + 1) for n in range(points - 1)}
    for _ in range(points // 40):
        begin, length = chance.randrange(points - 60), chance.randint(2, 50)
        flow.add((begin, begin + length) if chance.random() < 0.7 else (begin + length, begin))
    facts: dict[str, Rows] = {"flow": sorted(flow), "assigned": [], "used": [], "moved": []}
    facts["dropped"] = []
    for variable in range(600):
        begin = chance.randrange(points - 3_000)
        end = begin + chance.randint(50, 3_000)
        facts["assigned"].append((variable, begin))
        facts["used"] += [(variable, chance.randint(begin, end)) for _ in range(6)]
        if chance.random() < 0.5:
            facts["moved"].append((variable, chance.randint(begin, end)))
        facts["dropped"].append((variable, end))
    return {name: sorted(set(rows)) for name, rows in facts.items()}


# --- pointers -------------------------------------------------------------------------------------

_ANDERSEN_RULES = """
    points_to(Y, X) :- address_of(Y, X).
    points_to(Y, X) :- assign(Y, Z), points_to(Z, X).
    points_to(Y, W) :- load(Y, X), points_to(X, Z), points_to(Z, W).
    points_to(Z, W) :- store(Y, X), points_to(Y, Z), points_to(X, W).
"""

_CSPA_RULES = """
    flows(Y, X) :- assign(Y, X).
    flows(X, X) :- assign(X, _).
    flows(X, X) :- assign(_, X).
    flows(X, Y) :- assign(X, Z), memory(Z, Y).
    flows(X, Y) :- flows(X, Z), flows(Z, Y).
    memory(X, W) :- dereference(Y, X), alias(Y, Z), dereference(Z, W).
    memory(X, X) :- assign(_, X).
    memory(X, X) :- assign(X, _).
    alias(X, Y) :- flows(Z, X), flows(Z, Y).
    alias(X, Y) :- flows(Z, X), memory(Z, W), flows(W, Y).
"""

_SAME_RULES = """
    same(X, Y) :- parent(P, X), parent(P, Y), X <> Y.
    same(X, Y) :- parent(A, X), same(A, B), parent(B, Y).
"""


def _pairs(chance: Random, number: int, many: int) -> Rows:
    found: set[tuple[int, ...]] = set()
    while len(found) < many:
        found.add((chance.randrange(number), chance.randrange(number)))
    return sorted(found)


def _andersen() -> dict[str, Rows]:
    """4,000 variables."""
    chance, number = Random(4), 4_000
    sizes = {"address_of": 1_000, "assign": 4_600, "load": 650, "store": 650}
    return {name: _pairs(chance, number, many) for name, many in sizes.items()}


def _cspa() -> dict[str, Rows]:
    """300 variables."""
    chance, number = Random(3), 300
    return {"assign": _pairs(chance, number, 270), "dereference": _pairs(chance, number, 380)}


def _family() -> dict[str, Rows]:
    """A tree of 2,500 people."""
    chance = Random(6)
    return {"parent": [(chance.randrange(max(1, n // 3), n), n) for n in range(2, 2_501)]}


# --------------------------------------------------------------------------------------------------

_MIDDLE_AND_END = (("the middle", 10_000), ("five from the end", -6))

WORKLOADS: Mapping[str, Deep] = {
    "chain": Deep(
        "chain of 20,000", _REACH, _chain(20_000), deep_sql.REACH, "arc", "reach",
        named=_MIDDLE_AND_END,
    ),
    "chain-200k": Deep(
        "chain of 200,000", _REACH, _chain(200_000), deep_sql.REACH, "arc", "reach", quick=False,
        named=(("the middle", 100_000), ("five from the end", -6)),
    ),
    "cycle": Deep(
        "cycle of 20,000 with a chord", _REACH, _cycle(20_000), deep_sql.REACH, "arc", "reach"
    ),
    "csda": Deep(
        "null flow (CSDA)",
        "nul(X, X) :- source(X).  nul(X, Y) :- nul(X, W), arc(W, Y).",
        _null_flow, deep_sql.NULL_FLOW, "arc", "nul", quick=False,
    ),
    "editing": Deep("editing history", _EDITING_RULES, _editing, deep_sql.EDITING, "put", "text"),
    "flow": Deep("liveness, initialisation", _FLOW_RULES, _flow, deep_sql.FLOW, "flow", "live"),
    "andersen": Deep(
        "Andersen's points-to",
        _ANDERSEN_RULES, _andersen, deep_sql.ANDERSEN, "assign", "points_to",
        quick=False,
    ),
    "cspa": Deep("CSPA", _CSPA_RULES, _cspa, deep_sql.CSPA, "assign", "alias"),
    "same": Deep("same generation", _SAME_RULES, _family, deep_sql.SAME, "parent", "same"),
}  # fmt: skip


def columns(rows: Rows) -> pa.Table:
    """Facts as a table with the columns a, b, .."""
    import pyarrow

    places = range(len(rows[0]))
    return pyarrow.table({"abcd"[n]: [row[n] for row in rows] for n in places})
