"""Random Datalog programs, and random changes to them, for hypothesis.

A program here is data of our own, not zodiac_sql's: the oracle must not share the library's idea
of a rule. Three properties hold by construction:

* type-consistent: each column has a Kind, each variable the kind of the column that bound it;
* stratified: a predicate has a level, and negation and aggregates look only at lower levels, so
  that every subset of a program's rules is a program too (which `random_changes` relies on);
* finite: arithmetic reads only INT columns and writes only BIG ones, which arithmetic never reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import permutations
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

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
    """Over the distinct solutions of the named variables that the body binds."""

    body: tuple[Literal, ...]
    group: tuple[Var, ...]
    function: str
    argument: Var
    result: Var


Literal = Atom | Not | Compare | Bind | Aggregate


@dataclass(frozen=True)
class Rule:
    name: str
    head: Atom
    body: tuple[Literal, ...]

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
        lines += [f"{_atom(Atom(name, row), style, '')}." for row in sorted(rows, key=repr)]
    if style.random:
        style.random.shuffle(lines)
    return "".join(f"{line}\n" for line in lines)


def rule_text(rule: Rule, style: Style = PLAIN) -> str:
    """`name: head :- body .`, in the paper's syntax, the short one, or a mixture of both."""
    mark = style.pick(["", "?"])
    arrow = style.pick([":-", "<-"])
    end = style.pick([".", " ."])
    return (
        f"{rule.name}: {_atom(rule.head, style, mark)} {arrow} {_body(rule.body, style, mark)}{end}"
    )


def _body(body: Sequence[Literal], style: Style, mark: str) -> str:
    text = _literal(body[0], style, mark)
    for literal in body[1:]:
        conjunction = style.pick([", ", " and ", " ∧ ", " & ", " AND "])
        text += conjunction + _literal(literal, style, mark)
    return text


def _literal(literal: Literal, style: Style, mark: str) -> str:
    if isinstance(literal, Atom):
        return _atom(literal, style, mark)
    if isinstance(literal, Not):
        return style.pick(["not ", "!", "~", "NOT "]) + _atom(literal.atom, style, mark)
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
    keyword = style.pick(["", "COMP", "Comp", "comp"]) if simple else ""
    if keyword:
        return f"{keyword}({left}, {literal.operator}, {right})"
    return f"{left} {literal.operator} {right}"


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
    result = _expression(literal.result, style, mark)
    return (
        f"{keyword}({_body(literal.body, style, mark)})"
        + (f" {on} {group}" if group else "")
        + f" {using} {function}({argument}) {naming} {result}"
    )


def _atom(atom: Atom, style: Style, mark: str) -> str:
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


# ------------------------------------------------------------------------------- building one rule

VARIABLES = ("X", "Y", "Z", "U", "V")  # at most five in a rule, so that cross products stay small
EDB_NAMES = ("e", "f", "g")
IDB_NAMES = ("p", "q", "P", "r", "Q", "s", "t", "u", "v")  # p and P are two predicates
OPERATORS = ("!=", "<", "=", "<=", ">", ">=")


def chance(rng: Random, percent: int) -> bool:
    return rng.randrange(100) < percent


def shuffled(rng: Random, items: Sequence[T]) -> tuple[T, ...]:
    return tuple(rng.sample(items, len(items)))


def _constant(rng: Random, kind: Kind) -> Value:
    return rng.choice(INTEGERS) if kind.numeric else rng.choice(SYMBOLS)


