"""Odd texts and odd values: whatever a text says, it is answered, or refused by an error of ours.

None raises anything else, takes more than five seconds, or ends the process; and each error can be
shown. Texts are those of odd_texts.py. What was found here is a case in tests/cases.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import networkx
import pytest
from generators.odd_texts import body, corpus, mutated, odd_text
from support import budget

from zodiac_sql.errors import ZodiacError
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.parse import parse, parse_what_can_be
from zodiac_sql.language.syntax import Rule, atoms_of
from zodiac_sql.language.templates import is_template

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

TEXTS = budget.either(ci=250, fuzz=1_000)
PARSED = budget.either(ci=500, fuzz=5_000)
TOGETHER = 40
"""So many texts are told to one knowledge base."""

LONGEST = budget.either(ci=10, fuzz=15)
"""In seconds of this process, for one text."""

ROWS: dict[str, list[tuple[object, ...]]] = {
    "ints": [(0,), (-1,), (2**63 - 1,)],
    "floats": [(0.5,), (float("nan"),), (float("-inf"),), (5e-324,)],
    "symbols": [("a",), ("http://a/b",), ("a\0b",)],
    "dates": [(dt.date(1, 1, 1),), (dt.date(9999, 12, 31),)],
    "moments": [(dt.datetime(1, 1, 1),), (dt.datetime(9999, 12, 31, 23, 59, 59, 999999),)],
    "bools": [(True,), (False,)],
    "pairs": [("a", "b"), ("b", "a"), ("b", "c")],
    "numbers": [(1, 2), (2, 3)],
}


@pytest.mark.fuzz(share=12)
def test_texts(open_kb: OpenKb, tmp_path: Path) -> None:
    rng = Random(budget.seed(2041))
    texts = corpus()
    for _ in range(TEXTS // TOGETHER):
        with open_kb() as kb:
            for predicate in ("p", "q", "s", "edge", "e", "n"):
                kb.insert(predicate, rng.choice(list(ROWS.values())))
            for _ in range(TOGETHER):
                _tell(kb, odd_text(rng, texts), rng, tmp_path / "text")
            assert kb.verify()


@pytest.mark.fuzz(share=2)
def test_texts_that_are_only_parsed(tmp_path: Path) -> None:
    rng = Random(budget.seed(2040))
    texts = corpus()
    for _ in range(PARSED):
        text = odd_text(rng, texts)
        with _answered_or_refused(text, tmp_path / "text"):
            for rule in parse(text).rules:
                _is_kept(rule)
    budget.tried("texts that were only parsed", PARSED)


@pytest.mark.fuzz(share=4)
def test_queries(open_kb: OpenKb, tmp_path: Path) -> None:
    rng = Random(budget.seed(2042))
    bodies = [part.partition(".\n")[0] for text in corpus() for part in text.split(":-")[1:]]
    for _ in range(TEXTS // TOGETHER // 2):
        with open_kb() as kb:
            for predicate in ("p", "q", "s", "edge", "e", "n"):
                kb.insert(predicate, rng.choice(list(ROWS.values())))
            for _ in range(TOGETHER):
                text = body(rng) if rng.random() < 0.5 else mutated(rng, bodies)
                with _answered_or_refused(text, tmp_path / "text"):
                    kb.query(text)
                budget.tried("texts of queries")


def _is_kept(rule: Rule) -> None:
    """The text of a rule, which is what a file keeps of it, is that rule."""
    plain = not is_template(rule)
    again, problems = parse_what_can_be(rule.text, "<kept>", dict(rule.prefixes), plain=plain)
    found, wanted = ([repr((one.head, one.body)) for one in each] for each in (again.rules, [rule]))
    assert not problems and found == wanted, rule.text  # NaN is not NaN, but is written as such


def _tell(kb: KnowledgeBase, text: str, rng: Random, note: Path) -> None:
    """Add a text, and take it out again."""
    before = set(kb.rules()["name"].to_pylist())
    with _answered_or_refused(text, note):
        rules = parse_what_can_be(text)[0].rules
        if not _may_be_endless(rules) and not _may_be_endless((*rules, *_known(kb))):
            kb.add_rules(text)
    budget.tried("texts")
    added = set(kb.rules()["name"].to_pylist()) - before
    if added and rng.random() < 0.9:
        kb.drop_rules(*added)


def _known(kb: KnowledgeBase) -> tuple[Rule, ...]:
    texts = kb.rules()["rule"].to_pylist()
    return tuple(rule for text in texts for rule in parse_what_can_be(text)[0].rules)


def _may_be_endless(rules: tuple[Rule, ...]) -> bool:
    """Whether rules that need each other compute: `p(Y) :- p(X), Y = X + 1` never ends."""
    graph = networkx.DiGraph()
    graph.add_edges_from(
        (atom.predicate, r.head.predicate) for r in rules for atom in atoms_of(r.body)
    )
    groups = {
        name: group for group in networkx.strongly_connected_components(graph) for name in group
    }
    return any(
        any(functions_in(rule.body))
        and any(a.predicate in groups.get(rule.head.predicate, ()) for a in atoms_of(rule.body))
        for rule in rules
    )


@contextmanager
def _answered_or_refused(text: str, note: Path) -> Iterator[None]:
    note.write_bytes(text.encode("utf-8", "surrogatepass"))  # read it after a crash
    start = time.process_time()
    try:
        yield
    except ZodiacError as error:
        str(error).encode("utf-8", "backslashreplace")
        assert str(error) and len(str(error)) < 200_000
        budget.tried("refusals")
    except Exception as error:
        error.add_note(repr(text[:2_000]))
        raise
    took = time.process_time() - start
    assert took < LONGEST, f"{took:.1f} seconds for {text[:2_000]!r}"


# --- values ---------------------------------------------------------------------------------------

VALUES: dict[str, list[object]] = {
    "int": [0, 1, -1, 7, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)],
    "float": [0.0, -0.0, 0.5, -2.5, 5e-324, 1e308, -1e308, 2.0**53, float("inf"), float("-inf"),
              float("nan"), 1e-300],
    "symbol": ["", "a", "A", "ß", "İ", "😀", "a\0b", " a ", "a" * 300, "http://a/b", '"x"@en',
               "_:b0", '"1"^^<http://t>', "1", "é", "e\u0301"],
    "date": [dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "timestamp": [dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
                  dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
    "bool": [True, False],
}  # fmt: skip

NUMBER, MOMENT = ("int", "float"), ("date", "timestamp")
SIGNATURES: list[tuple[str, tuple[tuple[str, ...], ...], tuple[str, ...]]] = [
    *((name, (NUMBER,), NUMBER) for name in ("abs", "round", "floor", "ceil")),
    *((name, (NUMBER,), ("float",)) for name in ("sqrt", "exp", "ln")),
    *((name, (NUMBER, NUMBER), NUMBER) for name in "+-*/%"),
    ("power", (NUMBER, NUMBER), ("float",)),
    ("round", (NUMBER, ("int",)), NUMBER),
    *((name, (NUMBER, NUMBER, NUMBER), NUMBER) for name in ("least", "greatest")),
    *((name, (MOMENT[:1], MOMENT[:1]), MOMENT[:1]) for name in ("least", "greatest")),
    *((name, (("symbol",),), ("symbol",)) for name in ("lower", "upper", "trim")),
    ("length", (("symbol",),), ("int",)),
    *(("concat", ((kind,), ("symbol",)), ("symbol",)) for kind in VALUES),
    ("substr", (("symbol",), ("int",), ("int",)), ("symbol",)),
    ("substr", (("symbol",), ("int",)), ("symbol",)),
    ("replace", (("symbol",), ("symbol",), ("symbol",)), ("symbol",)),
    *((name, (("symbol",),) * 2, ("bool",)) for name in ("contains", "starts_with", "ends_with")),
    *((name, (MOMENT,), ("int",)) for name in ("year", "month", "day")),
    *((name, (MOMENT[1:],), ("int",)) for name in ("hour", "minute", "second")),
]


@pytest.mark.fuzz(share=4)
def test_values(open_kb: OpenKb, tmp_path: Path) -> None:
    """A rule and a query find the same values of an expression, or both are refused."""
    rng = Random(budget.seed(2043))
    for _ in range(budget.either(ci=4, fuzz=8)):
        with open_kb() as kb:
            for kind, values in VALUES.items():
                kb.insert(f"v_{kind}", [(value,) for value in values])
            for number in range(25):
                _compare(kb, number, _goals(rng), tmp_path / "text")


def _goals(rng: Random) -> str:
    """Atoms for the variables of an expression, and the expression."""
    atoms: list[str] = []
    expression = _typed(rng, rng.choice(list(VALUES)), 3, atoms)
    return ", ".join([*atoms, f"V = {expression}"])


def _typed(rng: Random, kind: str, depth: int, atoms: list[str]) -> str:
    """An expression of a type; what it reads comes to the atoms."""
    fitting = [one for one in SIGNATURES if kind in one[2]]
    if not depth or not fitting or rng.random() < 0.2:
        if len(atoms) > 2:
            return (
                atoms[0].partition("(")[2][:-1]
                if f"v_{kind}(" in atoms[0]
                else _constant(rng, kind)
            )
        atoms.append(f"v_{kind}(X{len(atoms)})")
        return f"X{len(atoms) - 1}"
    name, parameters, _ = rng.choice(fitting)
    arguments = [_typed(rng, rng.choice(kinds), depth - 1, atoms) for kinds in parameters]
    if name in "+-*/%":
        return f"({arguments[0]} {name} {arguments[1]})"
    return f"{name}({', '.join(arguments)})"


def _constant(rng: Random, kind: str) -> str:
    return {
        "int": str(rng.choice([0, 3, -1, 2**63 - 1])), "float": "2.5", "symbol": '"a b"',
        "date": '"2024-02-29"^^xsd:date', "timestamp": '"2024-02-29T00:00:00"^^xsd:dateTime',
        "bool": "true",
    }[kind]  # fmt: skip


def _compare(kb: KnowledgeBase, number: int, goals: str, note: Path) -> None:
    asked = derived = None
    with _answered_or_refused(goals, note):
        asked = set(map(repr, kb.query(f"{goals}, V = V")["V"].to_pylist()))
    with _answered_or_refused(goals, note):
        kb.add_rules(f"r{number}: made{number}(V) :- {goals}.")
        derived = set(map(repr, kb.table(f"made{number}")[0].to_pylist()))
        with suppress(ZodiacError):  # of values that exist no longer
            kb.drop_rules(f"r{number}")
    budget.tried("expressions")
    assert asked == derived, goals
