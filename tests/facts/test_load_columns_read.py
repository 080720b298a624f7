"""`columns="read"`: of a wide table only the columns are loaded that rules name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from support.command_line import answered, refused, told

from zodiac_sql import DataError, ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

COLUMNS = ("site", "Turbine", "day", "celsius", "note")
ROWS = [("a", "wt1", 1, 20.5, "x"), ("a", "wt2", 1, 31.5, None), ("b", "wt2", 2, 31.5, "y")]
HOT = "hot: hot(X) :- reading(celsius: T, turbine: X), T > 30."
SUFFIXES = (".parquet", ".csv", ".jsonl")


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.chdir(tmp_path)
    return open_kb()


def write(suffix: str, name: str = "reading", rows: list[tuple[Any, ...]] = ROWS) -> Path:
    """A table in a format; a cell of its column `note` is empty, which is refused if it is read."""
    file = Path(name + suffix)
    columns = zip(*rows, strict=True)
    table = pa.table({n: pa.array(c) for n, c in zip(COLUMNS, columns, strict=True)})
    if suffix == ".parquet":
        pq.write_table(table, file)
    elif suffix == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return file


def facts(kb: KnowledgeBase, predicate: str = "reading") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


NOTE = "2 of 5 columns are loaded, those that rules name: Turbine, celsius"
READ = [("wt1", 20.5), ("wt2", 31.5)]
"""The facts, each once, with the columns in the order of the file."""


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rules_first", [True, False])
def test_the_columns_that_rules_name_are_loaded(
    kb: KnowledgeBase, suffix: str, rules_first: bool
) -> None:
    file = write(suffix)
    with pytest.raises(DataError, match="note"):
        kb.load(file)
    with kb.update() as update:
        if rules_first:
            update.add_rules(HOT)
        update.load(file, columns="read")
        if not rules_first:
            update.add_rules(HOT)
    assert facts(kb) == READ and kb.table("reading").column_names == ["Turbine", "celsius"]
    assert facts(kb, "hot") == [("wt2",)]
    assert update.change.notes == (f"{file}: {NOTE}",)
    assert update.change.inserted == {"reading": 2, "hot": 1}
    assert kb.verify()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_files_and_later_ones(kb: KnowledgeBase, suffix: str) -> None:
    """What the first file has settled holds: later ones are read by the predicate's columns."""
    first, second = write(suffix), write(suffix, "second", [("c", "wt3", 3, 40.5, None)])
    with kb.update() as update:
        update.load(first, columns="read")
        update.load(second, "reading", columns="read")
        update.add_rules(HOT)
    assert facts(kb, "hot") == [("wt2",), ("wt3",)]
    same = "2 of 5 columns are loaded, those of the predicate: Turbine, celsius"
    assert update.change.notes == (f"{first}: {NOTE}", f"{second}: {same}")
    third = write(suffix, "third", [("c", "wt4", 3, 41.5, None)])
    change = kb.load(third, "reading", columns="read")
    assert change.notes == (f"{third}: {same}",) and change.inserted == {"reading": 1, "hot": 1}
    assert kb.unload(third, "reading", columns="read").deleted == {"reading": 1, "hot": 1}
    with pytest.raises(ProgramError, match="reading has no column day"):
        kb.add_rules("late(X) :- reading(turbine: X, day: 2).")


@pytest.mark.parametrize(
    "rule",
    [
        "dry(X) :- wt(X), not reading(turbine: X).",
        "c: !- reading(turbine: X), not wt(X).",
        "n(N) :- AGGREGATE(reading(turbine: X)) WITH COUNT(X) AS N.",
        "copy(X) :- wt(X), (reading(turbine: X) ; missing(X)).",
        "reading(turbine: X) :- new(X).",
        "?P(X) :- kind(P), reading(turbine: X).",
        "?P(X) :- ?Q(X), sub(Q, P), not reading(TURBINE: X).",
    ],
)
def test_every_atom_of_a_rule_counts(kb: KnowledgeBase, rule: str) -> None:
    file = write(".parquet")
    kb.add_rules(".decl wt(x: symbol) .decl missing(x: symbol) .decl new(x: symbol)"
                 " .decl kind(p: symbol) .decl sub(p: symbol, q: symbol)")  # fmt: skip
    with kb.update(check=False) as update:
        update.load(file, columns="read")
        update.add_rules(rule)
    assert kb.table("reading").column_names == ["Turbine"]
    assert facts(kb) == [("wt1",), ("wt2",)]


