"""The types of a program's columns, and its rules as these types make them read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.errors import Problem, ProgramError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.infer import Inferred, infer
from zodiac_sql.language.moment_constants import rule_with_moments
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Column, Rule, Type
from zodiac_sql.program.check import in_order
from zodiac_sql.program.fact_types import settle_facts
from zodiac_sql.program.state import State


@dataclass(frozen=True, slots=True)
class TypedProgram:
    """The rules after a change, those of them that came, those that are gone, and the schema."""

    rules: tuple[Rule, ...]
    came: Sequence[Rule]
    gone: Sequence[Rule]
    schema: Mapping[str, Predicate]


def with_types(
    program: TypedProgram,
    state: State,
    before: Hypergraph,
    facts: Sequence[Atom],
    functions: Functions,
    problems: Sequence[Problem],
) -> TypedProgram:
    """A program with the types that facts settle and rules imply. Texts in rules are read as dates
    and timestamps where types say so, as soon as they do.

    Raises ProgramError if types clash, or if there were problems before.
    """
    rules, came, gone = program.rules, program.came, program.gone
    best = {rule.head.predicate for rule in rules if rule.best}  # these cannot have facts
    stated = [fact for fact in facts if fact.predicate not in best]
    schema, misfits = settle_facts(program.schema, stated)
    settled = {name: predicate.settled for name, predicate in schema.items()}
    strict = {name for name, predicate in schema.items() if predicate.declared}
    while True:  # what is read may tell the type of something else
        inferred = _inferred(state, settled, came, gone)
        columns, clashes = infer(rules, settled, functions, strict, inferred)
        waiting = rules if inferred.changed else came  # facts may tell the types only now
        pairs = [(rule, rule_with_moments(rule, columns, functions)) for rule in waiting]
        read = {rule.name: found for rule, found in pairs if found is not rule}
        if not read:
            break
        rules = tuple(read.get(rule.name, rule) for rule in rules)
        came, gone = moved(before, rules)
    if every := [*problems, *misfits, *clashes]:
        raise ProgramError(in_order(every))
    typed_ = {name: typed(predicate, columns[name]) for name, predicate in schema.items()}
    return TypedProgram(rules, came, gone, typed_)


def moved(before: Hypergraph, rules: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """The rules that came, and those that are gone."""
    old, new = {r.name: r for r in before.rules()}, {r.name: r for r in rules}
    return (
        [r for r in rules if (there := old.get(r.name)) is not r and there != r],
        [r for r in old.values() if (left := new.get(r.name)) is not r and left != r],
    )


def _inferred(
    state: State,
    settled: Mapping[str, Sequence[Type | None]],
    came: Sequence[Rule],
    gone: Sequence[Rule],
) -> Inferred:
    """What is known of types from before a change, and what the change touches."""
    changed = {
        name
        for name, types in settled.items()
        if name not in state.schema or state.schema[name].settled != types
    }
    changed |= {rule.head.predicate for rule in (*came, *gone) if rule.head.predicate in settled}
    columns = {n: [c.meant for c in p.columns] for n, p in state.schema.items()}
    return Inferred(columns, frozenset(changed), frozenset(rule.name for rule in came))


def typed(predicate: Predicate, types: Sequence[Type | None]) -> Predicate:
    """A predicate with the types that inference found, which it mostly has already.

    Where rules have widened what facts had settled, it is settled so from now on.
    """
    if all(c.meant is t for c, t in zip(predicate.columns, types, strict=True)):
        return predicate
    columns = tuple(Column(c.name, t) for c, t in zip(predicate.columns, types, strict=True))
    settled = tuple(s and t for s, t in zip(predicate.settled, types, strict=True))
    return replace(predicate, columns=columns, settled=settled)
