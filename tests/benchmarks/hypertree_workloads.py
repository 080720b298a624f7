"""What hypertree decompositions are measured on: programs with cyclic rules, and their facts.

They have the shapes that paper 5 measures (Zhang et al., Enhancing Datalog Reasoning with Hypertree
Decompositions, sections 3 and 5), at sizes for two cores. Like all workloads these are data only,
and come from fixed seeds.
"""

from __future__ import annotations

import random
import re
from itertools import accumulate

from .workloads import LUBM_FACTS, LUBM_RULES, WORKLOADS, Facts, Workload, table_of

Row = tuple[int, ...]

# ----------------------------------------------------------------------------------------- Exp

_OPERATION = """\
{name}: number(W, V) :- {name}(E, L, R), of(W, E), in(W, S), of(W1, L), in(W1, S), \
number(W1, A), of(W2, R), in(W2, S), number(W2, B), BIND(A {sign} B AS V).
"""
EXP = "".join(
    _OPERATION.format(name=name, sign=sign)
    for name, sign in (("sum", "+"), ("difference", "-"), ("product", "*"))
)
"""Nine atoms each: a record of a node is filled in from any records of its operands in the same set
of values."""

DEPTH = 5


def expressions(trees: int, sets: int, records: int, seed: int = 5) -> Facts:
    """Trees of operations, and sets of values: each has a number from 0 to 3 for every leaf.

    of(w, n), in(w, s): w is one of the records of node n in set s; number(w, v): it holds v. Those
    of leaves are filled in, and all records of the same hold the same. So there is no need to try
    each record of one operand with each of the other, but no order of joins can avoid it. The
    numbers are integers of 64 bits, as a product of 2 ** DEPTH leaves is not above 3 ** 32.
    """
    rng = random.Random(seed)
    rows: dict[str, list[Row]] = {p: [] for p in ("sum", "difference", "product")}
    nodes, leaves = trees, set[int]()
    waiting = [(root, 0) for root in range(trees)]
    while waiting:
        node, depth = waiting.pop()
        if depth == DEPTH or (depth > 1 and rng.random() < 0.2):
            leaves.add(node)
        else:
            rows[rng.choice(list(rows))].append((node, nodes, nodes + 1))
            waiting += [(nodes, depth + 1), (nodes + 1, depth + 1)]
            nodes += 2
    found: dict[str, list[Row]] = {"of": [], "in": [], "number": []}
    numbers = {(leaf, s): rng.randrange(4) for leaf in sorted(leaves) for s in range(sets)}
    for record in range(nodes * sets * records):
        node, s = record // (sets * records), record // records % sets
        found["of"].append((record, node))
        found["in"].append((record, s))
        if node in leaves:
            found["number"].append((record, numbers[node, s]))
    return {predicate: table_of(pairs) for predicate, pairs in (rows | found).items()}


# ------------------------------------------------------------------------------- graph patterns

_FLOWER = """\
flower(X, Y) :- e(X, A), e(A, B), e(B, X), e(X, C), e(C, Y), e(X, D), e(D, Y), e(Y, F), e(F, X)."""

_PATTERNS = {
    "c4": (
        "4-cycle",
        "c4(X, Z) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X).",
    ),
    "c6": (
        "6-cycle",
        "c6(A, D) :- e(A, B), e(B, C), e(C, D), e(D, E), e(E, F), e(F, A).",
    ),
    "clique": (
        "clique of 4",
        "clique(X, W) :- e(X, Y), e(Y, Z), e(X, Z), e(X, W), e(Y, W), e(Z, W).",
    ),
    "petal": (
        "petal",
        "petal(X, Y) :- e(X, A), e(A, Y), e(X, B), e(B, Y), e(Y, C), e(C, X).",
    ),
    "flower": (
        "flower, a triangle and a petal",
        _FLOWER,
    ),
    "c4r": (
        "4-cycle, recursive",
        "known(X, Y) :- e(X, Y), known(Y, Z), e(Z, W), known(W, X).",
    ),
    "c6r": (
        "6-cycle, recursive",
        "known(A, B) :- red(A, B), e(B, C), red(C, D), known(D, E), e(E, F), red(F, A).",
    ),
}
"""The recursive ones: an edge is known that closes a cycle with some that are known already."""


