"""What changes of rules are measured: for each program, rules to drop and to add again.

`ZODIAC_EDGE` are milliseconds of ZodiacEdge on PyPy, on this kind of machine: deletion, addition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass

from .workloads import (
    CLOSURE,
    RS2,
    WORKLOADS,
    Facts,
    Workload,
    local_name,
    random_dag,
    table_of,
    wind_turbines,
)


@dataclass(frozen=True)
class RuleSet:
    """The rules of a knowledge base by name, with the prefixes that their texts need.

    `leaves` are rules that are a hypernode by themselves, which no other hypernode reads. (A rule
    of a larger one is no leaf: without it the others may fall apart.)
    """

    prefixes: str
    texts: dict[str, str]
    leaves: tuple[str, ...]

    def text(self, names: Collection[str]) -> str:
        """A program of some of the rules, under the names that they have."""
        chosen = (f"{name}: {text}\n" for name, text in self.texts.items() if name in names)
        return self.prefixes + "".join(chosen)

    def without(self, names: Collection[str]) -> str:
        """The program that is left when some of the rules have been dropped."""
        return self.text(self.texts.keys() - set(names))


@dataclass(frozen=True)
class RuleCase:
    """Rules that are dropped together, and added again together.

    `zodiac_edge` needs so many ms to delete and to add them; `facts` is how many leave, or enter,
    as far as that is known beforehand.
    """

    title: str
    rules: tuple[str, ...]
    zodiac_edge: tuple[float, float] | None = None
    facts: int | None = None


@dataclass(frozen=True)
class RuleWorkload:
    """Changes of the rules of a workload.

    `cases` makes them from the rules; `scratch` are ms of ZodiacEdge from scratch. Where changes
    are short there are at `least` so many rounds. `summed`: belongs to the comparison with
    ZodiacEdge.
    """

    name: str
    base: Workload
    cases: Callable[[RuleSet], list[RuleCase]]
    scratch: float | None = None
    least: int = 1
    summed: bool = False


# ------------------------------------------------------------------------------- RS2 and RS3

RS3 = RS2.replace("r10: p20(X, Y) :- p12(X, Y).", "r10: p20(X, Y) :- p12(X, Y), not p13(Y, Z).")

ZODIAC_EDGE: dict[str, dict[tuple[str, ...], tuple[float, float]]] = {
    "RS2": {
        ("r18",): (2, 36),
        ("r6",): (4_257, 153),
        ("r10",): (3_002, 936),
        ("r4",): (3_173, 2_582),
        ("r15",): (9, 106),
        ("r17",): (2, 3_689),
        ("r3",): (547, 16_946),
        ("r10", "r15", "r17"): (120, 3_860),
        ("r10", "r15", "r18"): (3_092, 1_016),
    },
    "RS3": {("r6",): (4_012, 157), ("r10",): (2_917, 908)},
}


def _compared(rule_set: str) -> Callable[[RuleSet], list[RuleCase]]:
    """The cases of the paper: figures 7 and 8 for RS2, tables 2 and 3 for RS3."""
    figures = ZODIAC_EDGE[rule_set]
    return lambda _: [RuleCase(", ".join(rules), rules, ms) for rules, ms in figures.items()]


# -------------------------------------------------------------------------------------- LUBM-1

REWRITTEN = ("Publication", "Work")
REWRITTEN_RULES = 13


def _lubm(rules: RuleSet) -> list[RuleCase]:
    """Random rules, all rules with certain heads, and random rules that nothing depends on."""
    chosen = random.Random(3).sample(sorted(rules.texts), 8)
    heads = {name: local_name(text.split("(", 1)[0]) for name, text in rules.texts.items()}
    rewritten = tuple(name for name, head in heads.items() if head in REWRITTEN)
    assert len(rewritten) == REWRITTEN_RULES, f"{len(rewritten)} rules for {REWRITTEN}"
    leaves = random.Random(3).sample(sorted(rules.leaves), 5)
    return [
        *(RuleCase(f"{name}: {heads[name]}", (name,)) for name in chosen),
        RuleCase("these 8 together", tuple(chosen)),
        RuleCase(f"all {len(rewritten)} for {' or '.join(REWRITTEN)}", rewritten),
        RuleCase(
            f"{len(leaves)} of {len(rules.leaves)} leaves: {', '.join(leaves)}", tuple(leaves)
        ),
    ]


# ---------------------------------------------------------------------------------------- leaf

LEAF = "leaf: p99(X, Y) :- p25(X, Y), p5(Y, X).\n"
"""Derives nothing: p25 starts in the first chain, and what p5 leads to is beyond its end. It reads
p25 and not p31, so that r18 remains a leaf."""

P31 = {50: 2_400, 200: 39_600}


def _leaf(w: int) -> RuleWorkload:
    """Nothing to derive, and much: what a change costs by itself, and by what it derives."""
    title = f"RS2 and a leaf, w = {w}"
    base = Workload(f"leaf-{w}", title, RS2 + LEAF, lambda: wind_turbines(w), quick=True)
    cases = [
        RuleCase("leaf, derives nothing", ("leaf",), facts=0),
        RuleCase("r18", ("r18",), ZODIAC_EDGE["RS2"][("r18",)] if w == 200 else None, P31[w]),
    ]
    return RuleWorkload(base.name, base, lambda _: cases, least=30)


# ------------------------------------------------------------------------------------- closure

TIED = (
    CLOSURE.replace("tc(X, Y) :- edge", "a: tc(X, Y) :- edge").replace(
        "tc(X, Z) :-", "b: tc(X, Z) :-"
    )
    + """\
c: s(X, Y) :- tc(X, Y), mark(X).
d: t(X, Y) :- s(X, Y).
tie: tc(X, Y) :- t(X, Z), jump(Z, Y).
grow: tc(X, Z) :- tc(X, Y), jump(Y, Z).
"""
)
"""A closure, and two more hypernodes that one rule makes a part of it."""


def _marked(nodes: int, edges: int) -> Facts:
    """Some pairs are marked; `jump` leads where one can go anyway, so that the closure stays."""
    facts = random_dag(nodes, edges)
    first = next(iter(zip(*(c.to_pylist() for c in facts["edge"].columns), strict=True)))
    return {**facts, "mark": table_of([(5,), (17,)]), "jump": table_of([first])}


def _closure(nodes: int, edges: int) -> RuleWorkload:
    title = f"a closure of {nodes:,} nodes"
    base = Workload(
        f"tied-{nodes}", title, TIED, lambda: _marked(nodes, edges), quick=nodes < 5_000
    )
    cases = [
        RuleCase("three hypernodes fall apart, and merge", ("tie",)),
        RuleCase("one rule of a closure, which derives nothing alone", ("grow",)),
        RuleCase("two hypernodes at the end", ("c", "d", "tie")),
    ]
    return RuleWorkload(base.name, base, lambda _: cases)


RULE_CHANGES = {
    changes.name: changes
    for changes in (
        RuleWorkload("rs2", WORKLOADS["rs2"], _compared("RS2"), 14_796, summed=True),
        RuleWorkload(
            "rs3",
            Workload("rs3", "RS3, w = 200", RS3, lambda: wind_turbines(200), quick=True),
            _compared("RS3"),
            15_329,
            summed=True,
        ),
        RuleWorkload("lubm", WORKLOADS["lubm"], _lubm),
        _leaf(50),
        _leaf(200),
        _closure(2_000, 20_000),
        _closure(10_000, 100_000),
    )
}
