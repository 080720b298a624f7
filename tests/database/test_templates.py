"""Statements that are filled with names are those that the trees with these names give."""

from hypothesis import given
from hypothesis import strategies as st

from zodiac_sql.database.render import render
from zodiac_sql.database.templates import filled, place_for
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Part, Reading, Relation
from zodiac_sql.storage import edit_tables, views

NAMES = st.text("ab \"'$0;\\\n\u00e9", min_size=1, max_size=5)
COLUMNS = st.lists(
    st.builds(Column, NAMES, st.sampled_from(Type)), max_size=4, unique_by=lambda c: c.name
).map(tuple)
PARTS = st.lists(
    st.builds(
        Part,
        st.sampled_from(["edb", "idb"]),
        NAMES,
        st.integers(0, 9),
        ranked=st.booleans(),
        read=st.builds(Reading, minus=st.none() | NAMES),
    ),
    max_size=6,
).map(tuple)


@given(NAMES, NAMES, COLUMNS, PARTS, st.booleans())
def test_views(
    sql_name: str, database: str, columns: tuple[Column, ...], parts: tuple[Part, ...], again: bool
) -> None:
    text = views._creation(sql_name, Relation(columns, parts), again, database)
    plain = all(part.read.minus is None for part in parts)
    largest_first = tuple(sorted(parts, key=lambda part: -part.rows)) if plain else parts
    tree = views.view(sql_name, Relation(columns, largest_first), again, database)
    assert text == render(tree)


@given(NAMES, NAMES, COLUMNS, st.booleans(), st.integers(0, 9))
def test_tables(
    sql_name: str, temporary: str, columns: tuple[Column, ...], recursive: bool, rows: int
) -> None:
    predicate = Predicate("p", sql_name, columns, (), ())
    key, parts = ("edb", sql_name), (Part("temp", temporary, rows),)
    text = edit_tables._creation(predicate, key, parts, recursive)
    assert text == edit_tables._making(columns, key, parts, recursive)


def test_nothing_in_a_name_is_read_as_sql() -> None:
    template = f'SELECT "{place_for(0)}" FROM "{place_for(1)}" WHERE "{place_for(0)}" = 1'
    names = ['a" OR "b', "$0"]
    assert filled(template, names) == 'SELECT "a"" OR ""b" FROM "$0" WHERE "a"" OR ""b" = 1'
