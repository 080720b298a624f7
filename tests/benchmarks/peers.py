"""Other reasoners on the same workloads, over the same integers, where they are installed.

Each returns seconds and, when it is cheap to ask, the sizes of the derived predicates. What the
seconds include differs, since not every peer can be stopped in the middle:

* nemo (nemo-python): `reason()`, which also reads the facts from CSV; parsing is not included.
* clingo: grounding and solving; parsing the facts is not included. A stratified program is
  decided by grounding.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb

from .workloads import CLOSURE, Workload, head_predicates


class Measured(NamedTuple):
    """What a peer did: seconds, and extension sizes of derived predicates if they were counted."""

    seconds: float
    counts: dict[str, int] | None


def installed() -> list[str]:
    """Names of the peers that can run here."""
    return [name for name, (module, _) in PEERS.items() if find_spec(module)]


def missing() -> list[str]:
    """The others, and how to install them."""
    found = installed()
    return [f"{name} (pip install {PACKAGES[name]})" for name in PEERS if name not in found]


def run(peer: str, workload: Workload, connection: duckdb.DuckDBPyConnection) -> Measured:
    """Let a peer derive everything from the explicit facts in `e_` tables."""
    return PEERS[peer][1](workload, connection)


def _explicit(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, int]]:
    """Predicates that have a table of explicit facts, with their arity."""
    return connection.execute(
        "SELECT table_name[3:], column_count FROM duckdb_tables() "
        "WHERE starts_with(table_name, 'e_') ORDER BY ALL"
    ).fetchall()


def _plain(rules: str) -> str:
    """Rules without prefixes, labels and question marks, with commas and capital variables."""
    lines = (line for line in rules.splitlines() if ":-" in line)
    text = "\n".join(re.sub(r"^\w+:\s+", "", line) for line in lines)
    return re.sub(r"\bub:|\?", "", text).replace(" and ", ", ")


def _nemo(workload: Workload, connection: duckdb.DuckDBPyConnection) -> Measured:
    import nmo_python  # type: ignore[import-not-found, import-untyped, unused-ignore]

    rules = re.sub(r"\b([A-Z]\w*)\b(?!\()", r"?\1", _plain(workload.rules)).replace("not ", "~")
    with TemporaryDirectory() as folder:
        imports = []
        for predicate, arity in _explicit(connection):
            path = Path(folder, f"{predicate}.csv")
            connection.execute(f"COPY e_{predicate} TO '{path}' (HEADER false)")
            if path.stat().st_size:
                kinds = ", ".join(["int"] * arity)
                imports.append(
                    f'@import {predicate} :- csv {{resource = "{path}", format = ({kinds})}} .'
                )
        heads = head_predicates(workload.rules)
        outputs = [f"@export {head} :- csv {{}} ." for head in heads]
        engine = nmo_python.NemoEngine(
            nmo_python.load_string("\n".join([*imports, rules, *outputs]))
        )
        start = time.perf_counter()
        engine.reason()
        seconds = time.perf_counter() - start
    if workload.rules == CLOSURE and not workload.quick:
        return Measured(seconds, None)  # counting goes through Python, row by row
    return Measured(seconds, {head: sum(1 for _ in engine.result(head)) for head in heads})


def _clingo(workload: Workload, connection: duckdb.DuckDBPyConnection) -> Measured:
    import clingo

    def lower(text: str) -> str:
        return re.sub(r"\b([A-Za-z]\w*)\(", r"x\1(", text)

    control = clingo.Control(["--warn=none"])
    facts = []
    for predicate, _ in _explicit(connection):
        cells = connection.execute(f"SELECT * FROM e_{predicate}").fetchall()
        facts += [f"x{predicate}({','.join(map(str, row))})." for row in cells]
    control.add("base", [], "\n".join([*facts, lower(_plain(workload.rules)), "#show."]))
    start = time.perf_counter()
    control.ground([("base", [])])
    control.solve()
    seconds = time.perf_counter() - start
    heads = head_predicates(workload.rules)
    sizes = dict.fromkeys(heads, 0)
    for name, arity, _ in control.symbolic_atoms.signatures:
        if name[1:] in sizes:
            sizes[name[1:]] = sum(1 for _ in control.symbolic_atoms.by_signature(name, arity))
    return Measured(seconds, sizes)


PEERS: dict[str, tuple[str, Callable[[Workload, duckdb.DuckDBPyConnection], Measured]]] = {
    "nemo": ("nmo_python", _nemo),
    "clingo": ("clingo", _clingo),
}
PACKAGES = {"nemo": "nemo-python", "clingo": "clingo"}
"""What to install for each."""
