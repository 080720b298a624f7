"""The best SQL we could write for exactly these programs, over integer-encoded tables.

It is the yardstick: whatever the library does in general, a person who knows the program could
have had by writing this. Explicit facts of p are in `e_p`, encoded before the clock starts; each
function leaves the extension of every derived predicate p in a table `p`. `{temp}` is TEMP for
reasoning alone, and empty when the result is to be durable in the file: measured, DuckDB computes
as fast straight into tables of the file as into temporary ones (autocommit).

Figures in comments: milliseconds, 2 cores, duckdb 1.5.6.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import duckdb

from .workloads import LUBM_FACTS, UNIV_BENCH, Workload, head_predicates

Connection = duckdb.DuckDBPyConnection


def prepare(workload: Workload, database: str) -> Connection:
    """A new database that holds the explicit facts of a workload as tables of INTEGER."""
    Path(database).unlink(missing_ok=True)
    connection = duckdb.connect(database)
    if workload.name == "lubm":
        _encode_lubm(connection, workload.rules)
    for predicate, table in workload.facts().items():
        connection.register("facts", table)
        columns = ", ".join(f"{_number(name, table)} AS {name}" for name in table.column_names)
        connection.execute(f"CREATE TABLE e_{predicate} AS SELECT {columns} FROM facts")
        connection.unregister("facts")
    connection.execute("CHECKPOINT")
    return connection


def derive(workload: Workload, connection: Connection, durable: bool) -> None:
    """Run the SQL of a workload; the result is in the file when durable, else temporary."""
    HANDWRITTEN[workload.name](connection, "" if durable else "TEMP")


def counts(workload: Workload, connection: Connection) -> dict[str, int]:
    """Size of the extension of each derived predicate."""
    return {
        p: _one(connection, f"SELECT count(*) FROM {p}") for p in head_predicates(workload.rules)
    }


def explicit(workload: Workload, connection: Connection) -> int:
    """How many facts of derived predicates were given, and so are not derived."""
    tables = {
        row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    }
    return sum(
        _one(connection, f"SELECT count(*) FROM e_{p}")
        for p in head_predicates(workload.rules)
        if f"e_{p}" in tables
    )


def _number(name: str, table: object) -> str:
    """SQL for a column as INTEGER; resources carry their number at the end of their name."""
    text = str(table.schema.field(name).type) == "string"  # type: ignore[attr-defined]
    return f"replace({name}, 'windTurbine', '')::INTEGER" if text else f"{name}::INTEGER"


def _one(connection: Connection, query: str) -> int:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


# ---------------------------------------------------------------------------------------- RS2

# Recursion is 200 steps deep and has only 20,000 pairs, so what costs is the step (0.2 ms).
# p11 and p12 each in a statement of their own: p11 by linear recursion over the symmetric edges
# 53, by components 44, delta * all in a host loop 144, squaring in a host loop 262; p12 linear
# 48, with UNION ALL 43, delta loop (8 rounds) 42, USING KEY 52, squaring 67. Both in one
# recursion with a tag, components for p11: 84 (63 with threads = 1).
# p30 joins 9.4 million pairs to 101,100: DISTINCT over the join 128, pairs packed into one
# BIGINT 121, DISTINCT with perfect_ht_threshold = 22 113, lists 169, OR of bit strings 17.
# The whole, alternating on a busy machine, medians of 7: as below 163; p11 and p12 in one
# recursion 188; that with the plain join for p30 405 (221 when the machine was quiet).
_RS2 = """\
CREATE {temp} TABLE link AS SELECT s, o FROM e_p1 UNION SELECT o, s FROM e_p1;
CREATE {temp} TABLE component AS
  WITH RECURSIVE r(node, root) AS (
    SELECT s, s FROM (SELECT DISTINCT s FROM link) n
     WHERE NOT EXISTS (FROM link WHERE link.s = n.s AND link.o < n.s)
    UNION
    SELECT link.o, r.root FROM r JOIN link ON link.s = r.node)
  SELECT node, min(root) AS root FROM r GROUP BY node;
CREATE {temp} TABLE p11 AS
  SELECT a.node AS s, b.node AS o FROM component a JOIN component b USING (root)
   WHERE a.node <> b.node;
DROP TABLE link;
DROP TABLE component;
CREATE {temp} TABLE p12 AS
  WITH RECURSIVE r(s, o) AS (
    FROM e_p2 UNION SELECT r.s, e.o FROM r JOIN e_p2 e ON r.o = e.s WHERE r.s <> e.o)
  FROM r;
