"""The types of a program's columns, and its rules as these types make them read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.errors import Problem, ProgramError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.infer import Columns, Inferred, clashes_of, infer
from zodiac_sql.language.moment_constants import rule_with_moments
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Column, Rule, Type, atoms_of
from zodiac_sql.language.types import body_types
from zodiac_sql.program.best_terms import problems_of_terms
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
    settled = {name: predicate.told for name, predicate in schema.items()}
    strict = {name for name, known in schema.items() if known.declared and not known.awaits_facts}
    while True:  # what is read may tell the type of something else
        inferred = _inferred(state, settled, came, gone)
        columns, clashes = infer(rules, settled, functions, strict, inferred)
        waiting = rules if inferred.changed else came  # facts may tell the types only now
        pairs = [(rule, rule_with_moments(rule, columns, functions)) for rule in waiting]
        read = {rule.name: found for rule, found in pairs if found is not rule}
        if (
            clashes
            and not read
            and (wider := _widened(rules, came, columns, schema, state, functions))
        ):
            schema = {**schema, **wider}
            settled |= {name: predicate.told for name, predicate in wider.items()}
            continue
        if not read:
            break
        rules = tuple(read.get(rule.name, rule) for rule in rules)
        came, gone = moved(before, rules)
    if came or inferred.changed:
        clashes += problems_of_terms(rules, columns)
    if every := [*problems, *misfits, *clashes]:
        raise ProgramError(in_order(every))
    typed_ = {name: typed(predicate, columns[name]) for name, predicate in schema.items()}
    return TypedProgram(rules, came, gone, typed_)


def _widened(
    rules: Sequence[Rule],
    came: Sequence[Rule],
    columns: Columns,
    schema: Mapping[str, Predicate],
    state: State,
    functions: Functions,
) -> dict[str, Predicate]:
    """Predicates whose first facts have other values than rules ask for that were there.

    Their columns become wider, as if facts with such values had come before: a file is not refused
    for the order in which files come. Types that only a table without rows has told give way.
    """
    new = {rule.name for rule in came}
    wider: dict[str, set[int]] = defaultdict(set)
    told = set()
    for rule in rules:
        if any(clashes_of(rule, columns, functions)):
            awaiting = [n for n in _read(rule) if schema[n].awaits_facts and any(schema[n].told)]
            told.update(awaiting)
            if rule.name not in new and not awaiting:
                for name, place in _columns_at_fault(rule, columns, schema, state, functions):
                    wider[name].add(place)
    opened = {name: schema[name].with_told((None,) * schema[name].arity) for name in told}
    return opened | {name: _as_any(schema[name], places) for name, places in wider.items()}


def _read(rule: Rule) -> list[str]:
    """The predicates that a rule reads, each once."""
    return [*dict.fromkeys(atom.predicate for atom in atoms_of(rule.body))]


def _columns_at_fault(
    rule: Rule,
    columns: Columns,
    schema: Mapping[str, Predicate],
    state: State,
    functions: Functions,
) -> list[tuple[str, int]]:
    """The columns, settled just now, by which a rule is ill-typed: one, or all."""
    found = []
    for name in _read(rule):
        known, old = schema[name], state.schema.get(name)
        before = old.settled if old and old.arity == known.arity else (None,) * known.arity
        if not known.declared:
            pairs = enumerate(zip(known.settled, before, strict=True))
            found += [(name, n) for n, (now, was) in pairs if now is not was and was is None]
    for name, place in found:
        types = list(columns[name])
        types[place] = Type.ANY
        if not body_types(rule.body, {**columns, name: types}, functions).problems:
            return [(name, place)]
    return found


def _as_any(known: Predicate, places: Collection[int]) -> Predicate:
    settled = tuple(Type.ANY if n in places else t for n, t in enumerate(known.settled))
    return replace(known, settled=settled)


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
        if name not in state.schema or state.schema[name].told != types
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
