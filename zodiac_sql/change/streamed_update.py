"""An update of a stream: it knows its position, and can be told what the next one deletes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from zodiac_sql.change.change import Streamed
from zodiac_sql.change.update import Update
from zodiac_sql.database.guard import exclusive
from zodiac_sql.errors import DataError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.maintain.registry import MARKING
from zodiac_sql.program.state import State


class StreamedUpdate(Update):
    """An update as a stream gives it. People get a plain `Update`."""

    @property
    def state(self) -> State:
        """What is known before the update."""
        return self._collected.before.state

    def graph_before(self) -> Hypergraph:
        """The HRDG before the update."""
        return self._collected.before.graph()

    def applies(self, streamed: Streamed) -> None:
        """Say which updates of a stream this one applies."""
        self._collected.request.streamed = streamed

    @exclusive
    def look_ahead(self, deletes: Mapping[str, object]) -> None:
        """Say which facts, by predicate, the update after this one will delete.

        A strategy with marking then works out some consequences in advance (paper 4). Only facts
        that no rule derives count, because a fact that a rule derives may stay. Call this after all
        other verbs. Rows that cannot be facts are passed over; the next update reports them.
        """
        collected = self._collected
        before, request, edits = collected.before, collected.request, collected.edits
        if before.settings.strategy not in MARKING or request.rules:
            return
        derived = {p for h in before.graph().hypernodes for p in h.derives}
        for predicate, rows in deletes.items():
            name = edits.meant(predicate)
            known = edits.provisional.get(name)
            if known is None or known.open or name in derived:
                continue
            with suppress(DataError):
                staged = collected.stage(name, rows, gone=True)
                if staged is not None:
                    request.ahead[name] = rows, staged
