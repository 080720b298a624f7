"""A disk that is full loses nothing that was acknowledged, and ends nothing but the change at hand.

Where a small file system cannot be mounted, a process that may not write beyond some size of a file
stands for it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.old_files import FOLDER, unpacked

from zodiac_sql import (
    KnowledgeBase,
    PublishedError,
    ResourceError,
    StoreError,
    ZodiacError,
    connect,
)
from zodiac_sql.language.functions import Function
from zodiac_sql.language.syntax import Type

resource = pytest.importorskip("resource")
full_disk = pytest.importorskip("support.full_disk")

OpenKb = Callable[..., KnowledgeBase]

SEEDS = (3, 7, 10)
"""With these, the process was aborted, and a checkpoint after a commit failed."""


@contextmanager
def full(file: Path, left: int = 0) -> Iterator[None]:
    """No file can be larger than this one's log is, and some bytes."""
    log = Path(f"{file}.wal")
    full_disk._limit((log.stat().st_size if log.exists() else 0) + left)
    try:
        yield
    finally:
        full_disk._limit(resource.RLIM_INFINITY)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_small_file_system(seed: int, small: Path) -> None:
    assert full_disk.outcome(seed, small, True) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_files_that_cannot_grow(seed: int, tmp_path: Path) -> None:
    assert full_disk.outcome(seed, tmp_path, False) is None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "full.duckdb"


def test_a_commit_that_fails(file: Path) -> None:
    seen: list[str] = []
    with connect(file, threads=1) as kb:
        kb.trace(lambda statement, _: seen.append(statement))
        kb.register_function("loud", lambda text: text.upper(), ["symbol"], "symbol")
        kb.add_rules("r1: t(X, Z) :- p(X, Y), BIND(loud(Y) AS Z).")
        kb.insert("p", [("a", "b")])
        change = kb.insert("p", [("b", "c")])
        with full(file), pytest.raises(ResourceError, match="full. Nothing was changed"):
            kb.insert("p", [("x", "y")])
        with full(file), pytest.raises(ResourceError, match="full. Nothing was changed"):
            kb.add_rules("r2: u(X) :- p(X, _).")
        assert set(kb.table("t")) == {("a", "B"), ("b", "C")}
        assert change.inserted == {"p": 1, "t": 1}
        seen.clear()
        assert kb.insert("p", [("x", "y")]).inserted == {"p": 1, "t": 1}
        assert "COMMIT" in seen
        assert kb.add_rules("r2: u(X) :- p(X, _).").inserted == {"u": 3}
        assert kb.verify()
    loud = Function("loud", (Type.SYMBOL,), Type.SYMBOL, call=str.upper)
    with connect(file, functions=[loud]) as kb:
        assert set(kb.table("t")) == {("a", "B"), ("b", "C"), ("x", "Y")}
        assert kb.rules()["name"].to_pylist() == ["r1", "r2"]


def test_nothing_that_was_not_committed_is_written_at_the_end(file: Path) -> None:
    kb = connect(file, threads=1)
    kb.insert("p", [("a", "b")])
    with full(file), pytest.raises(ResourceError):
        kb.insert("p", [("x", "y")])
    kb.close()
    with full(file), connect(file) as kb:  # closing cannot write a checkpoint
        assert list(kb.table("p")) == [("a", "b")]
    with connect(file) as kb:
        assert list(kb.table("p")) == [("a", "b")]
        assert kb.verify()


def test_a_checkpoint_that_fails(file: Path) -> None:
    with connect(file, threads=1) as kb:
        kb.insert("p", [("a", "b")])
        with full(file), pytest.raises(ResourceError, match="full. Nothing was changed"):
            kb.sql("CHECKPOINT")
        assert list(kb.table("p")) == [("a", "b")]
        kb.insert("p", [("b", "c")])
        kb.sql("CHECKPOINT")
        assert not Path(f"{file}.wal").exists()
        assert set(kb.table("p")) == {("a", "b"), ("b", "c")}


