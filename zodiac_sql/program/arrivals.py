"""Rules that arrive: which of them are new, and what they are called.

A rule that is there already, under whatever name, is not added again, but reported. A rule whose
text has no label gets the first free name of r1, r2, ...
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.errors import Problem
from zodiac_sql.language.equivalence import outline, same
from zodiac_sql.language.syntax import Program, Rule


@dataclass(frozen=True, slots=True)
class Arrival:
    """A text that is added. With `strict`, a rule in it that is there already is a problem."""

    program: Program
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """The new rules, named, and what is to be said about the others."""

    rules: tuple[Rule, ...]
    remarks: tuple[str, ...]
    problems: tuple[Problem, ...]


def arrive(arrivals: Sequence[Arrival], there: Sequence[Rule], gone: Collection[str]) -> Arrived:
    """Sort out the rules of some texts. `gone` are names of rules that the same change drops."""
    known: dict[object, list[Rule]] = defaultdict(list)
    heads = {rule.head.predicate for arrival in arrivals for rule in arrival.program.rules}
    for rule in there:
        if rule.head.predicate in heads:  # no other rule can be the same
            known[outline(rule)].append(rule)
    labels = (rule.name for arrival in arrivals for rule in arrival.program.rules)
    taken = {*(rule.name for rule in there), *labels, *gone}
    rules, remarks, problems = [], [], []
    number = 1
    for arrival in arrivals:
        for rule in arrival.program.rules:
            alike = known[outline(rule)]
            twin = next((other for other in alike if same(rule, other)), None)
            if twin is not None:
                remark = already_there(rule, twin)
                if arrival.strict:
                    problems.append(
                        Problem(remark, rule.span, "Without strict, it is passed over.")
                    )
                remarks.append(remark)
                continue
            name = rule.name
            while not name:
                name = f"r{number}" if f"r{number}" not in taken else ""
                number += 1
            taken.add(name)
            rules.append(replace(rule, name=name))
            alike.append(rules[-1])
    return Arrived(tuple(rules), tuple(remarks), tuple(problems))


def already_there(rule: Rule, twin: Rule) -> str:
    """What is said of a rule that is not added."""
    under = f", as {twin.name}" if rule.name != twin.name else ""
    shown = " ".join(rule.text.split())
    return f"{rule.name + ': ' if rule.name else ''}{shown} is there already{under}"
