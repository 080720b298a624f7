"""Replacing all facts of a predicate, noting how far a stream has come, and reading in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from zodiac_sql import DataError, KnowledgeBase, LockedError, ProgramError, QueryError
from zodiac_sql.change.change import Change

OpenKb = Callable[..., KnowledgeBase]
Rows = Sequence[tuple[object, ...]]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


@pytest.fixture(params=["memory", "file"])
def kb(open_kb: OpenKb, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[KnowledgeBase]:
    path = ":memory:" if request.param == "memory" else tmp_path / "kb.duckdb"
    with open_kb(path) as opened:
        yield opened


def facts(kb: KnowledgeBase, predicate: str) -> set[tuple[object, ...]]:
    return set(kb.table(predicate))


def told(change: Change, predicate: str) -> tuple[set[object], set[object]]:
    """What entered and what left the extension of a predicate."""
    entered = change.inserted_facts(predicate) if predicate in change.inserted else None
    left = change.deleted_facts(predicate) if predicate in change.deleted else None
    return _tuples(entered), _tuples(left)


def _tuples(table: pa.Table | None) -> set[object]:
    columns = [] if table is None else [column.to_pylist() for column in table.columns]
    return set(zip(*columns, strict=True))


# --- replace --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([("a", 1), ("b", 2)], [("b", 2), ("c", 3)]),
        ([("a", 1), ("b", 2)], [("b", 2), ("a", 1), ("a", 1)]),
        ([("a", 1), ("b", 2)], []),
        ([("a", 1)], [("a", 2), ("b", 1)]),
        ([], [("a", 1)]),
        ([], []),
    ],
)
def test_only_the_difference_changes(kb: KnowledgeBase, before: Rows, after: Rows) -> None:
    kb.add_rules(".decl p(x: symbol, n: int)")
    kb.insert("p", before)
    change = kb.replace("p", after)
    assert told(change, "p") == (set(after) - set(before), set(before) - set(after))
    assert facts(kb, "p") == set(after)
    assert not kb.replace("p", after)


def test_an_unknown_predicate_becomes_known_by_rows(kb: KnowledgeBase) -> None:
    assert not kb.replace("p", [])
    with pytest.raises(QueryError):
        kb.table("p")
    assert kb.replace("p", pa.table({"turbine": ["wt1"], "celsius": [20.5]})).inserted == {"p": 1}
    assert kb.table("p").to_pydict() == {"turbine": ["wt1"], "celsius": [20.5]}


def test_a_predicate_that_only_rules_know(kb: KnowledgeBase) -> None:
    kb.add_rules("q(X) :- p(X, Y).")
    assert not kb.replace("p", [])
    assert kb.replace("p", [("a", 1)]).inserted == {"p": 1, "q": 1}
    assert kb.replace("p", []).deleted == {"p": 1, "q": 1}
    assert kb.replace("p", [("b", 2)]).inserted == {"p": 1, "q": 1}


def test_integers_for_floats(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1.0), ("b", 2.5)])
    change = kb.replace("p", [("a", 1), ("b", 3)])
    assert told(change, "p") == ({("b", 3.0)}, {("b", 2.5)})
    assert facts(kb, "p") == {("a", 1.0), ("b", 3.0)}


def test_no_columns(kb: KnowledgeBase) -> None:
    kb.add_rules("alarm() :- open().")
    assert kb.replace("open", [()]).inserted == {"open": 1, "alarm": 1}
    assert not kb.replace("open", [(), ()])
    assert kb.replace("open", []).deleted == {"open": 1, "alarm": 1}
    assert not kb.replace("open", [])


@pytest.mark.parametrize("form", [pa.Table.from_pandas, pd.DataFrame, pl.DataFrame])
def test_columns_are_matched_by_name(kb: KnowledgeBase, form: Callable[..., object]) -> None:
    kb.add_rules(".decl p(x: symbol, n: int)")
    kb.insert("p", [("a", 1), ("b", 2)])
    change = kb.replace("p", form(pd.DataFrame({"n": [2, 3], "x": ["b", "c"]})))
    assert told(change, "p") == ({("c", 3)}, {("a", 1)})


def test_a_stream_that_can_be_read_once(kb: KnowledgeBase) -> None:
    kb.insert("p", [(1,), (2,)])
    change = kb.replace("p", pa.table({"n": [2, 3]}).to_reader())
    assert told(change, "p") == ({(3,)}, {(1,)})


def test_what_rules_derive_follows(open_kb: OpenKb, strategy: str) -> None:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(PATHS)
        kb.replace("edge", [("a", "b"), ("b", "c"), ("c", "d")])
        change = kb.replace("edge", [("a", "b"), ("b", "d"), ("c", "d")])
        assert told(change, "edge") == ({("b", "d")}, {("b", "c")})
        assert told(change, "path") == (set(), {("b", "c"), ("a", "c")})
        assert change.notes == ()
        assert kb.verify()


def test_derived_facts_are_not_replaced(kb: KnowledgeBase) -> None:
    """Rows that are derived, too, become explicit; derived facts that are no rows stay."""
    kb.add_rules("p(X) :- q(X).")
    kb.insert("q", [("a",), ("b",)])
    kb.insert("p", [("b",), ("c",)])
    change = kb.replace("p", [("a",)])
    assert told(change, "p") == (set(), {("c",)})
    assert change.notes == ()
    assert kb.replace("q", []).deleted == {"q": 2, "p": 1}
    assert facts(kb, "p") == {("a",)}


def test_facts_in_rule_texts_are_explicit(kb: KnowledgeBase) -> None:
    kb.add_rules("p(a). p(b). q(X) :- p(X).")
    assert told(kb.replace("p", [("b",)]), "q") == (set(), {("a",)})


def test_in_an_update_what_is_inserted_is_there_afterwards(kb: KnowledgeBase) -> None:
    """As ever in an update: deletions first, whatever the order of the verbs."""
    kb.insert("p", [("old",), ("kept",)])
    with kb.update() as update:
        update.insert("p", [("before",)])
        update.delete("p", [("row",), ("kept",)])
        update.replace("p", [("row",), ("kept",)])
        update.insert("p", [("after",)])
        update.delete("p", [("after",), ("nowhere",)])
    inserted = {("before",), ("row",), ("after",)}
    assert told(update.change, "p") == (inserted, {("old",)})
    assert facts(kb, "p") == inserted | {("kept",)}


def test_several_predicates_and_rules_in_one_update(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a",), ("b",)])
    kb.insert("q", [("x",)])
    with kb.update() as update:
        update.replace("p", [("b",), ("c",)])
        update.replace("q", [])
        update.add_rules("r(X) :- p(X), not q(X).")
    assert update.change.inserted == {"p": 1, "r": 2}
    assert update.change.deleted == {"p": 1, "q": 1}
    assert kb.verify()


def test_a_preview_changes_nothing(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a",)])
    with kb.preview() as preview:
        preview.replace("p", [("b",)])
        preview.record("stream", 1)
    assert told(preview.change, "p") == ({("b",)}, {("a",)})
    assert facts(kb, "p") == {("a",)}
    assert kb.position("stream") is None


@pytest.mark.parametrize(
    "bad", [[("a", "b")], [(None,)], [(b"x",)], "text", pa.table({"n": [[1]]})]
)
def test_what_is_refused_changes_nothing(kb: KnowledgeBase, bad: object) -> None:
    kb.insert("p", [("a",), ("b",)])
    with pytest.raises(DataError):
        kb.replace("p", bad)
    assert facts(kb, "p") == {("a",), ("b",)}
    assert told(kb.replace("p", [("a",)]), "p") == (set(), {("b",)})


def test_many_rows_again_and_again(kb: KnowledgeBase) -> None:
    """The statements of a change are kept for the next one: each must still mean its own rows."""
    kb.add_rules("even(N) :- p(N, X), N % 2 = 0.")
    for start in (0, 5, 5, 1000, 0):
        numbers = range(start, start + 30_000)
        kb.replace("p", pa.table({"n": numbers, "x": ["a"] * len(numbers)}))
        assert set(kb.sql("SELECT s FROM p")) == {(n,) for n in numbers}
    kb.replace("p", [(1, "a"), (2, "a")])
    assert facts(kb, "even") == {(2,)}
    kb.replace("p", [(2, "a"), (4, "a")])
    assert facts(kb, "even") == {(2,), (4,)}
    assert kb.verify()


def test_replaced_in_a_file(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "kb.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(PATHS)
        kb.insert("edge", [("a", "b"), ("b", "c")])
    with open_kb(file) as kb:
        change = kb.replace("edge", [("b", "c"), ("c", "d")])
        assert told(change, "edge") == ({("c", "d")}, {("a", "b")})
    with open_kb(file) as kb:
        assert facts(kb, "path") == {("b", "c"), ("c", "d"), ("b", "d")}
        assert not kb.replace("edge", [("b", "c"), ("c", "d")])
        assert kb.verify()


# --- positions ------------------------------------------------------------------------------------


def test_positions_are_kept_with_their_changes(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "kb.duckdb"
    with open_kb(file) as kb:
        assert kb.position("s") is None
        for number in range(3):
            with kb.update() as update:
                update.insert("p", [(number,)])
                update.record("s", number)
        assert kb.position("s") == 2
    with open_kb(file) as kb:
        assert (kb.position("s"), kb.position("t")) == (2, None)
        with kb.update() as update:
            update.record("t", 0)
            update.record("s", 7)
            update.record("s", 5)
        kb.insert("p", [(9,)])
        kb.add_rules("q(X) :- p(X).")
    with open_kb(file) as kb:
        assert (kb.position("s"), kb.position("t")) == (5, 0)


def test_a_position_alone_is_a_change(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "kb.duckdb"
    with open_kb(file) as kb:
        with kb.update() as update:
            update.record("s", 4)
            with pytest.raises(QueryError):
                _ = update.change
            assert kb.position("s") is None
        assert not update.change
    with open_kb(file) as kb:
        assert kb.position("s") == 4


def test_an_update_that_fails_leaves_the_position(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.record("s", 1)
        update.insert("p", [("a",)])
    with pytest.raises(ZeroDivisionError), kb.update() as update:
        update.record("s", 2)
        raise ZeroDivisionError
    with pytest.raises(DataError), kb.update() as update:
        update.record("s", 2)
        update.insert("p", [(None,)])
    with pytest.raises(ProgramError), kb.update() as update:
        update.record("s", 2)
        update.add_rules("q(X) :- p(Y).")
    assert kb.position("s") == 1
    kb.insert("p", [("b",)])
    assert kb.position("s") == 1


def test_an_update_that_another_connection_outruns(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "kb.duckdb") as first, open_kb(tmp_path / "kb.duckdb") as second:
        with pytest.raises(LockedError), first.update() as slow:
            slow.record("s", 1)
            with second.update() as fast:
                fast.record("s", 8)
        assert first.position("s") == second.position("s") == 8
        with first.update() as again:
            again.record("s", 9)
        assert first.position("s") == second.position("s") == 9


# --- batches --------------------------------------------------------------------------------------


def test_an_extension_in_batches(kb: KnowledgeBase) -> None:
    kb.add_rules('named(N, T) :- number(N), BIND(concat("n", N) AS T).')
    kb.insert("number", pa.table({"n": range(250_000)}))
    with kb.batches("named") as reader:
        assert reader.schema.names == kb.table("named").column_names
        read = list(reader)
    assert len(read) > 1 and max(batch.num_rows for batch in read) <= 100_000
    assert pa.Table.from_batches(read).sort_by("s") == kb.table("named").arrow().sort_by("s")


def test_so_many_rows_in_a_batch(kb: KnowledgeBase) -> None:
    kb.insert("p", pa.table({"n": range(10)}))
    with kb.batches("p", rows=3) as reader:
        sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == 10 and max(sizes) == 3


def test_other_verbs_do_not_end_the_batches(kb: KnowledgeBase) -> None:
    kb.insert("p", pa.table({"n": range(300_000)}))
    with kb.batches("p") as reader:
        first = reader.read_next_batch()
        kb.insert("p", [(-1,)])
        assert len(kb.query("p(N), N < 0")) == 1
        rest = sum(batch.num_rows for batch in reader)
    assert first.num_rows + rest == 300_000
    assert len(kb.table("p")) == 300_001


def test_each_fact_once(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- q(X).")
    kb.insert("q", [("a",), ("b",)])
    kb.insert("p", [("b",), ("c",)])
    with kb.batches("p") as reader:
        assert sorted(reader.read_all()["s"].to_pylist()) == ["a", "b", "c"]


def test_batches_of_no_facts(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl d(x: symbol, n: int) q(X) :- p(X).")
    for predicate in ("d", "p", "q"):
        with kb.batches(predicate) as reader:
            assert reader.schema.names == kb.table(predicate).column_names
            assert reader.read_all().num_rows == 0


def test_batches_of_an_unknown_predicate(kb: KnowledgeBase) -> None:
    kb.insert("temperature", [("a",)])
    with pytest.raises(QueryError, match="Did you mean temperature"), kb.batches("temperatur"):
        pass
