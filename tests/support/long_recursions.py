"""Recursions that take some ten seconds, of all kinds that the engine has.

    python long_recursions.py FILE KIND SEED STRIKES SECONDS

makes what one kind needs, and interrupts it again and again, at moments up to SECONDS: by Ctrl-C or
by `timeout`. For each it prints how it did so, and how many seconds later the call ended. Each
time the knowledge base must be as it was and take a change; in the end `verify` must be true.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Act = Callable[..., object]
"""What is interrupted, given a knowledge base and the limits of the call."""

LENGTH = 300_000
CHAIN = [(n, n + 1) for n in range(LENGTH)]


@dataclass(frozen=True)
class Long:
    """A recursion: the facts and rules before it, and the call that takes long."""

    facts: dict[str, list[tuple[Any, ...]]]
    act: Act
    rules: str = ""
    is_deep: bool = False
    """Whether `verify` would take long, too: then the rules are dropped before it."""


def rules(text: str) -> Act:
    return lambda kb, **limits: kb.add_rules(text, **limits)


def _gap(chain: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A chain without its first link."""
    return chain[1:]


def _layered(nodes: int, edges: int) -> list[tuple[int, int]]:
    """A graph without cycles."""
    chance = random.Random(3)
    drawn = ((chance.randrange(nodes), chance.randrange(nodes)) for _ in range(edges))
    return sorted({(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]})


_REACH = "reach(X) :- start(X). reach(Y) :- reach(X), arc(X, Y)."
_NEAR = "near(X, Y) :- near(Y, X). near(X, Z) :- near(X, Y), near(Y, Z). near(X, Y) :- arc(X, Y)."
_LINKED = """
WITH RECURSIVE r(n, steps) USING KEY (n) AS (
    SELECT s, 0 FROM start
    UNION SELECT a.o, r.steps + 1 FROM r JOIN arc AS a ON a.s = r.n
    ANTI JOIN recurring.r AS k ON k.n = a.o
) SELECT count(*) FROM r
"""


_WIDE = """
with recursive r as (select s, o from arc union select r.s, a.o from r join arc as a on a.s = r.o)
select count(*) from r
"""

START = {"start": [(0,)]}

LONG = {
    "one statement": Long({"arc": CHAIN, **START}, rules(_REACH)),
    "pairs": Long(
        {"arc": CHAIN[:60_000], "start": [(150 * n,) for n in range(400)]},
        rules("null(X, Y) :- start(X), arc(X, Y). null(X, Y) :- null(X, W), arc(W, Y)."),
    ),
    "endless": Long(START, rules("n(X) :- start(X). n(Y) :- n(X), Y = X + 1.")),
    "tags": Long(
        {"arc": CHAIN[:45_000], "start": [(30 * n,) for n in range(20)]},
        rules(
            "odd(X, Y) :- start(X), arc(X, Y). even(X, Z) :- odd(X, Y), arc(Y, Z)."
            " odd(X, Z) :- even(X, Y), arc(Y, Z)."
        ),
    ),
    "rounds": Long(
        {"arc": CHAIN, **START},
        rules(
            "odd(Y) :- start(X), arc(X, Y). even(Z) :- odd(Y), arc(Y, Z)."
            " odd(Z) :- even(Y), arc(Y, Z)."
        ),
    ),
    "not linear": Long(
        {"arc": CHAIN[:3000]},
        rules(
            "p(X, Y) :- arc(X, Y). p(X, Z) :- p(X, Y), q(Y, Z). q(X, Y) :- p(Y, X), X < 0."
            " q(X, Z) :- p(X, Y), arc(Y, Z)."
        ),
    ),
    "layers": Long(
        {"arc": _layered(12_000, 150_000)},
        rules("p(X, Y) :- arc(X, Y). p(X, Z) :- p(X, Y), arc(Y, Z)."),
    ),
    "components": Long(
        {"arc": [*_layered(60_000, 300_000)]},
        rules("p(X, Y) :- arc(X, Y). p(X, Z) :- p(X, Y), p(Y, Z)."),
    ),
    "best": Long(
        {"arc": CHAIN, **START},
        rules("d(X, MIN(D)) :- start(X), D = 0. d(Y, MIN(E)) :- d(X, D), arc(X, Y), E = D + 1."),
    ),
    "best, counted": Long(
        {"road": [(a, b, 1 - 2 * (a % 2)) for a, b in CHAIN], **START},
        rules(
            "d(X, MIN(D)) :- start(X), D = 0. d(Y, MIN(E)) :- d(X, D), road(X, Y, W), E = D + W."
        ),
    ),
    "best of two": Long(
        {"arc": CHAIN, **START},
        rules(
            "d(X, MIN(D)) :- start(X), D = 0. c(Y, MIN(E)) :- d(X, D), arc(X, Y), E = D + 1."
            " d(Y, MIN(E)) :- c(X, D), arc(X, Y), E = D + 1."
        ),
    ),
    "insertion": Long(
        {"arc": _gap(CHAIN), **START},
        lambda kb, **limits: kb.insert("arc", [(0, 1)], **limits),
        _REACH,
    ),
    "deletion": Long(
        {"arc": CHAIN[:200_000], **START},
        lambda kb, **limits: kb.delete("arc", [(5, 6)], **limits),
        _REACH,
        is_deep=True,
    ),
    "preview": Long(
        {"arc": CHAIN, **START},
        lambda kb, **limits: _previewed(kb, **limits),
    ),
    "why": Long(
        {"arc": CHAIN[:30_000]},
        lambda kb, **limits: kb.why("near(0, 30000)", **limits),
        _NEAR,
        is_deep=True,
    ),
    "plain SQL": Long(
        {"arc": _layered(12_000, 150_000)},
        lambda kb, **limits: kb.sql(_WIDE, **limits),
    ),
    "SQL": Long({"arc": CHAIN, **START}, lambda kb, **limits: kb.sql(_LINKED, **limits)),
    "SPARQL": Long(
        {"urn:p": [(f"urn:{a}", f"urn:{b}") for a, b in CHAIN]},
        lambda kb, **limits: kb.sparql("SELECT ?y { <urn:0> <urn:p>+ ?y }", **limits),
    ),
    "verify": Long(
        {"arc": CHAIN, **START},
        lambda kb, **limits: kb.verify(**limits),
        _REACH,
        is_deep=True,
    ),
}

