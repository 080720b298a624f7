"""Random programs whose rules only join, negate, compare and aggregate, over columns of all types.

Such rules are looked up where changes are small (zodiac_sql/lookups/). Here they are data of our
own, with an evaluator in plain Python that knows nothing but loops.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

Row = tuple[Any, ...]
Facts = dict[str, set[Row]]

VALUES: dict[str, list[Any]] = {
    "symbol": ["a", "b", "c", "d", "<tag:x>", '"7"@en'],
    "int": [-(2**63), -1, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    "float": [float("-inf"), -1.5, 0.0, 0.5, 7.721860817761383, 1e300],
    "bool": [False, True],
    "date": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "timestamp": [
        dt.datetime(1, 1, 1),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
        dt.datetime(2024, 2, 29, 12, 0, 0, 1),
    ],
}
"""The values of each type, few enough for joins to find some."""

WRITTEN = {**VALUES, "float": VALUES["float"][1:]}
"""Those that a rule can have: infinity has no text."""

ORDERED = ("int", "float", "date", "timestamp")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Var:
    name: str


ANY = Var("_")
Term = Var | Any
"""A variable, or a value."""


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Expr:
    """A function of values."""

    function: str
    arguments: tuple[Term, ...]


Test = tuple[Term, str, Term]
Computed = tuple[tuple[Var, Expr], ...]
"""New variables and their values."""


@dataclass(frozen=True)
class Wanted:
    """An aggregate. `otherwise` is its value for a group without solutions, if it has one there."""

    function: str
    argument: Term
    result: Var
    otherwise: Any = None

    def __str__(self) -> str:
        other = "" if self.otherwise is None else f" ELSE {_term_text(self.otherwise)}"
        return f"{self.function}({_term_text(self.argument)}) AS {self.result.name}{other}"


@dataclass(frozen=True)
class Grouping:
    """Aggregates over the same solutions."""

    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...]
    tests: tuple[Test, ...]
    group: tuple[Var, ...]
    wanted: tuple[Wanted, ...]
    computed: Computed = ()

    def __str__(self) -> str:
        body = ", ".join(_body_texts(self.positive, self.negative, self.tests, self.computed))
        on = f" ON {', '.join(var.name for var in self.group)}" if self.group else ""
        return f"AGGREGATE({body}){on} WITH {', '.join(map(str, self.wanted))}"


@dataclass(frozen=True)
class Rule:
    name: str
    head: Atom
    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    tests: tuple[Test, ...] = ()
    grouping: Grouping | None = None
    computed: Computed = ()


@dataclass(frozen=True)
class Program:
    """`types` are those of the columns of each predicate. Those without rules begin with b."""

    types: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]

    def text(self) -> str:
        return "\n".join([*map(self._declaration, self.types), *map(rule_text, self.rules)])

    def _declaration(self, name: str) -> str:
        columns = ", ".join(f"c{n}: {type_}" for n, type_ in enumerate(self.types[name]))
        return f".decl {name}({columns})"


# --- text -----------------------------------------------------------------------------------------


def rule_text(rule: Rule) -> str:
    body = _body_texts(rule.positive, rule.negative, rule.tests, rule.computed)
    body += [str(rule.grouping)] if rule.grouping else []
    return f"{rule.name}: {_atom_text(rule.head)} :- {', '.join(body)}."


def _body_texts(
    positive: Sequence[Atom], negative: Sequence[Atom], tests: Sequence[Test], computed: Computed
) -> list[str]:
    return [
        *(f"BIND({_term_text(value)} AS {var.name})" for var, value in computed),
        *map(_atom_text, positive),
        *(f"not {_atom_text(atom)}" for atom in negative),
        *(f"{_term_text(a)} {sign} {_term_text(b)}" for a, sign, b in tests),
    ]


def _atom_text(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_term_text, atom.terms))})"


def _term_text(term: Term) -> str:
    match term:
        case Var(name):
            return name
        case Expr("not", (condition,)):
            return f"not {_term_text(condition)}"
        case Expr(sign, (left, right)) if sign in ("and", "or") or not sign.isidentifier():
            return f"({_term_text(left)} {sign} {_term_text(right)})"
        case Expr(function, arguments):
            return f"{function}({', '.join(map(_term_text, arguments))})"
        case bool():
            return str(term).lower()
        case dt.datetime():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        case dt.date():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#date>'
    return str(term)


# --- evaluation -----------------------------------------------------------------------------------


def evaluated(program: Program, explicit: Mapping[str, set[Row]]) -> Facts:
    """All facts: stratum by stratum, all rules again and again until nothing is new."""
    known: Facts = {name: set(explicit.get(name, ())) for name in program.types}
    for level in sorted({_level(rule.head.predicate) for rule in program.rules}):
        rules = [rule for rule in program.rules if _level(rule.head.predicate) == level]
        grows = True
        while grows:
            found = [(rule.head.predicate, row) for rule in rules for row in _heads(rule, known)]
            grows = any(row not in known[name] for name, row in found)
            for name, row in found:
                known[name].add(row)
    return known


def _level(predicate: str) -> int:
    """A rule negates only predicates of lower levels; the level is in the name: d2_0."""
    return int(predicate[1]) if predicate[0] == "d" else -1


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
        for found in _solutions(grouping.positive, known, {})
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


def _aggregated(one: Wanted, solutions: list[Row_]) -> Any:
    """The value of a group, of those solutions for which there is one."""
    values = [_value(one.argument, found) for found in solutions]
    values = sorted(value for value in values if value is not None)
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


COMPUTED: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": _remainder, "abs": abs,
    "/": lambda a, b: None if b == 0 else a / b,
    "sqrt": lambda a: None if a < 0 else math.sqrt(a),
    "floor": lambda a: a if math.isinf(a) else float(math.floor(a)),
    "ceil": lambda a: a if math.isinf(a) else float(math.ceil(a)),
    "int": lambda a: math.trunc(a) if abs(a) < 2.0**63 else None,
    "float": float,
    "days_between": lambda a, b: (b - a).days,
    "seconds_between": lambda a, b: _seconds(b - a),
    "epoch": lambda a: _seconds(a - dt.datetime(1970, 1, 1)),
    "round": lambda a, n: a if math.isinf(a) else _rounded(a, n),
    "not": operator.not_,
    **OPERATORS,
}  # fmt: skip


OF_NOTHING: dict[str, Callable[..., Any]] = {"if": _chosen, "and": _both, "or": _either}
"""Those that may have a value where an argument has none."""


# --- making them ----------------------------------------------------------------------------------


def random_program(rng: Random) -> Program:
    """Up to three levels of predicates, with recursion inside a level, and some closures."""
    kinds = rng.sample(sorted(VALUES), rng.randint(1, 3))
    if rng.random() < 0.8 and "symbol" not in kinds:
        kinds.append("symbol")
    types: dict[str, tuple[str, ...]] = {}
    for number in range(rng.randint(2, 4)):
        types[f"b{number}"] = _types(rng, kinds)
    rules: list[Rule] = []
    for level in range(rng.randint(1, 4)):
        names = [f"d{level}_{number}" for number in range(rng.randint(1, 2))]
        types |= {name: _types(rng, kinds) for name in names}
        if rng.random() < 0.6:
            name = f"d{level}_{len(names)}"
            rule, types[name] = _grouped_rule(rng, f"r{len(rules)}", name, types, level)
            rules.append(rule)
        for name in names:
            for _ in range(rng.randint(1, 3)):
                rules.append(_rule(rng, f"r{len(rules)}", name, types, level))
            if len(types[name]) == 2 and len({*types[name]}) == 1 and rng.random() < 0.5:
                rules.append(_closure(rng, f"r{len(rules)}", name))
    return Program(types, tuple(rules))


def _types(rng: Random, kinds: Sequence[str]) -> tuple[str, ...]:
    if rng.random() < 0.5:
        return (rng.choice(kinds),) * 2
    return tuple(rng.choice(kinds) for _ in range(rng.choice([1, 1, 2, 2, 3])))


def _closure(rng: Random, name: str, predicate: str) -> Rule:
    x, y, z = Var("X"), Var("Y"), Var("Z")
    atoms = (Atom(predicate, (x, y)), Atom(predicate, (y, z)))
    unequal = ((x, "!=", z),) if rng.random() < 0.4 else ()
    if rng.random() < 0.2:
        return Rule(name, Atom(predicate, (y, x)), atoms[:1])
    return Rule(name, Atom(predicate, (x, z)), atoms, (), unequal)


def _rule(
    rng: Random, name: str, head: str, types: Mapping[str, tuple[str, ...]], level: int
) -> Rule:
    """A safe rule: the head takes its terms from positive atoms, or constants."""
    bound: dict[str, str] = {}
    readable = [p for p in types if _level(p) <= level]
    positive = [_atom(rng, rng.choice(readable), types, bound) for _ in range(rng.randint(1, 3))]
    grows = any(_level(atom.predicate) == level for atom in positive)
    computed = _computed(rng, bound, grows) if rng.random() < 0.35 else ()
    lower = [p for p in types if _level(p) < level]
    negative = [
        _atom(rng, rng.choice(lower), types, dict(bound), new="L")
        for _ in range(rng.choice([0, 0, 1]))
    ]
    terms = tuple(_term(rng, type_, bound) for type_ in types[head])
    tests = [test for _ in range(rng.choice([0, 0, 1])) if (test := _test(rng, bound))]
    return Rule(
        name, Atom(head, terms), tuple(positive), tuple(negative), tuple(tests), computed=computed
    )


def _computed(rng: Random, bound: dict[str, str], grows: bool = False, new: str = "C") -> Computed:
    """One or two values. Ints are made small first: too large a value would refuse the rule.

    Where values may come back to the rule, only those of ints are computed: these have an end.
    """
    computed: list[tuple[Var, Expr]] = []
    for _ in range(rng.choice([1, 1, 2])):
        made = _expression(rng, bound, grows)
        if made is not None:
            computed.append((Var(f"{new}{len(bound)}"), made[0]))
            bound[f"{new}{len(bound)}"] = made[1]
    return tuple(computed)


def _expression(rng: Random, bound: Mapping[str, str], grows: bool) -> tuple[Expr, str] | None:
    """A value and its type."""
    if bound and not grows and rng.random() < 0.3:
        return _choice(rng, bound)
    argument = Var(rng.choice(sorted(bound))) if bound else None
    type_ = bound[argument.name] if argument else ""
    same = Var(rng.choice([name for name in sorted(bound) if bound[name] == type_] or [""]))
    if type_ == "int" and argument:
        small: Term = Expr("%", (argument, 7))
        other = rng.choice([Expr("%", (same, 5)), rng.choice([1, 2, -1])])
        sign = rng.choice(["+", "-", "*", "%", "abs", "/", "float", "sqrt"][: 5 if grows else 8])
        arguments = (small,) if sign in ("abs", "float", "sqrt") else (small, other)
        return Expr(sign, arguments), "float" if sign in ("/", "float", "sqrt") else "int"
    if grows or argument is None:
        return None
    if type_ == "float":
        sign = rng.choice(["+", "*", "/", "sqrt", "floor", "ceil", "int", "round"])
        number = rng.choice([0, 1, 3] if sign == "round" else [0.1, 2, 3.7])
        value = Expr(sign, (argument, number) if sign in ("+", "*", "/", "round") else (argument,))
        if sign != "int" and rng.random() < 0.3:
            value = Expr("+", (value, 0.3))
        return value, "int" if sign == "int" else "float"
    if type_ == "date":
        return Expr("days_between", (argument, same)), "int"
    if type_ == "timestamp":
        value = rng.choice([Expr("epoch", (argument,)), Expr("seconds_between", (argument, same))])
        return value, "float"
    return None


def _choice(rng: Random, bound: Mapping[str, str]) -> tuple[Expr, str]:
    """One of two values, by a condition."""
    condition = _condition(rng, bound)
    if rng.random() < 0.3:
        condition = Expr("not", (condition,))
    elif rng.random() < 0.5:
        condition = Expr(rng.choice(["and", "or"]), (condition, _condition(rng, bound)))
    first = rng.choice(sorted(bound))
    others = [Var(name) for name in sorted(bound) if bound[name] == bound[first]]
    return Expr("if", (condition, Var(first), rng.choice(others))), bound[first]


def _condition(rng: Random, bound: Mapping[str, str]) -> Expr:
    """A comparison, which has no value where a root has none."""
    numbers = [name for name in sorted(bound) if bound[name] == "float"]
    if numbers and rng.random() < 0.5:
        return Expr(rng.choice(["<", ">="]), (Expr("sqrt", (Var(rng.choice(numbers)),)), 0.7))
    test = _test(rng, bound)
    assert test is not None
    return Expr(test[1], (test[0], test[2]))


def _grouped_rule(
    rng: Random, name: str, head: str, types: Mapping[str, tuple[str, ...]], level: int
) -> tuple[Rule, tuple[str, ...]]:
    """A rule with aggregates over what lower levels have, and the types of its head."""
    lower = [p for p in types if _level(p) < level]
    inner: dict[str, str] = {}
    inside = [
        _atom(rng, rng.choice(lower), types, inner, new="I") for _ in range(rng.choice([1, 2, 2]))
    ]
    if not inner:
        inside.append(Atom(lower[0], tuple(Var(f"I{n}") for n in range(len(types[lower[0]])))))
        inner |= {f"I{n}": type_ for n, type_ in enumerate(types[lower[0]])}
    computed = _computed(rng, inner) if rng.random() < 0.3 else ()
    group = rng.sample(sorted(inner), min(len(inner), rng.choice([0, 1, 1, 2])))
    wanted, tests, results = _wanted(rng, inner)
    once = [n for n in inner if sum(atom.terms.count(Var(n)) for atom in inside) == 1]
    terms = [one.argument for one in wanted] + [side for test in tests for side in test[::2]]
    terms += [value for _, value in computed]
    used = {*group, *(var.name for term in terms for var in _variables(term))}
    if rng.random() < 0.7:  # what nothing else asks for tells no solutions apart
        inside = [_without(atom, {*once} - used) for atom in inside]
        inner = {n: type_ for n, type_ in inner.items() if n in used or n not in once}
    negated = [
        _atom(rng, rng.choice(lower), types, dict(inner), new="J")
        for _ in range(rng.choice([0, 0, 1]))
    ]
    if (test := _test(rng, inner)) and rng.random() < 0.3:
        tests.append(test)
    bound = {variable: inner[variable] for variable in group}
    outside = [_atom(rng, rng.choice(lower), types, bound) for _ in range(rng.choice([0, 0, 1, 2]))]
    named = {term for atom in outside for term in atom.terms if isinstance(term, Var)}
    if named >= {Var(n) for n in group} and rng.random() < 0.7:
        wanted = [_with_other(rng, one, results[one.result.name]) for one in wanted]
    bound |= {one.result.name: results[one.result.name] for one in wanted}
    grouping = Grouping(
        tuple(inside), tuple(negated), tuple(tests), tuple(map(Var, group)), tuple(wanted), computed
    )
    negative = [
        _atom(rng, rng.choice(lower), types, dict(bound), new="L")
        for _ in range(rng.choice([0, 0, 0, 1]))
    ]
    later = _computed(rng, bound, new="D") if rng.random() < 0.3 else ()
    after = _test(rng, bound) if rng.random() < 0.2 else None
    others = [n for n in bound if n not in group]
    heads = [*(group if rng.random() < 0.95 else group[:1]), *rng.sample(others, 1)]
    rng.shuffle(heads)
    rule = Rule(
        name, Atom(head, tuple(map(Var, heads))), tuple(outside), tuple(negative),
        (after,) if after else (), grouping, later,
    )  # fmt: skip
    return rule, tuple(bound[n] for n in heads)


def _wanted(
    rng: Random, inner: Mapping[str, str]
) -> tuple[list[Wanted], list[Test], dict[str, str]]:
    """One or two aggregates, tests without which they would be too large, and their types."""
    wanted: list[Wanted] = []
    tests: list[Test] = []
    results: dict[str, str] = {}
    for number in range(rng.choice([1, 1, 2])):
        argument: Term = Var(rng.choice(sorted(inner)))
        type_ = inner[argument.name]
        made = _expression(rng, inner, grows=False) if rng.random() < 0.25 else None
        if made is not None:
            argument, type_ = made
        functions = ["COUNT", *(["MIN", "MAX"] if type_ in (*ORDERED, "bool") else [])]
        function = rng.choice(functions + (["SUM", "AVG", "MED"] if type_ in _NUMBERS else []))
        if type_ == "int" and function in ("SUM", "AVG"):
            tests += [(argument, ">=", -1), (argument, "<=", 2)]
        result = {"COUNT": "int", "AVG": "float", "MED": "float"}.get(function, type_)
        results[f"N{number}"] = result
        wanted.append(Wanted(function, argument, Var(f"N{number}")))
    return wanted, tests, results


def _variables(value: Term) -> Iterator[Var]:
    if isinstance(value, Var):
        yield value
    elif isinstance(value, Expr):
        for argument in value.arguments:
            yield from _variables(argument)


def _with_other(rng: Random, one: Wanted, type_: str) -> Wanted:
    """With a value for groups without solutions, which has to be a number."""
    if type_ not in _NUMBERS or rng.random() < 0.1:
        return one
    return replace(one, otherwise=rng.choice(WRITTEN[type_]))


def _without(atom: Atom, names: set[str]) -> Atom:
    terms = (ANY if isinstance(t, Var) and t.name in names else t for t in atom.terms)
    return Atom(atom.predicate, tuple(terms))


_NUMBERS = ("int", "float")


def _atom(
    rng: Random,
    predicate: str,
    types: Mapping[str, tuple[str, ...]],
    bound: dict[str, str],
    new: str = "V",
) -> Atom:
    terms: list[Term] = []
    for type_ in types[predicate]:
        known = [name for name, other in bound.items() if other == type_]
        if rng.random() < 0.1:
            terms.append(rng.choice(WRITTEN[type_]))
        elif known and rng.random() < 0.6:
            terms.append(Var(rng.choice(known)))
        else:
            name = f"{new}{len(bound)}"
            bound[name] = type_
            terms.append(Var(name))
    return Atom(predicate, tuple(terms))


def _term(rng: Random, type_: str, bound: Mapping[str, str]) -> Term:
    known = [name for name, other in bound.items() if other == type_]
    return Var(rng.choice(known)) if known and rng.random() < 0.9 else rng.choice(WRITTEN[type_])


def _test(rng: Random, bound: Mapping[str, str]) -> tuple[Term, str, Term] | None:
    if not bound:
        return None
    left = rng.choice(sorted(bound))
    type_ = bound[left]
    signs = [*OPERATORS] if type_ in ORDERED else ["=", "!="]
    made = _expression(rng, bound, grows=True) if rng.random() < 0.3 else None
    if made and made[1] == type_:
        return made[0], rng.choice(signs), _term(rng, type_, bound)
    return Var(left), rng.choice(signs), _term(rng, type_, bound)


def random_row(rng: Random, types: Sequence[str]) -> Row:
    return tuple(rng.choice(VALUES[type_]) for type_ in types)
