"""Ontologies with data: from scratch by us and by other reasoners, then one axiom comes and goes.

Ours begins with a new file and ends when all is in it. The others do it all in memory.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import zodiac_sql
from zodiac_sql.change.change import Change

from . import owl_peer
from .university import write_ntriples
from .workloads import DATA, LUBM_FACTS

OURS = "ours"
ENGINES = (OURS, *owl_peer.ENGINES)

FOLDER = Path(os.environ.get("ONTOLOGIES", "."))
"""Where univ-bench.owl and Brick.ttl are."""

PYTHON = os.environ.get("OWL_PEERS", sys.executable)
"""The Python of an environment with the packages reasonable and owlrl."""


@dataclass(frozen=True)
class Case:
    """An ontology with data, and the subclass axiom that comes and goes: two IRIs.

    The data are a file, or so many universities.
    """

    title: str
    ontology: Path
    data: Path | int
    axiom: tuple[str, str]

    def missing(self) -> str:
        """What of it is not on this machine, in words."""
        files = (self.ontology, self.data)
        lost = [str(path) for path in files if isinstance(path, Path) and not path.exists()]
        how = "; the variable ONTOLOGIES says in which folder ontologies are"
        return f"{', '.join(lost)} is not there{how}" if lost else ""


_UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
_BRICK = "https://brickschema.org/schema/Brick#"
CASES = {
    "lubm": Case(
        "LUBM-1 and univ-bench",
        FOLDER / "univ-bench.owl",
        LUBM_FACTS,
        (f"{_UB}Course", f"{_UB}Publication"),
    ),
    "lubm10": Case(
        "10 universities like LUBM's and univ-bench",
        FOLDER / "univ-bench.owl",
        10,
        (f"{_UB}Course", f"{_UB}Publication"),
    ),
    "brick": Case(
        "a building (sdh) and Brick",
        FOLDER / "Brick.ttl",
        DATA / "brick" / "sdh.ttl",
        (f"{_BRICK}VAV", f"{_BRICK}Collection"),
    ),
}


@dataclass(frozen=True)
class Reasoned:
    """What one run took: from scratch, and for us the verbs of one axiom, in seconds.

    `facts` are the facts that entered for us, and all triples for others.
    """

    seconds: float
    facts: int
    version: str = ""
    added: float = 0
    removed: float = 0
    rule_added: float = 0
    rule_removed: float = 0
    problem: str = ""


def run_one(engine: str, name: str, timeout: float) -> None:
    """Print one line of JSON."""
    case = CASES[name]
    with TemporaryDirectory() as folder:
        ontology, data = _plain(case, Path(folder))
        if engine == OURS:
            for one in _ours(case, ontology, data):
                print(json.dumps(asdict(one)), flush=True)
        else:
            print(json.dumps(asdict(_peer(engine, [ontology, data], timeout))), flush=True)


def _plain(case: Case, folder: Path) -> tuple[Path, Path]:
    """The files as Turtle, which all engines read. A building of Brick 1.0 becomes one of today."""
    import pyoxigraph

    ontology, data = folder / "ontology.ttl", folder / "data.ttl"
    if case.ontology.suffix == ".ttl":
        ontology.write_bytes(case.ontology.read_bytes())
    else:
        triples = pyoxigraph.parse(
            path=case.ontology, format=pyoxigraph.RdfFormat.RDF_XML, base_iri=_UB.rstrip("#")
        )
        pyoxigraph.serialize(triples, output=ontology, format=pyoxigraph.RdfFormat.N_TRIPLES)
    if isinstance(case.data, int):
        write_ntriples(data, case.data)
        return ontology, data
    content = case.data.read_bytes()
    content = gzip.decompress(content) if case.data.suffix == ".gz" else content
    names = rb"https://brickschema\.org/schema/[\d.]+/Brick(Frame)?#"
    data.write_bytes(re.sub(names, _BRICK.encode(), content))
    return ontology, data


def _ours(case: Case, ontology: Path, data: Path) -> Iterator[Reasoned]:
    with zodiac_sql.connect() as kb:
        kb.add_rules("a(X) :- b(X).")  # what is imported late
    with TemporaryDirectory() as folder:
        started = perf_counter()
        with zodiac_sql.connect(Path(folder, "ontology.duckdb")) as kb:
            changes = [kb.load(data), kb.load_ontology(ontology, set="ontology")]
            seconds = perf_counter() - started
            sub, sup = case.axiom
            rule = f"<{sup}>(X) :- <{sub}>(X)."
            before = ontology.read_text()
            after = (
                f"{before}\n<{sub}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{sup}> .\n"
            )

            def version(text: str) -> Change:
                ontology.write_text(text)
                return kb.load_ontology(ontology, set="ontology")

            verbs = (
                lambda: version(after),
                lambda: version(before),
                lambda: kb.add_rules(rule, set="more"),
                lambda: kb.drop_rules(rule, set="more"),
            )
            took = []
            for verb in verbs:
                began = perf_counter()
                changes.append(verb())
                took.append(perf_counter() - began)
            grown = [sum(c.inserted.values()) - sum(c.deleted.values()) for c in changes]
    brought = grown[2]
    fits = brought > 0 and grown[2:] == [brought, -brought, brought, -brought]
    problem = "" if fits else f"an axiom brought and took different facts: {grown[2:]}"
    yield Reasoned(seconds, sum(grown[:2]), zodiac_sql.__version__, *took, problem)


def _peer(engine: str, files: list[Path], timeout: float) -> Reasoned:
    command = [PYTHON, owl_peer.__file__, engine, *map(str, files)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return Reasoned(0, 0, problem=f"ended after {timeout:.0f} s")
    if done.returncode:
        error = (done.stderr.strip().splitlines() or ["failed"])[-1]
        how = "the variable OWL_PEERS says which Python has the packages reasonable and owlrl"
        missing = "No module named" in error
        return Reasoned(0, 0, problem=f"not installed; {how}" if missing else error)
    return Reasoned(**json.loads(done.stdout))
