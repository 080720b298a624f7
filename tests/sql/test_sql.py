"""SQL generation: rules and the SELECT they become, side by side in tests/sql/<name>.sql.

Each file holds a rule as a comment, after declarations that give its predicates types, and the
SQL that it must become in DuckDB's dialect. A recursive rule has one statement per delta variant.
After a change of sql.py, `python tests/sql/test_sql.py` writes the files anew: read the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import ErrorLevel
from support.places import TESTS

from zodiac_sql import KnowledgeBase, connect
from zodiac_sql.errors import DataError, StoreError, ZodiacError
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.functions import Function
from zodiac_sql.language.infer import infer
from zodiac_sql.language.parse import parse
from zodiac_sql.language.schema import default_columns
from zodiac_sql.language.symbols import plain, quoted
from zodiac_sql.language.syntax import Column, Program, Rule, Type, atoms_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.relations import Part, Reading, Relation
from zodiac_sql.sql.select import Compiled, compile_rule

OpenKb = Callable[..., KnowledgeBase]

FILES = sorted((TESTS / "sql").glob("*.sql"))

KNOWN = {
    "model": Function("model", (Type.FLOAT, Type.SYMBOL), Type.SYMBOL),
    "spread": Function("spread", (Type.FLOAT,), Type.FLOAT, aggregate=True),
}
"""Functions that rules in the files may use, as if they were registered."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_rule_becomes_sql(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text == rendered(rules_in(text))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_tree_is_spark_sql_too(file: Path) -> None:
    for _, compiled in compiled_plans(parse(rules_in(file.read_text(encoding="utf-8")))):
        assert compiled.query.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)


def test_there_are_enough_files() -> None:
    assert len(FILES) >= 12


def rules_in(text: str) -> str:
    """The rules in the comment that a file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("-- "):
            break
        lines.append(line.removeprefix("-- "))
    return "\n".join(lines)


def rendered(rules: str) -> str:
    """What a file with these rules must hold."""
    parts = ["".join(f"-- {line}\n" for line in rules.splitlines())]
    for plan, compiled in compiled_plans(parse(rules)):
        notes = [f"-- {plan}"]
        notes += [f"-- text to encode: {', '.join(compiled.texts)}"] if compiled.texts else []
        notes += ["-- no row twice"] if not compiled.duplicates else []
        sql = compiled.query.sql(dialect="duckdb", pretty=True, normalize_functions=False)
        parts.append("\n".join([*notes, f"{sql};\n"]))
    return "\n".join(parts)


def compiled_plans(program: Program) -> Iterator[tuple[Plan, Compiled]]:
    """The plans of a program's one rule, compiled: its delta variants if it is recursive."""
    (rule,) = program.rules
    columns = columns_of(program, rule)
    context = context_of(rule, columns)
    head = rule.head.predicate
    plans = delta_variants(rule, {head}) if head in rule.positive() else (whole(rule),)
    for plan in plans:
        yield plan, compile_rule(plan, columns[head], context)


def columns_of(program: Program, rule: Rule) -> dict[str, tuple[Column, ...]]:
    """Columns as declared; others are called by position and get the types that rules give."""
    columns = {d.predicate: d.columns for d in program.declarations}
    for atom in (rule.head, *atoms_of(rule.body)):
        names = default_columns(len(atom.terms))
        columns.setdefault(atom.predicate, tuple(Column(name, None) for name in names))
    settled = {name: tuple(c.type for c in given) for name, given in columns.items()}
    types, problems = infer(program.rules, settled, KNOWN)
    assert not problems
    return {
        name: tuple(Column(c.name, t) for c, t in zip(given, types[name], strict=True))
        for name, given in columns.items()
    }


def context_of(rule: Rule, columns: dict[str, tuple[Column, ...]]) -> Context:
    """Explicit facts of all predicates; the head's own are under evaluation in h1's tables."""

    def relation(predicate: str, version: Version) -> Relation:
        if predicate != rule.head.predicate:
            return Relation(columns[predicate], (Part("edb", predicate, 100),))
        table = f"h1_{predicate}"
        if version is Version.DELTA:
            return Relation(columns[predicate], (Part("temp", f"delta_{table}", 10),))
        ranks = "old" if version is Version.OLD else None
        return Relation(columns[predicate], (Part("temp", table, 100, read=Reading(ranks=ranks)),))

    ids = {text: number for number, text in enumerate(sorted(symbols_in([rule])), start=1)}
    types = {name: [c.type for c in given] for name, given in columns.items()}
    return Context(relation, types, KNOWN, ids)


# --- emptiness and text ---------------------------------------------------------------------------


def test_a_rule_over_an_empty_predicate_is_empty() -> None:
    (rule,) = parse("p(X) :- e(X), f(X), not g(X).").rules

    def context(empty: str) -> Context:
        column = Column("s", Type.INT)
        types = {name: [Type.INT] for name in "pefg"}
        return Context(
            lambda name, _: Relation((column,), (Part("edb", name, int(name not in empty)),)),
            types, {}, {},
        )  # fmt: skip

    assert not is_empty(whole(rule), context(""))
    assert is_empty(whole(rule), context("e"))
    assert is_empty(whole(rule), context("f"))
    assert not is_empty(whole(rule), context("g"))
    compiled = compile_rule(whole(rule), [Column("s", Type.INT)], context("g"))
    assert "ANTI" not in compiled.query.sql(dialect="duckdb")


