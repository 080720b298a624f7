"""Answers why: reads the goal, looks for proofs, and checks what it found before it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from sqlglot import exp

from zodiac_sql.database.dictionary import as_written
from zodiac_sql.database.store import Store
from zodiac_sql.errors import ProgramError, QueryError, StoreError
from zodiac_sql.garbage import uncollected
from zodiac_sql.language.datatypes import text_of_term
from zodiac_sql.language.decimals import atom_with_decimals, fits, is_widened
from zodiac_sql.language.former_aggregates import what_is_otherwise
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.moment_constants import atom_with_moments
from zodiac_sql.language.parse import parse_goals
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import (
    SAME,
    Atom,
    Column,
    Comparison,
    Constant,
    Term,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, is_narrowed
from zodiac_sql.program.check import in_order
from zodiac_sql.program.former_rules import former_rules
from zodiac_sql.program.state import State
from zodiac_sql.read.notes_on_goals import notes_on_goals
from zodiac_sql.read.query import resolved_atom
from zodiac_sql.read.why.asked import Key, Known, one_nan, places
from zodiac_sql.read.why.better import of_group
from zodiac_sql.read.why.check_proof import is_proof
from zodiac_sql.read.why.explain import MEMBERS_SHOWN, Words, mentioned, solutions, step_of, words
from zodiac_sql.read.why.find_proof import find_proofs
from zodiac_sql.read.why.known import known_of, prefixes_of, search_in
from zodiac_sql.read.why.lowest import by_rules
from zodiac_sql.read.why.proof import Explanation, Fact, Step
from zodiac_sql.read.why.search import Derivation, ProofSearch

FIRST_ANSWERS = 3
"""A goal with variables is explained for so many answers."""

MOST_DERIVATIONS = 100
"""So many derivations of a fact are told if all are asked for."""


@uncollected()
def why(
    store: Store,
    state: State,
    functions: Functions,
    goal: str,
    every: bool,
    limit: int | None,
) -> Explanation:
    """Why a goal holds. Raises QueryError if it does not, or is no single atom."""
    known = known_of(store, state, functions)
    atom = goal_of(state, goal)
    search = search_in(state, known)
    goals = answers(search, state, atom)
    notes = notes_on_goals(store, state, [(atom,)])
    if not goals:
        raise QueryError("\n".join((f"{goal.strip()} does not hold: ask why_not", *notes)))
    if every or limit is not None:
        told = _every(search, goals, MOST_DERIVATIONS if limit is None else limit)
    else:
        told = _proof_now(search, state, goals)
    asked = tuple(map(written_name, atom.terms))
    return replace(told, prefixes=prefixes_of(state), asked=asked, notes=notes)


def written_name(term: Term) -> str | None:
    """The name of a variable that a user wrote; None for all else."""
    return term.name if isinstance(term, Variable) and term.written else None


def _proof_now(search: ProofSearch, state: State, goals: list[Key]) -> Explanation:
    """One proof of each goal. Raises QueryError where facts follow from the former meaning of
    rules alone.
    """
    try:
        return proof_of(search, goals)
    except StoreError as error:
        former = former_rules(state)
        if not former:
            raise
        raise QueryError(f"no proof can be found: {what_is_otherwise(former)}") from error


def proof_of(search: ProofSearch, goals: list[Key]) -> Explanation:
    """One checked proof of each goal."""
    search.locate(goals)
    lost = [goal for goal in goals if not search.places[goal]]
    found = None if lost else find_proofs(search, goals)
    needed = {} if found is None else _needed(search, goals, found)
    if found is None or not is_proof(search, goals, needed):
        raise StoreError(
            f"no proof can be found in {search.known.store.file.path}, although the fact is "
            "there: run verify, which tells what is wrong with the file"
        )
    told = {fact: (derivation,) for fact, derivation in needed.items()}
    return _told(search, goals, told, every=False, passed=_passed(search.known, needed))


def _passed(known: Known, needed: Iterable[Key]) -> dict[Key, Key]:
    """The facts of a proof that others have beaten since, and those."""
    bests = known.graph.with_best
    asked: dict[str, list[Key]] = {}
    for fact in needed:
        if fact[0] in bests:
            asked.setdefault(fact[0], []).append(fact)
    gone = [fact for fact, there in places(known, asked).items() if not there] if asked else []
    found: dict[Key, Key] = {}
    for fact in gone:
        best = bests[fact[0]].best
        now = of_group(known, known.sources, fact, best) if best else None
        if now is not None:
            found[fact] = now
    return found


def goal_of(state: State, goal: str) -> Atom:
    """The one atom that a goal consists of. Raises ProgramError or QueryError, as a query does."""
    literals = parse_goals(goal, state.prefixes)
    if len(literals) != 1 or not isinstance(literals[0], Atom):
        raise QueryError(f"{goal.strip()}: a fact is explained by its name, as in anomaly(wt2)")
    atom = resolved_atom(literals[0], state)
    arity = state.schema[atom.predicate].arity
    if len(atom.terms) != arity:
        said = "1 column" if arity == 1 else f"{arity} columns"
        raise QueryError(f"{atom.predicate} has {said}, and {goal.strip()} has not")
    return of_types(atom, state.schema)


def of_types(atom: Atom, schema: Schema) -> Atom:
    """An atom with terms of the types of its columns: texts may stand for dates and timestamps,
    and numbers for decimals.

    Raises ProgramError if terms cannot be values of the columns.
    """
    columns = {atom.predicate: [column.meant for column in schema[atom.predicate].columns]}
    types = columns[atom.predicate]
    atom = atom_with_decimals(atom_with_moments(atom, types), types)
    if problems := body_types((atom,), columns, {}).problems:
        raise ProgramError(in_order(problems))
    return atom


def answers(search: ProofSearch, state: State, atom: Atom, most: int = FIRST_ANSWERS) -> list[Key]:
    """The facts that a goal means: itself, or its first answers."""
    known = search.known
    columns = state.schema[atom.predicate].columns
    pairs = list(zip(atom.terms, columns, strict=True))
    literally = all(
        isinstance(term, Constant) and (column.mixed or not _rounds(term, column))
        for term, column in pairs
    )
    if literally:
        key = key_of(known, atom)
        search.locate([key] if key else [])
        if key and search.places[key]:
            return [key]
        if not any(_rounds(term, column) for term, column in pairs):
            return []
    named = replace(
        atom,
        terms=tuple(
            Variable(f"_:{place}")
            if (isinstance(t, Variable) and t.anonymous) or _rounds(t, column)
            else t
            for place, (t, column) in enumerate(zip(atom.terms, columns, strict=True))
        ),
    )
    same = [
        Comparison(here, SAME if column.mixed else "=", asked)
        for here, asked, column in zip(named.terms, atom.terms, columns, strict=True)
        if isinstance(asked, Constant) and here is not asked
    ]
    names = sorted({t.name for t in named.terms if isinstance(t, Variable)})
    found: list[Key] = []
    for row in _first_solutions(known, (named, *same), names, most):
        values = dict(zip(names, row, strict=True))
        terms = tuple(
            Constant(column.type or Type.SYMBOL, values[t.name]) if isinstance(t, Variable) else t
            for t, column in zip(named.terms, columns, strict=True)
        )
        if key := key_of(known, replace(atom, terms=terms)):
            found.append(key)
    search.locate(found)
    return found


def _rounds(term: Term, column: Column) -> bool:
    """Whether a term is equal to values of a column that are not stored as it is: a float to ints,
    a native value to terms of all kinds.
    """
    if not isinstance(term, Constant):
        return False
    return is_widened(column.meant, term.type) or is_narrowed(column.meant, term.type)


def _first_solutions(
    known: Known, goals: tuple[Atom | Comparison, ...], names: list[str], most: int
) -> list[tuple[Any, ...]]:
    atom = goals[0]
    assert isinstance(atom, Atom)
    if not known.sources.relation(atom.predicate).rows:
        return []
    columns = [exp.column(name, quoted=True) for name in names]
    query = exp.select(*columns).from_(solutions(known, goals, names).subquery("q", copy=False))
    return known.store.rows(query.order_by(*(column.copy() for column in columns)).limit(most))


def key_of(known: Known, atom: Atom) -> Key | None:
    """A fact as it is stored; None if it cannot be: the dictionary does not know a symbol, or a
    number is none of those of its column.

    None, too, if the predicate has no facts at all, so that the types of its columns are unknown.
    Its constants have types that fit the columns (`of_types`).
    """
    if known.schema[atom.predicate].open:
        return None
    constants = [term for term in atom.terms if isinstance(term, Constant)]
    columns = known.schema[atom.predicate].columns
    encoded = [
        text_of_term(constant) if column.mixed or constant.type is Type.SYMBOL else None
        for constant, column in zip(constants, columns, strict=True)
    ]
    ids = as_written(known.store, sorted({text for text in encoded if text is not None}))
    values: list[object] = []
    for constant, column, text in zip(constants, columns, encoded, strict=True):
        if text is not None:
            if text not in ids:
                return None
            values.append(ids[text])
        elif _rounds(constant, column):
            exact = _as_narrower(constant.value, column.type)
            if exact is None:
                return None
            values.append(exact)
        elif column.type is Type.FLOAT:
            values.append(one_nan(float(cast(float, constant.value))))
        elif column.type is Type.DECIMAL:
            values.append(Decimal(cast(int, constant.value)))
        else:
            values.append(constant.value)
    return atom.predicate, tuple(values)


def _as_narrower(value: object, type_: Type | None) -> int | Decimal | None:
    """A number as one of a narrower type that it equals; None if there is none."""
    assert isinstance(value, float | Decimal)
    if type_ is Type.DECIMAL:
        exact = Decimal(repr(value))
        return exact if fits(exact) else None
    whole = -(2**63) <= value < 2**63 and value == int(value)
    return int(value) if whole else None


def _needed(
    search: ProofSearch, goals: list[Key], found: Mapping[Key, Derivation]
) -> dict[Key, Derivation]:
    """The derivations that the goals rest on."""
    needed: dict[Key, Derivation] = {}
    explicit = search.explicit
    waiting = list(goals)
    while waiting:
        fact = waiting.pop()
        if fact in needed or fact in explicit:
            continue
        needed[fact] = found[fact]
        waiting += found[fact].uses
    return needed


def _every(search: ProofSearch, goals: list[Key], limit: int) -> Explanation:
    """All derivations of the goals, and which of the facts in them are explicit."""
    search.locate(goals)
    found: dict[Key, list[Derivation]] = {goal: [] for goal in goals}
    for goal in goals:
        for fact, derivation in by_rules(search, search.rules_of(goal[0]), [goal], limit + 1):
            found[fact].append(derivation)
    cut = {fact for fact, several in found.items() if len(several) > limit}
    kept = {fact: tuple(several[:limit]) for fact, several in found.items()}
    search.locate_used(use for several in kept.values() for d in several for use in d.uses)
    told = _told(search, goals, kept, every=True, members=max(limit, MEMBERS_SHOWN))
    texts = words(search.known, cut, ())
    return replace(told, cut=frozenset(map(texts.fact, cut)))


def _told(
    search: ProofSearch,
    goals: list[Key],
    found: Mapping[Key, tuple[Derivation, ...]],
    every: bool,
    passed: Mapping[Key, Key] | None = None,
    members: int = MEMBERS_SHOWN,
) -> Explanation:
    passed = passed or {}
    all_ = [d for several in found.values() for d in several]
    keys = {*goals, *found, *passed.values(), *(use for d in all_ for use in d.uses)}
    told: Words = replace(words(search.known, keys, mentioned(all_)), members=members)
    facts = told.all(keys)
    steps: dict[Fact, tuple[Step, ...]] = {
        facts[key]: tuple([step_of(told, d) for d in several]) for key, several in found.items()
    }
    held = keys - {*passed.values()}
    return Explanation(
        tuple(facts[goal] for goal in goals),
        steps,
        frozenset([facts[key] for key in held & search.explicit]),
        every,
        passed={facts[key]: facts[now] for key, now in passed.items()},
    )
