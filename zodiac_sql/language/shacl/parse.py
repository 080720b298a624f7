"""A text of SHACL 1.2 Rules -> rules and facts of our language.

A rule with several triples in its head becomes several rules, and one with `||` a rule for each
alternative. What stands in NOT, if it is more than one triple, is derived by a rule of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from lark import Token, Tree, UnexpectedInput

from zodiac_sql.errors import Problem, Source
from zodiac_sql.language.made_parsers import parser
from zodiac_sql.language.parse import parse_what_can_be as parse_rules
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES, prefixed
from zodiac_sql.language.shacl.expressions import alternatives, joined, value
from zodiac_sql.language.shacl.patterns import ShaclTriples
from zodiac_sql.language.shacl.terms import Node, Terms, variables_in
from zodiac_sql.language.shacl.unsupported import named
from zodiac_sql.language.syntax import Atom, Constant, Program, Rule, Term
from zodiac_sql.language.syntax_errors import half_a_character, syntax_problem
from zodiac_sql.language.urns import predicate_name
from zodiac_sql.names import EXPRESSION


def parse_shacl_rules(
    text: str, name: str, prefixes: Mapping[str, str]
) -> tuple[Program, list[Problem]]:
    """The rules and facts that a text can be read as, and the problems of the rest.

    `name` is how problems call the text; `prefixes` are known beforehand.
    """
    source = Source(name, text)
    if half := half_a_character(source):
        return Program(), [half]
    try:
        tree = parser("zodiac_sql.language.shacl", "start", placeholders=False).parse(text)
    except UnexpectedInput as error:
        return Program(), [named(syntax_problem(error, source, 0, 0), source)]
    reading = _Reading(source, prefixes)
    for part in tree.children:
        if isinstance(part, Tree):
            reading.read(part)
    declared = tuple(reading.declared.items())
    program = Program(tuple(reading.rules), tuple(reading.facts), prefixes=declared)
    return program, reading.terms.problems


class _Reading:
    """Reads the parts of a text, one after the other."""

    def __init__(self, source: Source, prefixes: Mapping[str, str]) -> None:
        self.terms = Terms(source, {**WELL_KNOWN_PREFIXES, **prefixes})
        self.declared: dict[str, str] = {}
        self.rules: list[Rule] = []
        self.facts: list[Atom] = []
        self._blanks = 0
        self._digest = hashlib.sha256(source.text.encode()).hexdigest()[:12]

    def read(self, part: Node) -> None:
        """Read a rule, a block of data, or what is declared."""
        before = len(self.terms.problems)
        match part.data:
            case "prefix":
                self._prefix(part)
            case "base":
                self.terms.base = str(part.children[0])[1:-1]
            case "imports":
                self.terms.problem(
                    "IMPORTS is not followed", part,
                    "Add that file to the rule set by itself, and leave the line out.",
                )  # fmt: skip
            case "data":
                self._data(part)
            case "rule" | "turned":
                head, body = (child for child in part.children if isinstance(child, Tree))
                if part.data == "turned":
                    head, body = body, head
                self._rule(head, _Body(self, part, body), before)
            case _:
                self._declaration(part)

    def _prefix(self, part: Node) -> None:
        prefix, iri = part.children
        name = str(prefix)[:-1]
        self.terms.prefixes[name] = self.declared[name] = self.terms.iri_of(_token(iri))

    def _declaration(self, part: Node) -> None:
        """TRANSITIVE, SYMMETRIC and INVERSE stand for rules."""
        names = [predicate_name(self.terms.iri(c)) for c in part.children if isinstance(c, Tree)]
        first, last = names[0], names[-1]
        if part.data == "transitive":
            self.add(f"<{first}>(?x, ?z)", [f"<{first}>(?x, ?y)", f"<{first}>(?y, ?z)"], part)
            return
        self.add(f"<{last}>(?y, ?x)", [f"<{first}>(?x, ?y)"], part)
        if part.data == "inverse":
            self.add(f"<{first}>(?y, ?x)", [f"<{last}>(?x, ?y)"], part)

    def _data(self, part: Node) -> None:
        def blank(label: str) -> str:
            self._blanks += 1
            return f"<_:{self._digest}_{label[2:] or self._blanks}>"

        for triples in part.children:
            assert isinstance(triples, Tree)
            for fact in ShaclTriples(self.terms, "data", blank).read(triples):
                self._fact(fact, part)

    def _fact(self, text: str, part: Node) -> None:
        program, problems = parse_rules(f"{text}.", self._called(part))
        self.terms.problems += [*problems, *program.objections]
        self.facts += (
            replace(fact, terms=tuple(map(_node, fact.terms)), span=None) for fact in program.facts
        )

    def _rule(self, head: Node, body: _Body, before: int) -> None:
        heads = [
            atom
            for triples in head.children
            if isinstance(triples, Tree)
            for atom in ShaclTriples(self.terms, "head", lambda _: "_").read(triples)
        ]
        for name, token in variables_in(head).items():
            if name not in body.bound:
                self.terms.problem(
                    f"?{name} in the head has no value", token,
                    "It must stand in a triple of the body, or be set.",
                )  # fmt: skip
        if len(self.terms.problems) > before:
            return
        for atom in heads:
            for literals in body.alternatives:
                self.add(atom, literals, body.part)
        for atom, literals in body.beside:
            self.add(atom, literals, body.part)

    def add(self, head: str, body: list[str], part: Node) -> None:
        """Add a rule, or without a body a fact."""
        if not body:
            self._fact(head, part)
            return
        text = prefixed(f"{head} :- {', '.join(body)}.", self.terms.prefixes)
        program, problems = parse_rules(text, self._called(part), self.terms.prefixes)
        self.terms.problems += [*problems, *program.objections]
        self.rules += (replace(rule, span=self.terms.span(part)) for rule in program.rules)

    def _called(self, part: Node) -> str:
        """What problems call the text that a part of the source is translated to."""
        return f"{self.terms.span(part)}, read as"


def _token(part: object) -> Token:
    assert isinstance(part, Token)
    return part


def _node(term: Term) -> Term:
    """A term of a fact; a blank node was written like an IRI."""
    if isinstance(term, Constant) and str(term.value).startswith("<_:"):
        return replace(term, value=str(term.value)[1:-1])
    return term


class _Body:
    """The body of a rule: alternatives of literals, and the rules for what stands in NOT.

    Parts are read in their order, which tells what is bound: inside of NOT, a variable that is
    not bound yet stands for any value, also if something after it has the same variable.
    """

    def __init__(self, reading: _Reading, part: Node, body: Node) -> None:
        self._reading, self._terms, self.part = reading, reading.terms, part
        self.names = set(variables_in(part))
        self.bound: set[str] = set()
        self.alternatives: list[list[str]] = [[]]
        self.beside: list[tuple[str, list[str]]] = []
        self._positive: list[str] = []
        for one in body.children:
            if isinstance(one, Tree):
                self._read(one)

    def _read(self, one: Node) -> None:
        match one.data:
            case "triples":
                atoms = ShaclTriples(self._terms, "body", self._new).read(one)
                self.bound |= variables_in(one).keys()
                self._positive += atoms
                self._and([atoms], one)
            case "filter":
                self._require_bound(one)
                (test,) = one.children
                assert isinstance(test, Tree)
                self._and(alternatives(test, self._terms, {}), one)
            case "negation":
                self._and([[self._negation(one)]], one)
            case _:
                self._assign(one)

    def _and(self, more: list[list[str]], where: Node) -> None:
        self.alternatives = joined([self.alternatives, more], where, self._terms)

    def _new(self, label: str) -> str:
        """A name that no other variable has."""
        stem, number = label[2:] or "v", 1
        while f"{stem}{number}" in self.names:
            number += 1
        self.names.add(f"{stem}{number}")
        return f"{stem}{number}"

    def _require_bound(self, where: Node, more: frozenset[str] = frozenset()) -> None:
        for name, token in variables_in(where).items():
            if name not in self.bound | more:
                self._terms.problem(
                    f"?{name} has no value yet", token,
                    "It must stand in a triple before this, or be set before.",
                )  # fmt: skip

    def _assign(self, one: Node) -> None:
        variable = next(c for c in one.children if isinstance(c, Token))
        (expression,) = (c for c in one.children if isinstance(c, Tree))
        self._require_bound(expression)
        if variable[1:] in self.bound:
            hint = "Give it another name, or compare in a FILTER."
            self._terms.problem(f"{variable} has a value already", variable, hint)
        literal = f"BIND({value(expression, self._terms, {})} AS ?{variable[1:]})"
        self.bound.add(variable[1:])
        self._positive.append(literal)
        self._and([[literal]], one)

    def _negation(self, one: Node) -> str:
        """A negated atom: that of the one triple inside, or of a rule for all that is inside."""
        triples = [c for c in one.children if isinstance(c, Tree) and c.data == "triples"]
        tests = [c for c in one.children if isinstance(c, Tree) and c.data == "filter"]
        inside = {name for tree in triples for name in variables_in(tree)}
        renamed = {name: self._new(f"_:{name}") for name in sorted(inside - self.bound)}
        patterns = ShaclTriples(self._terms, "body", self._new, renamed)
        for tree in triples:
            patterns.read(tree)
        atoms = patterns.atoms
        for test in tests:
            self._require_bound(test, frozenset(inside))
        if len(atoms) == 1 and not tests:
            return f"not {atoms[0]}"
        found: list[list[str]] = [list(atoms)]
        for test in tests:
            (expression,) = test.children
            assert isinstance(expression, Tree)
            parts = [found, alternatives(expression, self._terms, renamed)]
            found = joined(parts, test, self._terms)
        return f"not {self._rule_for(found, inside, variables_in(one).keys() & self.bound)}"

    def _rule_for(self, found: list[list[str]], inside: set[str], shared: set[str]) -> str:
        """The atom that holds where one of some alternatives does: a rule derives it.

        If a test needs a value from outside, the rule has also what gives it.
        """
        outside = [] if shared <= inside else self._positive
        terms = ", ".join(f"?{name}" for name in sorted(shared))
        bodies = [[*outside, *literals] for literals in found]
        told = f"{terms} {bodies}".encode()
        atom = f"<{EXPRESSION}{hashlib.sha256(told).hexdigest()[:16]}>({terms})"
        self.beside += ((atom, literals) for literals in bodies)
        return atom
