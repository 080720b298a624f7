"""Random SHACL rules against SPARQL: rdflib applies each rule as a CONSTRUCT until nothing is new.

NOT stands for FILTER NOT EXISTS at the end of a group of all that was before it, so what follows it
is joined with that group. What is negated is only data, so rules may be applied in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import rdflib
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.examples import share

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

EX = "http://example/"
PREFIX = f"PREFIX : <{EX}>\n"
NODES, VARIABLES = [":a", ":b", ":c", ":d"], ["?x", "?y", "?z", "?w"]
EDGES, DERIVED = [":p", ":q"], [":r", ":s"]
SETS = share(4, 6)


@dataclass
class Writer:
    """Writes a body twice: as SHACL rules have it, and as SPARQL does."""

    chance: Random
    bound: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    shacl: str = ""
    sparql: str = ""

    def add(self, shacl: str, sparql: str | None = None) -> None:
        self.shacl += f" {shacl}"
        self.sparql += f" {shacl if sparql is None else sparql}"

    def node(self, names: list[str]) -> str:
        if self.chance.random() < 0.15:
            return self.chance.choice(NODES)
        found = self.chance.choice(names)
        self.bound += [found] * (found not in self.bound)
        return found

    def path(self, names: list[str]) -> str:
        steps = [self.chance.choice(["", "", "^"]) + self.chance.choice(names) for _ in range(3)]
        path = "/".join(steps[: self.chance.choice([1, 1, 1, 2, 3])])
        return f"^({path})" if self.chance.random() < 0.1 else path

    def triples(self) -> None:
        subject = self.node(VARIABLES)
        match self.chance.randrange(6):
            case 0:
                self.add(f"{subject} a :C .")
            case 1:
                self.add(f"{subject} {self.path(EDGES)} [ :p {self.node(VARIABLES)} ] .")
            case 2:
                number = f"?n{len(self.numbers)}"
                self.numbers.append(number)
                self.add(f"{subject} :n {number} .")
            case _:
                path, object_ = self.path(EDGES + DERIVED), self.node(VARIABLES)
                self.add(
                    f"{subject} {path} {object_} ; {self.path(EDGES)} {self.node(VARIABLES)} ."
                )

    def test(self) -> str:
        kinds = [f"{self.chance.choice(self.bound)} != {self.chance.choice(NODES)}"]
        kinds += [f"{self.chance.choice(self.bound)} = {self.chance.choice(NODES)}"]
        if self.numbers:
            one, other = (self.chance.choice(self.numbers) for _ in range(2))
            kinds += [f"{one} * 2 > {other} + 1", f"{one} <= {other}", f"{one} IN (1, 3)",
                      f"{one} NOT IN ({other}, 2)"]  # fmt: skip
        found = [self.chance.choice(kinds) for _ in range(self.chance.choice([1, 1, 2, 3]))]
        joined = f" {self.chance.choice(['&&', '||'])} ".join(f"({one})" for one in found)
        return f"!({joined})" if self.chance.random() < 0.2 else joined

    def negation(self) -> None:
        """Only data is negated; some variables inside are of the outside, some only inside."""
        inner = [*self.bound[:2], "?i", self.chance.choice(VARIABLES)]
        ends = [*inner, *NODES]
        parts = [
            f"{self.chance.choice(inner)} {self.path(EDGES)} {self.chance.choice(ends)} ."
            for _ in range(self.chance.choice([1, 1, 2]))
        ]
        if self.chance.random() < 0.3:
            parts.append(f"{inner[0]} :n ?j . FILTER(?j > 1 || {inner[0]} = :a)")
        self.sparql = f" {{ {self.sparql} FILTER NOT EXISTS {{ {' '.join(parts)} }} }}"
        self.shacl += f" NOT {{ {' '.join(parts).removesuffix(' .')} }}"

    def filter(self) -> None:
        test = self.test()
        self.sparql = f" {{ {self.sparql} FILTER({test}) }}"
        self.shacl += f" FILTER({test})"

    def body(self) -> None:
        self.triples()
        for _ in range(self.chance.randrange(4)):
            self.shacl = self.shacl.removesuffix(".") if self.chance.random() < 0.5 else self.shacl
            kind = self.chance.randrange(4)
            if kind == 0 and self.bound:
                self.negation()
            elif kind == 1 and self.bound:
                self.filter()
            elif self.shacl.rstrip().endswith((".", "}", ")")):
                self.triples()


def rule(chance: Random) -> tuple[str, str]:
    """A rule, and the CONSTRUCT that it stands for."""
    while True:
        writer = Writer(chance)
        writer.body()
        if not writer.bound:
            continue
        subject, object_ = (chance.choice(writer.bound) for _ in range(2))
        head = f"{subject} {chance.choice(DERIVED)} {object_}"
        if chance.random() < 0.3:
            head += f" . {object_} a :D"
        if writer.numbers and chance.random() < 0.4:
            number = chance.choice(writer.numbers)
            writer.add(f"SET(?v := {number} * 2 - 1)", f"BIND({number} * 2 - 1 AS ?v)")
            head += f" . {subject} :v ?v"
        return (
            f"RULE {{ {head} }} WHERE {{{writer.shacl} }}",
            f"{PREFIX}CONSTRUCT {{ {head} }} WHERE {{{writer.sparql} }}",
        )


def follows(graph: rdflib.Graph, rules: list[str]) -> set[tuple[str, ...]]:
    """All triples of properties that rules derive."""
    before = -1
    while len(graph) > before:
        before = len(graph)
        for one in rules:
            for triple in list(graph.query(one)):
                graph.add(triple)
    heads = {rdflib.URIRef(EX + name) for name in ("r", "s", "v")}
    found = {tuple(map(str, triple)) for triple in graph if triple[1] in heads}
    is_d = graph.triples((None, rdflib.RDF.type, rdflib.URIRef(f"{EX}D")))
    return found | {(str(subject), "a", f"{EX}D") for subject, *_ in is_d}


def held(kb: KnowledgeBase) -> set[tuple[str, ...]]:
    names = set(kb.predicates()["predicate"].to_pylist())
    found: set[tuple[str, ...]] = set()
    for name in ("r", "s", "v"):
        if EX + name in names:
            found |= {(str(s), EX + name, str(o)) for s, o in kb.table(EX + name).fetchall()}
    if f"{EX}D" in names:
        found |= {(s, "a", f"{EX}D") for (s,) in kb.table(f"{EX}D").fetchall()}
    return found


@settings(max_examples=SETS)
@given(seed=st.integers(0, 2**32))
def test_shacl_rules(open_kb: OpenKb, seed: int) -> None:
    chance = Random(seed)
    rules = [rule(chance) for _ in range(chance.randrange(1, 5))]
    facts = {f"{chance.choice(NODES)} {p} {chance.choice(NODES)} ." for p in EDGES * 3}
    facts |= {
        f"{chance.choice(NODES)} a :C .",
        f"{chance.choice(NODES)} :n {chance.randrange(4)} .",
    }
    facts |= {f"{chance.choice(NODES)} :n {chance.randrange(4)} ." for _ in range(2)}
    text = f"{PREFIX}DATA {{ {' '.join(sorted(facts))} }}\n" + "\n".join(one for one, _ in rules)
    note(text)
    graph = rdflib.Graph().parse(data=PREFIX + "\n".join(sorted(facts)), format="turtle")
    wanted = follows(graph, [sparql for _, sparql in rules])
    with TemporaryDirectory() as folder, open_kb() as kb:
        path = Path(folder) / "x.srl"
        path.write_text(text)
        kb.add_rules(path, set="x")
        assert held(kb) == wanted
        kb.drop_rules(set="x")
        assert not held(kb)
