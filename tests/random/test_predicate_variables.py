"""Random changes of rules with variables for predicates, of the facts that say what these stand
for, and of the data, against a model that needs no rules made of rules.

The model writes each fact p(a, b) as (p, a, b), so that a variable for a predicate is a variable
like any other, and applies all rules until nothing new comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.contents import extensions
from support.examples import share

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Fact = tuple[str, ...]
Values = dict[str, str]

ACTS = 9
SEQUENCES = share(8, 4)

RULES = {
    "sub": ("?P(X, Y) :- sub(Q, P), ?Q(X, Y).", "P X Y", ["sub Q P", "Q X Y"], ""),
    "sym": ("?P(Y, X) :- sym(P), triple(X, P, Y).", "P Y X", ["sym P", "P X Y"], ""),
    "tra": ("?P(X, Z) :- ?P(X, Y), ?P(Y, Z), tra(P).", "P X Z", ["tra P", "P X Y", "P Y Z"], ""),
    "dom": ("?C(X) :- dom(P, C), ?P(X, _).", "C X", ["dom P C", "P X U"], ""),
    "class": ("rdf:type(X, C) :- rdf:type(X, D), subc(D, C).", "C X", ["subc D C", "D X"], ""),
    "uses": ("uses(X, P) :- any(P), ?P(X, _), P != p0.", "uses X P", ["any P", "P X U"], "P"),
    "meet": ("meet(X) :- dom(P, C), ?P(X, _), ?C(X).", "meet X", ["dom P C", "P X U", "C X"], ""),
    "deep": ("deep(P, X) :- sub2(Q, P), ?Q(X, _).", "deep P X", ["sub2 Q P", "Q X U"], ""),
    "sub2": ("sub2(X, Y) :- sub(X, Y).", "sub2 X Y", ["sub X Y"], ""),
    "sub3": ("sub2(X, Z) :- sub2(X, Y), sub(Y, Z).", "sub2 X Z", ["sub2 X Y", "sub Y Z"], ""),
    "same": ("sub(X, Y) :- same(X, Y).", "sub X Y", ["same X Y"], ""),
    "lacks": ("lacks(X, P) :- must(P), node(X), not ?P(X, _).", "lacks X P", ["must P", "node X"],
              "not P X"),
}  # fmt: skip
"""Each rule as its users write it, and as the model reads it: head, body, and a test."""

CONSTANTS = {"sub", "sym", "tra", "dom", "subc", "any", "must", "node", "uses", "meet", "deep",
             "sub2", "lacks", "same"}  # fmt: skip
PROPERTIES, CLASSES, NODES = ["p0", "p1", "p2", "p3"], ["c0", "c1", "c2"], ["a", "b", "c"]
COLUMNS = {
    "sub": (PROPERTIES, PROPERTIES), "sym": (PROPERTIES,), "tra": (PROPERTIES,),
    "dom": (PROPERTIES, CLASSES), "subc": (CLASSES, CLASSES), "any": (PROPERTIES + CLASSES,),
    "must": (PROPERTIES,), "node": (NODES,), "same": (PROPERTIES, PROPERTIES),
    **dict.fromkeys(PROPERTIES, (NODES, NODES)), **dict.fromkeys(CLASSES, (NODES,)),
}  # fmt: skip


def follows(rules: set[str], facts: set[Fact]) -> set[Fact]:
    """All facts. The rule with a negation comes last: nothing depends on it."""
    known = set(facts)
    for names in (rules - {"lacks"}, rules & {"lacks"}):
        while new := {fact for name in names for fact in derived(name, known)} - known:
            known |= new
    return known


def derived(name: str, known: set[Fact]) -> Iterator[Fact]:
    _, head, body, test = RULES[name]
    for values in solutions(body, known, {}):
        fact = tuple(values.get(part, part) for part in head.split())
        passes = values.get("P") != "p0" if test == "P" else True
        if test.startswith("not"):
            passes = not any(f[:2] == (values["P"], values["X"]) and len(f) == 3 for f in known)
        if passes:
            yield fact


def solutions(body: list[str], known: set[Fact], values: Values) -> Iterator[Values]:
    if not body:
        yield values
        return
    parts = body[0].split()
    for fact in known:
        if len(fact) == len(parts) and (found := unified(parts, fact, values)) is not None:
            yield from solutions(body[1:], known, found)


def unified(parts: list[str], fact: Fact, values: Values) -> Values | None:
    found = dict(values)
    for part, value in zip(parts, fact, strict=True):
        wanted = part if part in CONSTANTS else found.setdefault(part, value)
        if wanted != value:
            return None
    return found


class Sequence:
    """A knowledge base, what it should hold, and changes of both."""

    def __init__(self, kb: KnowledgeBase, chance: Random) -> None:
        self.kb, self.chance = kb, chance
        self.rules: set[str] = set()
        self.facts: set[Fact] = set()
        self.of_set: set[Fact] = set()

    def fact(self) -> Fact:
        name = self.chance.choice(list(COLUMNS))
        return (name, *(self.chance.choice(values) for values in COLUMNS[name]))

    def act(self) -> None:
        """Change some facts and rules in one update, perhaps after a preview of it."""
        rules, facts, of_set = set(self.rules), set(self.facts), set(self.of_set)
        gone = {fact for fact in sorted(facts) if self.chance.random() < 0.25}
        came = {self.fact() for _ in range(self.chance.randrange(6))}
        toggled = {name for name in RULES if self.chance.random() < 0.2}
        if replaces := self.chance.random() < 0.25:
            of_set = {self.fact() for _ in range(self.chance.randrange(4))}
        previewed = self.chance.random() < 0.2
        for update in [self.kb.preview] * previewed + [self.kb.update]:
            with update() as u:
                for name in sorted(toggled & rules):
                    u.drop_rules(name)
                for fact in sorted(gone):
                    u.delete(fact[0], [fact[1:]])
                for fact in sorted(came):
                    u.insert(fact[0], [fact[1:]])
                if added := "".join(
                    f"{name}: {RULES[name][0]}\n" for name in sorted(toggled - rules)
                ):
                    u.add_rules(added)
                if replaces:
                    stated = [f"{fact[0]}({', '.join(fact[1:])})." for fact in sorted(of_set)]
                    u.replace_rules(" ".join(stated), set="stated")
        note(f"- {sorted(gone)} + {sorted(came)} rules {sorted(toggled)} set {sorted(of_set)}")
        self.rules, self.facts, self.of_set = rules ^ toggled, (facts - gone) | came, of_set
        assert u.change is not None
        told = {name: len(u.change.inserted_facts(name)) for name in u.change.inserted}
        assert told == u.change.inserted

    def check(self) -> None:
        wanted: dict[str, set[Fact]] = {}
        for name, *row in follows(self.rules, self.facts | self.of_set):
            wanted.setdefault(name, set()).add(tuple(row))
        found = {name: set(rows) for name, rows in extensions(self.kb).items() if "@" not in name}
        assert {name: rows for name, rows in found.items() if rows} == wanted
        if derived_ones := sorted(self.derived(wanted)):
            goal = self.chance.choice(derived_ones)
            assert ":-" in str(self.kb.why(f"{goal[0]}({', '.join(goal[1:])})"))

    def derived(self, wanted: dict[str, set[Fact]]) -> set[Fact]:
        every = {(name, *row) for name, rows in wanted.items() for row in rows}
        return every - self.facts - self.of_set

    def made(self) -> set[str]:
        """The names of all rules that are evaluated."""
        return {name for names in self.kb.hypernodes()["rules"].to_pylist() for name in names}


@settings(max_examples=SEQUENCES)
@given(seed=st.integers(0, 2**32))
def test_changes(open_kb: OpenKb, seed: int) -> None:
    chance = Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "one.duckdb"
        sequence = Sequence(open_kb(path), chance)
        for _ in range(ACTS):
            sequence.act()
            sequence.check()
            if chance.random() < 0.2:
                sequence.kb.close()
                sequence.kb = open_kb(path)
        checked = sequence.kb.verify()
        assert not checked.missing and not checked.surplus
        with open_kb() as anew:
            for fact in sorted(sequence.facts):
                anew.insert(fact[0], [fact[1:]])
            other = Sequence(anew, chance)
            anew.add_rules("".join(f"{n}: {RULES[n][0]}\n" for n in sorted(sequence.rules)))
            stated = [f"{fact[0]}({', '.join(fact[1:])})." for fact in sorted(sequence.of_set)]
            anew.replace_rules(" ".join(stated), set="stated")
            assert other.made() == sequence.made()
        sequence.kb.close()
