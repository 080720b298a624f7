"""Ontologies -> rules and facts.

    files -> triples, with lines (triples.py, graph.py)
          -> which class expressions are below others (wider.py). All that follows about classes and
             properties themselves (schema.py, schema.rules) is found when somebody asks for it
          -> rules for classes (class_graph.py, expressions.py, class_rules.py), for properties
             (property_rules.py) and for what is equal (equality.py); facts (individuals.py)
          -> names, texts and the report (rules.py, writing.py, wording.py, limits.py)

The rules are those of OWL 2 Profiles, section 4.3, with the ontology put in: instead of one rule
for all subclasses there is a rule for each axiom. So nobody pays for rules whose premises are
nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal as OneOf

from zodiac_sql.errors import DataError
from zodiac_sql.garbage import uncollected
from zodiac_sql.language.syntax import Atom, Variable
from zodiac_sql.ontology import equality, individuals
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.class_graph import ClassGraph
from zodiac_sql.ontology.class_rules import ClassRules
from zodiac_sql.ontology.equal_names import equivalences, with_equivalences
from zodiac_sql.ontology.expressions import ClassExpressions
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.property_rules import PropertyRules
from zodiac_sql.ontology.rules import NO_EQUALITY, Collector
from zodiac_sql.ontology.translation import ReportRow, Row, TranslatedRule, Translation
from zodiac_sql.ontology.triples import Document, Triple, is_blank, read
from zodiac_sql.ontology.wider import wider_expressions
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import predicate, writing_with

Profile = OneOf["rl", "rdfs", "rl-without-equality"]

PROFILES: tuple[Profile, ...] = ("rl", "rdfs", "rl-without-equality")


def translate(
    *files: str | Path | Iterable[str | Path],
    profile: Profile = "rl",
    given: Collection[str] | None = None,
) -> Translation:
    """The rules and facts of one or several ontologies; a report tells what became of each axiom.

    Files are given one by one, or in a list. A profile may also stand behind them.

    `profile` "rl" is OWL 2 RL, "rl-without-equality" is the same without owl:sameAs and all that
    leads to it, "rdfs" has subclasses, subproperties, domains and ranges of named things only.
    `given` are the predicates that have facts, where that is known: rules about equality are then
    made for these only. Imports are followed only to the other files. Raises DataError with file
    and line for what cannot be read; ValueError for another profile.
    """
    if len(files) > 1 and isinstance(files[-1], str) and not Path(files[-1]).suffix:
        *files, profile = files  # type: ignore[assignment]
    if profile not in PROFILES:
        raise ValueError(f"rules is one of {', '.join(PROFILES)}; not {profile!r}")
    with uncollected():
        return _translated(one_by_one(files), profile, given)


def one_by_one(files: Iterable[str | Path | Iterable[str | Path]]) -> list[str | Path]:
    """Files of which some stand in lists. Raises DataError for what is no file."""
    found: list[str | Path] = []
    for file in files:
        if isinstance(file, str | Path):
            found.append(file)
        elif isinstance(file, Iterable) and not isinstance(file, bytes):
            found += one_by_one(file)
        else:
            raise DataError(f"{file!r} is no file: give paths, one by one or in a list.")
    return found


def _translated(
    files: Sequence[str | Path], profile: Profile, given: Collection[str] | None
) -> Translation:
    documents = [read(Path(file)) for file in files]
    prefixes = _prefixes(documents)
    triples = tuple({t.key: t for d in reversed(documents) for t in reversed(d.triples)}.values())
    whole = Graph(triples[::-1])
    equal = equivalences(whole)
    graph = whole if profile != "rdfs" else Graph([t for t in whole.triples if _in_rdfs(t)])
    wording = Wording(whole, prefixes)
    arities = {predicate(iri): arity for iri, arity in graph.arities.items()}
    collector = Collector(writing_with(prefixes), wording, arities, equality=profile == "rl")
    individual = graph  # what it says of names as individuals does not depend on equivalences
    graph = with_equivalences(graph, equal) if profile == "rl" else graph
    expressions = ClassExpressions(ClassGraph(graph, wider_expressions(graph)))
    ClassRules(expressions, collector, wording).make()
    PropertyRules(expressions, collector, wording).make()
    facts = individuals.facts_of(whole, collector)
    if profile == "rl":
        equality.make(individual, collector, wording, {*facts, *collector.facts}, given)
    _things(graph, collector)
    if profile == "rl-without-equality":
        for triple in equal:
            collector.leave_out(triple, NO_EQUALITY)
    rules = collector.named()
    if profile == "rdfs":
        rules = tuple(replace(rule, w3c=tuple(_IN_RDFS[w] for w in rule.w3c)) for rule in rules)
        _outside_rdfs(whole.triples, equal, collector)
    if not collector.has_axioms and not facts:
        _require_no_shapes(whole)
    imports = list(_imports(whole, documents))
    return Translation(
        files=tuple(document.path for document in documents),
        profile=profile,
        rules=rules,
        facts=_with(individuals.rows(facts), collector),
        graph=graph,
        report=tuple(_report(whole, collector, rules, imports)),
        prefixes=prefixes,
        imports=tuple(str(triple.object) for triple in imports),
    )


def _prefixes(documents: Sequence[Document]) -> dict[str, str]:
    """The prefixes of all files; of two equal ones, that of the first file."""
    found: dict[str, str] = {}
    for document in documents:
        found = {**dict(document.prefixes), **found}
    return {**v.PREFIXES, **found}


def _with(rows: Mapping[str, tuple[Row, ...]], collector: Collector) -> dict[str, tuple[Row, ...]]:
    """The facts of the files, and those that axioms became."""
    found = {name: dict.fromkeys(facts) for name, facts in rows.items()}
    for name, facts in collector.facts.items():
        found.setdefault(name, {}).update(dict.fromkeys(facts))
    return {name: tuple(facts) for name, facts in sorted(found.items())}


def _things(graph: Graph, collector: Collector) -> None:
    """Rule scm-cls, if a rule asks what is a thing: members of all classes are."""
    if not any(a.predicate == v.THING for r in collector.made_rules for a in r.positive_atoms()):
        return
    x = Variable("x")
    for name in sorted(collector.classes | graph.classes):
        if not graph.is_datatype(name) and name != v.NOTHING:
            collector.rule(("scm-cls",), (), Atom(v.THING, (x,)), (Atom(name, (x,)),))


# --- RDFS -----------------------------------------------------------------------------------------

_IN_RDFS = {"cax-sco": "rdfs9", "prp-dom": "rdfs2", "prp-rng": "rdfs3", "prp-spo1": "rdfs7"}
"""The rules of RDF Semantics that say the same as rules of OWL 2 RL."""


def _in_rdfs(triple: Triple) -> bool:
    """Whether a statement counts in RDFS: it declares, or says something of named things."""
    if triple.predicate == v.TYPE:
        return str(triple.object).removeprefix(v.OWL) in _DECLARING or (
            not str(triple.object).startswith(v.OWL)
        )
    if triple.predicate.startswith(v.RDFS):
        return not is_blank(triple.object) and not is_blank(triple.subject)
    return triple.predicate not in v.SCHEMA_PROPERTIES


_DECLARING = ("Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology")


def _outside_rdfs(
    triples: Sequence[Triple], equal: Collection[Triple], collector: Collector
) -> None:
    for triple in triples:
        if triple in equal:
            collector.leave_out(triple, "not in RDFS")
        if is_blank(triple.subject) or triple.predicate == f"{v.OWL}imports" or _in_rdfs(triple):
            continue
        said_by_type = triple.predicate == v.TYPE and triple.object in v.PROPERTY_TYPES
        if said_by_type or triple.predicate in v.SCHEMA_PROPERTIES:
            collector.leave_out(triple, "not in RDFS")


def _require_no_shapes(graph: Graph) -> None:
    """Raise DataError if a graph without axioms and facts has shapes."""
    for row in individuals.shapes(graph):
        raise DataError(
            f"{row.file} has shapes of SHACL, and no ontology. They say what data must look like: "
            'nothing follows from them. Write a rule for each, as `inconsistent("a reading without '
            'a time", X, X) :- reading(X), not at(X, _).`, or validate the data by another program.'
            " (Rules of SHACL, files .srl, are added by add_rules.) Nothing was changed."
        )


# --- the report -----------------------------------------------------------------------------------


def _report(
    graph: Graph,
    collector: Collector,
    rules: Sequence[TranslatedRule],
    imports: Sequence[Triple],
) -> Iterator[ReportRow]:
    for triple in imports:
        collector.leave_out(triple, "not among the files: imports are followed to given files only")
    yield from collector.report(rules)
    yield from individuals.shapes(graph)


def _imports(graph: Graph, documents: Sequence[Document]) -> Iterator[Triple]:
    """The imports of what is in none of the files."""
    there = {t.subject for t in graph.typed(f"{v.OWL}Ontology")}
    there |= {str(t.object) for t in graph.uses(f"{v.OWL}versionIRI")}
    there |= {document.path.resolve().as_uri() for document in documents}
    for triple in graph.uses(f"{v.OWL}imports"):
        if str(triple.object) not in there:
            yield triple