@dataclass
class _RuleBuilder:
    """Collects a body literal by literal and remembers which variables it binds."""

    rng: Random
    bound: dict[Var, Kind] = field(default_factory=dict)
    body: list[Literal] = field(default_factory=list)
    locals: int = 0

    def of(self, kind: Kind) -> list[Var]:
        return [v for v, k in self.bound.items() if k.numeric == kind.numeric]

    def positive(self, predicate: Predicate) -> None:
        terms = tuple(self._term(kind) for kind in predicate.kinds)
        self.body.append(Atom(predicate.name, terms))

    def _term(self, kind: Kind) -> Term:
        if chance(self.rng, 6):
            return _constant(self.rng, kind)
        if chance(self.rng, 6):
            return Var("_")
        known = self.of(kind)
        room = len(self.bound) < len(VARIABLES)
        if known and (not room or chance(self.rng, 55)):
            return self.rng.choice(known)
        return self.fresh(kind) if room else _constant(self.rng, kind)

    def fresh(self, kind: Kind) -> Var:
        variable = Var(VARIABLES[len(self.bound)])
        self.bound[variable] = kind
        return variable

    def negative(self, predicate: Predicate) -> None:
        terms = tuple(self._negated_term(kind) for kind in predicate.kinds)
        self.body.append(Not(Atom(predicate.name, terms)))

    def _negated_term(self, kind: Kind) -> Term:
        known = self.of(kind)
        if known and not chance(self.rng, 30):
            return self.rng.choice(known)
        choice = self.rng.choice(("constant", "anonymous", "local"))
        if choice == "constant":
            return _constant(self.rng, kind)
        if choice == "anonymous":
            return Var("_")
        # A name of its own: what a local variable shared by two negations means is not settled.
        self.locals += 1
        return Var(f"L{self.locals}")

    def comparison(self) -> None:
        if not self.bound:
            return
        left = self.rng.choice(list(self.bound))
        kind = self.bound[left]
        others = [v for v in self.of(kind) if v != left]
        right: Expression
        if others and chance(self.rng, 60):
            right = self.rng.choice(others)
        else:
            right = _constant(self.rng, kind)
        if kind.numeric and chance(self.rng, 20):
            right = Arithmetic(right, self.rng.choice(("+", "-")), 1)
        self.body.append(Compare(left, self.rng.choice(OPERATORS), right))

    def binding(self) -> None:
        """`V = expression` over INT variables; the result is BIG, so arithmetic ends there."""
        inputs = [v for v, k in self.bound.items() if k is Kind.INT]
        if not inputs:
            return
        operands: list[Expression] = [*inputs, 1, 2, 3]
        left: Expression = self.rng.choice(inputs)
        for _ in range(self.rng.randint(1, 2)):
            operator = self.rng.choice(("+", "-", "*"))
            left = Arithmetic(left, operator, self.rng.choice(operands))
        result = Var(f"B{sum(isinstance(literal, Bind) for literal in self.body)}")
        self.body.append(Bind(left, result))
        self.bound[result] = Kind.BIG

    def head(self, predicate: Predicate) -> Atom:
        return Atom(predicate.name, tuple(self._head_term(kind) for kind in predicate.kinds))

    def _head_term(self, kind: Kind) -> Term:
        fitting = [v for v in self.of(kind) if kind is not Kind.INT or self.bound[v] is kind]
        if kind is Kind.BIG:  # what was computed should be seen
            computed = [v for v in fitting if self.bound[v] is Kind.BIG]
            fitting = computed or fitting
        if not fitting or chance(self.rng, 5):
            return _constant(self.rng, kind)
        return self.rng.choice(fitting)

    def shuffled(self) -> tuple[Literal, ...]:
        return shuffled(self.rng, self.body)


def _plain_rule(
    rng: Random, name: str, head: Predicate, lower: Sequence[Predicate], same: Sequence[Predicate]
) -> Rule:
    """A rule without an aggregate. It is recursive if it uses `same`, the head's own level."""
    builder = _RuleBuilder(rng)
    recursive = False
    for position in range(rng.choice((1, 2, 2, 2, 3))):
        recurse = bool(same) and (position == 0 or chance(rng, 45))
        recursive = recursive or recurse
        builder.positive(rng.choice(same if recurse else lower))
    if not recursive and chance(rng, 80 if Kind.BIG in head.kinds else 10):
        builder.binding()
    if chance(rng, 30):
        builder.comparison()
    if chance(rng, 35):
        derived = [p for p in lower if p.level > 0]
        builder.negative(rng.choice(derived * 2 + list(lower)))
    return Rule(name, builder.head(head), builder.shuffled())


