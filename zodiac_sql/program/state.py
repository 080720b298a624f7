"""The state of a knowledge base: everything known of a program and its tables between two changes.

A `State` is never modified, only replaced. Rules are parsed again from their text only when
something needs them, so that opening a file stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

from zodiac_sql.errors import ProgramError, StoreError
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.constraints import says_never
from zodiac_sql.language.filters import filtered
from zodiac_sql.language.functions import Function
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Origin, Rule
from zodiac_sql.language.templates import is_template, made_of
from zodiac_sql.names import EXPLICIT_SCHEMA, is_constraint
from zodiac_sql.program.expand import certain
from zodiac_sql.program.feed import NO_FEED, Feed
from zodiac_sql.program.rule_sets import RuleSet
from zodiac_sql.program.set_facts import own_predicates
from zodiac_sql.program.windows import StoredWindow
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule as the catalog keeps it.

    `head` is its predicate; `added_at` is UTC, in ISO form; `position` grows with each rule added.
    A rule that was made of one with variables for predicates has its text, and an `origin`.
    """

    name: str
    text: str
    prefixes: tuple[tuple[str, str], ...]
    head: str
    added_at: str
    position: int
    origin: Origin | None = None

    @property
    def standalone(self) -> str:
        """The text after the prefixes that it uses, so that it can be parsed by itself."""
        prefixes = (f"@prefix {prefix}: <{iri}> . " for prefix, iri in self.prefixes)
        return "".join(prefixes) + self.text

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True, slots=True)
class HypernodeRow:
    """A hypernode as the catalog keeps it: its rules by name.

    `ranked` tells whether its tables have reliable ranks; `modules` are those that were at work
    when the tables were written, and `trees` what was decided for cyclic rules.
    """

    id: int
    stratum: int
    recursive: bool
    rules: tuple[str, ...]
    ranked: bool = False
    modules: tuple[ModuleRow, ...] = ()
    trees: tuple[StoredTree, ...] = ()


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """Everything known of a program and its tables between two changes.

    `rules` are those that are evaluated. `templates` are the rules with variables for predicates,
    of which some of them were made.

    `rows` counts the rows of each table of edb, idb and hd, by schema and table name; a table that
    is not there has no entry. `ids` are dictionary ids of symbols that rules mention, as far as
    known. `aside` are tables of idb that the last change took away, kept for its `Change` to read.
    `former` are rules whose facts may have been derived when their aggregates meant something else
    (language/former_aggregates.py), and "" if some made other literals of native values: the next
    change sees to them.
    `positions` has for each stream of updates the number of the last one that was applied; also how
    far the clock has come (names.CLOCK), and the events of windows, in microseconds since 1970.
    `generation` counts changes published so far, and tells whether a state is still the file's.
    (A change that nobody else can miss does not count: see database/company.py.)
    """

    rules: tuple[StoredRule, ...] = ()
    templates: tuple[StoredRule, ...] = ()
    sets: tuple[RuleSet, ...] = ()
    windows: tuple[StoredWindow, ...] = ()
    hypernodes: tuple[HypernodeRow, ...] = ()
    positive: frozenset[tuple[int, int]] = frozenset()
    negative: frozenset[tuple[int, int]] = frozenset()
    schema: Mapping[str, Predicate] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], int] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    positions: Mapping[str, int] = field(default_factory=dict)
    feed: Feed = NO_FEED
    next_hypernode: int = 1
    generation: int = 0
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was found once in this state. See `once`."""

    def once(self, what: str, find: Callable[[], T]) -> T:
        """What `find` returned when this was first asked of this state. Nobody may modify it."""
        if what not in self.memo:
            self.memo[what] = find()
        found: T = self.memo[what]
        return found

    @property
    def written(self) -> tuple[StoredRule, ...]:
        """The rules as users have written them, in the order in which they came."""
        if not self.templates:
            return self.rules
        rules = (rule for rule in self.rules if rule.origin is None)
        return tuple(sorted((*rules, *self.templates), key=lambda rule: rule.position))

    def of_sets(self) -> Mapping[str, Sequence[str]]:
        """The predicates of what rule sets state, by the predicates that they state it of."""
        return own_predicates((rule.head, rule.name) for rule in self.rules)

    def again(self) -> State:
        """The same state as another object, for who tells states apart by `is`."""
        return copy(self)

    def is_same_program(self, other: State) -> bool:
        """Whether the two differ in facts alone. It is quick, and may fail to see that."""
        return (
            self.rules is other.rules
            and self.templates is other.templates
            and self.sets is other.sets
            and self.hypernodes is other.hypernodes
            and self.schema is other.schema
        )

    def is_after(self, earlier: State) -> bool:
        """Whether a change has been published since an earlier state of the same file.

        Each change counts, or moves a position of a stream or a number of explicit facts, or brings
        a fact (storage/publish.py). The last of these cannot be seen here.
        """
        mine, other = (
            (state.generation, state.positions, state._explicit) for state in (self, earlier)
        )
        return mine != other

    @property
    def _explicit(self) -> dict[str, int]:
        """How many explicit facts each table has."""
        return {table: n for (schema, table), n in self.rows.items() if schema == EXPLICIT_SCHEMA}


def parsed_rules(state: State) -> tuple[Rule, ...]:
    """The rules of a state, parsed from their text."""
    rules = (rule for rule in state.rules if rule.origin is None)
    is_certain = certain((rule.head, rule.name) for rule in rules)
    return tuple(
        parsed(rule) if rule.origin is None else _made(rule, rule.origin, is_certain)
        for rule in state.rules
    )


def hypergraph_of(state: State) -> Hypergraph:
    """The HRDG of a state as it is in the catalog. Parses all rules."""
    rules = {rule.name: rule for rule in parsed_rules(state)}
    return Hypergraph(
        tuple(
            Hypernode(row.id, tuple(rules[name] for name in row.rules), row.recursive, row.stratum)
            for row in state.hypernodes
        ),
        state.positive,
        state.negative,
    )


def parsed_templates(state: State) -> tuple[Rule, ...]:
    """The rules of a state that have variables for predicates."""
    return tuple(_template(one.name, one.text, one.prefixes) for one in state.templates)


@lru_cache(maxsize=10_000)
def parsed(stored: StoredRule) -> Rule:
    """A rule from its text. Cached: it takes a millisecond, and showing and verifying parse all."""
    rule = _from_text(stored.name, stored.text, stored.prefixes, plain=True)
    if rule is not None and says_never(rule) and is_constraint(stored.head):
        # Another version may have made the name of the predicate in another way.
        rule = replace(rule, head=replace(rule.head, predicate=stored.head))
    if rule is None or rule.head.predicate != stored.head:
        raise StoreError(f"the catalog was edited: {stored} is no rule for {stored.head}")
    return rule


def _made(stored: StoredRule, origin: Origin, is_certain: Callable[[str], bool]) -> Rule:
    """A rule that was made of another one."""
    written = _template(origin.rule, stored.text, stored.prefixes)
    rule = made_of(written, origin.predicates, is_certain)
    if rule.head.predicate != stored.head:
        raise StoreError(f"the catalog was edited: {stored} is no rule for {stored.head}")
    return rule


@lru_cache(maxsize=10_000)
def _template(name: str, text: str, prefixes: tuple[tuple[str, str], ...]) -> Rule:
    rule = _from_text(name, text, prefixes, plain=False)
    if rule is None or not is_template(rule):
        raise StoreError(f"the catalog was edited: {name} has no variable for a predicate")
    return rule


def _from_text(
    name: str, text: str, prefixes: tuple[tuple[str, str], ...], plain: bool
) -> Rule | None:
    """The one rule in a text.

    Until November 2026, the text of a rule with its head in parentheses, as in `(p(X)) :- q(X)`,
    was kept without the opening ones: `p(X)) :- q(X)`.
    """
    from zodiac_sql.language.parse import parse  # imported late: opening a file needs no parser

    def rules_in(some: str) -> tuple[Rule, ...]:
        return parse(some, f"<rule {name}>", dict(prefixes), plain=plain).rules

    try:
        rules = rules_in(text)
    except ProgramError:
        for lost in range(1, text.count(")") + 1):
            with suppress(ProgramError):
                found = rules_in("(" * lost + text)
                rules = tuple(replace(rule, text=text) for rule in found)
                break
        else:
            raise
    return replace(filtered(rules[0])[0], name=name, prefixes=prefixes) if len(rules) == 1 else None
