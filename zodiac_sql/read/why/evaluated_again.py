"""Ranks of hypernodes that keep none: they are evaluated again.

A table in the file has no reliable ranks after some changes (maintain/contract.py), nor has any of
a hypernode whose other rules feed a closure that is kept as classes. Evaluating the hypernode gives
each fact a rank, the iteration that first derives it, and each pair of a closure the iteration from
which on facts lead from one end to the other. Then there is a derivation from lower ranks, or a
path of facts that have no higher rank and are derived by rules.

That is done on a connection of its own: temporary tables of a Change are still needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Self

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.other_connections import connect_aside
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp_view
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.evaluation import Evaluation
from zodiac_sql.evaluate.operators.classes import closures_at_work
from zodiac_sql.evaluate.registry import evaluate
from zodiac_sql.evaluate.rule_errors import evaluating_all
from zodiac_sql.evaluate.semi_naive import Fixpoint, semi_naive
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import external
from zodiac_sql.program.state import State
from zodiac_sql.read.verify.expected import as_evaluated
from zodiac_sql.read.why.asked import Below, Instance, Key, Known, Place, instances, places
from zodiac_sql.read.why.best_ranks import every_best, ranked_best
from zodiac_sql.read.why.class_history import History, history_of, remembered
from zodiac_sql.read.why.descents import Descents
from zodiac_sql.read.why.paths import (
    MOST_EDGES,
    ClosedPredicate,
    Path,
    PathEdges,
    all_edges,
    edges_near,
    tree_of_edges,
)
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.relations import Part, Relation, part_query, rank_of
from zodiac_sql.storage.sources import Sources, inside, own

By = Instance | Path


@dataclass(slots=True)
class Order:
    """A hypernode that was evaluated again, and those of its facts that wait for a derivation."""

    hypernode: int
    known: Known
    """What was known, with the hypernode's tables as they were found now, with ranks."""
    histories: Mapping[str, History]
    """Those of the closures that other rules of the hypernode feed."""
    closures: Mapping[str, ClosedPredicate]
    waiting: dict[Key, int] = field(default_factory=dict)
    """Facts with their ranks."""
    _after: Stage | None = None
    _descents: Descents | None = None

    def take(self, predicate: str, facts: Sequence[Key]) -> bool:
        """Let facts wait. Returns whether the hypernode derives them all."""
        if history := self.histories.get(predicate):
            ranks = history.ranks(facts)
        else:
            ranks = self._stored(predicate, facts)
        self.waiting |= ranks
        return len(ranks) == len(facts)

    def _stored(self, predicate: str, facts: Sequence[Key]) -> dict[Key, int]:
        found = places(self.known, {predicate: facts})
        return {
            fact: place.rank
            for fact, there in found.items()
            for place in there
            if place.owner == self.hypernode and place.rank is not None
        }

    def next(self) -> dict[Key, By] | None:
        """Derivations of waiting facts: of all, or if closures are fed, of those of highest rank.

        None if there is no derivation for one of them. Unless closures are fed, there are also
        derivations of all facts of the hypernode further down.
        """
        if self.waiting and not self.histories:
            self._descents = self._descents or Descents(self.known, ())
            self.waiting |= self._descents.go_down(self.hypernode, self.waiting)
        highest = max(self.waiting.values(), default=0)
        chosen = {f: r for f, r in self.waiting.items() if r == highest or not self.histories}
        found: dict[Key, By] = {}
        for predicate in dict.fromkeys(name for name, _ in chosen):
            some = {fact: rank for fact, rank in chosen.items() if fact[0] == predicate}
            if predicate in self.histories:
                found |= self._paths(predicate, list(some), highest)
            found |= self._by_rules(predicate, {f: r for f, r in some.items() if f not in found})
        for fact in chosen:
            del self.waiting[fact]
        return found if len(found) == len(chosen) else None

    def _paths(self, predicate: str, facts: Sequence[Key], rank: int) -> dict[Key, By]:
        """Paths for the facts of a rank that no rule had derived by then."""
        name = external(predicate)
        fed = self._stored(name, [(name, values) for _, values in facts])
        stage = self._stage(rank)
        found: dict[Key, By] = {}
        for fact in facts:
            derived = fed.get((name, fact[1]), rank + 1) <= rank
            if not derived and (path := stage.path(fact)):
                found[fact] = path
        return found

    def _by_rules(self, predicate: str, facts: Mapping[Key, int]) -> dict[Key, By]:
        found: dict[Key, By] = {}
        known = self.known
        if self._descents:
            read = {fact: self._descents.way(self.hypernode, fact) for fact in facts}
            found |= {fact: way[0] for fact, way in read.items() if way}
        if self.histories and facts:
            known = self._stage(max(facts.values()) - 1).known
        for rule in self._rules(predicate):
            left = [fact for fact in facts if fact not in found]
            if not left:
                break
            below = Below(self.hypernode, tuple(facts[fact] for fact in left))
            several = instances(known, rule, left, 1, below)
            found |= {f: some[0] for f, some in zip(left, several, strict=True) if some}
        return found

    def _rules(self, predicate: str) -> list[Rule]:
        """The rules that derive a predicate, and do not close it if it is kept as classes."""
        taken = self.closures[predicate].rules if predicate in self.histories else ()
        rules = self.known.graph[self.hypernode].rules
        return [r for r in rules if r.head.predicate == predicate and r not in taken]

    def _stage(self, iteration: int) -> Stage:
        if self._after is None or self._after.iteration != iteration:
            sources = own(self.known.sources)
            for predicate, history in self.histories.items():
                sources.put(predicate, self.hypernode, (history.after(iteration),))
                name = external(predicate)
                parts = sources.derived[name].get(self.hypernode, ())
                earlier = tuple(self._earlier(name, part, iteration) for part in parts)
                sources.put(name, self.hypernode, earlier)
            known = replace(self.known, sources=sources)
            self._after = Stage(iteration, known, self.closures)
        return self._after

    def _earlier(self, name: str, part: Part, iteration: int) -> Part:
        """The facts of a table that some iterations have found."""
        rows = part_query(part, Relation(self.known.schema[name].columns, ()))
        rows = rows.where(rank_of("t") <= exp.Literal.number(iteration))
        view = f"after_{part.table}"
        store = self.known.store
        store.run(create_temp_view(view, rows))
        count = exp.select(exp.Count(this=exp.Star())).from_(rows.subquery("n", copy=False))
        return Part("temp", view, store.count(count))


