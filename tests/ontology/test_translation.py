"""What is said of axioms that become no rules, and what the facts of an ontology are."""

from __future__ import annotations

from pathlib import Path

import pytest
from generators.ontologies import PREFIXES

import zodiac_sql
from zodiac_sql.errors import DataError
from zodiac_sql.ontology.translate import translate
from zodiac_sql.ontology.translation import Translation

EX = "http://example.org/"
FIRST = PREFIXES.count("\n")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ontology.ttl"


def translated(file: Path, text: str, profile: str = "rl") -> Translation:
    file.write_text(PREFIXES + text)
    return translate([file], profile)  # type: ignore[arg-type]


def test_files_are_given_one_by_one_or_in_a_list(file: Path) -> None:
    file.write_text(PREFIXES + ":A rdfs:subClassOf :B .")
    other = file.with_name("other.ttl")
    other.write_text(PREFIXES + ":B rdfs:subClassOf :C .")
    for one in (file, str(file)):
        assert zodiac_sql.read_ontology(one) == translate([file])
    both = translate([file, other])
    assert len(both.rules) == 2
    read = zodiac_sql.read_ontology
    assert read(file, other) == read(file, [str(other)]) == read((file, other)) == both
    assert read([file], "rdfs") == read(file, profile="rdfs") == read(file, "rdfs")
    with zodiac_sql.connect() as kb:
        kb.load_ontology([file, other], set="both")
        assert len(kb.rules()) == 2
        kb.load_ontology(file, [other], set="both")
        assert len(kb.rules()) == 2
        for bad in (5, None, [5], b"other.ttl"):
            with pytest.raises(DataError, match="is no file: give paths, one by one or in a list"):
                read(bad)  # type: ignore[arg-type]
            with pytest.raises(DataError, match="is no file"):
                kb.load_ontology(bad, set="both")  # type: ignore[arg-type]


BROKEN = """\
[ owl:intersectionOf () ] rdfs:subClassOf :D .
:X owl:intersectionOf () .
[ owl:intersectionOf _:l ] rdfs:subClassOf :D . _:l rdf:first :A .
:p owl:propertyChainAxiom _:m . _:m rdf:first :q .
:A owl:hasKey _:m .
[] a owl:AllDisjointProperties ; owl:members _:m .
:B rdfs:subClassOf [ owl:complementOf [ owl:intersectionOf () ] ] .
:E owl:intersectionOf _:n . _:n rdf:first :A ; rdf:rest _:n .
"""


def test_lists_without_members_or_without_an_end_make_no_rule(file: Path) -> None:
    """Of those without an end, nobody knows what else must hold."""
    found = translated(file, BROKEN)
    assert [rule.text for rule in found.rules] == [":A(X) :- :E(X)."]
    assert not found.facts
    assert [row.line - FIRST for row in found.left_out if row.line] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_names_that_are_the_same(file: Path) -> None:
    """Classes and properties that are the same are equivalent, and no facts."""
    text = (
        ":A a owl:Class . :A owl:sameAs :B . :C owl:sameAs :B . :B rdfs:subClassOf :D .\n"
        ":p a owl:ObjectProperty . :q owl:sameAs :p . :a owl:sameAs :b . :p owl:sameAs :A .\n"
    )
    found = translated(file, text)
    assert {str(r) for r in found.rules if "eq_rep" in r.name and "sameAs" not in r.name} == {
        "eq_rep_o.A.B: :B(X) :- :A(X).",
        "eq_rep_o.B.A: :A(X) :- :B(X).",
        "eq_rep_o.C.B: :B(X) :- :C(X).",
        "eq_rep_o.B.C: :C(X) :- :B(X).",
        "eq_rep_p.p.q: :q(X, Y) :- :p(X, Y).",
        "eq_rep_p.q.p: :p(X, Y) :- :q(X, Y).",
    }
    assert list(found.facts.values()) == [((f"{EX}a", f"{EX}b"),)]
    rows = {row.axiom: row for row in found.report}
    assert tuple(sorted(rows[":A owl:sameAs :B"].rules)) == ("eq_rep_o.A.B", "eq_rep_o.B.A")
    assert rows[":p owl:sameAs :A"].why == ":A is a class, and cannot be a property as well"
    for profile, why in (
        ("rdfs", "not in RDFS"),
        ("rl-without-equality", "rules for equality are left out"),
    ):
        left = translated(file, text, profile).left_out
        assert [row.axiom for row in left if row.why == why] == [
            ":A owl:sameAs :B", ":C owl:sameAs :B", ":q owl:sameAs :p", ":p owl:sameAs :A",
        ]  # fmt: skip


