"""What an export writes: whole extensions, or only what rules have derived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from sqlglot import exp

from zodiac_sql.database.statements import shown
from zodiac_sql.database.store import Store
from zodiac_sql.facts.export import Exported, export_predicates
from zodiac_sql.language.schema import Predicate
from zodiac_sql.program.derived_datatypes import with_datatypes
from zodiac_sql.program.state import State
from zodiac_sql.read.query import known_predicates
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.extensions import decoded, distinct_query, lacking
from zodiac_sql.storage.owners import EXPLICIT
from zodiac_sql.storage.sources import sources_of


def export(
    store: Store,
    state: State,
    names: Sequence[str],
    directory: str | Path,
    format: str,
    inferred: bool,
) -> Exported:
    """Write the extensions of predicates, or only those of their facts that are not explicit.

    Of the latter, predicates that no rule derives have none, and get no file. What a rule set
    states of a predicate is among the facts of that predicate, so unless it is asked for by its
    name, it is not written once more; nor is it inferred.
    """
    predicates = known_predicates(names, state)
    if not names:
        of_sets = set(chain.from_iterable(state.of_sets().values()))
        predicates = [known for known in predicates if known.name not in of_sets]
    schema = with_datatypes(state)
    predicates = [schema[known.name] for known in predicates]
    read: Callable[[Predicate], exp.Expr] = lambda known: shown(store.file.name, known.sql_name)
    if inferred:
        heads = {rule.head for rule in state.rules}
        predicates = [known for known in predicates if known.name in heads]
        read = lambda known: _inferred(state, known).subquery("x")
    return export_predicates(store, predicates, directory, format, state.prefixes, read)


def _inferred(state: State, known: Predicate) -> exp.Query:
    """The facts of a predicate that rules derive, and that are not explicit, as people see them."""
    sources = sources_of(state)
    owners = sources.owners(known.name)
    parts = [p for owner, own in owners.items() if owner != EXPLICIT for p in own if p.rows]
    parts = [part for part in parts if part.covers] or parts
    derived = Relation(known.columns, tuple(parts))
    facts = distinct_query(derived)
    for name in (known.name, *state.of_sets().get(known.name, ())):
        if explicit := tuple(part for part in sources.owners(name)[EXPLICIT] if part.rows):
            facts = lacking(facts, Relation(state.schema[name].columns, explicit))
    return decoded(derived, facts, "zodiac.symbol")
