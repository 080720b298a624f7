"""Shortest paths on grids like roads, in a process of its own: ours, SQL by hand, and networkx.

Each crossing has two to four neighbours, and each street a length in either direction. After the
paths are found, single streets go and come back: ours follows, the others begin anew.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import zodiac_sql
from zodiac_sql.language.parse import parse

if TYPE_CHECKING:
    import pyarrow as pa

OURS, SQL, NETWORKX = "ours", "SQL by hand", "networkx"
ENGINES = (OURS, SQL, NETWORKX)

SIDES = {"single-100": 100, "single-300": 300, "all-12": 12, "all-24": 24}
"""How many crossings the side of each grid has. `single` asks from one, `all` from each."""

STREETS = 20
"""So many single streets go and come back."""

_SINGLE = """
    dist(X, MIN(0)) :- start(X).
    dist(Y, MIN(E + W)) :- dist(X, E), street(X, Y, W).
"""
_ALL = """
    dist(X, Y, MIN(W)) :- street(X, Y, W).
    dist(X, Z, MIN(E + W)) :- dist(X, Y, E), street(Y, Z, W).
"""
_SINGLE_SQL = """
    CREATE TABLE dist AS WITH RECURSIVE d(y, v) USING KEY (y) AS (
        SELECT 0::BIGINT, 0::BIGINT
        UNION
        SELECT s.y, min(d.v + s.w) FROM d JOIN street s ON s.x = d.y
        LEFT JOIN recurring.d k ON k.y = s.y WHERE k.v IS NULL OR d.v + s.w < k.v GROUP BY s.y
    ) SELECT * FROM d
"""
_ALL_SQL = """
    CREATE TABLE dist AS WITH RECURSIVE d(x, y, v) USING KEY (x, y) AS (
        SELECT x, y, min(w) FROM street GROUP BY ALL
        UNION
        SELECT d.x, s.y, min(d.v + s.w) FROM d JOIN street s ON s.x = d.y
        LEFT JOIN recurring.d k ON k.x = d.x AND k.y = s.y
        WHERE k.v IS NULL OR d.v + s.w < k.v GROUP BY d.x, s.y
    ) SELECT * FROM d
"""


@dataclass(frozen=True)
class Paths:
    """What one run found, its seconds of wall and CPU, and the median of single streets."""

    facts: int
    total: int
    seconds: float
    cpu: float
    deleted: float = 0.0
    inserted: float = 0.0


def run_one(engine: str, name: str) -> None:
    """Print one line of JSON."""
    run = {OURS: _ours, SQL: _sql, NETWORKX: _networkx}[engine]
    print(json.dumps(asdict(run(name.startswith("all"), SIDES[name]))))


def streets(side: int) -> list[tuple[int, int, int]]:
    """The streets of a grid, both ways."""
    chance, found = random.Random(side), []
    for place in range(side * side):
        for other, is_there in (
            (place + 1, (place + 1) % side),
            (place + side, place + side < side**2),
        ):
            if is_there:
                found += [(place, other, chance.randint(1, 10))]
                found += [(other, place, chance.randint(1, 10))]
    return found


def _table(rows: list[tuple[int, int, int]]) -> pa.Table:
    import pyarrow

    columns = zip(*rows, strict=True)
    return pyarrow.table(dict(zip("xyw", map(list, columns), strict=True)))


def _timed(run: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = perf_counter(), process_time()
    run()
    return perf_counter() - wall, process_time() - cpu


def _ours(every: bool, side: int) -> Paths:
    rows = streets(side)
    with zodiac_sql.connect() as kb:
        kb.insert("street", _table(rows))
        kb.insert("start", [(0,)])
        parse("p(X) :- q(X).")  # the parser is made once in a process, which takes 80 ms
        seconds, cpu = _timed(lambda: kb.add_rules(_ALL if every else _SINGLE))
        deleted, inserted = [], []
        for row in random.Random(7).sample(rows, STREETS):
            deleted.append(_timed(lambda row=row: kb.delete("street", [row]))[0])  # type: ignore[misc]
            inserted.append(_timed(lambda row=row: kb.insert("street", [row]))[0])  # type: ignore[misc]
        value = kb.table("dist").column_names[-1]
        facts, total = kb.sql(f"SELECT count(*), sum({value}) FROM dist").fetchall()[0]
    return Paths(facts, int(total), seconds, cpu, median(deleted), median(inserted))


def _sql(every: bool, side: int) -> Paths:
    import duckdb

    con = duckdb.connect()
    given = _table(streets(side))
    con.register("given", given)
    con.execute("CREATE TABLE street AS FROM given")
    seconds, cpu = _timed(lambda: con.execute(_ALL_SQL if every else _SINGLE_SQL))
    facts, total = con.sql("SELECT count(*), sum(v) FROM dist").fetchall()[0]
    return Paths(facts, int(total), seconds, cpu)


def _networkx(every: bool, side: int) -> Paths:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_weighted_edges_from(streets(side))
    found: dict[tuple[int, int], int] = {}

    def run() -> None:
        if not every:
            lengths = nx.single_source_dijkstra_path_length(graph, 0)
            found.update(((0, end), length) for end, length in lengths.items())
            return
        for start, ends in nx.all_pairs_dijkstra_path_length(graph):
            found.update(((start, end), length) for end, length in ends.items() if end != start)
            # Back to the start: the shortest way around.
            around = (ends[x] + w["weight"] for x, _, w in graph.in_edges(start, data=True))
            found[start, start] = min(around)

    seconds, cpu = _timed(run)
    return Paths(len(found), sum(found.values()), seconds, cpu)