CREATE {temp} TABLE p13 AS SELECT s, o FROM e_p3 UNION SELECT o, s FROM e_p3;
CREATE {temp} TABLE p14 AS FROM p13;
CREATE {temp} TABLE p20 AS FROM p11 UNION FROM p12 UNION FROM p13;
CREATE {temp} TABLE p21 AS FROM p20;
CREATE {temp} TABLE p22 AS FROM p20;
CREATE {temp} TABLE p25 AS
  SELECT DISTINCT a.s, b.o FROM p11 a JOIN p12 b ON a.o = b.s
   WHERE NOT EXISTS (FROM e_p5 n WHERE n.s = b.s AND n.o = b.o);
CREATE {temp} TABLE p26 AS
  SELECT DISTINCT a.s, b.s AS o FROM p12 a JOIN p13 b ON a.o = b.o
   WHERE NOT EXISTS (FROM e_p5 n WHERE n.s = b.s AND n.o = b.o);
CREATE {temp} TABLE p30 AS
  WITH row AS MATERIALIZED (
         SELECT s, bitstring_agg(o, 0, 1023) AS bits FROM p21 GROUP BY s),
       product AS (SELECT p22.s, bit_or(bits) AS bits FROM p22 JOIN row ON row.s = p22.o
                    GROUP BY p22.s)
  SELECT s, i::INTEGER AS o FROM product, range(1024) n(i) WHERE get_bit(bits, i::INTEGER) = 1;
