"""What a change is expected to move of what rules derive, before anything is done for it.

Only numbers of rows are known then: of each input before and after the change, and of what entered
and left it. So what moves is estimated as a share of all. If rows join evenly, a rule's work is
proportional to the product of its inputs, and a share f of changed rows moves a share f of what it
derives for each atom that reads them.

A few rows can change all that a recursive hypernode derives. So the share that it loses is
multiplied by 2.5 times the number of facts that it holds for each fact that it reads. (Measured on
closures: 100 of 20,000 edges, with 55 pairs for each, cost 550 ms to delete and 440 to start over;
1,000 of 100,000 edges, with 223 pairs for each, 19 s against 13.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zodiac_sql.cost.sizes import is_read_long
from zodiac_sql.language.syntax import Aggregate, Rule
from zodiac_sql.rewrite.forms import Forms

FACTS_THAT_DEPEND = 2.5
"""So many times as many facts of a recursion depend on one that it reads as it holds for each."""

CLOSURE_GROWS_BY = 30
"""Multiply by this the share that a large closure along another relation gains. (Measured on 22
million pairs: 1 % of new edges cost 7 s of CPU in rounds, 10 % 20; evaluating all costs 6.)"""


@dataclass(frozen=True, slots=True)
class MovedRows:
    """How many rows a hypernode reads of each predicate before and after a change, how many have
    left and entered those that have changed, and how many facts it holds of each of its own.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    left: Mapping[str, int]
    entered: Mapping[str, int]
    held: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of what a hypernode derives that it may lose and gain by a change, and the factor
    by which its rules have more to do after it.
    """

    lost: float
    gained: float
    growth: float


def shares_of(forms: Forms, rows: MovedRows) -> Shares:
    """What a change may do to what a hypernode derives."""
    hypernode, held = forms.hypernode, sum(rows.held.values())
    rules = [_of_rule(rule, hypernode.derives, rows) for rule in hypernode.rules]
    if not rules:  # a module evaluates all of them
        return Shares(0.0, 0.0, 1.0)
    lost, gained = max(one.lost for one in rules), max(one.gained for one in rules)
    if hypernode.recursive:
        of_each = held / max(sum(rows.before.values()), 1)
        lost *= max(FACTS_THAT_DEPEND * of_each, 1.0)
    if is_read_long(held) and forms.along:
        gained *= CLOSURE_GROWS_BY
    return Shares(lost, gained, max(one.growth for one in rules))


def _of_rule(rule: Rule, own: tuple[str, ...], rows: MovedRows) -> Shares:
    """Shares of a rule's derivations."""
    before, after = rows.before, rows.after
    growth, lost, gained = 1.0, 0.0, 0.0
    for atom in rule.positive_atoms():
        name = atom.predicate
        if name not in own:  # else mostly its own facts, not known yet
            growth *= after[name] / max(before[name], 1)
        lost += rows.left.get(name, 0) / max(before[name], 1)
        gained += rows.entered.get(name, 0) / max(after[name], 1)
    # What a negated fact refutes is at most what one fact of a positive atom takes part in.
    among = max((before[atom.predicate] for atom in rule.positive_atoms()), default=1)
    for name in rule.negative():
        left, entered = rows.left.get(name, 0), rows.entered.get(name, 0)
        if any(isinstance(literal, Aggregate) for literal in rule.body):
            touched = _touched(rows.held[rule.head.predicate], left + entered)
            lost, gained = lost + touched, gained + touched
        else:
            lost += entered / max(among, before[name], 1)
            gained += left / max(among, before[name], 1)
    return Shares(lost, gained, growth)


def _touched(groups: int, changed: int) -> float:
    """The share of an aggregate's groups that a change may reach, one for each changed fact.

    These groups are computed as they were, and as they are.
    """
    return min(changed / groups, 1.0) if groups else 0.0
