"""Goals with rules of their own, which derive only what is asked for, against deriving all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import zodiac_sql

from .processes import child
from .tables import number, print_header, print_line, print_notes

COMMAND = "demand"
PREFIX = f"{COMMAND}:"
ASKED, ALL = "asked", "all"

SAME = """
    samegen(X, X) :- edge(X, _, _).
    samegen(X, Y) :- edge(X, U, _), samegen(U, V), edge(Y, V, _).
"""
PATH = "path(X, Y) :- edge(X, Y, _). path(X, Z) :- path(X, Y), path(Y, Z)."
FAR = "far(X, Y) :- edge(X, _, _), edge(_, Y, _), not path(X, Y)."
MANY = "many(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N."
DIST = """
    dist(X, Y, MIN(W)) :- edge(X, Y, W).
    dist(X, Z, MIN(V + W)) :- dist(X, Y, V), edge(Y, Z, W).
"""


@dataclass(frozen=True)
class Workload:
    """Edges of a graph, rules, and goals about them."""

    edges: list[tuple[int, int, int]]
    rules: str
    goals: str


def _tree(depth: int) -> list[tuple[int, int, int]]:
    return [(node, node // 2, 1) for node in range(2, 2 ** (depth + 1))]


def _grid(size: int) -> list[tuple[int, int, int]]:
    """Streets from west to east and from north to south, some longer than others."""
    edges = []
    for place in range(size * size):
        if place % size < size - 1:
            edges.append((place, place + 1, 1 + place % 7))
        if place < size * (size - 1):
            edges.append((place, place + size, 1 + place % 5))
    return edges


WORKLOADS = {
    "samegen-11": Workload(_tree(11), SAME, "samegen(1024, Y)"),
    "samegen-15": Workload(_tree(15), SAME, "samegen(16384, Y)"),
    "samegen-two": Workload(_tree(11), SAME, "samegen(1024, 1500)"),
    "path": Workload(_grid(40), PATH, "path(800, Y)"),
    "path-to": Workload(_grid(40), PATH, "path(X, 800)"),
    "far": Workload(_grid(40), PATH + FAR, "far(800, Y)"),
    "many": Workload(_grid(40), PATH + MANY, "many(800, N)"),
    "dist": Workload(_grid(40), DIST, "dist(800, Y, N)"),
    "dist-two": Workload(_grid(40), DIST, "dist(800, 1599, N)"),
}
NAMES = tuple(f"{PREFIX}{name}" for name in WORKLOADS)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name != f"{PREFIX}samegen-15"


def report(names: list[str], runs: int, timeout: float) -> None:
    """Measure both ways in turn, and print a line for each workload."""
    print(
        f"Goals with rules of their own, and the same rules added: median ms of {runs} runs, in\n"
        "memory, the answer included.\n"
    )
    print_header(["program", "edges", "goals", "answers", ASKED, ALL, "derived", "ratio"])
    notes = []
    for name in names:
        found: dict[str, list[dict[str, Any]]] = {ASKED: [], ALL: []}
        for _ in range(runs):
            for way, rows in found.items():
                if way == ALL and (notes and notes[-1].startswith(name)):
                    continue
                more, problem = child(way, name, 1, timeout, timeout)
                rows += more
                notes += [f"{name}, {way}: {problem}"] if problem else []
        _print(name.removeprefix(PREFIX), found)
    print_notes(notes)


def _print(name: str, found: dict[str, list[dict[str, Any]]]) -> None:
    workload = WORKLOADS[name]
    first = [name, f"{len(workload.edges):,}", f"`{workload.goals}`"]
    if not found[ASKED]:
        return print_line([*first, *["-"] * 5])
    asked = median(row["seconds"] for row in found[ASKED])
    answers = found[ASKED][0]["answers"]
    cells = [*first, f"{answers:,}", number(1000 * asked)]
    if not found[ALL]:
        return print_line([*cells, "-", "-", "-"])
    assert answers == found[ALL][0]["answers"], name
    every = median(row["seconds"] for row in found[ALL])
    derived = f"{found[ALL][0]['derived']:,}"
    return print_line([*cells, number(1000 * every), derived, f"{every / asked:.1f}"])


def run_one(way: str, name: str) -> None:
    """Answer the goals of a workload in one way, once to warm up if that is quick."""
    workload = WORKLOADS[name]
    for warm in (True, False):
        if warm and way == ALL:
            continue
        with zodiac_sql.connect() as kb:
            kb.insert("edge", workload.edges)
            started = perf_counter()
            derived = 0
            if way == ALL:
                derived = sum(kb.add_rules(workload.rules).inserted.values())
                answer = kb.query(workload.goals)
            else:
                answer = kb.query(workload.goals, rules=workload.rules)
            seconds = perf_counter() - started
        if not warm:
            print(json.dumps({"seconds": seconds, "answers": len(answer), "derived": derived}))
