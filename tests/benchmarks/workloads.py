"""What is measured: rule texts in zodiac syntax, with generators of the facts they run over.

A workload is data only. How it is run is told elsewhere: by the library itself (`__main__`), as
SQL written by hand (`handwritten`), and by other reasoners (`peers`). Everything is generated
from fixed seeds, so two runs on two machines talk about the same facts.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY.parent / "shared" / "data"

Facts = dict[str, pa.Table]


@dataclass(frozen=True)
class Workload:
    """Rules, the facts they are applied to, and what is known of the result.

    `facts` makes tables of explicit facts, one per predicate; `files` are to be loaded instead
    where the facts come as RDF. `expected` is the size of the extension of derived predicates,
    as far as somebody else has computed it.
    """

    name: str
    title: str
    rules: str
    facts: Callable[[], Facts]
    files: tuple[Path, ...] = ()
    expected: dict[str, int] = field(default_factory=dict)
    quick: bool = False

    def missing(self) -> str | None:
        """Why this workload cannot run here, if it cannot."""
        absent = [str(path) for path in self.files if not path.exists()]
        return f"{', '.join(absent)} not found" if absent else None


# ---------------------------------------------------------------------------------------- RS2

RS2 = """\
r1: p11(X, Y) :- p1(X, Y).
r2: p11(X, Y) :- p11(Y, X).
r3: p11(X, Y) :- p11(X, Z), p11(Z, Y), X != Y.
r4: p12(X, Y) :- p2(X, Y).
r5: p12(X, Y) :- p12(X, Z), p12(Z, Y), X != Y.
r6: p13(X, Y) :- p3(X, Y).
r7: p14(X, Y) :- p13(X, Y).
r8: p13(X, Y) :- p14(Y, X).
r9: p20(X, Y) :- p11(X, Y).
r10: p20(X, Y) :- p12(X, Y).
r11: p20(X, Y) :- p13(X, Y).
r12: p21(X, Y) :- p20(X, Y).
r13: p22(X, Y) :- p21(X, Y).
r14: p20(X, Y) :- p22(X, Y).
r15: p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).
r16: p26(X, Z) :- p12(X, Y), p13(Z, Y), not p5(Z, Y).
r17: p30(X, Z) :- p22(X, Y), p21(Y, Z).
r18: p31(X, Y) :- p25(X, Y), p26(Y, Z).
"""


def wind_turbines(w: int) -> Facts:
    """Chains of w links: p1 to p4 one after the other, and the single p5 fact that RS2 negates."""
    pairs: dict[str, list[tuple[int, ...]]] = {
        f"p{k + 1}": [(k * w + i, k * w + i + 1) for i in range(w)] for k in range(4)
    }
    pairs["p5"] = [(w, w + 1)]
    return {predicate: table_of(rows, "windTurbine") for predicate, rows in pairs.items()}


def _rs2_expected(w: int) -> dict[str, int]:
    path = DATA / "expected" / "zodiac_edge_rs2_rs3.csv"
    rows = [row for row in _read_csv(path) if (row["rule_set"], row["w"]) == ("RS2", str(w))]
    return {row["predicate"]: int(row["derived"]) for row in rows}


# --------------------------------------------------------------------------------------- LUBM

UNIV_BENCH = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
LUBM_FACTS = DATA / "lubm" / "lubm1.nt.gz"
LUBM_RULES = DATA / "lubm" / "lubm_L.rules"


def _lubm_expected() -> dict[str, int]:
    rows = _read_csv(DATA / "expected" / "lubm1_L.csv")
    return {local_name(row["predicate"]): int(row["extension"]) for row in rows}


def local_name(predicate: str) -> str:
    """What is left of a predicate's name without its namespace or prefix."""
    return predicate.strip("<>").rsplit("#", 1)[-1].rsplit(":", 1)[-1]


# -------------------------------------------------------------------------- transitive closure

CLOSURE = """\
tc(X, Y) :- edge(X, Y).
tc(X, Z) :- tc(X, Y), edge(Y, Z).
"""


def random_dag(nodes: int, edges: int, seed: int = 1) -> Facts:
    """Distinct edges between random nodes, each from the smaller to the larger number."""
    rng = random.Random(seed)
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < edges:
        a, b = rng.randrange(nodes), rng.randrange(nodes)
        if a != b:
            chosen.add((min(a, b), max(a, b)))
    return {"edge": table_of(sorted(chosen))}


# ----------------------------------------------------------------- mutual recursion in arity 3

EL = """\
trans: p(X, Z) :- p(X, Y), p(Y, Z).
some:  p(X, Z) :- p(Y, W), u(W, R, Z), q(X, R, Y).
meet:  p(X, Z) :- c(Y, W, Z), p(X, W), p(X, Y).
down:  q(X, R, Z) :- p(X, Y), q(Y, R, Z).
role:  q(X, Q, Z) :- q(X, R, Z), s(R, Q).
chain: q(X, E, O) :- q(X, Y, Z), r(Y, U, E), q(Z, U, O).
"""


