"""A file is written anew: smaller, with the same facts, without symbols that nothing uses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from support.command_line import answered
from support.contents import described
from support.fed import entries

from zodiac_sql import BusyError, StoreError, connect

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
    path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).
    near(X, Y) :- edge(X, Y).  near(X, Y) :- near(Y, X).  near(X, Z) :- near(X, Y), near(Y, Z).
    first(X) :- edge(X, _), X != unused.  late(X) :- at(X, T), T > 1.5.
"""


def fill(kb: KnowledgeBase) -> None:
    kb.add_rules(RULES)
    kb.keep_feed(["first"])
    kb.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(20)])
    kb.insert("at", [(sha256(b"%d" % i).hexdigest(), float(i)) for i in range(60_000)])
    kb.replace("at", [("n1", 2.5)])
    kb.delete("edge", [("n3", "n4")])


def symbols(kb: KnowledgeBase) -> set[str]:
    return {text for (text,) in kb.sql("SELECT text FROM zodiac.symbol").fetchall()}


def test_it_is_smaller_and_holds_the_same(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        fill(kb)
        kb.register_function("twice", lambda x: 2 * x, ["float"], "float")
        before, fed = described(kb), entries(kb)
        told = kb.compact()
        assert told.after == file.stat().st_size < told.before * 0.7
        assert told.symbols > 59_000 and symbols(kb) <= {f"n{i}" for i in range(21)}
        assert described(kb) == before and entries(kb) == fed and kb.verify()
        kb.add_rules("more: more(X, Y) :- at(X, T), Y = twice(T).")
        change = kb.insert("edge", [("n3", "n4"), ("unused", "new")])
        assert change.inserted["edge"] == 2 and kb.verify()
        assert kb.table("more").fetchall() == [("n1", 5.0)]
        kb.drop_rules("more")
    with open_kb(file) as kb:
        assert ("unused", "new") in kb.table("path").fetchall()


def test_what_users_have_in_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with connect(file) as kb:
        fill(kb)
    with duckdb.connect(str(file)) as other:
        other.execute("CREATE SEQUENCE numbers; CREATE TABLE own(n INTEGER PRIMARY KEY, t VARCHAR)")
        other.execute("INSERT INTO own SELECT nextval('numbers'), 'x' FROM range(5)")
        other.execute('CREATE SCHEMA apart; CREATE TABLE apart."odd name"(a INTEGER[])')
        other.execute("CREATE MACRO main.plus(x) AS x + 1; CREATE VIEW shown AS FROM own")
        other.execute("CREATE VIEW facts AS SELECT plus(n) AS n, s FROM own, first")
    with connect(file) as kb:
        rows = kb.sql("FROM facts ORDER BY ALL").fetchall()
        kb.compact()
        assert kb.sql("FROM facts ORDER BY ALL").fetchall() == rows
        assert len(kb.sql("FROM shown")) == 5
    with duckdb.connect(str(file)) as other:
        assert other.execute("SELECT nextval('numbers')").fetchall() == [(6,)]
        with pytest.raises(duckdb.ConstraintException):
            other.execute("INSERT INTO own VALUES (1, 'y')")


def test_nobody_else_may_have_it_open(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.insert("p", [(1,)])
        with open_kb(file), pytest.raises(BusyError, match="in use"):
            kb.compact()
        with kb.batches("p"), pytest.raises(BusyError, match="in use"):
            kb.compact()
        kb.insert("p", [(2,)])
        kb.compact()
        assert sorted(kb.table("p").fetchall()) == [(1,), (2,)]
    with connect(file, read_only=True) as kb, pytest.raises(StoreError, match="may be written"):
        kb.compact()
    with connect() as kb, pytest.raises(StoreError, match="no file"):
        kb.compact()


def test_a_failure_changes_nothing(
    open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        fill(kb)
        before = described(kb)

        def fail(*_: object) -> None:
            raise OSError("no room")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(StoreError, match="no room"):
            kb.compact()
        monkeypatch.undo()
        assert described(kb) == before and kb.insert("at", [("n2", 2.5)]).inserted["at"] == 1
        assert [path.name for path in tmp_path.glob(".zodiac-new-*")] == []


KILLED = """
import os, sys, zodiac_sql
done = os.replace
def replace(*paths):
    if sys.argv[2] == "after":
        done(*paths)
    os._exit(9)
os.replace = replace
zodiac_sql.connect(sys.argv[1]).compact()
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill(open_kb: OpenKb, tmp_path: Path, when: str) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        fill(kb)
        before = described(kb)
    command = [sys.executable, "-c", KILLED, str(file), when]
    assert subprocess.run(command, check=False).returncode == 9
    with open_kb(file) as kb:
        assert described(kb) == before and kb.verify()


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with connect(file) as kb:
        fill(kb)
    assert "symbols that nothing used are gone" in answered("compact", file)
    answered("verify", file)
