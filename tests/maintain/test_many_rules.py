"""Many rules for one head: each has a table of its own, and an extension is the union of all."""

from __future__ import annotations

import random
import time

import pytest

import zodiac_sql

Sets = dict[str, set[int]]


def test_one_fact_with_300_rules_for_its_head() -> None:
    count = 300
    with zodiac_sql.connect(threads=1) as kb:
        kb.add_rules("\n".join(f"p(X) :- q{number}(X)." for number in range(count)))
        with kb.update() as update:
            for number in range(count):
                update.insert(f"q{number}", [(number,), (number + 1,)])
        seconds = []
        for value in range(5):
            started = time.process_time()
            assert kb.insert("q3", [(1_000 + value,)]).inserted == {"q3": 1, "p": 1}
            seconds.append(time.process_time() - started)
        assert kb.insert("q3", [(250,)]).inserted == {"q3": 1}
        assert kb.delete("q3", [(250,), (1_000,)]).deleted == {"q3": 2, "p": 1}
        assert min(seconds) < 0.1
        assert kb.verify()


@pytest.mark.parametrize("recursive", [False, True])
def test_facts_that_several_rules_derive(strategy: str, recursive: bool) -> None:
    rng = random.Random(7)
    names = [f"q{number}" for number in range(7)]
    edges = {(x, (x * 3 + 1) % 20) for x in range(10)} if recursive else set()
    there: Sets = {name: set() for name in names}
    with zodiac_sql.connect(threads=1, strategy=strategy) as kb:
        kb.insert("e", [(99, 99), *edges])
        kb.add_rules("\n".join(f"p(X) :- {name}(X)." for name in names))
        kb.add_rules("p(Y) :- p(X), e(X, Y)." if recursive else "p(X) :- e(_, X), X > 99.")
        for name in names:
            there[name] = {rng.randrange(20) for _ in range(4)}
            kb.insert(name, [(value,) for value in sorted(there[name])])
        before = closed(there, edges)
        for _ in range(6):
            with kb.update() as update:
                for name in rng.sample(names, 3):
                    gone, come = ({rng.randrange(20) for _ in range(2)} for _ in "ab")
                    update.delete(name, [(value,) for value in sorted(gone)])
                    update.insert(name, [(value,) for value in sorted(come)])
                    there[name] = (there[name] - gone) | come
            after = closed(there, edges)
            assert {value for (value,) in kb.table("p").fetchall()} == after
            assert update.change.inserted.get("p", 0) == len(after - before)
            assert update.change.deleted.get("p", 0) == len(before - after)
            before = after
        assert kb.verify()


def closed(there: Sets, edges: set[tuple[int, int]]) -> set[int]:
    found: set[int] = set().union(*there.values())
    while more := {y for x, y in edges if x in found} - found:
        found |= more
    return found
