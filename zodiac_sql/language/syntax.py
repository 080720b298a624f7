"""What a program is made of: frozen data, as parsed, with the place each part came from.

Spans never take part in comparison: two rules that read the same are equal wherever they stand.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from zodiac_sql.errors import Problem, Span
from zodiac_sql.names import VARIES


class Type(StrEnum):
    """The type of a predicate's column. Those of numbers compare with each other.

    A column of ANY holds terms of all kinds: each is what it is.
    """

    SYMBOL = "symbol"
    INT = "int"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"
    ANY = "any"

    @property
    def numeric(self) -> bool:
        return self in (Type.INT, Type.DECIMAL, Type.FLOAT)


Value = str | int | Decimal | float | bool | datetime.date | datetime.datetime


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable. Each anonymous `_` is parsed to a name of its own that begins with `_:`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def anonymous(self) -> bool:
        return self.name.startswith("_:")

    @property
    def made(self) -> bool:
        """Whether it stands for an expression in an atom (language/values.py)."""
        return self.name.endswith("'")

    @property
    def written(self) -> bool:
        """Whether a user wrote its name, so that it can be told."""
        return not self.anonymous and not self.made

    def __str__(self) -> str:
        return "_" if self.anonymous else self.name


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant. A symbol's value is its text as in language/symbols.py (`<iri>` parsed).

    `literal` is the text of the literal as which a native value was written, if the value alone
    would be written in another way: `"05"^^<..int>`. Constants of one value are equal without it.
    """

    type: Type
    value: Value
    span: Span | None = field(default=None, compare=False, repr=False)
    literal: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if isinstance(self.value, Decimal):
            digits = re.sub("0{1,17}$", "", f"{self.value:.18f}")
            return f'"{digits}"^^xsd:decimal'
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to expressions; arithmetic has the operator as its name."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        arguments = [str(argument) for argument in self.arguments]
        if len(arguments) == 2 and not self.function.isidentifier():
            return f"({arguments[0]} {self.function} {arguments[1]})"
        return f"{self.function}({', '.join(arguments)})"


Term = Variable | Constant
Expression = Variable | Constant | Call


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms. The predicate is a plain name or an absolute IRI.

    `?P(X, Y)` is an atom of VARIES, with the terms P, X and Y. If there are `names`, the terms are
    for the columns of these names (named_columns.py).
    """

    predicate: str
    terms: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.names:
            pairs = zip(self.names, self.terms, strict=True)
            return f"{self.predicate}({', '.join(f'{name}: {term}' for name, term in pairs)})"
        if self.predicate == VARIES:
            sign = "?" if isinstance(self.terms[0], Variable) else ""
            return f"{sign}{self.terms[0]}({', '.join(map(str, self.terms[1:]))})"
        return f"{self.predicate}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True, slots=True)
class Negation:
    """`not atom`. A variable that occurs nowhere else is existential inside the negation."""

    atom: Atom

    def __str__(self) -> str:
        return f"not {self.atom}"


SAME = "same"
"""An operator that no user writes: whether a variable could have both values, in two atoms."""

COPY = "copy"
"""Another one: whether a term is what a rule makes of another term in a column of all kinds."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, op one of = != < <= > >= (and SAME, COPY)."""

    left: Expression
    operator: str
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Binding:
    """`BIND(expression AS variable)`."""

    expression: Expression
    variable: Variable
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"BIND({self.expression} AS {self.variable})"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`AGGREGATE(body) ON group WITH function(argument) AS result` (paper 1, section 4.5).

    Computed over the solutions of the body, which all columns of its positive atoms tell apart. If
    it is `distinct`, each value of the argument counts once in a group. A group without solutions
    has no result, or, with `ELSE`, the one given there, if other atoms of the rule name the group.
    """

    body: tuple[Literal, ...]
    group: tuple[Variable, ...]
    function: str
    argument: Variable
    result: Variable
    span: Span | None = field(default=None, compare=False, repr=False)
    otherwise: Constant | None = None
    distinct: bool = False

    def of(self, argument: object) -> str:
        """What is computed, with its argument as it is shown: `avg(T)`, `avg(DISTINCT T)`."""
        return f"{self.function}({'DISTINCT ' if self.distinct else ''}{argument})"

    def __str__(self) -> str:
        body = ", ".join(map(str, self.body))
        on = f" ON {', '.join(map(str, self.group))}" if self.group else ""
        other = f" ELSE {self.otherwise}" if self.otherwise else ""
        computed = f"{self.of(self.argument)} AS {self.result}{other}"
        return f"AGGREGATE({body}){on} WITH {computed}"


Literal = Atom | Negation | Comparison | Binding | Aggregate


@dataclass(frozen=True, slots=True)
class Best:
    """`MIN(..)` or `MAX(..)` in a head: of a group only the least or greatest value is a fact.

    `place` is the column that has the value; all others together tell the group.
    """

    function: str
    place: int

    def __str__(self) -> str:
        return f"{self.function.upper()} in column {self.place + 1}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The rule that another one was made of, by putting predicates in for variables.

    `predicates` are symbols, in the order in which the variables first occur.
    """

    rule: str
    predicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """`name: head :- body.` `text` is the rule as written, without its label.

    `prefixes` are those the text uses; with them the text can be parsed again by itself.
    An empty name means that the text gave none. A rule that was made of one with variables for
    predicates has the text of that one. What is `assumed` are facts that hold as long as the rule
    is there, so that nothing needs to look for them; proofs show them.
    """

    name: str
    head: Atom
    body: tuple[Literal, ...]
    text: str = field(default="", compare=False)
    prefixes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    origin: Origin | None = field(default=None, compare=False, repr=False)
    assumed: tuple[Atom, ...] = ()
    best: Best | None = None
    part: int = field(default=0, compare=False, repr=False)
    """The number of the rule among those that one with alternatives stands for; 0 for a whole."""
    _positive: frozenset[str] | None = field(default=None, init=False, compare=False, repr=False)
    _negative: frozenset[str] | None = field(default=None, init=False, compare=False, repr=False)
    _outline: Hashable = field(default=None, init=False, compare=False, repr=False)
    """What these methods, and equivalence.py, have found: a change of one rule asks them of
    thousands."""

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"

    def positive_atoms(self) -> Iterator[Atom]:
        """Atoms the head depends on monotonically: an aggregate's body is not among them."""
        return (literal for literal in self.body if isinstance(literal, Atom))

    def negative_atoms(self) -> Iterator[Atom]:
        """Atoms under a negation, and those that an aggregate ranges over."""
        for literal in self.body:
            if isinstance(literal, Negation):
                yield literal.atom
            elif isinstance(literal, Aggregate):
                yield from atoms_of(literal.body)

    def positive(self) -> frozenset[str]:
        """Predicates of the rule's positive dependencies (RDG.Ep, paper 1, section 2.1)."""
        if self._positive is None:
            found = frozenset(atom.predicate for atom in self.positive_atoms())
            object.__setattr__(self, "_positive", found)
            return found
        return self._positive

    def negative(self) -> frozenset[str]:
        """Predicates that must be complete before the rule runs (RDG.En).

        Those under a negation, and those an aggregate ranges over: both are non-monotonic.
        """
        if self._negative is None:
            found: set[str] = set()
            for literal in self.body:
                if isinstance(literal, Negation):
                    found.add(literal.atom.predicate)
                elif isinstance(literal, Aggregate):
                    found.update(atom.predicate for atom in atoms_of(literal.body))
            object.__setattr__(self, "_negative", frozenset(found))
            return frozenset(found)
        return self._negative


