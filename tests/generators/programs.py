"""Datalog programs for hypothesis: what they are made of, and their text.

A program here is data of our own, not zodiac_sql's: the oracle must not share the library's idea
of a rule. `random_programs` makes them, `program_changes` changes them, and `drawn_programs` is
what hypothesis draws. Three properties hold by construction:

* type-consistent: each column has a Kind, each variable the kind of the column that bound it;
* stratified: a predicate has a level, and negation and aggregates look only at lower levels, so
  that every subset of a program's rules is a program too (which `random_changes` relies on);
* finite: arithmetic reads only INT columns and writes only BIG ones, which arithmetic never reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from itertools import count
from random import Random
from typing import Any, TypeVar

# ---------------------------------------------------------------------------------------- objects


class Kind(StrEnum):
    """What a column holds. BIG is an integer too, but one that arithmetic must not read again."""

    SYMBOL = "symbol"
    INT = "int"
    BIG = "big"

    @property
    def numeric(self) -> bool:
        return self is not Kind.SYMBOL


@dataclass(frozen=True)
class Predicate:
    name: str
    kinds: tuple[Kind, ...]
    level: int
    aggregate: bool = False


@dataclass(frozen=True)
class Var:
    """A variable; `_` is anonymous: no two occurrences of it are the same variable."""

    name: str

    @property
    def anonymous(self) -> bool:
        return self.name == "_"


Value = int | str
Row = tuple[Value, ...]
Term = Var | int | str


@dataclass(frozen=True)
class Arithmetic:
    left: Expression
    operator: str
    right: Expression


Expression = Var | int | str | Arithmetic


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Not:
    atom: Atom


@dataclass(frozen=True)
class Compare:
    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True)
class Bind:
    expression: Expression
    variable: Var


@dataclass(frozen=True)
class Aggregate:
    """Over the solutions of the body, which every column of its atoms tells apart.

    If it is `distinct`, each value of the argument counts once in a group. Groups without solutions
    have the value `otherwise`, if there is one.
    """

    body: tuple[Literal, ...]
    group: tuple[Var, ...]
    function: str
    argument: Var
    result: Var
    otherwise: Any = None
    distinct: bool = False


Literal = Atom | Not | Compare | Bind | Aggregate


@dataclass(frozen=True)
class Rule:
    name: str
    head: Atom
    body: tuple[Literal, ...]
    never: bool = False
    """Whether it is a constraint: its head is only for the oracle."""

    def __str__(self) -> str:
        return rule_text(self, PLAIN)


Facts = Mapping[str, frozenset[Row]]

SYMBOLS = ("a", "b", "c", "D e")  # one needs quotes, and sorts before the others
INTEGERS = (1, 2, 0, -1)


@dataclass(frozen=True)
class Program:
    """`spare` rules are not part of the program, but changes may add them.

    What changes insert is made of `symbols` and `integers`.
    """

    schema: tuple[Predicate, ...]
    rules: tuple[Rule, ...]
    facts: Facts
    spare: tuple[Rule, ...] = ()
    seed: int = 0
    symbols: tuple[str, ...] = SYMBOLS
    integers: tuple[int, ...] = INTEGERS

    @property
    def style(self) -> Style:
        """A mixture of both syntaxes, the same one each time."""
        return Style(Random(self.seed))

    def __str__(self) -> str:
        spare = "".join(f"% spare: {rule}\n" for rule in self.spare)
        return program_text(self.rules, self.facts, PLAIN) + spare

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What hypothesis prints for a failing example: the tests note the text."""
        printer.text(f"<{len(self.rules)} rules, see the text below>")


def atoms_of(body: Iterable[Literal]) -> Iterator[Atom]:
    """Every atom of a body, positive, negated or aggregated over."""
    for literal in body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Not):
            yield literal.atom
        elif isinstance(literal, Aggregate):
            yield from atoms_of(literal.body)


