"""Bodies: literals, and the atoms in them, from parse trees. Heads are atoms, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span
from zodiac_sql.language import literals, symbols
from zodiac_sql.language.alternatives import parts
from zodiac_sql.language.expressions import Expressions
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Literal,
    Negation,
    Variable,
    atoms_of,
)
from zodiac_sql.language.templates import TRIPLE, class_atom, with_atoms
from zodiac_sql.names import VARIES

AMBIGUOUS = f"\0{TRIPLE}"
"""What `triple(X, P, Y)` is an atom of until it is known what it means."""


def as_own_triple(atom: Atom) -> Atom:
    """An atom of the predicate triple, if it could also mean another one."""
    return replace(atom, predicate=TRIPLE) if atom.predicate == AMBIGUOUS else atom


_PARTS_OF_A_VALUE = 5
"""The function of an aggregate, DISTINCT, its argument, the result, and what ELSE says."""


class Bodies(Expressions):
    """Reads what stands in a body."""

    def __init__(
        self,
        source: Source,
        prefixes: Mapping[str, str],
        *,
        plain: bool = False,
        former: bool = False,
    ) -> None:
        super().__init__(source, prefixes, plain=plain, former=former)
        self._over: tuple[tuple[Literal, ...], tuple[Variable, ...]] | None = None
        """What the aggregate that was just read is over: its body, and its groups."""

    def choices(self, tree: Tree[Token]) -> list[tuple[Literal, ...]]:
        """The goals of each alternative of a query."""
        bodies = self._bodies(tree, tree)
        return [self._goals(Tree("body", list(body))) for _, body in bodies]

    def _goals(self, tree: Tree[Token]) -> tuple[Literal, ...]:
        body = with_atoms(self._body(tree), as_own_triple)
        for atom in atoms_of(body):
            if atom.predicate == VARIES:
                self._problem(
                    f"`{atom}` asks for a variable predicate, which only rules can have",
                    atom.span or atom.terms[0],
                    "Ask for one predicate at a time, or all triples with SQL: FROM triple.",
                )
        return body

    def _body(self, tree: Tree[Token]) -> tuple[Literal, ...]:
        children = [child for child in tree.children if isinstance(child, Tree)]
        with self.values.named() as values:
            literals = [self._literal(child) for child in children]
        self._over = None
        return (*(literal for literal in literals if literal is not None), *values)

    def _literal(self, tree: Tree[Token]) -> Literal | None:
        children = cast("list[Any]", tree.children)
        span = self._span(tree)
        if tree.data not in ("aggregate", "computed", "distinct"):
            self._over = None
        match tree.data:
            case "computed":
                called, *result = children
                is_call = called.data == "call" and len(called.children) == 2
                function = (called.children[0], None, called.children[1]) if is_call else ()
                return self._also([*function, *result], span)
            case "distinct":
                return self._also(children, span)
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
        choice, group, *computed = children
        names = group.children if group is not None else []
        variable, values = self._aggregated(computed[0], computed[2])
        first, *others = parts(choice) or [[], []]
        if others:
            self._problem(
                "alternatives cannot stand under AGGREGATE", self._span(choice),
                "Let two rules derive a predicate, and aggregate that.",
            )  # fmt: skip
        read = self._body(Tree("body", list(first)))
        self._over = read, tuple(self._variable(v) for v in names)
        return self._computed(computed, variable, values, span)

    def _also(self, computed: list[Any], span: Span) -> Aggregate | None:
        """Another value of the aggregate that stands before: `SUM(V) AS S`."""
        if self._over is None or len(computed) < _PARTS_OF_A_VALUE:
            self._problem(
                "AS stands only in an AGGREGATE and in BIND", span,
                "Write V = expression; or f(V) AS W right after the WITH of an AGGREGATE.",
            )  # fmt: skip
            return None
        return self._computed(computed, *self._aggregated(computed[0], computed[2]), span)

    def _aggregated(
        self, function: Token, argument: Tree[Token]
    ) -> tuple[Variable, list[Comparison]]:
        """The variable that an aggregate is of, and the comparisons that say what it stands for."""
        with self.values.named() as values:
            variable = self._term(argument)
        if isinstance(variable, Variable):
            return variable, values
        self._problem(
            f"{function}({variable}) is of a constant", self._span(argument),
            "An aggregate is of a variable of its body, or of an expression with some.",
        )  # fmt: skip
        return Variable("_:error"), values

    def _computed(
        self, computed: list[Any], variable: Variable, values: list[Comparison], span: Span
    ) -> Aggregate:
        """One value of the aggregate that is being read."""
        function, distinct, _, result, other = computed
        assert self._over is not None
        body, group = self._over
        otherwise = None if other is None else self._expression(other)
        if otherwise is not None and not (
            isinstance(otherwise, Constant) and otherwise.type.numeric
        ):
            self._problem("what follows ELSE is no number", self._span(other))
            otherwise = None
        return Aggregate(
            (*body, *values), group, str(function).lower(), variable, self._variable(result), span,
            otherwise, distinct is not None,
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
        given = [argument for argument in arguments if argument is not None]
        names, given = self._columns(given)
        terms = tuple(self._term(argument) for argument in given)
        if names and not self._varies(name):
            return Atom(self._predicate(name), terms, span, names)
        if names:
            hint = "Which predicate it is, and so which columns it has, only facts say."
            self._problem(f"columns of {name} cannot be named", span, hint)
        if self._varies(name):
            return Atom(VARIES, (self._variable(name), *terms), span)
        if (name.type, str(name), len(terms)) == ("NAME", TRIPLE, 3):
            return Atom(AMBIGUOUS, terms, span)
        atom = Atom(self._predicate(name), terms, span)
        if atom.predicate == symbols.RDF_TYPE and len(terms) == 2:
            return self._meant(class_atom(*terms, atom), atom)
        return atom

    def _columns(self, given: list[Any]) -> tuple[tuple[str, ...], list[Any]]:
        """The names of columns in front of arguments, and the arguments without them."""
        named = [argument for argument in given if argument.data == "named"]
        if not named or len(named) < len(given):
            return (), given
        names = (str(argument.children[0]) for argument in named)
        bare = (name.rstrip().removesuffix(":").rstrip().strip("`") for name in names)
        return tuple(bare), [argument.children[-1] for argument in named]

    def _meant(self, found: Atom | Problem, atom: Atom) -> Atom:
        """An atom, unless it was a problem."""
        if isinstance(found, Problem):
            self.problems.append(found)
            return atom
        return found
