"""The tables of `explain` that people see. They fit a terminal of 80 columns.

Each number that was expected stands behind the one that came, in the same column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zodiac_sql.change.stats import OperatorStats
from zodiac_sql.language.prefixed import prefixed_iri
from zodiac_sql.read.explain.work import HypernodeWork, RuleTime
from zodiac_sql.tables import Table

DERIVED_SHOWN = 3
"""So many predicates of a hypernode are named."""


def tables(
    work: Sequence[HypernodeWork],
    rules: Sequence[tuple[str, RuleTime]],
    is_change: bool,
    prefixes: Mapping[str, str],
) -> Iterator[Table]:
    """Those that have rows: of hypernodes, of operators where there was a choice, and of rules."""
    for names, rows in (_hypernodes(work, is_change, prefixes), _operators(work), _rules(rules)):
        if rows:
            yield names, rows


def _hypernodes(
    work: Sequence[HypernodeWork], is_change: bool, prefixes: Mapping[str, str]
) -> Table:
    names = (
        "hypernode",
        "operator",
        "ms / expected",
        "moved / expected" if is_change else "facts / expected",
    )
    rows = zip(
        (f"{one.hypernode.name} {_derives(one.derives, prefixes)}" for one in work),
        (_operator(one) for one in work),
        _beside((_ms(one.ms), _ms(one.expected_ms)) for one in work),
        _beside(_moved(one) if is_change else _derived(one) for one in work),
        strict=True,
    )
    return names, list(rows)


def _derives(names: Sequence[str], prefixes: Mapping[str, str]) -> str:
    more = len(names) - DERIVED_SHOWN
    shown = ", ".join(prefixed_iri(name, prefixes) for name in names[:DERIVED_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _operator(one: HypernodeWork) -> str:
    rounds = one.stats.iterations
    return f"{one.stats.strategy}, {rounds:,} rounds" if rounds > 1 else one.stats.strategy


def _derived(one: HypernodeWork) -> tuple[str, str]:
    expected = one.stats.expected_inserted
    return f"{one.stats.inserted:,}", "" if expected is None else f"{expected:,.0f}"


def _moved(one: HypernodeWork) -> tuple[str, str]:
    stats = one.stats
    gained, lost = stats.expected_inserted, stats.expected_deleted
    known = gained is not None and lost is not None
    return (
        f"+{stats.inserted:,} -{stats.deleted:,}",
        f"+{gained:,.0f} -{lost:,.0f}" if known else "",
    )


def _operators(work: Sequence[HypernodeWork]) -> Table:
    names = ("hypernode", "work", "operator", "ms / expected", "outcome")
    listed = [
        (one.hypernode.name, done, offered)
        for one in work
        for done, offers in one.considered
        if len(offers) > 1
        for offered in offers
    ]
    times = _beside((_ms(one.took), _ms(one.expected)) for _, _, one in listed)
    return names, [
        (name, done, one.operator, ms, _outcome(one))
        for (name, done, one), ms in zip(listed, times, strict=True)
    ]


def _outcome(one: OperatorStats) -> str:
    if one.declined:
        return f"gave up: {one.declined}"
    if one.did_it:
        return "did it"
    return "would give up at once" if one.expected is None else ""


def _rules(rules: Sequence[tuple[str, RuleTime]]) -> Table:
    names = ("rule", "hypernode", "ms", "facts", "measured")
    times, facts = (
        _beside((text, "") for text in column)
        for column in (
            [_ms(one.ms) for _, one in rules],
            ["" if one.facts is None else f"{one.facts:,}" for _, one in rules],
        )
    )
    return names, [
        (one.rule, name, ms, number, one.measured)
        for (name, one), ms, number in zip(rules, times, facts, strict=True)
    ]


def _beside(pairs: Iterator[tuple[str, str]]) -> list[str]:
    """Each number with the one that was expected, one slash below the other."""
    listed = list(pairs)
    width = max((len(number) for number, _ in listed), default=0)
    return [
        f"{number:>{width}} / {expected}" if expected else f"{number:>{width}}"
        for number, expected in listed
    ]


def _ms(ms: float | None) -> str:
    """Milliseconds, or nothing if they are not known."""
    return "" if ms is None else f"{ms:,.1f}"
