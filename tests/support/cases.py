"""Cases are files: how one is run."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.places import CASES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


OpenKb = Callable[..., "KnowledgeBase"]


Value = str | int | float | bool


DIRECTORIES = sorted(path.parent for path in CASES.glob("*/*/program.rules"))


class Session:
    """A knowledge base and what it takes to open it again."""

    def __init__(self, open_kb: OpenKb, file: Path | None = None, strategy: str = "auto") -> None:
        self.open_kb, self.file, self.strategy = open_kb, file, strategy
        self.kb = self._open()

    def _open(self) -> KnowledgeBase:
        return self.open_kb(self.file or ":memory:", strategy=self.strategy)

    def reopen(self) -> None:
        if self.file:
            self.kb.close()
            self.kb = self._open()


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _assert_holds(case: Path, session: Session) -> None:
    refusal = case / "expected_error.txt"
    told = (case / "expected", case / "asked")
    assert refusal.exists() or any(place.exists() for place in told), "the case expects nothing"
    try:
        if refusal.exists():
            _assert_refused(case, session, refusal.read_text().splitlines())
        else:
            _run(case, session)
        session.reopen()
        _assert_expected(case, session.kb)
        found = session.kb.verify()
        assert found, found
    finally:
        session.kb.close()


def _assert_refused(case: Path, session: Session, lines: list[str]) -> None:
    from zodiac_sql.errors import ZodiacError

    with pytest.raises(ZodiacError) as raised:
        _run(case, session)
    message = str(raised.value)
    for line in lines:
        assert line in message


def _run(case: Path, session: Session) -> None:
    session.kb.add_rules(case / "program.rules")
    facts, steps = case / "facts.dl", case / "steps.txt"
    if facts.exists():
        session.kb.add_rules(facts)
    if steps.exists():
        for line in steps.read_text().splitlines():
            _change(case, session, line)


def _change(case: Path, session: Session, line: str) -> None:
    first, *others = line.split(" ; ")
    if first == "reopen":
        session.reopen()
    elif others:
        with session.kb.update() as update:
            for step in (first, *others):
                _step(case, update, step)
    else:
        _step(case, session.kb, first)


def _step(case: Path, target: Any, step: str) -> None:
    """`target` is a knowledge base or an update: both have the same verbs."""
    verb, _, rest = step.strip().partition(" ")
    if verb == "insert":
        target.insert(*_facts(rest))
    elif verb == "delete":
        target.delete(*_facts(rest))
    elif verb == "add":
        target.add_rules(rest)
    elif verb == "add-rules":
        target.add_rules(case / rest)
    elif verb == "drop":
        target.drop_rules(*rest.split())
    elif verb == "keep":
        predicate, _, window = rest.partition(" ")
        target.keep(predicate, *([window] if window else []))
    elif verb == "tick":
        target.tick(datetime.fromisoformat(rest))
    else:
        pytest.fail(f"unknown step: {step}")


# A parser of facts of our own, so that insert and delete are tested without the library's.
FACT = re.compile(r'\s*(?P<name><[^>]*>|\w+)\((?P<terms>(?:"[^"]*"|[^()"])*)\)\s*[,.]')


TERM = re.compile(
    r'"(?P<text>[^"]*)"(?P<mark>\^\^xsd:\w+|@\w+)?|<(?P<iri>[^>]*)>|(?P<word>[^\s,]+)'
)
XSD = "http://www.w3.org/2001/XMLSchema#"


def _facts(text: str) -> tuple[str, list[tuple[Value, ...]]]:
    """`p(a, 1), p(b, 2).` as ("p", [("a", 1), ("b", 2)])."""
    facts = list(FACT.finditer(text))
    names = {fact["name"].strip("<>") for fact in facts}
    assert len(names) == 1 and facts[-1].end() == len(text), f"facts of one predicate: {text}"
    rows = [tuple(_value(term) for term in TERM.finditer(fact["terms"])) for fact in facts]
    return names.pop(), rows


def _value(term: re.Match[str]) -> Value:
    """A value as `insert` takes it. A literal is the text of its symbol."""
    word = term["word"]
    if term["mark"]:
        text = re.sub(r"xsd:(\w+)", rf"<{XSD}\1>", term["mark"])
        return f'"{term["text"]}"{text}'
    if word is None:
        return term["iri"] if term["text"] is None else term["text"]
    if word in ("true", "false"):
        return word == "true"
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    return float(word) if re.fullmatch(r"-?\d+\.\d+", word) else word


def _assert_expected(case: Path, kb: KnowledgeBase) -> None:
    for file in sorted((case / "asked").glob("*.rules")):
        _assert_answered(file, kb)
    names = _predicate_names(case / "predicates.txt")
    for file in sorted((case / "expected").glob("*.csv")):
        predicate = names.get(file.stem, file.stem)
        with file.open(newline="") as lines:
            expected = sorted(row for row in csv.reader(lines) if row)
        actual = sorted([_cell(value) for value in row] for row in kb.table(predicate).fetchall())
        assert actual == expected, predicate


def _assert_answered(file: Path, kb: KnowledgeBase) -> None:
    """The goals in the first line of a file of rules have the answers in the table beside it."""
    goals = file.read_text().partition("\n")[0].removeprefix("% ")
    with file.with_suffix(".csv").open(newline="") as lines:
        expected = sorted(row for row in csv.reader(lines) if row)
    actual = sorted([_cell(value) for value in row] for row in kb.query(goals, rules=file))
    assert actual == expected, goals


def _predicate_names(file: Path) -> dict[str, str]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {name: predicate for name, predicate in (line.split() for line in lines)}


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    text = f"{value:.9g}" if isinstance(value, float) else str(value)
    return re.sub(rf"\^\^<{XSD}(\w+)>$", r"^^xsd:\1", text)
