"""Dropping rules by name, as text or by file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.changing_rules import names, on_file, predicates, untouched

from zodiac_sql import MissingFunctionWarning, ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


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
