"""A change of few facts goes through the hypernodes, in the order of Algorithm 4 (paper 1).

The copies are changed on the way, in a transaction of SQLite: it is rolled back if the change is
declined, or cannot be written to the file.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from zodiac_sql.database.rule_work import RuleWork
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.lookups import moves
from zodiac_sql.lookups.checks import Check
from zodiac_sql.lookups.copies import Copies
from zodiac_sql.lookups.deep import Deep
from zodiac_sql.lookups.groups import Groups
from zodiac_sql.lookups.outcome import Given, Moved, TableEdit, Visited
from zodiac_sql.lookups.statements import Filling, Statements
from zodiac_sql.lookups.tables import DELTA, ENTERED, GONE, GROUPS, LEFT, LOST, MOVED, WON, Copy
from zodiac_sql.lookups.worth import NotLookedUpError
from zodiac_sql.program.state import State
from zodiac_sql.storage.owners import EXPLICIT

ROUNDS = 4
"""After so many rounds one by one, of which none has taken back a candidate, one statement does all
that are left (deep.py)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The predicates that a hypernode reads of which facts left, and entered."""

    left: Collection[str]
    entered: Collection[str]


@dataclass(frozen=True, slots=True)
class Checked:
    """How many candidates there were, and how many of them stay."""

    there: int
    stay: int


@dataclass(slots=True)
class Cascade:
    """One change on its way."""

    state: State
    graph: Hypergraph
    copies: Copies
    most: int
    """How many facts it may move."""
    moved: dict[str, Copy] = field(default_factory=dict)
    """The predicates of which facts may have moved."""
    visited: dict[str, Visited] = field(default_factory=dict)
    """The hypernodes with work, by name, in the order in which they were visited."""
    _rules: RuleWork | None = None
    """What the rules of the hypernode take that is visited; None if it has only one."""
    _moves: dict[str, int] = field(default_factory=dict)
    """How often facts of a predicate have moved."""
    _owners: dict[str, set[int]] = field(default_factory=dict)
    """The owners whose tables of a predicate facts may have moved in or out of."""
    _shown: dict[str, tuple[int, int, bool, bool]] = field(default_factory=dict)
    """What the tables of what left and entered show, by predicate: the owners that count, how often
    facts had moved by then, and whether there are any in each."""

    def begin(self, given: Mapping[str, Given]) -> bool:
        """Let explicit facts come and go. Returns whether all that is deleted was there."""
        copies = self.copies.of(given)
        whole = True
        for name, facts in given.items():
            copy = copies[name]
            bit = copy.bits[EXPLICIT]
            self.copies.database.put(moves.put(copy, LOST), facts.deleted)
            self.copies.database.put(moves.put(copy, WON), facts.inserted)
            absent = self.run(moves.absent(copy), bit=bit)
            whole = whole and not absent
            self.run(moves.known(copy), bit=bit)
            self.take(name, copy, EXPLICIT)
            self.give(name, copy, EXPLICIT)
        return whole

    def go_on(self) -> None:
        """Visit all hypernodes that the change reaches."""
        places = self.graph.places
        waiting: list[int] = []
        pending: set[int] = set()

        def reach(names: Collection[str], after: int) -> None:
            for name in names:
                for reader in self.graph.readers.get(name, ()):
                    place = places[reader.id]
                    if place > after and place not in pending:
                        pending.add(place)
                        heappush(waiting, place)

        reach(list(self.moved), -1)
        while waiting:
            place = heappop(waiting)
            hypernode = self.graph.hypernodes[place]
            reach(self._visit(hypernode), place)

    def _visit(self, hypernode: Hypernode) -> list[str]:
        """Bring one hypernode up to date, if what it reads has changed.

        Returns the predicates of which facts have moved.
        """
        started = time.perf_counter()
        inputs = self._inputs(hypernode)
        if not inputs.left and not inputs.entered:
            return []
        self._rules = RuleWork() if len(hypernode.rules) > 1 else None
        before = dict(self._moves)
        statements = self.copies.statements(self.state, self.graph, hypernode)
        copies = self.copies.of(hypernode.derives)
        if statements.groups is not None:
            visited = self._regroup(hypernode.id, statements.groups, copies, inputs)
        elif hypernode.recursive:
            visited = self._recursive(hypernode, statements, copies, inputs)
        else:
            visited = self._once(hypernode.id, statements, copies, inputs)
        seconds = time.perf_counter() - started
        self.visited[hypernode.name] = replace(visited, seconds=seconds, rules=self._rules)
        return [p for p in hypernode.derives if self._moves.get(p, 0) != before.get(p, 0)]

    def _once(
        self,
        number: int,
        statements: Statements,
        copies: Mapping[str, Copy],
        inputs: Inputs,
    ) -> Visited:
        """Take out what no body derives any more, and put in what one derives newly."""
        lost = self._lost(statements, inputs)
        checked = self._check(statements, copies).there if lost else 0
        for name, copy in copies.items() if lost else ():
            self.take(name, copy, number)
        won = self._won(statements, inputs)
        for name, copy in copies.items() if won else ():
            self.give(name, copy, number)
        return Visited(checked, 0, 0, checked, lost + won, 1, 0.0)

    def _regroup(
        self,
        number: int,
        groups: Groups,
        copies: Mapping[str, Copy],
        inputs: Inputs,
    ) -> Visited:
        """Aggregate the groups anew that are touched."""
        ((name, copy),) = copies.items()
        touched = [
            text
            for names, some in ((inputs.left, groups.left), (inputs.entered, groups.entered))
            for one in names
            for text in some.get(one, ())
        ]
        if not sum(map(self.run, touched)):
            return Visited(0, 0, 0, 0, 0, 1, 0.0)
        lost, won = self.run(groups.lost), self.run(groups.won)
        self.run(moves.stays(copy))
        self.run(moves.known(copy), bit=copy.bits[number])
        self.take(name, copy, number)
        self.give(name, copy, number)
        self.run(moves.empty(copy, GROUPS))
        return Visited(lost, 0, 0, 0, won, 1, 0.0)

    # --- recursion --------------------------------------------------------------------------------

    def _recursive(
        self,
        hypernode: Hypernode,
        statements: Statements,
        copies: Mapping[str, Copy],
        inputs: Inputs,
    ) -> Visited:
        """Take out what has lost its support by ranks, then derive what still follows, and more."""
        number = hypernode.id
        lost = forward = self._lost(statements, inputs)
        checked = iterations = straight = 0
        gone: list[str] = []
        while lost:
            iterations += 1
            check = self._check(statements, copies)
            checked += check.there
            straight = 0 if check.stay else straight + 1
            deep = statements.deep if straight > ROUNDS else None
            if deep is not None:
                self._lose_all(hypernode, deep, copies)
            fallen = [
                name
                for name, copy in copies.items()
                if self.take(name, copy, number, recursive=True)
            ]
            gone += [name for name in fallen if name not in gone]
            lost = 0 if deep is not None else self._all(statements.losing, fallen)
            forward += lost
            self._empty(copies, fallen, DELTA)
        overdeleted = sum(self._count(copies[name], GONE) for name in gone)
        rederived = won = self._all(statements.again, gone)
        won += self._won(statements, inputs)
        self._empty(copies, gone, GONE)
        tops = self.copies.tops
        top = max(tops[name] for name in copies)
        rounds = 0
        while won:
            rounds += 1
            deep = statements.deep if rounds > ROUNDS else None
            if deep is not None and deep.winning is not None:
                forward += self._win_all(hypernode, deep, deep.winning, copies, top)
                break
            forward += won
            top += 1
            grown = [name for name, copy in copies.items() if self.give(name, copy, number, top)]
            tops |= dict.fromkeys(grown, top)
            won = self._all(statements.winning, grown)
            self._empty(copies, grown, DELTA)
        iterations += rounds
        return Visited(checked, overdeleted, rederived, checked, forward, iterations, 0.0)

    def _lose_all(self, hypernode: Hypernode, deep: Deep, copies: Mapping[str, Copy]) -> None:
        """Add to what is lost all that follows from it."""
        self._apply([rule.name for rule in hypernode.rules], deep.losing)
        for name in copies:
            self.run(deep.found[name].into_lost)
        self.run(deep.empty)

    def _win_all(
        self, hypernode: Hypernode, deep: Deep, winning: str, copies: Mapping[str, Copy], top: int
    ) -> int:
        """Put what is won, and all that follows from it, into the hypernode's tables."""
        number = hypernode.id
        found = self._apply([rule.name for rule in hypernode.rules], winning)
        for name, copy in copies.items():
            bit = copy.bits[number]
            self.run(deep.found[name].into_won)
            self.run(moves.note_won(copy))
            given = self.run(deep.found[name].merge, bit=bit, top=top)
            self.run(moves.empty(copy, WON))
            if given:
                self._has_moved(name, copy, number, given)
                self.copies.tops[name] = top + found
        self.run(deep.empty)
        return found

    # --- steps ------------------------------------------------------------------------------------

    def run(self, text: str, **parameters: object) -> int:
        """Run a statement. Raises NotLookedUpError if too many facts have moved."""
        rows = self.copies.database.run(text, parameters)
        if rows > self.most:
            raise NotLookedUpError("it moves too many facts")
        return rows

    def _all(self, steps: Mapping[str, Sequence[Filling]], names: Collection[str]) -> int:
        """Find the heads that some predicates lead to. Returns how many there are."""
        return sum(
            self._apply((step.rule,), step.text) for name in names for step in steps.get(name, ())
        )

    def _apply(self, rules: Sequence[str], text: str) -> int:
        """Run a statement that applies rules, and note what it took if there are others."""
        if self._rules is None:
            return self.run(text)
        started = time.perf_counter()
        rows = self.run(text)
        self._rules.note(rules, time.perf_counter() - started, None, rows)
        return rows

    def _lost(self, statements: Statements, inputs: Inputs) -> int:
        """Find what may be lost, because facts left, or entered what is under a negation."""
        return self._all(statements.lost, inputs.left) + self._all(
            statements.refuted, inputs.entered
        )

    def _won(self, statements: Statements, inputs: Inputs) -> int:
        """Find what is derived newly."""
        return self._all(statements.won, inputs.entered) + self._all(statements.freed, inputs.left)

    def _check(self, statements: Statements, copies: Mapping[str, Copy]) -> Checked:
        """Take back the candidates that are still derived."""
        there = stay = 0
        for name, copy in copies.items():
            candidates = self._count(copy, LOST)
            there += candidates
            for check in statements.checks[name] if candidates else ():
                stay += self._apply((check.rule,), self._way(check, candidates))
        return Checked(there, stay)

    def _way(self, check: Check, candidates: int) -> str:
        """The statement that takes back candidates: one by one, or many together."""
        together = check.together
        if together is None or not together.pays(candidates, 1):
            return check.one_by_one
        values = int(self.copies.database.fetch(together.count_values)[0][0])
        return together.text if together.pays(candidates, values) else check.one_by_one

    def take(self, name: str, copy: Copy, owner: int, recursive: bool = False) -> int:
        """Take what is lost out of an owner's table. Returns how many facts that moves.

        A recursive hypernode notes what is gone, and for the next round what has left.
        """
        bit = copy.bits[owner]
        if not self._count(copy, LOST):
            return 0
        self.run(moves.note_lost(copy))
        if recursive:
            self.run(moves.into_gone(copy))
            self.run(moves.into_delta_lost(copy), bit=bit)
        taken = self.run(moves.clear_bit(copy), bit=bit)
        self.run(moves.empty(copy, LOST))
        self._has_moved(name, copy, owner, taken)
        return taken

    def give(self, name: str, copy: Copy, owner: int, rank: int | None = None) -> int:
        """Put what is won into an owner's table. Returns how many facts that moves.

        A recursive hypernode gives them a `rank`, and notes for the next round what has entered.
        """
        bit = copy.bits[owner]
        if not self._count(copy, WON):
            return 0
        self.run(moves.note_won(copy))
        if rank is not None:
            self.run(moves.into_delta_won(copy))
            given = self.run(moves.set_bit_and_rank(copy), bit=bit, rank=rank)
        else:
            given = self.run(moves.set_bit(copy), bit=bit)
        self.run(moves.empty(copy, WON))
        self._has_moved(name, copy, owner, given)
        return given

    def _has_moved(self, name: str, copy: Copy, owner: int, rows: int) -> None:
        self.moved[name] = copy
        self._owners.setdefault(name, set()).add(owner)
        self._moves[name] = self._moves.get(name, 0) + rows
        if sum(self._moves.values()) > self.most:
            raise NotLookedUpError("it moves too many facts")

    def _count(self, copy: Copy, kind: str) -> int:
        return int(self.copies.database.fetch(moves.count(copy, kind))[0][0])

    def _empty(self, copies: Mapping[str, Copy], names: Collection[str], kind: str) -> None:
        for name in names:
            self.run(moves.empty(copies[name], kind))

    # --- what has moved ---------------------------------------------------------------------------

    def _inputs(self, hypernode: Hypernode) -> Inputs:
        """The predicates that a hypernode reads of which facts left, and entered.

        Of its own, only what is known from outside counts.
        """
        left, entered = set(), set()
        for name in hypernode.reads:
            if name in self.moved:
                own = self.moved[name].bits.get(hypernode.id, 0)
                is_left, is_entered = self.difference(name, own)
                left |= {name} if is_left else set()
                entered |= {name} if is_entered else set()
        return Inputs(left, entered)

    def difference(self, name: str, without: int = 0) -> tuple[bool, bool]:
        """Fill the tables of what left and entered an extension, without an owner's bit."""
        copy = self.moved[name]
        mask, moved = sum(copy.bits.values()) - without, self._moves[name]
        known = self._shown.get(name)
        if known is None or known[:2] != (mask, moved):
            for kind in (LEFT, ENTERED):
                self.run(moves.empty(copy, kind))
            left = self.run(moves.fill_left(copy), mask=mask)
            entered = self.run(moves.fill_entered(copy), mask=mask)
            self._shown[name] = known = (mask, moved, bool(left), bool(entered))
        return known[2], known[3]

    # --- the outcome ------------------------------------------------------------------------------

    def outcome(self) -> dict[str, Moved]:
        """What has moved, by predicate. The copies are then as the next change expects them."""
        found = {}
        for name, copy in self.moved.items():
            self.difference(name)
            left, entered = (
                self.copies.database.fetch(moves.facts(copy, kind)) for kind in (LEFT, ENTERED)
            )
            owners = [owner for owner in copy.bits if owner in self._owners[name]]
            edits = {owner: self._edit(copy, owner) for owner in owners}
            edits = {owner: edit for owner, edit in edits.items() if edit.removed or edit.added}
            found[name] = Moved(left, entered, edits)
            self.run(moves.remove_ghosts(copy))
            for kind in (MOVED, LEFT, ENTERED):
                self.run(moves.empty(copy, kind))
        return found

    def _edit(self, copy: Copy, owner: int) -> TableEdit:
        ranked, bit = owner == copy.recursive, {"bit": copy.bits[owner]}
        return TableEdit(
            self.copies.database.fetch(moves.removed(copy, ranked), bit),
            self.copies.database.fetch(moves.added(copy, ranked), bit),
            ranked,
        )