def atoms_of(body: tuple[Literal, ...]) -> Iterator[Atom]:
    """Every atom of a body, positive, negated or inside an aggregate."""
    for literal in body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation):
            yield literal.atom
        elif isinstance(literal, Aggregate):
            yield from atoms_of(literal.body)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a predicate; its type is None while neither fact nor rule has settled it.

    A `mixed` column holds terms of all kinds. Tables have it as a column of symbols, because the
    dictionary has a symbol for each term, so its `type` is SYMBOL; `meant` is the type that
    declarations, rules and the catalog call ANY.
    """

    name: str
    type: Type | None
    mixed: bool = False

    def __post_init__(self) -> None:
        if self.type is Type.ANY:
            object.__setattr__(self, "type", Type.SYMBOL)
            object.__setattr__(self, "mixed", True)

    @property
    def meant(self) -> Type | None:
        """The type that the column has for rules."""
        return Type.ANY if self.mixed else self.type


@dataclass(frozen=True, slots=True)
class Declaration:
    """`.decl p(name: type, ...)`."""

    predicate: str
    columns: tuple[Column, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Window:
    """`.window p(...)`: how long explicit facts of p stay, or how many of them (windows.py).

    A fact stays for the `lifetime`, in microseconds, after the time in its `column`; or as long as
    fewer than `count` facts of its group are later. Without a name, the column is the only one of
    dates or timestamps. The time is that of ticks, or with `events` the latest that a fact has had,
    less the microseconds of `late`. A fact that comes when it would have left is told, or, if the
    window `refuses` it, an error.
    """

    predicate: str
    column: str | None
    lifetime: int | None = None
    count: int | None = None
    groups: tuple[str, ...] = ()
    events: bool = False
    late: int = 0
    refuses: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A parsed text. `facts` are rules without a body; they become explicit facts."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    windows: tuple[Window, ...] = ()
    objections: tuple[Problem, ...] = field(default=(), compare=False)
    """What is refused in new texts only: values that cannot be kept just as they are written, and
    lines that would include a file. What is kept as text somewhere goes on to mean what it meant
    when it was read."""
