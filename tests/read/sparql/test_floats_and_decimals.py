"""xsd:float beside xsd:decimal: SPARQL, rules and pyoxigraph.

A float is the number as which it is written, as a constant, in a native column and in one of terms.
pyoxigraph rounds both numbers to 32 bits. So all three find 0.1 equal to 0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

XSD = "http://www.w3.org/2001/XMLSchema#"

PAIRS = [
    ("0.1", "=", "0.1"), ("0.1", "<", "0.1"), ("0.1", ">=", "0.1"), ("0.5", "=", "0.5"),
    ("0.1", "<", "0.2"), ("2.5", ">", "0.1"), ("+INF", ">", "0.1"), ("INF", ">", "0.1"),
    ("-INF", "<", "0.1"), ("NaN", "=", "0.1"),
]  # fmt: skip


def literal(form: str, datatype: str) -> str:
    return f'"{form}"^^<{XSD}{datatype}>'


@pytest.mark.parametrize(("one", "operator", "other"), PAIRS)
def test_constants(open_kb: OpenKb, one: str, operator: str, other: str) -> None:
    test = f"{literal(one, 'float')} {operator} {literal(other, 'decimal')}"
    query = f"ASK {{ FILTER({test}) }}"
    with open_kb() as kb:
        kb.add_rules(f"r: r(X) :- q(X), {test}.")
        kb.insert("q", [(1,)])
        expected = bool(ox.Store().query(query))
        assert bool(kb.sparql(query).num_rows) == expected
        assert bool(kb.table("r").num_rows) == expected


@pytest.mark.parametrize("any_", [False, True], ids=["native", "any"])
@pytest.mark.parametrize(("one", "operator", "other"), PAIRS)
def test_columns(
    open_kb: OpenKb, tmp_path: Path, one: str, operator: str, other: str, any_: bool
) -> None:
    file = tmp_path / "data.nt"
    file.write_text(
        f"<http://e/s> <http://e/f> {literal(one, 'float')} .\n"
        f"<http://e/s> <http://e/d> {literal(other, 'decimal')} .\n"
    )
    query = f"ASK {{ ?s <http://e/f> ?f ; <http://e/d> ?d FILTER(?f {operator} ?d) }}"
    store = ox.Store()
    store.load(file.read_bytes(), format=ox.RdfFormat.N_TRIPLES)
    with open_kb() as kb:
        if any_:
            kb.add_rules(
                ".decl <http://e/f>(s: symbol, o: any). .decl <http://e/d>(s: symbol, o: any)."
            )
        kb.load(file)
        kb.add_rules(f"r: r(S) :- <http://e/f>(S, F), <http://e/d>(S, D), F {operator} D.")
        found = bool(kb.sparql(query).num_rows)
        assert found == bool(kb.table("r").num_rows)
        assert found == bool(store.query(query))
