"""A transitive relation kept as strongly connected components, evaluated and compared.

`members` is a temporary table of nodes with the class of each, `between` one of the pairs of
classes that the relation has. Compared with what was there before the change, each node also has
its class from then, and a group: nodes of a group were together and are together. So the facts that
entered and left are pairs of groups, and their number is known without making them.

A class keeps its number if most of it stays together, so few rows of the file change.

Tables that steps work with have fixed names, so that their statements are constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.cost.components import (
    LINKS,
    Components,
    components_of,
    components_of_links,
    numbered,
)
from zodiac_sql.database.statements import create_temp, create_temp_view, drop, rename, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.closure import MEMBERS, links
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.rewrite.closures.module import FIRST, NODE, SECOND
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.class_pairs import Between, Pairs
from zodiac_sql.sql.relations import Part, Reading, Relation, table
from zodiac_sql.storage.edits import Delta

_FOUND = """
CREATE OR REPLACE TEMP TABLE "zodiac$carried" AS
SELECT n.node, CAST(f.class AS BIGINT) AS class
FROM "zodiac$nodes" AS n JOIN "zodiac$found" AS f ON f.number = n.number
"""

_CARRIED = """
CREATE OR REPLACE TEMP TABLE "zodiac$carried" AS
SELECT n.node, coalesce(s.class, $highest + row_number() OVER ()) AS class
FROM (SELECT a AS node FROM "zodiac$links" UNION SELECT b FROM "zodiac$links") AS n
LEFT JOIN "zodiac$view_classes" AS s ON s.node = n.node
"""

_HIT = """
CREATE OR REPLACE TEMP TABLE "zodiac$hit" AS
SELECT DISTINCT x.class FROM "zodiac$lost_links" AS l
JOIN "zodiac$view_classes" AS x ON x.node = l.a JOIN "zodiac$view_classes" AS y ON y.node = l.b
WHERE x.class = y.class
"""

_INSIDE = """
CREATE OR REPLACE TEMP TABLE "zodiac$some_links" AS
WITH half AS MATERIALIZED (
  SELECT x.class, l.a, l.b FROM "zodiac$links" AS l JOIN "zodiac$carried" AS x ON x.node = l.a
  SEMI JOIN "zodiac$hit" AS h ON h.class = x.class
)
SELECT h.a, h.b FROM half AS h
JOIN "zodiac$carried" AS y ON y.node = h.b AND y.class = h.class
"""

_BY_CLASS = """
CREATE OR REPLACE TEMP TABLE "zodiac$some_links" AS
WITH half AS MATERIALIZED (
  SELECT DISTINCT x.class AS a, l.b FROM "zodiac$links" AS l
  JOIN "zodiac$carried" AS x ON x.node = l.a
)
SELECT DISTINCT h.a, y.class AS b FROM half AS h JOIN "zodiac$carried" AS y ON y.node = h.b
WHERE h.a <> y.class
"""

_NEXT = 'SELECT coalesce(max(class), 0) + 1 FROM "zodiac$carried"'

_SPLIT = """
CREATE OR REPLACE TEMP TABLE "zodiac$new_carried" AS
SELECT k.node, CASE WHEN h.class IS NULL THEN k.class WHEN f.class IS NULL
                    THEN $next + $number + row_number() OVER () ELSE $next + f.class END AS class
FROM "zodiac$carried" AS k LEFT JOIN "zodiac$hit" AS h ON h.class = k.class
LEFT JOIN "zodiac$nodes" AS n ON n.node = k.node
LEFT JOIN "zodiac$found" AS f ON f.number = n.number
"""

_UNITED = """
CREATE OR REPLACE TEMP TABLE "zodiac$new_carried" AS
SELECT k.node, CASE WHEN f.class IS NULL THEN k.class ELSE $next + f.class END AS class
FROM "zodiac$carried" AS k LEFT JOIN "zodiac$nodes" AS n ON n.node = k.class
LEFT JOIN "zodiac$found" AS f ON f.number = n.number
"""

_MEMBERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$members" AS
SELECT node, class, count(*) OVER (PARTITION BY class) > 1
       OR node IN (SELECT a FROM "zodiac$links" WHERE a = b) AS loop
FROM "zodiac$carried"
"""

