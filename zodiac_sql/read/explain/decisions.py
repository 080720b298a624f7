"""What `explain` answers: for each hypernode its operators, and what the one that ran took.

A number of milliseconds is time by the clock, as somebody waits for it. What an operator expects to
take is in milliseconds, too (cost/calibration.py), and so is what a change is expected to move in
facts (maintain/weighed.py). So a factor tells how far an estimate was off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zodiac_sql.change.stats import OperatorStats
from zodiac_sql.read.describe import table_of
from zodiac_sql.read.explain.shown import tables
from zodiac_sql.read.explain.work import HypernodeWork, RuleTime
from zodiac_sql.read.query import Answer
from zodiac_sql.tables import Table, first_boxed


@dataclass(frozen=True, slots=True)
class Decisions:
    """Which operators evaluated each hypernode from scratch, or maintained it in a change.

    It prints as a table of hypernodes, one of the operators where there was a choice, and one of
    rules, the slowest first.
    """

    seconds: float
    """How long all of it took."""
    is_change: bool
    """Whether a change is told; else all was evaluated from scratch."""
    _work: tuple[HypernodeWork, ...] = field(repr=False)
    _prefixes: Mapping[str, str] = field(repr=False)

    @property
    def hypernodes(self) -> Answer:
        """What was done for each hypernode, the slowest first.

        hypernode: string           its name: "h3"
        derives: list<string>       the predicates that its rules derive
        operator: string            what did the work: "statement", "loop", "support", ..
        why: string                 why that one, in words
        expected_ms: double         what it expected to take; null if nothing was weighed
        took_ms: double             what the hypernode took, with what others took that gave up
        factor: double              how many times what it had expected the operator took; or null
        rounds: int64               how often rules were applied
        inserted: int64             facts that its tables gained: from scratch, all that it derives
        expected_inserted: double   how many were expected; null if nobody has estimated it
        deleted: int64              facts that its tables lost: from scratch, none
        expected_deleted: double    how many were expected; or null
        """
        work, stats = self._work, [one.stats for one in self._work]
        return table_of(
            hypernode=("string", [one.hypernode.name for one in work]),
            derives=("list<string>", [one.derives for one in work]),
            operator=("string", [one.strategy for one in stats]),
            why=("string", [one.why for one in stats]),
            expected_ms=(
                "double",
                [_ms(one.expected_ms) for one in work],
            ),
            took_ms=("double", [_ms(one.ms) for one in work]),
            factor=("double", [_factor(one.ran) for one in work]),
            rounds=("int64", [one.iterations for one in stats]),
            inserted=("int64", [one.inserted for one in stats]),
            expected_inserted=("double", [one.expected_inserted for one in stats]),
            deleted=("int64", [one.deleted for one in stats]),
            expected_deleted=("double", [one.expected_deleted for one in stats]),
        )

    @property
    def operators(self) -> Answer:
        """The operators that could have done the work, in the order of `hypernodes`, each
        hypernode's in the order in which they would run.

        hypernode: string           the hypernode's name: "h3"
        work: string                "evaluate" from scratch, or "maintain"
        operator: string            its name
        expected_ms: double         what it expected to take; 0 if nothing was weighed, as nothing
                                    else could do the work; null: it would have given up at once
        took_ms: double             what it took; null if it did not run
        factor: double              `took_ms` as a multiple of `expected_ms`; or null
        declined: string            why it has not done the work, if it ran and has not; or null
        """
        listed = [
            (one.hypernode.name, done, offered)
            for one in self._work
            for done, offers in one.considered
            for offered in offers
        ]
        return table_of(
            hypernode=("string", [name for name, _, _ in listed]),
            work=("string", [work for _, work, _ in listed]),
            operator=("string", [one.operator for _, _, one in listed]),
            expected_ms=("double", [_ms(one.expected) for _, _, one in listed]),
            took_ms=("double", [_ms(one.took) for _, _, one in listed]),
            factor=("double", [_factor(one) for _, _, one in listed]),
            declined=("string", [one.declined for _, _, one in listed]),
        )

    @property
    def rules(self) -> Answer:
        """The rules, the slowest first, and then those whose time is not known.

        rule: string                its name
        hypernode: string           its hypernode's name: "h3"
        ms: double                  how long it took; null if none of it ran
        facts: int64                how many facts it derives, those included that others derive,
                                    too; null if that was not counted
        measured: string            "evaluation" if it is the only rule of its hypernode: the time
                                    is that of the evaluation; "body": one of several, whose body
                                    was evaluated once by itself over all that holds in the end;
                                    "module": none of it ran, as an algorithm of its own computes
                                    the closure; of a hypernode that had work in a change,
                                    "change": its only rule, with all of its time; "statements": one
                                    of several, with the statements that applied it; "together": the
                                    same, and some of these have applied others, too
        """
        listed = self._slowest_rules()
        return table_of(
            rule=("string", [one.rule for _, one in listed]),
            hypernode=("string", [name for name, _ in listed]),
            ms=("double", [_ms(one.ms) for _, one in listed]),
            facts=("int64", [one.facts for _, one in listed]),
            measured=("string", [one.measured for _, one in listed]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, texts and numbers: what `json.dumps` takes."""
        return {
            "seconds": self.seconds,
            "change": self.is_change,
            "hypernodes": self.hypernodes.to_pylist(),
            "operators": self.operators.to_pylist(),
            "rules": self.rules.to_pylist(),
        }

    def shown(self, whole: bool = False) -> Iterator[Table]:
        """The tables that people see: each with the names of its columns, and its rows.

        If IRIs are not to be `whole`, they have the prefixes of the program.
        """
        prefixes = {} if whole else self._prefixes
        return tables(self._work, self._slowest_rules(), self.is_change, prefixes)

    def __str__(self) -> str:
        return f"{first_boxed(self.shown())}\n{self.caption()}".lstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.hypernodes._repr_html_() + self.rules._repr_html_()

    def caption(self) -> str:
        """How many hypernodes there were, and how long all of it took."""
        done = "had work in the change" if self.is_change else "evaluated from scratch"
        number = len(self._work)
        hypernodes = "1 hypernode" if number == 1 else f"{number:,} hypernodes"
        return f"{hypernodes} {done}, {self.seconds:.3f} s"

    def _slowest_rules(self) -> list[tuple[str, RuleTime]]:
        listed = [(one.hypernode.name, rule) for one in self._work for rule in one.rules]
        return sorted(listed, key=lambda pair: -(-1.0 if pair[1].ms is None else pair[1].ms))


def decisions(
    seconds: float,
    is_change: bool,
    work: Sequence[HypernodeWork],
    prefixes: Mapping[str, str],
) -> Decisions:
    """The hypernodes that had work, the slowest first."""
    slowest_first = tuple(sorted(work, key=lambda one: -one.ms))
    return Decisions(seconds, is_change, slowest_first, prefixes)


def _ms(ms: float | None) -> float | None:
    """Milliseconds to three places: what a clock can tell."""
    return None if ms is None else round(ms, 3)


def _factor(one: OperatorStats | None) -> float | None:
    """To three digits: an estimate is not better than that."""
    return float(f"{one.factor:.3g}") if one and one.factor is not None else None
