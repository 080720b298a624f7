"""The independent engine: clingo evaluates a program from scratch.

Everything is translated to plain clingo, one notion at a time:

* predicate p becomes x_p (names may begin with a capital) and symbols become strings;
* `not p(X, L)` with L local means that no such L exists: `not no_1(X)`, `no_1(X) :- x_p(X, L).`;
* an aggregate ranges over the solutions of its body, in which each `_` of an atom has a name:
  `all_2(X, Y) :- body.`, then `val_2(X, N) :- all_2(X, _), N = #count { Y : all_2(X, Y) }.`, so
  that a group without solutions has no value. With DISTINCT, the argument alone is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import clingo
from generators.programs import (
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Compare,
    Expression,
    Facts,
    Literal,
    Not,
    Row,
    Rule,
    Value,
    Var,
    every_column_named,
    predicates_of,
)


class OracleError(Exception):
    """clingo refused the program, or it has no unique model: the test is wrong, not the library."""


def extensions(rules: Sequence[Rule], facts: Facts) -> dict[str, set[Row]]:
    """For each predicate that rules or facts mention, all of its facts."""
    found: dict[str, set[Row]] = {name: set() for name in predicates_of(rules, facts)}
    for symbol in only_model(clingo_text(rules, facts)):
        if symbol.name.startswith("x_"):
            found[symbol.name[2:]].add(tuple(_value(term) for term in symbol.arguments))
    return found


def clingo_text(rules: Iterable[Rule], facts: Facts) -> str:
    """The program in clingo's language."""
    translation = _Translation()
    for name, rows in facts.items():
        translation.lines += [f"{_atom(Atom(name, row))}." for row in sorted(rows, key=repr)]
    for rule in rules:
        translation.rule(rule)
    return "\n".join(translation.lines)


def only_model(text: str) -> list[clingo.Symbol]:
    """The facts of clingo's answer to a program in its own language."""
    complaints: list[str] = []
    control = clingo.Control(
        ["--warn=no-atom-undefined", "--warn=no-global-variable", "--models=2"],
        logger=lambda _, line: complaints.append(line),
    )
    models: list[list[clingo.Symbol]] = []
    try:
        control.add("base", [], text)
        control.ground([("base", [])])
        control.solve(on_model=lambda model: models.append(list(model.symbols(atoms=True))))
    except RuntimeError as error:
        raise OracleError("\n".join([str(error), *complaints, text])) from error
    if complaints or len(models) != 1:
        raise OracleError("\n".join([f"{len(models)} models", *complaints, text]))
    return models[0]


def _value(symbol: clingo.Symbol) -> Value:
    return symbol.number if symbol.type is clingo.SymbolType.Number else symbol.string


@dataclass
class _Translation:
    """Lines of clingo text; auxiliary predicates are numbered."""

    lines: list[str] = field(default_factory=list)
    auxiliaries: int = 0

    def rule(self, rule: Rule) -> None:
        self.lines.append(f"{_atom(rule.head)} :- {self._body(rule.body)}.")

    def _body(self, body: Sequence[Literal]) -> str:
        bound = binding_variables(body)
        return ", ".join(self._literal(literal, bound) for literal in body)

    def _literal(self, literal: Literal, bound: Sequence[Var]) -> str:
        if isinstance(literal, Atom):
            return _atom(literal)
        if isinstance(literal, Not):
            return self._negation(literal, bound)
        if isinstance(literal, Compare):
            return f"{_term(literal.left)} {literal.operator} {_term(literal.right)}"
        if isinstance(literal, Bind):
            return f"{_term(literal.variable)} = {_term(literal.expression)}"
        return self._aggregate(literal)

    def _negation(self, literal: Not, bound: Sequence[Var]) -> str:
        shared = [v for v in bound if v in literal.atom.terms]
        projection = self._auxiliary("no", shared)
        self.lines.append(f"{projection} :- {_atom(literal.atom)}.")
        return f"not {projection}"

    def _aggregate(self, literal: Aggregate) -> str:
        body = every_column_named(literal.body)
        solution = binding_variables(body)
        every = self._auxiliary("all", solution)
        self.lines.append(f"{every} :- {self._body(body)}.")
        value = self._auxiliary("val", [*literal.group, literal.result])
        # Within a group, solutions differ in the other variables; the first one is the weight.
        others = [v for v in solution if v not in literal.group and v != literal.argument]
        told = [literal.argument] if literal.distinct else [literal.argument, *others]
        elements = f"{_list(told)} : {every}"
        name = every.partition("(")[0]
        witness = ", ".join(v.name if v in literal.group else "_" for v in solution)
        self.lines.append(
            f"{value} :- {name}({witness}), "
            f"{literal.result.name} = #{literal.function.lower()} {{ {elements} }}."
        )
        return value

    def _auxiliary(self, kind: str, variables: Sequence[Var]) -> str:
        self.auxiliaries += 1
        return f"{kind}_{self.auxiliaries}({_list(variables)})"


def binding_variables(body: Iterable[Literal]) -> list[Var]:
    """The named variables that a body gives a value, in order: not those only under a negation."""
    found: dict[Var, None] = {}
    for literal in body:
        if isinstance(literal, Atom):
            found.update(dict.fromkeys(t for t in literal.terms if isinstance(t, Var)))
        elif isinstance(literal, Bind):
            found[literal.variable] = None
        elif isinstance(literal, Aggregate):
            found.update(dict.fromkeys([*literal.group, literal.result]))
    return [variable for variable in found if not variable.anonymous]


def _list(variables: Sequence[Var]) -> str:
    return ", ".join(variable.name for variable in variables)


def _atom(atom: Atom) -> str:
    return f"x_{atom.predicate}({', '.join(_term(term) for term in atom.terms)})"


def _term(term: Expression) -> str:
    if isinstance(term, Var):
        return term.name
    if isinstance(term, Arithmetic):
        return f"({_term(term.left)} {term.operator} {_term(term.right)})"
    if isinstance(term, int):
        return str(term) if term >= 0 else f"({term})"
    return str(clingo.String(term))
