"""What is copied of a program's facts, and the statements that look them up.

Copies are right as long as nobody but the cascade (cascade.py) changes what they were made from.
Which state of the file they show is known by its row counts, of which each state that differs in
facts has others, and by what the catalog has of hypernodes.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

from zodiac_sql.cost.calibration import INDEXED
from zodiac_sql.database.settings import memory_limit_of
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.lookups import moves
from zodiac_sql.lookups.body import Scope
from zodiac_sql.lookups.groups import is_one_large_group
from zodiac_sql.lookups.loading import (
    Copying,
    begin_loading,
    have_same_tables,
    load_part,
    size_of,
    unload,
)
from zodiac_sql.lookups.room import Room, room_of
from zodiac_sql.lookups.rule_forms import RuleForm, forms_of, is_copied
from zodiac_sql.lookups.side_database import SideDatabase, TooManyStepsError
from zodiac_sql.lookups.statements import Compiler, Statements
from zodiac_sql.lookups.tables import Copy, index, render
from zodiac_sql.lookups.values import UnknownValueError
from zodiac_sql.lookups.worth import (
    LookupLimits,
    NotEarnedError,
    NotLookedUpError,
    Worth,
    limits_of,
)
from zodiac_sql.names import given
from zodiac_sql.program.state import HypernodeRow, State


class NotCopiedError(Exception):
    """Copies must be made first, which cannot be done inside a change."""

    def __init__(self, predicates: Iterable[str], hypernode: Hypernode | None = None) -> None:
        super().__init__()
        self.predicates = [*predicates]
        self.hypernode = hypernode
        """The hypernode that reads and derives them, if its statements must be made, too."""


@dataclass(frozen=True, slots=True)
class _Made:
    """The statements of a hypernode, and what they were made from."""

    forms: tuple[RuleForm, ...]
    copies: Mapping[str, Copy]
    statements: Statements


class _NothingWritten(Exception):
    """A change was only asked for: the transaction is undone."""


class Copies:
    """The copies of a program's facts.

    When its rules change, those stay that a rule still reads, and whose tables belong to the same
    hypernodes as before.
    """

    def __init__(self) -> None:
        self._rows: Mapping[tuple[str, str], int] | None = None
        self._hypernodes: Sequence[HypernodeRow] = ()
        self._schema: Schema | None = None
        self.tops: dict[str, int] = {}
        """A rank that no fact of a copied predicate exceeds."""
        self.worth = Worth()
        self._database: SideDatabase | None = None
        self._memory_limit: int | None = None
        self._copied: dict[str, Copy] = {}
        self._loading: dict[str, Copying] = {}
        """Those that are not complete yet."""
        self._sizes: dict[str, int] = {}
        """How many rows of the file each copy was made of."""
        self._refused: set[str] = set()
        """The predicates that cannot be copied."""
        self._numbers: dict[str, int] = {}
        self._room = Room()
        """What there was room for when copies were made last."""
        self._forms: dict[int, tuple[RuleForm, ...] | None] = {}
        self._made: dict[int, _Made] = {}
        self._indexes: set[tuple[str, tuple[int, ...]]] = set()

    @property
    def database(self) -> SideDatabase:
        """Where the copies are."""
        if self._database is None:
            self._database = SideDatabase(self._memory_limit)
        return self._database

    # --- a change ---------------------------------------------------------------------------------

    @contextmanager
    def changing(self, state: State, most_steps: int) -> Iterator[Callable[[State], None]]:
        """A transaction of SQLite, in which the copies show a state of the file.

        It yields the function that tells the state that they show afterwards: if it is not called,
        they show the same as before. Raises NotLookedUpError where it takes more steps, or its disk
        is full.
        """
        after: list[State] = []
        try:
            self._show(state)
            with self.database.transaction(most_steps):
                yield after.append
                if not after:
                    raise _NothingWritten
        except _NothingWritten:
            return
        except TooManyStepsError as error:
            raise NotLookedUpError("it looks at too many facts") from error
        except UnknownValueError as error:
            raise NotLookedUpError("it computes a value that SQLite does not know") from error
        except sqlite3.OperationalError as error:
            self.close()
            if not after:
                raise NotLookedUpError("SQLite failed") from error
            return  # the change is in the file, so it must not fail any more
        if after:
            self._note(after[-1])

    def follow(
        self,
        before: State,
        after: State,
        touched: Mapping[str, int],
        moved: Callable[[str], Moves | None],
        in_rules: Collection[str],
        few: int,
    ) -> None:
        """Show what was changed without the copies, by the rows that moved in tables of predicates.

        So `few` rows are followed whatever has been saved. A predicate of which that is not known
        goes, and one where it would take too long, and one that is not in the rules any more:
        nobody will tell what becomes of it.
        """
        try:
            if not self._shows(before):
                self.clear()
            if before.hypernodes is not after.hypernodes or before.schema is not after.schema:
                self._keep_those_of(before, after, in_rules)
            rows = 0
            for name in sorted(self._there.keys() & touched.keys(), key=touched.__getitem__):
                rows += touched[name]
                is_few = rows <= few
                pays = is_few or self._pays_to_follow(name, touched[name])
                moves_ = moved(name) if pays else None
                if moves_ is None:
                    self._drop(name)
                    continue
                self._move(name, self._there[name], moves_)
        except sqlite3.OperationalError:  # the change is in the file, so it must not fail any more
            self.close()
        self._note(after)

    def _pays_to_follow(self, name: str, rows: int) -> bool:
        """Whether a copy, complete or not, is to show what has moved in so many of its rows."""
        size, loading = self._sizes[name], self._loading.get(name)
        if loading is None:
            return self.worth.pays_to_follow(rows, size)
        return self.worth.pays_to_go_on(rows, size * loading.done // loading.parts)

    def note_moved(self, moved: Mapping[str, int], few: int) -> None:
        """Note of which predicates another way has moved more facts than is looked up."""
        for name, facts in moved.items():
            if facts > few:
                self.worth.prices.moved_much(name)

    def _keep_those_of(self, before: State, after: State, in_rules: Collection[str]) -> None:
        """Drop the copies of predicates that are in no rule now, or in other tables: those of other
        hypernodes, or with other columns, as the first facts may give them.
        """
        for name in self._there:
            if name not in in_rules or not have_same_tables(name, before, after):
                self._drop(name)
        self._refused.clear()
        self.worth.forget_failures()

    def _move(self, name: str, copy: Copy, moved: Moves) -> None:
        """Bring what has moved to a copy.

        Its highest rank is not looked for again: that would read the whole copy, and one may be
        noted that no fact has any more.
        """
        with self.database.transaction():
            for owner, (removed, added) in moved.items():
                bit, ranked = copy.bits[owner], owner == copy.recursive
                if ranked and name in self.tops:
                    ranks = [rank for row in added if isinstance(rank := row[-1], int)]
                    self.tops[name] = max(self.tops[name], *ranks, 0)
                self.database.put(moves.take_one(copy), [(bit, *row) for row in removed])
                rows = [(*row[: copy.arity], bit, row[-1] if ranked else None) for row in added]
                self.database.put(moves.give_one(copy, ranked), rows)
            for removed, _ in moved.values():
                self.database.put(moves.remove_ghost(copy), removed)

    def _find_top(self, name: str, copy: Copy) -> None:
        """Find the highest rank of a copy."""
        if copy.recursive is not None:
            highest = self.database.fetch(moves.highest(copy))[0][0]
            self.tops[name] = max(0, highest or 0)

    def _shows(self, state: State) -> bool:
        """Whether the copies are those of a state."""
        return self._rows is state.rows and self._hypernodes is state.hypernodes

    def _note(self, state: State) -> None:
        """Note which state the copies show."""
        same = self._hypernodes is state.hypernodes and self._schema is state.schema
        if not same:  # other rules, modules or types may be at work
            self._forms.clear()
            there = {row.id for row in state.hypernodes}
            self._made = {number: made for number, made in self._made.items() if number in there}
        self._rows, self._hypernodes = state.rows, state.hypernodes
        self._schema = state.schema

    def _show(self, state: State) -> None:
        """Show a state, by none of the copies if they are those of another one."""
        if not self._shows(state):
            self.clear()
            self._note(state)

    def close(self) -> None:
        """Forget all copies."""
        self._copied.clear()
        self._loading.clear()
        self._sizes.clear()
        self._indexes.clear()
        self.tops.clear()
        self._rows = None
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def clear(self) -> None:
        """Forget all copies, because they may be wrong."""
        for name in self._there:
            self._drop(name)

    @property
    def _there(self) -> dict[str, Copy]:
        """All copies, complete or not."""
        return {**{name: one.copy for name, one in self._loading.items()}, **self._copied}

    def _drop(self, name: str) -> None:
        copy = self._there[name]
        self.worth.prices.dropped(name, self._sizes.pop(name, 0))
        self._copied.pop(name, None)
        self._loading.pop(name, None)
        unload(self.database, copy)
        self._indexes = {(other, places) for other, places in self._indexes if other != name}
        self.tops.pop(name, None)

    # --- what there is ----------------------------------------------------------------------------

    def forms(
        self, state: State, graph: Hypergraph, hypernode: Hypernode
    ) -> tuple[RuleForm, ...] | None:
        """The rules of a hypernode if they can be applied by look-ups, else None."""
        number = hypernode.id
        if number not in self._forms:
            row = next(row for row in state.hypernodes if row.id == number)
            found = forms_of(graph, hypernode, row, state.schema, state.functions)
            made = self._made.get(number)
            # If other rules have changed, they are equal: then later comparisons are quick.
            self._forms[number] = made.forms if made and made.forms == found else found
        return self._forms[number]

    def of(self, names: Collection[str]) -> dict[str, Copy]:
        """The copies of predicates. Raises NotCopiedError."""
        if any(name not in self._copied for name in names):
            raise NotCopiedError(names)
        return {name: self._copied[name] for name in names}

    def statements(self, state: State, graph: Hypergraph, hypernode: Hypernode) -> Statements:
        """The statements of a hypernode, for which all copies are there.

        Raises NotCopiedError, or NotLookedUpError if its rules are not looked up.
        """
        if self.forms(state, graph, hypernode) is None:
            raise NotLookedUpError(f"{hypernode.name} has rules that are not looked up")
        found = self._statements(hypernode)
        if found is None or not found.lookups <= self._indexes:
            raise NotCopiedError(_predicates(hypernode), hypernode)
        return found

    def _statements(self, hypernode: Hypernode) -> Statements | None:
        """The statements of a hypernode, if they were made of its rules and of the copies."""
        made = self._made.get(hypernode.id)
        if made is None or made.forms != self._forms[hypernode.id]:
            return None
        same = all(self._copied.get(name) is copy for name, copy in made.copies.items())
        return made.statements if same else None

    # --- making copies ----------------------------------------------------------------------------

    def is_to_be_tried(self, state: State, kind: Hashable) -> bool:
        """Whether a change of a kind is to be tried (worth.py)."""
        return self.worth.is_to_be_tried(kind, partial(self._may_copy, state))

    def _may_copy(self, state: State, predicates: Iterable[str]) -> bool:
        """Whether the copies of predicates can be begun, or go on."""
        for name, size in self._missing(state, predicates).items():
            loading = self._loading.get(name)
            if loading is None and not self.worth.may_begin(name, size):
                return False
            if (
                loading is not None
                and self._price_of_part(name, size, loading.parts) > self.worth.earned
            ):
                return False
        return True

    def _price_of_part(self, name: str, size: int, parts: int) -> float:
        return self.worth.prices.of(name, size) / parts

    def limits(self, kind: Hashable) -> LookupLimits:
        """What a change of a kind may do."""
        limits = limits_of(self.worth.usual(kind))
        return replace(limits, moved=min(limits.moved, max(limits_of(0).moved, self._room.moved)))

    def why_impossible(self, state: State, graph: Hypergraph, predicates: Iterable[str]) -> str:
        """Why a hypernode that reads one of the predicates cannot be looked up; empty if all can.

        Such a change is declined before anything is copied for it.
        """
        for hypernode in {h.id: h for p in predicates for h in graph.readers.get(p, ())}.values():
            forms = self.forms(state, graph, hypernode)
            if forms is None:
                return f"{hypernode.name} has rules that are not looked up"
            grouped = (form.grouped for form in forms if form.grouped is not None)
            if any(is_one_large_group(one, partial(size_of, state)) for one in grouped):
                return f"{hypernode.name} aggregates a large group"
        return ""

    def _missing(self, state: State, predicates: Iterable[str]) -> dict[str, int]:
        """How many facts those predicates have that are not copied yet."""
        return {name: size_of(state, name) for name in predicates if name not in self._copied}

    def make(self, store: Store, state: State, asked: NotCopiedError) -> None:
        """Make copies. Raises NotLookedUpError if they cannot be made, or are not earned yet."""
        sizes = self._missing(state, asked.predicates)
        if not self._refused.isdisjoint(sizes):
            raise NotLookedUpError("some facts cannot be copied")
        self._memory_limit = memory_limit_of(store.file.settings)
        self._room = room_of(store)
        if sum({**self._sizes, **sizes}.values()) > self._room.facts:
            raise NotLookedUpError("there are too many facts to copy")
        try:
            for name, size in sorted(sizes.items()):
                self._load(store, state, name, size)
            if asked.hypernode is not None:
                self._compile(state, asked.hypernode)
        except sqlite3.OperationalError as error:
            self.close()  # its disk is full, perhaps
            raise NotLookedUpError("SQLite failed") from error

    def _load(self, store: Store, state: State, name: str, size: int) -> None:
        """Go on copying a predicate. Raises NotLookedUpError if it is not complete then."""
        if not is_copied(state.schema, name):
            self._refuse(name)
        known = state.schema[name]
        loading = self._loading.get(name)
        if loading is None and not self.worth.may_begin(name, size):
            raise NotEarnedError([name])
        parts = loading.parts if loading else self.worth.parts_of(size)
        while loading is None or not loading.is_complete:
            price = self._price_of_part(name, size, parts)
            self.worth.spend(name, price)
            started = time.perf_counter()
            loading = loading or self._begin_loading(store, state, known, parts)
            load_part(store, state, self.database, known, loading)
            if parts > 1:
                self.worth.took(price, time.perf_counter() - started)
        self._find_top(name, loading.copy)
        self.worth.prices.copied(name)
        # Last: an interruption may come before, and then it is not there.
        self._copied[name] = loading.copy
        del self._loading[name]

    def _begin_loading(self, store: Store, state: State, known: Predicate, parts: int) -> Copying:
        number = self._numbers.setdefault(known.name, len(self._numbers))
        found = begin_loading(store, state, self.database, known, number, parts)
        if found is None:
            self._refuse(known.name)
        self._loading[known.name] = found
        self._sizes[known.name] = size_of(state, known.name)
        return found

    def _refuse(self, name: str) -> NoReturn:
        self._refused.add(name)
        raise NotLookedUpError(f"{name} cannot be copied")

    def _compile(self, state: State, hypernode: Hypernode) -> None:
        """Make the statements of a hypernode, and the indexes that they use."""
        found = self._statements(hypernode)
        if found is None:
            copies = self.of(_predicates(hypernode))
            recursive = frozenset(hypernode.derives if hypernode.recursive else ())
            outside = {given(name): name for name in hypernode.derives}
            scope = Scope(hypernode.id, recursive, copies, state.ids, outside)
            forms = self._forms[hypernode.id] or ()
            found = Compiler(scope).compile(forms)
            if found.deep is not None:
                self.database.run(found.deep.creation)
            self._made[hypernode.id] = _Made(forms, copies, found)
        for name, places in found.lookups - self._indexes:
            if places != tuple(range(len(places))):  # else the key is an index
                self.worth.take(name, INDEXED * self._sizes[name])
                self.database.run(render(index(self._copied[name], places)))
            self._indexes.add((name, places))


Moves = Mapping[int, tuple[Sequence[Sequence[object]], Sequence[Sequence[object]]]]
"""By owner, the rows that went out of a table of a predicate, and those that came in."""


def _predicates(hypernode: Hypernode) -> set[str]:
    return {*hypernode.reads, *hypernode.derives}
