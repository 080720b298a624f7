"""What changes are measured: for each workload, batches of facts to delete and insert again.

Like the workloads they start from, these are data only, and come from fixed seeds. `known` are
figures, in ms, of other systems on this kind of machine: deletion / insertion.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .readings import READINGS
from .session import STRATEGIES, Batch, Rows, rows_of
from .workloads import CLOSURE, RS2, WORKLOADS, Facts, Workload, table_of, wind_turbines


@dataclass(frozen=True)
class Case:
    """Batches that are deleted and inserted again, one after the other.

    With `by_kind`, the slowest of the predicates that they are of is told, too.
    """

    title: str
    batches: list[Batch]
    known: str = ""
    by_kind: bool = False


@dataclass(frozen=True)
class UpdateWorkload:
    """Changes of the facts of a workload, under one or several strategies.

    `cases` makes them from the explicit facts; `known` tells who else is how fast from scratch.
    """

    name: str
    base: Workload
    cases: Callable[[Facts], list[Case]]
    known: str = ""
    strategies: tuple[str, ...] = ("auto",)


def sample(facts: Facts, size: int, rounds: int, seed: int = 3) -> list[Batch]:
    """Batches of random facts, each predicate as likely as it is large."""
    everything = sorted((p, row) for p, table in facts.items() for row in rows_of(table))
    rng = random.Random(seed)
    return [_grouped(rng.sample(everything, size)) for _ in range(rounds)]


def _grouped(facts: Iterable[tuple[str, tuple[object, ...]]]) -> Batch:
    batch: dict[str, Rows] = defaultdict(list)
    for predicate, row in facts:
        batch[predicate].append(row)
    return dict(batch)


# ------------------------------------------------------------------------------- random graphs


def _dag(facts: Facts) -> list[Case]:
    return [
        Case("1 edge", sample(facts, 1, 20)),
        *(Case(f"{size:,} edges", sample(facts, size, 5)) for size in (10, 100, 1_000)),
    ]


def _dag_small(facts: Facts) -> list[Case]:
    edges = rows_of(facts["edge"])
    bypassed = bypassed_edges(edges)
    random.Random(3).shuffle(edges)
    redundant = [edge for edge in edges if edge in bypassed]
    effective = [edge for edge in edges if edge not in bypassed]
    return [
        Case("1 edge, closure unchanged", _single("edge", redundant[:20]), "Pathway 13 / 11"),
        Case("1 edge, closure changes", _single("edge", effective[:20]), "Pathway 68 / 66"),
        Case("100 edges", sample(facts, 100, 20), "Pathway 710 / 783"),
    ]


def _single(predicate: str, rows: Rows) -> list[Batch]:
    return [{predicate: [row]} for row in rows]


def bypassed_edges(edges: Rows) -> set[tuple[object, ...]]:
    """Edges of a DAG, from smaller to larger numbers, that some longer path goes around.

    Deleting one of these leaves the closure as it is; deleting any other edge does not. The nodes
    that one reaches are bits of a number, which makes this a matter of milliseconds.
    """
    following: dict[int, list[int]] = defaultdict(list)
    for a, b in edges:
        assert isinstance(a, int) and isinstance(b, int)
        following[a].append(b)
    reached: dict[int, int] = defaultdict(int)
    bypassed: set[tuple[object, ...]] = set()
    for a in sorted(following, reverse=True):
        further = 0
        for b in following[a]:
            further |= reached[b]
        bypassed.update((a, b) for b in following[a] if further >> b & 1)
        reached[a] = further | sum(1 << b for b in following[a])
    return bypassed


# ------------------------------------------------------------------------------ long paths

# Random graphs have short paths. Where paths are long, rounds are many, and it matters whether a
# change takes a statement for all of them or one for each.


def cycle(nodes: int) -> Facts:
    """One cycle through all nodes."""
    return {"edge": table_of([(i, (i + 1) % nodes) for i in range(nodes)])}


def chain_with_shortcuts(links: int, shortcuts: int, seed: int = 3) -> Facts:
    """A chain, with edges that lead past up to thirty of its links."""
    rng = random.Random(seed)
    leaps = {(a, a + rng.randrange(2, 30)) for a in rng.sample(range(links - 30), shortcuts)}
    return {"edge": table_of(sorted({*((i, i + 1) for i in range(links)), *leaps}))}


def deep_tree(nodes: int, seed: int = 3) -> Facts:
    """A tree in which each node hangs on one of the three before it."""
    rng = random.Random(seed)
    return {"edge": table_of([(max(0, i - 1 - rng.randrange(3)), i) for i in range(1, nodes)])}


def _long_paths(facts: Facts) -> list[Case]:
    return [Case("1 edge", sample(facts, 1, 20)), Case("5 edges", sample(facts, 5, 10))]


def _long_paths_workload(name: str, title: str, make: Callable[[], Facts]) -> UpdateWorkload:
    return UpdateWorkload(name, Workload(name, title, CLOSURE, make, quick=True), _long_paths)


# ----------------------------------------------------------------------------------------- RS2


_RS2_KNOWN = {
    "p1": "ZodiacEdge 22,917 / 8,684; Pathway 28,544 / 27,475",
    "p2": "ZodiacEdge 7,395 / 1,161; Pathway 2,865 / 3,147",
    "p3": "ZodiacEdge 12 / 64",
    "p4": "",
    "p5": "ZodiacEdge 16 / 28",
}


def _rs2(facts: Facts) -> list[Case]:
    """One fact in the middle of each chain; p5 has one only. No rule reads p4."""
    middles = {p: rows_of(facts[p])[facts[p].num_rows // 2] for p in _RS2_KNOWN}
    return [Case(f"1 fact of {p}", [{p: [row]}] * 30, _RS2_KNOWN[p]) for p, row in middles.items()]


# -------------------------------------------------------------------------------------- LUBM-1


def _lubm(facts: Facts) -> list[Case]:
    total = sum(table.num_rows for table in facts.values())
    rng = random.Random(3)
    each = [{p: [rng.choice(rows_of(facts[p]))]} for _ in range(30) for p in sorted(facts)]
    return [
        Case("1 fact of each predicate, thirty times", each, by_kind=True),
        *(Case(f"random facts: {size:,}", sample(facts, size, 20)) for size in (1, 10, 1_000)),
        Case("random facts: 25 % of all", sample(facts, total // 4, 20)),
    ]


# ------------------------------------------------------------------------------------- cliques

CLIQUE = """\
t(X, Y) :- t(Y, X).
t(X, Z) :- t(X, Y), t(Y, Z).
"""


def clique(n: int) -> Facts:
    """A ring with chords, so that no single edge matters, and one more node on a single edge."""
    ring = n - 1
    edges: set[tuple[int, ...]] = {(i, (i + step) % ring) for i in range(ring) for step in (1, 7)}
    return {"t": table_of([*sorted(edges), (0, ring)])}


def _clique(facts: Facts) -> list[Case]:
    *redundant, single = rows_of(facts["t"])
    random.Random(3).shuffle(redundant)
    return [
        Case("an edge, the clique survives", _single("t", redundant[:20])),
        Case("the only edge of a node", _single("t", [single] * 20)),
    ]


def _clique_workload(n: int) -> UpdateWorkload:
    title = f"clique of {n} nodes"
    base = Workload(f"clique-{n}", title, CLIQUE, lambda: clique(n), quick=True)
    return UpdateWorkload(base.name, base, _clique, strategies=STRATEGIES)


# ------------------------------------------------------------------------------------- latency

CHAIN = """\
c1(X, Y) :- c0(X, Y).
c2(X, Y) :- c1(X, Y).
c3(X, Y) :- c2(X, Y).
"""


def _with_chain() -> Facts:
    """The wind turbines, and as many facts for the rules above to pass on."""
    facts = wind_turbines(200)
    return {**facts, "c0": facts["p4"]}


def _latency(facts: Facts) -> list[Case]:
    """No rule reads p4; p5 and c0 each reach three hypernodes, with 400 and 3 derived facts."""

    def first(predicate: str) -> list[Batch]:
        return _single(predicate, rows_of(facts[predicate])[:50])

    return [
        Case("reaches nothing (p4)", first("p4"), "goal 3 / 3"),
        Case("reaches three hypernodes (c0)", first("c0"), "goal 15 / 15"),
        Case("reaches three hypernodes (p5)", first("p5") * 50, "goal 15 / 15"),
    ]


def _readings(facts: Facts) -> list[Case]:
    return [Case("1 temperature", _single("temperature", rows_of(facts["temperature"])[:60]))]


UPDATES = {
    updates.name: updates
    for updates in (
        UpdateWorkload(
            "dag", WORKLOADS["closure"], _dag, "compiled Soufflé 7,700, on 22,193,965 pairs"
        ),
        UpdateWorkload("dag-small", WORKLOADS["closure-small"], _dag_small, "compiled Soufflé 377"),
        _long_paths_workload("cycle", "closure of a cycle of 200", lambda: cycle(200)),
        _long_paths_workload(
            "shortcuts", "closure of 400 links, 60 shortcuts", lambda: chain_with_shortcuts(400, 60)
        ),
        _long_paths_workload("deep-tree", "closure of a tree 1,000 deep", lambda: deep_tree(2_000)),
        UpdateWorkload("rs2", WORKLOADS["rs2"], _rs2, "compiled Soufflé 277"),
        UpdateWorkload("lubm", WORKLOADS["lubm"], _lubm),
        UpdateWorkload("readings", READINGS, _readings),
        _clique_workload(60),
        _clique_workload(150),
        UpdateWorkload(
            "latency",
            Workload("latency", "RS2, w = 200, and a chain", RS2 + CHAIN, _with_chain, quick=True),
            _latency,
        ),
    )
}
