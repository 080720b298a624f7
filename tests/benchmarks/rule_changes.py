"""Changes of the rules of one workload, measured inside a process of its own.

Each case drops rules by name and adds them again as text, each one durable change, and so on: the
state returns. As with updates of facts, it is compared between the timed changes with what
materialisation from scratch makes: of the rules that are left, and of all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from zodiac_sql.change.change import Change
from zodiac_sql.knowledge_base import KnowledgeBase

from .rule_workloads import RULE_CHANGES, RuleCase, RuleSet, RuleWorkload
from .session import Fingerprint, Row, build, connect, differences, explicit_facts, fingerprint
from .updates import FEWEST
from .workloads import table_of

SCRATCH_RUNS = 3


@dataclass(frozen=True)
class RuleRow(Row):
    """A line of a table of rule changes.

    `seconds` has "drop" and "add", and those from scratch of what they lead to, "without" and
    "with" the rules; `reached` tells of dropping, `reached_adding` of adding. `zodiac_edge` are ms.
    """

    reached_adding: list[int] = field(default_factory=list)
    zodiac_edge: tuple[float, float] | None = None


def run_one(strategy: str, name: str, runs: int, seconds: float) -> None:
    """Print one line of JSON for each `RuleRow` as soon as it is known."""
    with TemporaryDirectory() as folder:
        for row in RuleMeasurement(RULE_CHANGES[name], strategy, Path(folder)).rows(runs, seconds):
            print(json.dumps(asdict(row)), flush=True)


class RuleMeasurement:
    """A workload on a file, materialised from scratch, whose rules come and go case by case."""

    def __init__(self, workload: RuleWorkload, strategy: str, folder: Path) -> None:
        self.workload = workload
        self.strategy = strategy
        self.path = folder / "changed.duckdb"
        self.other = folder / "scratch.duckdb"
        self.facts = explicit_facts(workload.base)
        self._warm_up()
        self.scratch, self.before = self._from_scratch(self.path, workload.base.rules)
        with connect(self.path, strategy) as kb:
            self.rules = rule_set(kb, workload.base.rules)

    def rows(self, runs: int, seconds: float) -> Iterator[RuleRow]:
        """Each case, with so many rounds as there is time for."""
        rounds = max(runs, self.workload.least)
        for case in self.workload.cases(self.rules):
            row = RuleRow(case.title, {"drop": [], "add": []}, zodiac_edge=case.zodiac_edge)
            without, left = self._from_scratch(self.other, self.rules.without(case.rules))
            row.seconds.update({"without": without, "with": self.scratch})
            with connect(self.path, self.strategy) as kb:
                self._measure(kb, case, row, rounds, seconds)
                self._check(kb, case, row, left)
            yield row

    def _warm_up(self) -> None:
        """A first tiny program, changed once, lets all modules be imported."""
        rules = "a: p(X, Y) :- q(X, Y).\n"
        build(self.other, rules, {"q": table_of([(1, 2)])}, self.strategy)
        with connect(self.other, self.strategy) as kb:
            kb.drop_rules("a")
            kb.add_rules(rules)

    def _from_scratch(self, path: Path, rules: str) -> tuple[list[float], Fingerprint]:
        """Seconds to materialise rules in a new file, and the state that there is then."""
        seconds = [build(path, rules, self.facts, self.strategy) for _ in range(SCRATCH_RUNS)]
        with connect(path, self.strategy) as kb:
            return seconds, fingerprint(kb)

    def _measure(
        self, kb: KnowledgeBase, case: RuleCase, row: RuleRow, rounds: int, seconds: float
    ) -> None:
        """Drop and add, again and again, until there are enough rounds or time is up."""
        text = self.rules.text(case.rules)
        end = perf_counter() + seconds
        for done in range(rounds):
            if perf_counter() > end and done >= FEWEST:
                break
            spent, dropped = _timed(lambda: kb.drop_rules(*case.rules))
            row.seconds["drop"].append(spent)
            row.changed.append(_facts(dropped))
            row.reached.append(len(dropped.stats["hypernodes"]))
            spent, added = _timed(lambda: kb.add_rules(text))
            row.seconds["add"].append(spent)
            row.reached_adding.append(len(added.stats["hypernodes"]))

    def _check(self, kb: KnowledgeBase, case: RuleCase, row: RuleRow, left: Fingerprint) -> None:
        """After the rounds, and once more without a clock, look at the state after each change."""

        def compare(when: str, right: Fingerprint) -> None:
            row.problems.extend(f"{when}: {d}" for d in differences(fingerprint(kb), right))

        compare("after the rounds", self.before)
        gone = _facts(kb.drop_rules(*case.rules))
        compare("dropped", left)
        new = _facts(kb.add_rules(self.rules.text(case.rules)))
        compare("added again", self.before)
        expected = gone if case.facts is None else case.facts
        if not gone == new == expected:
            row.problems.append(f"{gone:,} facts changed, then {new:,}, not {expected:,}")


def rule_set(kb: KnowledgeBase, text: str) -> RuleSet:
    """The rules that a knowledge base got from a text."""
    prefixes = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("@prefix"))
    rules = kb.rules().to_pydict()
    texts = dict(zip(rules["name"], rules["rule"], strict=True))
    read = {f"h{source}" for (source,) in kb.sql("SELECT DISTINCT source FROM zodiac.hyperedge")}
    size = Counter(rules["hypernode"])
    leaves = tuple(
        name
        for name, hypernode in zip(rules["name"], rules["hypernode"], strict=True)
        if hypernode not in read and size[hypernode] == 1
    )
    return RuleSet(prefixes, texts, leaves)


def _timed(verb: Callable[[], Change]) -> tuple[float, Change]:
    started = perf_counter()
    done = verb()
    return perf_counter() - started, done


def _facts(done: Change) -> int:
    return sum(done.deleted.values()) + sum(done.inserted.values())
