"""What programs with MIN and MAX mean, by clingo, where all values are small ints.

clingo derives all values, not only the best of each round, and takes the best of them in the end.
That is the same, because a better value never loses anything:

    dist(Y, MIN(E + W)) :- dist(X, E), edge(X, Y, W).      becomes
    every_dist(Y, V) :- every_dist(X, E), x_edge(X, Y, W), V = E + W, |V| <= 25.
    x_dist(G0, B) :- every_dist(G0, _), B = #min { W : every_dist(G0, W) }.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import clingo
from generators.best_programs import Atom, Expression, Program, Row, Rule, Value
from support.best_values import World
from support.oracle import only_model

FAR = 25
"""No value is further from 0. It is enough if those that are the best for a time are not."""


def by_clingo(program: Program, rules: Iterable[Rule], facts: Mapping[str, Iterable[Row]]) -> World:
    """All facts that there are, explicit and derived."""
    lines = [f"x_{name}({_list(row)})." for name, rows in facts.items() for row in rows]
    own = {name: names for names in program.families for name in names}
    for rule in rules:
        name = rule.head.predicate
        body = [_literal(atom, own.get(name, ())) for atom in rule.body]
        body += [f"{_term(a)} {operator} {_term(b)}" for operator, a, b in rule.tests]
        head = f"x_{name}({_list(rule.head.terms)})"
        if rule.function:
            head = f"every_{name}({_list(_with(rule, rule.head.terms, 'V'))})"
            body += [f"V = {_term(rule.value)}", f"|V| <= {FAR}"]
            lines.append(_best(rule))
        lines.append(f"{head} :- {_list(body)}.")
    found: World = {}
    for symbol in only_model("\n".join(lines)):
        if symbol.name.startswith("x_"):
            row = tuple(map(_value, symbol.arguments))
            found.setdefault(symbol.name.removeprefix("x_"), set()).add(row)
    return found


def _best(rule: Rule) -> str:
    """The rule that takes the best value of each group."""
    group = [f"G{place}" for place, _ in enumerate(rule.head.terms)]
    best, some, each = (_list(_with(rule, group, one)) for one in ("B", "_", "W"))
    name, function = rule.head.predicate, rule.function.lower()
    return (
        f"x_{name}({best}) :- every_{name}({some}), B = #{function} {{ W : every_{name}({each}) }}."
    )


def _with(rule: Rule, group: Iterable[object], value: str) -> list[object]:
    terms = list(group)
    terms.insert(rule.place, value)
    return terms


def _literal(atom: Atom, own: Iterable[str]) -> str:
    """An atom: of its own family, a rule reads all values."""
    prefix = "every_" if atom.predicate in own else "x_"
    return f"{'not ' * atom.negated}{prefix}{atom.predicate}({_list(atom.terms)})"


def _term(expression: Expression) -> str:
    """An expression. clingo has no least and greatest, but twice the least is a + b - |a - b|."""
    if not isinstance(expression, tuple):
        return str(expression)
    function, *given = expression
    parts = [_term(part) for part in given]  # type: ignore[arg-type]
    if function == "abs":
        return f"|{parts[0]}|"
    if function in ("least", "greatest"):
        one, other = parts
        sign = "-" if function == "least" else "+"
        return f"(({one} + {other} {sign} |{one} - {other}|) / 2)"
    return f"({parts[0]} {function} {parts[1]})"


def _list(parts: Iterable[object]) -> str:
    return ", ".join(map(str, parts))


def _value(symbol: clingo.Symbol) -> Value:
    return symbol.number if symbol.type is clingo.SymbolType.Number else symbol.name
