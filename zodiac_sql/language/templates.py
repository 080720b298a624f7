"""Rules with variables for predicates, and the rules that are made of them.

    ?P(X, Y) :- subPropertyOf(Q, P), ?Q(X, Y).       written
    knows(X, Y) :- subPropertyOf(friend, knows), friend(X, Y).    made of it

`?P(X, Y)` is an atom of VARIES, whose first term is P, so that such a rule is looked at like any
other. `triple(X, P, Y)` in a body means the same, and `rdf:type(X, C)` means `?C(X)`. The P of
`triple` can be a constant: then one rule is made of the written one, which keeps its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from zodiac_sql.errors import Problem
from zodiac_sql.language import symbols
from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Origin,
    Rule,
    Term,
    Type,
    Variable,
    atoms_of,
)
from zodiac_sql.names import VARIES, expanded, why_not

TRIPLE = "triple"
"""The predicate that stands for all, in bodies, unless somebody has one of that name."""


def is_template(rule: Rule) -> bool:
    """Whether rules are made of a rule: it has variables for predicates, or `triple`."""
    return any(atom.predicate == VARIES for atom in (rule.head, *atoms_of(rule.body)))


def fixed_atoms(rule: Rule) -> Iterator[Atom]:
    """The atoms of a rule whose predicates are no variables."""
    atoms = (rule.head, *atoms_of(rule.body))
    return (fixed for atom in atoms if (fixed := _fixed(atom)))


def atoms_of_variables(rule: Rule) -> Iterator[Atom]:
    """The atoms of a rule whose predicates are variables: these are their first terms."""
    return (atom for atom in (rule.head, *atoms_of(rule.body)) if _variable(atom))


def predicate_variables(rule: Rule) -> tuple[str, ...]:
    """The variables for predicates, in the order in which they first occur as such."""
    atoms = (rule.head, *atoms_of(rule.body))
    return tuple(dict.fromkeys(one.name for atom in atoms if (one := _variable(atom))))


def binding_atoms(rule: Rule) -> tuple[Atom, ...]:
    """The positive atoms that say which predicates a rule's variables stand for."""
    names = set(predicate_variables(rule))
    atoms = (fixed for atom in rule.positive_atoms() if (fixed := _fixed(atom)))
    return tuple(atom for atom in atoms if names & {v.name for v in variables(*atom.terms)})


def template_problems(rule: Rule) -> Iterator[Problem]:
    """What is wrong with a rule because of its variables for predicates."""
    for literal in rule.body:
        if isinstance(literal, Aggregate):
            yield Problem(
                "a rule with a variable for a predicate cannot have an AGGREGATE", literal.span,
                "Let such a rule derive what is to be aggregated, as in linked(P, X, Y) :- "
                "link(P), ?P(X, Y)., and aggregate over that in another rule.",
            )  # fmt: skip
    bound = {v.name for atom in binding_atoms(rule) for v in variables(*atom.terms)}
    reported = set(bound)
    for atom in (rule.head, *atoms_of(rule.body)):
        if (variable := _variable(atom)) and variable.name not in reported:
            reported.add(variable.name)
            yield Problem(
                f"nothing says which predicates {variable} stands for in `{atom}`", atom.span,
                f"Facts must say so, in a positive atom of the same body: kind({variable}), as in "
                "?P(X, Y) :- symmetric(P), ?P(Y, X). (A predicate whose name begins with ? is "
                "written <?P>(X, Y). If you have a predicate triple of your own, declare it: "
                ".decl triple(s: symbol, p: symbol, o: symbol).)",
            )  # fmt: skip


def _fixed(atom: Atom) -> Atom | None:
    """An atom of the predicate that it names, unless that is a variable."""
    if atom.predicate != VARIES:
        return atom
    return None if _variable(atom) else _filled(atom, {})


def _variable(atom: Atom) -> Variable | None:
    """The variable for the predicate of an atom, if it has one."""
    first = atom.terms[0] if atom.predicate == VARIES else None
    return first if isinstance(first, Variable) else None


# --- triple(X, P, Y) ------------------------------------------------------------------------------


def of_triple(atom: Atom) -> Atom | Problem:
    """The atom that `triple(X, P, Y)` means, or why it means none."""
    subject, predicate, object_ = atom.terms
    varying = replace(atom, predicate=VARIES, terms=(predicate, subject, object_))
    if isinstance(predicate, Variable):
        return varying
    name = predicate_name(predicate.value) if predicate.type is Type.SYMBOL else None
    if name is None or ":" not in name:
        return Problem(
            f"{predicate} is no IRI, so no property of triple(X, P, Y)", predicate.span,
            f"Write {predicate}(X, Y) for a predicate of that name. If you have a predicate triple "
            "of your own, declare it: .decl triple(s: symbol, p: symbol, o: symbol).",
        )  # fmt: skip
    if name != symbols.RDF_TYPE:
        return varying
    found = class_atom(subject, object_, atom)
    if isinstance(found, Problem) or found.predicate == VARIES:
        return found
    return replace(atom, predicate=VARIES, terms=(object_, subject))


