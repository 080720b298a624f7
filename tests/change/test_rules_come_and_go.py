"""Rules that are added, dropped, replaced, refused and previewed, on examples worked out by hand.

What random changes of rules do to extensions and tables is in test_rule_changes.py.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.contents import described
from support.figure_1 import FIGURE_1, R8

from zodiac_sql import MissingFunctionWarning, ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """A knowledge base in memory."""
    with open_kb() as one:
        yield one


def names(kb: KnowledgeBase) -> list[str]:
    return [row["name"] for row in kb.rules().to_pylist()]


def texts(kb: KnowledgeBase) -> dict[str, str]:
    return {row["name"]: row["rule"] for row in kb.rules().to_pylist()}


def added_at(kb: KnowledgeBase) -> dict[str, str]:
    return {row["name"]: row["added_at"] for row in kb.rules().to_pylist()}


def predicates(kb: KnowledgeBase) -> dict[str, str]:
    """The columns of each predicate."""
    return {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}


def views(kb: KnowledgeBase) -> set[str]:
    return {name for (name,) in kb.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal"
                                       " AND NOT temporary").fetchall()}  # fmt: skip


def idb(kb: KnowledgeBase) -> set[str]:
    """The tables of hypernodes, and those that were set aside."""
    found = kb.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'")
    return {name for (name,) in found.fetchall()}


def aside(kb: KnowledgeBase) -> set[str]:
    return {name for name in idb(kb) if name.startswith("zodiac$aside_")}


def on_file(kb: KnowledgeBase) -> tuple[object, ...]:
    """Every table and view, and everything that can be asked."""
    tables = kb.sql(
        "SELECT schema_name, table_name FROM duckdb_tables()"
        " WHERE NOT temporary AND database_name = current_database() ORDER BY ALL"
    ).fetchall()
    shown = kb.sql("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL")
    rows = {
        (schema, name): sorted(kb.sql(f'SELECT * FROM {schema}."{name}"').fetchall(), key=repr)
        for schema, name in tables
    }
    return rows, shown.fetchall(), described(kb)


def moved(change: Change) -> dict[str, object]:
    """What became of hypernodes, but for those that are untouched."""
    told = {one.name: getattr(change.hypernodes, one.name) for one in fields(change.hypernodes)}
    return {name: value for name, value in told.items() if value and name != "untouched"}


def untouched(kb: KnowledgeBase, change: Change) -> bool:
    """Whether nothing happened at all."""
    every = {row["hypernode"] for row in kb.hypernodes().to_pylist()}
    return not change and not moved(change) and set(change.hypernodes.untouched) == every


def gone(change: Change, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in change.deleted_facts(predicate).to_pylist()}


def come(change: Change, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in change.inserted_facts(predicate).to_pylist()}


# --- adding what is there -------------------------------------------------------------------------

PATHS = """\
base: path(X, Y) :- edge(X, Y).
step: path(X, Z) :- path(X, Y), edge(Y, Z).
ends(X) :- path(_, X), not edge(X, _).
"""
EDGES = [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.fixture
def paths(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add_rules(PATHS)
    kb.insert("edge", EDGES)
    return kb


@pytest.mark.parametrize(("text", "note"), [
    ("base: path(X, Y) :- edge(X, Y).", "base: path(X, Y) :- edge(X, Y). is there already"),
    ("path(A, B) :- edge(A, B).", "path(A, B) :- edge(A, B). is there already, as base"),
    ("other: path(X, Z) :- edge(Y, Z),\n   path(X, Y).",
     "other: path(X, Z) :- edge(Y, Z), path(X, Y). is there already, as step"),
    ("ends(X) :- not edge(X, _), path(_, X).",
     "ends(X) :- not edge(X, _), path(_, X). is there already, as r1"),
])  # fmt: skip
def test_a_rule_that_is_there_is_reported(paths: KnowledgeBase, text: str, note: str) -> None:
    before = on_file(paths)[2]
    change = paths.add_rules(text)
    assert change.notes == (note,)
    assert untouched(paths, change)
    assert on_file(paths)[2] == before


def test_twice_in_one_text(kb: KnowledgeBase) -> None:
    change = kb.add_rules("p(X) :- e(X, Y). p(Y) :- e(Y, X). mine: p(Z) :- e(Z, _).")
    assert change.notes == (
        "p(Y) :- e(Y, X). is there already, as r1",
        "mine: p(Z) :- e(Z, _). is there already, as r1",
    )
    assert names(kb) == ["r1"]


def test_twice_in_one_update(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules("one: p(X) :- e(X).")
        update.add_rules("two: p(Y) :- e(Y). three: q(Y) :- p(Y).")
    assert update.change.notes == ("two: p(Y) :- e(Y). is there already, as one",)
    assert names(kb) == ["one", "three"]


def test_what_is_new_in_a_text_is_added(paths: KnowledgeBase) -> None:
    change = paths.add_rules(PATHS + "back(Y, X) :- path(X, Y). edge(d, e).")
    assert len(change.notes) == 3
    assert names(paths) == ["base", "step", "r1", "r2"]
    assert change.inserted == {"edge": 1, "path": 4, "ends": 1, "back": 10}


def test_strict_says_where(paths: KnowledgeBase, tmp_path: Path) -> None:
    before = on_file(paths)
    file = tmp_path / "more.rules"
    file.write_text("% more\nnew(X) :- edge(X, X).\n  path(A, B) :- edge(A, B).\n", "utf-8")
    with pytest.raises(ProgramError) as caught:
        paths.add_rules(file, strict=True)
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert (problem.span.source.name, problem.span.line, problem.span.column) == (str(file), 3, 3)
    assert problem.message == "path(A, B) :- edge(A, B). is there already, as base"
    assert on_file(paths) == before


def test_strict_holds_for_its_own_text(paths: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="is there already, as r2"), paths.update() as update:
        update.add_rules("base: path(X, Y) :- edge(X, Y).")
        update.add_rules("new(X) :- edge(X, X). new(Y) :- edge(Y, Y).", strict=True)
    assert names(paths) == ["base", "step", "r1"]


# --- dropping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [
    "step",
    "path(X, Z) :- path(X, Y), edge(Y, Z).",
    "step: path(X, Z) :- path(X, Y), edge(Y, Z).",
    "base: path(A, C) <- edge(B, C) and path(A, B) .",
    "  path(?a, ?c) :-\n edge(?b, ?c), path(?a, ?b).",
])  # fmt: skip
def test_dropped_by_name_or_text(paths: KnowledgeBase, given: str) -> None:
    change = paths.drop_rules(given)
    assert names(paths) == ["base", "r1"] and change.notes == ()
    assert change.deleted == {"path": 3}


def test_several_at_once(paths: KnowledgeBase) -> None:
    paths.drop_rules("r1", "path(A, B) :- edge(A, B).", "none", "none(X) :- edge(X, X).")
    assert names(paths) == ["step"]
    assert paths.drop_rules("r1", "step").notes == ("there is no rule named r1",)
    assert names(paths) == []


FILE = """\
@prefix ex: <http://example.org/> .
@prefix mine: <http://example.org/my/> .
.decl edge(from: symbol, to: symbol)
copy: ex:copy(X, Y) :- edge(X, Y).
named: mine:named(X) :- ex:copy(X, ex:there).
edge(a, ex:there).
ex:copy(x, y).
"""


@pytest.mark.parametrize("as_path", [str, Path])
def test_dropped_by_file(
    kb: KnowledgeBase, tmp_path: Path, as_path: Callable[[str], str | Path]
) -> None:
    """Whose prefixes are its own, and whose facts stay."""
    file = tmp_path / "some.rules"
    file.write_text(FILE, "utf-8")
    kb.add_rules(file)
    kb.add_rules("@prefix ex: <http://elsewhere.org/> . other: ex:copy(X, Y) :- edge(X, Y).")
    file.write_text(FILE.replace("ex:", "e:").replace("copy:", "label:"), "utf-8")
    change = kb.drop_rules(as_path(str(file)))
    assert change.notes == (f"{file}: 2 facts stay, for dropping rules deletes none",)
    assert change.deleted == {"http://example.org/copy": 1, "http://example.org/my/named": 1}
    assert names(kb) == ["other"]
    assert set(predicates(kb)) == {
        "edge", "http://example.org/copy", "http://elsewhere.org/copy"
    }  # fmt: skip
    again = kb.drop_rules(as_path(str(file)))
    assert again.notes[1:] == (
        "there is no rule e:copy(X, Y) :- edge(X, Y).",
        "there is no rule mine:named(X) :- e:copy(X, e:there).",
    )
    assert untouched(kb, again)


@pytest.mark.parametrize(("given", "note"), [
    ("none", "there is no rule named none"),
    ("path", "there is no rule named path"),
    ("path(X, Y) :- edge(Y, X).", "there is no rule path(X, Y) :- edge(Y, X)."),
    ("base: path(X, X) :-\n  edge(X, X).", "there is no rule path(X, X) :- edge(X, X)."),
])  # fmt: skip
def test_a_rule_that_is_not_there_is_reported(paths: KnowledgeBase, given: str, note: str) -> None:
    before = on_file(paths)
    change = paths.drop_rules(given)
    assert change.notes == (note,) and untouched(paths, change)
    before_strict = on_file(paths)
    assert before_strict[2] == before[2]
    with pytest.raises(QueryError, match="The rules are: ") as caught:
        paths.drop_rules("base", given, strict=True)
    assert note in str(caught.value)
    assert on_file(paths) == before_strict


def test_a_name_comes_first(kb: KnowledgeBase, tmp_path: Path, monkeypatch: Any) -> None:
    """What is a rule's name is no file, even if there is one."""
    monkeypatch.chdir(tmp_path)
    Path("a.rules").write_text("other: q(X) :- e(X).", "utf-8")
    kb.add_rules("a.rules: p(X) :- e(X). other: q(X) :- e(X).")
    kb.drop_rules("a.rules")
    assert names(kb) == ["other"]
    kb.drop_rules("a.rules")
    assert names(kb) == []