def test_a_class_beside_an_unqualified_cardinality_says_nothing(file: Path) -> None:
    text = ":x owl:maxCardinality 0 ; owl:onProperty :p ; owl:onClass :c ."
    (rule,) = translated(file, text).rules
    assert rule.text.endswith(" :- :x(X), :p(X, Y).")
    expression = (
        ":A rdfs:subClassOf [ owl:maxCardinality 1 ; owl:onProperty :p ; owl:onClass :c ] ."
    )
    assert translated(file, expression).report[0].axiom == ":A rdfs:subClassOf (:p max 1)"


OUTSIDE = """\
:A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .
:A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .
[ owl:complementOf :B ] rdfs:subClassOf :A .
:A owl:equivalentClass [ owl:intersectionOf ( :B [ owl:onProperty :p ; owl:minCardinality 2 ] ) ] .
:p a owl:ReflexiveProperty .
:A owl:disjointUnionOf ( :B :C ) .
:d rdfs:range xsd:integer .
:p rdfs:domain :q . :q a owl:ObjectProperty .
:A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue [] ] .
:o a owl:Ontology ; owl:imports :other .
:s a <http://www.w3.org/ns/shacl#NodeShape> .
"""


def test_what_is_left_out_is_reported_with_its_line(file: Path) -> None:
    rows = translated(file, OUTSIDE).left_out
    told = {row.line - FIRST if row.line else 0: (row.axiom, row.why) for row in rows}
    assert {line: why for line, (_, why) in told.items()} == {
        0: "shapes are no part of OWL",
        1: "`some` above a class would need a thing that nobody has named",
        2: "`or` above a class would need a choice",
        3: "`not` below a class would need to know what is not a member",
        4: (
            "`min` below a class is not in OWL 2 RL; write `some`; "
            "`min` above a class would need a thing that nobody has named"
        ),
        5: "`ReflexiveProperty` is not in OWL 2 RL",
        6: "`disjointUnionOf` is not in OWL 2 RL",
        7: "literals are no members of classes here; the types of columns say what they are",
        8: ":q is a property, and cannot be a class as well",
        9: "a rule cannot name a blank node",
        10: "not among the files: imports are followed to given files only",
    }
    assert told[4][0] == ":A owl:equivalentClass ((:p min 2) and :B)"


DATA_RANGES = """\
:d rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( _:l _:m ) ] .
:d rdfs:range [ a rdfs:Datatype ; owl:oneOf ( 1 2 ) ] .
:A rdfs:subClassOf [ owl:onProperty :d ; owl:allValuesFrom xsd:integer ] .
[ owl:onProperty :d ; owl:someValuesFrom xsd:integer ] rdfs:subClassOf :A .
:A rdfs:subClassOf [ owl:onProperty :d ; owl:maxQualifiedCardinality 1 ; owl:onDataRange xsd:int ] .
:D a rdfs:Datatype . :e rdfs:range :D . _:l xsd:minInclusive 0 . _:m xsd:maxExclusive 9 .
"""


def test_data_ranges_are_reported_with_their_line(file: Path) -> None:
    translation = translated(file, DATA_RANGES)
    assert translation.rules == ()
    told = {row.line - FIRST if row.line else 0: row.axiom for row in translation.left_out}
    assert told == {
        1: ":d rdfs:range xsd:integer[minInclusive 0, maxExclusive 9]",
        2: ':d rdfs:range {"1"^^xsd:integer, "2"^^xsd:integer}',
        3: ":A rdfs:subClassOf (:d only xsd:integer)",
        4: "(:d some xsd:integer) rdfs:subClassOf :A",
        5: ":A rdfs:subClassOf (:d max 1 xsd:int)",
        6: ":e rdfs:range :D",
    }
    assert all("the types of columns" in row.why for row in translation.left_out)


def test_some_literal_is_any_value(file: Path) -> None:
    text = (
        ":d a owl:DatatypeProperty . "
        "[ owl:onProperty :d ; owl:someValuesFrom rdfs:Literal ] rdfs:subClassOf :A ."
    )
    found = translated(file, text)
    assert [rule.text for rule in found.rules] == [":A(X) :- :d(X, _)."]
    assert not found.left_out


