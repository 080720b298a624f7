"""`profile`: where the time goes, for each rule and each hypernode.

Rule: each change says what its rules took, and this is summed up, which costs next to nothing
(change/times.py). What evaluating everything from scratch takes is known only if somebody asks:
then it is done once more, aside, as by `explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from zodiac_sql.change.rule_stats import as_written
from zodiac_sql.change.stats import with_others
from zodiac_sql.change.times import Times
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.prefixed import prefixed, prefixed_iri
from zodiac_sql.language.written import on_one_line
from zodiac_sql.names import is_constraint
from zodiac_sql.read.describe import table_of
from zodiac_sql.read.explain.decisions import Decisions
from zodiac_sql.read.query import Answer
from zodiac_sql.tables import Table, first_as_html, first_boxed, milliseconds, number


@dataclass(slots=True)
class RuleRow:
    """The times of a rule. None: not known."""

    rule: str
    hypernode: str
    text: str | None
    seconds: float = 0.0
    last: float | None = None
    scratch: float | None = None
    facts: int | None = None
    together: Sequence[str] = ()
    shared: float = 0.0
    read: int | None = 0
    derived: int | None = 0


@dataclass(slots=True)
class HypernodeRow:
    """The times of a hypernode. None: not known."""

    hypernode: str
    derives: Sequence[str]
    rules: Sequence[str]
    operators: Sequence[str] = ()
    changes: int = 0
    seconds: float = 0.0
    last: float | None = None
    scratch: float | None = None
    facts: int | None = None
    rounds: int = 0
    inserted: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class TimeProfile:
    """Where the time goes: for each rule and each hypernode, the slowest first.

    It prints as two tables, in milliseconds.
    """

    changes: int
    """How many changes are summed up."""
    seconds: float
    """How long all of them took."""
    scratch_seconds: float | None
    """How long it took to evaluate everything from scratch; None if that was not asked for."""
    _rules: tuple[RuleRow, ...] = field(repr=False)
    _hypernodes: tuple[HypernodeRow, ...] = field(repr=False)
    _prefixes: Mapping[str, str] = field(repr=False)

    @property
    def rules(self) -> Answer:
        """The rules.

        rule: string                its name
        hypernode: string           its hypernode's name: "h3"
        text: string                its text; null if it is not there any more
        seconds: double             the time of all statements that have applied it, in all changes;
                                    of the only rule of a hypernode, all that the hypernode took
        together: list<string>      others that some of these statements have applied, too: no clock
                                    tells them apart
        seconds_together: double    the part of `seconds` that is of those statements
        read: int64                 the rows of all relations, or deltas, that its bodies have read;
                                    null if recursive statements or look-ups have read them
        derived: int64              the heads that were found, new or in search of what is lost; or
                                    null
        last_seconds: double        the same as `seconds`, in the last change; null if it had no
                                    work
        scratch_seconds: double     what it takes from scratch: of several rules of a hypernode, the
                                    body by itself over all that holds; null if nobody has asked, or
                                    an algorithm of its own computes the closure
        scratch_facts: int64        how many facts it derives then; or null
        """
        rows = self._rules
        return table_of(
            rule=("string", [one.rule for one in rows]),
            hypernode=("string", [one.hypernode for one in rows]),
            text=("string", [one.text for one in rows]),
            seconds=("double", [one.seconds for one in rows]),
            together=("list<string>", [list(one.together) for one in rows]),
            seconds_together=("double", [one.shared for one in rows]),
            read=("int64", [one.read for one in rows]),
            derived=("int64", [one.derived for one in rows]),
            last_seconds=("double", [one.last for one in rows]),
            scratch_seconds=("double", [one.scratch for one in rows]),
            scratch_facts=("int64", [one.facts for one in rows]),
        )

    @property
    def hypernodes(self) -> Answer:
        """The hypernodes.

        hypernode: string           its name: "h3"
        derives: list<string>       the predicates that its rules derive
        rules: list<string>         the names of its rules
        operators: list<string>     what has done the work in changes: "support", "lookups", ..
        changes: int64              in how many changes it had work
        seconds: double             what it took in all of them
        rounds: int64               how often its rules were applied
        inserted: int64             the facts that its tables have gained
        deleted: int64              the facts that they have lost
        last_seconds: double        what it took in the last change; null if it had no work
        scratch_seconds: double     what it takes from scratch; null if nobody has asked
        scratch_facts: int64        how many facts it derives then; or null
        """
        rows = self._hypernodes
        return table_of(
            hypernode=("string", [one.hypernode for one in rows]),
            derives=("list<string>", [list(one.derives) for one in rows]),
            rules=("list<string>", [list(one.rules) for one in rows]),
            operators=("list<string>", [list(one.operators) for one in rows]),
            changes=("int64", [one.changes for one in rows]),
            seconds=("double", [one.seconds for one in rows]),
            rounds=("int64", [one.rounds for one in rows]),
            inserted=("int64", [one.inserted for one in rows]),
            deleted=("int64", [one.deleted for one in rows]),
            last_seconds=("double", [one.last for one in rows]),
            scratch_seconds=("double", [one.scratch for one in rows]),
            scratch_facts=("int64", [one.facts for one in rows]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, texts and numbers: what `json.dumps` takes."""
        return {
            "changes": self.changes,
            "seconds": self.seconds,
            "scratch_seconds": self.scratch_seconds,
            "rules": self.rules.to_pylist(),
            "hypernodes": self.hypernodes.to_pylist(),
        }

    def shown(self, whole: bool = False) -> Iterator[Table]:
        """The tables that people see: the columns that are known, and the rows that took time.

        If IRIs are not to be `whole`, they have the prefixes of the program.
        """
        prefixes = {} if whole else self._prefixes
        times = self._times()
        rules = [one for one in self._rules if self._took(one)]
        if rules:
            yield (
                ("rule", "hypernode", *times, *_counted(rules), "text"),
                [
                    (with_others(one.rule, one.together), one.hypernode)
                    + tuple(milliseconds(getattr(one, name)) for name in times.values())
                    + tuple(number(getattr(one, name)) for name in _counted(rules).values())
                    + (prefixed(on_one_line(one.text or "(gone)"), prefixes),)
                    for one in rules
                ],
            )
        yield from self._shown_hypernodes(prefixes)

    def _shown_hypernodes(self, prefixes: Mapping[str, str]) -> Iterator[Table]:
        times = self._times()
        hypernodes = [one for one in self._hypernodes if self._took(one)]
        moved = {"rounds": "rounds", "gained": "inserted", "lost": "deleted"}
        counted = moved if self.changes else {"facts": "facts"}
        if hypernodes:
            yield (
                ("hypernode", *times, *counted, "derives"),
                [
                    (one.hypernode,)
                    + tuple(milliseconds(getattr(one, name)) for name in times.values())
                    + tuple(number(getattr(one, name)) for name in counted.values())
                    + (", ".join(prefixed_iri(name, prefixes) for name in one.derives),)
                    for one in hypernodes
                ],
            )

    def __str__(self) -> str:
        return f"{first_boxed(self.shown())}\n{self.caption()}".lstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"{first_as_html(self.shown())}<p>{self.caption()}</p>"

    def caption(self) -> str:
        """How many changes there were, and how long all of it took."""
        many = "1 change" if self.changes == 1 else f"{self.changes:,} changes"
        told = [f"{many}, {self.seconds:.3f} s"] if self.changes or not self._is_scratch else []
        if self.scratch_seconds is not None:
            told.append(f"everything from scratch, {self.scratch_seconds:.3f} s")
        return "; ".join(told)

    @property
    def _is_scratch(self) -> bool:
        return self.scratch_seconds is not None

    def _times(self) -> dict[str, str]:
        """The columns of times that are known, by their names."""
        found = {"ms": "seconds"} if self.changes else {}
        found |= {"last ms": "last"} if self.changes > 1 else {}
        return found | ({"scratch ms": "scratch"} if self._is_scratch else {})

    def _took(self, one: RuleRow | HypernodeRow) -> bool:
        return bool(one.seconds or one.scratch)


