"""A fork of the process must leave the file alone."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


OpenKb = Callable[..., "KnowledgeBase"]

FORKING = """
    import gc, os, sys, warnings
    import zodiac_sql
    from zodiac_sql.errors import BusyError, LockedError
    warnings.simplefilter("ignore", DeprecationWarning)
    kb = zodiac_sql.connect("e.duckdb")
    kb.add_rules("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).")
    kb.insert("edge", [("a", "b")])
    queue = zodiac_sql.UpdateQueue()
    change = kb.insert("edge", [("b", "c")])

    def refused(call, error=BusyError):
        try:
            call()
        except error as raised:
            assert "fork" in str(raised), raised
        else:
            raise AssertionError("not refused")

    def child():
        global kb
        CHILD

    number = os.fork()
    if number == 0:
        child()
        sys.exit()
    assert os.waitpid(number, 0)[1] == 0, "the child has failed"
    kb.insert("edge", [("c", "d")])
    os.kill(os.getpid(), 9)
"""


def assert_killed(program: str, directory: Path) -> None:
    """It came to its last line, where it kills itself."""
    command = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, cwd=directory, timeout=60, capture_output=True, text=True, check=False
    )
    assert ran.returncode == -9, ran.stderr


CHILDREN = {
    "calls": """
        refused(lambda: kb.insert("edge", [("x", "y")]))
        refused(lambda: kb.sql("SELECT 1"))
        refused(lambda: change.inserted_facts("edge"))
        refused(lambda: queue.put({"insert": {"edge": [("x", "y")]}}))
        refused(lambda: next(kb.stream([{}])))
        refused(kb.close)
    """,
    "opens the file": """
        refused(lambda: zodiac_sql.connect("e.duckdb"), LockedError)
        refused(lambda: zodiac_sql.connect("e.duckdb", read_only=True), LockedError)
        with zodiac_sql.connect("other.duckdb") as other:
            other.insert("p", [(1,)])
    """,
    "just ends": "",
    "lets it go": """
        kb = None
        gc.collect()
    """,
    "leaves a block": """
        with kb:
            pass
    """,
    "has children": """
        if os.fork() == 0:
            refused(lambda: kb.sql("SELECT 1"))
            sys.exit()
        assert os.wait()[1] == 0
    """,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("child", CHILDREN)
def test_a_fork_leaves_the_file_alone(open_kb: OpenKb, tmp_path: Path, child: str) -> None:
    """At its end DuckDB would write a checkpoint, and take away the log that the other writes."""
    body = textwrap.dedent(CHILDREN[child]).strip() or "pass"
    text = textwrap.dedent(FORKING).replace("    CHILD", textwrap.indent(body, "    "))
    assert_killed(text, tmp_path)
    with open_kb(tmp_path / "e.duckdb") as kb:
        assert set(kb.table("edge")) == {("a", "b"), ("b", "c"), ("c", "d")} and kb.verify()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_within_an_update(open_kb: OpenKb, tmp_path: Path) -> None:
    text = textwrap.dedent(FORKING).replace("CHILD", "pass").partition("number =")[0]
    text += textwrap.dedent("""
        number = None
        try:
            with kb.update() as update:
                update.insert("edge", [("c", "d")])
                number = os.fork()
                if number:
                    assert os.waitpid(number, 0)[1] == 0, "the child has failed"
        except BusyError:
            sys.exit(number)
        os.kill(os.getpid(), 9)
    """)
    assert_killed(text, tmp_path)
    with open_kb(tmp_path / "e.duckdb") as kb:
        assert len(kb.table("edge")) == 3 and kb.verify()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_while_a_file_is_opened(open_kb: OpenKb, tmp_path: Path) -> None:
    """Another thread of the parent holds a lock, which nobody would ever give back in the child."""
    body = textwrap.dedent("""
        with zodiac_sql.connect("other.duckdb") as other:
            other.insert("p", [(1,)])
    """)
    text = textwrap.dedent(FORKING).replace("    CHILD", textwrap.indent(body, "    "))
    held = "from zodiac_sql.database import instance\ninstance._lock.acquire()\nnumber = os.fork()"
    assert_killed(text.replace("number = os.fork()", held), tmp_path)
