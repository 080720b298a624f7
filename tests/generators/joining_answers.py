"""What programs of joining_programs.py derive, in plain Python that knows nothing but loops."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from generators.joining_programs import (
    ANY,
    OPERATORS,
    Atom,
    Computed,
    Expr,
    Facts,
    Grouping,
    Program,
    Row,
    Rule,
    Term,
    Test,
    Var,
    Wanted,
    level_of,
)  # fmt: skip


def evaluated(program: Program, explicit: Mapping[str, set[Row]]) -> Facts:
    """All facts: stratum by stratum, all rules again and again until nothing is new."""
    known: Facts = {name: set(explicit.get(name, ())) for name in program.types}
    for level in sorted({level_of(rule.head.predicate) for rule in program.rules}):
        rules = [rule for rule in program.rules if level_of(rule.head.predicate) == level]
        grows = True
        while grows:
            found = [(rule.head.predicate, row) for rule in rules for row in _heads(rule, known)]
            grows = any(row not in known[name] for name, row in found)
            for name, row in found:
                known[name].add(row)
    return known


def _heads(rule: Rule, known: Facts) -> Iterator[Row]:
    groups = None if rule.grouping is None else _groups(rule.grouping, known)
    for found in _solutions(rule.positive, known, {}):
        for more in [found] if groups is None else _with_groups(rule.grouping, groups, found):
            if _compute(rule.computed, more) and _holds(rule.negative, rule.tests, known, more):
                yield tuple(_value(term, more) for term in rule.head.terms)


def _compute(computed: Computed, found: Row_) -> bool:
    """Add the values that are computed. Returns whether there are any."""
    for var, value in computed:
        found[var.name] = _value(value, found)
    return None not in found.values()


def _holds(negative: Sequence[Atom], tests: Sequence[Test], known: Facts, found: Row_) -> bool:
    if any(_is_refuted(atom, known, found) for atom in negative):
        return False
    sides = [(s, _value(a, found), _value(b, found)) for a, s, b in tests]
    return all(None not in (a, b) and OPERATORS[s](a, b) for s, a, b in sides)


def _groups(grouping: Grouping, known: Facts) -> dict[Row, Row_]:
    """The results of each group that has solutions."""
    solutions = {
        tuple(sorted(found.items()))
        for found in _solutions(_with_every_column(grouping.positive), known, {})
        if _compute(grouping.computed, found)
        and _holds(grouping.negative, grouping.tests, known, found)
    }
    members: dict[Row, list[Row_]] = {}
    for found in map(dict, solutions):
        members.setdefault(tuple(found[v.name] for v in grouping.group), []).append(found)
    return {
        group: {one.result.name: _aggregated(one, some) for one in grouping.wanted}
        for group, some in members.items()
    }


def _with_every_column(atoms: Sequence[Atom]) -> list[Atom]:
    """The same with a name for each ANY: all columns tell solutions apart."""
    return [
        Atom(atom.predicate, tuple(
            Var(f"A{number}.{place}") if term == ANY else term
            for place, term in enumerate(atom.terms)
        ))
        for number, atom in enumerate(atoms)
    ]  # fmt: skip


def _aggregated(one: Wanted, solutions: list[Row_]) -> Any:
    """The value of a group, of those solutions for which there is one."""
    values = [_value(one.argument, found) for found in solutions]
    values = [value for value in values if value is not None]
    values = sorted(set(values) if one.distinct else values)
    return FUNCTIONS[one.function](values) if values else one.otherwise


def _with_groups(grouping: Grouping, groups: dict[Row, Row_], found: Row_) -> Iterator[Row_]:
    """A solution of the other atoms, with each group that fits, or with what is there for none."""
    names = [var.name for var in grouping.group]
    fitting = False
    for group, results in groups.items():
        more = dict(zip(names, group, strict=True)) | results
        if None in results.values():
            continue
        if all(found.get(name, value) == value for name, value in more.items() if name in names):
            fitting = True
            if all(found.get(name, value) == value for name, value in more.items()):
                yield found | more
    others = {one.result.name: one.otherwise for one in grouping.wanted}
    if not fitting and None not in others.values():
        yield found | others


def _sum(values: list[Any]) -> Any:
    total = type(values[0])()
    for value in values:
        total += value
    return total


def _median(values: list[Any]) -> float:
    middle = len(values) // 2
    if len(values) % 2:
        return float(values[middle])
    return float(values[middle - 1]) * 0.5 + float(values[middle]) * 0.5


FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "COUNT": len, "MIN": min, "MAX": max, "SUM": _sum, "MED": _median,
    "AVG": lambda values: _sum(values) / len(values),
}  # fmt: skip
"""What they make of the values of a group, in ascending order."""


def _solutions(atoms: Sequence[Atom], known: Facts, found: Row_) -> Iterator[Row_]:
    if not atoms:
        yield found
        return
    for row in known[atoms[0].predicate]:
        more = _matched(atoms[0], row, found)
        if more is not None:
            yield from _solutions(atoms[1:], known, more)


Row_ = dict[str, Any]


def _matched(atom: Atom, row: Row, found: Row_) -> Row_ | None:
    more = dict(found)
    for term, value in zip(atom.terms, row, strict=True):
        if term == ANY:
            continue
        if isinstance(term, Var):
            if more.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return more


def _is_refuted(atom: Atom, known: Facts, found: Row_) -> bool:
    return any(_matched(atom, row, found) is not None for row in known[atom.predicate])


def _value(term: Term, found: Row_) -> Any:
    if isinstance(term, Expr):
        values = [_value(argument, found) for argument in term.arguments]
        if term.function in OF_NOTHING:
            value = OF_NOTHING[term.function](*values)
        else:
            value = None if None in values else COMPUTED[term.function](*values)
        return value + 0.0 if isinstance(value, float) else value
    return found[term.name] if isinstance(term, Var) else term


def _remainder(a: int, b: int) -> int | None:
    if b == 0:
        return None
    return abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b))


def _rounded(a: float, places: int) -> float:
    """Halves away from zero."""
    product = a * 10.0**places
    if math.isinf(product):
        return a
    whole = math.trunc(product)
    return (whole + ((product > whole) - (product < whole)) * (abs(product - whole) >= 0.5)) / (
        10.0**places
    )


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    return None if condition is None else a if condition else b


def _both(a: Any, b: Any) -> Any:
    return False if a is False or b is False else None if None in (a, b) else True


def _either(a: Any, b: Any) -> Any:
    return True if a is True or b is True else None if None in (a, b) else False


def _seconds(period: dt.timedelta) -> float:
    return (period // dt.timedelta(microseconds=1)) / 1e6


def _bucket(width: str, moment: dt.date) -> dt.date:
    """When the bucket of a moment begins, as far as the programs have widths."""
    first: Any = moment.replace(day=1)
    months = {"3 months": (moment.month - 1) // 3 * 3 + 1, "1 year": 1}
    if width in months:
        first = first.replace(month=months[width])
    elif width == "1 day":
        first = moment
    elif width == "1 week":
        first = moment - dt.timedelta(days=moment.weekday())
    if not isinstance(moment, dt.datetime):
        return moment if width == "90 minutes" else first
    midnight = dt.datetime.combine(first, dt.time())
    if width != "90 minutes":
        return midnight
    minutes = (moment - dt.datetime(2000, 1, 3)) // dt.timedelta(minutes=90) * 90
    return dt.datetime(2000, 1, 3) + dt.timedelta(minutes=minutes)


COMPUTED: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": _remainder, "abs": abs,
    "/": lambda a, b: None if b == 0 else a / b,
    "sqrt": lambda a: None if a < 0 else math.sqrt(a),
    "floor": lambda a: a if math.isinf(a) else float(math.floor(a)),
    "ceil": lambda a: a if math.isinf(a) else float(math.ceil(a)),
    "int": lambda a: math.trunc(a) if -(2.0**63) <= a < 2.0**63 else None,
    "float": float,
    "days_between": lambda a, b: b.toordinal() - a.toordinal(),
    "date": lambda a: dt.date(a.year, a.month, a.day),
    "time_bucket": _bucket,
    "seconds_between": lambda a, b: _seconds(b - a),
    "epoch": lambda a: _seconds(a - dt.datetime(1970, 1, 1)),
    "round": lambda a, n: a if math.isinf(a) else _rounded(a, n),
    "not": operator.not_,
    **OPERATORS,
}  # fmt: skip


OF_NOTHING: dict[str, Callable[..., Any]] = {"if": _chosen, "and": _both, "or": _either}
"""Those that may have a value where an argument has none."""
