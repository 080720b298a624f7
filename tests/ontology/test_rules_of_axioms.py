"""Each construct of OWL 2 RL becomes the rules that the W3C's tables say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from generators.ontologies import PREFIXES

import zodiac_sql
from zodiac_sql.ontology.translate import translate
from zodiac_sql.ontology.translation import Translation
from zodiac_sql.ontology.vocabulary import SAME_AS

EX = "http://example.org/"
Translate = Callable[..., Translation]


@pytest.fixture
def translated(tmp_path: Path) -> Translate:
    def from_text(text: str, profile: str = "rl", **more: object) -> Translation:
        file = tmp_path / "ontology.ttl"
        file.write_text(PREFIXES + text)
        return translate([file], profile, **more)  # type: ignore[arg-type]

    return from_text


CLASSES = {
    "subclass": (":A rdfs:subClassOf :B .", "cax_sco.A.B: :B(X) :- :A(X)."),
    "equivalent": (
        ":A owl:equivalentClass :B .",
        "cax_eqc1.A.B: :B(X) :- :A(X).  cax_eqc2.B.A: :A(X) :- :B(X).",
    ),
    "intersection below": (
        "[ owl:intersectionOf ( :A :B ) ] rdfs:subClassOf :C .",
        "cls_int1.A.B.C: :C(X) :- :A(X), :B(X).",
    ),
    "intersection above": (
        ":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .",
        "cls_int2.A.B: :B(X) :- :A(X).  cls_int2.A.C: :C(X) :- :A(X).",
    ),
    "a name for an intersection": (
        ":C owl:intersectionOf ( :A :B ) .",
        (
            "cls_int1.A.B.C: :C(X) :- :A(X), :B(X).  cls_int2.C.A: :A(X) :- :C(X).  "
            "cls_int2.C.B: :B(X) :- :C(X)."
        ),
    ),
    "union below": (
        "[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .",
        "cls_uni.A.C: :C(X) :- :A(X).  cls_uni.B.C: :C(X) :- :B(X).",
    ),
    "some": (
        "[ owl:onProperty :p ; owl:someValuesFrom :A ] rdfs:subClassOf :C .",
        "cls_svf1.p.A.C: :C(X) :- :p(X, Y), :A(Y).",
    ),
    "some thing": (
        "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :C .",
        "cls_svf2.p.C: :C(X) :- :p(X, _).",
    ),
    "some of an inverse and a nominal": (
        (
            "[ owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom [ owl:oneOf ( :a ) ] ]"
            " rdfs:subClassOf :C ."
        ),
        "cls_svf1.p.C: :C(X) :- :p(:a, X).",
    ),
    "value": (
        ":A owl:equivalentClass [ owl:onProperty :p ; owl:hasValue :a ] .",
        "cls_hv2.p.A: :A(X) :- :p(X, :a).  cls_hv1.A.p: :p(X, :a) :- :A(X).",
    ),
    "value with a type": (
        ":A rdfs:subClassOf [ owl:onProperty :d ; owl:hasValue 5 ] .",
        "cls_hv1.A.d: :d(X, 5) :- :A(X).",
    ),
    "only, nested": (
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom"
            " [ owl:onProperty :q ; owl:allValuesFrom :B ] ] ."
        ),
        "cls_avf.A.p.q.B: :B(X) :- :A(Y), :p(Y, Z), :q(Z, X).",
    ),
    "complement": (
        ":A rdfs:subClassOf [ owl:complementOf :B ] .",
        'cls_com.A.B: inconsistent(":A rdfs:subClassOf (not :B)", X, X) :- :A(X), :B(X).',
    ),
    "nothing": (
        ":A rdfs:subClassOf owl:Nothing .",
        'cls_nothing2.A: inconsistent(":A rdfs:subClassOf owl:Nothing", X, X) :- :A(X).',
    ),
    "thing": (
        "owl:Thing rdfs:subClassOf :A . :B rdfs:subClassOf owl:Thing .",
        (
            "cax_sco.Thing.A: :A(X) :- owl:Thing(X).  scm_cls.A.Thing: owl:Thing(X) :- :A(X).  "
            "scm_cls.B.Thing: owl:Thing(X) :- :B(X)."
        ),
    ),
    "max 0": (
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 0 ] .",
        'cls_maxc1.A.p: inconsistent(":A rdfs:subClassOf (:p max 0)", X, Y) :- :A(X), :p(X, Y).',
    ),
    "max 0 of a class": (
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 0 ;"
            " owl:onClass :B ] ."
        ),
        (
            'cls_maxqc1.A.p.B: inconsistent(":A rdfs:subClassOf (:p max 0 :B)", X, Y) :- '
            ":A(X), :p(X, Y), :B(Y)."
        ),
    ),
    "max 1 of literals": (
        (
            ":d a owl:DatatypeProperty . :A rdfs:subClassOf"
            " [ owl:onProperty :d ; owl:maxCardinality 1 ] ."
        ),
        (
            'cls_maxc2.A.d: inconsistent(":A rdfs:subClassOf (:d max 1)", X, X) :- '
            ":A(X), :d(X, Y), :d(X, Z), Y != Z."
        ),
    ),
    "disjoint": (
        ":A owl:disjointWith :B .",
        'cax_dw.A.B: inconsistent(":A owl:disjointWith :B", X, X) :- :A(X), :B(X).',
    ),
    "all disjoint": (
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B ) .",
        'cax_adc.A.B: inconsistent("owl:AllDisjointClasses (:A :B)", X, X) :- :A(X), :B(X).',
    ),
    "all three disjoint": (
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .",
        "  ".join(
            f'cax_adc.{one}.{two}: inconsistent("owl:AllDisjointClasses (:A :B :C)", X, X) :- '
            f":{one}(X), :{two}(X)."
            for one, two in ("AB", "AC", "BC")
        ),
    ),
    "some below some": (
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] ."
            "[ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :D ."
        ),
        "cls_svf1.p.B.D: :D(X) :- :p(X, Y), :B(Y).  cax_sco.A.D: :D(X) :- :A(X).",
    ),
    "only of a larger property": (
        (
            ":A owl:equivalentClass [ owl:onProperty :p ; owl:allValuesFrom :B ] ."
            ":C rdfs:subClassOf [ owl:onProperty :q ; owl:allValuesFrom :B ] ."
            ":p rdfs:subPropertyOf :q ."
        ),
        (
            "cls_avf.A.p.B: :B(X) :- :A(Y), :p(Y, X).  cls_avf.C.q.B: :B(X) :- :C(Y), :q(Y, X).  "
            "cax_sco.C.A: :A(X) :- :C(X).  prp_spo1.p.q: :q(X, Y) :- :p(X, Y)."
        ),
    ),
}

PROPERTIES = {
    "domain and range": (
        ":p rdfs:domain :A ; rdfs:range :B .",
        "prp_dom.p.A: :A(X) :- :p(X, _).  prp_rng.p.B: :B(X) :- :p(_, X).",
    ),
    "below": (":p rdfs:subPropertyOf :q .", "prp_spo1.p.q: :q(X, Y) :- :p(X, Y)."),
    "below an inverse": (
        ":p rdfs:subPropertyOf [ owl:inverseOf :q ] .",
        "prp_spo1.p.q: :q(X, Y) :- :p(Y, X).",
    ),
    "equivalent": (
        ":p owl:equivalentProperty :q .",
        "prp_eqp1.p.q: :q(X, Y) :- :p(X, Y).  prp_eqp2.q.p: :p(X, Y) :- :q(X, Y).",
    ),
    "inverse": (
        ":p owl:inverseOf :q .",
        "prp_inv1.p.q: :q(X, Y) :- :p(Y, X).  prp_inv2.q.p: :p(X, Y) :- :q(Y, X).",
    ),
    "chain": (
        ":p owl:propertyChainAxiom ( :q [ owl:inverseOf :r ] :q ) .",
        "prp_spo2.q.r.p: :p(X, Y) :- :q(X, Z), :r(U, Z), :q(U, Y).",
    ),
    "symmetric, transitive": (
        ":p a owl:TransitiveProperty , owl:SymmetricProperty .",
        "prp_symp.p: :p(X, Y) :- :p(Y, X).  prp_trp.p: :p(X, Y) :- :p(X, Z), :p(Z, Y).",
    ),
    "asymmetric, irreflexive": (
        ":p a owl:AsymmetricProperty , owl:IrreflexiveProperty .",
        (
            'prp_asyp.p: inconsistent(":p a owl:AsymmetricProperty", X, Y) :- :p(X, Y), :p(Y, X).  '
            'prp_irp.p: inconsistent(":p a owl:IrreflexiveProperty", X, X) :- :p(X, X).'
        ),
    ),
    "disjoint": (
        ":p owl:propertyDisjointWith :q .",
        'prp_pdw.p.q: inconsistent(":p owl:propertyDisjointWith :q", X, X) :- :p(X, Y), :q(X, Y).',
    ),
    "functional, of literals": (
        ":d a owl:FunctionalProperty , owl:DatatypeProperty .",
        (
            'prp_fp.d: inconsistent(":d a owl:FunctionalProperty", X, X) :- '
            ":d(X, Y), :d(X, Z), Y != Z."
        ),
    ),
    "not": (
        (
            "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ;"
            " owl:assertionProperty :p ; owl:targetIndividual :b ."
        ),
        'prp_npa1.p: inconsistent("not :a :p :b", :a, :b) :- :p(:a, :b).',
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes(translated: Translate, name: str) -> None:
    axioms, rules = CLASSES[name]
    assert sorted(map(str, translated(axioms).rules)) == sorted(rules.split("  "))


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties(translated: Translate, name: str) -> None:
    axioms, rules = PROPERTIES[name]
    assert sorted(map(str, translated(axioms).rules)) == sorted(rules.split("  "))


EQUALITY = """
eq_sym.sameAs: owl:sameAs(X, Y) :- owl:sameAs(Y, X).
eq_trans.sameAs: owl:sameAs(X, Y) :- owl:sameAs(X, Z), owl:sameAs(Z, Y), X != Y.
"""
P_REPLACED = """
eq_rep_s.p.sameAs: :p(X, Y) :- :p(Z, Y), owl:sameAs(Z, X).
eq_rep_o.p.sameAs: :p(X, Y) :- :p(X, Z), owl:sameAs(Z, Y).
"""
A_REPLACED = "eq_rep_s.A.sameAs: :A(X) :- :A(Y), owl:sameAs(Y, X).\n"

EQUAL = {
    "functional": (
        ":p a owl:FunctionalProperty , owl:ObjectProperty .",
        "prp_fp.p: owl:sameAs(X, Y) :- :p(Z, X), :p(Z, Y), X != Y." + EQUALITY + P_REPLACED,
    ),
    "inverse functional": (
        ":p a owl:InverseFunctionalProperty .",
        "prp_ifp.p: owl:sameAs(X, Y) :- :p(X, Z), :p(Y, Z), X != Y." + EQUALITY + P_REPLACED,
    ),
    "key": (
        ":A owl:hasKey ( :p :d ) . :d a owl:DatatypeProperty . :p a owl:ObjectProperty .",
        "prp_key.A.p.d: owl:sameAs(X, Y) :- "
        ":A(X), :A(Y), :p(X, Z), :p(Y, Z), :d(X, U), :d(Y, U), X != Y."
        + EQUALITY
        + A_REPLACED
        + "eq_rep_s.d.sameAs: :d(X, Y) :- :d(Z, Y), owl:sameAs(Z, X)."
        + P_REPLACED,
    ),
    "max 1": (
        (
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 1 ;"
            " owl:onClass owl:Thing ] ."
        ),
        "cls_maxqc4.A.p: owl:sameAs(X, Y) :- :A(Z), :p(Z, X), :p(Z, Y), X != Y."
        + EQUALITY
        + A_REPLACED
        + P_REPLACED,
    ),
    "stated, and different": (
        ":a owl:sameAs :b . :b owl:differentFrom :c . :A rdfs:subClassOf owl:Thing .",
        'eq_diff1.differentFrom: inconsistent("owl:differentFrom", X, X) :- '
        "owl:differentFrom(X, X).\n"
        'eq_diff1.differentFrom.sameAs: inconsistent("owl:differentFrom", X, Y) :- '
        "owl:differentFrom(X, Y), owl:sameAs(X, Y)." + EQUALITY + A_REPLACED,
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equality(translated: Translate, name: str) -> None:
    axioms, rules = EQUAL[name]
    expected = [line for line in rules.splitlines() if line]
    assert list(map(str, translated(axioms).rules)) == expected
    assert not any(
        "sameAs" in rule.text for rule in translated(axioms, "rl-without-equality").rules
    )


def test_lists_of_individuals_that_are_the_same(tmp_path: Path) -> None:
    """What stands in two lists under two names stands in both."""
    for one, other in (("( :b )", "( :c )"), ("( :a :b :d :e )", "( :c :f :g :h )")):
        file = tmp_path / "ontology.ttl"
        file.write_text(
            f"{PREFIXES}[ owl:intersectionOf ( [ owl:oneOf {one} ] [ owl:oneOf {other} ] ) ]"
            " rdfs:subClassOf :A . :b owl:sameAs :c ."
        )
        with zodiac_sql.connect() as kb:
            kb.load_ontology(file, set="lists")
            found = {name.rpartition("/")[2] for (name,) in kb.table(f"{EX}A").fetchall()}
            assert found == {"b", "c"}


def test_equality_is_only_for_predicates_with_facts(translated: Translate) -> None:
    text = (
        ":p a owl:FunctionalProperty , owl:ObjectProperty ; rdfs:range :A . :A rdfs:subClassOf :B ."
    )
    given = {"http://example.org/p", "http://example.org/B"}
    rules = [rule.name for rule in translated(text, given=given).rules if "eq_rep" in rule.name]
    assert rules == ["eq_rep_s.B.sameAs", "eq_rep_s.p.sameAs", "eq_rep_o.p.sameAs"]
    assert not translated(":A rdfs:subClassOf :B .").rules[1:]


def test_expressions_get_predicates_only_where_they_save_rules(translated: Translate) -> None:
    few = translated("[ owl:intersectionOf ( [ owl:unionOf ( :A :B ) ] :C ) ] rdfs:subClassOf :D .")
    assert [rule.text for rule in few.rules] == [
        ":D(X) :- :A(X), :C(X).",
        ":D(X) :- :B(X), :C(X).",
    ]
    many = translated(
        "[ owl:unionOf ( :A :B :C ) ] owl:equivalentClass [ owl:intersectionOf ( :D :E :F ) ] ."
    )
    expression = "<urn:zodiac-sql:expression:5de25f3f0389>"
    texts = [rule.text for rule in many.rules]
    assert len(many.rules) == 7 and f":D(X) :- {expression}(X)." in texts
    assert f"{expression}(X) :- :D(X), :E(X), :F(X)." in texts


def test_large_and_deep_expressions_become_few_rules(translated: Translate) -> None:
    unions = " ".join(f"[ owl:unionOf ( :A{n} :B{n} ) ]" for n in range(30))
    wide = translated(f"[ owl:intersectionOf ( {unions} ) ] rdfs:subClassOf :C .")
    assert len(wide.rules) == 61
    for word in ("some", "all"):
        deep = ":A"
        for _ in range(300):
            deep = f"[ owl:onProperty :p ; owl:{word}ValuesFrom {deep} ]"
        axiom = f"{deep} rdfs:subClassOf :B" if word == "some" else f":B rdfs:subClassOf {deep}"
        found = translated(f"{axiom} .")
        assert len(found.rules) == 15 and not found.left_out


def test_an_expression_that_is_part_of_itself(translated: Translate) -> None:
    text = "_:x owl:onProperty :p ; owl:someValuesFrom _:x . _:x rdfs:subClassOf :A ."
    assert len(translated(f"{text} :B rdfs:subClassOf _:x .").rules) == 3


def test_transitive_and_symmetric_properties_are_modules(translated: Translate) -> None:
    text = ":p a owl:TransitiveProperty , owl:SymmetricProperty . :q a owl:TransitiveProperty ."
    for more, closed in (("", {"stc(p)", "tc(q)"}), (":a owl:sameAs :b .", {"stc(p)", SAME})):
        with zodiac_sql.connect() as kb:
            kb.add_rules(translated(text + more).text())
            for name in ("http://example.org/p", "http://example.org/q", SAME_AS):
                kb.insert(name, [("a", "b")])
            modules = {m for row in kb.hypernodes()["modules"].to_pylist() for m in row}
        assert {module.replace("http://example.org/", "") for module in modules} == closed


SAME = f"stc({SAME_AS})"
