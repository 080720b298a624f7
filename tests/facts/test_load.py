"""Files: every syntax, against pyoxigraph's own reading; types; and every way to be malformed."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pyoxigraph as ox
import pytest
from support.places import SHARED

from zodiac_sql.database import dictionary
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.load_file import Loaded, load_file
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type

EX = "http://example.org/"
UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        dictionary.prepare(opened)
        yield opened


def facts(store: Store, loaded: Loaded) -> dict[str, list[tuple[Any, ...]]]:
    """Predicate -> its facts with symbols as text, sorted."""
    texts = dict(store.rows('SELECT id, text FROM temp."zodiac$known_symbol"'))
    found = {}
    for staged in loaded.staged:
        symbolic = [column.type is Type.SYMBOL for column in staged.columns]
        found[staged.predicate] = sorted(
            tuple(texts[v] if symbol else v for v, symbol in zip(row, symbolic, strict=True))
            for row in store.rows(f'SELECT * FROM temp."{staged.table}"')
        )
    return found


def load(
    store: Store, path: Path, text: str | bytes, known: Mapping[str, Predicate] = {}, **options: Any
) -> Loaded:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return load_file(store, path, known, **options)


def predicate(name: str, *types: Type, datatype: str | None = None) -> Predicate:
    columns = tuple(Column(n, t) for n, t in zip(("s", "o"), types, strict=False))
    datatypes = (None, datatype)[: len(types)]
    return Predicate(name, name, columns, types, datatypes)


# --- the same triples as pyoxigraph ---------------------------------------------------------------


def term(value: Any) -> str:
    """A symbol for what pyoxigraph read, blank nodes all alike."""
    if isinstance(value, ox.NamedNode):
        return symbols.iri(value.value)
    if isinstance(value, ox.BlankNode):
        return "_:"
    return symbols.literal(value.value, value.language or "", value.datatype.value)


def judged(path: Path, syntax: ox.RdfFormat) -> list[tuple[str, ...]]:
    """All triples of a file, as predicate and terms, by pyoxigraph alone."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    quads = list(ox.parse(data, format=syntax, base_iri=path.as_uri()))
    found = []
    for quad in quads:
        s, p, o = term(quad.subject), quad.predicate.value, term(quad.object)
        if p == symbols.RDF_TYPE and isinstance(quad.object, ox.NamedNode):
            found.append((quad.object.value, s))
        else:
            found.append((p, s, o))
    return sorted(found)


def without_labels(text: str) -> str:
    return "_:" if text.startswith("_:") else text


def symbolic(store: Store, loaded: Loaded) -> list[tuple[str, ...]]:
    """All facts, as predicate and terms; only for files without native columns."""
    return sorted(
        (name, *map(without_labels, row))
        for name, rows in facts(store, loaded).items()
        for row in rows
    )


@pytest.mark.parametrize("name", ["sdh.ttl", "vm3a.ttl"])
def test_brick_models(store: Store, name: str) -> None:
    path = SHARED / "brick" / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    loaded = load_file(store, path, {})
    assert symbolic(store, loaded) == judged(path, ox.RdfFormat.TURTLE)
    assert dict(loaded.prefixes)["owl"] == "http://www.w3.org/2002/07/owl#"


def test_lubm(store: Store) -> None:
    path = SHARED / "lubm" / "lubm1.nt.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    loaded = load_file(store, path, {})
    counted = {
        name.replace(UB, "ub:"): len(set(rows)) for name, rows in facts(store, loaded).items()
    }
    with (SHARED / "expected" / "lubm1_L.csv").open() as file:
        expected = {row["predicate"]: int(row["explicit"]) for row in csv.DictReader(file)}
    assert counted == {name: count for name, count in expected.items() if count}
    assert loaded.facts == 100543


TURTLE = r"""
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:a a ex:C, [ a ex:D ] ; ex:p ex:b, <relative>, _:named, "plain", "Haus"@DE-at, "été"@fr ;
  ex:p "quote \" back\\slash \n newline \t tab \u00e9 \U0001F600", '''raw
newline''', "5"^^xsd:integer, "x"^^ex:own, "s"^^xsd:string, "", "http://not.an/iri", "_:no",
  "<tag:no>", "tab	and ' and \b\f", "\\u0041" .
_:named ex:q _:named, [ ex:q () ] .
<tag:x> ex:ü "ü" . <urn:isbn:1> ex:p <mailto:a@b.c> .
"""

FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS, ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG, ".rdf": ox.RdfFormat.RDF_XML, ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML, ".jsonld": ox.RdfFormat.JSON_LD,
}  # fmt: skip


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_syntax(store: Store, tmp_path: Path, suffix: str, packed: str) -> None:
    source = TURTLE.replace(r"\b\f", "") if FORMATS[suffix] is ox.RdfFormat.RDF_XML else TURTLE
    triples = ox.parse(source, format=ox.RdfFormat.TURTLE, base_iri="http://base.org/x")
    written = ox.serialize((quad.triple for quad in triples), format=FORMATS[suffix])
    path = tmp_path / f"data{suffix}{packed}"
    loaded = load(store, path, written)
    assert symbolic(store, loaded) == judged(path, FORMATS[suffix])
    again = facts(store, load_file(store, path, {}))
    assert again == facts(store, loaded), "the same file gives the same facts, blank nodes too"


def test_relative_iris_belong_to_the_file(store: Store, tmp_path: Path) -> None:
    loaded = load(store, tmp_path / "a.ttl", "<#x> <http://e.org/p> <b> .")
    here = (tmp_path / "a.ttl").as_uri()
    assert facts(store, loaded) == {
        "http://e.org/p": [(f"{here}#x", here.replace("a.ttl", "b"))],
    }  # fmt: skip


# --- spelling -------------------------------------------------------------------------------------

