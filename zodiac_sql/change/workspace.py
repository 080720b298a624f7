"""What a change is computed with: what is fixed for it, the extensions, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.change.settings import Settings
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.passed_on import Datatypes
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.language.syntax import Type
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.program.build import Planned
from zodiac_sql.program.clock import Ticked
from zodiac_sql.program.state import State
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.edits import Edit


@dataclass(frozen=True, slots=True)
class Basis:
    """What stays as it is while a change is computed."""

    store: Store
    state: State
    """The state before the change."""
    planned: Planned
    """The program after it."""
    types: Mapping[str, tuple[Type | None, ...]]
    datatypes: Datatypes
    functions: Functions
    ids: Mapping[str, int]
    settings: Settings
    cache: StatementCache
    most_rounds: int | None = None
    """After so many rounds of a loop the change is to be made by look-ups."""
    ticked: Ticked | None = None
    """How it moves the clock, if rules say now()."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of the hypernodes so far. Those without work are as before."""

    ranked: dict[int, bool]
    """Which hypernodes have reliable ranks."""
    modules: dict[int, tuple[ModuleRow, ...]]
    """The modules at work in each hypernode."""
    trees: dict[int, tuple[StoredTree, ...]]
    """The decisions for the cyclic rules of each hypernode."""
    inside: dict[tuple[str, int], Edit] = field(default_factory=dict)
    """The edits of tables of modules and trees, by name inside a hypernode and its number."""
    inner: dict[str, Predicate] = field(default_factory=dict)
    """The columns of these tables, by the same names."""
    evaluated: dict[str, HypernodeStats] = field(default_factory=dict)
    """What the hypernodes with work did, by their names."""


@dataclass(frozen=True, slots=True)
class MarkedFacts:
    """What is marked of the facts of a change (maintain/papers/marking.py)."""

    before: Marks | None = None
    """The marks that the previous update made for this one; None unless they still hold."""
    next: Mapping[str, Part] = field(default_factory=dict)
    """The explicit facts that are marked because the next update deletes them, by predicate."""
    derived: dict[tuple[str, int], Part] = field(default_factory=dict)
    """Derived facts that this update has marked, by predicate and hypernode."""

    def relations(self, schema: Schema) -> dict[str, Relation]:
        """The facts that are marked for the next update, by predicate."""
        marked = [*self.next.items(), *((p, part) for (p, _), part in self.derived.items())]
        found: dict[str, Relation] = {}
        for name, part in marked:
            others = found[name].parts if name in found else ()
            found[name] = Relation(schema[name].columns, (*others, part))
        return found


@dataclass(frozen=True, slots=True)
class Workspace:
    """All that the evaluation of a hypernode may need."""

    basis: Basis
    extensions: ChangedExtensions
    outcomes: Outcomes
    marked: MarkedFacts