def skewed_graph(nodes: int, edges: int, power: float = 0.5, seed: int = 6) -> list[Row]:
    """Distinct edges between different nodes, the nth of them chosen with weight n ** -power."""
    rng = random.Random(seed)
    weights = list(accumulate((n + 1) ** -power for n in range(nodes)))
    chosen: set[Row] = set()
    while len(chosen) < edges:
        a, b = rng.choices(range(nodes), cum_weights=weights, k=2)
        if a != b:
            chosen.add((a, b))
    return sorted(chosen)


def _graph(known: int = 0, red: int = 0) -> Facts:
    """30,000 edges over 2,000 nodes; some of them are red, and some are known.

    500 that are known become 5,617 by the 4-cycle in 13 rounds, 3 become thousands by the 6-cycle
    in four.
    """
    edges = skewed_graph(2_000, 30_000)
    rng = random.Random(7)
    chosen = {"e": edges, "red": rng.sample(edges, red), "known": rng.sample(edges, known)}
    return {predicate: table_of(rows) for predicate, rows in chosen.items() if rows}


def _pattern(name: str) -> Workload:
    title, rule = _PATTERNS[name]
    given = {"c4r": (500, 0), "c6r": (3, 8_000)}.get(name, (0, 0))
    quick = name in ("c4", "c4r", "clique")
    return Workload(name, title, f"{rule}\n", lambda: _graph(*given), quick=quick)


# ------------------------------------------------------------------------------------------ PC

PC = "pc(X, Y) :- cw(X, Z1), ca(X, Z2), pc(Z1, Y), pc(Z2, Y).\n"


def collaborators(n: int, k: int) -> Facts:
    """The data of section 3: n people with k co-workers and k co-authors each, and one more who
    works with two of them."""
    a, b, c, d = (first * (n + 1) * (k + 1) for first in range(4))
    pairs = [(i, i * k + j, j) for i in range(n) for j in range(1, k + 1)]
    rows: dict[str, list[Row]] = {
        "cw": [*((a + i, b + ij) for i, ij, _ in pairs), (a + n, a + 2)],
        "ca": [*((a + i, c + ij) for i, ij, _ in pairs), (a + n, a + 3)],
        "pc": [(above + ij, d + j) for above in (b, c) for _, ij, j in pairs],
    }
    return {predicate: table_of(found) for predicate, found in rows.items()}


# --------------------------------------------------------------------------------- LUBM L and L+C

