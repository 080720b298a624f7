"""Ranks of facts that have the best value of their group (MIN or MAX in heads).

Such tables keep no ranks: the iteration in which a value was found says nothing of the values that
it came from, which may have got better since. So the rules are applied once more, as rules without
MIN or MAX that derive only what is in the tables: a fact gets a rank when it first follows from
facts of lower ranks.

A fact may follow from itself alone: if p(a) is the least of p(b) and 5, and p(b) is the least of
100 and p(a), then both are 5, and that is so because p(b) was 100 first. So the second way is to
improve values once more, and to remember all that were the best for a time. Each of them was
derived from values of rounds before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.improve import beginning, each_round, first_plans
from zodiac_sql.evaluate.improving import Improving
from zodiac_sql.evaluate.operators.tagged import linear_of_several
from zodiac_sql.evaluate.semi_naive import Fixpoint, semi_naive
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import (
    COPY,
    Atom,
    Comparison,
    Rule,
    Variable,
)
from zodiac_sql.names import CHANGE_FACTS, RANK
from zodiac_sql.rewrite.forms import are_linear
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of
from zodiac_sql.sql.select import makes_texts


def ranked_best(
    store: Store,
    hypernode: Hypernode,
    schema: Mapping[str, Predicate],
    context: Context,
    there: Mapping[str, Relation],
) -> Fixpoint:
    """The facts of a hypernode's tables with ranks. `there` are the tables, by predicate.

    A fact has no rank if it follows only by way of values that have got better since.
    """
    rules = tuple(_checked(rule, schema) for rule in hypernode.rules)
    plain = Hypernode(hypernode.id, rules, True, hypernode.stratum)
    tables = {_there(name): relation for name, relation in there.items()}

    def relation(name: str, version: Version) -> Relation:
        return tables[name] if name in tables else context.relation(name, version)

    columns = {_there(name): context.columns[name] for name in there}
    around = replace(context, relation=relation, columns={**context.columns, **columns})
    if are_linear(rules, plain.derives) and not makes_texts(rules, around):
        return linear_of_several(store, plain, dict(schema), around)
    return semi_naive(Runner(store), plain, dict(schema), around, {})


_PREFIX = f"{CHANGE_FACTS}why_"
"""The names of temporary tables begin with it: those of a change may be needed beside them."""


def every_best(
    store: Store, hypernode: Hypernode, schema: Mapping[str, Predicate], context: Context
) -> Fixpoint:
    """All facts that had the best value of their group for a time, each with its round."""
    loop = beginning(Runner(store), hypernode, dict(schema), context, _PREFIX)
    rows: Counter[str] = Counter()
    rounds = 0
    for rounds in each_round(loop, first_plans(loop)):
        for own in loop.owns.values():
            if own.delta is not None:
                rows[own.predicate] += _remember(store, own, own.delta, rounds, rows[own.predicate])
    parts = {name: Part("temp", _all(loop.owns[name]), n, ranked=True) for name, n in rows.items()}
    return Fixpoint(parts, rounds, "best")


def _all(own: Improving) -> str:
    return f"{own.table}_every"


def _remember(store: Store, own: Improving, delta: Part, number: int, before: int) -> int:
    """Add what a round has found to what is remembered. Returns how much it is."""
    rank = exp.cast(exp.Literal.number(number), "BIGINT").as_(RANK, quoted=True)
    found = exp.select(*columns_of(own.shape, "n"), rank).from_(temp_table(delta.table).as_("n"))
    target = _all(own)
    return store.count(
        exp.insert(found, temp_table(target)) if before else create_temp(target, found)
    )


def _there(predicate: str) -> str:
    """The name under which a rule reads what is in a table; no user can write it."""
    return f"{predicate}\0there"


def _checked(rule: Rule, schema: Mapping[str, Predicate]) -> Rule:
    """A rule that derives only what is in the table.

    If that has terms of all kinds, it must be the same term: 5 is not "5.0"^^xsd:decimal there.
    """
    predicate, best = rule.head.predicate, rule.best
    terms, same = list(rule.head.terms), tuple[Comparison, ...]()
    if best and schema[predicate].columns[best.place].mixed:
        there = Variable(f"_:{_PREFIX}")
        same = (Comparison(there, COPY, terms[best.place]),)
        terms[best.place] = there
    atom = Atom(_there(predicate), tuple(terms))
    return replace(rule, body=(atom, *rule.body, *same), best=None)
