"""What modules are measured on: programs with closures, and what changes of theirs are timed.

The first ones have the shapes that paper 2 measures (Hu, Motik and Horrocks, Modular
Materialisation of Datalog Programs, section 7), at a size for two cores. Like all workloads these
are data only, and come from fixed seeds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from . import module_sql
from .module_sql import Derive
from .rule_workloads import RuleSet
from .session import Batch, rows_of
from .update_workloads import sample
from .workloads import RS2, WORKLOADS, Facts, Workload, random_dag, table_of, wind_turbines

Gone = Batch | tuple[str, ...]
"""Explicit facts, or names of rules."""


@dataclass(frozen=True)
class ModuleCase:
    """What is deleted and, if it comes `back`, inserted again: for each seed something else.

    Rules are dropped and added where `rules`. A case that does not come back is the last one. Where
    changes are short there are `repeat` times as many samples.
    """

    key: str
    title: str
    gone: Callable[[Facts, RuleSet, int], Gone]
    rules: bool = False
    back: bool = True
    repeat: int = 1

    @property
    def verbs(self) -> tuple[str, ...]:
        """What is timed, in this order."""
        verbs = ("drop", "add") if self.rules else ("delete", "insert")
        return verbs if self.back else verbs[:1]


@dataclass(frozen=True)
class ModuleWorkload:
    """A program with modules on, with modules off, and as SQL where there is some.

    `shape` is what paper 2 tells of a program: strata, nonrecursive and recursive rules, transitive
    and symmetric-transitive closures. Integers in SQL are `resource` and a number. So many
    `samples` are taken in each process. `known` are ms of ZodiacEdge by case and verb. `sized`: the
    size of the file matters. `overhead`: there is little or nothing for modules to do.
    """

    name: str
    base: Workload
    cases: tuple[ModuleCase, ...]
    sql: Derive | None = None
    shape: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    resource: str = ""
    samples: int = 1
    known: dict[tuple[str, str], float] = field(default_factory=dict)
    sized: bool = False
    overhead: bool = False


# ----------------------------------------------------------------- cases of paper 2, tables 1, 2


def _small(facts: Facts) -> int:
    """1,000 facts as in the paper, or 1 % of less than 100,000."""
    return min(1_000, sum(table.num_rows for table in facts.values()) // 100)


def _small_batch(facts: Facts, _: RuleSet, seed: int) -> Batch:
    return sample(facts, _small(facts), 1, seed)[0]


def _large_batch(facts: Facts, _: RuleSet, seed: int) -> Batch:
    return sample(facts, sum(table.num_rows for table in facts.values()) // 4, 1, seed)[0]


PAPER = (
    ModuleCase("small", "1,000 facts, or 1 %", _small_batch),
    ModuleCase("large", "25 % of the facts", _large_batch, back=False),
)


# --------------------------------------------------------------------------------------- DAG-R

PATH = "path(X, Z) :- path(X, Y), path(Y, Z).\n"


def _dag(name: str, nodes: int, edges: int) -> ModuleWorkload:
    base = Workload(
        name,
        f"DAG-R, {nodes:,} nodes, {edges:,} edges",
        PATH,
        lambda: {"path": random_dag(nodes, edges)["edge"]},
        quick=nodes < 5_000,
    )
    samples = 1 if nodes > 1_000 else 3
    return ModuleWorkload(name, base, PAPER, module_sql.dag, (1, 0, 1, 1, 0), samples=samples)


# ---------------------------------------------------------------------------------------- SKOS

SKOS = """\
broaderTransitive(X, Y) :- broader(X, Y).
broaderTransitive(X, Z) :- broaderTransitive(X, Y), broaderTransitive(Y, Z).
narrowerTransitive(Y, X) :- broaderTransitive(X, Y).
related(X, Y) :- related(Y, X).
relatedTransitive(X, Y) :- related(X, Y).
relatedTransitive(X, Y) :- relatedTransitive(Y, X).
relatedTransitive(X, Z) :- relatedTransitive(X, Y), relatedTransitive(Y, Z).
"""

Pairs = list[tuple[int, ...]]


def thesaurus(seed: int = 4) -> Facts:
    """Concepts as people leave them: trees, chains, and categories that are above themselves.

    `related` are groups of concepts, each a random tree with some more pairs.
    """
    rng = random.Random(seed)
    broader: Pairs = []
    for number in range(20):
        broader += _tree(rng, 10_000 * number, depth=8, size=2_000, cyclic=number % 2 == 0)
    for number in range(20):
        first, length = 1_000_000 + 1_000 * number, 50 + 25 * number
        broader += [(first + i, first + i + 1) for i in range(length)]
        if number % 5 == 4:
            broader.append((first + length, first + length - 40))
    related = list(_groups(rng, [5 + i % 120 for i in range(360)]))
    return {
        "broader": table_of(sorted(set(broader)), CONCEPT),
        "related": table_of(sorted(set(related)), CONCEPT),
    }


CONCEPT = "concept"


def _tree(rng: random.Random, first: int, depth: int, size: int, cyclic: bool) -> Pairs:
    """Each concept below a random one of the level above; a cycle leads from the top down again."""
    levels = [[first]]
    number = first
    for level in range(1, depth + 1):
        width = max(2, round(size * 2**level / 2 ** (depth + 1)))
        levels.append([number := number + 1 for _ in range(width)])
    above = {
        child: rng.choice(parents) for parents, children in pairwise(levels) for child in children
    }
    pairs: Pairs = list(above.items())
    if cyclic:
        low = rng.choice(levels[depth - 2])
        pairs.append((above[above[above[low]]], low))
    return pairs


def _groups(rng: random.Random, sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Random spanning trees, each with a tenth more pairs, over numbers in no order."""
    numbers = list(range(sum(sizes)))
    rng.shuffle(numbers)
    for size in sizes:
        group = [numbers.pop() for _ in range(size)]
        for i in range(1, size):
            yield group[i], group[rng.randrange(i)]
        for _ in range(size // 10):
            a, b = rng.sample(group, 2)
            yield a, b


_SKOS = ModuleWorkload(
    "skos",
    Workload("skos", "SKOS, trees, chains and cycles", SKOS, thesaurus, quick=True),
    PAPER,
    module_sql.skos,
    (2, 3, 4, 1, 1),
    CONCEPT,
)


# ------------------------------------------------------------------------------------- cliques

CLIQUES = """\
t(X, Y) :- t(Y, X).
t(X, Z) :- t(X, Y), t(Y, Z).
"""


def _all_pairs() -> Facts:
    """Cliques in which every pair is explicit."""
    pairs: Pairs = []
    for first, size in ((1_000 * size, size) for size in range(50, 301, 50)):
        members = range(first, first + size)
        pairs += [(a, b) for a in members for b in members if a != b]
    return {"t": table_of(pairs)}


def _components() -> Facts:
    """The same relation where hardly more is explicit than has to be."""
    pairs = _groups(random.Random(5), list(range(50, 301, 25)))
    return {"t": table_of(sorted(set(pairs)))}


def _clique(name: str, title: str, facts: Callable[[], Facts]) -> ModuleWorkload:
    base = Workload(name, title, CLIQUES, facts, quick=True)
    return ModuleWorkload(name, base, PAPER, module_sql.cliques, (1, 0, 2, 0, 1))


# ----------------------------------------------------------------------------------------- RS1

RS1 = """\
r1: hasNeighbour(X, Y) :- hasNeighbour(Y, X).
r2: hasNeighbour(X, Y) :- hasNeighbour(X, Z) and hasNeighbour(Z, Y) and COMP(X, !=, Y).
r3: hasNeighbourAirTemperatureMeasurementNumber(X, Z) :- AGGREGATE(hasNeighbour(X, Y) and \
hasAirTemperatureMeasurement(Y, T)) ON X WITH COUNT(T) AS Z.
r4: hasMedianAirTemperatureMeasurementNearby(X, Z) :- AGGREGATE(hasNeighbour(X, Y) and \
hasAirTemperatureMeasurement(Y, T)) ON X WITH MED(T) AS Z.
r5: MoreThan3Neighbours(X) :- hasNeighbourAirTemperatureMeasurementNumber(X, N) and COMP(N, >=, 3).
r6: SensorAnomalyWindTurbine(X) :- hasMedianAirTemperatureMeasurementNearby(X, M) and \
MoreThan3Neighbours(X) and hasAirTemperatureMeasurement(X, T) and BIND(abs(T - M) AS D) and \
COMP(D, >, 5).
"""
"""Appendix A of paper 1."""

TURBINE = "windTurbine"


def _chain(links: int, readings: bool) -> Facts:
    """Turbines in a row, the paper's DS1; each has its temperature, or none has, as in the paper.

    Every 40th is too hot.
    """
    facts = {"hasNeighbour": table_of([(i, i + 1) for i in range(links)], TURBINE)}
    if readings:
        turbines = table_of([(i, i) for i in range(links + 1)], TURBINE)
        celsius = [10 + i % 8 / 4 + (12 if i % 40 == 7 else 0) for i in range(links + 1)]
        column = turbines.column_names.index("o")
        facts["hasAirTemperatureMeasurement"] = turbines.set_column(column, "o", [celsius])
    return facts


def _middle_link(facts: Facts, _rules: RuleSet, _seed: int) -> Batch:
    links = facts["hasNeighbour"]
    return {"hasNeighbour": [rows_of(links)[links.num_rows // 2]]}


def _rule(*names: str) -> Callable[[Facts, RuleSet, int], Gone]:
    return lambda _facts, _rules, _seed: names


RS1_CASES = (
    ModuleCase("link", "the link in the middle", _middle_link),
    ModuleCase("r2", "r2, which makes it transitive", _rule("r2"), rules=True),
    ModuleCase("r1", "r1, which makes it symmetric", _rule("r1"), rules=True),
)

_ZODIAC_EDGE = {
    ("scratch", "scratch"): 78_800.0,
    ("link", "delete"): 136_700.0,
    ("link", "insert"): 51_800.0,
}
"""On PyPy, on this kind of machine, for 400 links without readings."""


def _rs1(links: int, readings: bool) -> ModuleWorkload:
    name = f"rs1-{links}" + ("-readings" if readings else "")
    base = Workload(
        name,
        f"RS1, {links:,} links" + (", with readings" if readings else ""),
        RS1,
        lambda: _chain(links, readings),
        quick=links < 1_000,
    )
    known = _ZODIAC_EDGE if links == 400 and not readings else {}
    return ModuleWorkload(
        name, base, RS1_CASES, module_sql.rs1, (4, 4, 2, 0, 1), TURBINE, known=known, sized=True
    )


# ------------------------------------------------------------------------------------ overhead

_CLOSURES = ("r2:", "r3:", "r5:")
RS2_PLAIN = "".join(line for line in RS2.splitlines(True) if not line.startswith(_CLOSURES))
"""RS2 without a transitive rule, and without the symmetric one that belongs to it."""


def _one_of_p1(facts: Facts, _rules: RuleSet, _seed: int) -> Batch:
    return {"p1": [rows_of(facts["p1"])[facts["p1"].num_rows // 2]]}


def _one_fact(facts: Facts, _: RuleSet, seed: int) -> Batch:
    return sample(facts, 1, 1, seed)[0]


def _random_rule(_facts: Facts, rules: RuleSet, seed: int) -> Gone:
    return (random.Random(seed).choice(sorted(rules.texts)),)


_OVERHEAD = (
    ModuleWorkload(
        "overhead-rs2",
        Workload(
            "overhead-rs2",
            "RS2 without r2, r3 and r5, w = 200",
            RS2_PLAIN,
            lambda: wind_turbines(200),
            quick=True,
        ),
        (ModuleCase("fact", "1 fact of p1", _one_of_p1, repeat=4),),
        samples=5,
        overhead=True,
    ),
    ModuleWorkload(
        "overhead-lubm",
        WORKLOADS["lubm"],
        (
            ModuleCase("fact", "1 random fact", _one_fact, repeat=5),
            ModuleCase("rule", "1 random rule", _random_rule, rules=True, repeat=5),
        ),
        samples=3,
        overhead=True,
    ),
)


MODULES = {
    workload.name: workload
    for workload in (
        _dag("dag", 10_000, 100_000),
        _dag("dag-small", 2_000, 20_000),
        _dag("dag-tiny", 500, 3_000),
        _SKOS,
        _clique("cliques", "6 cliques, all pairs explicit", _all_pairs),
        _clique("components", "11 components, spanning trees", _components),
        *(_rs1(links, readings) for links in (400, 2_000) for readings in (False, True)),
        *_OVERHEAD,
    )
}