def test_a_symbol_that_the_dictionary_lacks_has_an_id_of_no_one() -> None:
    (rule,) = parse("p(X) :- e(X, unheard_of).").rules
    columns = {"p": (Column("s", Type.SYMBOL),), "e": (Column("s", Type.SYMBOL),) * 2}
    context = context_of(rule, columns)
    context.ids.clear()  # type: ignore[attr-defined]
    sql = compile_rule(whole(rule), columns["p"], context).query.sql(dialect="duckdb")
    assert sql.endswith("= -1")


STORED, OTHER = Part("edb", "e", 90), Part("idb", "h1_e", 10)
GAINED = Part("temp", "plus_e", 10, enters=STORED.place)


@pytest.mark.parametrize(
    ("parts", "repeats"),
    [
        ((STORED,), False),
        ((STORED, GAINED), False),
        ((STORED.without("minus_e"), GAINED), False),
        ((STORED, OTHER), True),
        ((OTHER, GAINED), True),
        ((STORED, OTHER, GAINED), True),
    ],
)
def test_what_enters_a_table_is_not_in_it(parts: tuple[Part, ...], repeats: bool) -> None:
    """A fact that two owners hold is read twice; one that has just entered a table is not."""
    (rule,) = parse("p(X) :- e(X).").rules
    column = Column("s", Type.INT)
    types = {name: [Type.INT] for name in "pe"}
    context = Context(lambda _, __: Relation((column,), parts), types, {}, {})
    assert compile_rule(whole(rule), [column], context).duplicates == repeats


# --- no text of a user becomes SQL ----------------------------------------------------------------

NASTY = [
    'quo"te', "apos'trophe", "semi; DROP TABLE canary; --", "/* comment */", "-- comment",
    "new\nline", "tab\t", "back\\slash", "select", "order", "x y", " ", "naïve ☃ 日本", "$1", "$i",
    "?", "%s", "{}", "x" * 300, "a.b", "main", "temp", "rowid", "$rank", "holds", "known_symbol",
    "new_symbol", "term", "raw", "candidate", "change_plus_p", "h1_p", "plus_p",
    "'); DELETE FROM zodiac.rule; --",
]  # fmt: skip


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """A knowledge base with a fact that must survive whatever the tests do."""
    with open_kb() as opened:
        opened.insert("canary", [("alive",)])
        yield opened
        assert opened.table("canary").fetchall() == [("alive",)]


@pytest.mark.parametrize("name", NASTY, ids=lambda name: name[:20])
def test_predicates_of_any_name(kb: KnowledgeBase, name: str) -> None:
    for row in ("a", "b"):
        kb.insert(name, [(row,)])
    assert sorted(kb.table(name).fetchall()) == [("a",), ("b",)]
    row = next(row for row in kb.predicates().to_pylist() if row["predicate"] == name)
    quoted = '"' + row["sql_name"].replace('"', '""') + '"'
    assert sorted(kb.sql(f"SELECT * FROM {quoted}").fetchall()) == [("a",), ("b",)]
    assert kb.delete(name, [("a",), ("b",)]).deleted == {name: 2}
    assert kb.predicates()["predicate"].to_pylist() == ["canary"]
    assert kb.insert("p", [("after",)]).inserted == {"p": 1}


@pytest.mark.parametrize("name", ["$rank", "$Rank", "zodiac$mark", "zodiac$entered"])
def test_columns_with_names_of_our_own(kb: KnowledgeBase, name: str) -> None:
    """Tables have such columns besides those of predicates."""
    with pytest.raises(DataError, match="no column can be called"):
        kb.insert("e", pa.table({name: ["a", "b"], "other": ["b", "c"]}))
    kb.insert("e", [("a", "b")])


@pytest.mark.parametrize("name", [n for n in NASTY if n != "$rank"], ids=lambda name: name[:20])
def test_columns_of_any_name(kb: KnowledgeBase, name: str) -> None:
    kb.insert("e", pa.table({name: ["a", "b"], "other": ["b", "c"]}))
    kb.add_rules(RULES_OVER_E)
    closure = {("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")}
    assert set(kb.table("e").fetchall()) >= closure
    assert set(kb.table("t").fetchall()) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert kb.table("e").column_names == [name, "other"]
    assert set(kb.table("text").fetchall()) >= {("a", "ab"), ("b", "bc")}
    assert set(kb.query("e(X, Y), not t(X, Y), t(_, X)").fetchall()) >= {("b", "a"), ("c", "b")}


RULES_OVER_E = """
t(X, Y) :- given(X, Y).  t(X, Z) :- t(X, Y), given(Y, Z).
given(a, b). given(b, c).
e(X, Y) :- e(Y, X).  e(X, Z) :- e(X, Y), e(Y, Z), X != Z.
text(X, Z) :- e(X, Y), BIND(concat(X, Y) AS Z).
"""