def test_a_log_that_cannot_be_begun(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.setattr(duckdb, "connect", duckdb.connect)
    with connect(file, threads=1) as kb:
        kb.insert("p", [("a", "b")])
    for size in ("100B", "1GB"):  # the first fails at the end of a COMMIT
        full_disk.checkpoint_after(size)
        with connect(file, threads=1) as kb:
            for _ in range(2):
                with full(file, 5_000), pytest.raises(ResourceError, match="Nothing was changed"):
                    kb.insert("p", [("x", "y")])
                assert list(kb.table("p")) == [("a", "b")]
            assert kb.insert("p", [("x", "y")]).inserted == {"p": 1}
            assert kb.delete("p", [("x", "y")]).deleted == {"p": 1}
        with connect(file, threads=1) as kb:
            assert list(kb.table("p")) == [("a", "b")]


def test_a_change_that_is_there_although_a_checkpoint_failed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.setattr(duckdb, "connect", duckdb.connect)
    with connect(file, threads=1) as kb:
        kb.insert("p", [("a", "b")])
    full_disk.checkpoint_after("2KB")
    with connect(file, threads=1) as kb:
        expected = {("a", "b"), ("b", "c"), ("c", "d")}
        kb.insert("p", [("b", "c")])
        kb.insert("p", [("c", "d")])
        assert Path(f"{file}.wal").exists()
        with full(file, 5_000), pytest.raises(PublishedError, match=r"The change is in .*full\.d"):
            for name in map(str, range(60)):  # until the log is long enough
                expected.add((name, name))
                kb.insert("p", [(name, name)])
        assert set(kb.table("p")) == expected
        assert kb.insert("p", [(name, name)]).inserted == {}
        assert kb.verify()


def test_a_named_stream_goes_on_where_it_was(file: Path) -> None:
    updates = [{"insert": {"p": [("a", str(number))]}} for number in range(4)]
    with connect(file, threads=1) as kb:
        stream = kb.stream(updates, name="feed")
        next(stream)
        next(stream)
        with full(file), pytest.raises(ResourceError):
            next(stream)
        assert kb.position("feed") == 2
        assert [list(change.updates) for change in kb.stream(updates, name="feed")] == [[3], [4]]
        assert kb.table("p").num_rows == 4
        assert kb.verify()


def test_another_knowledge_base_on_the_file_must_let_go(file: Path) -> None:
    with connect(file, threads=1) as kb, connect(file, threads=1) as other:
        kb.insert("p", [("a", "b")])
        assert other.table("p").num_rows == 1
        with full(file), pytest.raises(StoreError, match="used once more"):
            kb.insert("p", [("x", "y")])
        with pytest.raises(StoreError, match="used once more"):
            kb.table("p")
        assert other.table("p").num_rows == 1
        assert list(kb.table("p")) == [("a", "b")]
        kb.insert("p", [("x", "y")])
        assert other.table("p").num_rows == 2
        assert other.verify()


def test_a_disk_that_is_full_while_work_is_spilled(tmp_path: Path, file: Path) -> None:
    spill = tmp_path / "spill"
    with connect(file, threads=1, memory_limit="40MB", temp_directory=spill) as kb:
        kb.add_rules("square(X, Y) :- n(X), n(Y).")
        kb.insert("n", [(0,)])
        with full(file, 100_000), pytest.raises(ResourceError, match="Nothing was changed"):
            kb.insert("n", [(i,) for i in range(2000)])
        assert list(kb.table("n")) == [(0,)]
        assert kb.insert("n", [(1,)]).inserted == {"n": 1, "square": 3}
    with connect(file) as kb:
        assert kb.verify()


@pytest.mark.parametrize("left", [0, 3_000, 10_000])
def test_a_disk_that_is_full_while_a_file_is_brought_up_to_date(
    left: int, tmp_path: Path, open_kb: OpenKb
) -> None:
    file = unpacked(min(FOLDER.glob("*.xz")), tmp_path)
    with full(file, left), pytest.raises(ZodiacError):
        connect(file)
    with open_kb(file) as kb:
        assert kb.verify()
        assert kb.insert("edge", [("d", "a")]).inserted["edge"] == 1