@dataclass(frozen=True, slots=True)
class Stage:
    """What was known of a hypernode after an iteration."""

    iteration: int
    known: Known
    closures: Mapping[str, ClosedPredicate]
    whole: dict[str, PathEdges | None] = field(default_factory=dict)
    """All edges of a closure; None where they are too many."""
    pieces: dict[str, list[PathEdges]] = field(default_factory=dict)
    """Then the edges of some classes."""

    def path(self, fact: Key) -> Path | None:
        """A path of facts that rules had derived by then, or that are known from outside."""
        return self._graph(fact).shortest(fact)

    def _graph(self, fact: Key) -> PathEdges:
        predicate, (start, _) = fact
        closure = self.closures[predicate]
        if predicate not in self.whole:
            self.whole[predicate] = all_edges(self.known, closure, MOST_EDGES)
        if whole := self.whole[predicate]:
            return whole
        pieces = self.pieces.setdefault(predicate, [])
        for piece in pieces:
            if start in piece.links:
                return piece
        near = edges_near(self.known, closure, fact) or tree_of_edges(self.known, closure, start)
        pieces.append(near)
        return near


@dataclass(slots=True)
class Again:
    """The hypernodes that were evaluated again. Use `with`: their tables go at the end."""

    known: Known
    state: State
    closures: Mapping[tuple[int, str], ClosedPredicate]
    passed: bool = False
    """Whether values count that were the best of their group for a time (MIN or MAX in heads)."""
    orders: dict[int, Order] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)
    _store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def take(self, hypernode: int, predicate: str, facts: Sequence[Key]) -> bool:
        """Let facts of a recursive hypernode wait for derivations. Returns whether it has any.

        The hypernode is evaluated when it is first asked for.
        """
        if not self.known.graph[hypernode].recursive:
            return False
        if hypernode not in self.orders:
            self.orders[hypernode] = self._evaluated(hypernode)
        return self.orders[hypernode].take(predicate, facts)

    def closes(self, hypernode: int, predicate: str) -> bool:
        """Whether a hypernode was evaluated that keeps a predicate as classes."""
        return hypernode in self.orders and predicate in self.orders[hypernode].histories

    def located(self, facts: Iterable[Key]) -> dict[Key, list[Place]]:
        """Where those of some facts are that may not be in the file, as others beat them."""
        best = {name: h for h in self.orders for name in self.known.graph[h].bests}
        return {fact: [Place(best[fact[0]], None)] for fact in facts if fact[0] in best}

    def waits(self) -> bool:
        """Whether facts wait for derivations."""
        return any(order.waiting for order in self.orders.values())

    def _aside(self) -> Store:
        if self._store is None:
            self._store = self._open.enter_context(connect_aside(self.known.store))
            dictionary.prepare(self._store)
        return self._store

    def _inner(self, number: int) -> Inner:
        """A hypernode as it is evaluated, but without modules that give facts two ranks."""
        row = next(row for row in self.state.hypernodes if row.id == number)
        modules = tuple(one for one in row.modules if one.parted or not one.fed)
        return as_evaluated(self.state, self.known.graph[number], replace(row, modules=modules))

    def _table(self, around: Sources, predicate: str, number: int) -> Relation:
        """A hypernode's table of a predicate."""
        parts = around.derived.get(predicate, {}).get(number, ())
        return Relation(self.known.schema[predicate].columns, tuple(p for p in parts if p.rows))

    def _evaluated(self, number: int) -> Order:
        store, inner = self._aside(), self._inner(number)
        schema = {**self.known.schema, **inner.schema}
        around = inside(self.known.sources, inner, number)
        context = replace(
            self.known.context(lambda name, version: around.relation(name, without=number)),
            columns={name: tuple(c.meant for c in p.columns) for name, p in schema.items()},
        )
        runner = Runner(store)
        work = Evaluation(runner, inner.forms, schema, context, inner.rows)
        closures = closures_at_work(work)
        kept = {name: remembered(closure) for name, closure in closures.items()}
        with evaluating_all(store, inner.hypernode, self.known.sources):
            if inner.hypernode.bests and self.passed:
                fixpoint = every_best(store, inner.hypernode, schema, context)
            elif inner.hypernode.bests:
                there = {name: self._table(around, name, number) for name in inner.hypernode.bests}
                fixpoint = ranked_best(store, inner.hypernode, schema, context, there)
            elif kept:
                fixpoint = semi_naive(runner, inner.hypernode, schema, context, kept)
            else:
                fixpoint, _ = evaluate(Evaluation(runner, inner.forms, schema, context))
        sources = _with(around, inner, number, fixpoint)
        known = replace(
            self.known, store=store, schema=schema, sources=sources, cache=StatementCache()
        )
        histories = {name: history_of(one) for name, one in kept.items()}
        mine = {name: c for (h, name), c in self.closures.items() if h == number}
        return Order(number, known, histories, mine)


def _with(around: Sources, inner: Inner, number: int, fixpoint: Fixpoint) -> Sources:
    """All tables, with those that a hypernode has now."""
    sources = own(around)
    for name in (*inner.hypernode.derives, *(row.predicate for row in inner.rows)):
        part = fixpoint.parts.get(name)
        sources.put(name, number, (part,) if part else ())
    return sources