# With both ends in one join, DuckDB would first join all members with those of other classes.
_CLASS_ARCS = """
CREATE OR REPLACE TEMP TABLE "zodiac$class_arcs" AS
WITH half AS MATERIALIZED (
  SELECT DISTINCT x.class AS a, l.b FROM "zodiac$links" AS l
  JOIN "zodiac$members" AS x ON x.node = l.a
)
SELECT DISTINCT h.a, y.class AS b FROM half AS h JOIN "zodiac$members" AS y ON y.node = h.b
WHERE h.a <> y.class
"""

_BETWEEN = """
CREATE OR REPLACE TEMP TABLE "zodiac$between" AS
WITH RECURSIVE reached(first, second) AS (
  SELECT a, b FROM "zodiac$class_arcs"
  UNION
  SELECT r.first, c.b FROM reached AS r JOIN "zodiac$class_arcs" AS c ON c.a = r.second
)
SELECT first, second FROM reached
UNION ALL SELECT DISTINCT class, class FROM "zodiac$members" WHERE loop
"""

_COUNT = """
WITH sizes AS (SELECT class, count(*) AS n FROM "zodiac$members" GROUP BY class)
SELECT coalesce(sum(x.n * y.n), 0) FROM "zodiac$between" AS c
JOIN sizes AS x ON x.class = c.first JOIN sizes AS y ON y.class = c.second
"""

_HIGHEST = 'SELECT coalesce(max(class), 0) FROM "zodiac$view_classes"'

_NAMES = """
CREATE OR REPLACE TEMP TABLE "zodiac$names" AS
WITH common AS (
  SELECT m.class AS here, s.class AS there, count(*) AS n
  FROM "zodiac$members" AS m JOIN "zodiac$view_classes" AS s ON s.node = m.node GROUP BY ALL
),
kept AS (
  SELECT here, there FROM common
  QUALIFY row_number() OVER (PARTITION BY here ORDER BY n DESC, there) = 1
  AND row_number() OVER (PARTITION BY there ORDER BY n DESC, here) = 1
)
SELECT m.class AS here, coalesce(k.there, $highest + row_number() OVER ()) AS class
FROM (SELECT DISTINCT class FROM "zodiac$members") AS m LEFT JOIN kept AS k ON k.here = m.class
"""

_COMPARED = """
CREATE OR REPLACE TEMP TABLE "zodiac$compared" AS
WITH here AS (
  SELECT m.node, n.class, m.loop FROM "zodiac$members" AS m
  JOIN "zodiac$names" AS n ON n.here = m.class
)
SELECT coalesce(h.node, s.node) AS node, h.class, h.loop, s.class AS before, s.loop AS loop_before,
       dense_rank() OVER (ORDER BY h.class, s.class) AS "group"
FROM here AS h FULL JOIN "zodiac$view_classes" AS s ON s.node = h.node
"""

_RENAMED = """
CREATE OR REPLACE TEMP TABLE "zodiac$renamed" AS
SELECT x.class AS first, y.class AS second FROM "zodiac$between" AS c
JOIN "zodiac$names" AS x ON x.here = c.first JOIN "zodiac$names" AS y ON y.here = c.second
"""

_GROUPS = """
CREATE OR REPLACE TEMP TABLE "zodiac$groups" AS
SELECT "group", class, before, count(*) AS n FROM "zodiac$members" GROUP BY ALL
"""

_GAINED = """
CREATE OR REPLACE TEMP TABLE "zodiac$gained" AS
SELECT x."group" AS first, y."group" AS second, x.n * y.n AS n FROM "zodiac$between" AS c
JOIN "zodiac$groups" AS x ON x.class = c.first JOIN "zodiac$groups" AS y ON y.class = c.second
ANTI JOIN "zodiac$view_between" AS s ON s.first = x.before AND s.second = y.before
"""

_LOST = """
CREATE OR REPLACE TEMP TABLE "zodiac$lost" AS
SELECT x."group" AS first, y."group" AS second, x.n * y.n AS n FROM "zodiac$view_between" AS s
JOIN "zodiac$groups" AS x ON x.before = s.first JOIN "zodiac$groups" AS y ON y.before = s.second
ANTI JOIN "zodiac$between" AS c ON c.first = x.class AND c.second = y.class
"""

