"""The program of a materialisation: each predicate has either explicit facts or rules, never both.

    near, given by users, in rules and in facts of their texts  ->  near \\0given, near \\0written
    near(X, Y) :- near \\0given(X, Y).    near(X, Y) :- near \\0written(X, Y).

So an extension is one table, and a fact that is explicit and derived needs no thought: it has one
derivation more. For the same end all rules for a predicate stand in one hypernode, with those for
the predicates that it depends on and that depend on it. (On one machine, each rule that is not
recursive is a hypernode. On Spark, what a hypernode costs is its number of jobs.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.graph.digraph import strong_components
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.equivalence import outline, same
from zodiac_sql.language.syntax import Atom, Column, Rule, Variable
from zodiac_sql.names import given, written
from zodiac_sql.spark.parts import in_parts
from zodiac_sql.spark.planning import PlannedRules


@dataclass(frozen=True, slots=True)
class EvaluatedProgram:
    """A planned program as a materialisation evaluates it.

    `columns` has the columns of all predicates, those of facts included; `hypernodes` stand in the
    order of evaluation.
    """

    planned: PlannedRules
    columns: Mapping[str, tuple[Column, ...]]
    hypernodes: tuple[Hypernode, ...]

    @property
    def derived(self) -> frozenset[str]:
        """The predicates that rules derive; the facts of all others are those given."""
        return frozenset(p for hypernode in self.hypernodes for p in hypernode.derives)

    @property
    def rules(self) -> Iterator[Rule]:
        return (rule for hypernode in self.hypernodes for rule in hypernode.rules)


def evaluated_program(planned: PlannedRules, explicit: Collection[str]) -> EvaluatedProgram:
    """The program of rules over predicates with `explicit` facts."""
    columns = {name: known.columns for name, known in planned.schema.items()}
    parted = in_parts(planned.graph, columns)
    columns |= parted.columns
    rules = list(parted.rules)
    heads = {rule.head.predicate for rule in rules}
    for name, known in planned.schema.items():
        if name not in heads and not planned.facts.get(name):
            continue
        sources = [given(name)] * (name in explicit) + [written(name)] * (name in planned.facts)
        into = parted.explicit.get(name, name)
        rules += [copying(into, source, known.columns) for source in sources]
        columns |= dict.fromkeys(sources, known.columns)
    return EvaluatedProgram(planned, columns, tuple(_hypernodes(rules)))


def copying(predicate: str, source: str, columns: Sequence[Column]) -> Rule:
    terms = tuple(Variable(f"V{place}") for place in range(len(columns)))
    return Rule(source, Atom(predicate, terms), (Atom(source, terms),))


def is_copying(rule: Rule) -> bool:
    """Whether a rule is one of those made here."""
    return rule.name.endswith((given(""), written("")))


def _hypernodes(rules: Iterable[Rule]) -> Iterator[Hypernode]:
    """The rules by strongly connected components of predicates, in the order of evaluation."""
    of: dict[str, list[Rule]] = defaultdict(list)
    edges: dict[tuple[str, str], None] = {}
    for rule in rules:
        head = rule.head.predicate
        of[head].append(rule)
        edges |= dict.fromkeys((p, head) for p in sorted(rule.positive() | rule.negative()))
    number = 0
    for part in strong_components(of, edges):
        members = set(part)
        mine = tuple(rule for head in of if head in members for rule in of[head])
        if mine:
            number += 1
            recursive = any(rule.positive() & members for rule in mine)
            yield Hypernode(number, mine, recursive, 0)


def moved(before: Sequence[Rule], after: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """The rules that come, and those that go; rules that say the same stay."""
    known = defaultdict(list)
    for rule in before:
        known[outline(rule)].append(rule)
    came = []
    for rule in after:
        others = known[outline(rule)]
        twin = next((other for other in others if same(other, rule)), None)
        if twin is None:
            came.append(rule)
        else:
            others.remove(twin)
    return came, [rule for others in known.values() for rule in others]
