"""Module `tc`: transitive closure (paper 2, section 5, Algorithms 4 to 6).

Every fact R(a, z) that the rule R(x, y), R(y, z) -> R(x, z) derives rests on a chain of external
facts. So one of the two atoms may read external facts only. On a chain this linear rule considers
n * n instances, the rule as written n * n * n (paper 2, Example 1).

That holds with x != z, too: a chain without detours never comes back to its beginning. An external
fact that the rule as written derives only with the help of that fact itself is not derived by the
linear rule; the extension is the same.

Rules that prolong R, such as R(x, y), E(y, z) -> R(x, z), may still write R itself, if the linear
rule prolongs R at the same end: R(x, y) and R(y, z) are then joined step by step, by external facts
and by E in the order in which R(y, z) came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from zodiac_sql.language.syntax import Atom, Comparison, Literal, Rule, Variable
from zodiac_sql.names import external, given
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.shapes import extends, transitive

LEFT, RIGHT = 0, 1
"""Which end of R the linear rule keeps."""

_X, _Y, _Z = Variable("X"), Variable("Y"), Variable("Z")


@dataclass(frozen=True, slots=True)
class Transitive(Module):
    """R is transitive. `keeps` is the end that R's own atom keeps in the linear rule."""

    kind: ClassVar[str] = "tc"
    keeps: int = LEFT

    def absorbs(self, rule: Rule) -> bool:
        return not self.unequal and extends(rule, self.keeps)

    def gains(self, others: Sequence[Rule]) -> bool:
        """Not if others feed it. Then most facts of R become external, stored and joined once more,
        and the loop reads steps anyway (steps.py): on EL ontologies, evaluation took up to 1.4
        times as long with the module, and a small change twice as long.
        """
        return not any(self.feeds(rule) for rule in others)

    def rules(self, fed: bool) -> tuple[Rule, ...]:
        """The linear rule over each part of X_R, and a rule that copies external facts to R."""
        name, r = self.taken[0].name, self.predicate
        linear = self._linear(f"{name} given", given(r))
        if not fed:
            return (linear,)
        copy = Rule(f"{name} copy", Atom(r, (_X, _Y)), (Atom(external(r), (_X, _Y)),))
        return (copy, linear, self._linear(f"{name} external", external(r)))

    def _linear(self, name: str, x: str) -> Rule:
        """R(x, z) :- R(x, y), X_R(y, z), or the other way round."""
        first, second = (self.predicate, x) if self.keeps == LEFT else (x, self.predicate)
        body: list[Literal] = [Atom(first, (_X, _Y)), Atom(second, (_Y, _Z))]
        if self.unequal:
            body.append(Comparison(_X, "!=", _Z))
        text = f"{self.predicate} by its external facts"
        return Rule(name, Atom(self.predicate, (_X, _Z)), tuple(body), text)


def recognise(predicate: str, rules: Sequence[Rule]) -> Transitive | None:
    """The module for a predicate, if some of the rules of its hypernode make it transitive."""
    found = {rule.name: unequal for rule in rules if (unequal := transitive(rule)) is not None}
    taken = tuple(r for r in rules if r.name in found and r.head.predicate == predicate)
    if not taken:
        return None
    module = Transitive(predicate, taken, all(found[rule.name] for rule in taken))
    others = [r for r in rules if r not in taken and r.head.predicate == predicate]
    mirrored = replace(module, keeps=RIGHT)
    left, right = (sum(map(m.absorbs, others)) for m in (module, mirrored))
    return mirrored if right > left else module
