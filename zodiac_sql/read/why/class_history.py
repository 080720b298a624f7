"""The classes of the nodes of a closed relation, as ranks of its hypernode go.

While a hypernode is evaluated, classes only grow together. So a pair of nodes is related from one
iteration on, and what is derived from the pair comes later: that is the rank of the pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import create_temp, create_temp_view, parameter, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.why.asked import Key
from zodiac_sql.rewrite.closures.module import NODE
from zodiac_sql.sql.class_pairs import Pairs
from zodiac_sql.sql.relations import Part, Reading, Relation

_FOREVER = 2**62

_CLASSES = (NODE, "class", "loop")


def _columns(*names: str) -> list[exp.Column]:
    return [exp.column(name, quoted=True) for name in names]


@dataclass
class ClosureHistory(Closure):
    """A relation that is closed, iteration by iteration, and remembers what it has been."""

    iteration: int = 0

    def add(self, given: Relation | None, fed: Relation | None, rank: int = 0) -> None:
        """Connect nodes, and note which of them are in other classes now."""
        super().add(given, fed)
        self.iteration = rank
        changes = [
            exp.NullSafeNEQ(this=now, expression=before)
            for now, before in zip(
                _columns("class", "loop"), _columns("prev", "loop_prev"), strict=True
            )
        ]
        moved = self._members().where(exp.or_(*changes))
        self.store.run(exp.insert(moved, temp_table(_history(self))))

    def begin(self) -> None:
        """Note the classes that nodes have because of what is given."""
        self.store.run(create_temp(_history(self), self._members()))

    def _members(self) -> exp.Select:
        since = exp.cast(exp.Literal.number(self.iteration), "BIGINT").as_("since", quoted=True)
        query = exp.select(*_columns(*_CLASSES), since).from_(temp_table(self.partition.name))
        return query.where(exp.not_(exp.column("class", quoted=True).is_(exp.null())))


def _history(closure: Closure) -> str:
    return f"history_{closure.stem}"


def remembered(closure: Closure) -> ClosureHistory:
    """A relation to which nothing was added but what is given."""
    found = ClosureHistory(
        row=closure.row,
        columns=closure.columns,
        stem=closure.stem,
        given=closure.given,
        partition=closure.partition,
        whole=closure.whole,
    )
    found.begin()
    return found


@dataclass(frozen=True, slots=True)
class History:
    """When nodes were in which classes, in a table: from one iteration until another begins."""

    store: Store
    stem: str
    node: Type
    covers: bool
    unequal: bool

    @property
    def _spans(self) -> str:
        return f"spans_{self.stem}"

    def ranks(self, facts: Sequence[Key]) -> dict[Key, int]:
        """The iteration from which on each fact holds, if it does."""
        nodes = list({node for _, values in facts for node in values})
        text = _spans_of_nodes(self._spans, self.node)
        spans: dict[object, list[tuple[object, bool, int, int]]] = defaultdict(list)
        for node, *span in self.store.rows(text, {"nodes": nodes}):
            spans[node].append(tuple(span))
        found = {}
        for fact in facts:
            first, second = fact[1]
            ranks = [
                max(since, begun)
                for class_, loop, since, until in spans[first]
                for other, _, begun, ended in spans[second]
                if class_ == other and since < ended and begun < until
                and (first != second or loop or not self.unequal)
            ]  # fmt: skip
            if ranks:
                found[fact] = min(ranks)
        return found

    def after(self, iteration: int) -> Part:
        """The relation as it was after an iteration; the next call takes it away."""
        now = exp.Literal.number(iteration)
        since, until = _columns("since", "until")
        query = exp.select(*_columns(*_CLASSES)).from_(temp_table(self._spans))
        name = f"after_{self.stem}"
        reading = Reading(pairs=Pairs(unequal=self.unequal))
        self.store.run(create_temp_view(name, query.where(since <= now, until > now.copy())))
        return Part("temp", name, 1, read=reading, covers=self.covers)


@lru_cache(maxsize=100)
def _spans_of_nodes(spans: str, node: Type) -> str:
    """A query of the spans of nodes, which are given."""
    nodes = exp.func("unnest", parameter("nodes"), dialect="duckdb")
    named = exp.select(exp.cast(nodes, SQL_TYPES[node]))
    query = exp.select(*_columns(*_CLASSES, "since", "until")).from_(temp_table(spans))
    return render(query.where(exp.column(NODE, quoted=True).isin(query=named)))


def history_of(closure: ClosureHistory) -> History:
    """What a relation has been, now that it is complete."""
    (since, node) = _columns("since", NODE)
    following = exp.Window(
        this=exp.func("lead", since, dialect="duckdb"),
        partition_by=[node],
        order=exp.Order(expressions=[exp.Ordered(this=since.copy())]),
    )
    until = exp.func("coalesce", following, exp.Literal.number(_FOREVER))
    query = exp.select(*_columns(*_CLASSES, "since"), until.as_("until", quoted=True))
    kind = closure.columns[0].type
    assert kind is not None
    history = History(
        closure.store, closure.stem, kind, closure.row.covers, closure.partition.unequal
    )
    spans = create_temp(history._spans, query.from_(temp_table(_history(closure))))
    closure.store.run(spans)
    return history