ALL = """
    hot(X) :- reading(turbine: X, celsius: T), T > 30.
    days(X, N) :- AGGREGATE(reading(turbine: X, day: D), D > 0) ON X WITH COUNT(D) AS N.
    mean(A) :- AGGREGATE(reading(celsius: T)) WITH AVG(T) AS A.
    next(X, Y) :- reading(turbine: X, day: D), reading(turbine: Y, day: D + 1).
    next(X, Z) :- next(X, Y), next(Y, Z).
    still(X) :- reading(turbine: X), not next(X, X).
    most(X, MAX(T)) :- reading(celsius: T, turbine: X).
"""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rules_derive_the_same(open_kb: OpenKb, kb: KnowledgeBase, suffix: str) -> None:
    """Facts that differ only in what no rule reads are one: no rule can tell."""
    rows = [("ab"[i % 2], f"wt{i % 7}", i % 11, i % 5 / 2, f"n{i}") for i in range(100)]
    file, whole = write(suffix, rows=rows), open_kb()
    whole.load(file)
    whole.add_rules(ALL)
    with kb.update() as update:
        update.load(file, columns="read")
        update.add_rules(ALL)
    assert kb.table("reading").column_names == ["Turbine", "day", "celsius"]
    for predicate in ("hot", "days", "mean", "next", "still", "most"):
        assert facts(kb, predicate) == facts(whole, predicate), predicate
    assert kb.verify()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_columns_are_loaded_if_terms_stand_for_them(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    cold = "cold(X) :- reading(_, X, _, T, _), T < 30."
    with kb.update() as update:
        update.add_rules(HOT)
        update.load(file, columns="read", nulls="skip-row")
        update.add_rules(cold)
    assert update.change.notes[0] == (
        f"{file}: all columns are loaded, because `reading(_, X, _, T, _)` names none: "
        "its terms stand for all of them"
    )
    assert facts(kb) == [ROWS[0], ROWS[2]] and facts(kb, "cold") == [("wt1",)]


def test_rules_of_the_file_count_unless_they_are_dropped(kb: KnowledgeBase) -> None:
    file = write(".parquet")
    kb.add_rules("old: cold(X) :- reading(_, X, _, T, _), T < 30.")
    with kb.preview() as preview:
        preview.load(file, columns="read", nulls="skip-row")
    assert "`reading(_, X, _, T, _)` names none" in preview.change.notes[0]
    with pytest.raises(DataError, match="note"):
        kb.load(file, columns="read")
    with kb.update() as update:
        update.drop_rules("old")
        update.load(file, columns="read", nulls="skip-row")
    assert "no rule reads them yet" in update.change.notes[0] and len(facts(kb)) == 2


def test_a_head_names_columns_too(kb: KnowledgeBase) -> None:
    file = write(".parquet")
    with kb.update() as update:
        update.add_rules(f"{HOT} p(wt9). reading(celsius: 1.5, turbine: X) :- p(X).")
        update.load(file, columns="read")
    assert facts(kb) == [*READ, ("wt9", 1.5)]
    with kb.update() as update:
        update.load(file, "all", columns="read", nulls="skip-row")
        update.add_rules("q(A, B, C, D, E) :- "
                         "all(site: A, turbine: B, day: C, celsius: D, note: E).")  # fmt: skip
    assert update.change.notes == (f"{file}: 1 row was left out, because a cell is empty",)
    assert len(facts(kb, "q")) == 2


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_columns_are_loaded_if_nothing_reads_them(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    change = kb.load(file, columns="read", nulls="skip-row")
    assert change.notes[0] == f"{file}: all columns are loaded, because no rule reads them yet"
    assert facts(kb) == [ROWS[0], ROWS[2]]


def test_a_fact_in_a_text_has_all_columns(kb: KnowledgeBase) -> None:
    file = write(".parquet")
    with kb.update() as update:
        update.add_rules("reading(c, wt3, 1, 1.5, z).")
        update.load(file, columns="read", nulls="skip-row")
        update.add_rules(HOT)
    assert "`reading(c, wt3, 1, 1.5, z)` names none" in update.change.notes[0]
    assert len(facts(kb)) == 3


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("declared_first", [True, False])
def test_declared_columns_are_what_they_are(
    kb: KnowledgeBase, suffix: str, declared_first: bool
) -> None:
    file, declaration = write(suffix), ".decl reading(day: int, celsius: float, Turbine: symbol)"
    with kb.update() as update:
        if declared_first:
            update.add_rules(declaration)
        update.load(file, columns="read")
        update.add_rules(HOT if declared_first else f"{declaration} {HOT}")
    assert facts(kb) == [(1, 20.5, "wt1"), (1, 31.5, "wt2"), (2, 31.5, "wt2")]
    (note,) = update.change.notes
    told = "3 of 5 columns are loaded, those of the predicate: day, celsius, Turbine"
    assert note == f"{file}: {told}"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_column_that_the_file_lacks(kb: KnowledgeBase, suffix: str) -> None:
    """The rule is refused as ever, with the most similar name, and nothing of the file is read."""
    file, wrong = write(suffix), "warm(X) :- reading(celsus: T, turbine: X), T > 30."
    with pytest.raises(ProgramError) as refused_, kb.update() as update:
        update.load(file, columns="read")
        update.add_rules(f"{wrong} cold(X) :- other(Y).")
    text = str(refused_.value)
    assert "reading has no column celsus" in text
    assert "site, Turbine, day, celsius, note. Did you mean celsius?" in text
    assert "X" in text and len(refused_.value.problems) == 2
    assert kb.predicates().num_rows == 0
    write(".parquet", "s")
    pq.write_table(pa.table({"s": ["a"], "o": ["b"]}), "s.parquet")
    with pytest.raises(ProgramError, match="s has no column p"), kb.update() as update:
        update.load("s.parquet", columns="read")
        update.add_rules("q(X) :- s(p: X).")


def test_other_columns_of_parquet_are_not_read(kb: KnowledgeBase) -> None:
    """Neither damage nor types that no fact can have are found in them."""
    table = pa.table({
        "turbine": ["wt1", "wt2"], "celsius": [20.5, 31.5],
        "raw": ["damaged", "too"], "list": [[1], [2]], "none": [None, None],
    })  # fmt: skip
    pq.write_table(table, "reading.parquet", write_page_checksum=True, use_dictionary=False)
    data = bytearray(Path("reading.parquet").read_bytes())
    raw = pq.read_metadata("reading.parquet").row_group(0).column(2)
    data[raw.data_page_offset + raw.total_compressed_size - 2] ^= 0xFF
    Path("reading.parquet").write_bytes(data)
    with kb.update() as update:
        update.load("reading.parquet", columns="read")
        update.add_rules(HOT)
    assert facts(kb) == READ
    for column in ("raw", "list", "none"):
        with pytest.raises(DataError), kb.update() as update:
            update.load("reading.parquet", "other", columns="read")
            update.add_rules(f"p(X) :- other({column}: X).")


def test_json_that_no_fact_can_have_is_not_read(kb: KnowledgeBase) -> None:
    Path("reading.jsonl").write_text(
        '{"turbine": "wt1", "celsius": 31.5, "raw": {"a": [1, {"b": 2}]}}\n'
        '{"celsius": 30.5, "raw": 1, "turbine": "wt2"}\n'
    )
    with kb.update() as update:
        update.add_rules(HOT)
        update.load("reading.jsonl", columns="read")
    assert facts(kb) == [("wt1", 31.5), ("wt2", 30.5)]


def test_values_for_empty_cells_of_other_columns(kb: KnowledgeBase) -> None:
    file = write(".csv", rows=[*ROWS, ("b", None, 3, 33.5, "z")])
    with kb.update() as update:
        update.add_rules(HOT)
        update.load(file, columns="read", nulls={"note": "none", "Turbine": "wt0"})
    assert facts(kb, "hot") == [("wt0",), ("wt2",)]
    with pytest.raises(DataError, match="no column nothing"), kb.update() as update:
        update.add_rules("p(X) :- q(turbine: X).")
        update.load(file, "q", columns="read", nulls={"nothing": 1})


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_bad_lines_are_refused_in_columns_that_are_read(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    broken = "b,wt3\n" if suffix == ".csv" else '{"turbine": "wt3", \n'
    file.write_text(file.read_text() + broken)
    with pytest.raises(DataError), kb.update() as update:
        update.add_rules(HOT)
        update.load(file, columns="read")
    with kb.update() as update:
        update.add_rules(HOT)
        update.load(file, columns="read", skip_bad=True)
    assert facts(kb) == READ


def test_what_says_nothing_of_a_file(kb: KnowledgeBase) -> None:
    file = write(".csv")
    Path("farm.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    assert kb.load("farm.nt", columns="read").inserted == {"urn:p": 1}
    with pytest.raises(DataError, match="Without a header"):
        kb.load(file, columns="read", header=False)
    with pytest.raises(DataError, match='or "read": those that rules name'):
        kb.load(file, columns="celsius")
    with pytest.raises(DataError, match="there is no such file"), kb.update() as update:
        update.load("none.parquet", columns="read")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_on_the_command_line(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    Path("hot.rules").write_text(HOT)
    Path("farm.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    read = ("-d", file, "-d", "farm.nt", "-r", "hot.rules", "--columns", "read")
    planned = told("run", "f.duckdb", *read, "--plan")
    assert planned["explicit"] == 3 and not Path("f.duckdb").exists()
    assert planned["notes"] == [f"{file}: {NOTE}"]
    run = told("run", "f.duckdb", *read)
    assert run["notes"] == [f"{file}: {NOTE}"]
    assert answered("query", "f.duckdb", "hot(X)", "--csv").split() == ["X", "wt2"]
    later = write(suffix, "later", [("c", "wt3", 3, 40.5, None)])
    into = ("f.duckdb", later, "-p", "reading", "--columns", "read")
    answered("insert", *into)
    assert sorted(answered("query", "f.duckdb", "hot(X)", "--csv").split()) == ["X", "wt2", "wt3"]
    answered("delete", *into)
    assert answered("query", "f.duckdb", "hot(X)", "--csv").split() == ["X", "wt2"]
    Path("warm.rules").write_text("warm(X) :- other(celsus: T, turbine: X).")
    wrong = ("run", "g.duckdb", "-d", write(suffix, "other"), "-r", "warm.rules")
    assert "Did you mean celsius?" in refused(*wrong, "--columns", "read")
    assert not Path("g.duckdb").exists()


@pytest.mark.parametrize("arity", [4, 5])
def test_a_variable_may_be_the_predicate(kb: KnowledgeBase, arity: int) -> None:
    """It reads all columns, if it has so many."""
    file = write(".csv", "reading", [("a", "wt1", 3, 41.5, "n")])
    terms = ", ".join(["X", *["_"] * (arity - 1)])
    with kb.update() as update:
        update.load(file, columns="read")
        update.add_rules(f"kind(reading). all(X) :- kind(P), ?P({terms}). {HOT}")
    told = update.change
    assert told.inserted.get("all", 0) == (arity == 5) and told.inserted["hot"] == 1
    assert any("names none" in note for note in told.notes) == (arity == 5)