_CYCLIC = """\
c1: haveSameAdvisor(?X, ?Y) :- hasAlumnus(?U, ?X), advisor(?X, ?A), hasAlumnus(?U, ?Y), \
advisor(?Y, ?A).
c2: teachesStudentOfCoauthor(?A, ?B) :- publicationAuthor(?P, ?A), publicationAuthor(?P, ?B), \
teacherOf(?A, ?C), takesCourse(?S, ?C), advisor(?S, ?B).
c3: coauthorsTeachEachOthersStudents(?A, ?B) :- publicationAuthor(?P, ?A), \
publicationAuthor(?P, ?B), teacherOf(?A, ?C), takesCourse(?S, ?C), advisor(?S, ?B), \
teacherOf(?B, ?D), takesCourse(?T, ?D), advisor(?T, ?A).
c4: isTaughtByAdvisor(?S, ?A) :- advisor(?S, ?A), teacherOf(?A, ?C), takesCourse(?S, ?C).
c5: colleaguesFromSameUniversity(?X, ?Y) :- worksFor(?X, ?D), worksFor(?Y, ?D), \
degreeFrom(?X, ?U), degreeFrom(?Y, ?U).
c6: assistsAdvisor(?S, ?A) :- teachingAssistantOf(?S, ?C), teacherOf(?A, ?C), advisor(?S, ?A).
c7: studyTogether(?S, ?T) :- takesCourse(?S, ?C), takesCourse(?T, ?C), takesCourse(?S, ?D), \
takesCourse(?T, ?D), ?C != ?D.
c8: coauthorsAdviseClassmates(?A, ?B) :- advisor(?S, ?A), takesCourse(?S, ?C), \
takesCourse(?T, ?C), advisor(?T, ?B), publicationAuthor(?P, ?A), publicationAuthor(?P, ?B).
c9: coauthorsOfOneInterest(?A, ?B) :- researchInterest(?A, ?I), researchInterest(?B, ?I), \
publicationAuthor(?P, ?A), publicationAuthor(?P, ?B).
c10: classmatesOfOneAdvisor(?S, ?T) :- takesCourse(?S, ?C), takesCourse(?T, ?C), \
advisor(?S, ?A), advisor(?T, ?A).
c11: publishesWithAdvisor(?S, ?A) :- advisor(?S, ?A), publicationAuthor(?P, ?S), \
publicationAuthor(?P, ?A), memberOf(?S, ?D), worksFor(?A, ?D).
c12: shareAlumni(?D, ?E) :- worksFor(?X, ?D), degreeFrom(?X, ?U), degreeFrom(?Y, ?U), \
worksFor(?Y, ?E), subOrganizationOf(?D, ?V), subOrganizationOf(?E, ?V).
c13: followedAdvisor(?S, ?A) :- advisor(?S, ?A), undergraduateDegreeFrom(?S, ?U), \
degreeFrom(?A, ?U).
c14: adviseClassmates(?A, ?B) :- advisor(?S, ?A), memberOf(?S, ?D), memberOf(?T, ?D), \
advisor(?T, ?B), takesCourse(?S, ?C), takesCourse(?T, ?C).
c15: advisesFellowAlumnusOf(?A, ?B) :- worksFor(?A, ?D), advisor(?S, ?A), \
undergraduateDegreeFrom(?S, ?U), degreeFrom(?B, ?U), worksFor(?B, ?D).
c16: cameTogether(?X, ?Y) :- undergraduateDegreeFrom(?X, ?U), undergraduateDegreeFrom(?Y, ?U), \
advisor(?X, ?A), advisor(?Y, ?B), worksFor(?A, ?D), worksFor(?B, ?D).
c17: clashInTriple(?C, ?D) :- takesCourse(?S, ?C), takesCourse(?S, ?D), takesCourse(?T, ?D), \
takesCourse(?T, ?E), takesCourse(?U, ?E), takesCourse(?U, ?C).
c18: clashInRing(?C, ?E) :- takesCourse(?S, ?C), takesCourse(?S, ?D), takesCourse(?T, ?D), \
takesCourse(?T, ?E), takesCourse(?U, ?E), takesCourse(?U, ?F), takesCourse(?V, ?F), \
takesCourse(?V, ?C).
"""
"""The first is the paper's; in the last two, courses that have a student in common cannot be at the
same time, in rings of three and of four."""

CYCLIC = re.sub(r"\b(\w+)\(", r"ub:\1(", _CYCLIC)


def _lubm(name: str, title: str, cyclic: str = "") -> Workload:
    rules = WORKLOADS["lubm"].rules
    files = (LUBM_FACTS, LUBM_RULES)
    return Workload(name, title, rules + cyclic, dict, files=files, quick=not cyclic)


HYPERTREES = {
    workload.name: workload
    for workload in (
        Workload(
            "exp",
            "Exp, 5 trees, 15 sets of values, 120 records",
            EXP,
            lambda: expressions(5, 15, 120),
        ),
        *(_pattern(name) for name in _PATTERNS),
        Workload("pc", "PC, n = 1,000, k = 500", PC, lambda: collaborators(1_000, 500)),
        _lubm("lubm-l", "LUBM-1, L"),
        _lubm("lubm-lc", "LUBM-1, L+C", CYCLIC),
    )
}
