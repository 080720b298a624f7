"""What an update begins with: the open database, its state, and what is known of its program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.settings import Settings
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.program.state import State, hypergraph_of, parsed_templates


@dataclass(slots=True)
class Baseline:
    """What is there before an update, and stays as it is until the update is published."""

    store: Store
    state: State
    functions: Functions
    settings: Settings
    prepared: Prepared | None
    """The prepared program as it is before the update."""
    marks: Marks | None
    """What the previous update has found out about this one."""
    _graph: Hypergraph | None = None

    def graph(self) -> Hypergraph:
        """The HRDG of the program; parsed from the catalog unless an earlier change did so."""
        if self._graph is None:
            known = self.prepared is not None and self.prepared.rules is self.state.rules
            self._graph = self.prepared.graph if known and self.prepared else None
            self._graph = self._graph or hypergraph_of(self.state)
        return self._graph

    def written(self) -> Iterator[Rule]:
        """The rules of the program, as users have written them."""
        yield from (rule for rule in self.graph().rules() if rule.origin is None)
        yield from parsed_templates(self.state)
