"""Universities like those of LUBM: as many facts as wanted, one university in memory at a time.

The proportions are those of LUBM's own generator, as its LUBM-1 has them (shared/data/lubm): 15 to
25 departments, each with professors, lecturers, students, courses, research groups and
publications, about 130,000 facts in all. A university depends on the seed and its number alone.

    for facts in universities(10):          # Arrow tables by predicate, one university each
        for predicate, table in facts.items(): ...
    write_ntriples(path, 100)               # all of them in a file
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from .workloads import UNIV_BENCH, Facts

LITERALS = frozenset({"name", "emailAddress", "telephone", "researchInterest"})
"""The properties whose values are texts."""

Columns = Mapping[str, tuple[list[str], ...]]
"""Facts by class or property, without its namespace: a column of things, and one of values."""

FACULTY = {
    "FullProfessor": ((7, 10), (15, 20)),
    "AssociateProfessor": ((10, 14), (10, 18)),
    "AssistantProfessor": ((8, 11), (5, 10)),
    "Lecturer": ((5, 7), (0, 5)),
}
"""How many a department has, and how many publications each of them, at least and at most."""

OTHER_UNIVERSITIES = 1_000
"""Degrees are from one of so many universities."""

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def universities(count: int, seed: int = 0) -> Iterator[Facts]:
    """The facts of each university, as tables by the IRI of their class or property."""
    for number in range(count):
        yield {
            f"{UNIV_BENCH}{name}": pa.table(dict(zip("so", columns, strict=False)))
            for name, columns in university(number, seed).items()
        }


def write_ntriples(path: Path, count: int, seed: int = 0) -> int:
    """Write the facts of some universities. Returns how many triples that are."""
    written = 0
    with path.open("w") as file:
        for number in range(count):
            for name, columns in university(number, seed).items():
                file.writelines(_triples(name, columns))
                written += len(columns[0])
    return written


def _triples(name: str, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    if len(columns) == 1:
        return (f"<{thing}> <{_TYPE}> <{UNIV_BENCH}{name}> .\n" for thing in columns[0])
    begin, end = ('"', '"') if name in LITERALS else ("<", ">")
    pairs = zip(*columns, strict=True)
    return (f"<{s}> <{UNIV_BENCH}{name}> {begin}{o}{end} .\n" for s, o in pairs)


def university(number: int, seed: int = 0) -> Columns:
    """The facts of one university."""
    rng = random.Random(f"{seed} {number}")
    facts = _Facts()
    here = _university(number)
    facts.thing("University", here, f"University{number}")
    for place in range(rng.randint(15, 25)):
        _Department(facts, rng, here, f"Department{place}.University{number}").fill()
    for there in sorted(set(facts.elsewhere) - {here}):
        facts.of("University", there)
    return facts.columns


def _university(number: int) -> str:
    return f"http://www.University{number}.edu"


class _Facts:
    """Facts as they are made up."""

    def __init__(self) -> None:
        self.columns: dict[str, tuple[list[str], ...]] = {}
        self.elsewhere: list[str] = []
        """The universities that degrees are from."""

    def of(self, class_: str, thing: str) -> None:
        self.columns.setdefault(class_, ([],))[0].append(thing)

    def say(self, thing: str, property_: str, value: str) -> None:
        things, values = self.columns.setdefault(property_, ([], []))
        things.append(thing)
        values.append(value)

    def thing(self, class_: str, thing: str, name: str) -> None:
        self.of(class_, thing)
        self.say(thing, "name", name)

    def person(self, class_: str, thing: str, name: str, address: str) -> None:
        self.thing(class_, thing, name)
        self.say(thing, "emailAddress", f"{name}@{address}.edu")
        self.say(thing, "telephone", "xxx-xxx-xxxx")

    def degree(self, rng: random.Random, thing: str, kind: str) -> None:
        there = _university(rng.randrange(OTHER_UNIVERSITIES))
        self.elsewhere.append(there)
        self.say(thing, f"{kind}DegreeFrom", there)


class _Department:
    """A department that is being filled."""

    def __init__(self, facts: _Facts, rng: random.Random, university: str, address: str) -> None:
        self.facts, self.rng, self.address = facts, rng, address
        self.here = f"http://www.{address}.edu"
        self.courses: dict[str, list[str]] = {"Course": [], "GraduateCourse": []}
        self.professors: list[str] = []
        self.publications: list[str] = []
        facts.thing("Department", self.here, address.split(".")[0])
        facts.say(self.here, "subOrganizationOf", university)
        for group in range(rng.randint(10, 20)):
            facts.of("ResearchGroup", f"{self.here}/ResearchGroup{group}")
            facts.say(f"{self.here}/ResearchGroup{group}", "subOrganizationOf", self.here)

    def fill(self) -> None:
        """Faculty, and students for them."""
        faculty = 0
        for rank, ((least, most), writes) in FACULTY.items():
            for number in range(self.rng.randint(least, most)):
                self._teacher(rank, f"{rank}{number}", writes)
                faculty += 1
        self.facts.say(self.professors[0], "headOf", self.here)
        for number in range(faculty * self.rng.randint(8, 14)):
            self._undergraduate(f"UndergraduateStudent{number}")
        graduates = faculty * self.rng.randint(3, 4)
        assistants = self._sample(range(graduates), 4, 5)
        taught = self.rng.sample(self.courses["Course"], len(self.courses["Course"]))
        course_of = dict(zip(assistants, taught, strict=False))
        researchers = set(self._sample(range(graduates), 3, 4))
        for number in range(graduates):
            one = self._graduate(f"GraduateStudent{number}")
            if course := course_of.get(number):
                self.facts.of("TeachingAssistant", one)
                self.facts.say(one, "teachingAssistantOf", course)
            elif number in researchers:
                self.facts.of("ResearchAssistant", one)

    def _sample(self, numbers: Sequence[int], least: int, most: int) -> list[int]:
        """Between one of `most` and one of `least`."""
        count = self.rng.randint(len(numbers) // most, len(numbers) // least)
        return self.rng.sample(numbers, count)

    def _teacher(self, rank: str, name: str, writes: tuple[int, int]) -> None:
        facts, rng, one = self.facts, self.rng, f"{self.here}/{name}"
        facts.person(rank, one, name, self.address)
        facts.say(one, "worksFor", self.here)
        for kind, known in self.courses.items():
            for _ in range(rng.randint(1, 2)):
                course = f"{kind}{len(known)}"
                known.append(f"{self.here}/{course}")
                facts.thing(kind, known[-1], course)
                facts.say(one, "teacherOf", known[-1])
        for kind in ("undergraduate", "masters", "doctoral"):
            facts.degree(rng, one, kind)
        for number in range(rng.randint(*writes)):
            paper = f"{one}/Publication{number}"
            facts.thing("Publication", paper, f"Publication{number}")
            facts.say(paper, "publicationAuthor", one)
            self.publications.append(paper)
        if rank != "Lecturer":
            facts.say(one, "researchInterest", f"Research{rng.randrange(30)}")
            self.professors.append(one)

    def _student(self, kind: str, name: str, courses: Sequence[str]) -> str:
        one = f"{self.here}/{name}"
        self.facts.person(kind, one, name, self.address)
        self.facts.say(one, "memberOf", self.here)
        for course in courses:
            self.facts.say(one, "takesCourse", course)
        return one

    def _undergraduate(self, name: str) -> None:
        rng = self.rng
        courses = rng.sample(self.courses["Course"], rng.randint(2, 4))
        one = self._student("UndergraduateStudent", name, courses)
        if rng.random() < 0.2:
            self.facts.say(one, "advisor", rng.choice(self.professors))

    def _graduate(self, name: str) -> str:
        rng = self.rng
        courses = rng.sample(self.courses["GraduateCourse"], rng.randint(1, 3))
        one = self._student("GraduateStudent", name, courses)
        self.facts.degree(rng, one, "undergraduate")
        self.facts.say(one, "advisor", rng.choice(self.professors))
        for paper in rng.sample(self.publications, rng.randint(0, 5)):
            self.facts.say(paper, "publicationAuthor", one)
        return one