def every_column_named(body: Sequence[Literal]) -> tuple[Literal, ...]:
    """A body with a variable of its own for each `_` in an atom. Under `not`, it is no column."""
    numbers = count(1)

    def named(literal: Literal) -> Literal:
        if not isinstance(literal, Atom):
            return literal
        terms = (
            Var(f"Any{next(numbers)}") if isinstance(term, Var) and term.anonymous else term
            for term in literal.terms
        )
        return Atom(literal.predicate, tuple(terms))

    return tuple(map(named, body))


def with_anonymous(body: Sequence[Literal], kept: Collection[Var]) -> tuple[Literal, ...]:
    """A body with `_` for the variables of its atoms that stand in one place alone."""
    places = Counter(variables_in(tuple(body)))

    def without(literal: Literal) -> Literal:
        if not isinstance(literal, Atom):
            return literal
        terms = (
            Var("_") if isinstance(t, Var) and places[t] == 1 and t not in kept else t
            for t in literal.terms
        )
        return Atom(literal.predicate, tuple(terms))

    return tuple(map(without, body))


def variables_in(thing: object) -> Iterator[Var]:
    """Each variable of a part of a program, as often as it stands there."""
    if isinstance(thing, Var):
        yield thing
    elif isinstance(thing, tuple):
        for one in thing:
            yield from variables_in(one)
    elif is_dataclass(thing):
        yield from variables_in(tuple(getattr(thing, one.name) for one in fields(thing)))


def predicates_of(rules: Iterable[Rule], facts: Facts) -> dict[str, int]:
    """The predicates that rules mention or that have facts, with their arities."""
    found = {name: len(next(iter(rows))) for name, rows in facts.items() if rows}
    for rule in rules:
        for atom in (rule.head, *atoms_of(rule.body)):
            found[atom.predicate] = len(atom.terms)
    return found


# ------------------------------------------------------------------------------ text of a program


T = TypeVar("T")


@dataclass(frozen=True)
class Style:
    """How to write what can be written in several ways; without `random`, the first way."""

    random: Random | None = None

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(options) if self.random else options[0]


PLAIN = Style()


def program_text(rules: Iterable[Rule], facts: Facts, style: Style = PLAIN) -> str:
    """Rules and facts as a zodiac text, in the order given or, with a random style, shuffled."""
    lines = [rule_text(rule, style) for rule in rules]
    for name, rows in facts.items():
        lines += [f"{atom_text(Atom(name, row), style, '')}." for row in sorted(rows, key=repr)]
    if style.random:
        style.random.shuffle(lines)
    return "".join(f"{line}\n" for line in lines)


def rule_text(rule: Rule, style: Style = PLAIN) -> str:
    """`name: head :- body .`, in the paper's syntax, the short one, or a mixture of both."""
    mark = style.pick(["", "?", "", "?", "Ä", "ǅ"])
    arrow = style.pick([":-", "<-"])
    end = style.pick([".", " .", " /* a comment. */ ."])
    given = style.pick([{}, {} if rule.never else _only_in_atoms(rule)])
    body = tuple(x for x in rule.body if not isinstance(x, Bind) or x.variable not in given)
    written = Rule(rule.name, rule.head, body or rule.body)
    if not body:
        given = {}
    head = _with_values(rule.head, given)
    text = _body([_with_values(x, given) for x in written.body], style, mark)
    if rule.never:
        return f"{rule.name}: !- {text}{end}"
    return f"{rule.name}: {atom_text(head, style, mark)} {arrow} {text}{end}"


def _only_in_atoms(rule: Rule) -> dict[Var, Expression]:
    """The values that are bound for atoms alone: they can be written in them."""
    found = {x.variable: x.expression for x in rule.body if isinstance(x, Bind)}
    for literal in rule.body:
        if isinstance(literal, Compare):
            others = _variables(literal.left) | _variables(literal.right)
        elif isinstance(literal, Bind):
            others = _variables(literal.expression)
        elif isinstance(literal, Aggregate):
            others = {*literal.group, literal.argument, literal.result}
            others |= {
                v for atom in atoms_of(literal.body) for v in atom.terms if isinstance(v, Var)
            }
        else:
            continue
        found = {variable: value for variable, value in found.items() if variable not in others}
    return {v: e for v, e in found.items() if isinstance(e, Arithmetic)}