SPELLED = rb"""
# a comment

<http://e.org/a>   <http://e.org/p> 	"x" .	# a comment
	<http://e.org/a><http://e.org/p>_:b.
<http://e.org/\u00e9> <http://e.org/p> "\u00e9\t\U0001F600 \"\\ \b\f\'"@EN-gb .
_:b.c <http://e.org/p> "raw	tab"^^<http://e.org/d\u00e9> .
<http://e.org/a> <http://e.org/p> "\\u0041 # . not" .
<http://e.org/a> <http://e.org/p> "typed"^^<http://www.w3.org/2001/XMLSchema#string>."""


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("suffix", [".nt", ".nq", ".nt.gz"])
def test_spelling(store: Store, tmp_path: Path, end: bytes, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    loaded = load(store, path, SPELLED.replace(b"\n", end))
    assert symbolic(store, loaded) == sorted([
        ("http://e.org/p", "http://e.org/a", "x"),
        ("http://e.org/p", "http://e.org/a", "_:"),
        ("http://e.org/p", "http://e.org/é", '"é\\t\U0001f600 \\"\\\\ \b\f\'"@en-gb'),
        ("http://e.org/p", "_:", '"raw\\ttab"^^<http://e.org/dé>'),
        ("http://e.org/p", "http://e.org/a", "\\u0041 # . not"),
        ("http://e.org/p", "http://e.org/a", "typed"),
    ])  # fmt: skip
    assert loaded.facts == 6


def test_graph_names_are_noted_once(store: Store, tmp_path: Path) -> None:
    text = "<http://e/a> <http://e/p> _:b _:g .\n<http://e/a> <http://e/p> <http://e/c> <http://e/g>.\n"
    loaded = load(store, tmp_path / "a.nq", text + "<http://e/a> <http://e/p> <http://e/d> .\n")
    assert loaded.notes == ("graph names were ignored",)
    assert loaded.facts == 3
    assert load(store, tmp_path / "b.nq", "<http://e/a> <http://e/p> _:b .").notes == ()


def test_type_of_a_blank_node_stays_a_property(store: Store, tmp_path: Path) -> None:
    a, kind = "<http://e/a>", f"<{symbols.RDF_TYPE}>"
    loaded = load(store, tmp_path / "a.nt", f"{a} {kind} _:b .\n{a} {kind} <http://e/C> .\n")
    found = facts(store, loaded)
    assert found["http://e/C"] == [("http://e/a",)]
    assert [row[0] for row in found[symbols.RDF_TYPE]] == ["http://e/a"]


def test_blank_nodes_of_two_files_are_two(store: Store, tmp_path: Path) -> None:
    one = load(store, tmp_path / "a.nt", "_:b <http://e/p> _:b .")
    two = load(store, tmp_path / "b.nt", "_:b <http://e/p> _:b . # other")
    packed = load(store, tmp_path / "a.nt.gz", "_:b <http://e/p> _:b .")
    assert facts(store, one) != facts(store, two)
    assert facts(store, one) == facts(store, packed)
    scoped = facts(store, one)["http://e/p"][0][0]
    kept = load(store, tmp_path / "c.nt", f"{scoped} <http://e/p> _:new .")
    assert facts(store, kept)["http://e/p"][0][0] == scoped


def test_urns_of_ours_are_plain_names(store: Store, tmp_path: Path) -> None:
    text = (
        "<urn:zodiac:wt%201> <urn:zodiac:hot> <urn:zodiac:wt2> .\n<urn:zodiac:%zz> <e:p> <e:o> .\n"
    )
    assert facts(store, load(store, tmp_path / "a.nt", text)) == {
        "hot": [("wt 1", "urn:zodiac:wt2")], "e:p": [("urn:zodiac:%zz", "<e:o>")],
    }  # fmt: skip


# --- malformed ------------------------------------------------------------------------------------

GOOD = "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n"


@pytest.mark.parametrize(
    "bad",
    [
        "<http://e.org/a> <http://e.org/p> <http://e.org/b>",
        "<http://e.org/a> <http://e.org/p> .",
        "<http://e.org/a> <http://e.org/p> <relative> .",
        "<http://e.org/a> <http://e.org/p> <http://e.org/a b> .",
        r"<http://e.org/a> <http://e.org/p> <http://e.org/a\u0020b> .",
        r"<http://e.org/a> <http://e.org/p> <http://e.org/a\nb> .",
        '"a" <http://e.org/p> <http://e.org/b> .',
        "<http://e.org/a> _:p <http://e.org/b> .",
        '<http://e.org/a> <http://e.org/p> "open .',
        '<http://e.org/a> <http://e.org/p> "a" "b" .',
        '<http://e.org/a> <http://e.org/p> "a"@ .',
        r'<http://e.org/a> <http://e.org/p> "\uD800" .',
        r'<http://e.org/a> <http://e.org/p> "\U00110000" .',
        r'<http://e.org/a> <http://e.org/p> "\x" .',
        "<http://e.org/a> <http://e.org/p> <http://e.org/b> . junk",
        "<http://e.org/a> <http://e.org/p> <http://e.org/b> <http://e.org/g> .",
        "<http://e.org/a> <http://e.org/p> 5 .",
        "junk",
    ],
)
@pytest.mark.parametrize("suffix", [".nt", ".nt.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_malformed_lines(store: Store, tmp_path: Path, bad: str, suffix: str, end: str) -> None:
    text = f"# one\n{GOOD}\n{bad}\n{GOOD}".replace("\n", end)
    path = tmp_path / f"data{suffix}"
    with pytest.raises(DataError) as error:
        load(store, path, text)
    assert str(error.value).startswith(f"{path}: 1 bad line.\n    line 4: {bad}")
    assert "skip_bad" in str(error.value)
    loaded = load_file(store, path, {}, skip_bad=True)
    assert loaded.facts == 2
    assert loaded.skipped_count == 1
    assert [(skip.line, skip.text) for skip in loaded.skipped] == [(4, bad)]


def test_line_numbers_in_a_large_file(store: Store, tmp_path: Path) -> None:
    """More than one read_csv buffer, so that threads share the file."""
    lines = [GOOD] * 800_000
    bad = [3, 123_456, 700_001, 799_999]
    for number in bad:
        lines[number - 1] = "oops\n"
    lines[500_000] = "_:x <http://e.org/p> \xff .\n"
    loaded = load(store, tmp_path / "a.nt", "".join(lines).encode("latin-1"), skip_bad=True)
    assert [skip.line for skip in loaded.skipped] == sorted([*bad, 500_001])
    assert [skip.reason for skip in loaded.skipped if skip.line == 500_001] == ["not UTF-8"]
    assert loaded.facts == 800_000 - 5


def test_many_bad_lines(store: Store, tmp_path: Path) -> None:
    loaded = load(store, tmp_path / "a.nt", "bad\n" * 50 + GOOD, skip_bad=True)
    assert loaded.skipped_count == 50
    assert [skip.line for skip in loaded.skipped] == list(range(1, 21))
    with pytest.raises(DataError, match="50 bad lines(.|\n)*and 45 more"):
        load_file(store, tmp_path / "a.nt", {})


def test_other_syntaxes_name_line_and_column(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.ttl, line 2, column \d+: .*Nothing was loaded"):
        load(store, tmp_path / "a.ttl", "@prefix e: <http://e/> .\ne:a e:p ,.")
    with pytest.raises(DataError, match="skip_bad works where every line stands for itself"):
        load_file(store, tmp_path / "a.ttl", {}, skip_bad=True)
    with pytest.raises(DataError, match=r"a\.jsonld"):
        load(store, tmp_path / "a.jsonld", '{"@id": ')
    with pytest.raises(DataError, match=r"a\.rdf"):
        load(store, tmp_path / "a.rdf", "<rdf:RDF>")


def test_files_that_are_none(store: Store, tmp_path: Path) -> None:
    for name, said in [
        ("none.nt", "there is no such file"),
        ("data.doc", "tells no format. Known are .nt .nq"),
        ("data.parquet.gz", "tells no format"),
        ("data", r"\(none\)"),
    ]:
        if name != "none.nt":
            (tmp_path / name).write_text("")
        with pytest.raises(DataError, match=said):
            load_file(store, tmp_path / name, {})
    with pytest.raises(DataError, match="is not a file"):
        load_file(store, tmp_path, {})
    (tmp_path / "false.nt.gz").write_text(GOOD)
    with pytest.raises(DataError, match="cannot be read"):
        load_file(store, tmp_path / "false.nt.gz", {})
    with pytest.raises(DataError, match="RDF has the names"):
        load(store, tmp_path / "a.nt", GOOD, predicate="p")


def test_empty_files(store: Store, tmp_path: Path) -> None:
    for suffix in (".nt", ".nq", ".ttl", ".nt.gz"):
        assert load(store, tmp_path / f"a{suffix}", "").staged == ()


def test_file_names_are_no_patterns(store: Store, tmp_path: Path) -> None:
    load(store, tmp_path / "ab.nt", GOOD)
    assert load(store, tmp_path / "a[b]*?'.nt", GOOD + GOOD).facts == 2


def test_nothing_is_left_behind(store: Store, tmp_path: Path) -> None:
    loaded = load(store, tmp_path / "a.ttl", "_:b <http://e/p> 5, 6 .")
    with pytest.raises(DataError):
        load(store, tmp_path / "a.nt", "junk")
    left = {
        table for (table,) in store.rows("SELECT table_name FROM duckdb_tables() WHERE temporary")
    }
    assert left == {dictionary.NEW, *(staged.table for staged in loaded.staged)}


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
    (["5 integer", "+007 integer", "-9223372036854775808 integer"], Type.INT, "integer",
     [5, 7, -(2**63)]),
    (["5 int", "6 int"], Type.INT, "int", [5, 6]),
    (["5 int", "6 long"], Type.INT, None, [5, 6]),
    (["255 unsignedByte"], Type.INT, "unsignedByte", [255]),
    (["1.5 decimal", ".5 decimal", "-2. decimal"], Type.FLOAT, "decimal", [1.5, 0.5, -2.0]),
    (["1.50000000000000000000 decimal"], Type.FLOAT, "decimal", [1.5]),
    (["1e3 double", "INF double", "-INF double"], Type.FLOAT, "double",
     [1000.0, math.inf, -math.inf]),
    (["1.1 float"], Type.FLOAT, "float", [1.1]),
    (["1 integer", "2.5 decimal"], Type.FLOAT, "decimal", [1.0, 2.5]),
    (["1 integer", "2.5 double"], Type.FLOAT, None, [1.0, 2.5]),
    (["true boolean", "0 boolean"], Type.BOOL, "boolean", [True, False]),
    (["2024-02-29 date"], Type.DATE, "date", [dt.date(2024, 2, 29)]),
    (["2024-02-29T10:00:00.5 dateTime"], Type.TIMESTAMP, "dateTime",
     [dt.datetime(2024, 2, 29, 10, 0, 0, 500000)]),
    (["2024-02-29T10:00:00+02:00 dateTime", "2024-02-29T10:00:00Z dateTime"], Type.TIMESTAMP,
     "dateTimeZ", [dt.datetime(2024, 2, 29, 8), dt.datetime(2024, 2, 29, 10)]),
    (["2024-02-29T10:00:00-00:30 dateTimeStamp"], Type.TIMESTAMP, "dateTimeStamp",
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
        ["9223372036854775808 integer"],
        ["5.0 integer"], [" 5 integer"], ["1_000 integer"], [" integer"],
        ["256 unsignedByte"], ["0 positiveInteger"], ["-1 nonNegativeInteger"],
        ["0.1234567890123456 decimal"], ["1234567890123456 decimal"], ["1e3 decimal"],
        ["0.0000000000000001 decimal"], ["1234567890123456 integer", "0.5 double"],
        ["1e999 double"], ["inf double"], ["nan double"], ["1e3 double", "x double"],
        ["TRUE boolean"], ["2023-02-29 date"], ["2024-01-01Z date"], ["12024-01-01 date"],
        ["2024-01-01 dateTime"], ["2024-01-01T25:00:00 dateTime"],
        ["2024-01-01T10:00:00.1234567 dateTime"], ["2024-01-01T10:00:00+15:00 dateTime"],
        ["2024-01-01T10:00:00 dateTime", "2024-01-01T10:00:00Z dateTime"],
        ["2024-01-01T10:00:00 dateTimeStamp"],
        ["10:00:00 time"],
    ],
)  # fmt: skip
def test_columns_that_stay_symbols(store: Store, tmp_path: Path, literals: list[str]) -> None:
    loaded = load(store, tmp_path / "a.nt", literal_file(*literals))
    expected = []
    for number, text in enumerate(literals):
        value, _, local = text.rpartition(" ")
        symbol = symbols.literal(value, datatype=symbols.XSD + local)
        expected.append((f"http://e.org/{number}", symbol))
    assert facts(store, loaded) == {"http://e.org/p": expected}
    assert loaded.staged[0].datatypes == (None, None)


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
    loaded = load_file(store, path, {P: known}, skip_bad=True)
    assert loaded.facts == len(facts(store, loaded)[P]) == 1
    assert [skip.line for skip in loaded.skipped] == [4]


def test_iris_do_not_fit_a_native_column(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 bad line"):
        load(store, tmp_path / "a.ttl", GOOD, {P: predicate(P, Type.SYMBOL, Type.INT)})


# --- tables ---------------------------------------------------------------------------------------

READINGS = (
    'turbine,celsius,count,day,ok,at\nwt1,20.5,1,2024-01-01,true,2024-01-01 10:00:00\n'
    '"wt ""2"", ü",3,2,2024-01-02,false,2024-01-01 11:00:00\n'
)  # fmt: skip
ROWS = [
    ('wt "2", ü', 3.0, 2, dt.date(2024, 1, 2), False, dt.datetime(2024, 1, 1, 11)),
    ("wt1", 20.5, 1, dt.date(2024, 1, 1), True, dt.datetime(2024, 1, 1, 10)),
]


@pytest.mark.parametrize(
    ("name", "change"),
    [("r.csv", None), ("r.csv.gz", None), ("r.tsv", "\t"), ("r.tsv.gz", "\t"), ("r.CSV", ";")],
)
def test_csv(store: Store, tmp_path: Path, name: str, change: str | None) -> None:
    text = READINGS if change is None else READINGS.replace(",", change)
    loaded = load(store, tmp_path / name, text)
    (staged,) = loaded.staged
    assert staged.named
    assert [column.name for column in staged.columns] == [
        "turbine", "celsius", "count", "day", "ok", "at",
    ]  # fmt: skip
    wanted = [(row[0].replace(",", change or ","), *row[1:]) for row in ROWS]
    assert facts(store, loaded) == {"r": wanted}
    assert loaded.facts == 2


def test_csv_text_that_only_looks_like_numbers(store: Store, tmp_path: Path) -> None:
    loaded = load(
        store, tmp_path / "p.csv", "a,b,c\n007,01/02/2024,12:30:00\n008,03/04/2024,13:00:00\n"
    )
    assert facts(store, loaded)["p"][0] == ("007", "01/02/2024", "12:30:00")


def test_csv_moments_with_zones_are_utc(store: Store, tmp_path: Path) -> None:
    store.run("SET TimeZone = 'America/New_York'")
    loaded = load(store, tmp_path / "p.csv", "a,b\n1,2024-01-01T10:00:00+02:00\n")
    assert facts(store, loaded)["p"] == [(1, dt.datetime(2024, 1, 1, 8))]


def test_known_types_override_what_is_found(store: Store, tmp_path: Path) -> None:
    known = {"p": predicate("p", Type.SYMBOL, Type.FLOAT)}
    loaded = load(store, tmp_path / "p.csv", "x,y\n1,2\n", known)
    assert facts(store, loaded) == {"p": [("1", 2.0)]}
    assert [column.name for column in loaded.staged[0].columns] == ["s", "o"]
    loaded = load(store, tmp_path / "p.csv", "o,s\n1,2\n", known)
    assert facts(store, loaded) == {"p": [("2", 1.0)]}
    loaded = load(store, tmp_path / "p.jsonl", '{"s": 1, "o": 2}\n', known)
    assert facts(store, loaded) == {"p": [("1", 2.0)]}
    with pytest.raises(DataError, match=r"p\.csv(.|\n)*line 3: 1,x"):
        load(store, tmp_path / "p.csv", "s,o\n1,2\n1,x\n", known)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_malformed_csv(store: Store, tmp_path: Path, end: str) -> None:
    text = "a,b\n1,x\n\n2,y,z\n3\n4,w\n".replace("\n", end)
    with pytest.raises(DataError) as error:
        load(store, tmp_path / "p.csv", text)
    assert "2 bad lines" in str(error.value)
    assert "line 4: 2,y,z" in str(error.value)
    assert "line 5: 3" in str(error.value)
    loaded = load_file(store, tmp_path / "p.csv", {}, skip_bad=True)
    assert facts(store, loaded) == {"p": [(1, "x"), (4, "w")]}
    assert [skip.line for skip in loaded.skipped] == [4, 5]
    assert loaded.skipped_count == loaded.facts == 2


def test_empty_cells(store: Store, tmp_path: Path) -> None:
    text = 'a,b\n1,x\n\n2,\n3,""\n,z\n'
    path = tmp_path / "p.csv"
    with pytest.raises(DataError, match=r"column b is empty \(NULL\) in line 4 of .*p\.csv"):
        load(store, path, text)
    loaded = load_file(store, path, {}, skip_bad=True)
    assert facts(store, loaded) == {"p": [(1, "x"), (3, "")]}
    assert [(s.line, s.reason) for s in loaded.skipped] == [
        (4, "column b is empty"), (6, "column a is empty"),
    ]  # fmt: skip


def test_rows_of_several_lines(store: Store, tmp_path: Path) -> None:
    text = 'a,b\n1,"x\ny"\n2,\n'
    with pytest.raises(DataError, match="in row 2 of"):
        load(store, tmp_path / "p.csv", text)
    loaded = load(store, tmp_path / "p.csv", text + '3,"z"\n', skip_bad=True)
    assert facts(store, loaded) == {"p": [(1, "x\ny"), (3, "z")]}


def test_not_utf8(store: Store, tmp_path: Path) -> None:
    data = "a,b\n1,x\n2,ü\n".encode("latin-1")
    with pytest.raises(DataError, match="line 3"):
        load(store, tmp_path / "p.csv", data)
    assert load_file(store, tmp_path / "p.csv", {}, skip_bad=True).facts == 1


def test_parquet(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pyarrow.parquet.write_table(pa.table({"a": ["x"], "b": [1]}), path)
    assert facts(store, load_file(store, path, {}, predicate="q")) == {"q": [("x", 1)]}
    pyarrow.parquet.write_table(pa.table({"a": ["x", None]}), path)
    with pytest.raises(DataError, match="row 2 of"):
        load_file(store, path, {})
    path.write_text("junk")
    with pytest.raises(DataError, match=r"p\.parquet cannot be read"):
        load_file(store, path, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", '{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n'),
        ("p.ndjson.gz", '{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n'),
        ("p.json", '[{"a": "x", "b": 1}, {"a": "y", "b": 2}]'),
    ],
)
def test_json(store: Store, tmp_path: Path, name: str, text: str) -> None:
    assert facts(store, load(store, tmp_path / name, text)) == {"p": [("x", 1), ("y", 2)]}


def test_malformed_json(store: Store, tmp_path: Path) -> None:
    text = '{"a": 1, "b": "x"}\n\n{"a": 2,\n{"a": 3, "b": "z"}\n{"a": 4}\n'
    with pytest.raises(DataError, match="line 3"):
        load(store, tmp_path / "p.jsonl", text)
    loaded = load_file(store, tmp_path / "p.jsonl", {}, skip_bad=True)
    assert facts(store, loaded) == {"p": [(1, "x"), (3, "z")]}
    assert [skip.line for skip in loaded.skipped] == [3, 5]
    with pytest.raises(DataError, match="is an object or an array"):
        load(store, tmp_path / "p.jsonl", '{"a": [1]}\n')


def test_the_name_of_the_predicate(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot name a predicate"):
        load(store, tmp_path / "wind-farm 2.csv", "a\n1\n")
    loaded = load_file(store, tmp_path / "wind-farm 2.csv", {}, predicate=f"{EX}p")
    assert facts(store, loaded) == {f"{EX}p": [(1,)]}
