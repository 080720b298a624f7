"""A stranger adds an operator, as ARCHITECTURE.md says: one file, and one row of a registry.

The file is this one, and the row is added by the test. Nothing else has to know of it: it is
weighed, chosen and run, and is seen in stats and in `explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp
from support.earnings import by_numbers

from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.database.statements import create_temp, distinct
from zodiac_sql.evaluate import registry as evaluate
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.maintain import registry as maintain
from zodiac_sql.maintain.contract import Maintained, Outcome, Work
from zodiac_sql.maintain.steps.change_plans import gains_of, losses_of
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS, RANK
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.relations import Part, relation_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.edits import Edit

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

# --- a way to evaluate: a closure by Python's sets ------------------------------------------------


def _is_closure(work: Evaluation) -> bool:
    """The form that it needs: one rule that takes facts along a relation, and no limit."""
    along = work.forms.along
    return along is not None and along.place == 1 and work.may_be_one_statement


def _by_python(work: Evaluation) -> Fixpoint | Declined:
    """All paths, each with the round that has found it as its rank."""
    assert work.forms.along is not None
    (predicate,) = work.hypernode.derives
    begun, edges = (
        work.context.relation(n, Version.ALL) for n in (predicate, work.forms.along.edges)
    )
    if edges.rows > 100:
        return Declined("too many edges for Python")
    follow: dict[object, list[object]] = {}
    for start, end in work.store.rows(relation_query(edges, distinct=True)):
        follow.setdefault(start, []).append(end)
    last = set(work.store.rows(relation_query(begun, distinct=True)))
    outside, found, rounds = frozenset(last), dict[tuple[object, ...], int](), 0
    while last:
        rounds += 1
        heads = {(start, end) for start, middle in last for end in follow.get(middle, ())}
        heads -= found.keys()
        found |= dict.fromkeys(heads, rounds)
        last = heads - outside
    name = table_name(work.hypernode, predicate, work.schema)
    columns = exp.select(*(exp.column(c.name, quoted=True) for c in begun.columns))
    nothing = columns.select(exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True))
    nothing = nothing.from_(relation_query(begun).subquery("b")).where(exp.false())
    work.store.run(create_temp(name, nothing))
    for fact, rank in found.items():
        work.store.run(f'INSERT INTO temp."{name}" VALUES ($1, $2, $3)', [*fact, rank])
    parts = {predicate: Part("temp", name, len(found), ranked=True)} if found else {}
    return Fixpoint(parts, rounds, "python")


PYTHON: Evaluates = Operator(
    "python", _is_closure, lambda work: Cost(0.5, "few edges"), lambda work, _: _by_python(work)
)

# --- a way to maintain: facts that a comparison lets pass -----------------------------------------


def _is_filter(weighed: Weighed) -> bool:
    """One rule, `p(X, Y) :- q(X, Y), ...`, that keeps some facts of one relation as they are."""
    task = weighed.task
    rules = task.hypernode.rules
    if len(rules) != 1 or task.hypernode.recursive or task.former.heritage or task.inner.rows:
        return False
    atoms = list(rules[0].positive_atoms())
    return len(atoms) == 1 and not rules[0].negative() and atoms[0].terms == rules[0].head.terms


def _filtered(weighed: Weighed) -> Outcome:
    """Each fact of the head has one derivation: it comes and goes with the fact that it copies."""
    task = weighed.task
    (rule,) = task.hypernode.rules
    name = rule.head.predicate
    context, columns = task.context, task.columns(name)

    def moved(kind: str, plans: Sequence[Plan]) -> Part | None:
        if not plans:
            return None
        (plan,) = plans
        table = f"{CHANGE_FACTS}{kind}_{task.stem(name)}"
        rows = distinct(compile_rule(plan, columns, context).query)
        count = task.runner.store.count(create_temp(table, rows))
        return Part("temp", table, count) if count else None

    gone, come = moved("minus", losses_of(task, rule)), moved("plus", gains_of(task, rule))
    work = Work(iterations=1, forward=sum(part.rows for part in (gone, come) if part))
    edits = {name: Edit(come, gone, gone, come)} if gone or come else {}
    return Maintained(edits, work, "filter", task.former.ranked)


FILTER: Maintains = Operator(
    "filter",
    _is_filter,
    lambda weighed: Cost(0.5, "it filters"),
    lambda weighed, _: _filtered(weighed),
)

# --- both at work ---------------------------------------------------------------------------------

RULES = """
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
hot(X, T) :- reading(X, T), T > 25.
alarm(X) :- hot(X, _), path(X, _).
"""


@pytest.fixture(autouse=True)
def _no_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    by_numbers(monkeypatch)


def test_one_that_evaluates(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "OPERATORS", (*evaluate.OPERATORS, PYTHON))
    with open_kb() as kb:
        kb.add_rules(RULES)
        edges = [(i, i + 1) for i in range(30)] + [(9, 4)]
        change = kb.insert("edge", edges)
        (path,) = (one for one in change.stats.hypernodes.values() if one.method == "python")
        chosen = path.evaluated[0]
        assert (chosen.operator, chosen.expected, chosen.did_it) == ("python", 0.5, True)
        assert {"statement", "loop"} <= {one.operator for one in path.evaluated}
        assert set(kb.table("path").fetchall()) == closed(edges)
        explained = {row["operator"]: row for row in kb.explain().hypernodes.to_pylist()}
        assert explained["python"]["inserted"] == path.inserted > 400
        kb.delete("edge", [(9, 4), (20, 21)])  # other operators rely on the ranks
        assert set(kb.table("path").fetchall()) == closed(set(edges) - {(9, 4), (20, 21)})
        assert kb.verify()


def test_one_that_gives_up(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so by what it returns, and the next one runs."""
    monkeypatch.setattr(evaluate, "OPERATORS", (PYTHON, *evaluate.OPERATORS))
    with open_kb() as kb:
        kb.add_rules(RULES)
        edges = [(i, i + 1) for i in range(120)]
        change = kb.insert("edge", edges)
        (path,) = (o for o in change.stats.hypernodes.values() if "python" in str(o.evaluated))
        assert path.evaluated[0].declined == "too many edges for Python"
        assert path.evaluated[1].did_it
        assert set(kb.table("path").fetchall()) == closed(edges)
        (row, *_) = (r for r in kb.explain().operators.to_pylist() if r["operator"] == "python")
        assert row["declined"] == "too many edges for Python"


def test_one_that_maintains(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintain, "OPERATORS", (*maintain.OPERATORS, FILTER))
    with open_kb() as kb:
        kb.add_rules(RULES)
        kb.insert("edge", [(1, 2), (2, 3)])
        kb.insert("reading", [(n, 20 + n) for n in range(10)])
        with kb.update() as update:
            update.delete("reading", [(6, 26), (0, 20)])
            update.insert("reading", [(1, 40), (2, 3)])
        change = update.change
        (hot,) = (one for one in change.stats.hypernodes.values() if one.strategy == "filter")
        assert [one.operator for one in hot.considered if one.did_it] == ["filter"]
        assert "candidates" in {one.operator for one in hot.considered}
        assert (hot.inserted, hot.deleted) == (1, 1)
        assert change.inserted["hot"] == change.deleted["hot"] == change.inserted["alarm"] == 1
        assert "filter" in kb.explain(change).hypernodes["operator"].to_pylist()
        assert set(kb.table("hot").fetchall()) == {(1, 40), (7, 27), (8, 28), (9, 29)}
        assert kb.verify()


def closed(edges: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """All paths, by sets of Python."""
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in edges if b == c} - found:
        found |= more
    return found