def _counted(rules: Sequence[RuleRow]) -> dict[str, str]:
    """The columns of numbers that are known of some rule, by their names."""
    names = {"read": "read", "derived": "derived", "facts": "facts"}
    return {name: of for name, of in names.items() if any(getattr(one, of) for one in rules)}


def profile_of(
    graph: Hypergraph, prefixes: Mapping[str, str], times: Times, scratch: Decisions | None
) -> TimeProfile:
    """What changes took, and perhaps what evaluating everything from scratch takes."""
    rules: dict[tuple[str, str], RuleRow] = {}
    hypernodes: dict[str, HypernodeRow] = {}
    for one in graph.hypernodes:
        derives = [name for name in one.derives if not is_constraint(name)]
        hypernodes[one.name] = HypernodeRow(one.name, derives, [r.name for r in one.rules])
        for rule in one.rules:
            rules[one.name, rule.name] = RuleRow(rule.name, one.name, rule.text)
    _add_changes(rules, hypernodes, times)
    if scratch is not None:
        _add_scratch(rules, hypernodes, scratch)
    return TimeProfile(
        times.changes,
        times.seconds,
        None if scratch is None else scratch.seconds,
        _slowest_first(rules.values(), scratch is not None),
        _slowest_first(hypernodes.values(), scratch is not None),
        prefixes,
    )


