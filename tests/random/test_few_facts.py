"""Random changes of few facts: what they leave, what they tell, and what is known of the file.

Some predicates are of no rule, so that their facts are written directly; others are read or derived
by rules. Some changes are made through a second knowledge base that comes and goes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import share

from zodiac_sql.facts.stage import MOST_AS_PARAMETERS
from zodiac_sql.storage import catalog
from zodiac_sql.storage.sources import sources_of

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]
Row = tuple[Any, ...]
Facts = dict[str, set[Row]]

PROGRAM = """
    .decl alone(x: symbol, n: int)
    .decl value(x: symbol, v: float)
    .decl other(b: bool, d: date, t: timestamp)
    .decl read(x: symbol, y: symbol)
    .decl both(x: symbol)
    both(X) :- read(X, _), not value(X, 0.0).
    none(X) :- both(X), alone2(X).
"""

SYMBOLS = st.sampled_from(
    ["a", "b", "c", "<tag:x>", '"7"@en', "_:b", '"a"', *(f"new{n}" for n in range(20))]
)
MANY = [(f"many{n}", n) for n in range(MOST_AS_PARAMETERS + 1)]
FLOATS = st.sampled_from([0.0, -0.0, 1.5, 2, float("inf"), 1e308, 2**53 + 1])
DAYS = st.sampled_from([dt.date(1, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)])
TIMES = st.sampled_from([dt.datetime(1, 1, 1), dt.datetime(2024, 2, 29, 12, 0, 0, 1)])
ROWS = {
    "alone": st.tuples(SYMBOLS, st.sampled_from([0, 1, -(2**63), 2**63 - 1])),
    "value": st.tuples(SYMBOLS, FLOATS),
    "other": st.tuples(st.booleans(), DAYS, TIMES),
    "read": st.tuples(SYMBOLS, SYMBOLS),
    "both": st.tuples(SYMBOLS),
}


@dataclass(frozen=True)
class Verb:
    name: Literal["insert", "delete"]
    predicate: str
    rows: list[Row]


@dataclass(frozen=True)
class Act:
    """An update: by the first knowledge base, or by a second one that is open for some acts."""

    verbs: list[Verb]
    second: bool = False
    closes: bool = False
    preview: bool = False
    position: int | None = None


NAMES: st.SearchStrategy[Literal["insert", "delete"]]
NAMES = st.sampled_from(["insert", "insert", "delete"])
VERBS = st.sampled_from(sorted(ROWS)).flatmap(
    lambda name: st.builds(Verb, NAMES, st.just(name), st.lists(ROWS[name], max_size=4))
) | st.builds(Verb, NAMES, st.just("alone"), st.just(MANY))
SELDOM = st.sampled_from([False, False, False, False, True])
ACTS = st.builds(
    Act,
    st.lists(VERBS, min_size=1, max_size=2),
    SELDOM,
    st.booleans(),
    SELDOM,
    st.none() | st.integers(0, 3),
)


@dataclass
class Model:
    """The explicit facts, as they must be."""

    explicit: Facts = field(default_factory=lambda: {name: set() for name in ROWS})

    def after(self, verbs: list[Verb]) -> Model:
        """An insertion wins over a deletion of the same fact."""
        sets: dict[str, Facts] = {name: {p: set() for p in ROWS} for name in ("insert", "delete")}
        for verb in verbs:
            rows = {_stored(verb.predicate, row) for row in verb.rows}
            sets[verb.name][verb.predicate] |= rows
        return Model(
            {p: (rows - sets["delete"][p]) | sets["insert"][p] for p, rows in self.explicit.items()}
        )

    def extensions(self) -> Facts:
        zero = {x for x, v in self.explicit["value"] if v == 0}
        derived = {(x,) for x, _ in self.explicit["read"] if x not in zero}
        return {**self.explicit, "both": self.explicit["both"] | derived}


def _stored(predicate: str, row: Row) -> Row:
    """A fact as it comes back: symbols in their canonical form, and floats for ints."""
    first, *others = ("a" if value == '"a"' else value for value in row)
    return (first, float(others[0])) if predicate == "value" else (first, *others)


def facts(kb: KnowledgeBase) -> Facts:
    return {name: set(kb.table(name)) for name in ROWS}


def moved(change: Change, which: str, predicate: str) -> set[Row]:
    table = getattr(change, f"{which}_facts")(predicate)
    return {tuple(row.values()) for row in table.to_pylist()}


def assert_told(change: Change, before: Facts, after: Facts) -> None:
    for which, more, less in (("inserted", after, before), ("deleted", before, after)):
        expected = {name: more[name] - less[name] for name in ROWS}
        counts = {name: len(rows) for name, rows in expected.items() if rows}
        assert dict(getattr(change, which)) == counts
        for name, rows in expected.items():
            assert moved(change, which, name) == rows


def assert_known(kb: KnowledgeBase) -> None:
    """What the knowledge base has in memory is what it would read from the file."""
    state = kb._session.current()
    loaded = catalog.load(kb._session.store)
    assert (state.rows, state.generation) == (loaded.rows, loaded.generation)
    assert (state.schema, state.positions) == (loaded.schema, loaded.positions)
    assert sources_of(state) == sources_of(replace(state))  # it was handed on, or is found anew


def update(kb: KnowledgeBase, act: Act) -> Change:
    with (kb.preview if act.preview else kb.update)() as verbs:
        for verb in act.verbs:
            getattr(verbs, verb.name)(verb.predicate, verb.rows)
        if act.position is not None:
            verbs.record("s", act.position)
    return verbs.change


@given(st.lists(ACTS, min_size=3, max_size=12), st.sampled_from(["auto", "dred_marking"]))
@settings(max_examples=share(3))
def test_few_facts(open_kb: OpenKb, acts: list[Act], strategy: str) -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "few.duckdb")
        model, second = Model(), None
        with open_kb(file, strategy) as first:
            first.add_rules(PROGRAM)
            for act in acts:
                if act.second and second is None:
                    second = open_kb(file, strategy)
                kb = second if act.second and second else first
                change, after = update(kb, act), model.after(act.verbs)
                assert_told(change, model.extensions(), after.extensions())
                if not act.preview:
                    model = after
                    assert act.position is None or kb.position("s") == act.position
                assert_known(kb)
                assert facts(first) == model.extensions()
                if second and act.closes:
                    second.close()
                    second = None
            assert first.verify()
            if second:
                second.close()
        with open_kb(file, strategy) as again:
            assert facts(again) == model.extensions() and again.verify()
