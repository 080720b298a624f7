"""A symmetric-transitive relation as a partition of its nodes (paper 2, section 6).

`members` is a temporary table of nodes with the class of each: `class` now, `prev` before the last
step, `before` before the change, NULL where the node is in none. When a relation is evaluated, the
table has all nodes; when it is maintained, only those of classes that the change touches, and the
file has the others. A comparison of two of these columns gives the facts that enter or leave the
relation (sql/class_pairs.py), and their number without making the pairs.

`links` are the edges that a step adds or takes away: (a, b), and whether an edge from a node to
itself counts as a fact that the rules derive (`looping`). Tables that steps work with have fixed
names. Others are filled in (database/templates.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import create_temp, joining, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.database.templates import filled
from zodiac_sql.evaluate.partition.components import find_roots
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import DERIVED_SCHEMA
from zodiac_sql.rewrite.closures.module import NODE
from zodiac_sql.sql.class_pairs import Pairs
from zodiac_sql.sql.relations import Part, Reading, table

LINKS = "zodiac$links"

# In these statements, "$0" stands for the table of members, "$1"."$2" for that of classes in the
# file, and "$3" for a new table.

_BRING = """
INSERT INTO "$0"
SELECT s.node, s.class, s.loop, s.class, s.loop, s.class, s.loop FROM "$1"."$2" AS s
WHERE s.class IN (SELECT t.class FROM "$1"."$2" AS t
                  JOIN (SELECT a FROM "zodiac$links" UNION SELECT b FROM "zodiac$links") AS l
                  ON l.a = t.node)
AND s.node NOT IN (SELECT node FROM "$0")
"""

_MISSING = """
SELECT count(*) FROM (SELECT a FROM "zodiac$links" UNION ALL SELECT b FROM "zodiac$links") AS l
LEFT JOIN "$0" AS m ON m.node = l.a WHERE m.class IS NULL
"""

_NEW = """
INSERT INTO "$0"
SELECT n.a, $next + row_number() OVER (), NOT $unequal, NULL, NULL, NULL, NULL
FROM (SELECT a FROM "zodiac$links" UNION SELECT b FROM "zodiac$links") AS n
WHERE n.a NOT IN (SELECT node FROM "$0")
"""

_BACK = """
UPDATE "$0" AS m SET class = n.class, loop = NOT $unequal
FROM (SELECT node, $next + row_number() OVER () AS class FROM "$0"
      WHERE class IS NULL
      AND node IN (SELECT a FROM "zodiac$links" UNION SELECT b FROM "zodiac$links")) AS n
WHERE n.node = m.node
"""

_STEP = 'UPDATE "$0" SET prev = class, loop_prev = loop'

# With both ends in one join, DuckDB would first join all members with those of other classes.
_EDGES = """
CREATE OR REPLACE TEMP TABLE "zodiac$edges" AS
WITH half AS MATERIALIZED (
  SELECT x.class AS a, l.b FROM "zodiac$links" AS l JOIN "$0" AS x ON x.node = l.a
)
SELECT h.a, y.class AS b FROM half AS h JOIN "$0" AS y ON y.node = h.b
WHERE h.a <> y.class
"""

_NAMES = """
CREATE OR REPLACE TEMP TABLE "zodiac$names" AS
SELECT node, arg_max(node, size) OVER (PARTITION BY root) AS class
FROM (SELECT r.node, r.root, count(*) AS size
      FROM "zodiac$roots" AS r JOIN "$0" AS m ON m.class = r.node GROUP BY ALL)
