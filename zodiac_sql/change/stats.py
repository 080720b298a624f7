"""What a change cost: time, and work counted in facts. `Change.stats` is a `Stats`.

Each class can be read by attribute, `stats.seconds.reason`, or as a mapping of its fields,
`stats["seconds"]["reason"]`. A field that is None is absent from the mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from zodiac_sql.cost.operator import Decision
from zodiac_sql.tables import Table, first_as_html, first_boxed, milliseconds, number


class Record(Mapping[str, Any]):
    """A frozen data class that is also a mapping of those of its fields that are not None."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return any(name == present for present in self)

    def __iter__(self) -> Iterator[str]:
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return (name for name in names if getattr(self, name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, texts and numbers: what `json.dumps` takes."""
        return {name: _plain(value) for name, value in self.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return [*map(_plain, value)] if is_list else value


@dataclass(frozen=True, slots=True, eq=False)
class Seconds(Record):
    """The time by phase, in seconds. A phase that was not reached is None."""

    stage: float | None = None
    """Reading facts and encoding their symbols."""
    check: float | None = None
    """Checking the rules, and finding the hypernodes."""
    reason: float | None = None
    """Computing what the hypernodes gain and lose."""
    compare: float | None = None
    """Finding which facts entered and left each extension."""
    publish: float | None = None
    """Bringing the change into the file. A preview has none."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorStats(Record):
    """An operator that could have carried a change out (change/registry.py), maintained a hypernode
    (maintain/registry.py), or evaluated it from scratch (evaluate/registry.py).
    """

    operator: str
    """Its name: "support", "recompute", "candidates", "copies", "products", .."""
    expected: float | None
    """What it expected to take, in milliseconds. None: it would have declined at once."""
    took: float | None = None
    """What it took, in milliseconds, if it was run."""
    declined: str | None = None
    """Why it has not done the work, if it was run and has not."""

    @property
    def did_it(self) -> bool:
        """Whether it has done the work."""
        return self.took is not None and self.declined is None

    @property
    def factor(self) -> float | None:
        """What it took, as a multiple of what it had expected; None if it did not run, or nothing
        was weighed because nothing else could do the work.
        """
        return self.took / self.expected if self.took is not None and self.expected else None


def considered(decision: Decision | None) -> list[OperatorStats]:
    """The operators of a decision; none if there was none."""
    if decision is None:
        return []
    return [
        OperatorStats(
            one.name, one.cost.ms if isfinite(one.cost.ms) else None, one.took, one.declined or None
        )
        for one in decision.considered
    ]


@dataclass(frozen=True, slots=True, eq=False)
class RuleStats(Record):
    """What one rule took in a change.

    A statement may apply several rules at once, and no clock tells these apart: then each of them
    has the time and the rows of that statement, and says which others were in it.
    """

    rule: str
    """Its name. It may have gone with the change: it was applied to find what it takes away."""
    hypernode: str
    """The name of its hypernode: "h3"."""
    operator: str
    """What has maintained the hypernode, as "support" and "lookups", or has evaluated it from
    scratch, as "statement" and "loop"."""
    seconds: float
    """The time of all statements that have applied the rule. If it is alone in its hypernode, this
    is all that the hypernode took, in seconds."""
    together: Sequence[str] = ()
    """Other rules that some of these statements have applied, too."""
    seconds_together: float = 0.0
    """The part of `seconds` that is of those statements."""
    rounds: int = 0
    """How often rules of its hypernode were applied."""
    read: int | None = None
    """The rows of all relations that its bodies have read, or of their deltas: not the rows that
    DuckDB has looked at. None if a recursive statement or look-ups have read them."""
    derived: int | None = None
    """How many heads its statements have found: new ones, and in search of what is lost. None if
    that was not counted."""


@dataclass(frozen=True, slots=True, eq=False)
class HypernodeStats(Record):
    """What one hypernode had to do. The counts from `checked` to `marked` are numbers of facts.

    They can be compared with the tables of papers 3 and 4 (ARCHITECTURE.md). One statement finds
    many facts at once and counts each once, so `forward` and `backward` are at most the
    papers' numbers of derivations.
    """

    strategy: str
    """Who did the work: "support", "bf", "dred", "recompute", "candidates", "copies",
    "products", .."""
    why: str
    """Why that strategy, in words."""
    method: str
    """How: the strategy again, or how `recompute` reached the fixpoint."""
    modules: Sequence[str]
    """The closures that algorithms of their own computed: "tc(path)", "stc(near)"."""
    trees: Sequence[str]
    """What was decided for each cyclic rule, and why: "r1: A B C [A C D] (as chosen)"."""
    checked: int = 0
    """Facts examined whether they still hold (paper 3: |C|)."""
    overdeleted: int = 0
    """Facts deleted provisionally (DRed: |D|)."""
    rederived: int = 0
    """Overdeleted facts that came back."""
    forward: int = 0
    """Heads of rules found from facts that were lost or gained (paper 3: "Sat", "Del Prop")."""
    backward: int = 0
    """Facts or heads looked at in search of another derivation (paper 3: "Bwd")."""
    iterations: int = 0
    """Rounds of rule application. Not facts."""
    deletions: int = 0
    """The part of `forward` found from lost facts that were not marked (paper 4)."""
    insertions: int = 0
    """The part of `forward` found from gained facts (paper 4)."""
    marked: int = 0
    """Derived facts marked for the next update of a stream (paper 4)."""
    inserted: int = 0
    """Facts that the hypernode's tables gained."""
    deleted: int = 0
    """Facts that the hypernode's tables lost."""
    seconds: float = 0.0
    """Time, in seconds."""
    considered: Sequence[OperatorStats] = field(default_factory=list)
    """All operators that could have maintained it, in the order in which they would run."""
    evaluated: Sequence[OperatorStats] = field(default_factory=list)
    """The same for those that could have evaluated it from scratch, if that was done."""
    expected_inserted: float | None = None
    """How many facts its tables were expected to gain, by the sizes of all that it reads
    (maintain/weighed.py). None if that was not weighed, as where rules have come or gone."""
    expected_deleted: float | None = None
    """How many they were expected to lose."""
    rules: Sequence[RuleStats] = ()
    """What each of its rules took."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkStats(Record):
    """How many facts are marked for the next update of a stream (paper 4)."""

    explicit: int
    """Explicit facts that the next update deletes."""
    implicit: int
    """Derived facts found to follow from those."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamStats(Record):
    """How far a stream of updates is behind."""

    lag: float
    """Seconds from the arrival of the change's first update until it was in the file."""
    waiting: int
    """Updates that had arrived and were waiting behind the change's last one when it began."""


@dataclass(frozen=True, slots=True, eq=False)
class Stats(Record):
    """What a change cost."""

    seconds: Seconds
    """The time by phase, in seconds."""
    hypernodes: Mapping[str, HypernodeStats]
    """The hypernodes that had work, by name ("h1"), in the order in which they were done."""
    marks: MarkStats | None = None
    """What was marked; None unless the strategy has marking."""
    stream: StreamStats | None = None
    """How far the stream is behind; None unless the change is part of a stream."""
    considered: Sequence[OperatorStats] = field(default_factory=list)
    """All operators that could have carried it out, in the order in which they would run."""

    @property
    def rules(self) -> list[RuleStats]:
        """What each rule took whose hypernode had work, the slowest first."""
        listed = [one for done in self.hypernodes.values() for one in done.rules]
        return sorted(listed, key=lambda one: -one.seconds)

    def __str__(self) -> str:
        """What the change cost, as tables: its phases, its hypernodes and its rules."""
        return first_boxed(self._tables())

    def _repr_html_(self) -> str:
        """The same as a notebook shows it."""
        return first_as_html(self._tables())

    def _tables(self) -> Iterator[Table]:
        yield ("phase", "ms"), [(name, milliseconds(took)) for name, took in self.seconds.items()]
        work = sorted(self.hypernodes.items(), key=lambda item: -item[1].seconds)
        if work:
            yield (
                ("hypernode", "operator", "ms", "rounds", "gained", "lost"),
                [
                    (name, done.strategy, milliseconds(done.seconds))
                    + tuple(map(number, (done.iterations, done.inserted, done.deleted)))
                    for name, done in work
                ],
            )
        if rules := self.rules:
            yield (
                ("rule", "hypernode", "operator", "ms", "read", "derived"),
                [
                    (with_others(one.rule, one.together), one.hypernode, one.operator)
                    + (milliseconds(one.seconds), number(one.read), number(one.derived))
                    for one in rules
                ],
            )


def with_others(rule: str, others: Sequence[str]) -> str:
    """The name of a rule, with those that share its time: at most three are named."""
    if not others:
        return rule
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"{rule} (with {', '.join(others[:3])}{more})"