def ontology(classes: int, roles: int = 60, seed: int = 2) -> Facts:
    """An EL ontology with the shape of Galen, in the normal form that the rules expect.

    p(x, y): x is a kind of y, reflexive; q(x, r, y): each x has an r that is a y; u(y, r, z):
    whatever has an r that is a y is a z; c(y, w, z): whatever is both y and w is a z; s(r, q):
    every r is a q; r(y, u, e): a y followed by a u makes an e. Only the most special roles are
    transitive: with the most general one, everything would be connected to everything. Even so
    the size of the result depends much on the seed: with 2 it is a few million.
    """
    rng = random.Random(seed)

    def anyone(limit: int = classes) -> int:
        return rng.randrange(limit)

    kinds: set[tuple[int, ...]] = {(x, x) for x in range(classes)}
    for x in range(1, classes):  # a random tree, with a second parent here and there
        kinds.update((x, anyone(x)) for _ in range(1 + (rng.random() < 0.2)))
    general = classes // 4
    rows: dict[str, set[tuple[int, ...]]] = {
        "p": kinds,
        "q": {(anyone(), anyone(roles), anyone()) for _ in range(classes // 2)},
        "u": {(anyone(), anyone(roles), anyone()) for _ in range(classes // 20)},
        "c": {(anyone(general), anyone(general), anyone()) for _ in range(classes // 20)},
        "s": {(r, (r - 1) // 2) for r in range(1, roles)},
        "r": {(r, r, r) for r in range(roles - 8, roles)}
        | {(r, r - 1, r) for r in range(roles - 4, roles)},
    }
    return {predicate: table_of(sorted(pairs)) for predicate, pairs in rows.items()}


def terminology(classes: int, roles: int = 60, seed: int = 1) -> Facts:
    """An EL terminology without cycles, so that its closure grows evenly with the classes.

    Superclasses have lower numbers. The most general tenth of all classes have no restrictions
    themselves, and are what restrictions conclude; what both of two classes are is more general
    than both. 20,000 classes have 5.2 million facts of p and 11.7 million of q.
    """
    rng = random.Random(seed)
    first = classes // 10
    kinds: set[tuple[int, ...]] = {(x, x) for x in range(classes)}
    for x in range(1, classes):
        for _ in range(1 + (rng.random() < 0.35)):
            kinds.add((x, rng.randrange(x) if rng.random() > 0.3 else rng.randrange(x // 2, x)))
    own = classes - first
    rows: dict[str, set[tuple[int, ...]]] = {
        "p": kinds,
        "q": {
            (first + int(own * rng.random() ** 3), rng.randrange(roles), rng.randrange(classes))
            for _ in range(2 * classes)
        },
        "u": {
            (rng.randrange(classes // 4), rng.randrange(roles), rng.randrange(first))
            for _ in range(classes // 20)
        },
        "s": {(r, (r - 1) // 2) for r in range(1, roles)},
        "r": {(r, r, r) for r in range(roles - 8, roles)}
        | {(r, r - 1, r) for r in range(roles - 4, roles)},
        "c": set(),
    }
    for _ in range(3 * classes // 100):
        y, w = (rng.randrange(first, classes // 4 + first) for _ in range(2))
        rows["c"].add((y, w, rng.randrange(min(y, w))))
    return {predicate: table_of(sorted(pairs)) for predicate, pairs in rows.items()}


# ------------------------------------------------------------------------------------ helpers


def table_of(rows: list[tuple[int, ...]], resource: str = "") -> pa.Table:
    """Rows of numbers as columns s, o or c0, c1, ..: int64, or text when resources are named."""
    width = len(rows[0])
    names = ["s", "o"] if width == 2 else [f"c{k}" for k in range(width)]
    columns = zip(*rows, strict=True)
    if resource:
        return pa.table(
            {n: [f"{resource}{v}" for v in c] for n, c in zip(names, columns, strict=True)}
        )
    return pa.table({n: pa.array(c, pa.int64()) for n, c in zip(names, columns, strict=True)})


def _read_csv(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def head_predicates(rules: str) -> list[str]:
    """Local names of the predicates that the rules derive, in order of first appearance."""
    lines = (line for line in rules.splitlines() if ":-" in line)
    heads = (re.sub(r"^\w+:\s+", "", line).split("(", 1)[0].strip() for line in lines)
    return list(dict.fromkeys(local_name(head) for head in heads))


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "rs2",
            "RS2, w = 200",
            RS2,
            lambda: wind_turbines(200),
            expected=_rs2_expected(200),
            quick=True,
        ),
        Workload(
            "lubm",
            "LUBM-1",
            LUBM_RULES.read_text() if LUBM_RULES.exists() else "",
            dict,
            files=(LUBM_FACTS, LUBM_RULES),
            expected=_lubm_expected(),
            quick=True,
        ),
        Workload(
            "closure-small",
            "closure, 2,000 nodes",
            CLOSURE,
            lambda: random_dag(2_000, 20_000),
            quick=True,
        ),
        Workload(
            "el-small",
            "EL, arity 3, 12,000 classes",
            EL,
            lambda: ontology(12_000, seed=2),
            quick=True,
        ),
        Workload("closure", "closure, 10,000 nodes", CLOSURE, lambda: random_dag(10_000, 100_000)),
        Workload("el", "EL, arity 3, 30,000 classes", EL, lambda: ontology(30_000, seed=2)),
        Workload("el-medium", "EL terminology, 9,000 classes", EL, lambda: terminology(9_000)),
        Workload("el-large", "EL terminology, 20,000 classes", EL, lambda: terminology(20_000)),
    )
}