def _variables(expression: Expression) -> set[Var]:
    if isinstance(expression, Arithmetic):
        return _variables(expression.left) | _variables(expression.right)
    return {expression} if isinstance(expression, Var) else set()


L = TypeVar("L", Atom, Literal)


def _with_values(literal: L, given: Mapping[Var, Expression]) -> L:
    if isinstance(literal, Not):
        return Not(_with_values(literal.atom, given))
    if not isinstance(literal, Atom):
        return literal
    terms = (given.get(term, term) if isinstance(term, Var) else term for term in literal.terms)
    return Atom(literal.predicate, tuple(terms))  # type: ignore[arg-type]


def _body(body: Sequence[Literal], style: Style, mark: str) -> str:
    text = _literal(body[0], style, mark)
    for literal in body[1:]:
        conjunction = style.pick([", ", " and ", " ∧ ", " & ", " AND "])
        text += conjunction + _literal(literal, style, mark)
    return text


def _literal(literal: Literal, style: Style, mark: str) -> str:
    if isinstance(literal, Atom):
        return atom_text(literal, style, mark)
    if isinstance(literal, Not):
        return style.pick(["not ", "!", "~", "NOT "]) + atom_text(literal.atom, style, mark)
    if isinstance(literal, Compare):
        return _comparison(literal, style, mark)
    if isinstance(literal, Bind):
        return _binding(literal, style, mark)
    return _aggregate(literal, style, mark)


def _comparison(literal: Compare, style: Style, mark: str) -> str:
    left = _expression(literal.left, style, mark)
    right = _expression(literal.right, style, mark)
    simple = not isinstance(literal.left, Arithmetic) and not isinstance(literal.right, Arithmetic)
    # The paper's COMP takes terms only.
    opposite = style.pick(["", "", "", "not ", "!"])
    if opposite:
        return f"{opposite}{left} {OPPOSITE[literal.operator]} {right}"
    keyword = style.pick(["", "COMP", "Comp", "comp"]) if simple else ""
    if keyword:
        return f"{keyword}({left}, {literal.operator}, {right})"
    return f"{left} {literal.operator} {right}"


OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _binding(literal: Bind, style: Style, mark: str) -> str:
    variable = _expression(literal.variable, style, mark)
    expression = _expression(literal.expression, style, mark)
    keyword = style.pick(["BIND", "bind", ""])
    if keyword:
        return f"{keyword}({expression} {style.pick(['AS', 'as'])} {variable})"
    return f"{variable} = {expression}"


def _aggregate(literal: Aggregate, style: Style, mark: str) -> str:
    keyword, on, using, naming = style.pick(
        [("AGGREGATE", "ON", "WITH", "AS"), ("aggregate", "on", "with", "as")]
    )
    group = ", ".join(_expression(variable, style, mark) for variable in literal.group)
    function = style.pick([literal.function, literal.function.lower()])
    argument = _expression(literal.argument, style, mark)
    distinct = style.pick(["DISTINCT ", "distinct "]) if literal.distinct else ""
    result = _expression(literal.result, style, mark)
    return (
        f"{keyword}({_body(literal.body, style, mark)})"
        + (f" {on} {group}" if group else "")
        + f" {using} {function}({distinct}{argument}) {naming} {result}"
    )


def atom_text(atom: Atom, style: Style, mark: str) -> str:
    terms = ", ".join(_expression(term, style, mark) for term in atom.terms)
    return f"{atom.predicate}({terms})"


def _expression(expression: Expression, style: Style, mark: str) -> str:
    if isinstance(expression, Arithmetic):
        left = _expression(expression.left, style, mark)
        right = _expression(expression.right, style, mark)
        return f"({left} {expression.operator} {right})"
    if isinstance(expression, Var):
        # `?x` and `X` are written for the same variable, but never mixed within one rule.
        named = mark and not expression.anonymous
        return f"{mark}{expression.name.lower()}" if named else expression.name
    if isinstance(expression, int):
        return str(expression)
    quoted = f'"{expression}"'
    return style.pick([expression, quoted]) if expression.islower() else quoted
