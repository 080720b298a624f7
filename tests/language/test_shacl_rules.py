"""SHACL 1.2 Rules in their text form: examples of the draft, each construct, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Load = Callable[..., "KnowledgeBase"]

PREFIX = "PREFIX : <http://example/>\n"


@pytest.fixture
def load(open_kb: OpenKb, tmp_path: Path) -> Load:
    """What adds a text of SHACL rules to a set of a new knowledge base."""

    def loaded(text: str, **named: Any) -> KnowledgeBase:
        (tmp_path / "x.srl").write_text(PREFIX + text)
        kb = open_kb(tmp_path / "x.duckdb")
        kb.add_rules(tmp_path / "x.srl", **{"set": "x", **named})
        return kb

    return loaded


def facts(kb: KnowledgeBase, name: str) -> set[tuple[Any, ...]]:
    """The facts of a predicate, without the namespace."""
    short = {f"http://example/{name}", name} & set(kb.predicates()["predicate"].to_pylist())
    rows = kb.table(short.pop()).fetchall()
    return {tuple(v.replace("http://example/", "") if isinstance(v, str) else v for v in row)
            for row in rows}  # fmt: skip


FAMILY = """
DATA { :A :fatherOf :X . :B :motherOf :X . :C :motherOf :A . }
RULE { ?x :childOf ?y } WHERE { ?y :fatherOf ?x }
RULE { ?x :childOf ?y } WHERE { ?y :motherOf ?x }
RULE { ?x :descendedFrom ?y } WHERE { ?x :childOf ?y }
RULE { ?x :descendedFrom ?y } WHERE { ?x :childOf ?z . ?z :childOf ?y }
RULE { ?x :ancestorOf ?y } WHERE { ?y :descendedFrom ?x }
RULE { ?a :ancestorOf ?b } WHERE { ?a :ancestorOf ?c . ?c :ancestorOf ?b }
"""


def test_the_family_of_the_draft(load: Load, tmp_path: Path) -> None:
    kb = load(FAMILY)
    assert facts(kb, "childOf") == {("X", "A"), ("X", "B"), ("A", "C")}
    assert facts(kb, "descendedFrom") == {("X", "A"), ("X", "B"), ("A", "C"), ("X", "C")}
    assert facts(kb, "ancestorOf") == {("A", "X"), ("B", "X"), ("C", "A"), ("C", "X")}
    assert [row["set"] for row in kb.rule_sets().to_pylist()] == ["x"]
    (tmp_path / "one.srl").write_text(PREFIX + "RULE { ?a :childOf ?b } WHERE { ?b :motherOf ?a }")
    assert kb.drop_rules(tmp_path / "one.srl", set="x").deleted["http://example/childOf"] == 2
    kb.drop_rules(set="x")
    assert kb.predicates().num_rows == 0


def test_filters_of_the_draft(load: Load) -> None:
    kb = load("""
        DATA { :x :p 1 ; :q 2 . }
        RULE { ?x :bothPositive true . }
        WHERE { ?x :p ?v1  FILTER ( ?v1 > 0 )  ?x :q ?v2  FILTER ( ?v2 > 0 )  }
        RULE { ?x :oneIsZero true . }
        WHERE { ?x :p ?v1 ;  :q ?v2  FILTER ( ( ?v1 = 0 ) || ( ?v2 = 0 ) )  }
    """)
    assert facts(kb, "bothPositive") == {("x", True)}
    kb.insert("http://example/p", [("http://example/y", 0)])
    kb.insert("http://example/q", [("http://example/y", 1)])
    assert facts(kb, "oneIsZero") == {("y", True)}


def test_the_name_of_the_draft(load: Load) -> None:
    """A name for who has none. (The head of the draft, :name, would depend on its negation.)"""
    text = """
        PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
        DATA { :a a :Person ; :givenName "Ann" ; :familyName "Lee" .
               :b a :Person ; :givenName "Bob" ; :familyName "Moe" ; :name "Bobby" . }
        RULE { ?x :shown ?FN } WHERE {
            ?x rdf:type :Person
            NOT { ?x :name ?someName }
            ?x :givenName ?name1 ; :familyName ?name2 .
            SET(?FN := concat(?name1, " ", ?name2))
        }
    """
    assert facts(load(text), "shown") == {("a", "Ann Lee")}
    with pytest.raises(ProgramError, match="negation or aggregation inside a cycle"):
        load(text.replace(":shown", ":name"), set="y")


def test_strata_by_the_triples_that_match(load: Load) -> None:
    """As in the draft: what has no :status :bad can get another status."""
    text = """
        DATA { :a :part 1 . :b :part 1 ; :broken 1 . :c :part 1 ; :status :old . }
        RULE { ?x :status :bad } WHERE { ?x :broken 1 }
        RULE { ?x :status :good } WHERE { ?x :part 1 
            NOT { ?x :status :bad } NOT { ?x :status :old } }
    """
    kb = load(text)
    assert facts(kb, "status") == {("a", "good"), ("b", "bad"), ("c", "old")}
    change = kb.insert("http://example/broken", [("http://example/a", 1)])
    assert (change.inserted["http://example/status"], change.deleted["http://example/status"]) == (
        1, 1)  # fmt: skip
    assert kb.verify()
    with pytest.raises(ProgramError, match="negation or aggregation inside a cycle"):
        kb.add_rules("p: <http://example/status>(X, Y) :- <http://example/status>(Y, X).")


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("IF { ?x :p ?y } THEN { ?x :r ?y }", {("a", "b"), ("b", "c")}),
        ("RULE { ?x :r ?z } WHERE { ?x :p/:p ?z }", {("a", "c")}),
        ("RULE { ?x :r ?z } WHERE { ?x ^(:p/:p) ?z }", {("c", "a")}),
        ("RULE { ?x :r ?z } WHERE { ?x :p [ :p ?z ] }", {("a", "c")}),
        ("RULE { ?x :r ?z } WHERE { ?x :p _:m . _:m :p ?z }", {("a", "c")}),
        ("RULE { ?x :r :k , :l } WHERE { ?x a :C }", {("a", "k"), ("a", "l")}),
        ("RULE { :k :r :l } WHERE { }", {("k", "l")}),
        ("SYMMETRIC(:p) RULE { ?x :r ?y } WHERE { ?x :p ?y FILTER(?x != :a) }",
         {("b", "a"), ("b", "c"), ("c", "b")}),
        ("INVERSE(:p, :r)", {("b", "a"), ("c", "b")}),
        ("TRANSITIVE(:p) RULE { ?x :r ?y } WHERE { ?x :p ?y }",
         {("a", "b"), ("b", "c"), ("a", "c")}),
        ("RULE { ?x :r ?v } WHERE { ?x :n ?n SET(?v := -(?n * 2) / 4 + 1) }",
         {("a", -0.5), ("b", -1.0)}),
        ("RULE { ?x :r ?n } WHERE { ?x :n ?n FILTER(?n IN (3, 5)) }", {("a", 3)}),
        ("RULE { ?x :r ?n } WHERE { ?x :n ?n FILTER(?n NOT IN (3, 5)) }", {("b", 4)}),
        ("RULE { ?x :r ?n } WHERE { ?x :n ?n FILTER(!(?n < 4 || ?n > 9)) }", {("b", 4)}),
        ("RULE { ?x :r ?t } WHERE { ?x :t ?t FILTER contains(?t, 'hi') }", {("a", "hi you")}),
        ("RULE { ?x :r ?l } WHERE { ?x :t ?t SET(?l := UCASE(substr(?t, 1, 2))) }", {("a", "HI")}),
        ("RULE { ?x :r ?y } WHERE { ?x :p ?y NOT { ?y :p ?z } }", {("b", "c")}),
        ("RULE { ?x :r ?y } WHERE { ?x :p ?y NOT { ?y :p ?z . ?z :p ?w } }",
         {("a", "b"), ("b", "c")}),
        ("RULE { ?x :r ?y } WHERE { ?x :p ?y ; :n ?n NOT { ?y :n ?m FILTER(?m > ?n) } }",
         {("b", "c")}),
        ("RULE { ?x :r ?z } WHERE { ?x :p ?y NOT { ?y :n ?z FILTER(?z = 3) } ?y :p ?z }",
         {("a", "c")}),
        ("RULE { ?x ?p ?z } WHERE { :k :says ?p . ?x :p ?z } DATA { :k :says :r }",
         {("a", "b"), ("b", "c")}),
    ],
)  # fmt: skip
def test_constructs(load: Load, rule: str, found: set[tuple[Any, ...]]) -> None:
    data = 'DATA { :a a :C ; :p :b ; :n 3 ; :t "hi you" . :b :p :c ; :n 4 . }\n'
    kb = load(data + rule)
    assert facts(kb, "r") == found
    kb.close()
    assert facts(load("", set="other"), "r") == found


def test_a_variable_inside_not_stands_for_itself(load: Load) -> None:
    """What follows NOT binds the variable anew: here, no ?z at all may be there."""
    kb = load("""
        DATA { :a :p :b ; :q :z . :b :s :w }
        RULE { ?x :r ?z } WHERE { ?x :p ?y NOT { ?y :s ?z } ?x :q ?z }
    """)
    assert facts(kb, "r") == set()


def test_what_is_derived_for_not_is_no_triple(load: Load) -> None:
    kb = load(
        FAMILY + "RULE { ?x a :Root } WHERE { ?y :childOf ?x NOT { ?x :childOf ?z . ?z a :C } }"
    )
    assert facts(kb, "Root") == {("A",), ("B",), ("C",)}
    assert kb.sql("SELECT * FROM triple WHERE p || o LIKE '%expression%'").num_rows == 0
    properties = kb.sql("SELECT DISTINCT p FROM triple ORDER BY p").fetchall()
    names = ["ancestorOf", "childOf", "descendedFrom", "fatherOf", "motherOf"]
    assert [p for (p,) in properties[:-1]] == [f"http://example/{name}" for name in names]
    found = kb.sparql("SELECT DISTINCT ?p { <http://example/A> ?p <http://example/X> }").fetchall()
    assert {p.removeprefix("http://example/") for (p,) in found} == {"fatherOf", "ancestorOf"}


def test_a_new_version_is_a_difference(load: Load, tmp_path: Path) -> None:
    kb = load(FAMILY)
    added = [row["added_at"] for row in kb.rules().to_pylist()]
    (tmp_path / "x.srl").write_text(PREFIX + FAMILY.replace(":B :motherOf :X .", ""))
    change = kb.replace_rules(tmp_path / "x.srl", set="x")
    assert change.deleted["http://example/childOf"] == 1
    assert change.hypernodes.created == () and change.hypernodes.dropped == ()
    assert [row["added_at"] for row in kb.rules().to_pylist()] == added
    assert "by x/r1: :childOf(?x, ?y) :- :fatherOf(?y, ?x)." in str(
        kb.why("<http://example/childOf>(<http://example/X>, <http://example/A>)")
    )


def test_terms_of_data(load: Load) -> None:
    kb = load("""
        BASE <http://example/>
        DATA { <e> :lang "Haus"@DE , 'o"k' , \"\"\"two
lines\"\"\" ; :day "2026-01-31"^^<http://www.w3.org/2001/XMLSchema#date> ; :big 1e3 ; :neg -2 .
               [ :blank _:n ] . _:n :of :e . <urn:zodiac:plain> <urn:zodiac:near> :e }
    """)
    assert facts(kb, "lang") == {("e", '"Haus"@de'), ("e", 'o"k'), ("e", "two\nlines")}
    assert facts(kb, "big") == {("e", 1000.0)}
    assert facts(kb, "neg") == {("e", -2)}
    ((one, other),) = facts(kb, "blank")
    assert one.startswith("_:") and facts(kb, "of") == {(other, "e")} and one != other
    assert facts(kb, "near") == {("plain", "e")}


def test_escapes_are_those_of_rdf(load: Load) -> None:
    kb = load(r"""DATA { :x :p "\b\f\t\n\r\"\'\\\u00e4" }""")
    assert facts(kb, "p") == {("x", "\b\f\t\n\r\"'\\\u00e4")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("RULE { ?x :p _:b } WHERE { ?x :q ?y }", r"2:14: a blank node in a head"),
        ("RULE { ?x :p ?z } WHERE { ?x :q ?y }", r"2:14: \?z in the head has no value"),
        ("RULE { ?x :p ?x } WHERE { FILTER(?x > 1) ?x :q ?y }", r"2:34: \?x has no value yet"),
        ("RULE { ?x :p ?y } WHERE { ?x :q ?y SET(?y := 1) }", r"2:40: \?y has a value already"),
        ("RULE { ?x :p ?y } WHERE { ?x :q ?y FILTER(regex(?y, 'a')) }", "function regex is not"),
        ("RULE { ?x :p ?v } WHERE { ?x :q ?y SET(?v := (?y > 1)) }", "true or false cannot be"),
        ("RULE { ?x :p (1 2) } WHERE { ?x :q ?y }", r"2:14: syntax error(.|\n)*Lists"),
        ("RULE { ?x :p ?y } WHERE { ?x :q* ?y }", r"2:32: syntax error(.|\n)*A path has"),
        ("RULE { ?x :p ?y } WHERE { <<?x :q ?y>> :r ?z }", r"2:27: syntax error(.|\n)*reification"),
        ("RULE { :x :q ?o } WHERE DATA { :s :p ?o }", r"2:25: WHERE DATA is not supported"),
        ("RULE { :x :q ?o } WHERE { :s :p ?o NOT DATA { :s :r ?o } }",
         r"2:40: NOT DATA is not supported(.|\n)* \^\^\^\^\n(.|\n)*Leave DATA out"),
        ("RULE :r1 { :x :q ?o } WHERE { :s :p ?o }", r"2:6: a name of a rule, :r1, is not supp"),
        ("RULE <http://r> { :x :q ?o } WHERE { :s :p ?o }", "a name of a rule, <http://r>, is not"),
        ('DATA { :s :p "a"@en--ltr }', r"2:20: a base direction, --ltr, is not supported"),
        ('DATA { <a b> :p "a" }', r"2:8: <a b> is no IRI\n(.|\n)*An IRI has no spaces"),
        ('DATA { :s :p "a"^^<a{b> }', r"2:19: <a\{b> is no IRI"),
        ("DATA { << :s :p :o >> :q :z }", r"2:8: syntax error(.|\n)*Triple terms"),
        ("RULE { ?x :p/:q ?y } WHERE { ?x :q ?y }", r"2:11: a path in the head"),
        ("RULE { ?x no:p ?y } WHERE { ?x :q ?y }", r"2:11: the prefix `no:` is not declared"),
        ("RULE { ?x :p 1 } WHERE { ?x :q 1 FILTER NOT EXISTS { ?x :r 1 } }", "EXISTS is of SPARQL"),
        ("RULE { ?x :p 1 } WHERE { ?x :q ?y OPTIONAL { ?x :r ?y } }", "OPTIONAL is of SPARQL"),
        ("IMPORTS <http://other/>", r"2:1: IMPORTS is not followed"),
        ("DATA { ?x :p :y }", r"2:8: a variable in DATA"),
        ("DATA { :x a 5 }", r"2:13: a class is an IRI"),
        (r"DATA { :x :p '^\d' }", r'2:16: \\d is no escape(.|\n)*twice: .\^\\\\d'),
        (r'DATA { :x :p """\n' + '\n' + r'"\d""" }', r"3:2: \\d is no escape"),
        ("RULE { ?x ?p ?y } WHERE { ?x ?p ?y }", "nothing says which predicates p stands for"),
        ("RULE { ?x :p ?y } WHERE { ?x :q ?y", r"the text ends"),
        ("RULE { ?x :p 1 } WHERE { ?x :q ?y NOT { ?x :p ?z } }", "inside a cycle"),
        ("RULE { ?x :p ?y } WHERE { ?x :q ?y FILTER("
         + " && ".join(f"(?y = {n} || ?y = -{n})" for n in range(9)) + ") }", "too many altern"),
    ],
)  # fmt: skip
def test_what_is_refused(load: Load, text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        load(text)