@pytest.mark.parametrize("name", NASTY, ids=lambda name: name[:20])
def test_file_names(tmp_path: Path, open_kb: OpenKb, name: str) -> None:
    file = tmp_path / f"{name.replace('/', '_')[:200]}.duckdb"
    if "\\" in name:
        with pytest.raises(StoreError, match="has a backslash, which DuckDB takes for a slash"):
            open_kb(file)
        assert not list(tmp_path.iterdir())
        return
    if "?" in name:
        with pytest.raises(StoreError, match="choose another name"):
            open_kb(file)
        open_kb = partial(connect, external_access=True)
    with open_kb(file) as kb:
        kb.add_rules("p(X) :- q(X), X != b.")
        kb.insert("q", [("a",), ("b",)])
    with open_kb(file) as kb:
        kb.insert("q", [("c",)])
        assert sorted(kb.table("p").fetchall()) == [("a",), ("c",)]


@pytest.mark.parametrize("stem", ["main", "temp", "memory", "system"])
def test_files_named_like_catalogs(tmp_path: Path, open_kb: OpenKb, stem: str) -> None:
    test_file_names(tmp_path, open_kb, stem)


@pytest.mark.parametrize("name", ["zodiac.duckdb", "edb.db", "IDB"])
def test_files_named_like_schemas(tmp_path: Path, open_kb: OpenKb, name: str) -> None:
    """DuckDB calls a database by its file's name, so SQL could not tell `edb.p` any more."""
    with pytest.raises(StoreError, match="another file name"):
        open_kb(tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("where", ["predicate", "column", "constant"])
def test_nul_is_refused_or_kept(kb: KnowledgeBase, where: str) -> None:
    nul = "nul\0; DROP"
    try:
        if where == "predicate":
            kb.insert(nul, [("a",)])
        elif where == "column":
            kb.insert("p", pa.table({nul: ["a"]}))
        else:
            kb.insert("p", [(nul,)])
    except ZodiacError:
        assert kb.predicates()["predicate"].to_pylist() == ["canary"]
        return
    name = nul if where == "predicate" else "p"
    assert kb.table(name).fetchall() == ([(nul,)] if where == "constant" else [("a",)])


# A symbol's text can be any, but NUL and lone surrogates, which no file holds.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
awkward = st.sampled_from(NASTY) | st.text("\"'\\<>_:;-%#@^./ \n\r\t\x01nta", max_size=12)


@settings(max_examples=12)
@given(values=st.lists(texts | awkward, min_size=1, max_size=20, unique=True))
def test_text_constants_round_trip(values: list[str]) -> None:
    """Through rows, through facts and rules in text, through answers, and back through rows."""
    shown = [plain(value) for value in values]
    with connect() as kb:
        kb.insert("row", [(number, value) for number, value in enumerate(shown)])
        assert sorted(kb.table("row").fetchall()) == list(enumerate(shown))
        kb.add_rules(
            "\n".join(
                f"fact({n}, {quoted(v)}). r{n}: rule({n}, X) :- row({n}, X), X = {quoted(v)}."
                for n, v in enumerate(values)
            )
        )
        assert sorted(kb.table("fact").fetchall()) == list(enumerate(shown))
        assert sorted(kb.table("rule").fetchall()) == list(enumerate(shown))
        for number, value in enumerate(values):
            assert kb.query(f"fact(N, {quoted(value)})").fetchall() == [(number,)]
        again = kb.insert("row", kb.table("row"))
        assert not again
        texts = kb.query("row(N, X), fact(N, X), BIND(length(X) AS L)").to_pylist()
        assert {row["N"]: row["L"] for row in texts} == {n: len(v) for n, v in enumerate(values)}


# What may stand in an IRI of a rule, as in N-Triples.
iris = st.text(
    st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc", "Z"],
                  exclude_characters='<>"{}|\\^`'), min_size=1, max_size=30,
).map("http://e/".__add__)  # fmt: skip


@settings(max_examples=12)
@given(names=st.lists(iris, min_size=1, max_size=8, unique=True))
def test_predicate_iris_round_trip(names: list[str]) -> None:
    with connect() as kb:
        kb.add_rules("\n".join(f"<{name}>(X) :- base(X)." for name in names))
        kb.insert("base", [("a",)])
        kb.insert(f"<{names[0]}>", [("b",)])
        assert set(kb.predicates()["predicate"].to_pylist()) == {"base", *names}
        sql_names = [name.lower() for name in kb.predicates()["sql_name"].to_pylist()]
        assert len(set(sql_names)) == len(names) + 1
        for name in names:
            expected = [("a",), ("b",)] if name == names[0] else [("a",)]
            assert sorted(kb.table(f"<{name}>").fetchall()) == expected
            assert sorted(kb.query(f"<{name}>(X)").fetchall()) == expected


if __name__ == "__main__":
    for path in FILES:
        path.write_text(rendered(rules_in(path.read_text(encoding="utf-8"))), encoding="utf-8")
