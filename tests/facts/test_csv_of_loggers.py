"""CSV as loggers write it: encodings, marks in numbers, comments, lines before the table, files."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.chdir(tmp_path)
    return open_kb()


def write(text: str, name: str = "p.csv", encoding: str = "utf-8") -> Path:
    file = Path(name)
    data = text.encode(encoding)
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def facts(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall(), key=str)


def said(kb: KnowledgeBase, text: str, written: str = "utf-8", **options: Any) -> str:
    """Why a file is refused."""
    with pytest.raises(DataError) as error:
        kb.load(write(text, encoding=written), **options)
    return str(error.value)


# --- encodings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.tsv"])
@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("latin-1", "Müller"),
        ("cp1252", "5 € für Müller"),
        ("utf-16", "Müller 😀"),
        ("utf-16-le", "\ufeffMüller"),
        ("utf-16-be", "Müller"),
        ("utf-32", "Müller 😀"),
        ("utf-8-sig", "Müller"),
        ("UTF8", "Müller"),
        ("shift_jis", "風力"),
    ],
)
def test_encodings(kb: KnowledgeBase, name: str, encoding: str, text: str) -> None:
    separator = "\t" if name.endswith(".tsv") else ","
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines = f"{mark}name,größe\n{text},20\nb,21\n" if encoding != "shift_jis" else ""
    lines = lines or f"名前,n\n{text},20\nb,21\n"
    file = write(lines.replace(",", separator), name, encoding)
    kb.load(file, encoding=encoding)
    assert facts(kb) == sorted([(text, 20), ("b", 21)], key=str)
    assert kb.table("p").column_names[0] in ("name", "名前")
    assert kb.unload(file, encoding=encoding).deleted == {"p": 2}


def test_bytes_that_an_encoding_lacks_are_told_by_line(kb: KnowledgeBase) -> None:
    text = "a,b\n1,x\n2,\x81\n"
    assert said(kb, text, "latin-1", encoding="cp1252").startswith(
        "p.csv, line 3: the text is not cp1252: the byte 0x81 is no character there. Nothing was"
    )
    long = "a,b\r\n" + "1,x\r\n" * 300_000 + "2,\x81\r\n"
    assert "p.csv, line 300002: " in said(kb, long, "latin-1", encoding="cp1252")
    Path("p.csv").write_bytes("a,b\n1,x\n".encode("utf-16")[:-1])
    with pytest.raises(DataError, match=r"p\.csv, line 2: the text is not utf-16: the byte 0x0a"):
        kb.load("p.csv", encoding="utf-16")
    Path("p.csv").write_bytes("a,b\n1,".encode("utf-16-le") + b"\x00\xd8,\x00\n\x00")
    with pytest.raises(DataError, match="the text is not utf-16-le"):
        kb.load("p.csv", encoding="utf-16-le")


def test_marks_at_the_beginning_tell_another_encoding(kb: KnowledgeBase) -> None:
    text = "a,b\n1,x\n"
    assert "it is UTF-8, as the mark" in said(kb, text, "utf-8-sig", encoding="cp1252")
    assert 'say encoding="utf-16"' in said(kb, text, "utf-16", encoding="cp1252")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("rows", [0, 5000])
def test_text_that_is_not_utf8_names_the_option(
    kb: KnowledgeBase, encoding: str, rows: int
) -> None:
    text = "a,b\n" + "x,1\n" * rows + "ü,2\n"
    found = said(kb, text, encoding)
    assert f"Line {rows + 2} is not UTF-8" in found and 'encoding="cp1252"' in found
    assert 'encoding="utf-16"' in said(kb, text, "utf-16")


# --- numbers --------------------------------------------------------------------------------------

MARKED = [
    (",", ".", "1.234,56", 1234.56),
    (",", None, "1234,56", 1234.56),
    (",", " ", "-1 234 567,5", -1234567.5),
    (",", "\u00a0", "1\u00a0234,5", 1234.5),
    (",", "\u202f", "1\u202f234,5", 1234.5),
    (",", "'", "1'234,5", 1234.5),
    (".", "'", "1'234.5", 1234.5),
    (".", "\u2019", "1\u2019234.5", 1234.5),
    (".", ",", "+1,234.5", 1234.5),
    (".", "_", "1_234.5", 1234.5),
    (",", ".", ",5", 0.5),
    (",", ".", "1.234,5e3", 1234500.0),
    (",", ".", " 0,5 ", 0.5),
]


@pytest.mark.parametrize(("decimal", "thousands", "text", "number"), MARKED)
def test_marks_in_numbers(
    kb: KnowledgeBase, decimal: str, thousands: str | None, text: str, number: float
) -> None:
    file = write(f"turbine;v\nwt1;{text}\nwt2;7\n")
    kb.load(file, decimal=decimal, thousands=thousands)
    assert facts(kb) == [("wt1", number), ("wt2", 7.0)]
    kb.add_rules(
        ".decl d(turbine: symbol, v: decimal) .decl f(turbine: symbol, v: float)"
        " .decl a(turbine: symbol, v: any) .decl s(turbine: symbol, v: symbol)"
    )
    for predicate in "fas":
        kb.load(file, predicate, decimal=decimal, thousands=thousands)
    assert facts(kb, "f") == [("wt1", number), ("wt2", 7.0)]
    assert kb.query(f"a(X, V), V = {number!r}").num_rows == 1
    assert facts(kb, "s") == [("wt1", text), ("wt2", "7")]
    if "e" not in text:
        kb.load(file, "d", decimal=decimal, thousands=thousands)
        assert [float(value) for _, value in facts(kb, "d")] == [number, 7.0]
    assert kb.unload(file, decimal=decimal, thousands=thousands).deleted == {"p": 2}


def test_whole_numbers_with_marks_are_ints(kb: KnowledgeBase) -> None:
    kb.load(write("t;n\na;1.234.567\nb;-12\n"), decimal=",", thousands=".")
    assert facts(kb) == [("a", 1234567), ("b", -12)]


@pytest.mark.parametrize(
    "text", ["1.5", "12.34,5", "1.2345,5", "0.123,5", "1,2,3", "007,5", "1.234"]
)
def test_what_is_no_number_by_the_marks_stays_text(kb: KnowledgeBase, text: str) -> None:
    kb.load(write(f't;v\na;"{text}"\n'), decimal=",")
    assert facts(kb) == [("a", text)]
    kb.add_rules(".decl f(t: symbol, v: float)")
    with pytest.raises(DataError, match=r"line 2: .*which is no float"):
        kb.load("p.csv", "f", decimal=",")


def test_dates_and_codes_stay_what_they_are_beside_decimal_commas(kb: KnowledgeBase) -> None:
    text = "day;at;code;ok;v\n2026-01-02;2026-01-02 10:00:00.5;007;true;0,5\n"
    kb.load(write(text), decimal=",", thousands=".")
    moment = dt.datetime(2026, 1, 2, 10, 0, 0, 500_000)
    assert facts(kb) == [(dt.date(2026, 1, 2), moment, "007", True, 0.5)]


def test_numbers_beside_texts_are_numbers(kb: KnowledgeBase) -> None:
    change = kb.load(write("t;v\na;35,5\nb;36,5\nc;n/a\n"), decimal=",")
    assert change.notes[-1] == (
        'p.csv: column v has the type any, because line 4 has "n/a", and most others are numbers'
    )
    assert [turbine for turbine, _ in kb.query("p(X, V), V > 35.9").fetchall()] == ["b"]


def test_cells_that_are_filled_are_numbers(kb: KnowledgeBase) -> None:
    kb.load(write("t;v\na;35,5\nb;\n"), decimal=",", nulls={"v": 0.25})
    assert facts(kb) == [("a", 35.5), ("b", 0.25)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("v\n35,5\n36,5\n", [(35.5,), (36.5,)]),
        ("t\tv\na\t35,5\n", [("a", 35.5)]),
        ("t|v\na|35,5\n", [("a", 35.5)]),
        ('t,v\na,"35,5"\n', [("a", 35.5)]),
    ],
)
def test_what_separates_cells_with_commas(
    kb: KnowledgeBase, text: str, rows: list[tuple[Any, ...]]
) -> None:
    kb.load(write(text), decimal=",")
    assert facts(kb) == rows
    if "a" in text:
        kb.load(write(text.split("\n", 1)[1]), "q", decimal=",", header=False)
        assert facts(kb, "q") == rows


def test_decimal_commas_are_told_where_they_make_texts(kb: KnowledgeBase) -> None:
    notes = kb.load(write("turbine;v\na;35,5\n")).notes
    assert notes[-1] == 'p.csv: cells like 35,5 are texts. If they are numbers: decimal=","'
    kb.add_rules(".decl f(turbine: symbol, v: float)")
    with pytest.raises(DataError, match="Some cells look like 35,5: if these are numbers, say dec"):
        kb.load("p.csv", "f")
    kb.load("p.csv", "f", decimal=",")
    assert facts(kb, "f") == [("a", 35.5)]


# --- lines that are not of the table --------------------------------------------------------------

PREAMBLE = 'Logger 5;"open\nSerial: 7,8,9\n\nfrom;2026-01-01;to;2026-01-31\n---\n'


def test_lines_before_the_table(kb: KnowledgeBase) -> None:
    text = f"{PREAMBLE}turbine;v\na;1\nb;2\n"
    kb.load(write(text), skip=5)
    assert facts(kb) == [("a", 1), ("b", 2)]
    kb.load(write(f"{PREAMBLE}\n\nturbine;v\na;1\nb;2\n"), "q", skip=5)
    assert facts(kb, "q") == facts(kb)
    kb.load(write(f"{PREAMBLE}a;1\nb;2\n"), "r", skip=5, header=False)
    assert facts(kb, "r") == facts(kb)
    assert kb.unload(write(text.replace("\n", "\r\n")), skip=5).deleted == {"p": 2}
    assert "p.csv has 8 lines, and skip=9 leaves none of them" in said(kb, text, skip=9)
    assert "line 8: b;hot" in said(kb, text.replace("b;2", "b;hot;x"), skip=5)


def test_the_option_for_lines_before_the_table_is_told(kb: KnowledgeBase) -> None:
    lines = "Logger 5\nSerial 7\n\nturbine;v\na;1\nb;2\nc;3\nd;4\n"
    assert 'in line 4: if so, say skip=3, and delimiter=";".' in said(kb, lines)
    notes = kb.load(write(lines.replace("\n\n", "\n"))).notes
    assert notes[-1] == (
        "p.csv: each line was read as one cell. The table may begin in line 3: if so, say "
        'skip=2, and delimiter=";".'
    )
    assert "or say skip=1" in said(kb, "\na,b\n1,x\n")


def test_comments(kb: KnowledgeBase) -> None:
    text = '# one\n#two\nturbine,note\n# in "the middle\na,#1\nb,"x\n# y"\n#\n"#c",z # z\n# end'
    rows = [("#c", "z # z"), ("a", "#1"), ("b", "x\n# y")]
    kb.load(write(text), comment="#")
    assert facts(kb) == rows
    kb.load(write(text.replace("#", "//")), "q", comment="//")
    assert facts(kb, "q") == [("//c", "z // z"), ("a", "//1"), ("b", "x\n// y")]
    windows = write(text.replace("\n", "\r\n"))
    kb.load(windows, "r", comment="#")
    assert facts(kb, "r") == [("#c", "z # z"), ("a", "#1"), ("b", "x\r\n# y")]
    assert 'Some lines begin with #: if these are comments, say comment="#".' in said(kb, text)


def test_comments_in_a_table_of_one_column(kb: KnowledgeBase) -> None:
    kb.load(write("v\n# x\n1\n# y\n2\n"), comment="#")
    assert facts(kb) == [(1,), (2,)]
    kb.load(write("# only\n# comments\nv\n"), "q", comment="#")
    assert kb.table("q").fetchall() == []
    assert "is empty" in said(kb, "# only\n# comments\n", comment="#", predicate="new")


def test_lines_in_errors_are_those_of_the_file(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl p(turbine: symbol, v: float)")
    text = "x\ny\n# z\nturbine,v\n# a\na,1\n# b\n# c\nb,warm\nc\nd,2,3\n# e\ne,\n"
    options: dict[str, Any] = {"skip": 2, "comment": "#"}
    found = said(kb, text, **options)
    for line in ("line 9: b,warm", "line 10: c ", "line 11: d,2,3"):
        assert f"    {line}" in found
    (note,) = kb.load("p.csv", skip_bad=True, **options).notes
    assert note.splitlines()[0] == "p.csv: 4 bad lines were left out" and "line 13: e" in note
    assert facts(kb) == [("a", 1.0)]
    kb.delete("p", [("a", 1.0)])
    assert "in line 13 of p.csv" in said(
        kb,
        text.replace("warm", "1").replace("\nc\nd,2,3", "").replace("# b", "# b\n# b\n# b"),
        **options,
    )


def test_a_line_that_is_too_long_is_told_by_its_place(kb: KnowledgeBase) -> None:
    text = "# x\na,b\n# y\n" + "1,2\n" + "z" * (17 << 20) + ",1\n"
    assert "line 5 is longer than 16 MiB" in said(kb, text, comment="#")


# --- ragged lines, and all of it together ---------------------------------------------------------


def test_ragged_lines(kb: KnowledgeBase) -> None:
    text = "a;b;c\n1;2;3\n4;5\n6;7;8;9\n\n10\n11;12;13\n"
    found = said(kb, text)
    assert found.startswith("p.csv: 3 bad lines.\n    line 3: 4;5 ")
    (note,) = kb.load("p.csv", skip_bad=True).notes
    assert [line.split()[1] for line in note.splitlines()[1:]] == ["3:", "4:", "6:"]
    assert facts(kb) == [(1, 2, 3), (11, 12, 13)]
    assert kb.unload("p.csv", skip_bad=True).deleted == {"p": 2}


ALL = (
    "Logger;5\nWürzburg\n\n# Kanäle\nAnlage;Wert;Ort\n# eins\nwt1;1.234,56;\"Würz\nburg\"\n"
    "wt2;7;x;y\n# zwei\nwt3;n/a;z\nwt4\nwt5;-0,5;\"a;\"\"b\"\"\"\n"
)  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_options_together(kb: KnowledgeBase, encoding: str, end: str) -> None:
    file = write(ALL.replace("\n", end), encoding=encoding)
    options: dict[str, Any] = {
        "encoding": encoding, "decimal": ",", "thousands": ".", "comment": "#", "skip": 2,
        "null_string": "n/a", "nulls": "skip-row", "skip_bad": True, "delimiter": ";",
        "columns": {"Anlage": "turbine", "Wert": "v", "Ort": "place"},
    }  # fmt: skip
    kb.load(file, **options)
    assert facts(kb) == [("wt1", 1234.56, f"Würz{end}burg"), ("wt5", -0.5, 'a;"b"')]
    assert kb.table("p").column_names == ["turbine", "v", "place"]
    assert kb.unload(file, **options).deleted == {"p": 2}


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({"encoding": "latin-99"}, "Known are utf-8, latin-1, cp1252"),
        ({"encoding": "base64"}, "is no encoding of text"),
        ({"encoding": 7}, "is no encoding of text"),
        ({"decimal": ";"}, 'decimal is "," or "."'),
        ({"thousands": "x"}, "one of . , ' _ or a space: 'x' is none"),
        ({"thousands": "."}, 'decimal="," and thousands="."'),
        ({"decimal": ",", "thousands": ","}, "cannot be both"),
        ({"comment": ""}, 'such as "#"'),
        ({"comment": "a\nb"}, 'such as "#"'),
        ({"skip": -1}, "skip is how many lines"),
        ({"skip": "two"}, "skip is how many lines"),
    ],
)
def test_options_that_say_nothing(kb: KnowledgeBase, options: Any, right: str) -> None:
    write("a,b\n1,2\n")
    with pytest.raises(DataError) as error:
        kb.load("p.csv", **options)
    assert right in str(error.value)


@pytest.mark.parametrize("name", ["p.jsonl", "p.json", "p.parquet", "p.nt"])
@pytest.mark.parametrize(
    "options", [{"encoding": "cp1252"}, {"decimal": ","}, {"comment": "#"}, {"skip": 1}]
)
def test_options_of_csv_fit_no_other_file(kb: KnowledgeBase, name: str, options: Any) -> None:
    file = write('{"a": 1}\n', name)
    with pytest.raises(DataError, match="is for CSV and TSV|is no table"):
        kb.load(file, **options)


# --- several files, and standard input ------------------------------------------------------------


def test_several_files_are_one_change(kb: KnowledgeBase) -> None:
    Path("raw").mkdir()
    Path("raw/x.csv").mkdir()
    for number, value in enumerate(("1", "2.5", "n")):
        write(f"t,v\n{number},{value}\n", f"raw/r{number}.csv")
    change = kb.load("raw/*.csv", "p")
    assert change.inserted == {"p": 3} and kb.table("p").num_rows == 3
    one = write("t,v\n0,1\n1,2.5\n2,n\n", "one.csv")
    assert kb.load(one, "q").inserted == {"q": 3} and facts(kb, "q") == facts(kb)
    assert kb.load(["raw/r0.csv", Path("raw/r1.csv")], "r").inserted == {"r": 2}
    assert kb.load(["raw/r[01].csv", "raw/r2.csv"], "s").inserted == {"s": 3}
    assert kb.unload("raw/*.csv", "p").deleted == {"p": 3}
    with pytest.raises(DataError, match=r"raw/\*\.tsv: no file matches this pattern"):
        kb.load("raw/*.tsv", "p")
    with pytest.raises(DataError, match="the list of files is empty"):
        kb.load([], "p")
    write("t,v\nonly\n", "raw/r9.csv")
    with pytest.raises(DataError, match=r"raw/r9\.csv: 1 bad line"):
        kb.load("raw/*.csv", "u")
    assert "u" not in [row["predicate"] for row in kb.predicates().to_pylist()]


def test_a_file_whose_name_is_a_pattern(kb: KnowledgeBase) -> None:
    write("t,v\na,1\n", "r[0].csv")
    write("t,v\nb,2\n", "r0.csv")
    kb.load("r[0].csv", "p")
    assert facts(kb) == [("a", 1)]


def test_standard_input(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(text: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    given("t;v\nwt1;ü\n".encode("cp1252"))
    kb.load("-", "p", encoding="cp1252", delimiter=";")
    assert facts(kb) == [("wt1", "ü")]
    given(b"t;v\nwt1\n")
    with pytest.raises(DataError, match=r"^standard input: 1 bad line.\n    line 2: wt1"):
        kb.load("-", "p", delimiter=";")
    with pytest.raises(DataError, match="Standard input has no name: give the predicate"):
        kb.load("-")
