"""Columns of terms of all kinds, with some texts among numbers, against a native column of ints."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import zodiac_sql

from .processes import SEPARATOR, child
from .tables import number, print_header, print_line, print_notes

COMMAND = "mixed"
FACTS = 100_000
NAME = f"{COMMAND}:{FACTS}"
NAMES = (NAME,)

NATIVE = "int"
COLUMNS = (NATIVE, *(SEPARATOR.join(("any", str(share))) for share in (0, 1, 50)))
"""The type of the column, and how many in a hundred of its values are texts."""

LOAD = "load"
RULES = {
    "join of two": "j: j(X) :- r(X, V), s(V).",
    "join with an int": "i: i(X) :- r(X, V), n(V).",
    "compare with a number": f"c: c(X) :- r(X, V), V > {FACTS // 2}.",
    "compare two": "d: d(X) :- r(X, V), t(X, W), V < W.",
    "compute": "a: a(X, W) :- r(X, V), W = V + 1.",
    "sum by group": "g: g(Y, S) :- AGGREGATE(r(X, V), Y = X % 100) ON Y WITH SUM(V) AS S.",
}


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name in NAMES


def report(runs: int, timeout: float) -> None:
    """Measure all columns in turn, and print a line for each."""
    print(
        f"{FACTS:,} facts of CSV, one thread: median CPU ms of {runs} runs, and the ratio to a "
        "native column.\n"
    )
    found: dict[str, list[dict[str, float]]] = {column: [] for column in COLUMNS}
    notes = []
    for _ in range(runs):
        for column in COLUMNS:
            rows, problem = child(column, NAME, 1, timeout)
            found[column] += rows
            notes += [f"{column}: {problem}"] if problem else []
    print_header(["column", LOAD, *RULES])
    for column, rows in found.items():
        if rows and found[NATIVE]:
            cells = [_told(verb, rows, found[NATIVE]) for verb in (LOAD, *RULES)]
            print_line([_title(column), *cells])
    print_notes(notes)


def run_one(column: str) -> None:
    """Load the facts, and add each rule: CPU seconds, as a line of JSON."""
    type_, _, share = column.partition(SEPARATOR)
    with TemporaryDirectory() as folder, zodiac_sql.connect(threads=1) as kb:
        path = Path(folder, "facts.csv")
        path.write_text("x,v\n" + "".join(_rows(int(share or 0))))
        kb.add_rules(
            f".decl r(x: int, v: {type_})\n.decl s(v: {type_})\n.decl t(x: int, v: {type_})"
        )
        seconds = {LOAD: _timed(lambda: kb.load(path, predicate="r"))}
        kb.insert("s", [(number_,) for number_ in range(0, FACTS, 50)])
        kb.insert("n", [(number_,) for number_ in range(0, FACTS, 50)])
        kb.insert("t", [(x, x) for x in range(0, FACTS, 2)])
        for name, rule in RULES.items():
            seconds[name] = _timed(partial(kb.add_rules, rule))
        print(json.dumps(seconds))


def _rows(share: int) -> list[str]:
    every = 100 // share if share else FACTS + 1
    return [f"{x},{f't{x}' if x % every == every - 1 else x * 7 % FACTS}\n" for x in range(FACTS)]


def _timed(run: Callable[[], object]) -> float:
    started = process_time()
    run()
    return process_time() - started


def _title(column: str) -> str:
    type_, _, share = column.partition(SEPARATOR)
    return f"{type_}, {share} % texts" if share else f"native {type_}"


def _told(verb: str, rows: list[dict[str, float]], native: list[dict[str, float]]) -> str:
    ours, base = (median(row[verb] for row in each) for each in (rows, native))
    return number(1000 * ours) if rows is native else f"{number(1000 * ours)} ({ours / base:.1f})"
