"""Paths that no file can have are refused at each door, by its error, in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from zodiac_sql import (
    DataError,
    KnowledgeBase,
    ProgramError,
    QueryError,
    StoreError,
    ZodiacError,
    connect,
    read_ontology,
)
from zodiac_sql.cli.main import app

OpenKb = Callable[..., KnowledgeBase]

IMPOSSIBLE = {
    "x" * 300: "it is too long, or a name in it is",
    "x" * 300 + "/x": "it is too long, or a name in it is",
    "\ud800": "it holds half of a surrogate pair, which is no character",
    "a\0b": "it holds a NUL character",
}


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> KnowledgeBase:
    kb = open_kb(tmp_path / "farm.duckdb")
    kb.insert("p", [("a",)])
    kb.add_rules("r: q(X) :- p(X).")
    return kb


Door = Callable[[KnowledgeBase, Path], object]

DOORS: dict[str, tuple[type[ZodiacError], str, Door]] = {
    "connect": (StoreError, ".duckdb", lambda _, path: connect(path)),
    "read": (StoreError, ".duckdb", lambda _, path: connect(path, read_only=True)),
    "spill": (StoreError, "", lambda _, path: connect(":memory:", temp_directory=path)),
    "backup": (StoreError, ".duckdb", lambda kb, path: kb.backup(path)),
    "export": (StoreError, "", lambda kb, path: kb.export(path)),
    "table": (DataError, ".csv", lambda kb, path: kb.load(path)),
    "packed": (DataError, ".nt.gz", lambda kb, path: kb.load(path)),
    "parquet": (DataError, ".parquet", lambda kb, path: kb.load(path)),
    "unload": (DataError, ".nt", lambda kb, path: kb.unload(path)),
    "ontology": (DataError, ".ttl", lambda kb, path: kb.load_ontology(path, set="o")),
    "reading": (DataError, ".ttl", lambda _, path: read_ontology([path])),
    "stream": (DataError, ".jsonl", lambda kb, path: list(kb.stream(path))),
    "add": (ProgramError, ".rules", lambda kb, path: kb.add_rules(path)),
    "drop": (ProgramError, ".srl", lambda kb, path: kb.drop_rules(path)),
    "replace": (ProgramError, ".rules", lambda kb, path: kb.replace_rules(path, set="s")),
    "why": (QueryError, ".svg", lambda kb, path: kb.why("q(a)").save(path)),
    "graph": (QueryError, ".svg", lambda kb, path: kb.graph().save(path)),
}


@pytest.mark.parametrize("name", IMPOSSIBLE, ids=["long", "in a long one", "half", "NUL"])
@pytest.mark.parametrize("door", DOORS)
def test_each_door(door: str, name: str, kb: KnowledgeBase, tmp_path: Path) -> None:
    error, suffix, enter = DOORS[door]
    with pytest.raises(error) as raised:
        enter(kb, tmp_path / f"{name}{suffix}")
    assert f"is no path: {IMPOSSIBLE[name]}" in str(raised.value)
    str(raised.value).encode()  # it can be shown
    assert kb.verify()


def test_a_file_whose_name_is_not_utf_8(kb: KnowledgeBase, tmp_path: Path) -> None:
    """DuckDB cannot open it, though other programs can."""
    with pytest.raises(StoreError, match="is not UTF-8, and DuckDB takes no other names"):
        connect(tmp_path / "\udcff.duckdb")
    with pytest.raises(StoreError, match="^temp_directory: .* is not UTF-8, and DuckDB takes no"):
        connect(":memory:", temp_directory=tmp_path / "\udcff")
    table = os.fsencode(tmp_path / "\udcff.csv")
    Path(os.fsdecode(table)).write_text("a\n1\n")
    with pytest.raises(DataError, match="half of a character"):
        kb.load(Path(os.fsdecode(table)), "r")


def test_a_path_with_a_backslash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB 2 opens back/slash.duckdb instead, if it is there."""
    folder = tmp_path / "back\\slash"
    folder.mkdir()
    (tmp_path / "back").mkdir()
    for path in (folder / "x.duckdb", tmp_path / "back\\slash.duckdb"):
        with pytest.raises(StoreError, match="has a backslash, which DuckDB takes for a slash"):
            connect(path)
    with pytest.raises(StoreError, match="^temp_directory: .* has a backslash"):
        connect(":memory:", temp_directory=folder)
    monkeypatch.chdir(folder)
    with pytest.raises(StoreError, match="has a backslash"):
        connect("x.duckdb")
    with connect() as kb:
        assert kb.insert("p", [(1,)]).inserted == {"p": 1}
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_path_that_begins_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB puts the home directory in the place of each ~ at the beginning of a path."""
    (home := tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    for path in ("~no user.duckdb", "~/x.duckdb"):
        with connect(path) as kb:
            kb.insert("p", [("a",)])
        with connect(path) as kb:
            assert kb.table("p").fetchall() == [("a",)]
            kb.compact()
    Path("~no user.csv").write_text("b\n")
    with connect("~/x.duckdb") as kb:
        assert kb.load("~no user.csv", "p", header=False).inserted == {"p": 1}
        kb.export("~no folder", format="csv")
        kb.backup("~no user again.duckdb")
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert files == {
        "~no user.duckdb", "home/x.duckdb", "~no user.csv", "~no user again.duckdb",
        "~no folder/p.csv",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "{}", "rules"], "there is no database x"),
        (["run", "new.duckdb", "-r", "{}.rules"], "there is no file x"),
        (["run", "new.duckdb", "-d", "{}.csv"], "there is no file x"),
        (["run", "{}", "-r", "some.rules"], "is no path: it is too long"),
        (["stream", "farm.duckdb", "{}.jsonl"], "there is no file x"),
        (["backup", "farm.duckdb", "{}.duckdb"], "is no path: it is too long"),
    ],
)
def test_the_command_line(
    arguments: list[str],
    said: str,
    kb: KnowledgeBase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kb.close()
    monkeypatch.chdir(tmp_path)
    Path("some.rules").write_text("p(b).")
    ran = CliRunner().invoke(app, [argument.format("x" * 300) for argument in arguments])
    assert ran.exit_code != 0
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    assert said in " ".join(ran.output.split())


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_names_of_columns(name: str, kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no name|can be called") as raised:
        kb.load(tmp_path / "t.csv", columns={"a": name, "b": "c"})
    str(raised.value).encode()
