"""The command line says its own options and commands where Python has others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from support.command_line import refused

from zodiac_sql.cli.wording import in_shell
from zodiac_sql.database.duckdb_errors import explained
from zodiac_sql.errors import ZodiacError
from zodiac_sql.facts.columns import clash
from zodiac_sql.language.functions import Function, require
from zodiac_sql.language.syntax import Column, Type

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def test_a_database_that_another_process_has_open(tmp_path: Path) -> None:
    code = (
        "import sys, zodiac_sql; kb = zodiac_sql.connect(sys.argv[1]); print(1, flush=True); "
        "input()"
    )
    file = tmp_path / "e.duckdb"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        said = refused("query", str(file), "p(X)")
        other.communicate(b"\n")
    assert "or run only commands that read, such as query, why and export" in said
    assert "read_only" not in said


def _raised(verb: Callable[[], object]) -> str:
    with pytest.raises(ZodiacError) as raised:
        verb()
    return str(raised.value)


def _messages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    """What is said in Python, and what the command line says in its place."""
    yield clash("reading", Column("t", Type.INT), Type.FLOAT), "zodiac alter DB reading t=float"
    function = Function("f", (Type.INT,), Type.INT)
    yield (
        _raised(lambda: require(["f"], {"f": function}, "rule r1")),
        ("Only a program in Python can register it: kb.register_function("),
    )
    yield (
        _raised(lambda: kb.add_rules("p(Y) :- q(X), Y = f(X).")),
        ("Only a program in Python can register it: with kb.register_function before"),
    )
    yield _raised(lambda: kb.why("e(b, b)")), "does not hold: ask why-not"
    yield _raised(kb.changes), "say which with keep-feed, and they are from the next one on. zodiac"
    yield _raised(lambda: kb.query("e(X, Y), e(Y, Z)", max_rows=1)), "(--max-rows)."
    full = explained(duckdb.OutOfMemoryException("full"), "e.duckdb")
    yield str(full), "Give more (zodiac run --memory-limit)"
    yield _raised(lambda: kb.sql("FROM read_csv('x.csv')")), "In Python, connect(external_access"


def test_advice(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("e", [("a", "b"), ("b", "c"), ("c", "d")])
        for said, advice in _messages(kb):
            assert advice not in said
            assert advice in in_shell(said)