def test_the_report_has_a_row_for_each_axiom(file: Path) -> None:
    text = ":A rdfs:subClassOf :B ;\n owl:equivalentClass :C .\n:p a owl:SymmetricProperty .\n"
    rows = translated(file, text).report
    assert [(row.axiom, row.line - FIRST if row.line else 0, row.rules) for row in rows] == [
        (":A rdfs:subClassOf :B", 1, ("cax_sco.A.B",)),
        (":A owl:equivalentClass :C", 2, ("cax_eqc1.A.C", "cax_eqc2.C.A")),
        (":p a owl:SymmetricProperty", 3, ("prp_symp.p",)),
    ]
    assert {row.file for row in rows} == {str(file)}


def test_rules_know_their_axioms_and_the_rules_of_the_w3c(file: Path) -> None:
    text = (
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] . :B rdfs:subClassOf :C ."
        "[ owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :D ."
    )
    (rule,) = (r for r in translated(file, text).rules if r.text == ":D(X) :- :A(X).")
    assert rule.w3c == ("cax-sco", "scm-svf1")
    assert rule.axioms == (":A rdfs:subClassOf (:p some :B)", "(:p some :C) rdfs:subClassOf :D")


def test_names_are_the_same_whatever_the_order_of_axioms(file: Path) -> None:
    axioms = [":A rdfs:subClassOf :B .\n", ":A owl:disjointWith :C .\n", ":p rdfs:domain :A .\n"]
    other = "<http://other.org/A> rdfs:subClassOf :B .\n"
    forward = {str(rule) for rule in translated(file, "".join([*axioms, other])).rules}
    back = {str(rule) for rule in translated(file, "".join([other, *axioms[::-1]])).rules}
    assert forward == back and len(forward) == 4
    assert sum(name.startswith("cax_sco.A.B.") for name in forward) == 2


