"""What statements with RECURSIVE have in common that evaluate rules from scratch.

The statement starts from the first derived facts, not from the outside ones, so it returns exactly
what the rules derive. An outside fact that is derived too is passed on twice, which costs but does
no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.make_tables import in_one_table
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Relation


def begins_inside(rule: Rule, hypernode: Hypernode) -> Plan:
    """The plan of a rule that begins with its recursive atom, if it has one.

    A recursive statement looks up what stands after it (Store.run).
    """
    return next(iter(delta_variants(rule, hypernode.derives)), whole(rule))


def instead(context: Context, others: Mapping[str, Relation]) -> Callable[[str, Version], Relation]:
    """What scans read, with other relations in the place of some predicates."""
    return lambda name, version: others.get(name) or context.relation(name, version)


def with_tables(store: Store, hypernode: Hypernode, context: Context) -> Context:
    """The context, in which what rounds read is in one table.

    (One edge of a cycle of 450 nodes took 350 ms, and 170 are enough.)
    """

    def pays(name: str, relation: Relation) -> bool:
        if name in hypernode.derives:
            return False
        several = len(relation.parts) > 1 or any(part.read.minus for part in relation.parts)
        return several and not any(part.read.pairs for part in relation.parts)

    return in_one_table(store, context, f"read_{hypernode.name}", pays)


def recursion_of(columns: Sequence[str], seeds: exp.Query, steps: exp.Query) -> exp.Select:
    """What follows from the seeds, ranked in the order in which it is found."""
    names = [exp.column(name, quoted=True) for name in columns]
    rank = exp.Window(this=exp.RowNumber()).as_(RANK, quoted=True)
    recursion = exp.union(seeds, steps, distinct=True, copy=False)
    return with_recursion(exp.select(*names, rank).from_(COLLECTED), "r", recursion)
