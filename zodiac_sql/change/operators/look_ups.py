"""A change of few facts, carried out by look-ups in copies (lookups/), and written to the file.

Rule: if the program stays as it is, and a change inserts and deletes only a few facts that are
given, then copies are asked what it does to the tables of all hypernodes, and DuckDB writes that.
Where they cannot tell, it is declined, and nothing has happened.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from zodiac_sql.change.execution import Applied, Carries, Execution
from zodiac_sql.change.kinds import MOST_GIVEN, Kind, kind_of
from zodiac_sql.change.operators.beside_rules import moved_beside
from zodiac_sql.change.operators.directly import Written
from zodiac_sql.change.report import CarriedOut
from zodiac_sql.change.request import Request
from zodiac_sql.change.rule_stats import RulesOfHypernode
from zodiac_sql.change.staged_rows import (
    is_each_once,
    parameters_of,
    staged_query,
    without_none,
)
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.change.temporary_tables import drop_temporary
from zodiac_sql.change.write_moved import write_moved
from zodiac_sql.cost.calibration import STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.lookups.copies import Copies
from zodiac_sql.lookups.look_up import SmallChange, look_up
from zodiac_sql.lookups.outcome import Given, Moved, Visited
from zodiac_sql.lookups.values import Fact, encoded
from zodiac_sql.lookups.worth import LookupLimits
from zodiac_sql.program.state import State
from zodiac_sql.storage.edits import Edit


def looked_up(
    execution: Execution, kind: Kind, limits: LookupLimits | None = None
) -> Applied | Declined:
    """Carry an update out by look-ups, or decline: then nothing has happened."""
    found = _found(execution, kind, limits)
    if isinstance(found, Declined):
        return found
    written, explicit, evaluated = found
    told, prepared = execution.told, execution.prepared
    told.seconds.setdefault("compare", 0.0)
    told.remarks += execution.request.rules.remarks
    drop_temporary(execution.before.store, (), renamed=False)
    done = CarriedOut(
        prepared.planned,
        written.state,
        written.differences,
        explicit={name: (edit.deleted, edit.inserted) for name, edit in explicit.items()},
        evaluated=evaluated,
        given=written.facts,
        is_published=execution.publishes,
    )
    return execution.applied(done, prepared, None)


def _found(
    execution: Execution, kind: Kind, limits: LookupLimits | None
) -> tuple[Written, Mapping[str, Edit], Mapping[str, HypernodeStats]] | Declined:
    """What was written, what became of explicit facts, and what hypernodes had to do."""
    before, prepared = execution.before, execution.prepared
    copies, store, state = prepared.copies, before.store, before.state
    why_not = copies.why_impossible(state, prepared.graph, (name for name, *_ in kind))
    if why_not:
        return _failed(copies, kind, Declined(why_not))
    given = _given(store, prepared.schema, execution.request)
    if isinstance(given, Declined):
        return _failed(copies, kind, given)
    others = given.keys() - {name for name, *_ in kind}
    beside = moved_beside(store, state, given, others, prepared.cache)
    if isinstance(beside, Declined):
        return _failed(copies, kind, beside)
    facts = {name: some for name, some in given.items() if name not in beside}
    at_once = before.settings.strategy == "lookups"
    asked = SmallChange(kind, facts, limits or copies.limits(kind), at_once, execution.publishes)
    writing = _Publication(execution, beside)
    with execution.told.timed("reason"):
        visited = look_up(copies, store, state, prepared.graph, asked, writing.write)
    if isinstance(visited, Declined):
        return visited
    execution.told.seconds["reason"] -= writing.seconds
    assert writing.written is not None
    stats = {name: _stats(execution, name, visited[name], writing.moved) for name in visited}
    return writing.written, writing.explicit, stats


def _failed(copies: Copies, kind: Kind, why: Declined) -> Declined:
    """Note that a change of a kind could not be looked up."""
    copies.worth.failed(kind)
    return why


def _given(store: Store, schema: Schema, request: Request) -> dict[str, Given] | Declined:
    """The facts that an update deletes and inserts, as SQLite has them."""
    inserts, deletes = without_none(request.inserts), without_none(request.deletes)
    found = {}
    for name in {**deletes, **inserts}:
        known = schema[name]
        gone, come = (_rows(store, known, some.get(name, [])) for some in (deletes, inserts))
        if gone is None or come is None:
            return Declined("there are too many facts, or one of them cannot be copied")
        found[name] = Given([row for row in gone if row not in come], [*come])
    return found


def _rows(store: Store, known: Predicate, staged: Sequence[Staged]) -> dict[Fact, None] | None:
    """Staged facts, each once, with the types of the predicate, unless they cannot be copied."""
    if not staged:
        return {}
    rows: list[Fact] | None = [row for one in staged for row in one.given or ()]
    plain = all(one.given is not None and is_each_once(known, [one]) for one in staged)
    if not plain:
        rows = store.rows(staged_query(known, staged), parameters_of(staged))
    rows = encoded(known.columns, rows or ())
    return None if rows is None or len(rows) > MOST_GIVEN else dict.fromkeys(rows)


class _Publication:
    """What look-ups bring to the file, or would bring."""

    def __init__(self, execution: Execution, beside: Mapping[str, Moved]) -> None:
        self.execution = execution
        self.beside = beside
        """What moves of predicates that no rule reads."""
        self.moved: Mapping[str, Moved] = {}
        self.written: Written | None = None
        self.explicit: Mapping[str, Edit] = {}
        self.seconds = 0.0

    def write(self, moved: Mapping[str, Moved]) -> State | None:
        """Write what has moved. Returns the state after it, if it is not a preview."""
        self.moved = {**moved, **self.beside}
        publishes, told = self.execution.publishes, self.execution.told
        started = time.perf_counter()
        with told.timed("publish" if publishes else "compare"):
            self.written, self.explicit = write_moved(self.execution, self.moved, self.beside)
        self.seconds = time.perf_counter() - started
        return self.written.state if publishes else None


def _stats(
    execution: Execution, name: str, visited: Visited, moved: Mapping[str, Moved]
) -> HypernodeStats:
    """What a hypernode had to do."""
    hypernode = execution.prepared.graph.by_name[name]
    edits = [moved[p].edits.get(hypernode.id) for p in hypernode.derives if p in moved]
    counts = [edit.moved for edit in edits if edit]
    row = next(row for row in execution.before.state.hypernodes if row.id == hypernode.id)
    counted = {name: getattr(visited, name) for name in _COUNTED}  # asdict takes longer
    return HypernodeStats(
        strategy="lookups",
        why="few facts, and copies of what its rules read",
        method="lookups",
        modules=[str(module) for module in row.modules],
        trees=[],
        **counted,
        inserted=sum(gained for gained, _ in counts), deleted=sum(lost for _, lost in counts),
        rules=RulesOfHypernode(
            hypernode, "lookups", visited.seconds, visited.iterations, visited.rules
        ),
    )  # fmt: skip


_COUNTED = tuple(name for name in Visited.__slots__ if name != "rules")


def _matches(execution: Execution) -> bool:
    kind = kind_of(execution)
    if kind is None:
        return False
    copies, before = execution.prepared.copies, execution.before
    if before.settings.strategy == "lookups":
        copies.worth.earn_all()
    return copies.is_to_be_tried(before.state, kind)


def _run(execution: Execution, _: float) -> Applied | Declined:
    kind = kind_of(execution)
    assert kind is not None
    return looked_up(execution, kind)


LOOK_UPS: Carries = Operator(
    "look-ups", _matches, lambda _: Cost(STATEMENT, "few facts, and copies have been earned"), _run
)
