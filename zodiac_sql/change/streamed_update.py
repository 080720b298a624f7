"""An update of a stream: it also knows which one it is, and may be told what the next deletes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from zodiac_sql.change.change import Streamed
from zodiac_sql.change.update import Update
from zodiac_sql.database.guard import exclusive
from zodiac_sql.errors import DataError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.maintain.choose import MARKING
from zodiac_sql.program.state import State


class StreamedUpdate(Update):
    """An update as a stream gives it. People get a plain `Update`."""

    @property
    def state(self) -> State:
        """What is known before the update."""
        return self._collected.state

    def graph_before(self) -> Hypergraph:
        """The HRDG before the update."""
        return self._collected.graph_before()

    def applies(self, streamed: Streamed) -> None:
        """Say which updates of a stream this one applies."""
        self._collected.streamed = streamed

    @exclusive
    def look_ahead(self, deletes: Mapping[str, object]) -> None:
        """Say which facts, by predicate, the update after this one will delete.

        A strategy with marking works some of that out on the way (paper 4); only for facts that no
        rule derives, as it may not be known of others that they will be gone. To be called after
        all other verbs; rows that cannot be facts are passed over, for the next update to tell.
        """
        collected = self._collected
        if collected.settings.strategy not in MARKING or collected.rules:
            return
        derived = {p for h in collected.graph_before().hypernodes for p in h.derives}
        for predicate, rows in deletes.items():
            name = collected.meant(predicate)
            known = collected.schema.get(name)
            if known is None or known.open or name in derived:
                continue
            with suppress(DataError):
                staged = collected.stage(name, rows, gone=True)
                if staged is not None:
                    collected.ahead[name] = rows, staged