"""

_UNITE = """
UPDATE "$0" AS m SET class = n.class FROM "zodiac$names" AS n
WHERE n.node = m.class AND n.class <> n.node
"""

_LOOP = """
UPDATE "$0" SET loop = true
WHERE NOT loop AND node IN (SELECT a FROM "zodiac$links" WHERE a = b AND looping)
"""

_HIT = """
CREATE OR REPLACE TEMP TABLE "zodiac$hit" AS
SELECT node, class, row_number() OVER () AS number FROM "$0"
WHERE class IN (SELECT m.class FROM "zodiac$links" AS l JOIN "$0" AS m ON m.node = l.a)
"""

_NUMBERED = """
CREATE OR REPLACE TEMP TABLE "zodiac$edges" AS
WITH half AS MATERIALIZED (
  SELECT x.number AS a, l.b FROM "zodiac$kept" AS l JOIN "zodiac$hit" AS x ON x.node = l.a
)
SELECT h.a, y.number AS b FROM half AS h JOIN "zodiac$hit" AS y ON y.node = h.b
WHERE h.a <> y.number
"""

_PIECES = """
CREATE OR REPLACE TEMP TABLE "zodiac$pieces" AS
SELECT h.node, h.class, coalesce(r.root, h.number) AS piece, coalesce(l.loops, false) AS loops
FROM "zodiac$hit" AS h
LEFT JOIN "zodiac$roots" AS r ON r.node = h.number
LEFT JOIN (SELECT a, bool_or(looping) AS loops FROM "zodiac$kept" WHERE a = b GROUP BY a) AS l
ON l.a = h.node
WHERE r.node IS NOT NULL OR l.a IS NOT NULL
"""

_RENAMED = """
CREATE OR REPLACE TEMP TABLE "zodiac$names" AS
SELECT piece, CASE WHEN row_number() OVER (PARTITION BY class ORDER BY size DESC, piece) = 1
              THEN class ELSE $next + row_number() OVER (ORDER BY piece) END AS class
FROM (SELECT piece, class, count(*) AS size FROM "zodiac$pieces" GROUP BY ALL)
"""

_PART = """
UPDATE "$0" AS m SET class = p.class, loop = p.loops
FROM (SELECT h.node, n.class, p.loops OR (n.class IS NOT NULL AND NOT $unequal) AS loops
      FROM "zodiac$hit" AS h
      LEFT JOIN "zodiac$pieces" AS p ON p.node = h.node
      LEFT JOIN "zodiac$names" AS n ON n.piece = p.piece) AS p
WHERE p.node = m.node
"""

_COUNT_STEP = """
WITH groups AS (
  SELECT class, prev, count(*) AS n, count_if(loop) AS loops, count_if(loop_prev) AS loops_prev,
         count_if(loop AND loop_prev) AS loops_both
  FROM "$0" GROUP BY class, prev
)
SELECT
  (SELECT coalesce(sum(n * n - CASE WHEN $unequal THEN n - loops ELSE 0 END), 0)
   FROM (SELECT sum(n) AS n, sum(loops) AS loops FROM groups
         WHERE class IS NOT NULL GROUP BY class)),
  (SELECT coalesce(sum(n * n - CASE WHEN $unequal THEN n - loops ELSE 0 END), 0)
   FROM (SELECT sum(n) AS n, sum(loops_prev) AS loops FROM groups
         WHERE prev IS NOT NULL GROUP BY prev)),
  (SELECT coalesce(sum(n * n - CASE WHEN $unequal THEN n - loops_both ELSE 0 END), 0)
   FROM groups WHERE class IS NOT NULL AND prev IS NOT NULL)
