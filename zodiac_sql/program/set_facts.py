"""The facts of a rule set other than main: they come and go with the set.

So they must be told from explicit facts that somebody inserts, even if these are the same. What the
set "heat" states of p is explicit in a predicate of its own, p@heat, and a rule of the set brings
it to p.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from zodiac_sql.language.syntax import Atom, Program, Rule, Variable
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.program.rule_sets import MAIN

_LABEL = "facts:"
"""The labels of these rules begin so. No label in a text has a colon."""


def is_of_facts(label: str) -> bool:
    """Whether a rule brings the facts that a set states."""
    return label.startswith(_LABEL)


def brings_facts(rule: str) -> bool:
    """Whether a rule of this name brings the facts that a set states, and does nothing else."""
    return is_of_facts(rule.partition("/")[2])  # no set has a / in its name


def own_predicates(rules: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The predicates of what sets state of each predicate. Rules are given by what they derive and
    their names.
    """
    found: dict[str, list[str]] = {}
    for head, name in rules:
        if brings_facts(name):
            found.setdefault(head, []).append(own_predicate(head, name.partition("/")[0]))
    return found


def with_facts_of_set(program: Program, set_name: str) -> Program:
    """A text whose facts are those of predicates of the set, with the rules that they need."""
    if set_name == MAIN or not program.facts:
        return program
    arities = {fact.predicate: len(fact.terms) for fact in program.facts}
    rules = (_bringing(name, arity, set_name) for name, arity in arities.items())
    facts = (
        replace(fact, predicate=own_predicate(fact.predicate, set_name)) for fact in program.facts
    )
    return replace(program, rules=(*program.rules, *rules), facts=tuple(facts))


def own_predicate(predicate: str, set_name: str) -> str:
    """The predicate of what a set states of another one."""
    return f"{predicate}@{set_name}"


def stated_of(predicate: str) -> str:
    """The predicate of which facts are stated, by a set or not."""
    return predicate.rpartition("@")[0] or predicate


def _bringing(predicate: str, arity: int, set_name: str) -> Rule:
    """The rule that brings what a set states of a predicate."""
    terms = tuple(Variable(f"V{place}") for place in range(1, arity + 1))
    own = own_predicate(predicate, set_name)
    written = ", ".join(term.name for term in terms)
    text = f"{spelled_predicate(predicate)}({written}) :- {spelled_predicate(own)}({written})."
    return Rule(_LABEL + predicate, Atom(predicate, terms), (Atom(own, terms),), text=text)
