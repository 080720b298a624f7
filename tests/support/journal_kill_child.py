"""Makes small changes one after the other, until it is killed. It tells the number of each.

    python journal_kill_child.py FILE FIRST SEED

It kills itself as it is about to run some statement, or right after it; that is so many statements
after the first change of this process, so that each place in a change has its turn.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from typing import Any

RULES = """
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
    far(X, Y) :- path(X, Y), not edge(X, Y).
"""
NODES = [f"n{number}" for number in range(6)]
CHANGES = 400

Edge = tuple[str, str]


def planned(seed: int) -> Iterator[tuple[Edge, frozenset[Edge]]]:
    """The edge that each change moves, and all that are there then."""
    chance, edges = random.Random(seed), frozenset[Edge]()
    for number in range(CHANGES):
        nodes = [*NODES, f"new{number}"] if chance.random() < 0.1 else NODES
        edge = (chance.choice(nodes), chance.choice(nodes))
        if edges and (edge in edges or len(edges) > 9):
            edge = chance.choice(sorted(edges))
        edges ^= {edge}
        yield edge, edges


def main(file: str, first: int, seed: int) -> None:
    import zodiac_sql
    from zodiac_sql.database.store import Store
    from zodiac_sql.storage import journal

    chance = random.Random(f"{seed} {first}")
    journal.MOST_ENTRIES = chance.choice([1, 2, 5])
    asks = chance.choice([0.03, 0.9])  # who asks after each change has facts in tables at once
    left, after = chance.randrange(60), chance.random() < 0.5
    run = Store.run

    def counted(self: Store, *args: Any) -> Any:
        nonlocal left
        left -= begun
        if left < 0 and not after:
            os._exit(9)
        found = run(self, *args)
        if left < 0:
            os._exit(9)
        return found

    begun = False
    with zodiac_sql.connect(file, strategy="lookups") as kb:
        if not first:
            kb.add_rules(RULES)
            kb.keep_feed(["edge", "far"])
            print(0, flush=True)
        Store.run = counted  # type: ignore[method-assign]
        for number, (edge, edges) in enumerate(planned(seed), 1):
            if number > first:
                (kb.insert if edge in edges else kb.delete)("edge", [edge])
                print(number, flush=True)
                begun = True
            if chance.random() < asks:
                kb.table("path").fetchall()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
