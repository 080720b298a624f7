"""Arguments that the rules of a hypernode hand on, from body to head.

In tc(X, Z) :- tc(X, Y), edge(Y, Z), whatever is derived from tc(a, b) has a in the same place. So
facts with different values there have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from zodiac_sql.language.syntax import Rule, Variable

Positions = Mapping[str, int]
"""For each predicate of a hypernode, the argument that its rules hand on."""


def handed_on(rules: Sequence[Rule]) -> Positions | None:
    """The argument of each predicate that all rules hand on from body to head, if there is one."""
    derived = {rule.head.predicate for rule in rules}
    start = rules[0].head
    for position in range(len(start.terms)):
        positions = {start.predicate: position}
        if all(hands_on(rules, positions, derived) for _ in derived) and derived == set(positions):
            return positions
    return None


def hands_on(rules: Iterable[Rule], positions: dict[str, int], derived: Collection[str]) -> bool:
    """Whether rules agree with the positions known so far. Adds the positions that follow."""
    for rule in rules:
        atoms = [atom for atom in rule.positive_atoms() if atom.predicate in derived]
        known = [atom for atom in (rule.head, *atoms) if atom.predicate in positions]
        if not known:
            continue
        term = known[0].terms[positions[known[0].predicate]]
        if not isinstance(term, Variable):
            return False
        for atom in (rule.head, *atoms):
            if atom.predicate not in positions:
                if term not in atom.terms:
                    return False
                positions[atom.predicate] = atom.terms.index(term)
            if atom.terms[positions[atom.predicate]] != term:
                return False
    return True
