"""What `scale` starts: `python -m tests.benchmarks.scale_process ENGINE NAME FOLDER LIMIT`.

It makes a database of the files in the folder within a memory limit, on two threads, and prints
what that took as JSON. Of its modules, only zodiac_sql and DuckDB are worth mentioning in memory.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

from .device_process import resident
from .scale_data import CLOSURE, JOINS, UB

OURS, SQL = "ours", "sql"
THREADS = 2

_STATEMENTS = {
    "closure": """
        CREATE TABLE reaches AS WITH RECURSIVE r(s, o) AS (
            SELECT s, o FROM leads UNION SELECT r.s, l.o FROM r JOIN leads AS l ON l.s = r.o
        ) FROM r
    """,
    "joins": """
        CREATE TABLE two AS SELECT DISTINCT x, z FROM first JOIN second USING (y);
        CREATE TABLE three AS SELECT DISTINCT x, w FROM two JOIN third USING (z)
    """,
    "lubm": """
        CREATE TABLE worksFor_all AS FROM worksFor UNION FROM headOf;
        CREATE TABLE memberOf_all AS FROM memberOf UNION FROM worksFor_all;
        CREATE TABLE member AS SELECT o AS s, s AS o FROM memberOf_all;
        CREATE TABLE degreeFrom AS FROM undergraduateDegreeFrom UNION FROM mastersDegreeFrom
            UNION FROM doctoralDegreeFrom;
        CREATE TABLE hasAlumnus AS SELECT o AS s, s AS o FROM degreeFrom;
        CREATE TABLE University_all AS FROM University UNION SELECT o FROM degreeFrom;
        CREATE TABLE subOrganizationOf_all AS WITH RECURSIVE r(s, o) AS (
            FROM subOrganizationOf
            UNION SELECT r.s, t.o FROM r JOIN subOrganizationOf AS t ON t.s = r.o) FROM r;
        CREATE TABLE Professor AS FROM FullProfessor UNION FROM AssociateProfessor
            UNION FROM AssistantProfessor UNION SELECT o FROM advisor;
        CREATE TABLE Faculty AS FROM Professor UNION FROM Lecturer UNION SELECT s FROM teacherOf;
        CREATE TABLE Employee AS FROM Faculty;
        CREATE TABLE Student AS FROM UndergraduateStudent UNION FROM GraduateStudent;
        CREATE TABLE Person AS FROM Employee UNION FROM Student UNION SELECT s FROM advisor;
        CREATE TABLE Course_all AS FROM Course UNION FROM GraduateCourse
            UNION SELECT o FROM teacherOf;
        CREATE TABLE Work AS FROM Course_all;
        CREATE TABLE Organization AS FROM University_all UNION FROM Department
            UNION FROM ResearchGroup;
        CREATE TABLE Chair AS SELECT DISTINCT h.s FROM headOf AS h
            SEMI JOIN Person AS p ON p.s = h.s SEMI JOIN Department AS d ON d.s = h.o;
        CREATE TABLE TeachingAssistant AS SELECT DISTINCT t.s FROM teachingAssistantOf AS t
            SEMI JOIN Course_all AS c ON c.s = t.o
    """,
}
"""What the rules derive, by hand. A table that is named after another one has its rows, too."""


class Spill(Thread):
    """Looks again and again how many bytes a folder has."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.most, self.done = folder, 0, Event()

    def run(self) -> None:
        while not self.done.wait(0.2):
            self.most = max(self.most, sum(_bytes(file) for file in self.folder.rglob("*")))


def _bytes(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # it is gone already
        return 0


def run(engine: str, name: str, folder: Path, limit: str) -> dict[str, float]:
    """Make a database, and tell what that took."""
    spill_folder, database = folder / "spill", folder / f"{engine}.duckdb"
    spill_folder.mkdir(exist_ok=True)
    spill = Spill(spill_folder)
    spill.start()
    begun, started = resident("VmRSS"), perf_counter()
    explicit, derived = (_ours if engine == OURS else _sql)(name, folder, database, limit)
    seconds = perf_counter() - started
    spill.done.set()
    return {
        "explicit": explicit, "derived": derived, "seconds": seconds, "begun": begun,
        "peak": resident("VmHWM"), "spill": spill.most / 1e6, "file": database.stat().st_size / 1e6,
    }  # fmt: skip


def _ours(name: str, folder: Path, database: Path, limit: str) -> tuple[int, int]:
    import zodiac_sql

    settings = {"memory_limit": limit, "threads": THREADS, "temp_directory": folder / "spill"}
    with zodiac_sql.connect(database, **settings) as kb:  # type: ignore[arg-type]
        prefix = UB if name == "lubm" else ""
        if name == "lubm":
            kb.load_ontology(folder / "university.ttl", set="university")
        with kb.update() as update:
            if name != "lubm":
                update.add_rules(CLOSURE if name == "closure" else JOINS)
            for file in sorted(folder.glob("*.parquet")):
                update.load(file, f"{prefix}{file.stem}")
        predicates = kb.predicates().to_pylist()
    explicit = sum(row["explicit"] for row in predicates)
    return explicit, sum(row["extension"] for row in predicates) - explicit


def _sql(name: str, folder: Path, database: Path, limit: str) -> tuple[int, int]:
    """The same as statements of DuckDB."""
    import duckdb

    with duckdb.connect(database) as connection:
        connection.execute(f"SET memory_limit = '{limit}'; SET threads = {THREADS}")
        connection.execute(f"SET temp_directory = '{folder / 'spill'}'")
        derived = 0
        given: dict[str, int] = {}
        for file in sorted(folder.glob("*.parquet")):
            made = connection.execute(f"CREATE TABLE {file.stem} AS FROM '{file}'").fetchone()
            given[file.stem] = made[0] if made else 0
        for statement in _STATEMENTS[name].split(";"):
            found = connection.execute(statement).fetchone()
            extended = statement.split()[2].removesuffix("_all")
            derived += (found[0] if found else 0) - given.get(extended, 0)
    return sum(given.values()), derived


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])))