CREATE {temp} TABLE p31 AS SELECT * FROM p25 WHERE o IN (SELECT s FROM p26);
"""


def rs2(connection: Connection, temp: str) -> None:
    connection.execute(_RS2.format(temp=temp))


# --------------------------------------------------------------------------------------- LUBM


def _encode_lubm(connection: Connection, rules: str) -> None:
    """N-Triples as integers: one table per predicate of the rules, empty ones included."""
    connection.execute(
        r"""CREATE TEMP TABLE t AS
            SELECT part.* FROM (SELECT regexp_extract(line, '^(\S+) <(\S+)> (.*) \.$',
                                                      ['s', 'p', 'o']) AS part
              FROM read_csv(?, columns={'line': 'VARCHAR'}, header=false, auto_detect=false,
                            delim='\x01', quote='', escape=''))""",
        [str(LUBM_FACTS)],
    )
    connection.execute(
        """CREATE TEMP TABLE symbol AS SELECT text, (row_number() OVER ())::INTEGER AS id
             FROM (SELECT s AS text FROM t UNION SELECT o FROM t)"""
    )
    connection.execute(
        """CREATE TEMP TABLE coded AS SELECT a.id AS s, t.p, b.id AS o, t.o AS text
             FROM t JOIN symbol a ON a.text = t.s JOIN symbol b ON b.text = t.o"""
    )
    for name, arguments in sorted(set(re.findall(r"ub:(\w+)\(([^)]*)\)", rules))):
        found, columns = f"p = '{UNIV_BENCH}{name}'", "s, o"
        if "," not in arguments:
            found, columns = f"p LIKE '%#type' AND text = '<{UNIV_BENCH}{name}>'", "s"
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS e_{name} AS "
            f"SELECT DISTINCT {columns} FROM coded WHERE {found}"
        )


# Predicate: what its extension is the union of, in an order in which everything is complete when
# it is used. `name` is a table, `name.s` or `name.o` a column of one, `-name` the inverse of one.
# Person, Chair and Professor depend on each other, but nobody becomes a person by being a chair:
# chairs are persons already. Hence Professor and Faculty first without the derived chairs.
# One CREATE TABLE AS each: 30-32 temporary, 39-47 into the file. No other form was measured.
_LUBM = {
    "worksFor": "e_worksFor e_headOf",
    "memberOf": "e_memberOf -e_member worksFor",
    "member": "-memberOf",
    "degreeFrom": "e_degreeFrom e_doctoralDegreeFrom e_mastersDegreeFrom "
    "e_undergraduateDegreeFrom -e_hasAlumnus",
    "hasAlumnus": "-degreeFrom",
    "Course": "e_Course e_GraduateCourse e_listedCourse.o e_teacherOf.o e_teachingAssistantOf.o",
    "Research": "e_Research e_publicationResearch.o e_researchProject.o",
    "Work": "e_Work Course Research",
    "University": "e_University degreeFrom.o",
    "ResearchGroup": "e_ResearchGroup e_researchProject.s",
    "Organization": "e_Organization e_affiliatedOrganizationOf.s e_affiliatedOrganizationOf.o "
    "e_affiliateOf.s e_College e_Department e_Institute member.s "
    "e_orgPublication.s e_Program ResearchGroup subOrganizationOf.s "
    "subOrganizationOf.o University",
    "Schedule": "e_Schedule e_listedCourse.s",
    "Software": "e_Software e_softwareDocumentation.s e_softwareVersion.s",
    "Article": "e_Article e_ConferencePaper e_JournalArticle e_TechnicalReport",
    "Publication": "e_Publication Article e_Book e_Manual e_orgPublication.o "
    "e_publicationAuthor.s e_publicationDate.s e_publicationResearch.s Software "
    "e_softwareDocumentation.o e_Specification e_UnofficialPublication",
    "AdministrativeStaff": "e_AdministrativeStaff e_ClericalStaff e_SystemsStaff",
    "Dean": "e_Dean headOf>e_College",
    "professor_": "e_Professor e_advisor.o e_AssistantProfessor e_AssociateProfessor e_Chair "
    "Dean e_FullProfessor e_tenured.s e_VisitingProfessor",
    "faculty_": "e_Faculty e_Lecturer e_PostDoc professor_ e_teacherOf.s",
    "TeachingAssistant": "e_TeachingAssistant e_teachingAssistantOf.s",
    "Person": "e_Person e_advisor.s e_affiliateOf.o e_age.s e_Chair degreeFrom.s e_Director "
    "e_emailAddress.s e_Employee AdministrativeStaff faculty_ e_GraduateStudent "
    "member.o e_publicationAuthor.o e_ResearchAssistant e_Student "
    "e_UndergraduateStudent TeachingAssistant e_telephone.s e_title.s",
    "Chair": "e_Chair Person&headOf>e_Department",
    "Director": "e_Director Person&headOf>e_Program",
    "Professor": "professor_ Chair",
    "Faculty": "faculty_ Professor",
    "Employee": "e_Employee AdministrativeStaff Faculty Person&worksFor>Organization",
    "Student": "e_Student e_UndergraduateStudent Person&takesCourse>Course",
}


def _source(term: str) -> str:
    """SQL for one term of a union: `a&b>c` is: in a, and related by b to something in c."""
    if ">" in term:
        relation, target = term.split(">")
        filtered, _, relation = relation.rpartition("&")
        relation = relation if relation == "worksFor" else f"e_{relation}"
        also = f" AND s IN (FROM {filtered})" if filtered else ""
        return f"SELECT s FROM {relation} WHERE o IN (FROM {target}){also}"
    if term.startswith("-"):
        return f"SELECT o AS s, s AS o FROM {term[1:]}"
    table, _, column = term.partition(".")
    return f"SELECT {column or '*'} FROM {table}"


def lubm(connection: Connection, temp: str) -> None:
    connection.execute(f"""CREATE {temp} TABLE subOrganizationOf AS
        WITH RECURSIVE r(s, o) AS (
          FROM e_subOrganizationOf
          UNION SELECT r.s, e.o FROM r JOIN e_subOrganizationOf e ON e.s = r.o) FROM r""")
    for predicate, terms in _LUBM.items():
        union = " UNION ".join(_source(term) for term in terms.split())
        connection.execute(f"CREATE {temp} TABLE {predicate} AS {union}")
    connection.execute("DROP TABLE professor_; DROP TABLE faculty_")


# -------------------------------------------------------------------------- transitive closure

# 1.1M pairs: UNION 398 (straight into a table of the file 363; BIGINT 399). Host loop 453-488
# with NOT EXISTS, ANTI JOIN before or after DISTINCT, or LEFT JOIN; EXCEPT 642, NOT IN 646;
# deltas by DELETE or TRUNCATE and INSERT 684-707 against 486 by CREATE TABLE AS and rename.
# 22.4M pairs: UNION 11,600 (file 11,100; BIGINT 12,200), host loop 19,900.
_CLOSURE = """\
CREATE {temp} TABLE tc AS
  WITH RECURSIVE tc(s, o) AS (
    FROM e_edge UNION SELECT tc.s, e.o FROM tc JOIN e_edge e ON tc.o = e.s)
  FROM tc;
