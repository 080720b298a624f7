"""The programs of `deep_workloads.py` as SQL by hand, for DuckDB: each leaves tables of its heads.

Explicit facts of p are in a table p with the columns a, b, ..
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Loop:
    """Rules that join what they derive with itself: a loop of the host over delta tables.

    In a step, `d_p` is what the last round has added to p, and `o_p` what was there before it.
    """

    seeds: Mapping[str, str]
    steps: Mapping[str, Sequence[str]]


def derive(con: duckdb.DuckDBPyConnection, program: str | Loop) -> None:
    """Make the tables of all heads."""
    if isinstance(program, str):
        con.execute(program)
        return
    for name, query in program.seeds.items():
        con.execute(f"CREATE TABLE {name} AS {query}")
        con.execute(f"CREATE TABLE d_{name} AS FROM {name}")
        con.execute(f"CREATE TABLE o_{name} AS FROM {name} LIMIT 0")
    while True:
        for name, steps in program.steps.items():
            found = " UNION ".join(steps)
            con.execute(
                f"CREATE TABLE n_{name} AS FROM ({found}) AS f(a, b) ANTI JOIN {name} USING (a, b)"
            )
        if not sum(
            map(len, (con.sql(f"FROM n_{name} LIMIT 1").fetchall() for name in program.steps))
        ):
            return
        for name in program.steps:
            con.execute(f"INSERT INTO o_{name} FROM d_{name}; DROP TABLE d_{name}")
            con.execute(f"ALTER TABLE n_{name} RENAME TO d_{name}")
            con.execute(f"INSERT INTO {name} FROM d_{name}")


REACH = """
    CREATE TABLE reach AS WITH RECURSIVE r(a) AS (
        SELECT a FROM start UNION SELECT arc.b FROM r JOIN arc ON arc.a = r.a
    ) FROM r;
"""

NULL_FLOW = """
    CREATE TABLE nul AS WITH RECURSIVE r(a, b) AS (
        SELECT a, a FROM source UNION SELECT r.a, arc.b FROM r JOIN arc ON arc.a = r.b
    ) FROM r;
"""

# Children in the order of their numbers, the greatest first: the first, and the next of each, by a
# window. `up` goes from a last child to the next of its parent.
EDITING = """
    CREATE TABLE ordered AS SELECT a, b, c, d,
        lead(a) OVER w AS na, lead(b) OVER w AS nb, row_number() OVER w AS place
        FROM put WINDOW w AS (PARTITION BY c, d ORDER BY a * 10 + b DESC);
    CREATE TABLE up AS WITH RECURSIVE r(a, b, c, d) AS (
        SELECT a, b, na, nb FROM ordered WHERE na IS NOT NULL
        UNION
        SELECT o.a, o.b, r.c, r.d FROM r JOIN ordered o ON o.c = r.a AND o.d = r.b
        WHERE o.na IS NULL
    ) FROM r;
    CREATE TABLE next AS
        SELECT c AS a, d AS b, a AS c, b AS d FROM ordered WHERE place = 1
        UNION ALL
        SELECT * FROM up ANTI JOIN put ON put.c = up.a AND put.d = up.b;
    CREATE TABLE visible AS SELECT a, b FROM put ANTI JOIN removed USING (a, b);
    CREATE TABLE reach AS WITH RECURSIVE hidden AS MATERIALIZED (
        FROM next ANTI JOIN visible USING (a, b)
    ), r(a, b, c, d) AS (
        SELECT * FROM next SEMI JOIN visible USING (a, b)
        UNION
        SELECT r.a, r.b, h.c, h.d FROM r JOIN hidden h ON h.a = r.c AND h.b = r.d
    ) FROM r;
    CREATE TABLE text AS
        SELECT r.* FROM reach r SEMI JOIN visible v ON v.a = r.c AND v.b = r.d;