def test_statements_about_individuals_are_facts(file: Path) -> None:
    found = translated(
        file,
        ':a a :A ; :p :b ; :d 5 ; :e 5 , "x" ; rdfs:label "Haus"@de ; :f 1 , 2.5 .\n'
        ":b a [ owl:onProperty :q ; owl:hasValue :c ] , [ owl:oneOf ( :b ) ] .\n"
        ':A a owl:Class ; rdfs:label "a" ; :p :a . :p a owl:ObjectProperty .\n'
        "[ owl:oneOf ( :x ) ] rdfs:subClassOf :A . :z a owl:Nothing .\n",
    )
    assert found.facts == {
        f"{EX}A": ((f"{EX}a",), (f"{EX}x",)),
        f"{EX}d": ((f"{EX}a", 5),),
        f"{EX}e": (
            (f"{EX}a", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
            (f"{EX}a", "x"),
        ),
        f"{EX}f": ((f"{EX}a", 1.0), (f"{EX}a", 2.5)),
        f"{EX}p": ((f"{EX}a", f"{EX}b"), (f"{EX}A", f"{EX}a")),
        f"{EX}q": ((f"{EX}b", f"{EX}c"),),
        "inconsistent": ((":z a owl:Nothing", f"{EX}z", f"{EX}z"),),
        "http://www.w3.org/2000/01/rdf-schema#label": ((f"{EX}a", '"Haus"@de'),),
    }


def test_what_follows_for_classes_and_properties_themselves(file: Path) -> None:
    text = (
        ":A rdfs:subClassOf :B . :B owl:equivalentClass :C . :p rdfs:subPropertyOf :q ."
        ":q rdfs:domain :A ; owl:inverseOf :r . :r rdfs:subPropertyOf [ owl:inverseOf :p ] ."
    )
    schema = translated(file, text).schema
    local = {
        name.rpartition("#")[2]: {tuple(n.removeprefix(EX) for n in pair) for pair in pairs}
        for name, pairs in schema.items()
    }
    assert local == {
        "subClassOf": {("A", "B"), ("A", "C"), ("B", "C"), ("C", "B")},
        "equivalentClass": {("B", "C"), ("C", "B")},
        "subPropertyOf": {("p", "q"), ("q", "p")},
        "equivalentProperty": {("p", "q"), ("q", "p")},
        "domain": {(p, c) for p in "pq" for c in "ABC"},
    }


def test_rdfs(file: Path) -> None:
    text = (
        ":A rdfs:subClassOf :B . :p rdfs:domain :A ; rdfs:range :B ; rdfs:subPropertyOf :q .\n"
        ":A owl:equivalentClass :C . :p a owl:SymmetricProperty .\n"
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .\n"
    )
    found = translated(file, text, "rdfs")
    assert {rule.w3c for rule in found.rules} == {("rdfs9",), ("rdfs2",), ("rdfs3",), ("rdfs7",)}
    assert [row.why for row in found.left_out] == ["not in RDFS"] * 3


def test_a_profile_that_does_not_exist(file: Path) -> None:
    with pytest.raises(ValueError, match="rl, rdfs, rl-without-equality; not 'dl'"):
        translated(file, "", "dl")


def test_imports_among_the_files(tmp_path: Path) -> None:
    for name, more in (("one", "owl:imports :two"), ("two", "owl:imports :three")):
        text = f"{PREFIXES} :{name} a owl:Ontology ; {more} . :{name}A rdfs:subClassOf :B ."
        (tmp_path / f"{name}.ttl").write_text(text)
    found = translate([tmp_path / "one.ttl", tmp_path / "two.ttl"])
    assert found.imports == (f"{EX}three",) and len(found.rules) == 2


def test_other_syntaxes(tmp_path: Path) -> None:
    xml = tmp_path / "ontology.owl"
    xml.write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
        ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:ex="http://example.org/">\n'
        '<rdf:Description rdf:about="http://example.org/A">\n'
        '<rdfs:subClassOf rdf:resource="http://example.org/B"/></rdf:Description></rdf:RDF>'
    )
    (row,) = translate([xml]).report
    assert (row.axiom, row.line) == ("ex:A rdfs:subClassOf ex:B", 4)
    lines = tmp_path / "ontology.nt"
    lines.write_text(f"<{EX}A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EX}B> .\n")
    assert [row.line for row in translate([lines]).report] == [1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.ttl", ":A :B", "bad.ttl, line 1, column 1"),
        ("rules.txt", "", "an ontology is a file of RDF"),
        ("none.ttl", None, "none.ttl cannot be read"),
        ("ours.nt", "<urn:zodiac-sql:expression:1> <a:b> <a:c> .", "are ours"),
        (
            "shapes.ttl",
            (
                "@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
                "<a:s> a sh:NodeShape ; sh:targetClass <a:P> ; sh:property [ sh:path <a:n> ] .\n"
                "<a:o> a <http://www.w3.org/2002/07/owl#Ontology> ."
            ),
            "shapes.ttl has shapes of SHACL, and no ontology",
        ),
        (
            "xml.owl",
            (
                '<?xml version="1.0"?>\n<!-- made by hand -->\n'
                '<Ontology xmlns="http://www.w3.org/2002/07/owl#"><SubClassOf><Class IRI="#A"/>'
                '<Class IRI="#B"/></SubClassOf></Ontology>'
            ),
            "xml.owl is OWL/XML, another syntax than RDF/XML",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        translate([tmp_path / name])


def test_rules_whose_premises_cannot_occur_can_be_left_out(file: Path) -> None:
    text = (
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :D rdfs:subClassOf :C ."
        "[ owl:intersectionOf ( :C :D ) ] rdfs:subClassOf :E . :x a :F . :F rdfs:subClassOf :G ."
    )
    found = translated(file, text)
    chosen = found.applicable({f"{EX}A"})
    assert [rule.name for rule in chosen] == ["cax_sco.A.B", "cax_sco.B.C", "cax_sco.F.G"]
    assert found.text(chosen).count(":-") == 3 and len(found.rules) == 5


def test_a_name_is_a_class_or_a_property(file: Path) -> None:
    text = (
        ":P a rdf:Property ; rdfs:subClassOf :Q . :x a :P . :p a owl:ObjectProperty ."
        ":r rdfs:domain :p . :p rdfs:range :A ."
    )
    found = translated(file, text)
    assert {rule.name for rule in found.rules} == {"cax_sco.P.Q", "prp_rng.p.A"}
    assert [row.why for row in found.left_out] == [
        ":p is a property, and cannot be a class as well"
    ]


def test_many_expressions_that_say_the_same(file: Path) -> None:
    """Each is below each other: there are more ways through all of them than there is time."""
    same = "[ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :a ]"
    classes = "".join(
        f":C{n} rdfs:subClassOf {same} . :D{n} owl:equivalentClass "
        f"[ owl:intersectionOf ( :C{n} {same} ) ] .\n"
        for n in range(30)
    )
    assert len(translated(file, classes).rules) < 300
    with zodiac_sql.connect() as kb:
        kb.load_ontology(file, set="many")
        kb.insert(f"{EX}C7", [(f"{EX}x",)])
        assert kb.table(f"{EX}D7").fetchall() == [(f"{EX}x",)]
