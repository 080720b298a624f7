"""The predicates and prefixes of a program, as the verbs of one update have settled them so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from zodiac_sql.database.store import Store
from zodiac_sql.errors import Problem
from zodiac_sql.language.schema import Predicate, Staged, resolve
from zodiac_sql.language.syntax import Declaration
from zodiac_sql.program.build import Names, SqlNames, declare, with_staged, with_told
from zodiac_sql.program.state import State
from zodiac_sql.storage.catalog import others_names
from zodiac_sql.storage.triples import TRIPLE, whose_view


@dataclass(slots=True)
class SchemaEdits:
    """What an update makes of predicates and prefixes, before its rules are checked."""

    provisional: Mapping[str, Predicate]
    """The predicates after the update, as far as the verbs have settled them. It is the schema of
    the state as long as they have settled nothing new."""
    prefixes: dict[str, str]
    sql_names: SqlNames
    others: set[str]
    """Names, in lower case, of tables and views in main that belong to somebody else. They are
    looked up for the first new predicate."""
    widened: list[str] = field(default_factory=list)
    """What is said of columns that become wider by themselves."""
    _own: dict[str, Predicate] | None = None
    """The predicates, once they are the update's own."""
    _by_sql_name: dict[str, str] | None = None

    def meant(self, predicate: str) -> str:
        """The predicate that a user's name for it means."""
        if predicate in self.provisional:
            return predicate
        if self._by_sql_name is None:
            self._by_sql_name = {known.sql_name: name for name, known in self.provisional.items()}
        return resolve(predicate, self.provisional, self.prefixes, self._by_sql_name)

    def names(self) -> Names:
        """The function that gives new predicates their SQL names."""
        return lambda name: self.sql_names.name(name, self.prefixes)

    def add_prefixes(self, prefixes: Iterable[tuple[str, str]]) -> None:
        """Let prefixes of a text count from now on, also those that stand for something else."""
        self.prefixes.update(prefixes)
        self._by_sql_name = None

    def name_columns(self, declaration: Declaration) -> list[Problem]:
        """Settle what a declaration says of its predicate. Returns what contradicts it."""
        self.provisional, problems = declare(self.provisional, declaration, self.names())
        self._own = None
        return problems

    def settle_by(self, staged: Staged) -> None:
        """Settle the columns of a predicate by facts that enter."""
        name = staged.predicate
        known = with_staged(
            self.provisional,
            name,
            columns=staged.columns,
            datatypes=staged.datatypes,
            is_named=staged.named,
            names_=self.names(),
        )
        if self.provisional.get(name) != known:
            self._settle(known)

    def retype(self, known: Predicate) -> None:
        """Note that columns of a predicate get other types."""
        self._settle(known)

    def tell_of(self, staged: Staged) -> None:
        """Note that a predicate is to be there, although it has no facts."""
        found = with_told(self.provisional, staged, self.names())
        if self.provisional.get(found.name) != found:
            self._settle(found)

    def declare(self, predicate: str) -> None:
        """Note that a predicate is to be there with the types of its columns."""
        known = self.provisional[predicate]
        if not known.declared:
            self._settle(replace(known, declared=True))

    def _settle(self, known: Predicate) -> None:
        """Note what a verb has settled of a predicate."""
        if self._own is None:
            self._own = dict(self.provisional)
            self.provisional = self._own
        self._own[known.name] = known
        if self._by_sql_name is not None:
            self._by_sql_name[known.sql_name] = known.name


def no_schema_edits(store: Store, state: State) -> SchemaEdits:
    """The predicates and prefixes of a state, of which nothing has been edited yet."""
    others: set[str] = set()
    sql_names = SqlNames(
        partial(_taken_names, store, state, others), partial(_makes_way, store, others)
    )
    return SchemaEdits(state.schema, dict(state.prefixes), sql_names, others)


def _taken_names(store: Store, state: State, others: set[str]) -> set[str]:
    """The SQL names that no new predicate can have, in lower case. `others` gets some of them."""
    others |= others_names(store, state.schema)
    return {p.sql_name.lower() for p in state.schema.values()} | others


def _makes_way(store: Store, others: set[str], name: str) -> bool:
    """Whether a name is that of our view of triples, which is not one of `others` then."""
    if name != TRIPLE or whose_view(store) != "ours":
        return False
    others.discard(name)
    return True
