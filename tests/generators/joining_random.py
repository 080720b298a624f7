"""Random programs as in joining_programs.py, and random facts for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from generators.joining_programs import (
    ANY,
    NOWHERE,
    OPERATORS,
    ORDERED,
    VALUES,
    WRITTEN,
    Atom,
    Computed,
    Expr,
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
    declared = [name for name in types if rng.random() < 0.3] if rng.random() < 0.5 else types
    return Program(types, tuple(rules), frozenset(declared))


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
    readable = [p for p in types if level_of(p) <= level]
    positive = [_atom(rng, rng.choice(readable), types, bound) for _ in range(rng.randint(1, 3))]
    grows = any(level_of(atom.predicate) == level for atom in positive)
    computed = _computed(rng, bound, grows) if rng.random() < 0.35 else ()
    lower = [p for p in types if level_of(p) < level]
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
    if type_ in ("date", "timestamp"):
        width = rng.choice(["90 minutes", "1 day", "1 week", "3 months", "1 year"])
        found = [
            (Expr("days_between", (argument, same)), "int"),
            (Expr("date", (argument,)), "date"),
            (Expr("time_bucket", (width, argument)), type_),
        ]
        if type_ == "timestamp":
            found += [
                (Expr("epoch", (argument,)), "float"),
                (Expr("seconds_between", (argument, same)), "float"),
            ]
        return rng.choice(found)
    return None


def _choice(rng: Random, bound: Mapping[str, str]) -> tuple[Expr, str]:
    """One of two values, by a condition. Constants may be symbols that no fact has."""
    condition = _condition(rng, bound)
    if rng.random() < 0.3:
        condition = Expr("not", (condition,))
    elif rng.random() < 0.5:
        condition = Expr(rng.choice(["and", "or"]), (condition, _condition(rng, bound)))
    first = rng.choice(sorted(bound))
    type_ = bound[first]
    others = [Var(name) for name in sorted(bound) if bound[name] == type_]
    constants = [*WRITTEN[type_], *NOWHERE.get(type_, ())]
    both = [Var(first), rng.choice(others)]
    for place in range(2):
        if rng.random() < 0.4:
            both[place] = rng.choice(constants)
    return Expr("if", (condition, *both)), type_


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
    lower = [p for p in types if level_of(p) < level]
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
    if rng.random() < 0.7:  # what nothing else asks for needs no name
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
        result_ = Var(f"N{number}")
        wanted.append(Wanted(function, argument, result_, distinct=rng.random() < 0.25))
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
