"""Explanations of random facts of one workload, in a process of its own.

The file is built, closed and opened again, so the first explanations pay for what is cold. A goal
is timed from its text to the checked explanation; to print it is not included.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from zodiac_sql.errors import ZodiacError
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.why.proof import Fact

from .module_workloads import MODULES
from .peers import _plain
from .session import build, connect, explicit_facts
from .workloads import RS2, WORKLOADS, Facts, Workload, table_of, wind_turbines


def _arcs(length: int) -> Callable[[], Facts]:
    """A chain of so many arcs, and its start."""
    arcs = [(n, n + 1) for n in range(length)]
    return lambda: {"start": table_of([(0,)], "n"), "arc": table_of(arcs, "n")}


CHAIN = Workload(
    "chain",
    "a chain of 6,000 arcs",
    "reach(X) :- start(X). reach(Y) :- reach(X), arc(X, Y).",
    _arcs(6_000),
)
LONG_PATHS = Workload(
    "long-paths",
    "all paths in a chain of 1,200 arcs",
    "path(X, Y) :- arc(X, Y). path(X, Z) :- path(X, Y), arc(Y, Z).",
    _arcs(1_200),
)

WHY, WHY_NOT, XCLINGO = "why", "why-not", "xclingo"
WORKLOAD_OF = {
    "rs2": WORKLOADS["rs2"],
    "lubm": WORKLOADS["lubm"],
    "closure-small": WORKLOADS["closure-small"],
    "closure": WORKLOADS["closure"],
    "tc-small": MODULES["dag-small"].base,
    "tc": MODULES["dag"].base,
    "chain": CHAIN,
    "long-paths": LONG_PATHS,
    "rs2-not": WORKLOADS["rs2"],
}
"""What is asked about; each is asked why, but `rs2-not` why not."""

TURBINES = {"xclingo-5": 5, "xclingo-10": 10}
"""How long the chains of RS2 are for xclingo."""


@dataclass(frozen=True)
class Explained:
    """One explanation: its seconds, statements, height, facts, and what went wrong."""

    seconds: float
    statements: int
    height: int
    facts: int
    problem: str = ""


def run_one(engine: str, name: str, count: int, timeout: float) -> None:
    """Print one line of JSON for each explanation."""
    if engine == XCLINGO:
        found = iter([_xclingo(TURBINES[name], timeout)])
    else:
        found = _explained(WHY_NOT if name.endswith("-not") else WHY, WORKLOAD_OF[name], count)
    for one in found:
        print(json.dumps(asdict(one)), flush=True)


def _explained(engine: str, workload: Workload, count: int) -> Iterator[Explained]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "why.duckdb")
        build(path, workload.rules, explicit_facts(workload), "auto")
        with connect(path, "auto") as kb:
            goals = list(_absent(kb, count) if engine == WHY_NOT else _derived(kb, count))
        with connect(path, "auto") as kb:
            ask = _not_there if engine == WHY_NOT else _there
            for goal in goals:
                yield _timed(kb, ask, goal)


# ------------------------------------------------------------------------------------ our goals


def _derived(kb: KnowledgeBase, count: int) -> Iterator[str]:
    """Random derived facts, as many of each predicate as of any other if there are enough."""
    rng = random.Random(5)
    drawn = {p.name: _drawn(kb, p, count) for p in _derived_predicates(kb)}
    for rows in drawn.values():
        rng.shuffle(rows)
    names = sorted(drawn)
    for number in range(100 * count):
        if rows := drawn[names[number % len(names)]]:
            yield rows.pop()
            count -= 1
            if not count:
                return


def _absent(kb: KnowledgeBase, count: int) -> Iterator[str]:
    """Facts that are like those derived, with values of others in their last columns."""
    rng = random.Random(6)
    session = kb._session
    predicates = [p for p in _derived_predicates(kb) if p.arity == 2]
    drawn = {p.name: kb.sql(_sample(p, count)).fetchall() for p in predicates}
    while count:
        predicate = rng.choice(predicates)
        firsts, seconds = drawn[predicate.name], drawn[rng.choice(predicates).name]
        row = (rng.choice(firsts)[0], rng.choice(seconds)[1])
        goal = str(Fact(predicate.name, row, _types(session.state.schema[predicate.name])))
        if not len(kb.query(goal)):
            yield goal
            count -= 1


def _drawn(kb: KnowledgeBase, predicate: Predicate, count: int) -> list[str]:
    rows = kb.sql(_sample(predicate, count)).fetchall()
    return [str(Fact(predicate.name, tuple(row), _types(predicate))) for row in rows]


def _sample(predicate: Predicate, count: int) -> str:
    return f'FROM "{predicate.sql_name}" USING SAMPLE reservoir({count} ROWS) REPEATABLE (7)'


def _types(predicate: Predicate) -> tuple[Type, ...]:
    return tuple(column.type or Type.SYMBOL for column in predicate.columns)


def _derived_predicates(kb: KnowledgeBase) -> list[Predicate]:
    schema = kb._session.state.schema
    rows = kb.predicates().to_pylist()
    return [schema[row["predicate"]] for row in rows if row["derived"]]


# ------------------------------------------------------------------------------------- our answers


def _timed(
    kb: KnowledgeBase, ask: Callable[[KnowledgeBase, str], tuple[int, int]], goal: str
) -> Explained:
    statements: list[str] = []
    kb.trace(lambda text, _: statements.append(text))
    started = perf_counter()
    try:
        height, facts = ask(kb, goal)
    except ZodiacError as error:
        return Explained(perf_counter() - started, len(statements), 0, 0, f"{goal}: {error}")
    finally:
        kb.trace(None)
    return Explained(perf_counter() - started, len(statements), height, facts)


def _there(kb: KnowledgeBase, goal: str) -> tuple[int, int]:
    found = kb.why(goal)
    return found.height, sum(1 for _ in found.facts())


def _not_there(kb: KnowledgeBase, goal: str) -> tuple[int, int]:
    return 1, len(kb.why_not(goal).attempts)


# ----------------------------------------------------------------------------------------- xclingo


def xclingo() -> str | None:
    """The program xclingo, if the variable of that name says where it is."""
    path = os.environ.get("XCLINGO")
    return path if path and Path(path).exists() else None


def _xclingo(links: int, timeout: float) -> Explained:
    """One explanation of a fact of RS2: everything from grounding to the printed tree."""
    facts = [
        f"{predicate}({', '.join(value.removeprefix('windTurbine') for value in row)})."
        for predicate, table in wind_turbines(links).items()
        for row in zip(*table.to_pydict().values(), strict=True)
    ]
    program = "\n".join([_plain(RS2), *facts, "%!show_trace {p30(0, 2)}.", ""])
    with TemporaryDirectory() as folder:
        path = Path(folder, "rs2.lp")
        path.write_text(program)
        command = [xclingo() or "", "-n", "1", "1", "--auto-tracing", "all", str(path)]
        started = perf_counter()
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return Explained(timeout, 0, 0, 0, f"ended after {timeout:.0f} s")
    lines = [line for line in run.stdout.splitlines() if "|__" in line]
    height = max((line.index("|__") // 3 for line in lines), default=1) - 1
    problem = "" if lines else (run.stderr.strip().splitlines() or ["nothing was explained"])[-1]
    return Explained(
        perf_counter() - started, 0, height, len({line.split("|__")[1] for line in lines}), problem
    )
