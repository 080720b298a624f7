"""Why facts hold: facts, the rule instances that derive them, and what these rest on.

All of it is plain frozen data, with values as people see them: symbols as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zodiac_sql.errors import QueryError
from zodiac_sql.language.syntax import Type, Value
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.paths import impossible
from zodiac_sql.read.why.spelling import spelled

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact. Its text, `str(fact)`, is a goal that `why` understands."""

    predicate: str
    values: tuple[Value, ...]
    types: tuple[Type, ...] = field(compare=False, repr=False)

    def __str__(self) -> str:
        values = map(spelled, self.values, self.types)
        return f"{spelled_predicate(self.predicate)}({', '.join(values)})"


@dataclass(frozen=True, slots=True)
class Absent:
    """Facts that must not hold, and do not: a negated atom with the values put in.

    None stands for any value. If the same value must be in several places, `names` has the variable
    that stands there, for each place or None; else it is empty.
    """

    predicate: str
    values: tuple[Value | None, ...]
    types: tuple[Type | None, ...] = field(compare=False, repr=False)
    names: tuple[str | None, ...] = ()

    def __str__(self) -> str:
        names = self.names or (None,) * len(self.values)
        values = (
            name or "_" if value is None or type_ is None else spelled(value, type_)
            for value, type_, name in zip(self.values, self.types, names, strict=True)
        )
        return f"not {spelled_predicate(self.predicate)}({', '.join(values)})"


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison that holds: as it stands in the rule, and with the values put in."""

    rule_text: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable that the rule computes: the expression with the values put in, and its value."""

    variable: str
    expression: str
    value: Value
    type: Type = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.variable} = {self.expression} = {spelled(self.value, self.type)}"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of an aggregate: what was computed, over how many solutions, and the first of them.

    `function` is as in the rule ("avg(T)"), `result` its value; `on` has the variables of the group
    with their values; `count` is the number of solutions (with DISTINCT, of those that differ in
    the value). `members` are the facts of the first solutions, one tuple for each; they are part of
    the explanation only if they are in its derivations, too.
    """

    function: str
    variable: str
    result: Value
    type: Type = field(compare=False, repr=False)
    on: tuple[tuple[str, str], ...]
    """The variables of the group, and the text of their values."""
    count: int
    members: tuple[tuple[Fact, ...], ...]

    def __str__(self) -> str:
        on = ", ".join(f"{name} = {value}" for name, value in self.on)
        count = "1 solution" if self.count == 1 else f"{self.count:,} solutions"
        result = spelled(self.result, self.type)
        text = f"{self.variable} = {result} = {self.function} of {count}"
        return f"{text} with {on}" if on else text


@dataclass(frozen=True, slots=True)
class Step:
    """How a fact is derived: one instance of a rule, or a path of facts of a closed predicate.

    `rule` is the rule's name and `text` its text as written. `uses` are the facts of its body, in
    the order of the text. A `path` is for a predicate that rules close (transitive, or symmetric
    and transitive): `uses` are its facts from end to end, `rule` names all those rules, joined by
    ", ". In a symmetric closure a fact of a path may be passed from its second to its first value.
    """

    kind: Literal["rule", "path"]
    rule: str
    text: str
    uses: tuple[Fact, ...]
    absent: tuple[Absent, ...] = ()
    tests: tuple[Test, ...] = ()
    bindings: tuple[Bound, ...] = ()
    groups: tuple[Group, ...] = ()
    values: tuple[tuple[str, Value], ...] = ()
    """The named variables of the rule with their values."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why facts hold.

    A fact with several places in a proof is the same `Fact` in all of them. A proof has one step
    for each fact that is not explicit. With all derivations, there can be more, also for explicit
    facts; what is not in `derivations` was not asked for.
    """

    goals: tuple[Fact, ...]
    derivations: Mapping[Fact, tuple[Step, ...]]
    explicit: frozenset[Fact]
    """The facts that were asserted: those need no step."""
    every: bool = False
    """Whether all derivations of the goals were asked for, and not one proof of each."""
    cut: frozenset[Fact] = frozenset()
    """The facts that have more derivations than are here."""
    passed: Mapping[Fact, Fact] = field(default_factory=dict)
    """What is no fact any more, because a better value came (MIN or MAX in heads), and that fact.
    A proof rests on such a value only where the best one follows from nothing else but itself."""
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Prefixes, each with its IRI: what people read has them, to_dict, json and arrow have not."""
    asked: tuple[str | None, ...] = field(default=(), compare=False)
    """For each column of the goals, the name of the variable that was asked for; None if none."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What looks like a mistake in what was asked."""

    def facts(self) -> Iterator[Fact]:
        """All facts, each once: the goals first, then what they rest on."""
        seen: dict[Fact, None] = {}
        waiting = list(reversed(self.goals))
        while waiting:
            fact = waiting.pop()
            if fact in seen:
                continue
            seen[fact] = None
            steps = self.derivations.get(fact, ())
            waiting += [use for step in reversed(steps) for use in reversed(step.uses)]
        yield from seen

    def bound(self, goal: Fact) -> dict[str, str]:
        """The variables that were asked for, each with its value in a goal as rules write it."""
        return {
            name: spelled(value, type_)
            for name, value, type_ in zip(self.asked, goal.values, goal.types, strict=False)
            if name is not None
        }

    @property
    def height(self) -> int:
        """The steps on the longest way from a goal to an explicit fact: 0 if all are explicit."""
        heights: dict[Fact, int] = {}
        waiting: list[tuple[Fact, tuple[Step, ...]]] = [(goal, ()) for goal in self.goals]
        while waiting:
            fact, below = waiting.pop()
            if below:  # the heights of what it rests on are known
                uses = [max(map(heights.__getitem__, s.uses), default=0) for s in below]
                heights[fact] = 1 + max(uses)
            elif fact not in heights:
                heights[fact] = 0  # also while it is above itself: derivations can form a cycle
                steps = () if fact in self.explicit else self.derivations.get(fact, ())
                if steps:
                    waiting.append((fact, steps))
                    waiting += [(use, ()) for step in steps for use in step.uses]
        return max((heights[goal] for goal in self.goals), default=0)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as dictionaries, lists, texts and numbers: what `json.dumps` takes.

        The file explanation.schema.json of this package describes them.
        """
        from zodiac_sql.read.why.show_json import as_dict

        return as_dict(self)

    def json(self) -> str:
        """The same as `to_dict` as JSON text."""
        from zodiac_sql.read.why.show_json import json_text

        return json_text(self)

    def arrow(self) -> pa.Table:
        """The steps, one row for each.

        `fact: string` is derived by the rule `rule: string`, which reads `text: string`;
        `kind: string` is rule or path. The step rests on `uses: list<string>`,
        `absent: list<string>`, `tests: list<string>`, `bindings: list<string>` and
        `groups: list<string>`, all as texts.
        """
        from zodiac_sql.read.why.show_arrow import arrow_table

        return arrow_table(self)

    def svg(self) -> str:
        """A complete SVG document that needs nothing from outside."""
        from zodiac_sql.read.why.show_svg import svg_document

        return svg_document(self)

    def mermaid(self) -> str:
        """A Mermaid flowchart."""
        from zodiac_sql.read.why.show_mermaid import mermaid_form

        return mermaid_form(self)

    def dot(self) -> str:
        """A Graphviz digraph."""
        from zodiac_sql.read.why.show_dot import dot_form

        return dot_form(self)

    def save(self, path: str | Path) -> None:
        """Write it in the format that the suffix names: .svg, .mmd, .dot or .json.

        Raises QueryError for another suffix, or a path that no file can have, OSError if the file
        cannot be written.
        """
        formats = {".svg": self.svg, ".mmd": self.mermaid, ".dot": self.dot, ".json": self.json}
        suffix = Path(path).suffix.lower()
        if suffix not in formats:
            named = "the suffix must be .svg, .mmd, .dot or .json"
            raise QueryError(f"cannot write an explanation to {str(path)!r}: {named}")
        if said := impossible(path):
            raise QueryError(f"{path} {said}")
        Path(path).write_text(formats[suffix](), encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        from zodiac_sql.read.why.show_html import html_form

        return html_form(self)

    def __str__(self) -> str:
        from zodiac_sql.read.why.show_text import text_form

        return text_form(self)

    def __repr__(self) -> str:
        return str(self)
