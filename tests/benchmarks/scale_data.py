"""Data for `scale`, written as Parquet files by DuckDB: any size, in little memory.

A size of 1 is the one that the tables are about. The university data has the shape of LUBM's: per
department the same numbers of people, courses and publications, and what relates them.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

GRIDS, SIDE = 930, 30
"""A grid of 30 * 30 nodes, with arcs right and down, has 215,325 pairs: in all 200 million."""

CLOSURE = """
    copy: reaches(X, Y) :- leads(X, Y).
    closed: reaches(X, Z) :- reaches(X, Y), reaches(Y, Z).
"""

JOINS = """
    two: two(X, Z) :- first(X, Y), second(Y, Z).
    three: three(X, W) :- two(X, Z), third(Z, W).
"""

DEPARTMENTS = 1_760
"""A department has 7,960 facts: 14 million in all."""

UB = "http://example.org/university#"

ONTOLOGY = """
@prefix : <http://example.org/university#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Employee rdfs:subClassOf :Person . :Student rdfs:subClassOf :Person .
:Faculty rdfs:subClassOf :Employee . :Professor rdfs:subClassOf :Faculty .
:Lecturer rdfs:subClassOf :Faculty .
:FullProfessor rdfs:subClassOf :Professor . :AssociateProfessor rdfs:subClassOf :Professor .
:AssistantProfessor rdfs:subClassOf :Professor .
:UndergraduateStudent rdfs:subClassOf :Student . :GraduateStudent rdfs:subClassOf :Student .
:University rdfs:subClassOf :Organization . :Department rdfs:subClassOf :Organization .
:ResearchGroup rdfs:subClassOf :Organization .
:Course rdfs:subClassOf :Work . :GraduateCourse rdfs:subClassOf :Course .
[ owl:intersectionOf ( :Person [ a owl:Restriction ; owl:onProperty :headOf ;
    owl:someValuesFrom :Department ] ) ] rdfs:subClassOf :Chair .
[ a owl:Restriction ; owl:onProperty :teachingAssistantOf ; owl:someValuesFrom :Course ]
    rdfs:subClassOf :TeachingAssistant .