def _aggregate_rule(
    rng: Random, names: tuple[str, str], level: int, lower: Sequence[Predicate]
) -> tuple[Predicate, Rule] | None:
    """A rule with an aggregate and the predicate it derives; None if the body binds nothing."""
    inner = _RuleBuilder(rng)
    for _ in range(rng.choice((1, 1, 2))):
        inner.positive(rng.choice(lower))
    if chance(rng, 20):
        inner.comparison()
    if chance(rng, 25):
        inner.negative(rng.choice(lower))
    if not inner.bound:
        return None
    argument = rng.choice(list(inner.bound))
    function = "COUNT"
    if inner.bound[argument].numeric:
        extremes = ("COUNT", "MIN", "MAX")
        small = inner.bound[argument] is Kind.INT
        function = rng.choice(("SUM", *extremes) if small else extremes)
    others = [v for v in inner.bound if v != argument]
    group = shuffled(rng, others)[: rng.choice((1, 1, 2, 0))]
    result = Var("N")
    literal = Aggregate(inner.shuffled(), group, function, argument, result)
    bound = {v: inner.bound[v] for v in group} | {result: Kind.BIG}
    outer = _RuleBuilder(rng, bound, [literal], inner.locals)
    if chance(rng, 20):
        outer.comparison()
    if chance(rng, 15):
        outer.negative(rng.choice(lower))
    terms = shuffled(rng, [*group, result])
    predicate = Predicate(names[1], tuple(outer.bound[v] for v in terms), level, aggregate=True)
    return predicate, Rule(names[0], Atom(predicate.name, terms), outer.shuffled())


def closure_rules(head: Predicate, base: Predicate) -> list[Rule]:
    """What recursion is made of, over a binary head."""
    h, b = binary(head), binary(base)
    return [
        Rule("", h("XZ"), (h("XY"), b("YZ"))),
        Rule("", h("XZ"), (b("XY"), h("YZ"))),
        Rule("", h("XZ"), (h("XY"), h("YZ"))),
        Rule("", h("XZ"), (h("XY"), h("YZ"), Compare(Var("X"), "!=", Var("Z")))),
        Rule("", h("XY"), (h("YX"),)),
        Rule("", h("XY"), (b("ZX"), h("ZU"), b("UY"))),  # same generation
    ]


def mutual_rules(head: Predicate, base: Predicate, partner: Predicate) -> list[Rule]:
    """What recursion through another predicate of the head's level is made of."""
    h, b, g = binary(head), binary(base), binary(partner)
    return [
        Rule("", h("XZ"), (g("XY"), b("YZ"))),
        Rule("", h("XZ"), (h("XY"), g("YZ"))),
        Rule("", h("XZ"), (g("XY"), g("YZ"))),
        Rule("", h("XY"), (g("YX"),)),
    ]


def binary(predicate: Predicate) -> Callable[[str], Atom]:
    return lambda names: Atom(predicate.name, tuple(map(Var, names)))


# ------------------------------------------------------------------------------ building a program


