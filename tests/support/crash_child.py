"""The process that test_crash.py kills: it makes changes to a file, and reports each one done.

    python crash_child.py FILE SEED STRATEGY

Started early, it waits, with everything imported, for the number of the first change on stdin.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from zodiac_sql import ConstraintError, KnowledgeBase, connect
from zodiac_sql.change.update import Update
from zodiac_sql.cost import closures

CHANGES = 200

WITH_COMPONENTS = ("auto", "bf")
"""The children that keep closures as components where they can, with these strategies."""

NODES = "abcdefgh"
RULES = {
    "copy": "path(X, Y) :- edge(X, Y).",
    "square": "path(X, Z) :- path(X, Y), path(Y, Z).",
    "cut": "far(X, Y) :- path(X, Y), not edge(X, Y).",
    "degree": "degree(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.",
    "back": "edge(X, Y) :- link(Y, X).",
    "step": "path(X, Z) :- path(X, Y), edge(Y, Z).",
    "trail": "trail(X, Y) :- path(Y, X).",
    "home": "path(X, Y) :- trail(Y, X).",
    "hop": "edge(X, Z) :- path(X, Y), link(Y, Z).",
    "loop": "link(X, Y) :- edge(Y, X).",
    "turn": "near(X, Y) :- near(Y, X).",
    "join": "near(X, Z) :- near(X, Y), near(Y, Z).",
    "seen": "near(X, Y) :- link(X, Y).",
    "tie": "link(X, Y) :- near(X, Y), edge(Y, X).",
    "ring": "ring(X, Y) :- edge(X, A), link(A, Y), edge(Y, B), link(B, X), X != Y.",
    "tour": "link(X, Y) :- ring(X, A), link(A, Y), ring(Y, B), edge(B, X).",
    "near_a": "hops(X, MIN(1)) :- edge(a, X).",
    "hops": "hops(Y, MIN(N + 1)) :- hops(X, N), edge(X, Y).",
}
"""`square` makes a relation transitive, which `home`, `copy` and `hop` feed; `turn` and `join` make
one symmetric and transitive, which `seen` feeds as soon as there is `tie`: modules evaluate these.
`ring` and `tour` are cyclic, and decomposed; `tour` makes both recursive. `hops` keeps the best
values only."""

LINKS = ("home", "hop", "loop", "step")
"""Rules with which hypernodes of others merge, and split when they go; they change more often."""

CLOSING = ("join", "tie", "turn")
"""Rules with which modules come and go."""

BEST = ("near_a", "hops")
"""Rules that keep the best value of each group. They come and go without regard to the others."""

FIRST = ("copy", "square", "cut", "trail", "back", "turn", "join", "seen", "ring", *BEST)
"""Rules that are there from the first change on, until they are dropped."""


EXTRA = {
    "x1": "tip(X) :- edge(X, Y).",
    "x2": "path(X, Y) :- link(X, Y), tip(X).",
    "x3": "tip(X) :- link(X, X).",
    "fact": "tip(a).",
}
"""Of these, the rule set "extra" has some, and others after it was replaced."""


@dataclass(frozen=True)
class Change:
    """One atomic change. What is dropped is there, what is added is not."""

    inserted: tuple[tuple[str, tuple[str, str]], ...]
    deleted: tuple[tuple[str, tuple[str, str]], ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    extra: tuple[str, ...] | None
    """What the rule set "extra" has from now on; None leaves it as it is."""


def planned(seed: int) -> Iterator[Change]:
    """The same changes for the same seed, in every process. A third is of facts only."""
    chance, others = random.Random(seed), random.Random(seed + 1)
    rules: set[str] = set()
    for number in range(CHANGES):
        facts = [_fact(chance, number) for _ in range(chance.choice((1, 1, 2, 5)))]
        gone = [_fact(chance, number) for _ in range(chance.choice((0, 1, 3)))]
        toggled = set(
            chance.sample(sorted(RULES.keys() - {"seen", *BEST}), chance.choice((0, 0, 0, 1, 2)))
        )
        toggled |= set(chance.sample(LINKS, chance.choice((0, 0, 1, 2))))
        toggled |= set(chance.sample(CLOSING, chance.choice((0, 0, 0, 0, 1))))
        toggled |= {name for name in BEST if others.random() < 0.1}
        if number == 0:
            toggled = set(FIRST)
        added, dropped = tuple(sorted(toggled - rules)), tuple(sorted(toggled & rules))
        rules.symmetric_difference_update(toggled)
        extra = None
        if chance.random() < 0.25:
            extra = tuple(name for name in EXTRA if chance.random() < 0.5)
        kept = tuple(fact for fact in gone if fact not in facts)
        yield Change(tuple(facts), kept, added, dropped, extra)


def _fact(chance: random.Random, number: int) -> tuple[str, tuple[str, str]]:
    """Mostly of few nodes; now and then of one that no symbol has been made for."""
    nodes = [*NODES, f"n{number}"] if chance.random() < 0.3 else list(NODES)
    return chance.choice(("edge", "link")), (chance.choice(nodes), chance.choice(nodes))


NEVER = "never: !- link(X, never_there), edge(_, X)."
"""A constraint that each process adds, unless it is there."""


def make(kb: KnowledgeBase, change: Change) -> None:
    """Make a change. One in three is first tried with a fact that violates the constraint."""
    if len(change.inserted) == 2:
        with suppress(ConstraintError), kb.update() as update:
            _tell(update, change)
            update.insert("edge", [("a", "b")])
            update.insert("link", [("b", "never_there")])
            update.note("this is refused")
        assert not len(kb.violations())
    with kb.update() as update:
        _tell(update, change)


def _tell(update: Update, change: Change) -> None:
    for predicate, row in change.deleted:
        update.delete(predicate, [row])
    for predicate, row in change.inserted:
        update.insert(predicate, [row])
    update.drop_rules(*change.dropped)
    update.add_rules("\n".join(f"{name}: {RULES[name]}" for name in change.added))
    if change.extra is not None:
        update.replace_rules("\n".join(map(_extra, change.extra)), set="extra")


def _extra(name: str) -> str:
    return EXTRA[name] if name == "fact" else f"{name}: {EXTRA[name]}"


def main(file: str, seed: str, strategy: str) -> None:
    changes = enumerate(planned(int(seed)))
    _warm_up(strategy)
    first = int(sys.stdin.readline())
    if strategy in WITH_COMPONENTS:
        closures.LEAST_PAIRS = closures.LEAST_GAIN = 0
    with connect(file, strategy=strategy, hypertree=True) as kb:
        if not kb.feed():
            kb.keep_feed()
        if not len(kb.constraints()):
            kb.add_rules(NEVER)
        print("open", flush=True)
        for number, change in islice(changes, first, None):
            make(kb, change)
            print(number + 1, flush=True)


class NoPandas:
    """Hides pandas, which pyarrow would import if it is there: a third of a second, for nothing."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _warm_up(strategy: str) -> None:
    """What is imported late is imported now."""
    with connect(strategy=strategy, hypertree=True) as kb:
        kb.add_rules("p(X) :- q(X). p(X) :- p(X), q(X). q(a). " + RULES["ring"])
        kb.drop_rules("r2")
        kb.delete("q", [("a",)])


if __name__ == "__main__":
    sys.meta_path.insert(0, NoPandas)
    main(*sys.argv[1:])
