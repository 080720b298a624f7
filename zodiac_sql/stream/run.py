"""Opens a source of updates and runs the loop that applies them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

from zodiac_sql.change.change import Change
from zodiac_sql.database.guard import Guard
from zodiac_sql.stream.loop import Begin, StreamLoop, StreamOptions, ended_early, is_told
from zodiac_sql.stream.sources import opened, require_source


def stream(
    updates: object,
    begin: Begin,
    position: Callable[[str], int | None],
    guard: Guard,
    options: StreamOptions,
) -> Iterator[Change] | AsyncIterator[Change]:
    """The changes that updates make; an asynchronous iterator if the source is asynchronous.

    `position` tells how far the stream of a name has come, and `guard` who may use the knowledge
    base. Raises DataError if `updates` is not a source.
    """
    require_source(updates, options.queue)
    if hasattr(updates, "__aiter__"):
        from zodiac_sql.stream.asynchronous import changes_of  # late: asyncio is large

        return changes_of(updates, begin, position, guard, options)
    return _changes(updates, begin, position, options)


def _changes(
    updates: object, begin: Begin, position: Callable[[str], int | None], options: StreamOptions
) -> Iterator[Change]:
    with opened(updates, options.queue, options.tick is not None) as source:
        done = options.passed_over(position)
        for number in range(done):
            if source.next() is None:
                raise ended_early(options.name, done, number)
        yield from filter(
            is_told, StreamLoop(source, begin, options, done, options.ticks()).changes()
        )
