"""Decimals come in exactly from every source, and go out exactly in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zodiac_sql.errors import DataError, ProgramError, StreamError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

LONG = Decimal("12345678901234567890.123456789012345678")
NUMBERS = [Decimal(0), Decimal("-0.1"), Decimal("2.50"), LONG, Decimal("0.000000000000000001")]
XSD = "http://www.w3.org/2001/XMLSchema#"
DECLARED = ".decl price(item: int, euro: decimal)"
ROWS = list(enumerate(NUMBERS))


def type_of(kb: KnowledgeBase, predicate: str) -> str:
    """The type of a predicate's last column."""
    known = {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}
    return known[predicate].rpartition(" ")[2]


def filled(kb: KnowledgeBase) -> None:
    kb.add_rules(DECLARED)
    kb.insert("price", ROWS)


# --- what comes in --------------------------------------------------------------------------------


def arrow(width: int = 38, scale: int = 18) -> pa.Table:
    values = pa.array(NUMBERS, pa.decimal256(60, 18)).cast(pa.decimal256(width, scale))
    return pa.table({"item": range(len(NUMBERS)), "euro": values})


@pytest.mark.parametrize(
    "rows", [ROWS, arrow(), arrow(60, 30), arrow().to_pandas(), arrow().to_batches()[0]], ids=str
)
def test_rows_of_programs(open_kb: OpenKb, rows: Any) -> None:
    with open_kb() as kb:
        kb.insert("price", rows)
        assert type_of(kb, "price") == "decimal"
        assert sorted(kb.table("price").fetchall()) == ROWS
        assert kb.delete("price", rows).deleted == {"price": len(ROWS)}


def test_ints_and_decimals_in_one_column_are_decimals(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [(1,), (Decimal("0.5"),), (2**63 - 1,)])
        assert sorted(kb.table("p").fetchall()) == [(Decimal("0.5"),), (1,), (2**63 - 1,)]
        kb.insert("q", [(1.5,), (Decimal("0.5"),)])
        assert type_of(kb, "q") == "any"


