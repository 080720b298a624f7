"""Which aggregates can be applied by look-ups.

A group that a change touches is aggregated anew, from the facts that it has then. So the head of
the rule must tell the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from zodiac_sql.language.binding import Arranged, arrange
from zodiac_sql.language.functions import AGGREGATES, result_type
from zodiac_sql.language.syntax import Aggregate, Rule, Type, Variable
from zodiac_sql.lookups.group_values import FUNCTIONS
from zodiac_sql.rewrite.forms import grouped


@dataclass(frozen=True, slots=True)
class Grouped:
    """The aggregates of a rule, and the body that they are over."""

    aggregates: tuple[Aggregate, ...]
    body: Arranged
    places: tuple[int, ...]
    """Where the head has the variables of the group."""
    functions: tuple[str, ...] = ()
    results: tuple[Type, ...] = ()
    """The functions of SQLite, and the types of their results."""

    @property
    def group(self) -> tuple[str, ...]:
        """The variables that tell the group."""
        return tuple(variable.name for variable in self.aggregates[0].group)

    @property
    def has_all(self) -> bool:
        """Whether a group without solutions has a value, too."""
        return all(one.otherwise is not None for one in self.aggregates)


def grouped_of(rule: Rule, body: Arranged) -> Grouped | None:
    """The aggregates of a rule, if they can be applied by look-ups. The rule has some."""
    aggregates = grouped(rule)
    inner = arrange(aggregates[0].body) if aggregates else body
    if not aggregates or inner.unplaced or not inner.atoms:
        return None
    group = [variable.name for variable in aggregates[0].group]
    computed = {step.variable.name for step in inner.steps}
    if not computed.isdisjoint(group) and (body.atoms or body.negations):
        return None  # what moves beside the aggregates would not tell the group
    results = [one.result.name for one in aggregates]
    if len({*group, *results}) < len(group) + len(results):
        return None
    heads = [term.name if isinstance(term, Variable) else None for term in rule.head.terms]
    if not all(name in heads for name in group):
        return None
    return Grouped(aggregates, inner, tuple(heads.index(name) for name in group))


def with_functions(grouped: Grouped, types: Mapping[str, Type]) -> Grouped | None:
    """The same with functions, given the types of the variables of the body.

    None: SQLite does not compute one of them as DuckDB does.
    """
    functions, results = [], []
    for one in grouped.aggregates:
        argument = types.get(one.argument.name)
        if argument is None or (one.function, argument) not in FUNCTIONS:
            return None
        result = result_type(AGGREGATES[one.function], [argument])
        if result is None or (one.otherwise is not None and one.otherwise.type is not result):
            return None
        functions.append(FUNCTIONS[one.function, argument])
        results.append(result)
    return replace(grouped, functions=tuple(functions), results=tuple(results))
