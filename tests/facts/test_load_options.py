"""How tables in files are read: columns, empty cells, options of CSV, empty files, exact values."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import answered, refused

import zodiac_sql
from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Decimal = decimal.Decimal

ROWS = [("wt1", 20.5, "x"), ("wt2", None, "y"), (None, 3.25, "z")]
NAMES = ("id", "temp", "site")


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.chdir(tmp_path)
    return open_kb()


def write(suffix: str) -> Path:
    """A table with empty cells, in a format."""
    table = pa.table([pa.array(column) for column in zip(*ROWS, strict=True)], names=NAMES)
    file = Path(f"p{suffix}")
    if suffix == ".parquet":
        pq.write_table(table, file)
    else:
        option = "(FORMAT JSON)" if suffix == ".jsonl" else "(HEADER)"
        if suffix == ".tsv":
            option = "(HEADER, DELIMITER '\t')"
        with duckdb.connect() as other:
            other.register("t", table)
            other.execute(f"COPY t TO '{file}' {option}")
    return file


def facts(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_cells(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    with pytest.raises(DataError, match="empty"):
        kb.load(file)
    change = kb.load(file, nulls="skip-row")
    assert facts(kb) == [("wt1", 20.5, "x")]
    assert f"{file}: 2 rows were left out, because a cell is empty" in change.notes
    kb.load(file, "q", nulls={"temp": 0.5, "id": "none"})
    assert facts(kb, "q") == [("none", 3.25, "z"), ("wt1", 20.5, "x"), ("wt2", 0.5, "y")]
    with pytest.raises(DataError, match=r"id is empty.*"):
        kb.load(file, "r", nulls={"temp": 0.5})
    with pytest.raises(DataError, match="no column nothing"):
        kb.load(file, "r", nulls={"nothing": 1})
    with pytest.raises(DataError, match="skip-row"):
        kb.load(file, "r", nulls="skip")
    assert kb.unload(file, nulls="skip-row").deleted == {"p": 1}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_are_chosen_and_renamed(kb: KnowledgeBase, suffix: str) -> None:
    file = write(suffix)
    kb.load(file, columns=["site"])
    assert facts(kb) == [("x",), ("y",), ("z",)] and kb.table("p").column_names == ["site"]
    kb.load(file, "q", columns={"site": "id", "id": "site"}, nulls="skip-row")
    assert kb.table("q").column_names == ["id", "site"]
    assert facts(kb, "q") == [("x", "wt1"), ("y", "wt2")]
    kb.add_rules(".decl r(place: symbol, celsius: float)")
    kb.load(file, "r", columns={"temp": "celsius", "site": "place"}, nulls={"celsius": 1.0})
    assert facts(kb, "r") == [("x", 20.5), ("y", 1.0), ("z", 3.25)]
    with pytest.raises(DataError, match="has no column Temp. It has id, temp, site"):
        kb.load(file, "s", columns=["Temp"])
    for wrong in ("site", [], {"id": "A", "site": "a"}):
        with pytest.raises(DataError, match="columns"):
            kb.load(file, "s", columns=wrong)


def test_a_value_that_does_not_fit_is_no_filling(kb: KnowledgeBase) -> None:
    Path("n.csv").write_text("n,m\n1,1\n,2\n")
    pq.write_table(pa.table({"n": [1, None], "m": [1, 2]}), "n.parquet")
    with pytest.raises(DataError, match=r"column n has the type int64.*0\.5 is none of its values"):
        kb.load("n.parquet", nulls={"n": 0.5})
    with pytest.raises(DataError, match=r"line 3: .*none"):
        kb.add_rules(".decl n(n: int, m: int)")
        kb.load("n.csv", nulls={"n": "none"})
    for file in ("n.csv", "n.parquet"):
        kb.load(file, nulls={"n": 7})
        assert facts(kb, "n") == [(1, 1), (7, 2)]


def test_csv_without_a_header(kb: KnowledgeBase) -> None:
    file = Path("p.csv")
    file.write_text("wt1,20\nwt2,21\n")
    (note,) = kb.load(file, "q").notes
    assert note.endswith("is no fact. If it is one: header=False, or --no-header")
    assert kb.load(file, header=False).notes == ("makes the predicate p",)
    assert facts(kb) == [("wt1", 20), ("wt2", 21)] and kb.table("p").column_names == ["s", "o"]
    kb.load(file, "r", header=False, columns=["turbine", "celsius"])
    assert kb.table("r").column_names == ["turbine", "celsius"]
    kb.add_rules(".decl d(a: symbol, b: float)")
    kb.load(file, "d", header=False)
    assert facts(kb, "d") == [("wt1", 20.0), ("wt2", 21.0)]
    with pytest.raises(DataError, match="has 2 columns, and 1 are named"):
        kb.load(file, "e", header=False, columns=["turbine"])
    file.write_text("wt1,20\nwt2,hot\n")
    with pytest.raises(DataError, match="line 2: wt2,hot"):
        kb.load(file, "d", header=False)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("\n", r"line 2 seems to name the columns \(a, b\), but a line stands before it"),
        ("\n\n", r"line 3 seems to name the columns \(a, b\), but 2 lines stand before it"),
        ("# of June\n", r"line 1 \(# of June\) does not name the columns: it has 1 of them, and m"),
        ("June\n", r"line 1 \(June\) does not name the columns"),
        ("# of June\n# by hand\n", r"line 1 \(# of June\) does not name the columns"),
    ],
)
def test_lines_before_those_that_name_the_columns(
    kb: KnowledgeBase, before: str, said: str
) -> None:
    """DuckDB would take the names from where they stand, and what stands there as a fact, too."""
    Path("p.csv").write_text(f"{before}a,b\n1,2\n3,4\n", newline="")
    for skip_bad in (False, True):
        with pytest.raises(DataError, match=said):
            kb.load("p.csv", skip_bad=skip_bad)
    assert "p" not in kb.predicates()["predicate"].to_pylist()


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("a,b\nx,one, two\ny,three, four\nz,ok\n", [("z", "ok")], (2, 3)),
        ("a,b\nx,one, two\ny,1, 2, 3\nz,one, two\n", [], (2, 3, 4)),
        ("a\nx,one\ny,1,2\nz,1\nok\n", [("ok",)], (2, 3, 4)),
    ],
)
def test_most_lines_have_separators_in_texts(
    kb: KnowledgeBase, text: str, good: list[object], bad: tuple[int, ...]
) -> None:
    """The first line is no title: lines fit it, or the others differ in width."""
    Path("p.csv").write_text(text)
    with pytest.raises(DataError, match=rf"{len(bad)} bad lines.*\n *line 2: x,one"):
        kb.load("p.csv", delimiter=",")
    notes = "\n".join(kb.load("p.csv", delimiter=",", skip_bad=True).notes)
    assert f"{len(bad)} bad lines were left out" in notes
    assert all(f"line {line}: " in notes for line in bad)
    assert kb.table("p").fetchall() == good


@pytest.mark.parametrize(
    ("cells", "facts_", "noted"),
    [
        ("'x',1\nx,1\n", [("x", 1)], True),
        ("it's,1\nx,1\n", [("it's", 1), ("x", 1)], False),
        ("\"'x'\",1\nx,1\n", [("'x'", 1), ("x", 1)], False),
    ],
)
def test_single_quotation_marks(
    kb: KnowledgeBase, cells: str, facts_: list[object], noted: bool
) -> None:
    Path("p.csv").write_text(f"a,b\n{cells}")
    change = kb.load("p.csv")
    assert sorted(facts(kb, "p"), key=str) == sorted(facts_, key=str)
    said = "p.csv: cells like 'x' were read without their single quotation marks"
    assert any(note.startswith(said) for note in change.notes) == noted


def test_separators_empty_texts_and_dates(kb: KnowledgeBase) -> None:
    Path("p.csv").write_text("d|t|n\n31.01.2026|1.2.2026 7:05|n/a\n01.02.2026|2.2.2026 0:00|5\n")
    kb.load(
        "p.csv", delimiter="|", null_string="n/a", nulls={"n": 0},
        date_format="%d.%m.%Y", timestamp_format="%d.%m.%Y %H:%M",
    )  # fmt: skip
    assert facts(kb) == [
        (dt.date(2026, 1, 31), dt.datetime(2026, 2, 1, 7, 5), 0),
        (dt.date(2026, 2, 1), dt.datetime(2026, 2, 2), 5),
    ]
    Path("q.csv").write_text("d\n31.01.2026\nsoon\n")
    kb.load("q.csv", date_format="%d.%m.%Y")
    assert facts(kb, "q") == [("31.01.2026",), ("soon",)]
    kb.add_rules(".decl r(d: date)")
    with pytest.raises(DataError, match="line 3: soon"):
        kb.load("q.csv", "r", date_format="%d.%m.%Y")
    with pytest.raises(DataError, match="time zones"):
        kb.load("q.csv", timestamp_format="%Y %z")


def test_options_that_do_not_fit_the_file(kb: KnowledgeBase) -> None:
    Path("p.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    with pytest.raises(DataError, match="p.nt is no table"):
        kb.load("p.nt", columns=["s"])
    with pytest.raises(DataError, match="p.parquet is no CSV"):
        kb.load(write(".parquet"), delimiter=";")
    with pytest.raises(TypeError, match="delimeter"):
        kb.load("p.csv", delimeter=";")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "text"), [("e.jsonl", ""), ("e.ndjson", "\n\n"), ("e.json", "[]"), ("e.json", "")]
)
def test_json_without_rows(kb: KnowledgeBase, name: str, text: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(DataError, match=f"{name} is empty: nothing tells the columns"):
        kb.load(name)
    assert kb.predicates().num_rows == 0
    kb.load(name, columns={"a": "turbine", "b": "celsius"})
    kb.add_rules("hot(T) :- e(turbine: T, celsius: C), C > 30.")
    kb.insert("e", [("wt1", 31.5)])
    assert kb.load(name).inserted == {}
    assert kb.table("hot").fetchall() == [("wt1",)]
    Path("f.jsonl").write_text('{"json": 1}')
    assert kb.load("f.jsonl").inserted == {"f": 1}


def test_empty_files_create_the_predicate(kb: KnowledgeBase) -> None:
    Path("p.csv").write_text("turbine,celsius\n")
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), "q.parquet")
    Path("r.csv").write_text("")
    kb.load("p.csv")
    kb.load("q.parquet")
    kb.load("r.csv", columns=["x"])
    with pytest.raises(DataError, match="s.csv is empty: nothing tells the columns"):
        Path("s.csv").write_text("")
        kb.load("s.csv")
    shown = {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}
    assert shown == {"p": "turbine: open, celsius: open", "q": "n: int", "r": "x: open"}
    assert kb.load("r.csv", "p").inserted == {}
    kb.add_rules("hot(X) :- p(X, T), T > 30.")
    Path("p.csv").write_text("celsius,turbine\n31.5,wt1\n")
    assert kb.load("p.csv").inserted == {"p": 1, "hot": 1}
    assert kb.load("r.csv", "p").inserted == {} and kb.verify()


WIDE: dict[str, tuple[pa.Array, list[str]]] = {
    "decimal": (
        pa.array([Decimal("123456789012345678901.10")], pa.decimal128(38, 2)),
        ["123456789012345678901.10"],
    ),
    "decimal256": (pa.array([Decimal(10) ** 50], pa.decimal256(60, 0)), [f"1{'0' * 50}"]),
    "uint64": (pa.array([2**63 + 1, 2**63 + 2], pa.uint64()), [str(2**63 + 1), str(2**63 + 2)]),
    "nanoseconds": (
        pa.array([1, 2], pa.timestamp("ns")),
        ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"],
    ),
    "zoned": (
        pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("us", "Europe/Berlin")),
        ["2026-01-01 00:00:00.000000Z"],
    ),
}


@pytest.mark.parametrize("kind", WIDE)
def test_values_are_never_rounded(kb: KnowledgeBase, kind: str) -> None:
    """What no native type holds is a term, or text where the column is declared so."""
    values, texts = WIDE[kind]
    table = pa.table({"x": values})
    pq.write_table(table, "p.parquet")
    if kind == "nanoseconds":
        for attempt in (lambda: kb.insert("p", table), lambda: kb.load("p.parquet", "p")):
            with pytest.raises(DataError, match="column x holds"):
                attempt()
    elif kind != "zoned":
        kb.insert("p", table)
        terms = facts(kb)
        assert not kb.load("p.parquet", "p").inserted and [
            term.split('"')[1].removesuffix(".0") for (term,) in terms
        ] == [text.removesuffix("0") if "." in text else text for text in texts]
    kb.add_rules(".decl q(x: symbol) .decl r(x: symbol)")
    kb.insert("q", table)
    kb.load("p.parquet", "r")
    assert facts(kb, "q") == facts(kb, "r") == [(text,) for text in texts]


def test_python_numbers_that_no_type_holds(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl p(x: symbol, n: int)")
    rows = [(Decimal("0.1234567890123456789"), 1), (Decimal("0.1234567890123456780"), 2)]
    kb.insert("p", rows)
    kb.insert("p", [(2**70, 3), (5, 4)])
    assert [x for x, _ in facts(kb)] == [
        "0.1234567890123456780", "0.1234567890123456789", str(2**70), "5"
    ]  # fmt: skip
    kb.delete("p", rows)
    assert len(facts(kb)) == 2
    with pytest.raises(DataError, match="beyond 64 bits"):
        kb.insert("p", [("x", 2**70)])


def test_on_the_command_line(kb: KnowledgeBase) -> None:
    write(".csv")
    answered("insert", "f.duckdb", "p.csv", "--columns", "id=turbine,temp", "--nulls", "temp=1",
             "--nulls", "turbine=none")  # fmt: skip
    assert answered("query", "f.duckdb", "p(X, T), T < 2", "--csv").split() == ["X,T", "wt2,1.0"]
    answered("delete", "f.duckdb", "p.csv", "--columns", "id=turbine,temp", "--nulls", "skip-row")
    Path("q.csv").write_text("a;1.5.2026\n-;2.5.2026\n")
    answered("insert", "f.duckdb", "q.csv", "--no-header", "--delimiter", ";", "--null-string", "-",
             "--nulls", "skip-row", "--date-format", "%d.%m.%Y")  # fmt: skip
    assert answered("query", "f.duckdb", "q(X, D)", "--csv").split() == ["X,D", "a,2026-05-01"]
    assert "not both" in refused(
        "insert", "f.duckdb", "p.csv", "--nulls", "skip-row", "--nulls", "a=1", status=2
    )


def test_of_parquet_only_the_columns_of_a_predicate_are_read(kb: KnowledgeBase) -> None:
    file = write(".parquet")
    kb.add_rules(".decl p(site: symbol, temp: float)")
    with pytest.raises(DataError, match="empty"):
        kb.load(file)
    change = kb.load(file, nulls="skip-row")
    assert facts(kb) == [("x", 20.5), ("z", 3.25)]
    assert any("not read, because the predicate has no such column: id" in n for n in change.notes)
    kb.add_rules(".decl q(site: symbol, other: float)")
    with pytest.raises(DataError, match="q has 2 columns"):
        kb.load(file, "q", nulls="skip-row")
    kb.unload(file, nulls="skip-row")
    assert facts(kb) == []


def test_a_device_with_little_memory_reads_tables(tmp_path: Path) -> None:
    """DuckDB would take 32 MB as a buffer, however small the file is."""
    file = tmp_path / "p.csv"
    file.write_text("a,b\n" + "".join(f"x{i},{i}\n" for i in range(1_000)))
    with zodiac_sql.connect(tmp_path / "small.duckdb", memory_limit="64MB", threads=1) as kb:
        assert kb.load(file).inserted == {"p": 1_000}
        file.write_text("a,b\n1,x\n" + "x" * 3_000_000 + ",2\n")
        with pytest.raises(DataError):
            kb.load(file)
        assert kb.verify()


@pytest.mark.parametrize("threads", [1, 2])
def test_files_larger_than_two_buffers(tmp_path: Path, threads: int) -> None:
    """With 128 MB there would be room for one buffer of 32 MB, and DuckDB holds two."""
    file = tmp_path / "p.csv"
    long = "x" * 30_000
    file.write_text("a,b\n" + "".join(f"{i}{long},{i}\n" for i in range(1_500)))
    limits: dict[str, Any] = {"memory_limit": "128MB", "threads": threads}
    with zodiac_sql.connect(tmp_path / "small.duckdb", **limits) as kb:
        assert kb.load(file, columns=["b"]).inserted == {"p": 1_500}
