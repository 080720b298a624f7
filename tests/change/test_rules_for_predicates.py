"""Rules with variables for predicates: what they mean, what is refused, what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from support.old_files import BEFORE_THE_FEED

from zodiac_sql import DataError, ProgramError, QueryError
from zodiac_sql.program import expand

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

SUB = "sub: ?P(X, Y) :- subPropertyOf(Q, P), ?Q(X, Y)."


def made(kb: KnowledgeBase) -> set[str]:
    return {name for names in kb.hypernodes()["rules"].to_pylist() for name in names}


def test_rules_come_with_the_facts_that_name_predicates(kb: KnowledgeBase) -> None:
    kb.insert("friend", [("a", "b")])
    assert kb.add_rules(SUB).inserted == {}
    assert made(kb) == set()
    change = kb.insert("subPropertyOf", [("friend", "knows"), ("knows", "met")])
    assert change.inserted == {"subPropertyOf": 2, "knows": 1, "met": 1}
    assert made(kb) == {"sub[knows, friend]", "sub[met, knows]"}
    assert kb.delete("subPropertyOf", [("friend", "knows")]).deleted == {
        "subPropertyOf": 1, "knows": 1, "met": 1,
    }  # fmt: skip
    assert made(kb) == set()


def test_rules_come_and_go_with_predicates(kb: KnowledgeBase) -> None:
    kb.add_rules(SUB)
    kb.insert("subPropertyOf", [("friend", "knows")])
    assert kb.insert("friend", [("a", "b"), ("b", "c")]).inserted["knows"] == 2
    assert kb.delete("friend", [("a", "b")]).deleted["knows"] == 1
    assert made(kb) == {"sub[knows, friend]"}
    assert kb.delete("friend", [("b", "c")]).deleted["knows"] == 1
    assert made(kb) == set()
    kb.insert("friend", [("now a class",)])
    assert made(kb) == set()


def test_users_see_their_rule(kb: KnowledgeBase) -> None:
    kb.insert("friend", [("a", "b")])
    kb.insert("subPropertyOf", [("friend", "knows"), ("friend", "likes")])
    kb.add_rules(SUB)
    (rule,) = kb.rules().to_pylist()
    assert (rule["name"], rule["rule"], rule["sets"]) == ("sub", SUB[5:], ["main"])
    assert rule["hypernode"] == "h1, h2"
    assert repr(kb).endswith(": 1 rules, 4 predicates>")
    assert str(kb.why("knows(a, b)")) == (
        "knows(a, b)\n"
        "│  by sub[knows, friend]: ?P(X, Y) :- subPropertyOf(Q, P), ?Q(X, Y).\n"
        "├─ subPropertyOf(friend, knows)  explicit\n"
        "└─ friend(a, b)  explicit"
    )
    assert "sub[likes, friend]" in str(kb.why_not("likes(b, a)"))
    told = "no rule for it is made of sub: ?P(X, Y) :- subPropertyOf(Q, P), ?Q(X, Y)."
    assert told in str(kb.why_not("friend(b, a)"))
    assert told not in str(kb.why_not("likes(b, a)"))


def test_drop_and_replace(kb: KnowledgeBase) -> None:
    kb.insert("friend", [("a", "b")])
    kb.insert("subPropertyOf", [("friend", "knows")])
    kb.add_rules(SUB)
    (note,) = kb.drop_rules("sub[knows, friend]").notes
    assert note == "there is no rule named sub[knows, friend]: it was made of sub"
    (note,) = kb.add_rules("?A(U, V) :- ?B(U, V), subPropertyOf(B, A).").notes
    assert note.endswith("is there already, as sub")
    change = kb.add_rules("sub: ?P(Y, X) :- subPropertyOf(Q, P), ?Q(X, Y).", replace=True)
    assert (change.inserted, change.deleted) == ({"knows": 1}, {"knows": 1})
    assert kb.drop_rules("?P(Y, X) :- subPropertyOf(Q, P), ?Q(X, Y).").deleted == {"knows": 1}
    assert kb.rules().num_rows == 0


def test_sets(kb: KnowledgeBase) -> None:
    kb.insert("friend", [("a", "b")])
    text = SUB + " subPropertyOf(friend, knows)."
    assert kb.add_rules(text, set="onto").inserted["knows"] == 1
    kb.add_rules(SUB, set="other")
    assert kb.replace_rules(text.replace("knows", "likes"), set="onto").inserted["likes"] == 1
    assert made(kb) == {"onto/sub[likes, friend]", "onto/facts:subPropertyOf"}
    kb.drop_rules(set="onto")
    assert made(kb) == set()
    kb.insert("subPropertyOf", [("friend", "met")])
    assert made(kb) == {"other/sub[met, friend]"}


def test_a_file_keeps_them(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "one.duckdb"
    with open_kb(path) as kb:
        kb.add_rules("@prefix ex: <http://e/> . ?P(X, Y) :- ex:sub(Q, P), ?Q(X, Y).")
        kb.insert("http://e/sub", [("http://e/friend", "http://e/knows")])
        kb.insert("http://e/friend", [("a", "b")])
    with open_kb(path) as kb:
        assert kb.query("<http://e/knows>(X, Y)").fetchall() == [("a", "b")]
        assert "by r1[http://e/knows, http://e/friend]" in str(kb.why("<http://e/knows>(a, b)"))
        with kb.preview() as p:
            p.insert("http://e/sub", [("http://e/knows", "http://e/met")])
        assert p.change.inserted == {"http://e/sub": 1, "http://e/met": 1}
        assert kb.insert("http://e/friend", [("c", "d")]).inserted["http://e/knows"] == 1
        assert kb.delete("http://e/sub", [("http://e/friend", "http://e/knows")]).deleted
        assert not kb.verify().surplus


def test_triple_and_type(kb: KnowledgeBase) -> None:
    kb.add_rules("""
        @prefix ex: <http://e/> .
        rdf:type(X, C) :- rdfs:domain(P, C), triple(X, P, _).
        said(X, P, Y)  :- triple(P, rdf:type, ex:Spoken), triple(X, P, Y).
        named(X, L)    :- triple(X, ex:label, L).
        kinds(X, C)    :- ex:Kind(C), triple(X, rdf:type, C).
    """)
    kb.insert("http://www.w3.org/2000/01/rdf-schema#domain", [("http://e/in", "http://e/Part")])
    kb.insert("http://e/Spoken", [("http://e/in",)])
    kb.insert("http://e/Kind", [("http://e/Part",)])
    kb.insert("http://e/in", [("a", "b")])
    kb.insert("http://e/label", [("a", "A")])
    assert kb.query("<http://e/Part>(X)").fetchall() == [("a",)]
    assert kb.query("said(X, P, Y)").fetchall() == [("a", "http://e/in", "b")]
    assert kb.query("named(X, L)").fetchall() == [("a", "A")]
    assert kb.query("kinds(X, C)").fetchall() == [("a", "http://e/Part")]


@pytest.mark.parametrize(
    "text",
    [
        "triple(a, b, c). found(X) :- triple(X, b, _).",
        ".decl triple(s: symbol, p: symbol, o: symbol)\nfound(X) :- triple(X, b, _).",
        "triple(X, Y, Z) :- step(X, Y), step(Y, Z). found(X) :- triple(X, b, _).",
    ],
)
def test_a_predicate_of_that_name(kb: KnowledgeBase, text: str) -> None:
    kb.add_rules(text)
    kb.insert("step", [("a", "b"), ("b", "c")])
    kb.insert("b", [("not", "meant")])
    kb.add_rules("also(X) :- triple(X, P, Y), step(P, Y).")
    if not text.startswith(".decl"):
        assert kb.query("found(X), also(X)").fetchall() == [("a",)]
    with pytest.raises(ProgramError, match="write <triple>"):
        kb.add_rules("?P(X, Y) :- triple(X, P, Y).\n?Q(X, Y) :- step(Q, _), triple(X, Q, Y).")


def test_negation_and_comparison(kb: KnowledgeBase) -> None:
    kb.add_rules("lacks(X, P) :- required(P), node(X), not ?P(X, _), P != never.")
    kb.insert("required", [("name",), ("never",)])
    kb.insert("node", [("a",), ("b",)])
    assert sorted(kb.query("lacks(X, P)").fetchall()) == [("a", "name"), ("b", "name")]
    kb.insert("name", [("a", "Ann")])
    assert kb.query("lacks(X, P)").fetchall() == [("b", "name")]


def test_what_says_it_may_be_derived(kb: KnowledgeBase) -> None:
    kb.add_rules(
        SUB
        + """
        subPropertyOf(X, Y) :- equivalent(X, Y).
        subPropertyOf(Y, X) :- equivalent(X, Y), not oneWay(X).
    """
    )
    kb.insert("equivalent", [("p", "q")])
    kb.insert("p", [("a", "b")])
    kb.insert("q", [("c", "d")])
    assert sorted(kb.query("p(X, Y)").fetchall()) == [("a", "b"), ("c", "d")]
    kb.insert("oneWay", [("p",)])
    assert kb.query("p(X, Y)").fetchall() == [("a", "b")]
    assert len(kb.query("q(X, Y)").fetchall()) == 2


def test_what_is_explicit_is_not_looked_for(open_kb: OpenKb, tmp_path: Path) -> None:
    """Until a rule derives it: then a rule that was made of another one looks for it again."""
    path = tmp_path / "one.duckdb"
    with open_kb(path) as kb:
        kb.add_rules(SUB)
        kb.insert("p", [("a", "b")])
        kb.insert("q", [("c", "d")])
        kb.insert("subPropertyOf", [("p", "r")])
        change = kb.insert("subPropertyOf", [("q", "s")])
        assert len(change.hypernodes.untouched) == 1
        assert kb.hypernodes()["reads"].to_pylist() == [["p"], ["q"]]
        kb.add_rules("more: subPropertyOf(X, Y) :- same(X, Y), not odd(X).")
        kb.insert("same", [("p", "t"), ("q", "t")])
        assert kb.insert("odd", [("p",)]).deleted == {"subPropertyOf": 1, "t": 1}
    with open_kb(path) as kb:
        assert "sub[t, p]" in made(kb)
        assert sorted(kb.query("t(X, Y)").fetchall()) == [("c", "d")]
        assert kb.delete("odd", [("p",)]).inserted == {"subPropertyOf": 1, "t": 1}
        kb.drop_rules("more")
        assert kb.hypernodes()["reads"].to_pylist() == [["p"], ["q"]]
        assert "subPropertyOf(p, r)  explicit" in str(kb.why("r(a, b)"))
        assert not kb.verify().missing


def test_closures_are_found(kb: KnowledgeBase) -> None:
    kb.add_rules("""
        sym: ?P(X, Y) :- symmetric(P), ?P(Y, X).
        tra: ?P(X, Z) :- transitive(P), ?P(X, Y), ?P(Y, Z).
    """)
    for name in ("near", "part"):
        kb.insert(name, [(f"a{n}", f"a{n + 1}") for n in range(9)])
    assert kb.insert("transitive", [("near",), ("part",)]).inserted["part"] == 36
    kb.insert("symmetric", [("near",)])
    modules = [row["modules"] for row in kb.hypernodes().to_pylist()]
    assert modules == [["stc(near)"], ["tc(part)"]]
    assert "by a path over tra[part]: ?P(X, Z) :- transitive(P)" in str(kb.why("part(a2, a5)"))
    assert kb.delete("symmetric", [("near",)]).deleted["near"] == 55
    assert kb.delete("transitive", [("near",)]).deleted["near"] == 36
    checked = kb.verify()
    assert not checked.missing and not checked.surplus


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("?P(X, Y) :- ?P(Y, X).", "<rules>:1:1: nothing says which predicates P stands for"),
        ("a(X) :- k(Q), not ?P(X).", "<rules>:1:19: nothing says which predicates P"),
        ("?P(X, N) :- k(P), AGGREGATE(?P(X, Y)) ON X WITH COUNT(Y) AS N.", "cannot have an AGGR"),
        ("?P(a, b).", "<rules>:1:1: the fact \\?P\\(a, b\\) has a variable for its predicate"),
        (".decl ?P(x: symbol)", "<rules>:1:7: a variable for a predicate is declared"),
        ("a(X) :- triple(X, p, Y).", "<rules>:1:19: p is no IRI"),
        ("?P(X, Y) :- k(P), ?P(X, Z).", "unsafe: Y in the head"),
        ("k(X) :- k(P), ?P(X).", "derives k .as r1.*, which says what variables"),
        ("?P(X) :- n(X, N), BIND(concat(X, N) AS P), k(P).", None),
        ("w(P) :- n(X, _), BIND(concat(X, X) AS P). ?P(X) :- w(P).", "P stands for in r2 is"),
        ("?P(X) :- i(P), k(X).", "P stands for in r1 is not known before"),
        ("?P(X, Y) :- k(P), ?P(Y, X).", "type clash"),
        ("?P(X) :- k(P), n(X, _).", "t is used with 1 column, but it has 2"),
    ],
)  # fmt: skip
def test_what_is_refused(kb: KnowledgeBase, text: str, why: str | None) -> None:
    kb.add_rules(".decl t(s: symbol, o: float)")
    kb.insert("k", [("t",), ("k",)])
    kb.insert("n", [("x", 1)])
    kb.insert("i", [(1,)])
    kb.insert("t", [("a", 1.5)])
    if why is None:
        text = text.replace("k(P)", "m(P)")
        kb.add_rules(text)
        assert kb.insert("m", [("x1",), ("x2",)]).inserted == {"m": 2, "x1": 1}
        return
    before = kb.rules().num_rows
    with pytest.raises(ProgramError, match=why):
        kb.add_rules(text)
    assert kb.rules().num_rows == before


def test_a_rule_that_stands_for_too_many(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expand, "MOST_MADE", 3)
    kb.insert("kind", [(f"p{number}",) for number in range(4)])
    kb.insert("few", [("p1",), ("p2",)])
    with pytest.raises(ProgramError, match="r1 would stand for 4 rules, and 3 are the most"):
        kb.add_rules("?P(X, Y) :- kind(P), ?P(Y, X).")
    kb.add_rules("?P(X, Y) :- few(P), ?P(Y, X).")
    with pytest.raises(ProgramError, match="Let a positive atom of the body name fewer"):
        kb.insert("few", [("p3",), ("p4",)])


def test_facts_that_would_make_a_wrong_rule_are_refused(kb: KnowledgeBase) -> None:
    kb.add_rules(SUB + "\n.decl knows(s: symbol, o: symbol)")
    kb.insert("temperature", [("a", 1.5)])
    kb.insert("knows", [("a", "b")])
    with pytest.raises(ProgramError, match="type clash"):
        kb.insert("subPropertyOf", [("temperature", "knows")])
    with pytest.raises(ProgramError, match="derives subPropertyOf"):
        kb.insert("subPropertyOf", [("knows", "subPropertyOf")])
    assert kb.predicates().num_rows == 3
    with pytest.raises(DataError):
        kb.insert("subPropertyOf", [("a", "b", "c")])


def test_queries_ask_for_one_predicate(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a",)])
    with pytest.raises((ProgramError, QueryError), match="asks for a variable predicate"):
        kb.query("?P(X)")


def test_a_stream(kb: KnowledgeBase) -> None:
    kb.add_rules(SUB)
    updates = [
        {"insert": {"friend": [("a", "b")], "subPropertyOf": [("friend", "knows")]}},
        {"insert": {"friend": [("b", "c")]}, "delete": {"friend": [("a", "b")]}},
        {"delete": {"subPropertyOf": [("friend", "knows")]}},
        {"insert": {"subPropertyOf": [("friend", "knows")]}},
    ]
    found = [(change.inserted.get("knows"), change.deleted.get("knows"))
             for change in kb.stream(updates)]  # fmt: skip
    assert found == [(1, None), (1, 1), (None, 1), (1, None)]


def test_an_old_file_with_a_predicate_of_such_a_name(open_kb: OpenKb, tmp_path: Path) -> None:
    """Once, `?P(X)` was an atom of the predicate "?P", and `triple` was like any other."""
    path = tmp_path / "old.duckdb"
    with open_kb(path) as kb:
        kb.add_rules("a: <?P>(X, Y) :- q(X, Y). b: r(X) :- <triple>(X, <urn:p>, Y), <?P>(X, Y).")
        kb.insert("q", [("a", "b")])
    with duckdb.connect(str(path)) as file:
        file.execute("UPDATE zodiac.rule SET source = replace(source, '<?P>', '?P')")
        file.execute("UPDATE zodiac.rule SET source = replace(source, '<triple>', 'triple')")
        file.execute("ALTER TABLE zodiac.rule DROP COLUMN template")
        file.execute("ALTER TABLE zodiac.rule DROP COLUMN predicates")
        file.execute("DROP TABLE zodiac.template")
        file.execute(BEFORE_THE_FEED)
        file.execute("DELETE FROM zodiac.migration WHERE version >= 9")
    with open_kb(path) as kb:
        assert kb.insert("triple", [("a", "urn:p", "b")]).inserted == {"triple": 1, "r": 1}
        assert kb.insert("q", [("c", "d")]).inserted == {"q": 1, "?P": 1}
        assert kb.rules()["rule"].to_pylist()[0] == "?P(X, Y) :- q(X, Y)."
        assert not kb.verify().surplus
        kb.drop_rules("a", "b")