@dataclass
class _ProgramBuilder:
    rng: Random
    schema: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def explicit_predicates(self) -> None:
        main = self.rng.choice((Kind.INT, Kind.SYMBOL))
        kinds = (main, main, main, Kind.SYMBOL, Kind.INT)
        for name in EDB_NAMES[: self.rng.choice((2, 2, 3, 1))]:
            self.schema.append(Predicate(name, self._kinds(kinds), 0))

    def _kinds(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        arity = self.rng.choice((2, 2, 2, 2, 2, 2, 1, 1, 3, 0))
        return tuple(self.rng.choice(kinds) for _ in range(arity))

    def derived_name(self) -> str:
        return IDB_NAMES[sum(p.level > 0 for p in self.schema)]

    def level(self, level: int, budget: int) -> None:
        """Adds one level of predicates and at most `budget` rules for them."""
        lower = list(self.schema)
        if chance(self.rng, 22):
            self._aggregate_level(level, lower)
            return
        size = self.rng.choice((1, 2, 3, 1))
        kinds = self._derived_kinds(lower)
        group = []
        for _ in range(size if size < budget else 1):
            if not chance(self.rng, 80):
                kinds = self._derived_kinds(lower)
            group.append(Predicate(self.derived_name(), kinds, level))
            self.schema.append(group[-1])
        self._add(self._base_rule(group[0], lower))  # something to start from
        if len(group) > 1:  # around through all of them
            for index, head in enumerate(group):
                self._add(self._ring_rule(head, lower, group[index - 1]))
        for _ in range(self.rng.randint(0, max(0, budget - len(group) - 1))):
            self._add(self._further_rule(self.rng.choice(group), lower, group))

    def copy_of(self, lower: Predicate) -> None:
        """Adds a predicate with one rule, over a predicate below it."""
        head = Predicate(self.derived_name(), lower.kinds, lower.level + 1)
        self.schema.append(head)
        self._add(self._base_rule(head, [lower]))

    def _derived_kinds(self, lower: Sequence[Predicate]) -> tuple[Kind, ...]:
        """Often the kinds of a predicate below, so that rules can copy, close and compare."""
        if chance(self.rng, 60):
            return self.rng.choice(lower).kinds
        numeric = [p.kinds for p in lower if Kind.INT in p.kinds]
        if numeric and chance(self.rng, 50):  # the same with a computed column
            return (*self.rng.choice(numeric)[:2], Kind.BIG)
        return self._kinds((Kind.SYMBOL, Kind.INT, Kind.BIG))

    def _aggregate_level(self, level: int, lower: Sequence[Predicate]) -> None:
        names = (self._rule_name(), self.derived_name())
        found = _aggregate_rule(self.rng, names, level, lower)
        if found:
            self.schema.append(found[0])
            self._add(found[1])

    def _base_rule(self, head: Predicate, lower: Sequence[Predicate]) -> Rule:
        alike = [p for p in lower if p.kinds == head.kinds]
        if alike and chance(self.rng, 60):
            terms = tuple(Var(VARIABLES[i]) for i in range(len(head.kinds)))
            body = Atom(self.rng.choice(alike).name, terms)
            return Rule(self._rule_name(), Atom(head.name, terms), (body,))
        return _plain_rule(self.rng, self._rule_name(), head, lower, ())

    def _further_rule(
        self, head: Predicate, lower: Sequence[Predicate], group: Sequence[Predicate]
    ) -> Rule:
        bases = [p for p in lower if p.kinds == head.kinds]
        binary = len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]
        if binary and bases and chance(self.rng, 60):
            partners = [p for p in group if p.kinds == head.kinds]
            base, partner = self.rng.choice(bases), self.rng.choice(partners)
            shapes = closure_rules(head, base) + mutual_rules(head, base, partner)
            return replace(self.rng.choice(shapes), name=self._rule_name())
        return _plain_rule(self.rng, self._rule_name(), head, lower, group)

    def _ring_rule(self, head: Predicate, lower: Sequence[Predicate], before: Predicate) -> Rule:
        """A rule that derives one predicate of a level from another one of it."""
        bases = [p for p in lower if p.kinds == head.kinds]
        if before.kinds == head.kinds and chance(self.rng, 40):
            body = Atom(before.name, tuple(map(Var, VARIABLES[: len(head.kinds)])))
            return Rule(self._rule_name(), Atom(head.name, body.terms), (body,))
        binary = len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]
        if binary and bases and before.kinds == head.kinds and chance(self.rng, 60):
            shapes = mutual_rules(head, self.rng.choice(bases), before)
            return replace(self.rng.choice(shapes), name=self._rule_name())
        return _plain_rule(self.rng, self._rule_name(), head, lower, (before,))

    def _rule_name(self) -> str:
        return f"r{len(self.rules) + 1}"

    def _add(self, rule: Rule) -> None:
        """Leaves out a rule that is there under another name: engines may keep only one of them."""
        key = canonical(rule)
        if key not in self.seen:
            self.seen.add(key)
            self.rules.append(rule)


def canonical(rule: Rule) -> str:
    """The same text for rules that differ only in variable names and the order of the body."""
    return min(_renamed(rule.head, body) for body in permutations(rule.body))


def _renamed(head: Atom, body: Sequence[Literal]) -> str:
    words = rule_text(Rule("r", head, tuple(body)), Style()).split('"')
    numbers: dict[str, str] = {}
    for index in range(0, len(words), 2):  # outside of quotes
        words[index] = _rename(words[index], numbers)
    return '"'.join(words)


def _rename(text: str, numbers: dict[str, str]) -> str:
    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"V{len(numbers)}")

    return re.sub(r"\b[A-Z][0-9]*\b(?!\()", number, text)


def random_program(rng: Random, max_rules: int = 8) -> Program:
    """Levels of predicates, each with rules over those below it, and facts for them."""
    builder = _ProgramBuilder(rng)
    builder.explicit_predicates()
    for level in range(1, 1 + rng.choice((2, 1, 3, 3))):
        budget = max_rules - len(builder.rules)
        if budget > 0:
            builder.level(level, min(budget, 5))
    if not builder.rules:  # an aggregate over a body that binds nothing was all there was
        builder.copy_of(builder.schema[0])
    facts = {p.name: rows for p in builder.schema if (rows := _initial_rows(rng, p))}
    return Program(tuple(builder.schema), tuple(builder.rules), facts, seed=rng.getrandbits(32))


