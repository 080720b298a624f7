"""Wide programs: many predicates with a few facts each, and many rules.

By hand, for the figures of 20,000 predicates and 5,000 rules:

    python tests/support/wide.py /tmp/wide.duckdb 20000 5000
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zodiac_sql


def rules(predicates: int, count: int) -> str:
    """Chains of five rules, each over explicit facts and what the rule before it derives."""
    lines = []
    for number in range(count):
        first, second = number % predicates, (number * 7 + 1) % predicates
        known = f"d{number - 1}" if number % 5 else f"p{second}"
        lines.append(f"w{number}: d{number}(X, Z) :- p{first}(X, Y), {known}(Y, Z).")
    return "\n".join(lines)


def triples(predicates: int) -> Iterator[str]:
    """N-Triples: three facts for each of so many properties."""
    for number in range(predicates):
        for end in range(3):
            yield f"<urn:n{end}> <urn:p{number}> <urn:n{(end + number) % 3}> ."


def make(path: Path, predicates: int, count: int) -> None:
    """A file with the facts, then the rules."""
    source = path.with_suffix(".nt")
    source.write_text("\n".join(triples(predicates)) + "\n")
    with zodiac_sql.connect(path) as kb:
        with timed("load"):
            kb.load(source)
        with timed("rules"):
            kb.add_rules(_prefixed(rules(predicates, count), predicates))


def _prefixed(text: str, predicates: int) -> str:
    """Rules in which p1 is the property urn:p1."""
    return "@prefix u: <urn:> .\n" + text.replace(" p", " u:p")


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"{what:24}{time.perf_counter() - started:8.2f} s", flush=True)


def work(path: Path) -> None:
    """What people do with a file, each timed."""
    with timed("open"):
        kb = zodiac_sql.connect(path)
    with kb:
        for turn in ("first", "second"):
            with timed(f"insert one fact ({turn})"):
                kb.insert("p0", [("urn:n0", f"urn:new-{turn}")])
        with timed("add a rule"):
            kb.add_rules("@prefix u: <urn:> . new: n(X) :- u:p1(X, Y), d0(Y, Z).")
        with timed("insert one fact"):
            kb.insert("p1", [("urn:n0", "urn:new")])
        with timed("drop a rule"):
            kb.drop_rules("new")
        with timed("query"):
            kb.query("p0(X, Y), d0(Y, Z)")
        with timed("show predicates"):
            kb.predicates()
        with timed("show hypernodes"):
            kb.hypernodes()
        with timed("verify"):
            assert kb.verify()
        with timed("close"):
            kb.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not place.exists():
        make(place, int(sys.argv[2]), int(sys.argv[3]))
    work(place)