:headOf rdfs:subPropertyOf :worksFor . :worksFor rdfs:subPropertyOf :memberOf .
:memberOf owl:inverseOf :member .
:undergraduateDegreeFrom rdfs:subPropertyOf :degreeFrom .
:mastersDegreeFrom rdfs:subPropertyOf :degreeFrom .
:doctoralDegreeFrom rdfs:subPropertyOf :degreeFrom .
:degreeFrom owl:inverseOf :hasAlumnus ; rdfs:range :University .
:subOrganizationOf a owl:TransitiveProperty .
:advisor rdfs:domain :Person ; rdfs:range :Professor .
:teacherOf rdfs:domain :Faculty ; rdfs:range :Course .
"""

_PEOPLE = {"FullProfessor": 8, "AssociateProfessor": 12, "AssistantProfessor": 10, "Lecturer": 6}
_CLASSES = {
    **_PEOPLE, "UndergraduateStudent": 400, "GraduateStudent": 126, "Course": 54,
    "GraduateCourse": 54, "Publication": 700, "ResearchGroup": 15, "Department": 1,
}  # fmt: skip

_MACROS = """
CREATE MACRO thing(d, kind, i) AS
  'http://u' || (d // 20) || '.example.edu/d' || d || '/' || kind || i;
CREATE MACRO university(u) AS 'http://u' || u || '.example.edu/University0';
CREATE MACRO faculty(d, i) AS CASE WHEN i < 8 THEN thing(d, 'FullProfessor', i)
  WHEN i < 20 THEN thing(d, 'AssociateProfessor', i - 8)
  WHEN i < 30 THEN thing(d, 'AssistantProfessor', i - 20) ELSE thing(d, 'Lecturer', i - 30) END;
CREATE MACRO student(d, i) AS CASE WHEN i < 400 THEN thing(d, 'UndergraduateStudent', i)
  ELSE thing(d, 'GraduateStudent', i - 400) END;
CREATE MACRO any_university(d, i) AS university((d * 31 + i) % greatest($universities, 1));
"""

# For each property: how many there are in a department, and the two ends of the one numbered i.
_PROPERTIES: dict[str, list[tuple[int, str, str]]] = {
    "worksFor": [(36, "faculty(d, i)", "thing(d, 'Department', 0)")],
    "headOf": [(1, "thing(d, 'FullProfessor', 0)", "thing(d, 'Department', 0)")],
    "memberOf": [(526, "student(d, i)", "thing(d, 'Department', 0)")],
    "subOrganizationOf": [
        (15, "thing(d, 'ResearchGroup', i)", "thing(d, 'Department', 0)"),
        (1, "thing(d, 'Department', 0)", "university(d // 20)"),
    ],
    "takesCourse": [
        (1200, "student(d, i // 3)", "thing(d, 'Course', (i // 3 * 7 + i % 3 * 13) % 54)"),
        (252, "student(d, 400 + i // 2)", "thing(d, 'GraduateCourse', (i // 2 + i % 2 * 5) % 54)"),
    ],
    "teacherOf": [
        (54, "faculty(d, i % 36)", "thing(d, 'Course', i)"),
        (54, "faculty(d, i % 30)", "thing(d, 'GraduateCourse', i)"),
    ],
    "advisor": [
        (126, "student(d, 400 + i)", "faculty(d, i % 30)"),
        (80, "student(d, i * 5)", "faculty(d, i % 30)"),
    ],
    "teachingAssistantOf": [(25, "student(d, 400 + i)", "thing(d, 'Course', i)")],
    "undergraduateDegreeFrom": [
        (36, "faculty(d, i)", "any_university(d, i)"),
        (126, "student(d, 400 + i)", "any_university(d, i + 7)"),
    ],
    "mastersDegreeFrom": [(36, "faculty(d, i)", "any_university(d, i + 3)")],
    "doctoralDegreeFrom": [(36, "faculty(d, i)", "any_university(d, i + 11)")],
    "publicationAuthor": [
        (700, "thing(d, 'Publication', i)", "faculty(d, i % 36)"),
        (700, "thing(d, 'Publication', i)", "student(d, 400 + i % 126)"),
    ],
    "name": [
        (36, "faculty(d, i)", "'Faculty' || i"),
        (526, "student(d, i)", "'Student' || i"),
        (824, "thing(d, 'Publication', i)", "'Publication' || i"),
    ],
    "emailAddress": [(562, "student(d, i)", "'s' || i || '@d' || d || '.example.edu'")],
    "telephone": [(562, "student(d, i)", "'xxx-xxx-' || i")],
    "researchInterest": [(30, "faculty(d, i)", "'Research' || (d * 7 + i) % 30")],
}


def write(name: str, folder: Path, size: float) -> None:
    """Write the files of a workload."""
    with duckdb.connect() as connection:
        if name == "lubm":
            _write_universities(connection, folder, max(round(DEPARTMENTS * size), 1))
            return
        for table, query in (_grids(size) if name == "closure" else _joins(size)).items():
            _copy(connection, query, folder / f"{table}.parquet")


def _grids(size: float) -> dict[str, str]:
    grids, nodes = max(round(GRIDS * size), 1), SIDE * SIDE
    around = f"range({grids}) AS a(g), range({nodes}) AS b(i)"
    right = f"SELECT g * {nodes} + i AS s, g * {nodes} + i + 1 AS o FROM {around}"
    down = f"SELECT g * {nodes} + i AS s, g * {nodes} + i + {SIDE} AS o FROM {around}"
    inner = f"i % {SIDE} < {SIDE - 1}", f"i < {nodes - SIDE}"
    return {"leads": f"{right} WHERE {inner[0]} UNION ALL {down} WHERE {inner[1]}"}


def _joins(size: float) -> dict[str, str]:
    """Each x has 10 z, and each z has 10 w."""
    rows = max(round(1_000_000 * size), 10)
    return {
        "first": f"SELECT x, x % {rows // 10} AS y FROM range({rows}) AS a(x)",
        "second": f"SELECT z // 10 AS y, z FROM range({rows}) AS a(z)",
        "third": f"SELECT w // 10 AS z, w FROM range({10 * rows}) AS a(w)",
    }


def _write_universities(
    connection: duckdb.DuckDBPyConnection, folder: Path, departments: int
) -> None:
    universities = (departments + 19) // 20
    connection.execute(_MACROS.replace("$universities", str(universities)))
    around = f"range({departments}) AS a(d)"
    for kind, number in _CLASSES.items():
        query = f"SELECT thing(d, '{kind}', i) AS s FROM {around}, range({number}) AS b(i)"
        _copy(connection, query, folder / f"{kind}.parquet")
    query = f"SELECT university(u) AS s FROM range({universities}) AS a(u)"
    _copy(connection, query, folder / "University.parquet")
    for name, groups in _PROPERTIES.items():
        queries = [
            f"SELECT {s} AS s, {o} AS o FROM {around}, range({number}) AS b(i)"
            for number, s, o in groups
        ]
        _copy(connection, " UNION ALL ".join(queries), folder / f"{name}.parquet")
    (folder / "university.ttl").write_text(ONTOLOGY)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, file: Path) -> None:
    connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