STRATEGIES = ("auto", "auto", "auto", "support", "bf", "dred")


def _previewed(kb: KnowledgeBase, **limits: Any) -> None:
    with kb.preview(**limits) as preview:
        preview.add_rules(_REACH)


def there(kb: KnowledgeBase, one: Long) -> object:
    """The rules, and how many facts there are of each predicate that is not too large."""
    predicates = [*one.facts, *(("reach",) if one.rules == _REACH else ())]
    return kb.rules().fetchall(), [kb.table(p).num_rows for p in predicates]


def by_time(kb: KnowledgeBase, act: Act, moment: float) -> float:
    """Let time be up at a moment. Returns how many seconds later the call ends."""
    from zodiac_sql import LimitError

    began = time.monotonic()
    try:
        act(kb, timeout=moment)
    except LimitError:
        return time.monotonic() - began - moment
    raise AssertionError("the call ended by itself")


def by_signal(kb: KnowledgeBase, act: Act, moment: float) -> float:
    """The same with Ctrl-C."""
    sent = []

    def strike() -> None:
        time.sleep(moment)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        act(kb)
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        thread.join()
    raise AssertionError("the call ended by itself")


def main(file: str, kind: str, seed: str, strikes: str, seconds: str) -> None:
    import zodiac_sql

    signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell may let it be ignored
    chance, one = random.Random(int(seed)), LONG[kind]
    strategy = chance.choice(STRATEGIES)
    with zodiac_sql.connect(file, threads=2, strategy=strategy) as kb:
        for predicate, rows in one.facts.items():
            kb.insert(predicate, rows)
        kb.add_rules(one.rules)
        before = there(kb, one)
        for number in range(int(strikes)):
            way, moment = chance.choice((by_time, by_signal)), chance.uniform(0.02, float(seconds))
            print(f"{kind}, {strategy}, {way.__name__}, {moment:.2f} s", end=": ", flush=True)
            print(f"{way(kb, one.act, moment):.3f}", flush=True)
            assert there(kb, one) == before
            with kb.update() as update:
                update.insert("note", [(number,)])
                update.add_rules("noted: w(X) :- note(X).")
            assert kb.table("w").fetchall() == [(number,)]
            with kb.update() as update:
                update.delete("note", [(number,)])
                update.drop_rules("noted")
        if one.is_deep:
            kb.drop_rules(*kb.rules()["name"].to_pylist())
        assert kb.verify()
    print("usable", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
