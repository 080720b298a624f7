"""A filter that compares times with now(), when the clock has moved.

A fact of what it reads enters or leaves if its time lies between the border before the tick and the
border after it. So the statement asks for facts that pass the comparison by one clock, and not by
the other: DuckDB reads only the row groups that can have such times. Beside them are the facts that
enter and leave what the filter reads.

The filter keeps each fact as it is. So a fact that is not there any more, or passes no more,
leaves; nothing else can derive it.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.calibration import STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database.clock import at, is_now
from zodiac_sql.database.statements import anti_join, distinct, parameter, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS, is_filter
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.edits import Edit


def move_band(task: Task) -> Maintained:
    """Let facts enter and leave a filter."""
    inputs, (rule,) = task.inputs, task.hypernode.rules
    (atom,) = rule.positive_atoms()
    after = inputs.relation(atom.predicate, Version.ALL)
    nothing = Relation(after.columns, ())
    delta = inputs.deltas.get(atom.predicate)
    come, gone = (delta.inserted, delta.deleted) if delta else (nothing, nothing)
    lost = _made(task, "minus", gone, after, come, ("before", "after"))
    won = _made(task, "plus", come, after, nothing, ("after", "before"))
    edit = Edit(won, lost, lost, won)
    lost_rows, won_rows = (part.rows if part else 0 for part in (lost, won))
    work = Work(
        forward=lost_rows + won_rows, deletions=lost_rows, insertions=won_rows, iterations=1
    )
    return Maintained({rule.head.predicate: edit} if edit else {}, work, "band", task.former.ranked)


def _made(
    task: Task,
    kind: str,
    moved: Relation,
    after: Relation,
    new: Relation,
    clocks: tuple[str, str],
) -> Part | None:
    """The facts that have `moved` in what is read and pass by the first clock, and those there
    `after` the change that pass by the first clock and not by the second, without `new` ones.
    """
    ticked, (rule,) = task.inputs.ticked, task.hypernode.rules
    assert ticked is not None and ticked.before is not None

    def query() -> exp.Query:
        parts: list[exp.Query] = []
        if moved.rows:
            parts.append(_passing(task, moved, clocks[0]))
        if after.rows:
            band = _passing(task, after, clocks[0])
            other = _passing(task, after, clocks[1]).args["where"].this
            band = band.where(exp.not_(exp.paren(other)), copy=False)
            parts.append(_without(task, band, new) if new.rows else band)
        return distinct(union_all(parts))

    if not (moved.rows or after.rows):
        return None
    name = f"{CHANGE_FACTS}{kind}_{task.stem(rule.head.predicate)}"
    key = ("band", kind, relation_key(moved), relation_key(after), relation_key(new))
    used = clocks if after.rows else clocks[:1]
    times = {f"clock_{clock}": getattr(ticked, clock) for clock in used}
    return make_part(task.runner, key, name, query, parameters=times)


def _passing(task: Task, facts: Relation, clock: str) -> exp.Select:
    """Those of some facts that pass the comparisons by one clock."""
    (rule,) = task.hypernode.rules
    context = replace(task.context, relation=lambda *_: facts)
    compiled = compile_rule(whole(rule), task.columns(rule.head.predicate), context)
    query = compiled.query.transform(
        lambda node: at(parameter(f"clock_{clock}")) if is_now(node) else node
    )
    assert isinstance(query, exp.Select)
    return query


def _without(task: Task, facts: exp.Query, others: Relation) -> exp.Query:
    (rule,) = task.hypernode.rules
    kept = columns_of(Relation(task.columns(rule.head.predicate), ()), "b")
    named = zip(columns_of(others, "o"), kept, strict=True)
    same = exp.select(*(one.as_(other.name, quoted=True) for one, other in named))
    same = same.from_(relation_query(others).subquery("o", copy=False), copy=False)
    query = exp.select(*kept).from_(facts.subquery("b", copy=False), copy=False)
    return anti_join(query, kept, same.subquery(copy=False))


def _matches(weighed: Weighed) -> bool:
    """Whether the hypernode is one filter as it was, and its clock had a time before."""
    task = weighed.task
    ticked, rules = task.inputs.ticked, task.hypernode.rules
    if ticked is None or ticked.before is None or task.former.heritage or len(rules) != 1:
        return False
    return is_filter(rules[0].head.predicate) and not task.hypernode.recursive


BAND: Maintains = Operator(
    "band",
    _matches,
    lambda _: Cost(2 * STATEMENT, "the clock has moved"),
    lambda weighed, _: move_band(weighed.task),
)
