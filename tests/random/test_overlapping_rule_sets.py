"""Random sequences of rule sets that come, change and go, and overlap, against a simple model.

The model has the rules and facts of each set, and the explicit facts; clingo, or naive evaluation,
says what follows from all of them. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_overlapping_rule_sets.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.programs import PLAIN, Atom, Program, Row, Rule, atom_text, rule_text
from generators.random_programs import random_rows
from generators.random_rules import chance, shuffled
from generators.rule_changes import Recipe, recipes
from generators.rule_programs import distinct
from hypothesis import given, note, settings
from support.examples import share
from support.hrdg import allowed
from support.oracle import extensions
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.update import Update

OpenKb = Callable[..., "KnowledgeBase"]

SEQUENCES = share(10, 3)
ACTS = 7
SETS = ("main", "heat", "cold", "a.b-c")
LABELS = ("x1", "x2", "r1", "r2", "")

Facts = dict[str, set[Row]]
Text = list[tuple[str, Rule]]
"""Rules, each with its label or with none."""


@dataclass
class Model:
    """What each set has. Labels that the library gives are not predicted: they are None."""

    rules: dict[str, dict[Rule, str | None]] = field(default_factory=lambda: {s: {} for s in SETS})
    facts: dict[str, Facts] = field(default_factory=lambda: {s: {} for s in SETS})
    """Those of main are the explicit facts."""
    before: dict[str, dict[Rule, str | None]] = field(default_factory=dict)
    """The rules before the present change, whose labels a new version keeps if it gives none."""
    inserted: Facts = field(default_factory=dict)
    """The explicit facts that the present change has inserted: they stay, whatever it deletes."""

    def union(self) -> list[Rule]:
        every = dict.fromkeys(rule for rules in self.rules.values() for rule in rules)
        return [replace(rule, name=f"n{number}") for number, rule in enumerate(every)]

    def all_facts(self) -> Facts:
        found: Facts = {}
        for facts in self.facts.values():
            for name, rows in facts.items():
                found.setdefault(name, set()).update(rows)
        return found

    def add(self, name: str, text: Text, facts: Facts) -> None:
        for label, rule in text:
            self.rules[name].setdefault(rule, label or None)
        for predicate, rows in facts.items():
            self.facts[name].setdefault(predicate, set()).update(rows)
            if name == "main":
                self.inserted.setdefault(predicate, set()).update(rows)

    def delete(self, facts: Facts) -> None:
        for predicate, rows in facts.items():
            going = rows - self.inserted.get(predicate, set())
            self.facts["main"].get(predicate, set()).difference_update(going)

    def replace(self, name: str, text: Text, facts: Facts) -> None:
        given_ = {label for label, _ in text}
        known, before = self.rules[name], self.before.get(name, {})
        old = {r: label for r, label in known.items() if before.get(r) == label not in given_}
        self.rules[name] = {rule: label or old.get(rule) for label, rule in text}
        if name == "main":
            self.add(name, [], facts)
        else:
            self.facts[name] = {p: set(rows) for p, rows in facts.items()}

    def drop(self, name: str) -> None:
        self.rules[name] = {}
        if name != "main":
            self.facts[name] = {}


Act = Callable[["Model", "Update"], None]


@settings(max_examples=SEQUENCES)
@given(recipe=recipes)
def test_sets_come_and_go(open_kb: OpenKb, recipe: Recipe) -> None:
    program, rng = recipe.program("sets"), recipe.random("acts of sets")
    note(str(program))
    strategy = rng.choice(STRATEGIES)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.duckdb"
        model = Model()
        kb = open_kb(path, strategy=strategy)
        try:
            for _ in range(ACTS):
                model = _go_on(kb, model, program, rng)
                if chance(rng, 30):
                    kb.close()
                    kb = open_kb(path, strategy=rng.choice((strategy, *STRATEGIES)))
                    assert_is(kb, model, program)
        finally:
            kb.close()
        with closing(open_kb(path)) as last:
            assert last.verify()


def _go_on(kb: KnowledgeBase, model: Model, program: Program, rng: Random) -> Model:
    """One change of several acts; if it leads to no program, it is refused, and nothing happens."""
    from zodiac_sql.errors import ProgramError

    after = replace(deepcopy(model), before=deepcopy(model.rules), inserted={})
    acts = [_act(after, program, rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    wrong = _wrong_acts(after, program, rng) if chance(rng, 20) else []
    acts += wrong
    note("\n".join(["% a change", *(told for told, _ in acts)]))
    rules = after.union()
    if wrong or not allowed(rules):
        with pytest.raises(ProgramError), kb.update() as update:
            for _, act in acts:
                act(update)
        after = model
    else:
        with kb.update() as update:
            for _, act in acts:
                act(update)
    assert_is(kb, after, program)
    return after


def _act(model: Model, program: Program, rng: Random) -> tuple[str, Callable[[Update], None]]:
    """Something to do, which the model has done already."""
    name, what = rng.choice(SETS), rng.randrange(100)
    if what < 40:
        text, facts = _text(model, name, program, rng), _facts(program, rng)
        model.add(name, text, facts)
        written = _written(text, facts)
        return f"% add to {name}\n{written}", lambda u: u.add_rules(written, set=name)
    if what < 65:
        text, facts = _new_text(model, name, program, rng), _facts(program, rng)
        model.replace(name, text, facts)
        written = _written(text, facts)
        return f"% replace {name}\n{written}", lambda u: u.replace_rules(written, set=name)
    if what < 78:
        model.drop(name)
        return f"% drop {name}", lambda u: u.drop_rules(set=name)
    labelled = [(rule, label) for rule, label in model.rules[name].items() if label]
    if what < 88 and labelled:
        rule, label = rng.choice(labelled)
        del model.rules[name][rule]
        given_ = label if name == "main" else f"{name}/{label}"
        return f"% drop {given_}", lambda u: u.drop_rules(given_, strict=True)
    facts = _facts(program, rng)
    if chance(rng, 50):
        model.add("main", [], facts)
        return f"% insert {facts}", lambda u: [u.insert(p, list(r)) for p, r in facts.items()]  # type: ignore[return-value]
    model.delete(facts)
    return f"% delete {facts}", lambda u: [u.delete(p, list(r)) for p, r in facts.items()]  # type: ignore[return-value]


def _wrong_acts(
    model: Model, program: Program, rng: Random
) -> list[tuple[str, Callable[[Update], None]]]:
    """Something that must be refused, if there is any: a label that a set has for another rule."""
    name = rng.choice(SETS)
    labels = [label for label in model.rules[name].values() if label]
    new = [rule for rule in _some_rules(program, rng) if rule not in model.rules[name]]
    if not labels or not new:
        return []
    written = _written([(rng.choice(labels), new[0])], {})
    return [(f"% wrong: add to {name}\n{written}", lambda u: u.add_rules(written, set=name))]


def _text(model: Model, name: str, program: Program, rng: Random) -> Text:
    """Some rules for a set; those that it has already may come again, under the same label."""
    taken = {label for label in model.rules[name].values() if label}
    text: Text = []
    for rule in _some_rules(program, rng):
        label = model.rules[name].get(rule, rng.choice(LABELS)) or ""
        if label.startswith("r") or (label in taken and rule not in model.rules[name]):
            label = ""  # r1, r2, .. may be taken by rules that the library has named
        taken.add(label)
        text.append((label, rule))
    return text


def _new_text(model: Model, name: str, program: Program, rng: Random) -> Text:
    """Some rules with any labels, each once."""
    taken: set[str] = set()
    text: Text = []
    for rule in _some_rules(program, rng):
        label = rng.choice((model.rules[name].get(rule) or "", *LABELS))
        label = "" if label in taken or label.startswith("r") else label
        taken.add(label)
        text.append((label, rule))
    return text


def _some_rules(program: Program, rng: Random) -> list[Rule]:
    pool = [replace(rule, name="") for rule in (*program.rules, *program.spare)]
    pool = [rule for n, rule in enumerate(pool) if distinct(_numbered([*pool[:n], rule]))]
    return list(shuffled(rng, pool))[: rng.choice((0, 1, 2, 3, 5))]


def _numbered(rules: Iterable[Rule]) -> list[Rule]:
    return [replace(rule, name=f"n{number}") for number, rule in enumerate(rules)]


def _facts(program: Program, rng: Random) -> Facts:
    predicates = [p for p in program.schema if not p.aggregate]
    found: Facts = {}
    for predicate in rng.sample(predicates, min(len(predicates), rng.choice((0, 0, 1, 1, 2)))):
        found[predicate.name] = set(
            random_rows(rng, predicate, rng.choice((1, 2)), program.symbols, program.integers)
        )
    return found


def _written(text: Text, facts: Facts) -> str:
    lines = [
        rule_text(replace(rule, name="l")).partition(": ")[2]
        if not label
        else rule_text(replace(rule, name=label))
        for label, rule in text
    ]
    lines += [
        f"{atom_text(Atom(name, row), PLAIN, '')}."  # type: ignore[arg-type]
        for name, rows in facts.items()
        for row in sorted(rows, key=repr)
    ]
    return "\n".join(lines) + "\n"


# --- what there should be -------------------------------------------------------------------------


def assert_is(kb: KnowledgeBase, model: Model, program: Program) -> None:
    """Whether a knowledge base has these sets, and all that follows from them."""
    every = extensions(model.union(), model.all_facts())
    known = {row["predicate"] for row in kb.predicates().to_pylist()}
    for predicate in program.schema:
        rows = set(kb.table(predicate.name).fetchall()) if predicate.name in known else set()
        if not predicate.kinds:
            rows = {()} if rows else set()
        assert rows == set(every.get(predicate.name, ())), predicate.name
    _assert_sets(kb, model)


def _assert_sets(kb: KnowledgeBase, model: Model) -> None:
    texts = {name: sorted(_text_of(rule) for rule in rules) for name, rules in model.rules.items()}
    rows = [row for row in kb.rules().to_pylist() if "facts:" not in row["name"]]
    found: dict[str, list[str]] = {name: [] for name in SETS}
    for row in rows:
        for name in row["sets"]:
            found[name].append(row["rule"])
    assert {name: sorted(each) for name, each in found.items()} == texts
    assert len({row["rule"] for row in rows}) == len(rows), "a rule is there twice"
    labels = {name: dict(one) for name, one in _members(kb).items()}
    for name, rules in model.rules.items():
        for rule, label in rules.items():
            if label:
                (row,) = [row for row in rows if row["rule"] == _text_of(rule)]
                assert labels[name][label] == row["name"]
    for row in rows:
        names = [
            label if name == "main" else f"{name}/{label}"
            for name, members in labels.items()
            for label, rule in members.items()
            if rule == row["name"]
        ]
        assert row["name"] in names


def _members(kb: KnowledgeBase) -> dict[str, Sequence[tuple[str, str]]]:
    return {one.name: one.members for one in kb._session.state.sets}


def _text_of(rule: Rule) -> str:
    return rule_text(replace(rule, name="l")).partition(": ")[2]