def class_atom(subject: Term, class_: Term, atom: Atom) -> Atom | Problem:
    """The atom that `rdf:type(X, C)` means, or why it means none: every class is a predicate."""
    if isinstance(class_, Variable):
        if not class_.anonymous:
            return replace(atom, predicate=VARIES, terms=(class_, subject))
    elif class_.type is Type.SYMBOL and (name := predicate_name(class_.value)):
        return replace(atom, predicate=name, terms=(subject,))
    return Problem(
        "the class of rdf:type must be a constant, or a variable for a class", class_.span,
        "Classes are unary predicates: write ub:Person(X) for X rdf:type ub:Person.",
    )  # fmt: skip


def predicate_name(symbol: object) -> str | None:
    """The predicate that a symbol names; None if it names none."""
    return _named(str(symbol))


@lru_cache(maxsize=20_000)
def _named(text: str) -> str | None:
    if text.startswith("<"):
        return text[1:-1]
    return None if text.startswith(("_:", '"')) or why_not(text) else text


def with_atoms(body: tuple[Literal, ...], change: Callable[[Atom], Atom]) -> tuple[Literal, ...]:
    """A body in which each atom is another one."""
    return tuple(_with_atom(literal, change) for literal in body)


def _with_atom(literal: Literal, change: Callable[[Atom], Atom]) -> Literal:
    if isinstance(literal, Atom):
        return change(literal)
    if isinstance(literal, Negation):
        return Negation(change(literal.atom))
    if isinstance(literal, Aggregate):
        return replace(literal, body=with_atoms(literal.body, change))
    return literal


# --- putting predicates in ------------------------------------------------------------------------


def made_of(
    rule: Rule, predicates: tuple[str, ...], is_certain: Callable[[str], bool] = lambda _: False
) -> Rule:
    """The rule that comes of putting predicates in for a rule's variables: symbols, in order.

    Atoms that say which predicates those are stay in it: so it derives what the written rule does,
    even if it is made for too many. Those with nothing but such variables are only assumed, if
    their predicate `is_certain`: the rule is made for facts of it, and goes with them.
    """
    values = dict(zip(predicate_variables(rule), predicates, strict=True))
    constants = {name: Constant(Type.SYMBOL, symbol) for name, symbol in values.items()}
    assumed = assumed_atoms(rule, is_certain)
    body = (literal for literal in rule.body if literal not in assumed)
    return replace(
        rule,
        name=expanded(rule.name, predicates),
        head=_filled(rule.head, constants),
        body=tuple(_with_values(literal, constants) for literal in body),
        origin=Origin(rule.name, predicates),
        assumed=tuple(_filled(atom, constants) for atom in assumed),
    )


def assumed_atoms(rule: Rule, is_certain: Callable[[str], bool]) -> tuple[Atom, ...]:
    """The atoms that a rule made of another one need not look for; some other atom must be left."""
    names = set(predicate_variables(rule))
    atoms = tuple(rule.positive_atoms())
    found = tuple(
        atom
        for atom in atoms
        if atom.predicate != VARIES and is_certain(atom.predicate)
        if all(isinstance(term, Variable) and term.name in names for term in atom.terms)
    )
    return found if len(found) < len(atoms) else ()


def varying_atoms(rule: Rule, predicates: tuple[str, ...]) -> Iterator[Atom]:
    """The positive atoms with a variable for their predicate, with predicates put in."""
    values = zip(predicate_variables(rule), predicates, strict=True)
    constants = {name: Constant(Type.SYMBOL, symbol) for name, symbol in values}
    return (_filled(a, constants) for a in rule.positive_atoms() if a.predicate == VARIES)


def _filled(atom: Atom, constants: Mapping[str, Constant]) -> Atom:
    terms = tuple(_term(term, constants) for term in atom.terms)
    if atom.predicate != VARIES:
        return replace(atom, terms=terms)
    assert isinstance(terms[0], Constant)
    name = predicate_name(terms[0].value)
    assert name is not None
    return replace(atom, predicate=name, terms=terms[1:])


def _with_values(literal: Literal, constants: Mapping[str, Constant]) -> Literal:
    if isinstance(literal, Comparison):
        left, right = (_expression(side, constants) for side in (literal.left, literal.right))
        return replace(literal, left=left, right=right)
    if isinstance(literal, Binding):
        value = _expression(literal.expression, constants)
        if literal.variable.name in constants:
            return Comparison(constants[literal.variable.name], "=", value, literal.span)
        return replace(literal, expression=value)
    return _with_atom(literal, lambda atom: _filled(atom, constants))


def _expression(expression: Expression, constants: Mapping[str, Constant]) -> Expression:
    if isinstance(expression, Call):
        arguments = tuple(_expression(one, constants) for one in expression.arguments)
        return replace(expression, arguments=arguments)
    return _term(expression, constants)


def _term(term: Term, constants: Mapping[str, Constant]) -> Term:
    if isinstance(term, Variable) and term.name in constants:
        return replace(constants[term.name], span=term.span)
    return term