def test_a_path_is_a_path_whatever_it_ends_in(kb: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"
    file.write_text("other: q(X) :- e(X).", "utf-8")
    kb.add_rules(file)
    assert names(kb) == ["other"]
    assert kb.drop_rules("rules.txt").notes == ("there is no rule named rules.txt",)
    kb.drop_rules(file)
    assert names(kb) == []


@pytest.mark.parametrize("given", [
    "path(X, Y :- edge(X, Y).",
    "path(X, Y) :- .",
    "path(X, Y) :- edge(X, Y)",
    "no/such/file.rules",
    "no_such_file.dl",
    Path("no_such_file"),
])  # fmt: skip
def test_what_cannot_be_read_drops_nothing(paths: KnowledgeBase, given: str | Path) -> None:
    before = on_file(paths)
    with pytest.raises(ProgramError):
        paths.drop_rules("base", given)
    assert on_file(paths) == before
    with pytest.raises(ProgramError), paths.update() as update:
        update.insert("edge", [("new", "symbol")])
        update.drop_rules(given)
    assert on_file(paths) == before
    assert paths.insert("edge", [("d", "e")]).inserted == {"edge": 1, "path": 4, "ends": 1}


def test_a_rule_without_its_function_can_be_dropped(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "some.duckdb"
    with open_kb(file) as kb:
        kb.register_function("twice", lambda x: 2 * x, ["int"], "int")
        kb.add_rules(
            "a: p(Y) :- e(X), BIND(twice(X) AS Y). b: p(Y) :- p(X), X < 5, Y = X + 1."
            "c: p(Y) :- p(X), X < 5, BIND(twice(X) AS Y). d: q(X) :- p(X)."
        )
        kb.insert("e", [(1,)])
        assert kb.table("q").num_rows == 6 and kb.verify()  # 2, 3, 4, 5, 6, 8
    with pytest.warns(MissingFunctionWarning):
        kb = open_kb(file)
    with kb:
        assert kb.drop_rules("c").deleted == {"p": 2, "q": 2}
        assert kb.missing_functions == ("twice",)
        assert kb.drop_rules("p(Y) :- e(X), BIND(twice(X) AS Y).").deleted == {"p": 4, "q": 4}
        assert kb.missing_functions == () and names(kb) == ["b", "d"]
        assert kb.verify()


# --- replacing ------------------------------------------------------------------------------------


def test_replacing_is_one_change(paths: KnowledgeBase) -> None:
    change = paths.add_rules("base: path(X, Y) :- edge(Y, X).", replace=True)
    assert change.notes == ()
    assert names(paths) == ["step", "r1", "base"]
    assert texts(paths)["base"] == "path(X, Y) :- edge(Y, X)."
    assert moved(change)["dropped"] and moved(change)["created"]
    assert set(paths.table("path").fetchall()) == {
        ("b", "a"), ("c", "b"), ("d", "c"), ("b", "b"), ("c", "c"), ("d", "d"),
        ("b", "c"), ("c", "d"), ("b", "d"),
    }  # fmt: skip
    assert (change.inserted["path"], change.deleted["path"]) == (6, 3)
    assert gone(change, "path") == {("a", "b"), ("a", "c"), ("a", "d")}
    assert paths.verify()


def test_another_body_under_the_same_name_is_refused(paths: KnowledgeBase) -> None:
    before = on_file(paths)
    with pytest.raises(ProgramError, match="already a rule named base") as caught:
        paths.add_rules("base: path(X, Y) :- edge(Y, X).\nnew(X) :- edge(X, _).")
    (problem,) = caught.value.problems
    assert "path(X, Y) :- edge(X, Y)." in problem.message and "replace" in problem.hint
    assert on_file(paths) == before


def test_replacing_by_an_equal_rule_is_no_change(paths: KnowledgeBase) -> None:
    before = texts(paths), added_at(paths)
    change = paths.add_rules("step: path(A, C) :- edge(B, C), path(A, B).", replace=True)
    assert untouched(paths, change) and len(change.notes) == 1
    assert (texts(paths), added_at(paths)) == before


def test_replacing_what_is_not_there_adds_it(paths: KnowledgeBase) -> None:
    change = paths.add_rules("new: loop(X) :- path(X, X).", replace=True)
    assert names(paths)[-1] == "new" and change.notes == ()


def test_replacing_several(paths: KnowledgeBase) -> None:
    """Also such that rules take each other's names."""
    swapped = PATHS.replace("base:", "x:").replace("step:", "base:").replace("x:", "step:")
    assert paths.add_rules(swapped, replace=True).deleted == {}
    assert texts(paths) == {
        "base": "path(X, Z) :- path(X, Y), edge(Y, Z).",
        "step": "path(X, Y) :- edge(X, Y).",
        "r1": "ends(X) :- path(_, X), not edge(X, _).",
    }
    assert paths.table("path").num_rows == 6 and paths.verify()


def test_replacing_does_not_make_two_of_one_text(paths: KnowledgeBase) -> None:
    before = on_file(paths)
    with pytest.raises(ProgramError, match="already a rule named new"):
        paths.add_rules("new: p(X) :- edge(X, _). new: p(X) :- edge(_, X).", replace=True)
    assert on_file(paths) == before


def test_replacing_a_rule_that_the_update_has_added(paths: KnowledgeBase) -> None:
    with paths.update() as update:
        update.add_rules("new: p(X) :- edge(X, _).")
        update.add_rules("new: p(X) :- edge(_, X).", replace=True)
    assert texts(paths)["new"] == "p(X) :- edge(_, X)."


def test_replacing_by_a_rule_of_another_arity(kb: KnowledgeBase) -> None:
    """Nothing else has the predicate."""
    kb.add_rules("a: p(X, Y) :- e(X, Y). e(a, b).")
    change = kb.add_rules("a: p(X) :- e(X, _).", replace=True)
    assert texts(kb) == {"a": "p(X) :- e(X, _)."}
    assert predicates(kb)["p"] == "s: symbol"
    assert (change.inserted, change.deleted) == ({"p": 1}, {"p": 1})


def test_replacing_by_a_rule_of_another_type(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- e(X, _). b: q(X) :- p(X). e(a, 7).")
    change = kb.add_rules("a: p(Y) :- e(_, Y).", replace=True)
    assert predicates(kb)["p"] == predicates(kb)["q"] == "s: int"
    assert kb.table("q").fetchall() == [(7,)]
    assert (change.inserted, change.deleted) == ({"p": 1, "q": 1}, {"p": 1, "q": 1})
    assert (come(change, "q"), gone(change, "q")) == ({(7,)}, {("a",)})
    assert kb.verify()


def test_dropped_and_added_under_one_name(paths: KnowledgeBase) -> None:
    with paths.update() as update:
        update.drop_rules("base")
        update.add_rules("base: path(X, Y) :- edge(Y, X).")
    assert texts(paths)["base"] == "path(X, Y) :- edge(Y, X)."
    assert update.change.inserted["path"] == 6


@pytest.mark.parametrize("given", ["new", "loop(A) :- path(A, A).", "x: loop(Y) :- path(Y, Y)."])
def test_added_and_dropped_leaves_nothing(paths: KnowledgeBase, given: str) -> None:
    before = on_file(paths)
    with paths.update() as update:
        update.add_rules("new: loop(X) :- path(X, X). @prefix ex: <http://e.org/> .")
        update.drop_rules(given)
    assert update.change.notes == () and untouched(paths, update.change)
    assert on_file(paths)[2] == before[2]


def test_dropped_and_added_again_is_no_change(paths: KnowledgeBase) -> None:
    _set_back(paths)
    before = on_file(paths)[2]
    with paths.update() as update:
        update.drop_rules("step", "r1")
        update.add_rules("step: path(X, Z) :- path(X, Y), edge(Y, Z).")
        update.add_rules("r1: ends(X) :- path(_, X), not edge(X, _).")
    assert update.change.notes == () and untouched(paths, update.change)
    after = on_file(paths)[2]
    assert sorted(map(str, after)) == sorted(map(str, before))


def _set_back(kb: KnowledgeBase) -> None:
    """Let all rules be there for a while."""
    rules = tuple(replace(one, added_at="2020-02-02T02:02:02Z") for one in kb._session.state.rules)
    kb._session.state = replace(kb._session.state, rules=rules)
    kb._session.store.run("UPDATE zodiac.rule SET added_at = '2020-02-02 02:02:02'")


# --- names and times ------------------------------------------------------------------------------

OLD = "2020-02-02T02:02:02Z"


def test_when_a_rule_was_added(open_kb: OpenKb, tmp_path: Path) -> None:
    """Other changes, merges and splits of its hypernode and reopening leave it alone."""
    file = tmp_path / "some.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("a: p(X) :- e(X). b: q(X) :- p(X). c: r(X) :- q(X). q(X) :- f(X).")
        _set_back(kb)
        every = dict.fromkeys(("a", "b", "c", "r1"), OLD)
        kb.insert("e", [("x",)])
        assert added_at(kb) == every
        change = kb.add_rules("d: p(X) :- r(X). e(X) :- f(X).")
        assert moved(change)["merged"] and moved(change)["created"]
    with open_kb(file) as kb:
        times = added_at(kb)
        assert names(kb) == ["a", "b", "c", "r1", "d", "r2"]
        assert {name: times.pop(name) for name in every} == every
        assert min(times.values()) > OLD
        assert moved(kb.drop_rules("d", "r2"))["split"]
        assert added_at(kb) == every
        kb.add_rules("a: p(X) :- e(X), f(X). c: r(Y) :- q(Y).", replace=True)
        assert {name for name, time in added_at(kb).items() if time == OLD} == {"b", "c", "r1"}
        last = kb.rules().to_pylist()
    with open_kb(file) as kb:
        assert kb.rules().to_pylist() == last
        assert last[-1]["name"] == "a"
        shown = kb.sql("SELECT strftime(added_at, '%Y-%m-%dT%H:%M:%SZ') FROM zodiac.rule")
        assert sorted(time for (time,) in shown.fetchall()) == sorted(r["added_at"] for r in last)


def test_names_that_a_change_frees_are_not_given_by_it(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- e(X). q(X) :- e(X). r(X) :- e(X).")
    assert names(kb) == ["r1", "r2", "r3"]
    with kb.update() as update:
        update.drop_rules("r1", "r2")
        update.add_rules("s(X) :- e(X). r5: t(X) :- e(X). u(X) :- e(X).")
    assert names(kb) == ["r3", "r4", "r5", "r6"]
    kb.add_rules("v(X) :- e(X). w(X) :- e(X).")  # free for a while
    assert names(kb)[-2:] == ["r1", "r2"]


# --- views and predicates -------------------------------------------------------------------------


def test_predicates_appear_and_disappear(paths: KnowledgeBase) -> None:
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends"}
    paths.add_rules(
        "three(X, Y, Z) :- path(X, Y), path(Y, Z). new() :- other(_). one(X) :- edge(X, _)."
    )
    assert predicates(paths) == {
        "edge": "s: symbol, o: symbol",
        "path": "s: symbol, o: symbol",
        "ends": "s: symbol",
        "three": "c0: symbol, c1: symbol, c2: symbol",
        "new": "",
        "other": "s: open",
        "one": "s: symbol",
    }
    assert views(paths) == predicates(paths).keys()
    rows = paths.sql("SELECT c0, c2 FROM three WHERE c1 = 'b' ORDER BY ALL").fetchall()
    assert rows == [("a", "c"), ("a", "d")]
    paths.insert("other", [(1,)])
    assert paths.sql("FROM new").fetchall() == [(True,)]
    change = paths.drop_rules("r2", "r3", "r4")
    assert change.deleted == {"three": 4, "new": 1, "one": 3}
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends", "other"}
    with pytest.raises(QueryError):
        paths.sql("FROM three")
    assert paths.verify()
    paths.delete("other", [(1,)])
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends"}


def test_a_predicate_stays_with_its_facts_its_readers_or_its_declaration(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "a: p(X) :- e(X). b: q(X) :- e(X). c: r(X) :- q(X). d: s(Celsius) :- e(Celsius). p(x)."
        ".decl s(celsius: symbol)"
    )
    kb.drop_rules("a", "b", "d")
    assert predicates(kb) == {
        "p": "s: symbol", "q": "s: open", "r": "s: open", "s": "celsius: symbol"
    }  # fmt: skip
    kb.drop_rules("c")
    assert predicates(kb).keys() == views(kb) == {"p", "s"}
    kb.add_rules("s(X) :- p(X).")
    assert kb.sql("SELECT celsius FROM s").fetchall() == [("x",)] and kb.verify()


def test_a_name_that_has_disappeared_may_be_another_predicate(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X, Y) :- e(X, Y). e(1, 2).")
    kb.drop_rules("a")
    kb.add_rules('a: P(X) :- e(X, _). b: p(X, "text", Y) :- e(X, Y).')
    shown = {row["predicate"]: row["sql_name"] for row in kb.predicates().to_pylist()}
    assert shown == {"e": "e", "P": "P", "p": "p_2"}
    assert kb.sql("FROM p_2").fetchall() == [(1, "text", 2)]
    kb.drop_rules("a")
    kb.add_rules("c: q(X) :- p(_, X, _).")
    assert kb.sql("FROM p_2").fetchall() == [(1, "text", 2)]  # SQL names stay


def test_predicates_of_prefixes(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "@prefix ex: <http://e.org/> . ex:size(X) :- e(X, _). size(X) :- e(_, X). e(a, b)."
    )
    shown = {row["predicate"]: row["sql_name"] for row in kb.predicates().to_pylist()}
    assert shown == {"http://e.org/size": "size", "size": "size_2", "e": "e"} or shown == {
        "http://e.org/size": "ex_size", "size": "size", "e": "e"
    }  # fmt: skip
    for name, rows in (("http://e.org/size", [("a",)]), ("size", [("b",)])):
        assert kb.sql(f"FROM {shown[name]}").fetchall() == rows


# --- Figure 1 of paper 1 --------------------------------------------------------------------------

SAFE = FIGURE_1.replace("p6(Y, Z)", "p0(X, Y), p6(Y, Z)")
FACTS = {
    "p0": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    "p4": [("c", "d"), ("d", "e"), ("a", "b")],
    "p6": [("c", "x"), ("d", "y")],
}


@pytest.fixture
def figure(kb: KnowledgeBase) -> Iterator[KnowledgeBase]:
    """Figure 1 with facts; it is verified when the test is over."""
    fill(kb, SAFE)
    yield kb
    assert kb.verify()


def fill(kb: KnowledgeBase, rules: str) -> None:
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, rows in FACTS.items():
            update.insert(predicate, rows)


def assert_as_fresh(open_kb: OpenKb, kb: KnowledgeBase) -> None:
    """As if these rules and the facts had come at once."""
    with open_kb() as fresh:
        fill(fresh, "".join(f"{name}: {text}\n" for name, text in texts(kb).items()))
        assert shown(kb) == shown(fresh)


def shown(kb: KnowledgeBase) -> tuple[object, ...]:
    """All but the order of rules and the numbers of hypernodes."""
    hypernodes = kb.hypernodes().to_pylist()
    hypernodes = [{**row, "hypernode": "", "rules": sorted(row["rules"]),
                   "derives": sorted(row["derives"])} for row in hypernodes]  # fmt: skip
    return (
        described(kb)[0],
        sorted(map(str, kb.predicates().to_pylist())),
        sorted(map(str, hypernodes)),
    )


def traced(kb: KnowledgeBase, act: Callable[[], Change]) -> tuple[Change, list[str]]:
    seen: list[str] = []
    kb.trace(lambda text, parameters: seen.append(text))
    change = act()
    kb.trace(None)
    return change, seen


VANISHED = ("h3_p5", "h3_p6", "h4_p7")


def test_hypernodes_vanish_without_reasoning(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    p7 = set(figure.table("p7").fetchall())
    change, seen = traced(figure, lambda: figure.drop_rules("r5", "r6", "r7"))
    seen = [text for text in seen if not text.startswith('DROP TABLE IF EXISTS "temp"')]
    touching = [text for text in seen if any(table in text for table in ("h3_p5", "h4_p7"))]
    assert sorted(text.split(" RENAME")[0] for text in touching) == [
        'ALTER TABLE "idb"."h3_p5"', 'ALTER TABLE "idb"."h4_p7"'
    ]  # fmt: skip
    assert moved(change) == {"dropped": ("h3", "h4")}
    assert change.hypernodes.untouched == ("h1", "h2")
    assert change.stats["hypernodes"] == {}
    assert change.deleted == {"p5": 3, "p6": 3, "p7": 4} and change.inserted == {}
    assert gone(change, "p7") == p7
    assert gone(change, "p5") == gone(change, "p6") == {("a", "b"), ("b", "c"), ("c", "d")}
    assert predicates(figure).keys() == {"p0", "p1", "p2", "p3", "p4", "p6"} == views(figure)
    assert_as_fresh(open_kb, figure)


def test_no_statement_reads_the_tables_of_a_vanished_hypernode(figure: KnowledgeBase) -> None:
    """Not even where there are explicit facts of its predicate, too."""
    _, seen = traced(figure, lambda: figure.drop_rules("r5", "r6", "r7"))
    touching = [text for text in seen if any(table in text for table in VANISHED)]
    assert [text for text in touching if not text.startswith(("ALTER", "DROP"))] == []


def test_what_vanished_is_kept_until_the_next_change(figure: KnowledgeBase) -> None:
    change = figure.drop_rules("r5", "r6", "r7")
    kept = aside(figure)
    assert kept == {"zodiac$aside_h3_p5", "zodiac$aside_h3_p6", "zodiac$aside_h4_p7"}
    assert not idb(figure) & set(VANISHED)
    figure.query("p2(X, Y)")
    assert figure.verify()
    assert len(gone(change, "p7")) == 4 and aside(figure) == kept
    with figure.preview() as preview:
        preview.insert("p0", [("x", "y")])
    with pytest.raises(QueryError):
        figure.drop_rules("nothing", strict=True)
    assert aside(figure) == kept
    figure.insert("p9", [("x",)])
    assert aside(figure) == set()
    with pytest.raises(QueryError, match="until the next change"):
        change.deleted_facts("p7")


def test_two_hypernodes_vanish_one_after_the_other(figure: KnowledgeBase) -> None:
    figure.drop_rules("r7")
    assert aside(figure) == {"zodiac$aside_h4_p7"}
    figure.add_rules("r7: p7(X, Z) :- p3(X, Y), p5(Y, Z).")
    assert aside(figure) == set()
    change = figure.drop_rules("r7")
    assert len(gone(change, "p7")) == 4 and len(aside(figure)) == 1


def test_what_vanished_before_a_kill_goes_with_the_next_change(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    file = tmp_path / "figure.duckdb"
    with open_kb(file) as kb:
        fill(kb, SAFE)
    code = (
        "import os, sys, zodiac_sql\n"
        "kb = zodiac_sql.connect(sys.argv[1])\n"
        "kb.drop_rules('r5', 'r6', 'r7')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == -9
    with open_kb(file) as kb:
        assert names(kb) == ["r1", "r2", "r3", "r4"]
        assert len(aside(kb)) == 3 and kb.verify()
    with open_kb(file) as kb:
        kb.insert("p0", [("x", "y")])
        assert aside(kb) == set() and kb.verify()
    with open_kb(file) as kb:
        assert idb(kb) == {"h1_p1", "h2_p2", "h2_p3", "h2_p4"}


def test_figures_3b_and_3c(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    figure.drop_rules("r5", "r6", "r7")
    change = figure.add_rules(R8)
    assert moved(change) == {"updated": ("h2",)}
    assert change.hypernodes.untouched == ("h1",)
    assert_as_fresh(open_kb, figure)
    change = figure.drop_rules("r4")
    ((old, parts),) = change.hypernodes.split.items()
    assert old == "h2" and len(parts) == 3 and "h2" in parts
    assert moved(change) == {"split": {"h2": parts}}
    assert change.hypernodes.untouched == ("h1",)
    assert_as_fresh(open_kb, figure)
    change = figure.add_rules("r4: p4(X, Y) :- p2(X, Y).")
    ((new, olds),) = change.hypernodes.merged.items()
    assert set(olds) == set(parts) and moved(change) == {"merged": {new: olds}}
    assert_as_fresh(open_kb, figure)


def test_figure_3c_with_what_follows(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    figure.add_rules(R8)
    change = figure.drop_rules("r4")
    assert change.hypernodes.split.keys() == {"h2"}
    assert change.hypernodes.untouched[0] == "h1"
    assert set(change.hypernodes.updated) <= {"h3", "h4"}
    assert change.deleted["p2"] and change.deleted["p3"] and change.deleted["p4"]
    assert_as_fresh(open_kb, figure)


CHAIN = "a: p(X, Y) :- e(X, Y). b: q(X, Y) :- p(Y, X). c: r(X, Y) :- q(X, Y). s(X) :- r(X, a)."


def test_a_rule_closes_a_cycle_and_opens_it_again(open_kb: OpenKb, strategy: str) -> None:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(CHAIN)
        kb.insert("e", [("a", "b"), ("b", "c")])
        change = kb.add_rules("d: p(X, Y) :- r(X, Y).")
        ((new, olds),) = change.hypernodes.merged.items()
        assert olds == ("h2", "h3")
        assert moved(change) == {"merged": {new: ("h2", "h3")}, "updated": ("h4",)}
        assert change.inserted == {"p": 2, "q": 2, "r": 2}
        assert come(change, "p") == {("b", "a"), ("c", "b")}
        assert kb.verify()
        change = kb.drop_rules("d")
        assert change.hypernodes.split.keys() == {new}
        assert change.deleted["p"] == 2 and gone(change, "p") == {("b", "a"), ("c", "b")}
        assert kb.verify()


def test_a_new_hypernode_between_old_ones(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- e(X). c: r(X) :- q(X). e(x).")
    change = kb.add_rules("b: q(X) :- p(X).")
    assert moved(change) == {"created": ("h3",), "updated": ("h2",)}
    assert change.inserted == {"q": 1, "r": 1}
    change = kb.drop_rules("b")
    assert moved(change) == {"dropped": ("h3",), "updated": ("h2",)}
    assert change.deleted == {"q": 1, "r": 1}


def test_ranks_are_there_for_recursive_hypernodes_only(open_kb: OpenKb, strategy: str) -> None:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules("a: p(X) :- e(X). b: q(X) :- p(X). c: p(X) :- f(X, Y), p(Y). e(x). f(y, x).")
        assert_ranked_where_recursive(kb, {"c"})
        kb.add_rules("d: p(X) :- q(X).")
        assert_ranked_where_recursive(kb, {"b", "c", "d"})
        kb.drop_rules("c")
        assert_ranked_where_recursive(kb, {"b", "d"})
        kb.drop_rules("b")
        assert_ranked_where_recursive(kb, set())
        kb.add_rules("b: q(X) :- p(X).")
        assert_ranked_where_recursive(kb, {"b", "d"})
        kb.drop_rules("d")
        assert_ranked_where_recursive(kb, set())
        assert kb.verify()


def assert_ranked_where_recursive(kb: KnowledgeBase, recursive: set[str]) -> None:
    columns = kb.sql(
        "SELECT table_name, column_name FROM duckdb_columns()"
        " WHERE schema_name = 'idb' AND NOT starts_with(table_name, 'zodiac$aside_')"
    )
    ranked = {table.split("_")[0] for table, column in columns.fetchall() if column == "$rank"}
    rows = kb.hypernodes().to_pylist()
    assert ranked == {row["hypernode"] for row in rows if row["recursive"]}
    assert {name for row in rows if row["recursive"] for name in row["rules"]} == recursive


# --- refused --------------------------------------------------------------------------------------

REFUSED = {
    "a negative cycle": ("cut: edge(X, Y) :- ends(X), path(X, Y).", "edge -[not r1]-> ends"),
    "an aggregate in a cycle": (
        "n: number(N) :- AGGREGATE(path(X, Y)) WITH COUNT(Y) AS N. m: edge(a, a) :- number(N).",
        "path -[not n]-> number",
    ),
    "a type": ("many: ends(X) :- number(X).", "column 1 of ends is symbol, but rule many gives it"),
    "a type in a body": (
        "both: p(X) :- ends(X), number(X).",
        "X is symbol elsewhere, but column 1 of number(X) is int",
    ),
    "arities": ("p(X) :- path(X, Y, Z).", "path is used with 3 columns, but it has 2"),
    "unsafe": ("p(X, Y) :- ends(X), not edge(X, Y).", "unsafe: Y in the head of r2 has no value"),
    "syntax": ("p(X) :- ends(X), .", "syntax error"),
    "a fact": ("p(X) :- ends(X). edge(a, 1).", "column o of edge is symbol, edge(a, 1) gives int"),
    "a name": ("base: p(X) :- ends(X).", "already a rule named base"),
    "an aggregate's head": (
        "p(X) :- ends(X). q: p(N) :- AGGREGATE(path(X, Y)) WITH COUNT(Y) AS N.", "p is derived by"
    ),
    "no function": ("p(Y) :- ends(X), BIND(nonsense(X) AS Y).", "there is no function nonsense"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_rule_changes_nothing(
    open_kb: OpenKb, tmp_path: Path, text: str, message: str
) -> None:
    """Neither do the facts that come and go with it, and other rules that would be right."""
    file = tmp_path / "paths.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(PATHS)
        kb.insert("edge", EDGES)
        kb.insert("number", [(1,)])
        before = on_file(kb)
        for verb in (kb.update, kb.preview):
            with pytest.raises(ProgramError) as caught, verb() as update:
                update.insert("edge", [("d", "e"), ("new", "symbols")])
                update.delete("edge", EDGES[:1])
                update.insert("fresh", [("one", 2)])
                update.add_rules(
                    "@prefix ex: <http://new.org/> . right: ex:right(X) :- edge(X, _)."
                )
                update.drop_rules("step")
                update.add_rules(text)
            assert message in str(caught.value)
            assert on_file(kb) == before
        assert kb.insert("edge", [("d", "e")]).inserted == {"edge": 1, "path": 4, "ends": 1}
        assert kb.drop_rules("step").deleted == {"path": 6}
        assert kb.verify()
    with open_kb(file) as kb:
        assert names(kb) == ["base", "r1"] and kb.verify()


class Stopped(Exception):
    """What happens in the middle of a change."""


def test_a_change_that_stops_anywhere_changes_nothing(figure: KnowledgeBase) -> None:
    """Stopped at every seventh statement, and every second one of its publication."""
    figure.add_rules("r9: p9(X) :- p0(X, _).")
    before, at, publishing = on_file(figure), 1, False
    while True:
        statements: list[str] = []

        def stop(text: str, parameters: object) -> None:
            statements.append(text)  # noqa: B023
            if len(statements) == at and "COMMIT" not in statements:  # noqa: B023
                raise Stopped

        figure.trace(stop)
        try:
            change = _change_all(figure)
        except Stopped:
            figure.trace(None)
            assert on_file(figure) == before
            publishing = "BEGIN TRANSACTION" in statements
            at += 2 if publishing else 7
        else:
            break
    figure.trace(None)
    assert publishing
    assert moved(change).keys() == {"created", "dropped", "merged", "split"}
    assert change.inserted.keys() & change.deleted.keys()


def test_a_change_that_stops_before_the_commit_changes_nothing(paths: KnowledgeBase) -> None:
    def stop(text: str, parameters: object) -> None:
        if text == "COMMIT":
            raise Stopped

    before = on_file(paths)
    paths.trace(stop)
    with pytest.raises(Stopped):
        paths.drop_rules("step")
    paths.trace(None)
    assert on_file(paths) == before


def _change_all(kb: KnowledgeBase) -> Change:
    with kb.update() as update:
        update.drop_rules("r4", "r9")
        update.add_rules("p5(X, Y) :- p7(X, Y). p8(X, new) :- p7(X, Y).")
        update.insert("p6", [("a", "fresh")])
        update.delete("p4", [("d", "e")])
    return update.change


def test_a_cycle_is_named(paths: KnowledgeBase) -> None:
    with pytest.raises(ProgramError) as caught:
        paths.add_rules("cut: edge(X, Y) :- ends(X), path(X, Y).")
    (problem,) = caught.value.problems
    assert "rules cut, " in problem.hint or ", cut" in problem.hint
    for name in ("r1", "cut"):
        assert name in problem.message and name in problem.hint


def test_a_rule_that_a_drop_makes_possible(paths: KnowledgeBase) -> None:
    """What would be a negative cycle is none when its other half goes in the same update."""
    with paths.update() as update:
        update.drop_rules("r1")
        update.add_rules("cut: edge(X, Y) :- ends(X), path(X, Y). ends(d).")
    assert names(paths) == ["base", "step", "cut"]
    assert update.change.deleted == {}


# --- previews -------------------------------------------------------------------------------------

Verbs = Callable[[Any], None]

CHANGES: dict[str, Verbs] = {
    "hypernodes vanish": lambda u: u.drop_rules("r5", "r6", "r7"),
    "one is dropped by text": lambda u: u.drop_rules("p7(A, C) :- p5(B, C), p3(A, B)."),
    "a rule joins": lambda u: u.add_rules(R8),
    "one splits": lambda u: u.drop_rules("r4"),
    "some merge": lambda u: u.add_rules("p0(X, Y) :- p4(Y, X). p3(X, Y) :- p1(X, Y)."),
    "one is created": lambda u: u.add_rules("p8(X, Y) :- p7(Y, X), not p2(X, Y). p8(new, symbol)."),
    "one is replaced": lambda u: u.add_rules("r1: p1(Y, X) :- p0(X, Y).", replace=True),
    "nothing": lambda u: u.add_rules("r4: p4(A, B) :- p2(A, B)."),
    "rules and facts": lambda u: (
        u.drop_rules("r3", "none"),
        u.delete("p0", [("a", "b")]),
        u.add_rules("r3: p3(X, Y) :- p4(X, Y), p0(_, X). p9(Z) :- p3(Z, Z)."),
        u.insert("p6", [("b", "fresh")]),
    )[0],
}


@pytest.mark.parametrize("verbs", CHANGES.values(), ids=CHANGES)
def test_a_preview_tells_what_the_change_will(
    figure: KnowledgeBase, open_kb: OpenKb, verbs: Verbs
) -> None:
    before = on_file(figure)
    told = []
    for _ in range(2):
        with figure.preview() as preview:
            verbs(preview)
        told.append(everything_told(figure, preview.change))
        assert on_file(figure) == before
    with figure.update() as update:
        verbs(update)
    assert told == [everything_told(figure, update.change)] * 2


def everything_told(kb: KnowledgeBase, change: Change) -> tuple[object, ...]:
    facts = (
        {name: come(change, name) for name in change.inserted},
        {name: gone(change, name) for name in change.deleted},
    )
    for counts, rows in zip((change.inserted, change.deleted), facts, strict=True):
        assert counts == {name: len(some) for name, some in rows.items()}
    return change.inserted, change.deleted, change.hypernodes, change.notes, *facts, str(
        kb.graph(change)
    )  # fmt: skip


def test_a_preview_of_rules_leaves_the_facts_of_the_change_before_it_alone(
    figure: KnowledgeBase,
) -> None:
    """In the file: what was set aside goes with the next change, and not with a preview."""
    figure.drop_rules("r7")
    before = on_file(figure)
    with figure.preview() as preview:
        preview.drop_rules("r5", "r6")
    assert preview.change.deleted == {"p5": 3, "p6": 3}
    assert on_file(figure) == before and len(aside(figure)) == 1


def test_the_graph_of_a_change(kb: KnowledgeBase) -> None:
    kb.add_rules(CHAIN)
    with kb.preview() as preview:
        preview.add_rules("d: p(X, Y) :- r(X, Y).")
    for change in (preview.change, kb.add_rules("d: p(X, Y) :- r(X, Y).")):
        lines = [" ".join(line.split()) for line in str(kb.graph(change)).splitlines()]
        assert lines[0] == "before"
        before, after = lines[1 : lines.index("after") - 1], lines[lines.index("after") + 1 :]
        assert "h2 stratum 0 merged b derives q <- h1" in before
        assert "h3 stratum 0 merged c derives r <- h2" in before
        assert "h1 stratum 0 a derives p" in before and "h1 stratum 0 a derives p" in after
        (merged,) = [line for line in after if "merged" in line]
        assert "recursive" in merged and "b, c, + d" in merged


def test_the_graph_of_a_change_of_facts_has_no_signs(paths: KnowledgeBase) -> None:
    drawn = str(paths.graph(paths.insert("edge", [("d", "e")])))
    assert drawn.startswith("before\n") and "\n\nafter\n" in drawn
    assert "+" not in drawn and "- " not in drawn.replace("<- ", "")


# --- found by reading -----------------------------------------------------------------------------


def test_a_preview_of_the_first_rules(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("p", [("a",), ("b",)])
    for _ in range(2):
        with kb.preview() as preview:
            preview.add_rules("r1: q(X) :- p(X).")
        assert preview.change.inserted == {"q": 2}
        with kb.update():
            pass
        assert len(kb.rules()) == 0
        assert kb.drop_rules("q(X) :- p(X).").notes == ("there is no rule q(X) :- p(X).",)
    assert kb.add_rules("r1: q(X) :- p(X).").inserted == {"q": 2}


def test_what_left_is_counted_before_the_next_change(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: q(X) :- p(X). r2: q(X) :- s(X).")
    kb.insert("p", [("a",), ("b",)])
    kb.insert("s", [("a",)])
    change = kb.drop_rules("r1")
    kb.insert("s", [("c",)])
    assert change.deleted == {"q": 1} and change
    change = kb.drop_rules("r2")
    kb.close()
    assert change.deleted == {"q": 2}


def test_facts_of_a_predicate_with_an_odd_name(open_kb: OpenKb, tmp_path: Path) -> None:
    name = "http://example.org/zodiac$aside_x"
    with open_kb(tmp_path / "odd.duckdb") as kb:
        kb.insert(name, [("a",)])
    with open_kb(tmp_path / "odd.duckdb") as kb:
        kb.insert(name, [("b",)])
        assert sorted(kb.table(name)) == [("a",), ("b",)] and kb.verify()


def test_facts_to_delete_keep_a_predicate_as_it_is(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: p(X) :- s(X).")
    kb.insert("s", [("a",)])
    with pytest.raises(ProgramError, match="p is used with 2 columns"), kb.update() as update:
        update.delete("p", [("a",)])
        update.drop_rules("r1")
        update.add_rules("r2: p(X, X) :- s(X).")


def test_another_arity_beside_a_name_that_differs_in_case(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: z(X) :- P(X).")
    with kb.update() as update:
        update.drop_rules("r1")
        update.add_rules("r2: z(X) :- p(X). r3: z(X) :- P(X, Y). P(a, b). p(c).")
    assert sorted(kb.table("z")) == [("a",), ("c",)] and kb.verify()


def test_columns_that_get_other_names(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: p(X, Y) :- s(X, Y). r2: p(X, Y) :- t(X, Y). r3: q(X) :- p(X, Y).")
    kb.insert("s", [("a", "b"), ("c", "d")])
    kb.insert("t", [("c", "d"), ("e", "f")])
    with kb.update() as update:
        update.add_rules(".decl p(x: symbol, y: symbol)")
        update.drop_rules("r1")
    assert (update.change.inserted, update.change.deleted) == ({}, {"p": 1, "q": 1})
    assert kb.table("p").column_names == ["x", "y"] and kb.verify()


def test_nothing_temporary_piles_up(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("e", [("a", "b"), ("b", "c")])

    def temporary() -> int:
        tables = "SELECT count(*) FROM duckdb_{}() WHERE temporary"
        return sum(kb._session.store.count(tables.format(kind)) for kind in ("tables", "views"))

    seen = []
    for _ in range(6):
        kb.add_rules("b: p(X, Y) :- e(Y, X).")
        kb.add_rules("c: e(X, Y) :- p(Y, X). d: p(X, Z) :- p(X, Y), p(Y, Z).")
        kb.drop_rules("b", "c", "d")
        seen.append(temporary())
    assert seen[-1] == seen[1]
