"""What the logger zodiac_sql.change says: INFO one line for each change, DEBUG its operators."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zodiac_sql.change.summary import one_line

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.stats import HypernodeStats

LOGGER = logging.getLogger("zodiac_sql.change")


def log_change(change: Change, path: str) -> None:
    """Log a change of a database that was published."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    LOGGER.info("%s: %s", path, one_line(change))
    if LOGGER.isEnabledFor(logging.DEBUG):
        for name, done in change.stats.hypernodes.items():
            LOGGER.debug("%s: %s: %s", path, name, ", ".join(_what_was_done(done)))


def log_refusal(error: BaseException, path: str) -> None:
    """Log that a change has failed, and why: the first line of the error."""
    if LOGGER.isEnabledFor(logging.INFO):
        said = str(error).partition("\n")[0]
        LOGGER.info("%s: no change. %s: %s", path, type(error).__name__, said)


def _what_was_done(done: HypernodeStats) -> Iterator[str]:
    operators = [one for one in (*done.considered, *done.evaluated) if one.took is not None]
    yield f"{done.strategy} ({done.why})"
    yield f"{done.inserted} facts entered, {done.deleted} left"
    yield f"{done.iterations} rounds in {1000 * done.seconds:.1f} ms"
    for one in operators:
        expected = "" if one.expected is None else f" of {one.expected:.1f} expected"
        declined = f", declined: {one.declined}" if one.declined else ""
        yield f"{one.operator} {one.took:.1f} ms{expected}{declined}"
