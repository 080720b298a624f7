"""Parse tree -> rules, facts, declarations and prefixes, with the place of each in the text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span, shortened
from zodiac_sql.language import literals, symbols
from zodiac_sql.language.binding import DEEPEST
from zodiac_sql.language.places import Places
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.language.ranges import MOST_FACTS, integers, with_numbers
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Column,
    Comparison,
    Constant,
    Declaration,
    Expression,
    Literal,
    Negation,
    Program,
    Rule,
    Term,
    Type,
    Variable,
    atoms_of,
)
from zodiac_sql.language.syntax_errors import WHOLE_CHARACTER
from zodiac_sql.language.templates import TRIPLE, class_atom, is_template, of_triple, with_atoms
from zodiac_sql.language.values import Values
from zodiac_sql.names import VARIES

_TRIPLE = f"\0{TRIPLE}"
"""What `triple(X, P, Y)` is an atom of until it is known what it means."""


def _own(atom: Atom) -> Atom:
    """An atom of the predicate triple, if it could also mean another one."""
    return replace(atom, predicate=TRIPLE) if atom.predicate == _TRIPLE else atom


_FLATTER = "Each operator counts: X + 1 + 1 is two deep. Name a part of it with BIND."


class Reader(Places):
    """Collects the parts of a program from the parse trees of one source, and their problems.

    A clause with a problem is left out of the program; the following ones are still read.

    `own_triple` tells whether there is a predicate named triple, so that it does not stand for all.
    If `plain`, no variable stands for a predicate: `?P(X)` is an atom of the predicate "?P". So it
    was once, and so it is in the text of rules that are in a file as rules without such variables.
    """

    def __init__(
        self,
        source: Source,
        prefixes: Mapping[str, str],
        own_triple: bool = False,
        plain: bool = False,
    ) -> None:
        super().__init__(source)
        self.own_triple, self.plain = own_triple, plain
        self.prefixes = {**WELL_KNOWN_PREFIXES, **prefixes}
        self.declared_prefixes: dict[str, str] = {}
        self.used_prefixes: dict[str, str] = {}
        self.rules: list[Rule] = []
        self.facts: list[Atom] = []
        self.declarations: list[Declaration] = []
        self.anonymous = 0

    def program(self) -> Program:
        """All that was read. Only now it is known whether `triple` is a predicate of the text."""
        declared = {declaration.predicate for declaration in self.declarations}
        self.own_triple = self.own_triple or self.plain or TRIPLE in declared
        rules = (self._with_triples(rule) for rule in self.rules)
        return Program(
            tuple(rule for rule in rules if rule is not None), tuple(self.facts),
            tuple(self.declarations), tuple(self.declared_prefixes.items()),
        )  # fmt: skip

    def read(self, tree: Tree[Token], line: int, column: int) -> None:
        """Read a parsed text; `line` and `column` say how much of the source stands before it."""
        self.line, self.column = line, column
        for clause in tree.children:
            part = cast("Tree[Token]", cast("Tree[Token]", clause).children[0])
            self.used_prefixes, self.anonymous = {}, 0
            self.values = Values()
            {"prefix": self._prefix, "declaration": self._declaration,
             "statement": self._statement}[part.data](part)  # fmt: skip

    def goals(self, tree: Tree[Token]) -> tuple[Literal, ...]:
        self.values = Values()
        body = with_atoms(self._body(tree), _own)
        for atom in atoms_of(body):
            if atom.predicate == VARIES:
                self._problem(
                    f"`{atom}` asks for a variable predicate, which only rules can have",
                    atom.span or atom.terms[0],
                    "Ask for one predicate at a time, or all triples with SQL: FROM triple.",
                )
        return body

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

    def _column(self, tree: Tree[Token]) -> Column:
        name, kind = cast("list[Token]", tree.children)
        found = literals.TYPE_NAMES.get(kind.lower())
        if found is None:
            known = ", ".join(type_.value for type_ in Type)
            self._problem(f"unknown type `{kind}`", kind, f"The types are {known}.")
        return Column(str(name), found)

    def _statement(self, tree: Tree[Token]) -> None:
        label, head_tree, body_tree = cast("list[Any]", tree.children)
        before = len(self.problems)
        ranges = [c for c in head_tree.children if isinstance(c, Tree) and c.data == "range"]
        if body_tree is None and ranges:
            self._facts(label, head_tree, ranges)
            return
        with self.values.named() as values:
            head = self._atom(head_tree)
        if head is None:
            return
        if head.predicate == _TRIPLE:
            head, self.own_triple = _own(head), True
        if body_tree is None:
            for value in values:
                where = value.span or self._span(head_tree)
                self._problem(f"`{value.right}` cannot stand in a fact", where)
            self._fact(label, head, before)
            return
        body = (*self._body(body_tree), *values)
        if len(self.problems) > before:
            return  # half a rule would only cause problems that are not real
        name = str(label).rstrip().removesuffix(":").rstrip() if label else ""
        text = self._text(head_tree, tree)
        prefixes = tuple(sorted(self.used_prefixes.items()))
        self.rules.append(Rule(name, head, body, text, prefixes, self._span(tree)))

    def _with_triples(self, rule: Rule) -> Rule | None:
        """A rule in which `triple` is a predicate, or stands for all; None if it cannot be."""
        if not any(atom.predicate == _TRIPLE for atom in atoms_of(rule.body)):
            return rule
        before = len(self.problems)
        if self.own_triple:
            change = self._refused_triple if is_template(rule) else _own
        else:
            change = self._of_triple
        rule = replace(rule, body=with_atoms(rule.body, change))
        return rule if len(self.problems) == before else None

    def _refused_triple(self, atom: Atom) -> Atom:
        if atom.predicate == _TRIPLE:
            self._problem(
                "there is a predicate triple, so this stands for its facts alone",
                atom.span or atom.terms[0],
                "In a rule with a variable for a predicate, write <triple>(X, P, Y) for that.",
            )
        return atom

    def _of_triple(self, atom: Atom) -> Atom:
        return self._meant(of_triple(atom), atom) if atom.predicate == _TRIPLE else atom

    def _meant(self, found: Atom | Problem, atom: Atom) -> Atom:
        """An atom, unless it was a problem."""
        if isinstance(found, Problem):
            self.problems.append(found)
            return atom
        return found

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

    # Bodies

    def _body(self, tree: Tree[Token]) -> tuple[Literal, ...]:
        children = [child for child in tree.children if isinstance(child, Tree)]
        with self.values.named() as values:
            literals = [self._literal(child) for child in children]
        return (*(literal for literal in literals if literal is not None), *values)

    def _literal(self, tree: Tree[Token]) -> Literal | None:
        children = cast("list[Any]", tree.children)
        span = self._span(tree)
        match tree.data:
            case "positive":
                return self._atom(children[0])
            case "negation":
                atom = self._atom(children[0])
                return None if atom is None else Negation(atom)
            case "comparison" | "comp":
                left, operator, right = children
                sides = self._expression(left), self._expression(right)
                return Comparison(sides[0], literals.comparison(str(operator)), sides[1], span)
            case "otherwise":
                left, operator, right = children
                sides = self._expression(left), self._expression(right)
                return Comparison(sides[0], literals.opposite(str(operator)), sides[1], span)
            case "bind":
                expression, variable = children
                return Binding(self._expression(expression), self._variable(variable), span)
            case _:
                return self._aggregate(children, span)

    def _aggregate(self, children: list[Any], span: Span) -> Aggregate:
        body, group, function, argument, result = children
        names = group.children if group is not None else []
        with self.values.named() as values:
            variable = self._term(argument)
        if not isinstance(variable, Variable):
            self._problem(
                f"{function}({variable}) is of a constant", self._span(argument),
                "An aggregate is of a variable of its body, or of an expression with some.",
            )  # fmt: skip
            variable = Variable("_:error")
        return Aggregate(
            (*self._body(body), *values), tuple(self._variable(v) for v in names),
            str(function).lower(), variable, self._variable(result), span,
        )  # fmt: skip

    def _atom(self, tree: Tree[Token]) -> Atom | None:
        """An expression that stands where an atom must stand."""
        span = self._span(tree)
        if tree.data == "symbol":
            return Atom(self._predicate(cast("Token", tree.children[0])), (), span)
        if tree.data == "variable":
            token = cast("Token", tree.children[0])
            if self._varies(token):
                return Atom(VARIES, (self._variable(token),), span)
            return Atom(str(token), (), span)
        if tree.data != "call":
            self._problem(
                "an atom is needed here", span, "An atom is p(X, Y), or p() without columns."
            )
            return None
        name, *arguments = cast("list[Any]", tree.children)
        terms = tuple(self._term(argument) for argument in arguments if argument is not None)
        if self._varies(name):
            return Atom(VARIES, (self._variable(name), *terms), span)
        if (name.type, str(name), len(terms)) == ("NAME", TRIPLE, 3):
            return Atom(_TRIPLE, terms, span)
        atom = Atom(self._predicate(name), terms, span)
        if atom.predicate == symbols.RDF_TYPE and len(terms) == 2:
            return self._meant(class_atom(*terms, atom), atom)
        return atom

    def _varies(self, token: Token) -> bool:
        """Whether a name in front of parentheses is a variable for a predicate."""
        return token.type == "VARIABLE" and token[0] in "?$" and not self.plain

    def _term(self, tree: Tree[Token]) -> Term:
        expression = self._expression(tree)
        return self.values.name(expression) if isinstance(expression, Call) else expression

    # Expressions

    def _expression(self, tree: Tree[Token], depth: int = 0) -> Expression:
        children = cast("list[Any]", tree.children)
        span, depth = self._span(tree), depth + 1
        if depth > DEEPEST + 1:
            self._problem(f"an expression is more than {DEEPEST} calls deep", span, _FLATTER)
            return Constant(Type.INT, 0, span)
        match tree.data:
            case "variable":
                return self._variable(children[0])
            case "arithmetic":
                left, operator, right = children
                operands = (self._expression(left, depth), self._expression(right, depth))
                return Call(str(operator), operands, span)
            case "sign":
                sign, operand = children
                if operand.data == "number":
                    return self._number(operand.children[0], span, str(sign))
                return self._signed(str(sign), self._expression(operand, depth), span)
            case "range":
                self._problem(
                    "a range stands for several facts, and only in a fact", span,
                    "In a rule, compare: X >= 1, X <= 5.",
                )  # fmt: skip
                return Constant(Type.INT, 0, span)
            case "call":
                given = [child for child in children[1:] if child is not None]
                arguments = tuple(self._expression(child, depth) for child in given)
                return Call(str(children[0]).lower(), arguments, span)
            case _:
                return self._constant(tree, span)

    def _signed(self, sign: str, operand: Expression, span: Span) -> Expression:
        if sign == "+":
            return operand
        if isinstance(operand, Constant) and operand.type.numeric:
            return self._within(operand.type, 0 - cast("float", operand.value), span)
        return Call("-", (Constant(Type.INT, 0, span), operand), span)

    def _variable(self, token: Token) -> Variable:
        if str(token) == "_":
            self.anonymous += 1
            return Variable(f"_:{self.anonymous}", self._token_span(token))
        return Variable(str(token).lstrip("?$"), self._token_span(token))

    def _constant(self, tree: Tree[Token], span: Span) -> Constant:
        token, *more = cast("list[Token]", tree.children)
        match tree.data:
            case "number":
                return self._number(token, span)
            case "boolean":
                return Constant(Type.BOOL, str(token) == "true", span)
            case "text":
                return Constant(Type.SYMBOL, symbols.plain(self._unquoted(token)), span)
            case "tagged":
                text = symbols.literal(self._unquoted(token), language=more[0][1:])
                return Constant(Type.SYMBOL, text, span)
            case "typed":
                return self._typed(self._unquoted(token), self._iri(more[0]), span)
            case _:
                text = str(token) if token.type == "NAME" else symbols.iri(self._iri(token))
                return Constant(Type.SYMBOL, text, span)

    def _number(self, token: Token, span: Span, sign: str = "") -> Constant:
        text = sign + token
        if re.fullmatch(r"\d+", token):
            return self._within(Type.INT, literals.integer(token, sign), span)
        value = literals.float_of(text)
        if math.isinf(value):
            self._problem(f"the number {shortened(text)} is too large for a float", span)
        return Constant(Type.FLOAT, value, span)

    def _within(self, type_: Type, value: float, span: Span) -> Constant:
        """A number; an integer must fit into 64 bits."""
        if type_ is Type.INT and not -(2**63) <= value < 2**63:
            self._problem(f"the integer {shortened(value)} has more than 64 bits", span)
        return Constant(type_, value, span)

    def _typed(self, text: str, datatype: str, span: Span) -> Constant:
        type_ = literals.xsd_type(datatype)
        if type_ is None:
            return Constant(Type.SYMBOL, symbols.literal(text, datatype=datatype), span)
        try:
            value = literals.value_of(type_, text)
        except (ValueError, OverflowError):
            name = datatype.removeprefix(symbols.XSD)
            self._problem(f'"{shortened(text)}" is not an xsd:{name}', span)
            return Constant(type_, 0, span)
        return self._within(type_, value, span)

    def _unquoted(self, token: Token) -> str:
        """The text between the quotes, with its escapes read."""
        text, bad = literals.unquoted(token)
        for escape in bad:
            self._problem(f"there is no character {escape}", token, WHOLE_CHARACTER)
        return text

    # Names and places

    def _predicate(self, token: Token) -> str:
        if token.type == "QUOTED":
            return str(token)[1:-1]
        return str(token) if token.type in ("NAME", "VARIABLE") else self._iri(token)

    def _iri(self, token: Token) -> str:
        if token.type == "IRI":
            return str(token)[1:-1]
        prefix, _, local = str(token).partition(":")
        if prefix not in self.prefixes:
            self._problem(
                f"the prefix `{prefix}:` is not declared",
                token,
                f"Declare it before: @prefix {prefix}: <http://...> .  "
                f"If {prefix} is the name of a rule, put a space after the colon.",
            )
            return str(token)
        self.used_prefixes[prefix] = self.prefixes[prefix]
        return self.prefixes[prefix] + local

    def _text(self, first: Tree[Token], whole: Tree[Token]) -> str:
        """The source of a rule from its head to its period."""
        start, end = self._span(first), self._span(whole)
        offset = self.source.offset
        return self.source.text[
            offset(start.line, start.column) : offset(end.end_line, end.end_column)
        ]