def _initial_rows(rng: Random, predicate: Predicate) -> frozenset[Row]:
    """Many rows for explicit predicates, a few for some derived ones."""
    if predicate.level == 0:
        return frozenset(random_rows(rng, predicate, rng.choice((5, 7, 7, 9, 9, 12, 0))))
    if predicate.aggregate or not chance(rng, 25):
        return frozenset()
    return frozenset(random_rows(rng, predicate, rng.choice((1, 2))))


def random_rows(
    rng: Random,
    predicate: Predicate,
    count: int,
    symbols: tuple[str, ...] = SYMBOLS,
    integers: tuple[int, ...] = INTEGERS,
) -> tuple[Row, ...]:
    """Up to so many rows, each once."""
    domains: list[tuple[Value, ...]] = [
        integers if kind.numeric else symbols for kind in predicate.kinds
    ]
    rows: list[Row] = [tuple(rng.choice(domain) for domain in domains) for _ in range(count)]
    return tuple(dict.fromkeys(rows))


# A program comes from a seed, not from hypothesis' own draws: most of what hypothesis tries are
# variations of what it tried before, and we want 300 programs, not 100 programs three times. So
# that a failing program still shrinks, hypothesis decides of each rule, fact and change whether to
# keep it; any of them may be left out without making the rest invalid. These decisions are the
# bytes of one string, and everything else comes from the one seed, because values of the same
# kind within one example are what hypothesis makes its variations from.


@dataclass
class _Decisions:
    remaining: list[int]

    def keep(self, percent: int = 95) -> bool:
        """Mostly true; shrinks to False."""
        return not self.remaining or self.remaining.pop() >= 256 * (100 - percent) / 100


seeds = st.integers(0, 2**32 - 1)
decisions = st.binary(min_size=192, max_size=192).map(lambda data: _Decisions(list(data)))


@st.composite
def programs(draw: DrawFn, max_rules: int = 8) -> Program:
    """A program of 1 to `max_rules` rules, and its facts."""
    rng = Random(draw(seeds))
    return _reduced(random_program(rng, max_rules), draw(decisions), 95)


@st.composite
def programs_with_changes(
    draw: DrawFn,
    make: Callable[[Random], Program] = random_program,
    min_changes: int = 4,
    max_changes: int = 8,
    change_rules: bool = True,
) -> tuple[Program, Changes]:
    """A program and changes to make to it, of its facts and, unless told otherwise, its rules."""
    rng = Random(draw(seeds))
    decide = draw(decisions)
    program = _reduced(make(rng), decide, 75 if change_rules else 95)
    changes = random_changes(rng, program, rng.randint(min_changes, max_changes), change_rules)
    kept = [tuple(step for step in change if decide.keep()) for change in changes]
    return program, _possible(program, kept)


def _reduced(program: Program, decide: _Decisions, percent: int) -> Program:
    """Without the rules and facts that were decided against; most of these rules are spare."""
    # Two decisions for each rule, used or not: what hypothesis removes must not shift the others.
    decided = [(rule, decide.keep(percent), decide.keep()) for rule in program.rules]
    kept = [rule for rule, keep, _ in decided if keep] or list(program.rules[:1])
    held = [rule for rule, _, spare in decided if spare and rule not in kept]
    facts = {
        name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
        for name, rows in program.facts.items()
    }
    facts = {name: rows for name, rows in facts.items() if rows}
    return replace(program, rules=tuple(kept), facts=facts, spare=tuple(held))


# ---------------------------------------------------------------------------------------- changes


@dataclass(frozen=True)
class Insert:
    predicate: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Delete:
    predicate: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class AddRule:
    rule: Rule


@dataclass(frozen=True)
class DropRule:
    name: str


Step = Insert | Delete | AddRule | DropRule
Change = tuple[Step, ...]
"""One atomic change. No fact is both inserted and deleted in it, so the order does not matter."""


