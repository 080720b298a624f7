"""Computes what should be in the file: its explicit facts, and what hypernodes derive from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from sqlglot import exp

from zodiac_sql.change.choose_rewrites import types_of
from zodiac_sql.cost.operator import Decision
from zodiac_sql.database import dictionary
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.evaluation import Evaluation
from zodiac_sql.evaluate.registry import evaluate
from zodiac_sql.evaluate.rule_errors import evaluating_all
from zodiac_sql.evaluate.semi_naive import Fixpoint
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.binding import symbols_in, used_functions
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Rule, Type
from zodiac_sql.names import whole
from zodiac_sql.program.state import HypernodeRow, State, parsed_rules
from zodiac_sql.read.verify.best_values import derive_best
from zodiac_sql.read.verify.second_opinion import derive
from zodiac_sql.read.verify.terms import MACROS
from zodiac_sql.read.verify.together import all_given_once, batches
from zodiac_sql.read.verify.work import VerifiedFile, count_rows, relation_of
from zodiac_sql.rewrite.hypertree.rewrite import fits
from zodiac_sql.rewrite.rewritten_hypernode import Inner, inner_of, modules_at_work, with_trees
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query
from zodiac_sql.storage.extensions import distinct_query
from zodiac_sql.storage.sources import Sources, inside, sources_of


def begin(store: Store, state: State, functions: Functions) -> VerifiedFile:
    """Read the explicit facts from the file, because others may have changed it."""
    if any(column.mixed for known in state.schema.values() for column in known.columns):
        store.run(MACROS)
    ids = dictionary.ids_of(store, symbols_in(parsed_rules(state)))
    there, wanted = sources_of(state), Sources(state.schema)
    work = VerifiedFile(store, state, functions, ids, there, wanted, types_of(state.schema))
    explicit = work.there.explicit
    for some in batches(explicit, lambda name: relation_of(state.schema[name], explicit[name])):
        if _are_given_once(work, some):
            work.wanted.explicit.update((name, explicit[name]) for name in some)
            continue
        for name in some:
            facts = (_explicit(work, state.schema[name], part) for part in explicit[name])
            work.wanted.explicit[name] = tuple(facts)
    return work


def _are_given_once(work: VerifiedFile, names: Sequence[str]) -> bool:
    """Whether the tables of explicit facts of several predicates have no duplicate and no NULL."""
    if len(names) == 1:
        return False
    explicit = work.there.explicit
    return all_given_once(
        work.store, [relation_of(work.state.schema[n], explicit[n]) for n in names]
    )


def require_functions(work: VerifiedFile, rules: Iterable[Rule]) -> None:
    known = {**work.state.functions, **work.functions}
    for rule in rules:
        require(used_functions([rule]), known, f"rule {rule.name}")


def _explicit(work: VerifiedFile, predicate: Predicate, part: Part) -> Part:
    """The explicit facts in a table, each once and without NULL. All its other rows are surplus."""
    relation = Relation(predicate.columns, (part,))
    given = [column.is_(exp.null()).not_() for column in columns_of(relation, "t")]
    facts = part_query(part, relation).where(*given).distinct()
    rows = count_rows(work.store, facts)
    if rows == part.rows:
        return part
    name = f"zodiac$explicit_{whole(predicate.sql_name)}"
    work.store.run(create_temp(name, facts))
    work.note(f"edb.{predicate.sql_name}", 0, part.rows - rows)
    return Part("temp", name, rows)


def types_inside(work: VerifiedFile, inner: Inner) -> Mapping[str, Sequence[Type | None]]:
    """The types of the columns of all predicates, including those inside a hypernode."""
    if not inner.schema:
        return work.types
    return {**work.types, **types_of(inner.schema)}


def as_evaluated(state: State, hypernode: Hypernode, row: HypernodeRow) -> Inner:
    """A hypernode with the modules and trees that were at work when its tables were written.

    Trees of an older version that do not fit are left out: the next change decides them anew.
    """
    modules = modules_at_work(hypernode, row.modules, state.schema)
    inner = inner_of(hypernode, modules, state.schema)
    rules = {rule.name: rule for rule in (*hypernode.rules, *inner.hypernode.rules)}
    trees = [tree for tree in row.trees if not tree.nodes or fits(rules[tree.rule], tree)]
    return with_trees(inner, trees)


AFFORDABLE_FACTS = 100_000
"""A relation that a module computes is derived by its rules only if it has at most this many facts:
the rules may look at each pair of facts, while the module looks at each fact."""

AFFORDABLE_BODY = 2_000
"""A cyclic rule is evaluated as a whole only if it reads at most this many facts: its joins may
have many more rows than its answer."""


def is_affordable(work: VerifiedFile, inner: Inner) -> bool:
    """Whether a hypernode's own rules can be evaluated without modules and trees."""
    closed = (work.there.relation(row.predicate).rows for row in inner.rows)
    read = (tree.facts for tree in inner.trees if tree.nodes)
    return max(closed, default=0) <= AFFORDABLE_FACTS and max(read, default=0) <= AFFORDABLE_BODY


def derive_otherwise(work: VerifiedFile, inner: Inner, hypernode: Hypernode) -> None:
    """Derive what a hypernode should hold from what its inputs should be, by second_opinion.py.

    Then derive from that the tables that its modules and trees keep.
    """
    program = work.program(inner, hypernode)
    outside = partial(work.wanted.relation, without=hypernode.id)
    with evaluating_all(work.store, hypernode, work.there):
        if hypernode.bests:
            found = derive_best(work.store, program, hypernode.rules, hypernode.bests, outside)
        else:
            found = derive(work.store, program, hypernode.rules, outside)
        _keep(work, hypernode, found)
    for row in inner.rows:
        if row.directed:
            _add_given(work, hypernode, row.predicate)
    beside = [rule for rule in inner.hypernode.rules if rule.head.predicate in inner.tables]
    if beside:
        around = inside(work.wanted, inner, hypernode.id).relation
        _keep(work, hypernode, derive(work.store, program, beside, around))


def _add_given(work: VerifiedFile, hypernode: Hypernode, predicate: str) -> None:
    """Add what is known from outside to what rules derive: components stand for both."""
    whole = work.wanted.relation(predicate)
    if whole.rows:
        name = f"whole_{hypernode.name}"
        rows = work.store.count(create_temp(name, distinct_query(whole)))
        _keep(work, hypernode, {predicate: Part("temp", name, rows)})


def _keep(work: VerifiedFile, hypernode: Hypernode, parts: Mapping[str, Part]) -> None:
    for predicate, part in parts.items():
        work.wanted.put(predicate, hypernode.id, (part,))


def evaluate_again(work: VerifiedFile, inner: Inner) -> tuple[Fixpoint, Decision]:
    """Derive what a hypernode should hold as a change would: with its modules and trees.

    It is also told which operator has done it.
    """
    hypernode, known = inner.hypernode, work.known(inner)
    wanted = inside(work.wanted, inner, hypernode.id)
    context = Context(
        relation=lambda name, version: wanted.relation(name, without=hypernode.id),
        columns=types_inside(work, inner),
        functions=work.functions,
        ids=work.ids,
        datatypes=work.datatypes,
    )
    with evaluating_all(work.store, hypernode, work.there):
        fixpoint, decision = evaluate(
            Evaluation(Runner(work.store), inner.forms, known, context, inner.rows)
        )
    _keep(work, hypernode, fixpoint.parts)
    return fixpoint, decision
