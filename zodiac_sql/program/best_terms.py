"""Whether recursions through MIN or MAX of terms of all kinds have one answer.

MIN and MAX put all terms in order, a number before a text, and terms of equal value by their texts.
Nothing that is computed from terms moves with that order: the text "7" is greater than the number
9, and has the lesser float; and a text has no sum. So such a term may only be passed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zodiac_sql.errors import Problem, Span
from zodiac_sql.graph.rule_graph import components, rule_graph
from zodiac_sql.language.binding import arrange, expressions_of, variables
from zodiac_sql.language.infer import Columns
from zodiac_sql.language.syntax import Best, Call, Constant, Expression, Rule, Type, Variable


def problems_of_terms(rules: Sequence[Rule], columns: Columns) -> Iterator[Problem]:
    """What is wrong with them, once the types of all columns are known."""
    if not any(_keeps_terms(rule.head.predicate, rule.best, columns) for rule in rules):
        return
    by_name = {rule.name: rule for rule in rules}
    for part in components(rule_graph(rules)):
        members = [by_name[name] for name in part]
        bests = {rule.head.predicate: rule.best for rule in members if rule.best}
        for rule in members:
            if rule.best and not rule.positive().isdisjoint(bests):
                yield from _Passing(rule, rule.best, bests, columns).problems()


def _keeps_terms(predicate: str, best: Best | None, columns: Columns) -> bool:
    """Whether a predicate keeps the best terms of groups."""
    return best is not None and columns[predicate][best.place] is Type.ANY


class _Passing:
    """One rule that depends on best values of its own hypernode."""

    def __init__(self, rule: Rule, best: Best, bests: Mapping[str, Best], columns: Columns) -> None:
        self.rule, self.best, self.body = rule, best, arrange(rule.body)
        self.keeps_terms = _keeps_terms(rule.head.predicate, best, columns)
        self.terms, self.others = set[str](), set[str]()
        for atom in self.body.atoms:
            if own := bests.get(atom.predicate):
                found = self.terms if _keeps_terms(atom.predicate, own, columns) else self.others
                found |= {variable.name for variable in variables(atom.terms[own.place])}

    def problems(self) -> Iterator[Problem]:
        """What is wrong with it."""
        for step in self.body.steps:
            if not self._reads(step.expression, self.terms):
                if self._reads(step.expression, self.others):
                    self.others.add(step.variable.name)
            elif self._passes(step.expression):
                self.terms.add(step.variable.name)
            else:
                yield self._problem(f"computes {step.expression}", step.span)
        for test in self.body.filters:
            if any(self._reads(side, self.terms) for side in expressions_of(test)):
                yield self._problem(f"compares {test}", test.span)
        value = self.rule.head.terms[self.best.place]
        if self.keeps_terms and self._reads(value, self.others):
            yield self._problem(f"makes a term of {value}", value.span)

    def _passes(self, expression: Expression) -> bool:
        """Whether an expression is one of the terms, or does not depend on them."""
        if isinstance(expression, Call) and expression.function == "if":
            condition, *both = expression.arguments
            return not self._reads(condition, self.terms) and all(map(self._passes, both))
        return isinstance(expression, Variable | Constant) or not self._reads(
            expression, self.terms
        )

    def _reads(self, expression: Expression, names: set[str]) -> bool:
        return any(variable.name in names for variable in variables(expression))

    def _problem(self, what: str, span: Span | None) -> Problem:
        function = self.rule.best.function.upper() if self.rule.best else ""
        return Problem(
            f"{self.rule.name} is a recursion through {function} of terms of all kinds, and {what}",
            span or self.rule.span,
            "Such a term may be passed on, also by if, and nothing else: what is computed from it "
            f"may get worse when it gets better. Give {function} native values where the recursion "
            f"begins, as in {function}(float(V)).",
        )
