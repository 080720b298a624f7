"""The best SQL we could write for the workloads with modules, into a durable file.

As in `handwritten`: explicit facts of p are in `e_p`, encoded as integers before the clock starts,
and each function leaves the extension of every derived predicate p in a table `p` (autocommit).
After a change of facts there is nothing better to do by hand than to derive everything again.

Figures in comments: milliseconds, 2 cores, duckdb 1.5.6.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import duckdb

from .session import Batch, Fingerprint
from .workloads import Facts, head_predicates

Connection = duckdb.DuckDBPyConnection
Derive = Callable[[Connection], None]


def prepare(facts: Facts, database: Path) -> Connection:
    """A new database with the explicit facts; resources have their number at the end."""
    database.unlink(missing_ok=True)
    connection = duckdb.connect(str(database))
    for predicate, table in facts.items():
        connection.register("facts", table)
        columns = ", ".join(
            _encoded(name, str(kind))
            for name, kind in zip(table.column_names, table.schema.types, strict=True)
        )
        connection.execute(f"CREATE TABLE e_{predicate} AS SELECT {columns} FROM facts")
        connection.unregister("facts")
    connection.execute("CHECKPOINT")
    return connection


def _encoded(name: str, kind: str) -> str:
    if kind == "string":
        return rf"regexp_extract({name}, '\d+$')::INTEGER AS {name}"
    return f"{name}::INTEGER AS {name}" if kind == "int64" else name


def stage(connection: Connection, batch: Batch) -> None:
    """The facts of a batch as temporary tables, before the clock starts."""
    for predicate, rows in batch.items():
        numbers = ", ".join(f"({', '.join(_number(value) for value in row)})" for row in rows)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE g_{predicate} AS FROM (VALUES {numbers})")


def _number(value: object) -> str:
    return re.sub(r"^\D+", "", str(value))


def delete(connection: Connection, batch: Batch) -> None:
    """Take a batch that is staged out of the explicit facts."""
    for predicate in batch:
        connection.execute(
            f"DELETE FROM e_{predicate} e USING g_{predicate} g WHERE e.s = g.col0 AND e.o = g.col1"
        )


def insert(connection: Connection, batch: Batch) -> None:
    """Put a batch that is staged back to the explicit facts."""
    for predicate in batch:
        connection.execute(f"INSERT INTO e_{predicate} FROM g_{predicate}")


def forget(connection: Connection, rules: str) -> None:
    """Drop what was derived."""
    for predicate in head_predicates(rules):
        connection.execute(f"DROP TABLE {predicate}")


def fingerprint(connection: Connection, rules: str, resource: str) -> Fingerprint:
    """As that of a knowledge base, once integers are again the texts or numbers that they were."""
    found: Fingerprint = {}
    for predicate in head_predicates(rules):
        types = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE {predicate})")
        columns = ", ".join(_decoded(name, kind, resource) for name, kind in types.fetchall())
        row = connection.execute(
            f"SELECT count(*), sum(hash(f)) FROM (SELECT {columns} FROM {predicate}) f"
        ).fetchone()
        if row and row[0]:
            found[predicate] = row
    return found


def _decoded(name: str, kind: str, resource: str) -> str:
    if kind != "INTEGER":
        return name
    return f"'{resource}' || {name} AS {name}" if resource else f"{name}::BIGINT AS {name}"


# ---------------------------------------------------------------------------------- transitive


def _closure(predicate: str, explicit: str) -> str:
    """Linear, whatever the rules are: see `handwritten` for what else was measured."""
    return f"""
        CREATE TABLE {predicate} AS
          WITH RECURSIVE r(s, o) AS (
            FROM {explicit} UNION SELECT r.s, e.o FROM r JOIN {explicit} e ON r.o = e.s)
          FROM r;"""


def dag(connection: Connection) -> None:
    connection.execute(_closure("path", "e_path"))


# ------------------------------------------------------------------------- symmetric-transitive

# Components, in a link table of both directions:         chain 400  chain 2,000  trees  cliques
#   recursion from nodes without smaller neighbour (RS2)        104          542     66       18
#   USING KEY, the least number that has arrived (below)        361        2,523     10       13
#   host loop: least of the neighbours', and of its own          36           43     34       11
# The cross product of members follows: 10 for 160,000 pairs, 90 for 4,000,000.


def _linked(connection: Connection, explicit: str) -> None:
    connection.execute(
        f"CREATE TEMP TABLE link AS SELECT s, o FROM {explicit} UNION SELECT o, s FROM {explicit}"
    )


def _components_near(connection: Connection) -> None:
    """`component` from `link`, where no node is far from any other."""
    connection.execute("""
        CREATE TEMP TABLE component AS
          WITH RECURSIVE r(node, root) USING KEY (node) AS (
            SELECT s, min(least(s, o)) FROM link GROUP BY s
            UNION (
              SELECT link.o, min(r.root)
                FROM r JOIN link ON link.s = r.node JOIN recurring.r k ON k.node = link.o
               WHERE r.root < k.root GROUP BY link.o))
          FROM r""")


def _components_far(connection: Connection) -> None:
    """`component` from `link`, where nodes are far apart: who leads halves the way each round."""
    connection.execute("""
        CREATE TEMP TABLE component AS
          SELECT s AS node, min(least(s, o)) AS root FROM link GROUP BY s""")
    changed = True
    while changed:
        connection.execute("""
            CREATE TEMP TABLE nearer AS
              SELECT c.node, least(min(next.root), min(own.root)) AS root
                FROM component c JOIN link ON link.s = c.node
                JOIN component next ON next.node = link.o JOIN component own ON own.node = c.root
               GROUP BY c.node""")
        row = connection.execute("""
            SELECT count(*) FROM component c JOIN nearer n USING (node) WHERE c.root <> n.root
            """).fetchone()
        changed = row is not None and row[0] > 0
        connection.execute("DROP TABLE component; ALTER TABLE nearer RENAME TO component")


_PAIRS = "SELECT a.node AS s, b.node AS o FROM component a JOIN component b USING (root)"
_DONE = "DROP TABLE link; DROP TABLE component"


def cliques(connection: Connection) -> None:
    _linked(connection, "e_t")
    _components_near(connection)
    connection.execute(f"CREATE TABLE t AS {_PAIRS}; {_DONE}")


def skos(connection: Connection) -> None:
    connection.execute(f"""{_closure("broaderTransitive", "e_broader")}
        CREATE TABLE narrowerTransitive AS SELECT o AS s, s AS o FROM broaderTransitive;""")
    _linked(connection, "e_related")
    _components_near(connection)
    connection.execute(f"""CREATE TABLE related AS FROM link;
        CREATE TABLE relatedTransitive AS {_PAIRS}; {_DONE}""")


def rs1(connection: Connection) -> None:
    """Readings may be missing altogether, as in the paper's data set."""
    connection.execute("""CREATE TABLE IF NOT EXISTS
        e_hasAirTemperatureMeasurement (s INTEGER, o DOUBLE)""")
    _linked(connection, "e_hasNeighbour")
    _components_far(connection)
    connection.execute(f"""
        CREATE TABLE hasNeighbour AS {_PAIRS} WHERE a.node <> b.node; {_DONE};
        CREATE TEMP TABLE nearby AS
          SELECT n.s, count(*) AS number, median(t.o) AS usual
            FROM hasNeighbour n JOIN e_hasAirTemperatureMeasurement t ON t.s = n.o GROUP BY n.s;
        CREATE TABLE hasNeighbourAirTemperatureMeasurementNumber AS SELECT s, number FROM nearby;
        CREATE TABLE hasMedianAirTemperatureMeasurementNearby AS SELECT s, usual FROM nearby;
        CREATE TABLE MoreThan3Neighbours AS SELECT s FROM nearby WHERE number >= 3;
        CREATE TABLE SensorAnomalyWindTurbine AS
          SELECT DISTINCT s FROM nearby JOIN e_hasAirTemperatureMeasurement t USING (s)
           WHERE number >= 3 AND abs(t.o - usual) > 5;
        DROP TABLE nearby""")
