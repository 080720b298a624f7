"""Runs every case below tests/cases: a new case needs no code.

    tests/cases/<topic>/<name>/
        program.rules           the rules, and facts if you like
        facts.dl                optional: more facts, in the syntax of rules
        steps.txt               optional: changes that follow, one on a line (see below)
        expected/<name>.csv     the extension of a predicate after everything: no header, any order
        asked/<name>.rules      optional: the rules of a question; the first line is a comment with
                                its goals. asked/<name>.csv has the answers
        predicates.txt          optional: `<name> <predicate>` for predicates with unwieldy names
        expected_error.txt      instead of, or besides, expected/: the case must be refused, and
                                each line must occur in the message. Then expected/ is what still
                                holds, because a refused change changes nothing.

    insert p(a, 1), p(b, 2).    insert explicit facts of one predicate
    delete p(a, 1).             delete explicit facts of one predicate
    add r9: p(X) :- q(X).       add a rule
    add-rules more.rules        add the rules of a file beside steps.txt
    drop r9 r10                 drop rules by name
    reopen                      close the file and open it again; nothing in memory

Steps on one line, with ` ; ` between them, are one change.

Every case runs on a file. Every twelfth one that has steps also runs with a maintenance strategy
other than `auto`, turn and turn about (`make fuzz` tries all of them), and those of the topic
`strategies` with each: in memory, unless a step is to open the file again. Of those that have no
steps, each topic's first one also runs in memory.

Cells: numbers as numbers (2 and 2.0 are the same), `true` and `false`, anything else as its text.
The table of a nullary predicate that holds is the one line `true`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cases import DIRECTORIES, OpenKb, Session, _assert_holds, named
from support.strategies import STRATEGIES


@pytest.mark.parametrize("case", DIRECTORIES, ids=named)
def test_case(case: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    _assert_holds(case, Session(open_kb, tmp_path / "case.duckdb"))


FIRST_WITHOUT_STEPS = {
    case.parent: case for case in reversed(DIRECTORIES) if not (case / "steps.txt").exists()
}


@pytest.mark.parametrize("case", FIRST_WITHOUT_STEPS.values(), ids=named)
def test_case_in_memory(case: Path, open_kb: OpenKb) -> None:
    _assert_holds(case, Session(open_kb))


OTHERS = [name for name in STRATEGIES if name != "auto"]
CHANGING = [case for case in DIRECTORIES if (case / "steps.txt").exists()]


def _in_turn(number: int) -> list[str]:
    return [] if number % 12 else [OTHERS[number // 12 % len(OTHERS)]]


BY_STRATEGY = [
    (case, other)
    for number, case in enumerate(CHANGING)
    for other in (OTHERS if case.parent.name == "strategies" else _in_turn(number))
]


@pytest.mark.parametrize(
    ("case", "other"), BY_STRATEGY, ids=[f"{other}-{named(case)}" for case, other in BY_STRATEGY]
)
def test_case_by_strategy(case: Path, open_kb: OpenKb, tmp_path: Path, other: str) -> None:
    reopened = re.search(r"^reopen$", (case / "steps.txt").read_text(), re.MULTILINE)
    _assert_holds(case, Session(open_kb, tmp_path / "case.duckdb" if reopened else None, other))
