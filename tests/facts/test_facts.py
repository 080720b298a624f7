"""Rows that programs hand over: what they become, and what is refused."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.staged import rows_of

from zodiac_sql import KnowledgeBase
from zodiac_sql.database import dictionary
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.stage import MOST_AS_PARAMETERS, stage_rows
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Column, Type

EAST = dt.timezone(dt.timedelta(hours=2))


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        dictionary.prepare(opened)
        yield opened


def predicate(*types: Type | None, names: str = "", name: str = "p") -> Predicate:
    columns = names.split() or ["s", "o", "c2", "c3"][: len(types)]
    described = tuple(Column(n, t) for n, t in zip(columns, types, strict=True))
    return Predicate(name, name, described, tuple(types), (None,) * len(types), declared=True)


def stage(store: Store, rows: object, known: Predicate | None = None) -> Staged:
    staged = stage_rows(store, "p", rows, known)
    assert staged is not None
    return staged


def decoded(store: Store, staged: Staged) -> list[tuple[Any, ...]]:
    """The staged facts with symbols as text, sorted."""
    rows = rows_of(store, staged)
    texts = dict(store.rows('SELECT id, text FROM temp."zodiac$known_symbol"'))
    symbols = [column.type is Type.SYMBOL for column in staged.columns]
    return sorted(
        tuple(texts[v] if symbol else v for v, symbol in zip(row, symbols, strict=True))
        for row in rows
    )


def types(staged: Staged) -> list[Type | None]:
    return [column.type for column in staged.columns]


def names(staged: Staged) -> list[str]:
    return [column.name for column in staged.columns]


def test_tuples_of_every_type(store: Store) -> None:
    day, noon = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, tzinfo=EAST)
    staged = stage(store, [("a", 1, 2.5, True, day, noon), ("b", -2, 1, False, day, noon)])
    assert types(staged) == [
        Type.SYMBOL, Type.INT, Type.FLOAT, Type.BOOL, Type.DATE, Type.TIMESTAMP,
    ]  # fmt: skip
    assert names(staged) == ["c0", "c1", "c2", "c3", "c4", "c5"]
    assert not staged.named
    utc = dt.datetime(2024, 2, 29, 10)
    assert decoded(store, staged) == [
        ("a", 1, 2.5, True, day, utc), ("b", -2, 1.0, False, day, utc),
    ]  # fmt: skip


def test_symbols_have_one_text(store: Store) -> None:
    rows = [
        ("http://example.org/a",), ("<http://example.org/a>",), ("<tag:x>",), ("_:b",),
        ('"plain"',), ('"Haus"@de',), ('"_:not a node"',), ("Zoë \U0001f600",), ("",),
        ("back\\slash\nline",),
    ]  # fmt: skip
    texts = {text for (text,) in decoded(store, stage(store, rows))}
    assert texts == {
        "http://example.org/a", "<tag:x>", "_:b", "plain", '"Haus"@de', '"_:not a node"',
        "Zoë \U0001f600", "", "back\\slash\nline",
    }  # fmt: skip


def test_no_columns(store: Store) -> None:
    staged = stage(store, [(), ()])
    assert staged.columns == ()
    assert store.rows(f'SELECT * FROM temp."{staged.table}"') == [(True,)]
    assert stage_rows(store, "p", [], None) is None


def test_an_empty_list_has_the_known_types(store: Store) -> None:
    staged = stage(store, [], predicate(Type.SYMBOL, Type.FLOAT))
    assert types(staged) == [Type.SYMBOL, Type.FLOAT]
    assert decoded(store, staged) == []
    assert stage_rows(store, "p", [], predicate(None)) is None
    empty = stage(store, [], predicate())
    assert rows_of(store, empty) == []


def test_a_generator_of_lists(store: Store) -> None:
    assert decoded(store, stage(store, ([i] for i in range(3)))) == [(0,), (1,), (2,)]


TABLE = pa.table({"turbine": ["wt1", "wt2"], "celsius": [20.5, math.inf]})


@pytest.mark.parametrize(
    "rows",
    [
        TABLE,
        TABLE.to_reader(),
        TABLE.to_pandas(),
        TABLE.to_pandas().set_index(pd.Index([7, 8])),
        pl.from_arrow(TABLE),
        duckdb.connect().from_arrow(TABLE),
        TABLE.set_column(0, "turbine", TABLE["turbine"].dictionary_encode()),
    ],
    ids=["table", "stream", "pandas", "pandas index", "polars", "relation", "dictionary"],
)
def test_tables_bring_their_names(store: Store, rows: object) -> None:
    staged = stage(store, rows)
    assert staged.named
    assert names(staged) == ["turbine", "celsius"]
    assert types(staged) == [Type.SYMBOL, Type.FLOAT]
    assert decoded(store, staged) == [("wt1", 20.5), ("wt2", math.inf)]


def test_unnamed_pandas_columns(store: Store) -> None:
    staged = stage(store, pd.DataFrame([("a", 1)]))
    assert names(staged) == ["s", "o"]
    assert not staged.named


def test_every_number_type_of_a_relation(store: Store) -> None:
    relation = duckdb.connect().sql(
        "SELECT 1::UTINYINT a, 2::HUGEINT b, 1.25::DECIMAL(9, 2) c, 1::FLOAT d, 'x'::ENUM('x') e,"
        " TIMESTAMPTZ '2024-01-01 00:00:00+02' f, TIMESTAMP_NS '2024-01-01 00:00:00' g,"
        " uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8' h"
    )
    staged = stage(store, relation)
    assert decoded(store, staged) == [
        (1, 2, 1.25, 1.0, "x", dt.datetime(2023, 12, 31, 22), dt.datetime(2024, 1, 1),
         "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ]  # fmt: skip


def test_zones_do_not_depend_on_the_session(store: Store) -> None:
    store.run("SET TimeZone = 'America/New_York'")
    staged = stage(store, [(dt.datetime(2024, 1, 1, 12, tzinfo=EAST),)])
    assert decoded(store, staged) == [(dt.datetime(2024, 1, 1, 10),)]


def test_nan_is_a_number_but_missing_in_pandas(store: Store) -> None:
    assert math.isnan(decoded(store, stage(store, [(math.nan,)]))[0][0])
    assert math.isnan(decoded(store, stage(store, pl.DataFrame({"a": [math.nan]})))[0][0])
    with pytest.raises(DataError, match=r"column b is empty \(NULL\) in row 2"):
        stage(store, pd.DataFrame({"a": ["x", "y"], "b": [1.0, math.nan]}))


def test_names_beat_positions_if_they_fit(store: Store) -> None:
    known = predicate(Type.FLOAT, Type.SYMBOL, names="celsius turbine")
    assert decoded(store, stage(store, TABLE, known)) == [(20.5, "wt1"), (math.inf, "wt2")]
    other = predicate(Type.SYMBOL, Type.FLOAT, names="s o")
    staged = stage(store, TABLE, other)
    assert names(staged) == ["s", "o"]
    assert decoded(store, staged) == [("wt1", 20.5), ("wt2", math.inf)]


def test_integers_enter_a_float_column(store: Store) -> None:
    staged = stage(store, [("a", 1)], predicate(Type.SYMBOL, Type.FLOAT))
    assert decoded(store, staged) == [("a", 1.0)]
    assert types(staged) == [Type.SYMBOL, Type.FLOAT]


def test_an_empty_untyped_column_settles_nothing(store: Store) -> None:
    assert types(stage(store, pa.table({"a": pa.array([], pa.null())}))) == [None]
    known = predicate(Type.SYMBOL)
    assert types(stage(store, pl.DataFrame({"s": []}), known)) == [Type.SYMBOL]


def test_mixed_numbers_are_floats(store: Store) -> None:
    staged = stage(store, [(1,), (2.5,)])
    assert decoded(store, staged) == [(1.0,), (2.5,)]


MIXED: list[object] = [
    [("a", 1), ("b", "x")], [(1,), (2.5,), ("x",)], [(True,), (1,)], [(2**63,)],
    [(2.5,), (Decimal("0.5"),)], [(dt.datetime(2024, 1, 1),), (dt.date(2024, 1, 1),)],
    [(dt.datetime(2024, 1, 1),), (dt.datetime(2024, 1, 1, tzinfo=EAST),)],
    pd.DataFrame({"a": ["x", 1]}),
]  # fmt: skip


@pytest.mark.parametrize("rows", MIXED)
def test_values_of_several_types_are_terms(store: Store, rows: object) -> None:
    assert stage(store, rows).columns[-1].meant is Type.ANY
    strict = predicate(Type.SYMBOL, Type.INT) if isinstance(rows, list) and len(rows[0]) > 1 else (
        predicate(Type.INT)
    )  # fmt: skip
    with pytest.raises(DataError, match="column (o|s|a) .*(has the type int|holds)"):
        stage(store, rows, strict)


NOON = dt.datetime(2024, 1, 1, 12)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", 1), ("b", None)], "column o is empty (None) in row 2"),
        ([("a",), ("a", "b")], "row 2 has 2 values, ('a', 'b'); the first row has 1"),
        (["abc"], "row 1 is 'abc', not a tuple"),
        ("abc", "a str is not rows"),
        ({"a": 1}, "a dict is not rows"),
        (5, "a int is not rows"),
        ([(b"x",)], "holds b'x' in row 1, a bytes"),
        ([("\ud800",)], "half of a surrogate pair"),
        (pa.table({"a": [1], "A": [2]}), "a and A have the same name"),
        (pa.table({"": [1]}), "a column of the table has no name"),
        (pa.table({}), "the table has no columns"),
        (pa.table({"t": [[1]]}), "column t has the type BIGINT[]"),
        (pa.table({"t": pa.array([1], pa.time32("s"))}), "column t has the type TIME"),
        (pa.table({"t": [1, None, None]}), "column t is empty (NULL) in row 2 (and 1 more)"),
        (pl.Series([1]), "not a table"),
    ],
)
def test_refused(store: Store, rows: object, said: str) -> None:
    with pytest.raises(DataError) as error:
        stage(store, rows)
    assert said in str(error.value)
    assert str(error.value).startswith("p:")


@pytest.mark.parametrize(
    ("known", "rows", "said"),
    [
        (
            predicate(Type.INT),
            [(1.5,)],
            'kb.alter("p", {"s": "float"})',
        ),
        (
            predicate(Type.SYMBOL),
            pa.table({"a": [1]}),
            "s has the type symbol, the data have int in the whole column",
        ),
        (
            predicate(Type.SYMBOL, Type.INT, names="a b"),
            [("x", 1), ("y", "2"), ("z", 2.5), ("z", 2), ("z", "3")],
            "'2' in row 2, of type symbol (such values are in rows 2, 3 and 5). Convert the data",
        ),
        (
            predicate(Type.INT, Type.SYMBOL, names="o s"),
            [(1, "x"), ("y", "z")],
            "p: column o has the type int, and holds 'y' in row 2, of type symbol. Convert",
        ),
        (
            predicate(Type.INT, names="a"),
            [("x",)] * 7,
            "(such values are in 7 rows, the first of which are 1, 2, 3, 4 and 5)",
        ),
        (predicate(Type.INT, names="a"), [(None,), (1,), (None,)], "a is empty (None) in rows 1 a"),
        (
            predicate(Type.DATE, names="a"),
            [("Monday",), ("2026-01-02",), ("Friday",)],
            'p: column a has the type date, and "Monday" is none (rows 1 and 3). Write',
        ),
        (predicate(Type.DATE), [("Monday",)], "Write it like 2026-01-02"),
        (predicate(Type.DATE), [(True,)], "Convert the data to date"),
        (predicate(Type.INT), [(1, 2)], "row 1 has 2 values, (1, 2); p has 1"),
        (predicate(Type.INT), TABLE, "p has 1 column, these rows have 2: turbine, celsius"),
        (predicate(), [(1,)], "p has 0"),
    ],
)
def test_refused_for_a_known_predicate(
    store: Store, known: Predicate, rows: object, said: str
) -> None:
    with pytest.raises(DataError) as error:
        stage(store, rows, known)
    assert said in str(error.value)


def test_nothing_is_left_behind(store: Store) -> None:
    few = stage(store, [("a",)])
    many = stage(store, [(f"a{n}",) for n in range(MOST_AS_PARAMETERS + 1)])
    with pytest.raises(DataError):
        stage(store, TABLE, predicate(Type.SYMBOL))
    tables = store.rows("SELECT table_name FROM duckdb_tables() WHERE temporary")
    assert few.given is not None and {name for (name,) in tables} == {*dictionary.NEW, many.table}


def test_names_in_another_order_must_all_agree(store: Store) -> None:
    """One misspelt name in a table with another order would swap columns in silence."""
    known = Predicate(
        "reading", "reading", (Column("turbine", Type.SYMBOL), Column("site", Type.SYMBOL)),
        (Type.SYMBOL, Type.SYMBOL), (None, None),
    )  # fmt: skip
    table = pa.table({"site": ["north"], "turbin": ["wt1"]})
    with pytest.raises(DataError, match="Rename them"):
        stage_rows(store, "reading", table, known)
    same_order = pa.table({"turbine": ["wt1"], "place": ["north"]})
    assert stage_rows(store, "reading", same_order, known) is not None


def test_a_few_rows_with_new_symbols(open_kb: Callable[..., KnowledgeBase]) -> None:
    """What stands as it is becomes known at once; other texts may be known symbols, too."""
    with open_kb() as kb:
        assert kb.insert("p", [("a", "b")]).inserted == {"p": 1}
        assert kb.insert("p", [("a", "new"), ("new", "b"), ("a", "b")]).inserted == {"p": 2}
        assert kb.insert("p", [('"a"', '"new"'), ("<urn:x>", "urn:x")]).inserted == {"p": 1}
        symbols = "SELECT count(*), count(DISTINCT text), max(id) FROM zodiac.symbol"
        assert kb.sql(symbols).fetchall() == [(4, 4, 4)]
        assert kb.delete("p", [("a", "unheard"), ("urn:x", "<urn:x>"), ("a", "new")]).deleted == {
            "p": 2
        }
        assert set(kb.table("p").fetchall()) == {("a", "b"), ("new", "b")}
        with pytest.raises(DataError), kb.update() as update:
            update.insert("p", [("lost", "b")])
            update.insert("p", [(b"1", 2)])
        assert kb.insert("p", [("lost", "a")]).inserted == {"p": 1}
        assert kb.sql(symbols).fetchall() == [(5, 5, 5)]
        assert kb.verify()
