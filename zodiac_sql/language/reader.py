"""Parse tree -> rules, facts, declarations and prefixes, with the place of each in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span
from zodiac_sql.language import literals
from zodiac_sql.language.alternatives import has_alternatives
from zodiac_sql.language.best import best_at, out_of_place, places_of
from zodiac_sql.language.bodies import AMBIGUOUS, Bodies, as_own_triple
from zodiac_sql.language.constraints import NEVER, constraint_of
from zodiac_sql.language.ranges import MOST_FACTS, integers, with_numbers
from zodiac_sql.language.syntax import (
    Atom,
    Best,
    Column,
    Declaration,
    Program,
    Rule,
    Type,
    Variable,
    Window,
    atoms_of,
)
from zodiac_sql.language.syntax_errors import included_files
from zodiac_sql.language.templates import TRIPLE, is_template, of_triple, with_atoms
from zodiac_sql.language.values import ClauseValues
from zodiac_sql.language.windows import read_window
from zodiac_sql.names import VARIES


def _name(label: Token | None) -> str:
    """The name that a label gives to a rule."""
    return str(label).rstrip().removesuffix(":").rstrip() if label else ""


class Reader(Bodies):
    """Collects the parts of a program from the parse trees of one source, and their problems.

    A clause with a problem is left out of the program; the following ones are still read.

    `own_triple` tells whether there is a predicate named triple, so that it does not stand for all.
    """

    def __init__(
        self,
        source: Source,
        prefixes: Mapping[str, str],
        *,
        own_triple: bool = False,
        plain: bool = False,
        former: bool = False,
    ) -> None:
        super().__init__(source, prefixes, plain=plain, former=former)
        self.own_triple = own_triple
        self.declared_prefixes: dict[str, str] = {}
        self.rules: list[Rule] = []
        self.facts: list[Atom] = []
        self.declarations: list[Declaration] = []
        self.windows: list[Window] = []
        self.inexact_facts: list[Problem] = []

    def program(self) -> Program:
        """All that was read. Only now it is known whether `triple` is a predicate of the text."""
        declared = {declaration.predicate for declaration in self.declarations}
        self.own_triple = self.own_triple or self.plain or TRIPLE in declared
        rules = (self._with_triples(rule) for rule in self.rules)
        included = included_files(self.source)
        return Program(
            tuple(rule for rule in rules if rule is not None), tuple(self.facts),
            tuple(self.declarations), tuple(self.declared_prefixes.items()), tuple(self.windows),
            tuple(dict.fromkeys((*included, *self.inexact_facts, *self.inexact_moments))),
        )  # fmt: skip

    def read(self, tree: Tree[Token], line: int, column: int) -> None:
        """Read a parsed text; `line` and `column` say how much of the source stands before it."""
        self.line, self.column = line, column
        for clause in tree.children:
            part = cast("Tree[Token]", cast("Tree[Token]", clause).children[0])
            self.used_prefixes, self.anonymous, self.inexact = {}, 0, []
            self.values, facts = ClauseValues(), len(self.facts)
            {"prefix": self._prefix, "declaration": self._declaration,
             "window": self._window, "statement": self._statement,
             "constraint": self._constraint}[part.data](part)  # fmt: skip
            if len(self.facts) > facts:
                self.inexact_facts += self.inexact

    # Clauses

    def _prefix(self, tree: Tree[Token]) -> None:
        prefix, iri = (str(child) for child in tree.children)
        self.prefixes[prefix[:-1]] = self.declared_prefixes[prefix[:-1]] = iri[1:-1]

    def _declaration(self, tree: Tree[Token]) -> None:
        name, *columns = tree.children
        token = cast("Token", cast("Tree[Token]", name).children[0])
        if self._varies(token):
            hint = f"Leave the {token[0]} out. A name that begins with it is written <{token}>."
            self._problem(f"a variable for a predicate is declared, {token}", token, hint)
        predicate = self._predicate(token)
        parsed = tuple(self._column(cast("Tree[Token]", c)) for c in columns if c is not None)
        self.declarations.append(Declaration(predicate, parsed, self._span(tree)))

    def _window(self, tree: Tree[Token]) -> None:
        name, *parts = cast("list[Tree[Token]]", tree.children)
        token = cast("Token", name.children[0])
        if self._varies(token):
            self._problem(f"a variable for a predicate has a window, {token}", token)
            return
        read = read_window(self._predicate(token), [part.children for part in parts])
        if isinstance(read, Window):
            self.windows.append(replace(read, span=self._span(tree)))
        else:
            wrong, message, hint = read
            self._problem(message, token if wrong is None else wrong, hint)

    def _column(self, tree: Tree[Token]) -> Column:
        name, kind = cast("list[Token]", tree.children)
        found = literals.TYPE_NAMES.get(kind.lower())
        if found is None:
            known = ", ".join(type_.value for type_ in Type)
            self._problem(f"unknown type `{kind}`", kind, f"The types are {known}.")
        if self.floats and found is Type.DECIMAL:
            found = Type.FLOAT
            self._edit(kind, found)
        plain = str(name)[1:-1] if name.type == "QUOTED" else str(name)
        if "\0" in plain:
            self._problem("a name has no NUL character", name)
        return Column(plain, found)

    def _statement(self, tree: Tree[Token]) -> None:
        label, head_tree, choice = cast("list[Any]", tree.children)
        if choice is not None and has_alternatives(choice):
            self._parts(tree)
            return
        body_tree = choice and choice.children[0]
        before = len(self.problems)
        ranges = [c for c in head_tree.children if isinstance(c, Tree) and c.data == "range"]
        if body_tree is None and ranges:
            self._facts(label, head_tree, ranges)
            return
        best, atom_tree = self._best(head_tree)
        with self.values.named() as values:
            head = self._atom(atom_tree)
        if head is None:
            return
        if head.predicate == AMBIGUOUS:
            head, self.own_triple = as_own_triple(head), True
        if best and (body_tree is None or head.predicate == VARIES):
            message, hint = out_of_place(head.predicate)
            self._problem(message, self._span(head_tree), hint)
        if body_tree is None:
            for value in values:
                where = value.span or self._span(head_tree)
                self._problem(f"`{value.right}` cannot stand in a fact", where)
            if not values:
                self._fact(label, head, before)
            return
        body = (*self._body(body_tree), *values)
        if len(self.problems) > before:
            return  # half a rule would only cause problems that are not real
        text = self._rule_text(head_tree, tree)
        prefixes = tuple(sorted(self.used_prefixes.items()))
        rule = Rule(_name(label), head, body, text, prefixes, self._span(tree), best=best)
        self.rules.append(rule)

    def _best(self, head: Tree[Token]) -> tuple[Best | None, Tree[Token]]:
        """What MIN or MAX in a head says, and the head without it."""
        places = places_of(head)
        for place in places[1:]:
            self._problem(
                "a head has one MIN or MAX", self._span(cast("Tree[Token]", head.children[place])),
                "Let another predicate have the second value.",
            )  # fmt: skip
        return best_at(head, places)

    def _constraint(self, tree: Tree[Token]) -> None:
        label, never, choice = cast("list[Any]", tree.children)
        before, name = len(self.problems), _name(label)
        found = []
        for number, body in self._bodies(choice, tree):
            start, span = self._token_span(never), self._span(tree)
            text = self._text(start, tree)
            if number:
                text = f"{NEVER} {', '.join(self._slice(self._span(one)) for one in body)}."
            read = self._body(Tree("body", list(body)))
            own = f"{name}.{number}" if name and number else name
            found.append(replace(constraint_of(own, read, text, start, span), part=number))
        self.problems[before:] = dict.fromkeys(self.problems[before:])
        if len(self.problems) == before:
            prefixes = tuple(sorted(self.used_prefixes.items()))
            self.rules += [replace(rule, prefixes=prefixes) for rule in found]

    def _parts(self, tree: Tree[Token]) -> None:
        """Read the rules that one with alternatives stands for."""
        label, head_tree, choice = cast("list[Any]", tree.children)
        start, name = len(self.problems), _name(label)
        best, atom_tree = self._best(head_tree)
        found = []
        for part, chosen in self._bodies(choice, tree):
            with self.values.named() as values:
                head = self._atom(atom_tree)
            if head is None:
                return
            if best and head.predicate == VARIES:
                message, hint = out_of_place(head.predicate)
                self._problem(message, self._span(head_tree), hint)
            body = (*self._body(Tree("body", list(chosen))), *values)
            texts = (self._slice(self._span(one)) for one in (head_tree, *chosen))
            text = f"{next(texts)} :- {', '.join(texts)}."
            head = as_own_triple(head)
            own = f"{name}.{part}" if name and part else name
            span = self._span(tree)
            found.append(Rule(own, head, body, text, span=span, best=best, part=part))
        self.own_triple |= any(rule.head.predicate == TRIPLE for rule in found)
        self.problems[start:] = dict.fromkeys(self.problems[start:])
        prefixes = tuple(sorted(self.used_prefixes.items()))
        if len(self.problems) == start:
            self.rules += [replace(rule, prefixes=prefixes) for rule in found]

    def _with_triples(self, rule: Rule) -> Rule | None:
        """A rule in which `triple` is a predicate, or stands for all; None if it cannot be."""
        if not any(atom.predicate == AMBIGUOUS for atom in atoms_of(rule.body)):
            return rule
        before = len(self.problems)
        if self.own_triple:
            change = self._refused_triple if is_template(rule) else as_own_triple
        else:
            change = self._of_triple
        rule = replace(rule, body=with_atoms(rule.body, change))
        return rule if len(self.problems) == before else None

    def _refused_triple(self, atom: Atom) -> Atom:
        if atom.predicate == AMBIGUOUS:
            self._problem(
                "there is a predicate triple, so this stands for its facts alone",
                atom.span or atom.terms[0],
                "In a rule with a variable for a predicate, write <triple>(X, P, Y) for that.",
            )
        return atom

    def _of_triple(self, atom: Atom) -> Atom:
        return self._meant(of_triple(atom), atom) if atom.predicate == AMBIGUOUS else atom

    def _facts(self, label: Token | None, head: Tree[Token], ranges: list[Tree[Token]]) -> None:
        """The facts that one with ranges stands for: `p(1..3, a)`."""
        before, numbers = len(self.problems), []
        for tree in ranges:
            ends = [self._expression(cast("Tree[Token]", child)) for child in tree.children]
            numbers += [each for each in (integers(ends),) if each is not None]
        if len(numbers) < len(ranges):
            self._problem("a range goes from one integer to another: 1..5", self._span(ranges[0]))
            return
        trees = with_numbers(head, numbers)
        if trees is None:
            hint = f"A text states at most {MOST_FACTS:,} in this way: load a file instead."
            self._problem("this stands for too many facts", self._span(head), hint)
        if len(self.problems) == before:
            for tree in trees or ():
                if atom := self._atom(tree):
                    self._fact(label, atom, before)

    def _fact(self, label: Token | None, head: Atom, before: int) -> None:
        if label:
            self._problem(
                f"the fact {head} has a label",
                label,
                "Facts have no names: leave the label out, and remove the fact with delete.",
            )
        if head.predicate == VARIES:
            self._problem(
                f"the fact {head} has a variable for its predicate",
                head.span or head.terms[0],
                "Write the predicate's name. One that begins with ? is written <?P>(a, b).",
            )
            return
        for term in head.terms:
            if isinstance(term, Variable):
                self._problem(
                    f"the fact {head} has a variable, {term}",
                    term,
                    "Constants begin with a lower-case letter, or stand in double quotes.",
                )
        if len(self.problems) == before:
            self.facts.append(head)

    def _rule_text(self, head: Tree[Token], whole: Tree[Token]) -> str:
        """The source of a rule, without parentheses around its whole head."""
        meta: Any = head.meta  # the container is the same with its parentheses
        line, column = meta.container_end_line, meta.container_end_column
        return self._slice(self._span(head)) + self._text(
            self._place(line, column, line, column), whole
        )

    def _text(self, start: Span, whole: Tree[Token]) -> str:
        """The source of a rule from a place to its period."""
        end = self._span(whole)
        return self._slice(replace(end, line=start.line, column=start.column))

    def _slice(self, span: Span) -> str:
        offset = self.source.offset
        return self.source.text[
            offset(span.line, span.column) : offset(span.end_line, span.end_column)
        ]