@pytest.mark.parametrize(
    "rows",
    [
        [(Decimal("1E-19"),)], [(Decimal("1E20"),)], [(Decimal("NaN"),)], [(Decimal("Infinity"),)],
        pa.table({"s": pa.array([Decimal("1E-19")], pa.decimal128(38, 19))}),
        pa.table({"s": pa.array([Decimal(10**20)], pa.decimal128(38, 0))}),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_room_is_refused(open_kb: OpenKb, rows: Any) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl p(s: decimal)")
        with pytest.raises(DataError, match=r"row 1, which has no room"):
            kb.insert("p", rows)


def test_parquet(open_kb: OpenKb, tmp_path: Path) -> None:
    pq.write_table(arrow(), tmp_path / "price.parquet")
    with open_kb() as kb:
        kb.load(tmp_path / "price.parquet")
        assert type_of(kb, "price") == "decimal"
        assert sorted(kb.table("price").fetchall()) == ROWS
        assert kb.unload(tmp_path / "price.parquet").deleted == {"price": len(ROWS)}


CSV = """item,euro
0,0
1,-.10
2, +2.50
3,12345678901234567890.123456789012345678000
4,0.000000000000000001
"""


def test_csv_by_declaration(open_kb: OpenKb, tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text(CSV)
    with open_kb() as kb:
        kb.add_rules(DECLARED)
        kb.load(tmp_path / "price.csv")
        assert sorted(kb.table("price").fetchall()) == ROWS


@pytest.mark.parametrize(
    "cell", ["1e3", "NaN", "100000000000000000000", "0.0000000000000000001", "007", "12 EUR"]
)
def test_cells_that_are_no_decimals(open_kb: OpenKb, tmp_path: Path, cell: str) -> None:
    (tmp_path / "price.csv").write_text(f"item,euro\n1,2.5\n2,{cell}\n")
    with open_kb() as kb:
        kb.add_rules(DECLARED)
        with pytest.raises(
            DataError, match=rf"line 3: .*column euro holds {cell}, which is no dec"
        ):
            kb.load(tmp_path / "price.csv")
        kb.load(tmp_path / "price.csv", skip_bad=True)
        assert kb.table("price").fetchall() == [(1, Decimal("2.5"))]


def test_json_by_declaration(open_kb: OpenKb, tmp_path: Path) -> None:
    (tmp_path / "price.json").write_text('[{"item": 1, "euro": 0.1}, {"item": 2, "euro": 3}]')
    with open_kb() as kb:
        kb.add_rules(DECLARED)
        kb.load(tmp_path / "price.json")
        assert sorted(kb.table("price").fetchall()) == [(1, Decimal("0.1")), (2, 3)]


def test_a_stream_of_json(open_kb: OpenKb, tmp_path: Path) -> None:
    lines = tmp_path / "updates.jsonl"
    lines.write_text('{"insert": {"price": [[1, 0.1], [2, "2.50"], [3, 4]]}}\n')
    with open_kb() as kb:
        kb.add_rules(DECLARED)
        for _ in kb.stream(lines):
            pass
        assert sorted(kb.table("price").fetchall()) == [
            (1, Decimal("0.1")), (2, Decimal("2.5")), (3, 4),
        ]  # fmt: skip
        with pytest.raises(StreamError, match="row 1, which is no decimal"):
            list(kb.stream([{"insert": {"price": [[1, "cheap"]]}}]))


def literal(number: Decimal | int, datatype: str = "decimal") -> str:
    return f'"{Decimal(number):f}"^^<{XSD}{datatype}>'


def ntriples(path: Path, *objects: str) -> Path:
    lines = (f"<http://e/{n}> <http://e/price> {o} .\n" for n, o in enumerate(objects))
    path.write_text("".join(lines))
    return path


def test_rdf(open_kb: OpenKb, tmp_path: Path) -> None:
    file = ntriples(tmp_path / "a.nt", *map(literal, NUMBERS), literal(7, "integer"))
    with open_kb() as kb:
        kb.add_rules(".decl <http://e/price>(s: symbol, o: decimal)")
        kb.load(file)
        assert type_of(kb, "http://e/price") == "decimal"
        assert sorted(v for _, v in kb.table("http://e/price").fetchall()) == sorted([*NUMBERS, 7])
        shown = {o for _, _, o in kb.sql("FROM triple").fetchall()}
        assert literal(LONG) in shown and '"2.5"^^<' + XSD + "decimal>" in shown
        out = kb.export(tmp_path / "out", format="nt").files[0]
        with open_kb() as other:
            other.load(out)
            assert sorted(other.table("http://e/price")) == sorted(kb.table("http://e/price"))
        kb.alter("http://e/price", {"o": "symbol"})
        kb.unload(file)
        assert kb.table("http://e/price").fetchall() == []


def test_rdf_that_has_no_room_or_doubles(open_kb: OpenKb, tmp_path: Path) -> None:
    long = literal(Decimal("0.1000000000000000000001"))
    with open_kb() as kb:
        kb.load(ntriples(tmp_path / "a.nt", literal(1), long))
        assert ("http://e/1", long) in kb.table("http://e/price").fetchall()
    with open_kb() as kb:
        kb.load(ntriples(tmp_path / "b.nt", literal(Decimal("0.5")), literal(2, "double")))
        assert type_of(kb, "http://e/price") == "any"


def test_facts_in_texts(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(f'{DECLARED}\nprice(1, 0.1). price(2, 3). price(3, "2.50"^^xsd:decimal).')
        kb.add_rules('free(X, "0.5"^^xsd:decimal) :- price(X, P), P > 2.')
        assert sorted(kb.table("price").fetchall()) == [
            (1, Decimal("0.1")), (2, 3), (3, Decimal("2.5")),
        ]  # fmt: skip
        assert sorted(kb.table("free").fetchall()) == [(2, Decimal("0.5")), (3, Decimal("0.5"))]
        with pytest.raises(ProgramError, match="is decimal, price.* gives float"):
            kb.add_rules("price(4, 1e-30).")


# --- what columns become --------------------------------------------------------------------------


def test_ints_become_decimals_and_beside_floats_terms(open_kb: OpenKb) -> None:
    large = 2**63 - 1
    with open_kb() as kb:
        kb.add_rules("r: double(X * 2) :- p(X), X < 5.")
        kb.insert("p", [(1,), (large,)])
        change = kb.insert("p", [(Decimal("0.5"),)])
        assert change.notes == ("p: column s was int, and becomes decimal: there is a decimal",)
        assert sorted(kb.table("p").fetchall()) == [(Decimal("0.5"),), (1,), (large,)]
        assert sorted(kb.table("double").fetchall()) == [(1,), (2,)] and kb.verify()
        assert "becomes any" in kb.insert("p", [(0.25,)]).notes[0]
        doubled = [text.partition("^^")[0] for (text,) in kb.table("double").fetchall()]
        assert sorted(doubled) == ['"0.5"', '"1.0"', '"2"'] and kb.verify()


def test_alter(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        for type_, held in (("int", "-0.1"), ("float", str(LONG))):
            with pytest.raises(DataError, match=f"{held}0*, which cannot become {type_} exactly"):
                kb.alter("price", {"euro": type_})
        kb.alter("price", {"euro": "symbol"})
        assert dict(kb.table("price").fetchall())[2] == "2.5"
        kb.alter("price", {"euro": "decimal"})
        assert sorted(kb.table("price").fetchall()) == ROWS
        kb.delete("price", [(3, LONG)])
        kb.alter("price", {"euro": "float"})
        kb.alter("price", {"euro": "decimal"})
        assert sorted(kb.table("price").fetchall()) == [row for row in ROWS if row[1] != LONG]
        assert kb.verify()


def test_texts_that_are_the_same_decimal_stay_apart(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [("2.5",), ("2.50",)])
        with pytest.raises(DataError, match=r"holds 2\.5 and 2\.50, which are the same decimal"):
            kb.alter("p", {"s": "decimal"})


def test_a_column_of_floats_takes_decimals_that_are_floats(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl f(x: float)")
        kb.insert("f", [(Decimal("0.1"),), (1,)])
        assert sorted(kb.table("f").fetchall()) == [(0.1,), (1.0,)]
        with pytest.raises(DataError, match="would be rounded"):
            kb.insert("f", [(LONG,)])
        kb.add_rules(DECLARED)
        with pytest.raises(DataError, match=r"decimal\.Decimal in Python"):
            kb.insert("price", [(1, 0.1)])


# --- what goes out --------------------------------------------------------------------------------


def test_answers(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        assert kb.table("price").arrow().schema.field("euro").type == pa.decimal128(38, 18)
        typed = kb.sql("SELECT typeof(euro), sum(euro) FROM price GROUP BY 1").fetchall()
        assert typed == [("DECIMAL(38,18)", Decimal("12345678901234567892.523456789012345679"))]
        assert kb.query('price(X, P), P = "2.5"^^xsd:decimal').fetchall() == [(2, Decimal("2.5"))]


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_exported_tables(open_kb: OpenKb, tmp_path: Path, format_: str) -> None:
    with open_kb() as kb:
        filled(kb)
        (file,) = kb.export(tmp_path, format=format_).files
    if format_ == "parquet":
        assert pq.read_schema(file).field("euro").type == pa.decimal128(38, 18)
    with open_kb() as kb:
        kb.add_rules(DECLARED)
        kb.load(file)
        assert sorted(kb.table("price").fetchall()) == ROWS


def test_another_client_reads_the_file(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "case.duckdb") as kb:
        filled(kb)
    with duckdb.connect(tmp_path / "case.duckdb", read_only=True) as client:
        assert sorted(client.execute("FROM price").fetchall()) == ROWS
    with open_kb(tmp_path / "case.duckdb") as kb:
        assert sorted(kb.table("price").fetchall()) == ROWS and kb.verify()


def test_proofs(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        kb.add_rules("r: twice(X, P * 2) :- price(X, P), X < 3.")
        found = kb.why("twice(2, 5)")
        assert 'twice(2, "5.0"^^xsd:decimal)' in str(found)
        told = json.dumps(found.to_dict())
        assert '{"type": "decimal", "value": "2.5"}' in told
        assert kb.why("price(2, 2.5)").goals[0].values == (2, Decimal("2.5"))
        assert kb.why_not("price(2, 2.25)") is not None


def test_functions_of_python(open_kb: OpenKb) -> None:
    def vat(price: Decimal) -> Decimal:
        return price * Decimal("1.19")

    def spread(prices: list[Decimal]) -> Decimal:
        return max(prices) - min(prices)

    with open_kb() as kb:
        kb.register_function("vat", vat)
        kb.register_aggregate("spread", spread)
        kb.add_rules(DECLARED)
        kb.add_rules(
            "gross(X, vat(P)) :- price(X, P). all(S) :- AGGREGATE(price(_, P)) WITH spread(P) AS S."
        )
        kb.insert("price", [(1, Decimal("10.50")), (2, 3)])
        assert sorted(kb.table("gross").fetchall()) == [
            (1, Decimal("12.495")), (2, Decimal("3.57")),
        ]  # fmt: skip
        assert kb.table("all").fetchall() == [(Decimal("7.5"),)]


def test_the_feed(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "case.duckdb") as kb:
        kb.add_rules(DECLARED)
        kb.keep_feed(["price"])
        for row in ROWS:
            kb.insert("price", [row])
        found = kb.changes().table("price").select(["item", "euro"]).to_pylist()
        assert [tuple(row.values()) for row in found] == ROWS
        assert kb.verify()


def test_a_wide_decimal_of_duckdb_is_declared_as_text(open_kb: OpenKb) -> None:
    table = pa.table({"s": pa.array([Decimal("1E-30")], pa.decimal128(38, 30))})
    with open_kb() as kb:
        kb.add_rules(".decl p(s: symbol)")
        kb.insert("p", table)
        assert Decimal(kb.table("p").fetchall()[0][0]) == Decimal("1E-30")
