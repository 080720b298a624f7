"""Random changes of facts and rules, and questions, each with the state after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from generators.interrupted_rules import EXPLICIT, RULES, Row
from support.interrupted_model import Model

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Drawn = tuple[str, Model, Callable[["KnowledgeBase"], object]]
"""A kind of change, the state after it, and what carries it out."""

NODES = "abcdefgh"
INTS = (0, 1, 2, 3, 5, 8, 2**40)
FLOATS = (10.0, 30.0, 31.25, 41.5, 95.0, -0.5)


def drawn(chance: Random, model: Model, fresh: Iterator[int]) -> Drawn:
    """A change of a state. `fresh` numbers new symbols."""
    kind = chance.choice(("few",) * 10 + ("rules",) * 3 + ("replace", "preview", "ask", "stream"))
    if kind == "rules":
        return _of_rules(chance, model)
    if kind == "ask":
        return kind, model, lambda kb: kb.query("edge(X, Y), not mark(X)")
    if kind == "replace":
        return _replacement(chance, model, fresh)
    gone, come = _few(chance, model, fresh)
    after = model.with_facts(gone, come)

    def carry_out(kb: KnowledgeBase) -> None:
        with kb.preview() if kind == "preview" else kb.update() as update:
            for name, row in gone:
                update.delete(name, [row])
            for name, row in come:
                update.insert(name, [row])

    def stream(kb: KnowledgeBase) -> None:
        past = [{} for _ in range(kb.position("s") or 0)]
        changes = {
            verb: {name: [row for n, row in some if n == name] for name, _ in some}
            for verb, some in (("delete", gone), ("insert", come))
        }
        for _ in kb.stream([*past, changes], name="s"):
            pass

    if kind == "stream":
        return kind, after, stream
    return kind, model if kind == "preview" else after, carry_out


def _few(
    chance: Random, model: Model, fresh: Iterator[int]
) -> tuple[list[tuple[str, Row]], list[tuple[str, Row]]]:
    """A few facts that go, and others that come."""
    gone: list[tuple[str, Row]] = []
    come: list[tuple[str, Row]] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(sorted(EXPLICIT))
        there = sorted(model.explicit[name])
        if there and chance.random() < min(0.7, len(there) / 14):
            gone.append((name, chance.choice(there)))
        else:
            come.append((name, _row(chance, name, fresh)))
    return gone, come


def _row(chance: Random, name: str, fresh: Iterator[int]) -> Row:
    def value(type_: str) -> object:
        if type_ == "s":
            return chance.choice(NODES) if chance.random() < 0.95 else f"z{next(fresh)}"
        return chance.choice(INTS if type_ == "i" else FLOATS)

    return tuple(map(value, EXPLICIT[name]))


def _replacement(chance: Random, model: Model, fresh: Iterator[int]) -> Drawn:
    """All facts of a predicate become others: mostly many."""
    name = chance.choice(sorted(EXPLICIT))
    rows = [_row(chance, name, fresh) for _ in range(chance.choice((0, 5, 40)))]
    after = replace(model, explicit={**model.explicit, name: frozenset(rows)})
    return "replace", after, lambda kb: kb.replace(name, rows)


def _of_rules(chance: Random, model: Model) -> Drawn:
    """Some rules come, or some go."""
    names = chance.sample(sorted(RULES), chance.choice((1, 2, 3)))
    going = model.rules.intersection(names)
    if going and chance.random() < 0.5:
        return "drop", replace(model, rules=model.rules - going), lambda kb: kb.drop_rules(*going)
    text = "\n".join(f"{name}: {RULES[name].text}" for name in names)
    return "add", replace(model, rules=model.rules.union(names)), lambda kb: kb.add_rules(text)
