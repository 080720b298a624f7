"""What a table in a file says is what becomes facts: never rounded, never half of it."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import math
import random
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import DataError

OpenKb = Callable[..., KnowledgeBase]


def rows(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in kb.table(predicate).to_pylist())


def load(kb: KnowledgeBase, path: Path, text: str, predicate: str | None = "p") -> Any:
    path.write_text(text, encoding="utf-8", newline="")
    return kb.load(path, predicate=predicate)


def term(form: str, datatype: str) -> str:
    return f'"{form}"^^<http://www.w3.org/2001/XMLSchema#{datatype}>'


def as_json(text: str) -> str:
    """The text of a value in JSON, as a string if JSON has no such value."""
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text)
    return text


# --- a file after another (A4) --------------------------------------------------------------------


DECLARED = {
    "11": "int", "1.5": "float", "true": "bool", "2024-01-01": "date",
    "2024-01-01 10:00:00": "timestamp",
}  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "bad", "said"),
    [
        (["11"], ["007"], "007", "no int"),
        (["11"], ["0x1F"], "0x1F", "no int"),
        (["11"], ["9223372036854775808"], "9223372036854775808", "beyond 64 bits"),
        (["11"], ["true"], "true", "no int"),
        (["1.5"], ["0.12345678901234567890"], "0.12345678901234567890", "rounded"),
        (["1.5"], ["12345678901234567890"], "12345678901234567890", "rounded"),
        (["1.5"], ["1e400"], "1e400", "rounded"),
        (["1.5"], ["1e-400"], "1e-400", "rounded"),
        (["true"], ["1"], "1", "no bool"),
        (["true"], ["t"], "t", "no bool"),
        (["2024-01-01"], ["2024-01-01 10:00:00"], "2024-01-01 10:00:00", "no date"),
        (["2024-01-01"], ["epoch"], "epoch", "no date"),
        (["2024-01-01"], ["2024-02-30"], "2024-02-30", "no date"),
        (["2024-01-01 10:00:00"], ["2024-01-01"], "2024-01-01", "no timestamp"),
        (["2024-01-01 10:00:00"], ["2024-01-01 10:00:00.1234567"], ".1234567", "microseconds"),
        (["2024-01-01 10:00:00"], ["2024-01-01 24:00:00"], "24:00:00", "no timestamp"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_later_file_keeps_its_values(
    open_kb: OpenKb, tmp_path: Path, suffix: str, first: list[str], then: list[str], bad: str,
    said: str,
) -> None:  # fmt: skip
    def text(values: list[str]) -> str:
        if suffix == ".csv":
            return "x\n" + "\n".join(values) + "\n"
        return "".join(f'{{"x": {as_json(value)}}}\n' for value in values)

    kb = open_kb()
    kb.add_rules(f".decl p(x: {DECLARED[first[0]]})")
    load(kb, tmp_path / f"a{suffix}", text(first))
    before = rows(kb)
    with pytest.raises(DataError) as error:
        load(kb, tmp_path / f"b{suffix}", text(then))
    told = str(error.value)
    assert f"b{suffix}" in told
    assert "column x" in told
    assert bad in told or str(float(bad)) in told  # JSON is read as 1000.0 where it says 1e3
    assert said in told
    at = next(i for i, value in enumerate(then) if bad in value)
    assert f"line {at + (2 if suffix == '.csv' else 1)}:" in told
    assert rows(kb) == before


def test_bad_lines_can_be_skipped(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = open_kb()
    kb.add_rules(".decl p(x: int, y: symbol)")
    load(kb, tmp_path / "a.csv", "x,y\n1,a\n")
    (tmp_path / "b.csv").write_text("x,y\n2,b\n2.5,c\n,d\n3,e\n")
    change = kb.load(tmp_path / "b.csv", predicate="p", skip_bad=True)
    assert rows(kb) == [(1, "a"), (2, "b"), (3, "e")]
    assert "2 bad lines were left out" in "".join(change.notes)
    assert "column x holds 2.5, which is no int" in "".join(change.notes)


def test_the_first_line_is_told_of(open_kb: OpenKb, tmp_path: Path) -> None:
    assert not load(open_kb(), tmp_path / "a.csv", "turbine,celsius\nwt1,20.5\n").notes
    change = load(open_kb(), tmp_path / "a.csv", "1,2\n3,4\n")
    assert "the first line names the columns (1, 2) and is no fact" in "".join(change.notes)
    kb = open_kb()
    change = load(kb, tmp_path / "a.csv", "wt1,wt2\nwt2,wt3\n")
    assert "the first line names the columns (wt1, wt2) and is no fact" in "".join(change.notes)
    assert not load(kb, tmp_path / "b.csv", "wt2,wt1\nwt7,wt8\n").notes
    assert "names the columns (wt3, wt4)" in "".join(
        load(kb, tmp_path / "c.csv", "wt3,wt4\nwt4,wt5\n").notes
    )


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "+3", " 4 "], [-2, 1, 3, 4]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1.50", "1e5", "1E-7", ".5", "7.", "-0.25"], [-0.25, 1e-7, 0.5, 1.5, 7.0, 1e5]),
        (["0.1", "0.30000000000000004", "0.10000000000000001"], [0.1, 0.30000000000000004]),
        (["5e-324", "4.9E-324", "1.7976931348623157e308"], [5e-324, 1.7976931348623157e308]),
        (["100000000000000000000.000", "0.1000000000000000000000"], [0.1, 1e20]),
        (["inf", "-Infinity", "1.5"], [-math.inf, 1.5, math.inf]),
        (["true", "False", "TRUE"], [False, True]),
        (["t", "f"], ["f", "t"]),
        (["007", "008"], ["007", "008"]),
        (["1", "x"], [term("1", "integer"), "x"]),
        (["1", "007"], [term("1", "integer"), "007"]),
        (["2024-02-29"], [dt.date(2024, 2, 29)]),
        (["2024-02-30"], ["2024-02-30"]),
        (["10000-01-01"], ["10000-01-01"]),
        (["01/02/2024 10:00:00"], ["01/02/2024 10:00:00"]),
        (["2024-01-01 10:00", "2024-01-01T10:00:00.5"],
         [dt.datetime(2024, 1, 1, 10), dt.datetime(2024, 1, 1, 10, 0, 0, 500000)]),
        (["2024-01-01T10:00:00Z", "2024-01-01 10:00:00+0130", "2024-01-01 10:00:00-02"],
         [dt.datetime(2024, 1, 1, 8, 30), dt.datetime(2024, 1, 1, 10),
          dt.datetime(2024, 1, 1, 12)]),
        (["2024-01-01 10:00:00", "2024-01-01T10:00:00Z"],
         [term("2024-01-01T10:00:00", "dateTime"), term("2024-01-01T10:00:00Z", "dateTime")]),
        (["2024-01-01", "2024-01-01 00:00:00"],
         [term("2024-01-01", "date"), term("2024-01-01T00:00:00", "dateTime")]),
        (["infinity2", "nancy", "+", "-", ".", "1e", "--1", "1_000"],
         ["+", "-", "--1", ".", "1_000", "1e", "infinity2", "nancy"]),
        (["a\0b", "a"], ["a", "a\0b"]),
    ],
)  # fmt: skip
def test_cells_of_csv(
    open_kb: OpenKb, tmp_path: Path, cells: list[str], expected: list[Any]
) -> None:
    kb = open_kb()
    load(kb, tmp_path / "p.csv", "x\n" + "\n".join(cells) + "\n")
    found = [value for (value,) in rows(kb)]
    assert (found, set(map(type, found))) == (expected, set(map(type, expected)))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "12345678901234567890"],
         [term("1", "integer"), term("12345678901234567890", "integer")]),
        (["12345678901234567890", "12345678901234567891"],
         [term("12345678901234567890", "integer"), term("12345678901234567891", "integer")]),
        (["0.5", "9007199254740993"], [term("0.5", "double"), term("9007199254740993", "integer")]),
        (["0.1", "0.12345678901234567890"],
         [term("0.1", "double"), term("0.1234567890123456789", "decimal")]),
        (["1.5", "1e400"], [term("1.5", "double"), "1e400"]),
    ],
)  # fmt: skip
def test_numbers_that_would_change_are_terms(
    open_kb: OpenKb, tmp_path: Path, cells: list[str], expected: list[str]
) -> None:
    kb = open_kb()
    load(kb, tmp_path / "p.csv", "x\n" + "\n".join(cells) + "\n")
    assert rows(kb) == [(one,) for one in expected]


def test_moments_that_would_change_are_refused(open_kb: OpenKb, tmp_path: Path) -> None:
    kb, cells = open_kb(), ["2024-01-01 10:00:00", "2024-01-01 10:00:00.123456789"]
    with pytest.raises(DataError, match=r"column x holds .*, which (would|is)") as error:
        load(kb, tmp_path / "p.csv", "x\n" + "\n".join(cells) + "\n")
    assert cells[-1] in str(error.value)
    kb.add_rules(".decl p(x: symbol)")
    load(kb, tmp_path / "p.csv", "x\n" + "\n".join(cells) + "\n")
    assert rows(kb) == sorted((cell,) for cell in cells)


def test_a_file_without_rows_settles_no_type(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = open_kb()
    load(kb, tmp_path / "a.csv", "x,y\n")
    load(kb, tmp_path / "b.csv", "x,y\n1,a\n")
    assert rows(kb) == [(1, "a")]


def test_json_of_two_kinds(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", '{"x": 1}\n{"x": "a"}\n')
    assert rows(kb) == [(term("1", "integer"),), ("a",)]
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", '{"x": "1"}\n{"x": "true"}\n{"x": "2024-01-01"}\n')
    assert rows(kb) == [(term("2024-01-01", "date"),), ("1",), ("true",)]
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", '{"x": 1}\n{"x": 2.5}\n')
    assert rows(kb) == [(1.0,), (2.5,)]
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", '{"x": 12345678901234567890123}\n{"x": 2}\n')
    assert rows(kb) == [(term("12345678901234567890123", "integer"),), (term("2", "integer"),)]


# --- damage ---------------------------------------------------------------------------------------

FACTS = [(f"wt{i % 7}", i, i / 8) for i in range(400)]


def written(folder: Path, suffix: str) -> Path:
    """A file of the facts."""
    path = folder / f"p{suffix}"
    if suffix == ".parquet":
        columns = {name: [row[i] for row in FACTS] for i, name in enumerate("abc")}
        pq.write_table(pa.table(columns), path, write_page_checksum=True, use_dictionary=False)
        return path
    if suffix.startswith(".csv"):
        text = "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in FACTS)
    elif suffix.startswith(".jsonl"):
        text = "".join(json.dumps({"a": a, "b": b, "c": c}) + "\n" for a, b, c in FACTS)
    else:
        text = "".join(f'<urn:x:{b}> <urn:p> "{a}" .\n' for a, b, _ in FACTS)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl.gz", ".nt.gz", ".ttl.gz", ".parquet"])
def test_a_damaged_file_is_refused_or_equal(open_kb: OpenKb, tmp_path: Path, suffix: str) -> None:
    draw = random.Random(23)
    good = written(tmp_path, suffix)
    name = "urn:p" if suffix in (".nt.gz", ".ttl.gz") else "p"
    reference = open_kb()
    reference.load(good)
    expected, data = rows(reference, name), good.read_bytes()
    refused = 0
    kb = open_kb()
    for number in range(40):
        if number % 2:
            broken = data[: draw.randrange(len(data))]
        else:
            at = draw.randrange(len(data))
            broken = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        good.write_bytes(broken)
        try:
            kb.load(good)
        except DataError:
            refused += 1
            continue
        assert rows(kb, name) == expected, (number, suffix)
        kb = open_kb()
    assert refused > 20
    assert kb.sql("SELECT count(*) AS n FROM zodiac.predicate").to_pylist() == [{"n": 0}]


def test_garbage_after_a_packed_file(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n") + gzip.compress(b"2\n"))
    kb = open_kb()
    kb.load(path)
    assert rows(kb) == [(1,), (2,)]
    path.write_bytes(path.read_bytes() + b"garbage")
    with pytest.raises(DataError, match="damaged or cut off"):
        open_kb().load(path)


# --- files that are too much ----------------------------------------------------------------------

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:x:">'


def zeros() -> bytes:
    """300 MB of rows in 600 KB."""
    pack = zlib.compressobj(wbits=31)
    rows = b"0\n" * 500_000
    return pack.compress(b"x\n") + b"".join(pack.compress(rows) for _ in range(300)) + pack.flush()


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "gzip": (".csv.gz", zeros, "unpacks to more than 200 times"),
    "entities of entities": (".rdf", lambda: (
        "<!DOCTYPE rdf:RDF [<!ENTITY a0 'x'><!ENTITY a0 \"lollollol\">"
        + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9))
        + f"]>{RDF}<Thing><p>&a8;</p></Thing></rdf:RDF>").encode(), "entities would become"),
    "one entity often": (".rdf", lambda: (
        f'<!DOCTYPE rdf:RDF [<!ENTITY a "{"x" * 60_000}">]>'
        f"{RDF}<Thing><p>{'&a;' * 5_000}</p></Thing></rdf:RDF>").encode(), "entities would become"),
    "prefix often": (".ttl", lambda: (
        f"@prefix a: <urn:{'x' * 500_000}> ." + "a:b a:c a:d . " * 500).encode(),
        "times as large"),
    "deep JSON-LD": (".jsonld", lambda: b'{"urn:b":' * 5_000 + b"1" + b"}" * 5_000, "nested"),
    "deep JSON lines": (".jsonl", lambda: b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
                        "nested"),
    "deep JSON": (".json", lambda: b"[" * 1_000_000, "nested"),
    "deep beside strings": (".json", lambda: b'{"a": "' + b"}" * 5_000 + b'", "b":'
                            + b"[" * 5_000 + b"]" * 5_000 + b"}", "nested"),
    "no end of a string": (".ttl", lambda: b'<urn:a> <urn:b> "' + b"x" * 1_000_000, "end of file"),
    "long text in Turtle": (".ttl", lambda: b'<urn:a> <urn:b> "' + b"x" * (17 << 20) + b'" .',
                            "longer than 16 MiB"),
    "long line": (".nt",
                  lambda: b'<urn:a> <urn:b> "' + b"x" * (34 << 20) + b'" .\n<urn:a> <urn:b> 1',
                  "line 1 is longer than 16 MiB"),
    "long cell": (".csv", lambda: b"a,b\n1,2\n3," + b"x" * (34 << 20) + b"\n",
                  "line 3 is longer than 16 MiB"),
    "long JSON line": (".jsonl", lambda: b'{"a": "' + b"x" * (34 << 20) + b'"}\n',
                       "line 1 is longer than 16 MiB"),
}  # fmt: skip

CHILD = """
    import json, resource, sys, zodiac_sql
    from zodiac_sql.errors import DataError
    import pyarrow.parquet, pyoxigraph

    def most():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    kb = zodiac_sql.connect(threads=1)
    before, told = most(), {}
    for path in sys.argv[1:]:
        try:
            kb.load(path)
        except DataError as error:
            told[path] = [most() - before, str(error)]
    print(json.dumps(told))
