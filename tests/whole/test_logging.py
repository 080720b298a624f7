"""What the loggers say: nothing by default, a line for each change, statements and operators."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.command_line import zodiac

from zodiac_sql.errors import ConstraintError, ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). !- edge(X, X)."


def said(caplog: pytest.LogCaptureFixture, name: str) -> list[str]:
    found = [one.getMessage() for one in caplog.records if one.name == f"zodiac_sql.{name}"]
    caplog.clear()
    return found


def test_a_line_for_each_change(open_kb: OpenKb, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="zodiac_sql")
    with open_kb() as kb:
        kb.add_rules(RULES)
        (line,) = said(caplog, "change")
        assert "no fact came or went" in line and "3 created (h1, h2 and h3)" in line
        kb.insert("edge", [("a", "b"), ("b", "c")])
        (line,) = said(caplog, "change")
        assert line.startswith(":memory:: 5 facts entered, 0 facts left (")
        assert "; path +3 -0; edge +2 -0; hypernodes: " in line and "\n" not in line
        kb.delete("edge", [("b", "c")])
        assert "path +0 -2" in said(caplog, "change")[0]
        with kb.preview() as preview:
            preview.insert("edge", [("c", "d")])
        kb.query("path(X, Y)")
        assert not caplog.records
        with pytest.raises(ProgramError):
            kb.add_rules("q(X) :- .")
        with pytest.raises(ConstraintError):
            kb.insert("edge", [("x", "x")])
        first, second = said(caplog, "change")
        assert first.startswith(":memory:: no change. ProgramError: ")
        assert second.startswith(":memory:: no change. ConstraintError: ")


def test_operators_and_statements(open_kb: OpenKb, caplog: pytest.LogCaptureFixture) -> None:
    with open_kb() as kb:
        kb.add_rules(RULES)
        caplog.set_level(logging.DEBUG, logger="zodiac_sql")
        kb.insert("edge", [("a", "b"), ("b", "not to be told")])
        statements = said(caplog, "sql")
        assert any("COMMIT" in one and " ms: " in one for one in statements)
        assert not any("not to be told" in one for one in statements)
        kb.delete("edge", [("a", "b")])
        lines = said(caplog, "change")
        assert len(lines) > 1 and "1 deleted" not in lines[0]
        assert any("h2: " in line and " rounds in " in line for line in lines)


def test_streams(open_kb: OpenKb, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="zodiac_sql")
    updates = [
        {"insert": {"edge": [("a", "b")]}},
        {"insert": {"edge": 7}},
        {"delete": {"edge": []}},
    ]
    with open_kb() as kb:
        kb.add_rules(RULES)
        caplog.clear()
        for _ in kb.stream(updates, name="s", skip_bad=True):
            pass
        changes = [one for one in caplog.records if one.name == "zodiac_sql.change"]
        assert "updates 1 to 1 of a stream" in changes[0].getMessage()
        (warning,) = [one for one in caplog.records if one.levelno == logging.WARNING]
        begun, passed, ended = said(caplog, "stream")
        assert warning.getMessage() == passed
    assert begun == "stream s begins after update 0"
    assert passed.startswith("update 2 was passed over: ")
    assert ended == "stream s ends after update 3"


def test_nothing_by_default() -> None:
    text = f"""
import zodiac_sql
with zodiac_sql.connect() as kb:
    kb.add_rules({RULES!r})
    kb.insert("edge", [("a", "b")])
    try:
        kb.insert("edge", [("a", "a")])
    except zodiac_sql.ConstraintError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text(RULES + ' edge("a", "b").')
    arguments = ["run", str(tmp_path / "a.duckdb"), "-r", str(tmp_path / "a.rules")]
    done = zodiac("--log-level", "info", *arguments, cwd=tmp_path)
    assert " INFO zodiac_sql.change: " in done.stderr and "zodiac_sql.sql" not in done.stderr
    done = zodiac("--log-level", "debug", "query", arguments[1], "path(X, Y)", cwd=tmp_path)
    assert " DEBUG zodiac_sql.sql: " in done.stderr
    assert "zodiac_sql" not in zodiac("query", arguments[1], "path(X, Y)", cwd=tmp_path).stderr
