"""Programs whose bodies join three to five atoms over few values, and facts and changes for them.

Most of what a body joins is projected away, so that atoms are joined two at a time (evaluate/
early_projection.py) or as sets of bits, where tables count as large. Columns are ints or floats.
"""

from __future__ import annotations

from random import Random

from generators.programs import Atom, Compare, Literal, Not, Row, Rule, Term, Var

INTS, FLOATS = ("int", "int"), ("int", "float")
BASE = {"e": INTS, "u": INTS, "v": INTS, "f": FLOATS}
DERIVED = {"p": INTS, "q": INTS}
TYPES = {**BASE, **DERIVED, "last": INTS}

Facts = dict[str, set[Row]]

_NAMES = [Var(name) for name in "XYZWUV"]


def dense_rules(rng: Random) -> list[Rule]:
    """Rules for p and q, which may read each other, and for what is above both."""
    rules = [Rule("base_p", Atom("p", tuple(_NAMES[:2])), (Atom("e", tuple(_NAMES[:2])),))]
    rules.append(Rule("base_q", Atom("q", tuple(_NAMES[:2])), (Atom("u", tuple(_NAMES[:2])),)))
    for number in range(rng.randrange(1, 4)):
        rules.append(_rule(rng, f"rule_{number}", rng.choice("pq"), [*BASE, *DERIVED]))
    rules.append(_rule(rng, "last", "last", [*DERIVED, *DERIVED, *BASE]))
    return rules


def _rule(rng: Random, name: str, head: str, predicates: list[str]) -> Rule:
    """A path mostly, or atoms over variables at random; filters and negations are rare."""
    size = rng.randrange(3, 6)
    body: list[Literal] = []
    for place in range(size):
        first, second = _NAMES[place], _NAMES[place + 1]
        if rng.random() < 0.2:
            first = rng.choice(_NAMES[: place + 1])
        terms: list[Term] = [first, second]
        if rng.random() < 0.3:
            terms.reverse()
        if rng.random() < 0.1:
            terms[rng.randrange(2)] = rng.randrange(4)
        body.append(Atom(rng.choice(predicates), tuple(terms)))
    bound = [term for atom in body if isinstance(atom, Atom) for term in atom.terms]
    whole = [v for v in dict.fromkeys(bound) if isinstance(v, Var) and not _is_float(v, body)]
    if not whole:
        return _rule(rng, name, head, predicates)
    if rng.random() < 0.2:
        body.append(Compare(rng.choice(whole), rng.choice(["<", "!="]), rng.choice(whole)))
    if rng.random() < 0.2:
        body.append(Not(Atom("v", (rng.choice(whole), rng.choice(whole)))))
    ends = [whole[0], whole[-1]] if rng.random() < 0.6 else rng.choices(whole, k=2)
    return Rule(name, Atom(head, tuple(ends)), tuple(body))


def _is_float(variable: Var, body: list[Literal]) -> bool:
    """Whether a column of floats gives a variable its type."""
    atoms = [atom for atom in body if isinstance(atom, Atom)]
    return any(atom.predicate == "f" and atom.terms[1] == variable for atom in atoms)


def dense_facts(rng: Random) -> Facts:
    """About half of all pairs of few values."""
    size = rng.randrange(3, 6)
    return {
        name: {_row(rng, name, size) for _ in range(rng.randrange(1, size * 3))} for name in BASE
    }


def dense_change(rng: Random, facts: Facts) -> tuple[Facts, Facts]:
    """What a change deletes and inserts."""
    gone: Facts = {}
    come: Facts = {}
    for name, rows in facts.items():
        there = sorted(rows)
        gone[name] = set(rng.sample(there, min(len(there), rng.randrange(3))))
        come[name] = {_row(rng, name, 5) for _ in range(rng.randrange(2))} - gone[name]
    return gone, come


def _row(rng: Random, name: str, size: int) -> Row:
    first, second = rng.randrange(size), rng.randrange(size)
    return (first, second + rng.choice([0.0, 0.5])) if name == "f" else (first, second)  # type: ignore[return-value]