"""


def test_bombs_are_refused_in_little_memory(tmp_path: Path) -> None:
    """One process gets all of them: to start one takes longer than a bomb."""
    paths = {
        name: tmp_path / f"p{n}{suffix}" for n, (name, (suffix, *_)) in enumerate(BOMBS.items())
    }
    for name, path in paths.items():
        path.write_bytes(BOMBS[name][1]())
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), *map(str, paths.values())],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    told = json.loads(child.stdout)
    for name, path in paths.items():
        kilobytes, error = told[str(path)]
        assert BOMBS[name][2] in error, name
        assert path.name in error
        assert kilobytes < 100_000, name


def test_entities_as_ontologies_use_them(open_kb: OpenKb, tmp_path: Path) -> None:
    text = (
        '<!DOCTYPE rdf:RDF [<!ENTITY x "urn:x:"><!ENTITY y "&x;y/">]>'
        f'{RDF}<Thing rdf:about="&y;a"><p rdf:resource="&x;b"/></Thing></rdf:RDF>'
    )
    kb = open_kb()
    load(kb, tmp_path / "p.owl", text, None)
    assert rows(kb, "urn:x:p") == [("urn:x:y/a", "urn:x:b")]


def test_json_nested_no_deeper_than_allowed(open_kb: OpenKb, tmp_path: Path) -> None:
    text = '{"a": "' + "[" * 5_000 + '"}\n{"a": "}}}\\"]]"}\n'
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", text * 100)
    assert len(rows(kb)) == 2


XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("datatype", "text", "value"),
    [
        ("decimal", "0.10000000000000000000", 0.1),
        ("decimal", "0.30000000000000004", 0.30000000000000004),
        ("decimal", "0.12345678901234567890", None),
        ("integer", "12345678901234567890", None),
        ("integer", "9007199254740993", 9007199254740992.0),
        ("double", "0.12345678901234567890", 0.12345678901234568),  # so XML Schema says
    ],
)
def test_rdf_literals_in_a_known_column_of_floats(
    open_kb: OpenKb, tmp_path: Path, datatype: str, text: str, value: float | None
) -> None:
    kb = open_kb()
    kb.add_rules(".decl <urn:p>(s: symbol, o: float)")
    kb.insert("urn:p", [("urn:b", 1.5)])
    line = f'<urn:a> <urn:p> "{text}"^^<{XSD}{datatype}> .\n'
    if value is None:
        with pytest.raises(DataError, match=rf"line 1: .*{text}"):
            load(kb, tmp_path / "p.nt", line, None)
        assert rows(kb, "urn:p") == [("urn:b", 1.5)]
    else:
        load(kb, tmp_path / "p.nt", line, None)
        assert rows(kb, "urn:p") == [("urn:a", value), ("urn:b", 1.5)]


# --- random tables --------------------------------------------------------------------------------

DRAWN: dict[str, Callable[[random.Random], Any]] = {
    "int": lambda r: r.choice([r.randrange(-9, 9), 2**53 + r.randrange(3), 2**63 - 1, -(2**63)]),
    "float": lambda r: r.choice([r.random(), r.uniform(-1e9, 1e9), 5e-324, 1e308, 0.5, 2.0**70]),
    "bool": lambda r: r.random() < 0.5,
    "date": lambda r: dt.date.fromordinal(r.randrange(1, dt.date.max.toordinal())),
    "timestamp": lambda r: dt.datetime.min + dt.timedelta(
        days=r.randrange(3_000_000), microseconds=r.randrange(86_400_000_000)),
    "symbol": lambda r: "".join(
        r.choice("ab1.-,;'\n\t é\u2028\U0001f600\"") for _ in range(5)
    ).lstrip('"'),
}  # fmt: skip


def write(path: Path, names: list[str], table: list[tuple[Any, ...]]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(zip(names, zip(*table, strict=True), strict=True))), path)
        return
    if ".csv" in path.name:
        out = io.StringIO(newline="")
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerows([names, *table])
        data = out.getvalue().encode()
    else:
        lines = (dict(zip(names, row, strict=True)) for row in table)
        data = "".join(json.dumps(line, default=str) + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("seed", range(12))
def test_random_tables(open_kb: OpenKb, tmp_path: Path, seed: int) -> None:
    """Files of a table, in pieces and any order, are what Python wrote into them."""
    draw = random.Random(seed)
    types = [draw.choice(list(DRAWN)) for _ in range(draw.randrange(1, 5))]
    names = [f"x{i}" for i in range(len(types))]
    kb = open_kb()
    kb.add_rules(f".decl p({', '.join(map('{}: {}'.format, names, types))})")
    expected: set[tuple[Any, ...]] = set()
    for piece in range(5):
        table = [tuple(DRAWN[t](draw) for t in types) for _ in range(draw.randrange(1, 30))]
        suffix = draw.choice([".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
        path = tmp_path / f"p{piece}{suffix}"
        write(path, names, table)
        kb.load(path, predicate="p")
        expected |= set(table)
        found = [tuple(row.values()) for row in kb.table("p").to_pylist()]
        assert len(found) == len(set(found))
        assert set(found) == expected, suffix


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("number", ["9007199254740993e0", "-9007199254740993E-2"])
def test_a_mantissa_without_a_point_is_not_rounded_in_json(
    open_kb: OpenKb, tmp_path: Path, suffix: str, number: str
) -> None:
    text = f'{{"x": 0.5}}\n{{"x": {number}}}\n'
    with pytest.raises(DataError, match=f"line 2: .*{number}, which would be rounded"):
        load(open_kb(), tmp_path / f"p{suffix}", text)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2"], [-2, 1]),
        (["9223372036854775807", "9007199254740993"], [9007199254740993, 2**63 - 1]),
        (["1", "0.30000000000000004"], [0.30000000000000004, 1.0]),
        (["9007199254740992", "0.5"], [0.5, 9007199254740992.0]),
        (["1e22", "0.5"], [0.5, 1e22]),
        (["true", "false"], [False, True]),
        (['"2024-02-29"', '"2024-01-01"'], [dt.date(2024, 1, 1), dt.date(2024, 2, 29)]),
        (['"2024-02-29"', '"2024-02-30"'], [term("2024-02-29", "date"), "2024-02-30"]),
        (['"2024-01-01T10:00:00+02:00"'], [dt.datetime(2024, 1, 1, 8)]),
        (['"01/02/2024"'], ["01/02/2024"]),
        (['"10:00:00"'], ["10:00:00"]),
        (['" 2024-02-29"'], [" 2024-02-29"]),
        (['"a\\n\\"b"', '"\\u00e9"'], ['a\n"b', "é"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_cells_of_json(
    open_kb: OpenKb, tmp_path: Path, suffix: str, cells: list[str], expected: list[Any]
) -> None:
    kb = open_kb()
    load(kb, tmp_path / f"p{suffix}", "".join(f'{{"x": {cell}}}\n' for cell in cells))
    found = [value for (value,) in rows(kb)]
    assert (found, set(map(type, found))) == (expected, set(map(type, expected)))


def test_an_integer_that_a_double_does_not_hold_is_a_term_in_json(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    kb = open_kb()
    load(kb, tmp_path / "p.jsonl", '{"x": 9007199254740993}\n{"x": 0.5}\n')
    assert rows(kb) == [(term("0.5", "double"),), (term("9007199254740993", "integer"),)]


def test_strings_of_json_are_named_as_they_are_written(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = open_kb()
    kb.add_rules(".decl p(x: date)")
    with pytest.raises(DataError, match='line 1: "a"  .column x holds "a", which is no date'):
        load(kb, tmp_path / "p.jsonl", '{"x": "a"}\n')