"""


def closure(connection: Connection, temp: str) -> None:
    connection.execute(_CLOSURE.format(temp=temp))


# ----------------------------------------------------------------- mutual recursion in arity 3

# Figures from an ontology of the same shape with 4.3M facts, not the one measured here.
# Loop over deltas in temporary tables: 3,770; DISTINCT before the anti join 3,720 to
# 3,910, per rule and again over all 4,020; NOT EXISTS 4,100; one INSERT per rule instead of one
# UNION ALL per predicate 5,980; the second of two joined atoms reading New instead of Old 3,780
# (the copy that Old needs costs what it saves). p and q have p, q or both in a body:
# (delta read, SQL), `o_` is what was known before the delta, `n_` includes it.
_EL_P = (
    ("p", "SELECT a.s, b.o FROM d_p a JOIN p b ON a.o = b.s"),
    ("p", "SELECT a.s, b.o FROM o_p a JOIN d_p b ON a.o = b.s"),
    (
        "p",
        (
            "SELECT q.c0, u.c2 FROM d_p p JOIN e_u u ON p.o = u.c0"
            " JOIN q ON q.c1 = u.c1 AND q.c2 = p.s"
        ),
    ),
    (
        "q",
        (
            "SELECT q.c0, u.c2 FROM d_q q JOIN e_u u ON q.c1 = u.c1"
            " JOIN o_p p ON p.s = q.c2 AND p.o = u.c0"
        ),
    ),
    (
        "p",
        (
            "SELECT a.s, c.c2 FROM d_p a JOIN e_c c ON a.o = c.c1"
            " JOIN p b ON b.s = a.s AND b.o = c.c0"
        ),
    ),
    (
        "p",
        (
            "SELECT a.s, c.c2 FROM d_p a JOIN e_c c ON a.o = c.c0"
            " JOIN o_p b ON b.s = a.s AND b.o = c.c1"
        ),
    ),
)
_EL_Q = (
    ("p", "SELECT p.s, q.c1, q.c2 FROM d_p p JOIN q ON p.o = q.c0"),
    ("q", "SELECT p.s, q.c1, q.c2 FROM d_q q JOIN o_p p ON p.o = q.c0"),
    ("q", "SELECT q.c0, s.o, q.c2 FROM d_q q JOIN e_s s ON q.c1 = s.s"),
    (
        "q",
        (
            "SELECT a.c0, r.c2, b.c2 FROM d_q a JOIN e_r r ON r.c0 = a.c1"
            " JOIN q b ON b.c0 = a.c2 AND b.c1 = r.c1"
        ),
    ),
    (
        "q",
        (
            "SELECT a.c0, r.c2, b.c2 FROM d_q b JOIN e_r r ON r.c1 = b.c1"
            " JOIN o_q a ON a.c2 = b.c0 AND a.c1 = r.c0"
        ),
    ),
)
_EL = (("p", "s, o", _EL_P), ("q", "c0, c1, c2", _EL_Q))


def el(connection: Connection, temp: str) -> None:
    """Semi-naive rounds: `d_` is new since the round before, `o_` older, `p` and `q` both."""
    run = connection.execute
    for p, _, _ in _EL:
        run(
            f"CREATE {temp} TABLE {p} AS FROM e_{p}; CREATE TEMP TABLE d_{p} AS FROM e_{p};"
            f"CREATE TEMP TABLE o_{p} AS FROM e_{p} LIMIT 0"
        )
    fresh = {p: 1 for p, _, _ in _EL}
    while any(fresh.values()):
        found: dict[str, int] = {}
        for p, columns, rules in _EL:
            union = " UNION ALL ".join(sql for delta, sql in rules if fresh[delta])
            found[p] = _one(
                connection,
                f"CREATE TEMP TABLE n_{p} AS SELECT DISTINCT * FROM"
                f" ({union}) f({columns}) ANTI JOIN {p} USING ({columns})",
            )
        for p, _, _ in _EL:
            run(
                f"INSERT INTO o_{p} FROM d_{p}; INSERT INTO {p} FROM n_{p};"
                f"DROP TABLE d_{p}; ALTER TABLE n_{p} RENAME TO d_{p}"
            )
        fresh = found
    for p, _, _ in _EL:
        run(f"DROP TABLE d_{p}; DROP TABLE o_{p}")


HANDWRITTEN: dict[str, Callable[[Connection, str], None]] = {
    "rs2": rs2,
    "lubm": lubm,
    "closure": closure,
    "closure-small": closure,
    "el": el,
    "el-small": el,
    "el-medium": el,
    "el-large": el,
}