"""

_COUNT_CHANGE = _COUNT_STEP.replace("prev", "before")

_LEFT = """
CREATE OR REPLACE TEMP TABLE "$3" AS
SELECT node, before AS class, loop_before AS loop FROM "$0"
WHERE before IS NOT NULL AND (class, loop) IS DISTINCT FROM (before, loop_before)
"""

_CAME = """
CREATE OR REPLACE TEMP TABLE "$3" AS
SELECT node, class, loop FROM "$0"
WHERE class IS NOT NULL AND (class, loop) IS DISTINCT FROM (before, loop_before)
"""

_COMPARE = """
UPDATE "$0" AS m SET before = s.class, loop_before = s.loop
FROM "$1"."$2" AS s WHERE s.node = m.node
"""

_GONE = """
INSERT INTO "$0"
SELECT s.node, NULL, NULL, NULL, NULL, s.class, s.loop FROM "$1"."$2" AS s
WHERE s.node NOT IN (SELECT node FROM "$0")
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many facts the members make up: now, before the last step, and before the change.

    `now_and_prev` and `now_and_before` are those that hold at both times.
    """

    now: int = 0
    prev: int = 0
    before: int = 0
    now_and_prev: int = 0
    now_and_before: int = 0


@dataclass(slots=True)
class Partition:
    """The table of members of one relation. `name` is that of the table."""

    store: Store
    name: str
    unequal: bool
    alone: bool
    """Whether no rule reads the relation before it is complete.

    Then nobody asks what a single step has changed, and nothing is counted after each."""
    stored: Part | None = None
    """The relation in the file."""
    next: int = 0
    """The highest number of a class so far."""
    counts: Counts = Counts()

    def part(self, by: str = "class", lacks: str | None = None) -> Part | None:
        """The facts by one column of classes, except those that hold by the column `lacks`."""
        counts = self.counts
        whole = {"class": counts.now, "prev": counts.prev, "before": counts.before}
        rows = whole[by]
        if lacks is not None:
            rows -= counts.now_and_prev if "prev" in (by, lacks) else counts.now_and_before
        pairs = Pairs(by, lacks, self.unequal)
        return Part("temp", self.name, rows, read=Reading(pairs=pairs)) if rows else None

    def says(self, text: str, stored: Part | None = None, new: str = "") -> str:
        """A statement with the names of the table of members, that in the file, and a new one."""
        there = stored.place if stored else ("", "")
        return filled(text, [self.name, *there, new])

    @property
    def rests(self) -> bool:
        """Whether the last step has changed nothing."""
        return self.counts.now == self.counts.prev == self.counts.now_and_prev

    @property
    def rows(self) -> int:
        """How many facts the relation has now, even those in the file that are of no member."""
        if self.stored is None:
            return self.counts.now
        return self.stored.rows - self.counts.before + self.counts.now


def begin(
    store: Store, name: str, node: Type, unequal: bool, alone: bool, stored: Part | None
) -> Partition:
    """An empty table of members, of a relation in the file or of none."""
    types = {"node": SQL_TYPES[node]}
    for number, loop in (("class", "loop"), ("prev", "loop_prev"), ("before", "loop_before")):
        types |= {number: "BIGINT", loop: "BOOLEAN"}
    columns = [exp.cast(exp.null(), t).as_(c, quoted=True) for c, t in types.items()]
    store.run(create_temp(name, exp.select(*columns).where(exp.false())))
    partition = Partition(store, name, unequal, alone, stored)
    if stored:
        highest = exp.select(exp.Max(this=exp.column("class", quoted=True))).from_(table(stored))
        ((number,),) = store.rows(highest)
        partition.next = int(number or 0)
    return partition


def connect(partition: Partition, links: exp.Query | None) -> None:
    """CloseEdges of Algorithm 7: the classes that links connect become one.

    Afterwards `prev` has the classes from before, and `counts` are right.
    """
    if links is None and (partition.rests or partition.alone):
        return
    store = partition.store
    _step(partition)
    if links is not None and _links(store, links):
        _touch(partition)
        if store.count(partition.says(_MISSING)):
            for text in (_BACK, _NEW):
                given = {"next": partition.next, "unequal": partition.unequal}
                partition.next += store.count(partition.says(text), given)
        if edges := store.count(partition.says(_EDGES)):
            find_roots(store, edges)
            store.run(partition.says(_NAMES))
            store.run(partition.says(_UNITE))
        if partition.unequal:
            store.run(partition.says(_LOOP))
    _count(partition)


def part(partition: Partition, lost: exp.Query, kept: exp.Query | None) -> None:
    """Algorithm 8: split the classes that have lost links into parts that `kept` still connects."""
    _step(partition)
    if _links(partition.store, lost):
        _touch(partition)
        if partition.store.count(partition.says(_HIT)):
            _fall_apart(partition, kept)
    _count(partition)


def count_since_change(partition: Partition) -> None:
    """Make sure that `counts` compare the relation now with that before the change."""
    if partition.alone:
        _count_change(partition)


def _fall_apart(partition: Partition, kept: exp.Query | None) -> None:
    store = partition.store
    nothing = exp.select(exp.Star()).from_(temp_table(LINKS)).where(exp.false())
    among = nothing if kept is None else _among_hit(kept)
    store.run(create_temp("zodiac$kept", among))
    if edges := store.count(_NUMBERED):
        find_roots(store, edges)
    else:
        store.run('CREATE OR REPLACE TEMP TABLE "zodiac$roots" (node BIGINT, root BIGINT)')
    store.run(_PIECES)
    partition.next += store.count(_RENAMED, {"next": partition.next})
    store.run(partition.says(_PART), {"unequal": partition.unequal})


def _among_hit(links: exp.Query) -> exp.Select:
    """The links that begin at a node of a class that was hit."""
    query = exp.select("a", "b", "looping").from_(links.subquery("k"))
    same = exp.column(NODE, table="h").eq(exp.column("a", table="k"))
    return query.join(joining(temp_table("zodiac$hit").as_("h"), "SEMI"), on=same)


def rows_changed(partition: Partition, left: str, came: str) -> tuple[int, int]:
    """Create tables of the rows that leave the table of classes, and of those that come."""
    store = partition.store
    gone = store.count(partition.says(_LEFT, new=left))
    return gone, store.count(partition.says(_CAME, new=came))


def repeated_nodes(store: Store, table_name: str) -> int:
    """How many rows of a table of classes in the file repeat a node: each is in one class only."""
    node = exp.column(NODE, quoted=True)
    once = exp.Count(this=exp.Distinct(expressions=[node]))
    there = exp.table_(table_name, db=DERIVED_SCHEMA, quoted=True)
    return store.count(exp.select(exp.Count(this=exp.Star()) - once).from_(there))


def nodes(partition: Partition, name: str) -> int:
    """Create a table of all members that are in a class, as it is to be in the file."""
    columns = [exp.column(c, quoted=True) for c in (NODE, "class", "loop")]
    query = exp.select(*columns).from_(temp_table(partition.name))
    there = exp.not_(exp.column("class", quoted=True).is_(exp.null()))
    return partition.store.count(create_temp(name, query.where(there)))


def compare(partition: Partition, former: Part) -> None:
    """Compare the relation, which was evaluated anew, with what it was before the change.

    `loop` is right in both, even if only one of them is `unequal`.
    """
    assert former.read.pairs is not None
    partition.unequal = partition.unequal or former.read.pairs.unequal
    for text in (_COMPARE, _GONE):
        partition.store.run(partition.says(text, former))
    _count_change(partition)


def _links(store: Store, links: exp.Query) -> int:
    """Create the table of links, and return how many there are."""
    return store.count(create_temp(LINKS, links))


def _touch(partition: Partition) -> None:
    """Add the members of all classes in the file that the links touch."""
    if partition.stored:
        partition.store.run(partition.says(_BRING, partition.stored))


def _step(partition: Partition) -> None:
    """Remember the classes as they are before a step."""
    if not partition.alone:
        partition.store.run(partition.says(_STEP))


def _count(partition: Partition) -> None:
    """Count the facts that a step has brought or taken."""
    if partition.alone:
        return
    now, prev, both = _numbers(partition, _COUNT_STEP)
    partition.counts = replace(partition.counts, now=now, prev=prev, now_and_prev=both)
    if partition.stored:
        _count_change(partition)


def _count_change(partition: Partition) -> None:
    now, before, both = _numbers(partition, _COUNT_CHANGE)
    partition.counts = replace(partition.counts, now=now, before=before, now_and_before=both)


def _numbers(partition: Partition, text: str) -> tuple[int, ...]:
    ((*numbers,),) = partition.store.rows(partition.says(text), {"unequal": partition.unequal})
    return tuple(map(int, numbers))
