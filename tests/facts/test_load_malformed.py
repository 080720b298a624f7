"""Every way for a file of triples to be malformed, or to be none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.loading import GOOD, facts, load

from zodiac_sql.database import dictionary
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.load_file import load_file
from zodiac_sql.facts.load.options import Options

SKIP_BAD = Options(skip_bad=True)

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


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
        "_::a <http://e.org/p> <http://e.org/b> .",
        "<http://e.org/a> <http://e.org/p> _:a:b .",
        '<http://e.org/a> <http://e.org/p> "a"@cantbethislong .',
        '<http://e.org/a> <http://e.org/p> "a"@en--unk .',
        '<http://e.org/a> <http://e.org/p> "a"@en-US-GB .',
        f'<http://e.org/a> <http://e.org/p> "a"^^<{RDF}langString> .',
        f'<http://e.org/a> <http://e.org/p> "a"^^<{RDF}dirLangString> .',
        rf'<http://e.org/a> <http://e.org/p> "a"^^<{RDF}lang\u0053tring> .',
        "<http://e.org/a> <http://e.org/p> <<( <a:b> <a:b> <a:b> )>> .",
        "junk",
    ],
)
def test_malformed_lines(store: Store, tmp_path: Path, bad: str) -> None:
    """Lines of an even length end as in Windows; where it is a multiple of three, they are
    compressed.
    """
    end = "\n" if len(bad) % 2 else "\r\n"
    suffix = ".nt" if len(bad) % 3 else ".nt.gz"
    text = f"# one\n{GOOD}\n{bad}\n{GOOD}".replace("\n", end)
    path = tmp_path / f"data{suffix}"
    with pytest.raises(DataError) as error:
        load(store, path, text)
    assert str(error.value).startswith(f"{path}: 1 bad line.\n    line 4: {bad}")
    assert "skip_bad" in str(error.value)
    loaded = load_file(store, path, {}, options=SKIP_BAD)
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
    loaded = load(store, tmp_path / "a.nt", "".join(lines).encode("latin-1"), options=SKIP_BAD)
    assert [skip.line for skip in loaded.skipped] == sorted([*bad, 500_001])
    assert [skip.reason for skip in loaded.skipped if skip.line == 500_001] == ["not UTF-8"]
    assert loaded.facts == 800_000 - 5


def test_many_bad_lines(store: Store, tmp_path: Path) -> None:
    loaded = load(store, tmp_path / "a.nt", "bad\n" * 50 + GOOD, options=SKIP_BAD)
    assert loaded.skipped_count == 50
    assert [skip.line for skip in loaded.skipped] == list(range(1, 21))
    with pytest.raises(DataError, match="50 bad lines(.|\n)*and 45 more"):
        load_file(store, tmp_path / "a.nt", {})


def test_other_syntaxes_name_line_and_column(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.ttl, line 2, column \d+: .*Nothing was loaded"):
        load(store, tmp_path / "a.ttl", "@prefix e: <http://e/> .\ne:a e:p ,.")
    with pytest.raises(DataError, match="skip_bad works where every line stands for itself"):
        load_file(store, tmp_path / "a.ttl", {}, options=SKIP_BAD)
    with pytest.raises(DataError, match=r"a\.jsonld"):
        load(store, tmp_path / "a.jsonld", '{"@id": ')
    with pytest.raises(DataError, match=r"a\.rdf"):
        load(store, tmp_path / "a.rdf", "<rdf:RDF>")


def test_what_is_wrong_with_a_line_is_told(store: Store, tmp_path: Path) -> None:
    lines = [
        '<a:a> <a:p> "x"@cantbethislong .',
        "<a:a> <a:p> <<( <a:b> <a:b> <a:b> )>> .",
        f'<a:a> <a:p> "x"^^<{RDF}langString> .',
    ]
    loaded = load(store, tmp_path / "a.nt", "\n".join(lines), options=SKIP_BAD)
    assert [skip.reason for skip in loaded.skipped] == [
        "malformed: A subtag may be eight characters in length at maximum",
        "a triple term, which is not supported",
        "malformed: The datatype of a literal without a language tag must not be rdf:langString",
    ]


def test_tags_and_directions_that_are_right(store: Store, tmp_path: Path) -> None:
    tags = ["en", "EN-us", "zh-Hant-TW", "de-1996", "i-klingon", "x-a-b", "en-a-bb", "ar--rtl"]
    text = "".join(f'<a:a> <a:p> "x"@{tag} .\n' for tag in tags)
    loaded = load(store, tmp_path / "a.nt", f"{text}<a:a> <a:q> <{RDF}langString> .")
    (rows,) = (rows for name, rows in facts(store, loaded).items() if name == "a:p")
    assert sorted(o for _, o in rows) == sorted(f'"x"@{tag.lower()}' for tag in tags)


ANNOTATED = {
    ".ttl": "PREFIX : <a:>\n:s :p :o .\n:s :p :o {| :q :z |} .\n",
    ".trig": "PREFIX : <a:>\n:s :p :o .\nGRAPH :g { << :s :p :o >> :q :z . }\n",
    ".rdf": (
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns="a:" rdf:version="1.2">\n<rdf:Description '
        'rdf:about="a:s">\n<p rdf:resource="a:o" rdf:annotation="a:r"/></rdf:Description></rdf:RDF>'
    ),
}


@pytest.mark.parametrize("suffix", ANNOTATED)
def test_statements_about_statements(store: Store, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    with pytest.raises(DataError) as caught:
        load(store, file, ANNOTATED[suffix])
    said = str(caught.value)
    term = "<<( <a:s> <a:p> <a:o> )>>  (a triple term, which is not supported)"
    assert said.startswith(f"{file}: 1 bad statement.\n    line 3: {term}\n")
    assert "N-Quads" not in said and "said of a node instead" in said
    loaded = load_file(store, file, {}, options=SKIP_BAD)
    assert loaded.facts >= 1 and [skip.line for skip in loaded.skipped] == [3]


def test_terms_of_json_that_no_line_can_have(store: Store, tmp_path: Path) -> None:
    """Labels with colons become numbers; a literal without its tag is refused."""
    file = tmp_path / "a.jsonld"
    loaded = load(store, file, '{"@id": "a:s", "a:p": [{"@id": "_:a:b"}, {"@id": "_::c"}]}')
    ((_, first), (_, second)) = facts(store, loaded)["a:p"]
    assert first.endswith("_1") and second.endswith("_2")
    text = f'{{"@id": "a:s", "a:p": {{"@value": "x", "@type": "{RDF}langString"}}}}'
    with pytest.raises(DataError, match="must not be rdf:langString"):
        load(store, file, text)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "packed by gzip: give it a name that ends with"),
        ("a,b\n1,2\n".encode("utf-16"), 'it is UTF-16. For CSV, say encoding="utf-16"'),
        ("a,b\n1,2\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "it is UTF-16"),
        (b"PK\x03\x04", "a zip archive, as spreadsheets are"),
        (b"\x28\xb5\x2f\xfd", "packed by zstd"),
        (b"a,b\r\n1,2\n3,4\r\n", r"Lines must end all alike \(by \\n, or by \\r\\n\)"),
        (b"a\0b,c\n1,2\n", "no column can be called 'a\\\\x00b': a name has no NUL"),
    ],
)
def test_what_is_no_csv(store: Store, tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load(store, tmp_path / "p.csv", data)


@pytest.mark.parametrize("bad", ["{v:2}", '{"v":2', '{"v":"\\ud83d"}'])
def test_a_line_that_is_no_json(store: Store, tmp_path: Path, bad: str) -> None:
    text = f'{{"v":1}}\r\n\r\n{bad}\r\n{{"v":3}}\r\n'
    with pytest.raises(DataError, match=r"p\.jsonl: line 3 is no JSON: ") as caught:
        load(store, tmp_path / "p.jsonl", text)
    assert "SELECT" not in str(caught.value)
    loaded = load(store, tmp_path / "p.jsonl", text, options=SKIP_BAD)
    assert loaded.facts == 2
    assert [(one.line, one.reason) for one in loaded.skipped] == [
        (3, "it is no JSON, or has none of the columns")
    ]


def test_parquet_with_a_column_twice(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), file)
    with pytest.raises(DataError, match="has two columns called x"):
        load_file(store, file, {})


def test_a_name_with_nul_in_json(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a name has no NUL"):
        load(store, tmp_path / "p.jsonl", '{"a\\u0000b": 1, "c": 2}\n')


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
    assert left == {*dictionary.NEW, *(staged.table for staged in loaded.staged)}
