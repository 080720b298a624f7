"""Arities and types of predicates that come from files of triples."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support.loading import GOOD, facts, load, predicate

from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import same_value
from zodiac_sql.facts.load.load_file import load_file
from zodiac_sql.facts.load.options import Options
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type

SKIP_BAD = Options(skip_bad=True)

# --- arities --------------------------------------------------------------------------------------


def test_class_and_property_of_one_name(store: Store, tmp_path: Path) -> None:
    text = GOOD + f"<http://e.org/a> <{symbols.RDF_TYPE}> <http://e.org/p> ."
    with pytest.raises(DataError, match="http://e.org/p is used both as a class and as a property"):
        load(store, tmp_path / "a.nt", text)


def test_arity_that_is_known(store: Store, tmp_path: Path) -> None:
    known = {"http://e.org/p": predicate("http://e.org/p", Type.SYMBOL)}
    with pytest.raises(DataError, match="a property .2 columns. there, but has 1"):
        load(store, tmp_path / "a.nt", GOOD, known)
    known = {"http://e.org/p": predicate("http://e.org/p", Type.INT, Type.SYMBOL)}
    with pytest.raises(DataError, match="column s has the type int"):
        load(store, tmp_path / "a.nt", GOOD, known)


# --- literals -------------------------------------------------------------------------------------


def literal_file(*literals: str) -> str:
    """Triples with these objects; `5 integer` stands for "5"^^xsd:integer."""
    lines = []
    for number, text in enumerate(literals):
        value, _, local = text.rpartition(" ")
        lines.append(
            f'<http://e.org/{number}> <http://e.org/p> "{value}"^^<{symbols.XSD}{local}> .'
        )
    return "\n".join(lines)


NATIVE = [
    (["5 integer", "7 integer", "-9223372036854775808 integer"], Type.INT, "integer",
     [5, 7, -(2**63)]),
    (["5 int", "6 int"], Type.INT, "int", [5, 6]),
    (["255 unsignedByte"], Type.INT, "unsignedByte", [255]),
    (["1.5 decimal", "0.5 decimal", "-2.0 decimal"], Type.DECIMAL, "decimal", [1.5, 0.5, -2.0]),
    (["0.12345678901234567 decimal"], Type.DECIMAL, "decimal", [Decimal("0.12345678901234567")]),
    (["1000.0 double", "1e+20 double", "INF double", "-INF double"], Type.FLOAT, "double",
     [1000.0, 1e20, math.inf, -math.inf]),
    (["1.1 float"], Type.FLOAT, "float", [1.1]),
    (["true boolean", "false boolean"], Type.BOOL, "boolean", [True, False]),
    (["2024-02-29 date"], Type.DATE, "date", [dt.date(2024, 2, 29)]),
    (["2024-02-29T10:00:00.5 dateTime"], Type.TIMESTAMP, "dateTime",
     [dt.datetime(2024, 2, 29, 10, 0, 0, 500000)]),
    (["2024-02-29T10:00:00Z dateTime"], Type.TIMESTAMP, "dateTimeZ",
     [dt.datetime(2024, 2, 29, 10)]),
    (["2024-02-29T10:00:00+02:00 dateTime", "2024-02-29T23:30:00+02:00 dateTime"], Type.TIMESTAMP,
     "dateTime+02:00", [dt.datetime(2024, 2, 29, 8), dt.datetime(2024, 2, 29, 21, 30)]),
    (["2024-02-29T10:00:00-00:30 dateTimeStamp"], Type.TIMESTAMP, "dateTimeStamp-00:30",
     [dt.datetime(2024, 2, 29, 10, 30)]),
]  # fmt: skip


@pytest.mark.parametrize(("literals", "type_", "datatype", "values"), NATIVE)
def test_native_columns(
    store: Store, tmp_path: Path, literals: list[str], type_: Type, datatype: str | None,
    values: list[Any],
) -> None:  # fmt: skip
    store.run("SET TimeZone = 'America/New_York'")
    loaded = load(store, tmp_path / "a.nt", literal_file(*literals))
    (staged,) = loaded.staged
    assert staged.columns[1].type is type_
    assert staged.datatypes == (None, datatype and symbols.XSD + datatype)
    assert [value for _, value in facts(store, loaded)["http://e.org/p"]] == values
    assert not store.rows("SELECT text FROM temp.\"zodiac$known_symbol\" WHERE kind = 'literal'")


@pytest.mark.parametrize(
    "literals",
    [
        ["5 integer", "x string"],
        ["5 integer", "true boolean"],
        ["+007 integer"], ["5 int", "6 long"], [".5 decimal"], ["-2. decimal"], ["1.50 decimal"],
        ["12345678901234567 decimal"], ["-0.0 decimal"], ["-0.0 double"], ["5 double"],
        ["0.1 float", "0.1 double"], ["1e3 double"], ["1 integer", "2.5 decimal"],
        ["1 integer", "2.5 double"], ["0 boolean"],
        ["2024-02-29T10:00:00+02:00 dateTime", "2024-02-29T10:00:00Z dateTime"],
        ["2024-02-29T10:00:00.50 dateTime"], ["2024-02-29T24:00:00 dateTime"],
        ["2024-02-29T10:00:00-00:30 dateTimeStamp", "2024-02-29T10:00:00-00:30 dateTime"],
        ["9223372036854775808 integer"],
        ["5.0 integer"], [" 5 integer"], ["1_000 integer"], [" integer"],
        ["256 unsignedByte"], ["0 positiveInteger"], ["-1 nonNegativeInteger"],
        ["0.12345678901234567 decimal", "0.5 double"], ["1e3 decimal"],
        ["0.1000000000000000000001 decimal"], ["12345678901234567890123 decimal"],
        ["1234567890123456 integer", "0.5 double"],
        [f"0.{'0' * 400}1 decimal"], [f"1{'0' * 400} decimal"], ["1e39 float", "0.5 double"],
        ["1e999 double"], ["inf double"], ["nan double"], ["1e3 double", "x double"],
        ["TRUE boolean"], ["2023-02-29 date"], ["2024-01-01Z date"], ["12024-01-01 date"],
        ["2024-01-01 dateTime"], ["2024-01-01T25:00:00 dateTime"],
        ["2024-01-01T10:00:00.1234567 dateTime"], ["2024-01-01T10:00:00+15:00 dateTime"],
        ["2024-01-01T10:00:00 dateTime", "2024-01-01T10:00:00Z dateTime"],
        ["2024-01-01T10:00:00 dateTimeStamp"],
        ["10:00:00 time"],
    ],
)  # fmt: skip
def test_columns_of_terms(store: Store, tmp_path: Path, literals: list[str]) -> None:
    loaded = load(store, tmp_path / "a.nt", literal_file(*literals))
    expected = []
    for number, text in enumerate(literals):
        value, _, local = text.rpartition(" ")
        symbol = symbols.literal(value, datatype=symbols.XSD + local)
        expected.append((f"http://e.org/{number}", symbol))
    assert facts(store, loaded) == {"http://e.org/p": expected}
    assert loaded.staged[0].datatypes == (None, None)
    assert loaded.staged[0].columns[1].mixed == (literals != ["10:00:00 time"])


def test_properties_are_typed_one_by_one(store: Store, tmp_path: Path) -> None:
    text = '@prefix e: <http://e/> . e:a e:i 5, 6 ; e:f 1.5 ; e:m 5, "x", e:b ; a e:C .'
    assert facts(store, load(store, tmp_path / "a.ttl", text)) == {
        "http://e/i": [("http://e/a", 5), ("http://e/a", 6)],
        "http://e/f": [("http://e/a", 1.5)],
        "http://e/m": [
            ("http://e/a", f'"5"^^<{symbols.XSD}integer>'), ("http://e/a", "http://e/b"),
            ("http://e/a", "x"),
        ],
        "http://e/C": [("http://e/a",)],
    }  # fmt: skip


P = "http://e.org/p"


def test_a_known_type_is_followed(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    symbol = {P: predicate(P, Type.SYMBOL, Type.SYMBOL)}
    loaded = load(store, path, literal_file("5 integer"), symbol)
    assert facts(store, loaded)[P] == [("http://e.org/0", f'"5"^^<{symbols.XSD}integer>')]
    float_ = {P: predicate(P, Type.SYMBOL, Type.FLOAT)}
    loaded = load(store, path, literal_file("5 integer", "0.12345678901234568 decimal"), float_)
    assert facts(store, loaded)[P] == [
        ("http://e.org/0", 5.0),
        ("http://e.org/1", 0.12345678901234568),
    ]


@pytest.mark.parametrize(
    ("known", "literals"),
    [
        (predicate(P, Type.SYMBOL, Type.INT), ["5 integer", "5.5 decimal"]),
        (predicate(P, Type.SYMBOL, Type.INT), ["5 integer", "x string"]),
        (predicate(P, Type.SYMBOL, Type.INT), ["5 integer", "9223372036854775808 integer"]),
        (predicate(P, Type.SYMBOL, Type.DATE), ["2024-01-01 date", "2024-13-01 date"]),
        (predicate(P, Type.SYMBOL, Type.TIMESTAMP, datatype=symbols.XSD + "dateTime"),
         ["2024-01-01T10:00:00 dateTime", "2024-01-01T10:00:00Z dateTime"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_known_type(
    store: Store, tmp_path: Path, known: Predicate, literals: list[str]
) -> None:
    path = tmp_path / "a.nt"
    with pytest.raises(DataError) as error:
        load(store, path, "# comment\n\n" + literal_file(*literals), {P: known})
    assert str(error.value).startswith(f"{path}: 1 bad line.\n    line 4: <http://e.org/1>")
    assert f"The column o of {P} has the type {known.columns[1].type}" in str(error.value)
    loaded = load_file(store, path, {P: known}, options=SKIP_BAD)
    assert loaded.facts == len(facts(store, loaded)[P]) == 1
    assert [skip.line for skip in loaded.skipped] == [4]


def test_iris_do_not_fit_a_native_column(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 bad statement"):
        load(store, tmp_path / "a.ttl", GOOD, {P: predicate(P, Type.SYMBOL, Type.INT)})


def noted(store: Store, tmp_path: Path, text: str, suffix: str = ".nt") -> tuple[str, ...]:
    return load(store, tmp_path / f"a{suffix}", text).notes


FALLEN = [
    (["5 integer", "6 integer", "n/a string"], 'line 3 has "n/a"^^xsd:string, and others are'),
    (["x string", "5 integer", "2.5 decimal"], 'line 1 has "x"^^xsd:string, and others are'),
    (["5 integer", "6 integer", "true boolean"], 'line 3 has "true"^^xsd:boolean, and others'),
    (["2.5 decimal", "0.1234567890123456789 decimal"],
     "line 2 has .*, which a column of the type decimal does not write so"),
    (["5 byte", "300 byte"], "line 2 has .*, which is beyond the range of its datatype"),
    (["2024-01-01T10:00:00 dateTime", "2024-01-01T10:00:00Z dateTime"],
     "line 2 has .*, and others have another time zone, or none"),
    (["5 integer", "x integer"], 'line 2 has "x"\\^\\^xsd:integer, which a column of the type int'),
]  # fmt: skip


@pytest.mark.parametrize(("literals", "said"), FALLEN)
def test_why_a_column_is_not_native_is_told(
    store: Store, tmp_path: Path, literals: list[str], said: str
) -> None:
    (note,) = noted(store, tmp_path, literal_file(*literals))
    start = rf"{tmp_path}/a\.nt: the objects of http://e\.org/p have the type any, because "
    assert re.match(start + said.replace("^^", r"\^\^"), note), note


def test_lines_and_numbers_of_notes(store: Store, tmp_path: Path) -> None:
    """Comments, line ends of Windows and bad lines count; after five properties, only how many."""
    text = literal_file("5 integer", "n/a string", "6 integer").replace("\n", "\r\n\r\n# c\r\n")
    assert "because line 4 has" in noted(store, tmp_path, text)[0]
    turtle = "@prefix : <http://e/> .\n:a :p 1 ,\n 2 , :b ;\n :q 'x' .\n"
    (note,) = noted(store, tmp_path, turtle, ".ttl")
    assert "because line 3 has <http://e/b>, and others are xsd:integer" in note
    many = "".join(f":a :p{n} 1 , 2 , true .\n" for n in range(7))
    notes = noted(store, tmp_path, f"@prefix : <http://e/> .\n{many}", ".ttl")
    assert len(notes) == 6 and notes[-1].endswith(
        "a.ttl: 2 more properties have objects of the type any, too"
    )


def test_columns_of_text_need_no_note(store: Store, tmp_path: Path) -> None:
    assert noted(store, tmp_path, literal_file("a string", "2024 gYear")) == ()
    assert noted(store, tmp_path, literal_file("a string", "b string", "5 integer")) == ()
    assert noted(store, tmp_path, literal_file("a string", "5 integer")) == ()
    known = {P: predicate(P, Type.SYMBOL, Type.SYMBOL)}
    text = literal_file("5 integer", "true boolean")
    assert load(store, tmp_path / "a.nt", text, known).notes == ()


SAME = [
    (Type.FLOAT, ["1 integer", "1.0 decimal", "1e0 double"],
     '"1"^^xsd:integer and "1e0"^^xsd:double'),
    (Type.INT, ["01 integer", "1 integer"], '"01"^^xsd:integer and "1"^^xsd:integer'),
    (Type.BOOL, ["true boolean", "1 boolean"], '"1"^^xsd:boolean and "true"^^xsd:boolean'),
    (Type.TIMESTAMP, ["2024-01-01T12:00:00Z dateTime", "2024-01-01T14:00:00+02:00 dateTime"],
     '"2024-01-01T12:00:00Z"^^xsd:dateTime and "2024-01-01T14:00:00+02:00"^^xsd:dateTime'),
    (Type.FLOAT, ["0.1 float", "0.1 decimal"], '"0.1"^^xsd:decimal and "0.1"^^xsd:float'),
    (Type.TIMESTAMP, ["2024-01-01T12:00:00.120 dateTime", "2024-01-01T12:00:00.12 dateTime"],
     '"2024-01-01T12:00:00.12"^^xsd:dateTime and "2024-01-01T12:00:00.120"^^xsd:dateTime'),
    (Type.FLOAT, ["0.1 float", "0.1 double"], '"0.1"^^xsd:double and "0.1"^^xsd:float'),
    (Type.TIMESTAMP, ["2024-01-01T12:00:00.120Z dateTime", "2024-01-01T12:00:00.125Z dateTime"],
     ""),
    (Type.DECIMAL, ["1 integer", "2.5 decimal", "1 integer"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "literals", "said"), SAME)
def test_several_literals_that_are_one_fact_of_a_declared_column_are_told(
    store: Store, tmp_path: Path, type_: Type, literals: list[str], said: str
) -> None:
    text = re.sub(r"http://e.org/[0-9]", "http://e.org/s", literal_file(*literals))
    loaded = load(store, tmp_path / "a.nt", text, {P: predicate(P, Type.SYMBOL, type_)})
    notes = tuple(n for n in loaded.notes if "several time zones" not in n)
    start = f"{tmp_path}/a.nt: 1 fact of {P} stands for several literals of the file, such as "
    assert notes == ((f"{start}{said}: their values are equal",) if said else ())
    assert "stand" not in str(noted(store, tmp_path, text))  # as terms they are several


KNOWN = {f"http://e/{n}": predicate(f"http://e/{n}", Type.SYMBOL, Type.FLOAT) for n in "qpr"}


def test_literals_that_are_one_fact_are_told_of_each_property(store: Store, tmp_path: Path) -> None:
    """Properties of one type are asked together, and told in the order of their names."""
    text = "@prefix : <http://e/> .\n:a :q 1 , 1.0 , 2.5 ; :p 01 , 1 , 2 ; :r 1 , 2.0 ; :t true .\n"
    text += ":b :q 2 , 2.0 ; :t false .\n:c :q 3.5 , 1 .\n"
    notes = load(store, tmp_path / "a.ttl", text, KNOWN).notes
    said = [note.partition(": ")[2].partition(" stand")[0] for note in notes]
    assert said == ["1 fact of http://e/p", "2 facts of http://e/q"]
    assert "such as " in notes[1] and notes[1].endswith("their values are equal")


def test_many_odd_literals_are_not_compared(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "@prefix : <http://e/> .\n:a :q 1 , 1.0 .\n:b :q 2 , 2.0 .\n:c :q 03.0 .\n"
    assert len(load(store, tmp_path / "a.ttl", text, KNOWN).notes) == 1
    monkeypatch.setattr(same_value, "MOST_ODD", 1)
    assert load(store, tmp_path / "a.ttl", text, KNOWN).notes == ()
    monkeypatch.undo()
    monkeypatch.setattr(same_value, "MOST_BESIDE", 3)
    assert load(store, tmp_path / "a.ttl", text, KNOWN).notes == ()


def test_one_shape_of_moments_is_not_compared(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of sensors have milliseconds and one time zone, so no value has two spellings."""
    monkeypatch.setattr(same_value, "_ODD", "SELECT error('asked')")
    times = [f"2024-01-01T12:00:00.{n}+01:00 dateTime" for n in ("121", "125", "001")]
    assert noted(store, tmp_path, literal_file(*times)) == ()