_MOVED = {
    "left": """
CREATE OR REPLACE TEMP TABLE "zodiac$left" AS
SELECT node, before AS class, loop_before AS loop FROM "zodiac$members"
WHERE before IS NOT NULL AND (class, loop) IS DISTINCT FROM (before, loop_before)
""",
    "came": """
CREATE OR REPLACE TEMP TABLE "zodiac$came" AS
SELECT node, class, loop FROM "zodiac$members"
WHERE class IS NOT NULL AND (class, loop) IS DISTINCT FROM (before, loop_before)
""",
    "parted": """
CREATE OR REPLACE TEMP TABLE "zodiac$parted" AS
SELECT first, second FROM "zodiac$view_between" AS s
ANTI JOIN "zodiac$between" AS c USING (first, second)
""",
    "joined": """
CREATE OR REPLACE TEMP TABLE "zodiac$joined" AS
SELECT first, second FROM "zodiac$between" AS c
ANTI JOIN "zodiac$view_between" AS s USING (first, second)
""",
}


@dataclass(frozen=True, slots=True)
class MovedRows:
    """What becomes of the tables in the file: rows that leave and come."""

    left: Part | None
    came: Part | None
    parted: Part | None
    joined: Part | None


@dataclass(slots=True)
class Condensation:
    """A directed relation of a hypernode, as it is now; and compared with before, what moved."""

    store: Store
    row: ModuleRow
    columns: tuple[Column, ...]
    stem: str
    rows: int = 0
    inserted: Part | None = None
    deleted: Part | None = None
    members: str = field(init=False)
    between: str = field(init=False)

    def __post_init__(self) -> None:
        self.members = f"{MEMBERS}{self.stem}"
        self.between = f"{CHANGE_FACTS}between_{self.stem}"

    @property
    def now(self) -> Part:
        """All facts of the relation."""
        pairs = Pairs(between=Between("temp", self.between))
        return Part("temp", self.members, self.rows, read=Reading(pairs=pairs), covers=True)

    def compare(self, former: Part) -> None:
        """Compare the relation with what it was before the change."""
        store = self.store
        _see(store, former)
        highest = store.count(_HIGHEST)
        self._takes_back()
        store.run(_NAMES, {"highest": highest})
        store.run(_COMPARED)
        store.run(_RENAMED)
        _put(store, "zodiac$compared", "zodiac$members")
        _put(store, "zodiac$renamed", "zodiac$between")
        store.run(_GROUPS)
        self.inserted, self.deleted = (
            self._moved(text, name) for text, name in ((_GAINED, "gained"), (_LOST, "lost"))
        )
        self._gives_names()

    def tables(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """The tables of classes and of pairs of them, as they are to be in the file, by size."""
        last = f"{CHANGE_FACTS}came_{self.stem}"
        columns = [exp.column(name, quoted=True) for name in (NODE, "class", "loop")]
        query = exp.select(*columns).from_(temp_table(self.members))
        there = exp.not_(exp.column("class", quoted=True).is_(exp.null()))
        rows = self.store.count(create_temp(last, query.where(there)))
        pairs = exp.select(exp.Count(this=exp.Star())).from_(temp_table(self.between))
        return (last, rows), (self.between, self.store.count(pairs))

    def moved(self) -> MovedRows:
        """What became of the tables, after a comparison."""
        self._takes_back()
        parts = [self._rows(text, name) for name, text in _MOVED.items()]
        self._gives_names()
        return MovedRows(*parts)

    def _moved(self, text: str, name: str) -> Part | None:
        """The facts that are pairs of groups in a table."""
        store = self.store
        store.run(text)
        rows = store.count(f'SELECT coalesce(sum(n), 0) FROM "zodiac${name}"')
        last = f"{CHANGE_FACTS}{name}_{self.stem}"
        _put(store, f"zodiac${name}", last)
        pairs = Pairs("group", between=Between("temp", last))
        return Part("temp", self.members, rows, read=Reading(pairs=pairs)) if rows else None

    def _rows(self, text: str, name: str) -> Part | None:
        rows = self.store.count(text)
        last = f"{CHANGE_FACTS}{name}_{self.stem}"
        _put(self.store, f"zodiac${name}", last)
        return Part("temp", last, rows) if rows else None

    def _gives_names(self) -> None:
        """Give the tables their own names, under which they last until the next change."""
        _put(self.store, "zodiac$members", self.members)
        _put(self.store, "zodiac$between", self.between)

    def _takes_back(self) -> None:
        """Give the tables the names that statements use."""
        _put(self.store, self.members, "zodiac$members")
        _put(self.store, self.between, "zodiac$between")


def condense(
    store: Store, row: ModuleRow, *, columns: tuple[Column, ...], stem: str, given: Relation
) -> Condensation:
    """The closure of some facts."""
    with _found(store, components_of(store, given)):
        store.run(_FOUND)
    return _closed(Condensation(store, row, columns, stem))


def renew(former: Part, found: Condensation, given: Relation, moved: Delta) -> None:
    """The closure of some facts of which some have `moved`, from what it was before.

    Classes that have lost an arc inside are looked at, and may fall apart. Those that have not are
    as they were, unless a new arc has put them on a cycle of classes.
    """
    store = found.store
    store.run(create_temp(LINKS, links(given, True)))
    _see(store, former)
    store.run(_CARRIED, {"highest": store.count(_HIGHEST)})
    if moved.deleted.rows:
        store.run(create_temp("zodiac$lost_links", links(moved.deleted, True)))
        if store.count(_HIT):
            store.run(_INSIDE)
            _regroup(store, _SPLIT)
    if moved.inserted.rows and store.count(_BY_CLASS):
        _regroup(store, _UNITED)
    _closed(found)
    found.compare(former)


def _regroup(store: Store, text: str) -> None:
    """Give nodes other classes, by the components of some links."""
    _put(store, LINKS, "zodiac$all_links")
    _put(store, "zodiac$some_links", LINKS)
    components = components_of_links(store)
    parameters = {"next": store.count(_NEXT)}
    if text == _SPLIT:
        parameters["number"] = components.number
    with _found(store, components):
        store.run(text, parameters)
    _put(store, "zodiac$new_carried", "zodiac$carried")
    _put(store, "zodiac$all_links", LINKS)


def _closed(found: Condensation) -> Condensation:
    """The relation, now that the class of each node is known."""
    store = found.store
    for text in (_MEMBERS, _CLASS_ARCS):
        store.run(text)
    store.run(_BETWEEN, as_written=True)
    found.rows = store.count(_COUNT)
    found._gives_names()
    return found


@contextmanager
def _found(store: Store, components: Components) -> Iterator[None]:
    """Let statements read the component of each node."""
    with store.offered("zodiac$found", numbered("class", components.component)):
        yield


def repeated_pairs(store: Store, between: Between) -> int:
    """How many rows of a table of pairs of classes repeat a pair."""
    pair = exp.Tuple(expressions=[exp.column(name, quoted=True) for name in (FIRST, SECOND)])
    once = exp.Count(this=exp.Distinct(expressions=[pair]))
    query = exp.select(exp.Count(this=exp.Star()) - once).from_(between.named("c"))
    return store.count(query)


def _see(store: Store, former: Part) -> None:
    """Give the tables of classes, and of pairs of them, their fixed names."""
    assert former.read.pairs is not None
    assert former.read.pairs.between is not None
    columns = (exp.column(name, quoted=True) for name in (NODE, "class", "loop"))
    classes = exp.select(*columns).from_(table(former))
    store.run(create_temp_view("zodiac$view_classes", classes))
    ends = (exp.column(name, quoted=True) for name in (FIRST, SECOND))
    pairs = exp.select(*ends).from_(former.read.pairs.between.named("c"))
    store.run(create_temp_view("zodiac$view_between", pairs))


def _put(store: Store, old: str, new: str) -> None:
    """Give a temporary table another name, in place of a table that had it."""
    store.run(drop(new))
    store.run(rename(temp_table(old), new))