"""

FLOW = """
    CREATE TABLE use_live AS WITH RECURSIVE r(a, b) AS (
        FROM used
        UNION
        SELECT r.a, flow.a FROM r JOIN flow ON flow.b = r.b
        ANTI JOIN assigned n ON n.a = r.a AND n.b = flow.a
    ) FROM r;
    CREATE TABLE maybe_init AS WITH RECURSIVE r(a, b) AS (
        FROM assigned
        UNION
        SELECT r.a, flow.b FROM r JOIN flow ON flow.a = r.b
        ANTI JOIN moved n ON n.a = r.a AND n.b = flow.b
    ) FROM r;
    CREATE TABLE maybe_uninit AS WITH RECURSIVE r(a, b) AS (
        FROM moved
        UNION
        SELECT r.a, flow.b FROM r JOIN flow ON flow.a = r.b
        ANTI JOIN assigned n ON n.a = r.a AND n.b = flow.b
    ) FROM r;
    CREATE TABLE init_on_entry AS
        SELECT DISTINCT i.a, flow.b FROM maybe_init i JOIN flow ON flow.a = i.b;
    CREATE TABLE drop_live AS WITH RECURSIVE r(a, b) AS (
        FROM dropped SEMI JOIN init_on_entry USING (a, b)
        UNION
        SELECT r.a, flow.a FROM r JOIN flow ON flow.b = r.b
        SEMI JOIN maybe_init i ON i.a = r.a AND i.b = flow.a
        ANTI JOIN assigned n ON n.a = r.a AND n.b = flow.a
    ) FROM r;
    CREATE TABLE moved_or_assigned AS FROM assigned UNION FROM moved;
    CREATE TABLE variable AS SELECT DISTINCT a FROM assigned;
    CREATE TABLE move_error AS SELECT DISTINCT u.a, u.b FROM used u
        JOIN flow ON flow.b = u.b JOIN maybe_uninit m ON m.a = u.a AND m.b = flow.a;
    CREATE TABLE live AS FROM use_live UNION FROM drop_live;
    CREATE TABLE dead_assignment AS FROM assigned ANTI JOIN live USING (a, b);
"""

SAME = """
    CREATE TABLE same AS WITH RECURSIVE r(a, b) AS (
        SELECT x.b, y.b FROM parent x JOIN parent y ON x.a = y.a WHERE x.b <> y.b
        UNION
        SELECT x.b, y.b FROM r JOIN parent x ON x.a = r.a JOIN parent y ON y.a = r.b
    ) FROM r;
"""

ANDERSEN = Loop(
    {"points_to": "SELECT DISTINCT a, b FROM address_of"},
    {
        "points_to": [
            "SELECT s.a, d.b FROM assign s JOIN d_points_to d ON d.a = s.b",
            (
                "SELECT l.a, w.b FROM load l JOIN d_points_to d ON d.a = l.b"
                " JOIN points_to w ON w.a = d.b"
            ),
            (
                "SELECT l.a, w.b FROM load l JOIN o_points_to o ON o.a = l.b"
                " JOIN d_points_to w ON w.a = o.b"
            ),
            (
                "SELECT d.b, w.b FROM store s JOIN d_points_to d ON d.a = s.a"
                " JOIN points_to w ON w.a = s.b"
            ),
            (
                "SELECT o.b, w.b FROM store s JOIN o_points_to o ON o.a = s.a"
                " JOIN d_points_to w ON w.a = s.b"
            ),
        ]
    },
)

_ENDS = "SELECT a, a AS b FROM assign UNION SELECT b, b FROM assign"

CSPA = Loop(
    {
        "flows": f"FROM assign UNION {_ENDS}",
        "memory": _ENDS,
        "alias": "SELECT 0::BIGINT AS a, 0::BIGINT AS b LIMIT 0",
    },
    {
        "flows": [
            "SELECT s.a, d.b FROM assign s JOIN d_memory d ON d.a = s.b",
            "SELECT d.a, f.b FROM d_flows d JOIN flows f ON f.a = d.b",
            "SELECT o.a, d.b FROM o_flows o JOIN d_flows d ON d.a = o.b",
        ],
        "memory": [
            (
                "SELECT x.b, y.b FROM d_alias d JOIN dereference x ON x.a = d.a"
                " JOIN dereference y ON y.a = d.b"
            ),
        ],
        "alias": [
            "SELECT d.b, f.b FROM d_flows d JOIN flows f ON f.a = d.a",
            "SELECT o.b, d.b FROM o_flows o JOIN d_flows d ON d.a = o.a",
            "SELECT d.b, g.b FROM d_flows d JOIN memory m ON m.a = d.a JOIN flows g ON g.a = m.b",
            "SELECT f.b, g.b FROM o_flows f JOIN d_memory m ON m.a = f.a JOIN flows g ON g.a = m.b",
            (
                "SELECT f.b, d.b FROM o_flows f JOIN o_memory m ON m.a = f.a"
                " JOIN d_flows d ON d.a = m.b"
            ),
        ],
    },
)