class Changes(list[Change]):
    """Changes to make one after the other."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<{len(self)} changes, see the text below>")


@dataclass
class State:
    """The rules and explicit facts that hold after the changes so far."""

    rules: dict[str, Rule]
    facts: dict[str, frozenset[Row]]

    @classmethod
    def of(cls, program: Program) -> State:
        return cls({rule.name: rule for rule in program.rules}, dict(program.facts))

    def apply(self, change: Change) -> None:
        for step in change:
            if isinstance(step, Insert):
                self.facts[step.predicate] = self.rows(step.predicate) | set(step.rows)
            elif isinstance(step, Delete):
                self.facts[step.predicate] = self.rows(step.predicate) - set(step.rows)
            elif isinstance(step, AddRule):
                self.rules[step.rule.name] = step.rule
            else:
                del self.rules[step.name]

    def rows(self, predicate: str) -> frozenset[Row]:
        return self.facts.get(predicate, frozenset())


def change_text(change: Change) -> str:
    """A change as a person would write it down."""
    return "; ".join(map(_step_text, change))


def _step_text(step: Step) -> str:
    if isinstance(step, AddRule):
        return f"add {step.rule}"
    if isinstance(step, DropRule):
        return f"drop {step.name}"
    verb = "insert" if isinstance(step, Insert) else "delete"
    facts = ", ".join(_atom(Atom(step.predicate, row), PLAIN, "") for row in step.rows)
    return f"{verb} {facts}"


def random_changes(rng: Random, program: Program, count: int, rules: bool = True) -> list[Change]:
    """Changes of a program's facts and, with `rules`, of its rules and spare ones.

    Each is generated in the light of those before it: what is deleted is mostly there, and what
    was just deleted often comes back.
    """
    state = State.of(program)
    gone: dict[str, frozenset[Row]] = {}
    changes: list[Change] = []
    for _ in range(count):
        change = _change(rng, program, state, gone, rules)
        for step in change:
            if isinstance(step, Delete):
                gone[step.predicate] = frozenset(step.rows)
        state.apply(change)
        changes.append(change)
    return changes


def _possible(program: Program, changes: Iterable[Change]) -> Changes:
    """Without what cannot be done now that earlier steps are gone: rules to add twice or drop."""
    names = {rule.name for rule in program.rules}
    found = Changes()
    for change in changes:
        steps: list[Step] = []
        for step in change:
            if isinstance(step, AddRule) and step.rule.name not in names:
                names.add(step.rule.name)
            elif isinstance(step, DropRule) and step.name in names:
                names.remove(step.name)
            elif isinstance(step, AddRule | DropRule):
                continue
            steps.append(step)
        if steps:
            found.append(tuple(steps))
    return found


def _change(
    rng: Random,
    program: Program,
    state: State,
    gone: Mapping[str, frozenset[Row]],
    rules: bool,
) -> Change:
    what = rng.choice(("facts", "facts", "facts", "mixed", "rule", "rule") if rules else ("facts",))
    if what == "rule":
        return (_rule_step(rng, program, state),)
    size = rng.choice((1, 1, 1, 2, 3))
    steps: list[Step] = []
    touched: set[tuple[str, Row]] = set()
    for _ in range(size):
        step = _fact_step(rng, program, state, gone)
        facts = {(step.predicate, row) for row in step.rows}
        if touched.isdisjoint(facts):
            touched |= facts
            steps.append(step)
    if what == "mixed":
        steps.append(_rule_step(rng, program, state))
    return tuple(steps)


def _rule_step(rng: Random, program: Program, state: State) -> AddRule | DropRule:
    absent = [r for r in program.rules + program.spare if r.name not in state.rules]
    if absent and (not state.rules or chance(rng, 60)):
        return AddRule(rng.choice(absent))
    return DropRule(rng.choice(list(state.rules)))


def _fact_step(
    rng: Random, program: Program, state: State, gone: Mapping[str, frozenset[Row]]
) -> Insert | Delete:
    """A single fact, a batch, all of a predicate, what was just deleted, or a change of nothing."""
    open_to_facts = [p for p in program.schema if not p.aggregate]
    explicit = [p for p in open_to_facts if p.level == 0]
    predicate = rng.choice(explicit * 3 + open_to_facts)
    present = sorted(state.rows(predicate.name), key=repr)
    missing = sorted(gone.get(predicate.name, frozenset()) - set(present), key=repr)
    count = rng.choice((1, 1, 2, 4))
    some_rows = random_rows(rng, predicate, count, program.symbols, program.integers)
    if missing and chance(rng, 50):
        return Insert(predicate.name, tuple(missing))
    if not present and predicate.level and chance(rng, 30):
        return Delete(predicate.name, some_rows)  # at most derived
    if not present or chance(rng, 40):
        return Insert(predicate.name, some_rows)
    what = rng.choice(("one", "one", "one", "some", "all", "any"))
    if what == "one":
        return Delete(predicate.name, (rng.choice(present),))
    if what == "some":
        return Delete(predicate.name, shuffled(rng, present)[: rng.randint(2, 4)])
    if what == "all":
        return Delete(predicate.name, tuple(present))
    return Delete(predicate.name, some_rows)  # most of these were never there