_Rules = dict[tuple[str, str], RuleRow]
"""Rules by the names of their hypernodes and their own."""


def _add_changes(rules: _Rules, hypernodes: dict[str, HypernodeRow], times: Times) -> None:
    """Add what changes took. (Another thread may be adding one: so what grows is copied.)"""
    for name, done in times.hypernodes.copy().items():
        row = hypernodes.setdefault(name, HypernodeRow(name, (), list(done.rules.copy())))
        row.operators, row.changes = list(done.operators.copy()), done.changes
        row.seconds, row.rounds = done.seconds, done.rounds
        row.inserted, row.deleted = done.inserted, done.deleted
        for rule, one in as_written(done.rules.copy(), row.rules).items():
            of_rule = rules.setdefault((name, rule), RuleRow(rule, name, None))
            of_rule.seconds, of_rule.shared = one.seconds, one.shared
            of_rule.together = one.others(rule)
            of_rule.read, of_rule.derived = one.read, one.derived
    if times.last is not None:
        for name, last in times.last.hypernodes.items():
            hypernodes[name].last = last.seconds
            for found in last.rules:
                rules[name, found.rule].last = found.seconds


def _add_scratch(rules: _Rules, hypernodes: dict[str, HypernodeRow], scratch: Decisions) -> None:
    """Add what everything takes from scratch. (It may be of a later state, if another connection
    has changed the file.)
    """
    for name, ms, facts in _columns(scratch.hypernodes, "hypernode", "took_ms", "inserted"):
        if name in hypernodes:
            hypernodes[name].scratch, hypernodes[name].facts = ms / 1000, facts
    for name, rule, ms, facts in _columns(scratch.rules, "hypernode", "rule", "ms", "facts"):
        if (name, rule) in rules and ms is not None:
            rules[name, rule].scratch, rules[name, rule].facts = ms / 1000, facts


def _columns(answer: Answer, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(answer[name].to_pylist() for name in names), strict=True)


_Row = TypeVar("_Row", RuleRow, HypernodeRow)


def _slowest_first(rows: Iterable[_Row], is_scratch: bool) -> tuple[_Row, ...]:
    """By what they take from scratch, if that is known; else by what they took in changes."""

    def took(row: _Row) -> tuple[float, float]:
        return (-(row.scratch or 0.0) if is_scratch else 0.0, -row.seconds)

    return tuple(sorted(rows, key=took))
