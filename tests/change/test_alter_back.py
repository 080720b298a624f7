"""`alter` there and back: the catalog, the facts and the exports are exactly as they were."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

XSD = "http://www.w3.org/2001/XMLSchema#"

VALUES: dict[str, tuple[str, list[Any]]] = {
    "ints": ("int", [1, -5, 2**60]),
    "decimals": ("decimal", [Decimal("2.5"), Decimal(3), Decimal("1e-18")]),
    "floats": ("float", [2.5, 1e300, float("inf"), float("nan")]),
    "floats that are whole": ("float", [2.5, 3.0]),
    "booleans": ("bool", [True, False]),
    "dates": ("date", [dt.date(2020, 1, 1)]),
    "times": ("timestamp", [dt.datetime(2020, 1, 1, 1, 2, 3, 4)]),
    "instants": ("timestamp", [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]),
    "symbols": ("symbol", ["abc", "http://e/x", '"x"@de', "_:b", "5", f'"5"^^<{XSD}integer>']),
}

LITERALS = {
    "integer": ("int", ["5", "-3"]),
    "byte": ("int", ["5"]),
    "decimal": ("decimal", ["2.5", "3.0"]),
    "double": ("float", ["2.5", "3.0", "NaN"]),
    "float": ("float", ["2.5", "0.1"]),
    "boolean": ("bool", ["true"]),
    "date": ("date", ["2020-01-01"]),
    "dateTime": ("timestamp", ["2020-01-01T00:00:00", "2020-01-01T00:00:00.5"]),
    "dateTime Z": ("timestamp", ["2020-01-01T00:00:00Z"]),
    "dateTime +": ("timestamp", ["2020-01-01T00:00:00+02:00"]),
    "dateTimeStamp": ("timestamp", ["2020-01-01T00:00:00Z"]),
}


def state_of(kb: KnowledgeBase, name: str, tmp_path: Path) -> list[object]:
    """All of a predicate that a user, or a later file, can see."""
    catalog = kb.sql(
        "SELECT columns, types, settled, datatypes, declared FROM zodiac.predicate"
        f" WHERE name = '{name}'"
    )
    found: list[object] = [catalog.fetchall(), sorted(map(repr, kb.table(name).fetchall()))]
    for format_ in ("csv", "nt"):
        to = tmp_path / f"export{len(list(tmp_path.iterdir()))}"
        kb.export(to, format_, name)
        (written,) = to.rglob(f"*.{format_}")
        found.append(sorted(written.read_text().splitlines()))
    return found


def there_and_back(kb: KnowledgeBase, name: str, via: str, type_: str, tmp_path: Path) -> None:
    column = kb.table(name).column_names[1]
    before = state_of(kb, name, tmp_path)
    kb.alter(name, {column: via})
    kb.alter(name, {column: type_})
    assert state_of(kb, name, tmp_path) == before


@pytest.mark.parametrize("via", ["any", "symbol"])
@pytest.mark.parametrize("name", ["log", "http://e/v"])
@pytest.mark.parametrize("values", VALUES)
def test_rows(open_kb: OpenKb, tmp_path: Path, values: str, name: str, via: str) -> None:
    type_, rows = VALUES[values]
    for declared in (False, True):
        with open_kb() as kb:
            if declared:
                kb.add_rules(f".decl <{name}>(s: symbol, o: {type_})." if "/" in name else
                             f".decl {name}(s: symbol, o: {type_}).")  # fmt: skip
            kb.insert(name, [(f"http://e/{n}", value) for n, value in enumerate(rows)])
            if via != type_:
                there_and_back(kb, name, via, type_, tmp_path)


@pytest.mark.parametrize("via", ["any", "symbol"])
@pytest.mark.parametrize("datatype", LITERALS)
def test_properties_of_a_file(open_kb: OpenKb, tmp_path: Path, datatype: str, via: str) -> None:
    type_, forms = LITERALS[datatype]
    file = tmp_path / "data.nt"
    file.write_text("".join(
        f'<http://e/{n}> <http://e/v> "{form}"^^<{XSD}{datatype.split()[0]}> .\n'
        for n, form in enumerate(forms)
    ))  # fmt: skip
    for declared in (False, True):
        with open_kb() as kb:
            if declared:
                kb.add_rules(f".decl <http://e/v>(s: symbol, o: {type_}).")
            kb.load(file)
            there_and_back(kb, "http://e/v", via, type_, tmp_path)
            kb.alter("http://e/v", {kb.table("http://e/v").column_names[1]: via})
            assert kb.unload(file).deleted


@pytest.mark.parametrize("via", ["any", "symbol"])
@pytest.mark.parametrize("name", ["log", "http://e/v"])
def test_without_facts(open_kb: OpenKb, tmp_path: Path, name: str, via: str) -> None:
    with open_kb() as kb:
        kb.add_rules(
            f"r: seen(X) :- <{name}>(X, _)." if "/" in name else f"r: seen(X) :- {name}(X, _)."
        )
        rows = [("http://e/a", dt.datetime(2020, 1, 1))]
        kb.insert(name, rows)
        kb.delete(name, rows)
        there_and_back(kb, name, via, "timestamp", tmp_path)


@pytest.mark.parametrize("datatype", LITERALS)
def test_terms_that_become_native_and_terms_again(
    open_kb: OpenKb, tmp_path: Path, datatype: str
) -> None:
    """Also of a predicate that is no property: each is the same literal again."""
    type_, forms = LITERALS[datatype]
    for name in ("log", "<http://e/v>"):
        for declaration in (f".decl {name}(s: symbol, o: any).", ""):
            with open_kb() as kb:
                kb.add_rules(declaration)
                name = name.strip("<>")
                texts = [f'"{form}"^^<{XSD}{datatype.split()[0]}>' for form in forms]
                kb.insert(name, [("n", "n/a"), *((f"x{n}", text) for n, text in enumerate(texts))])
                kb.alter(name, {"o": "any"})
                kb.delete(name, [("n", "n/a")])
                before = sorted(kb.table(name).fetchall())
                kb.alter(name, {"o": type_})
                kb.alter(name, {"o": "any"})
                assert sorted(kb.table(name).fetchall()) == before


def test_facts_that_come_in_between_count(open_kb: OpenKb, tmp_path: Path) -> None:
    """What comes while the column has terms is of another datatype: the column has none then."""
    file = tmp_path / "data.nt"
    file.write_text(f'<http://e/a> <http://e/v> "5"^^<{XSD}byte> .\n')
    with open_kb() as kb:
        kb.load(file)
        kb.alter("http://e/v", {"o": "any"})
        kb.insert("http://e/v", [("http://e/b", f'"7"^^<{XSD}short>')])
        kb.alter("http://e/v", {"o": "int"})
        found = kb.sql("SELECT datatypes FROM zodiac.predicate WHERE name = 'http://e/v'")
        assert found.fetchall() == [([None, None],)]


def test_a_float_that_is_no_int_of_any_length(open_kb: OpenKb) -> None:
    """The text 1e+300 is a float alone, and was an error of DuckDB."""
    with open_kb() as kb:
        kb.insert("log", [("a", "1e+300")])
        kb.alter("log", {"o": "float"})
        assert kb.table("log").fetchall() == [("a", 1e300)]
