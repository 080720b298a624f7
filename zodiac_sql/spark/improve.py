"""The best value of each group (MIN or MAX in heads) on Spark, improved round by round.

As in the embedded engine (evaluate/improve.py): each round applies the rules to the groups that the
last one has improved, until nothing improves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import joining, union_all
from zodiac_sql.errors import EvaluationError
from zodiac_sql.evaluate.improving import MOST_IDLE_ROUNDS, is_guarded
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Best, Column
from zodiac_sql.spark.frames import Frames
from zodiac_sql.spark.semi_naive import heads, within
from zodiac_sql.sql.best_values import in_group, unbeaten
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source


@dataclass(slots=True)
class ImprovingFrame:
    """A predicate while its values improve: the best so far, and those that the last round found.

    If it is `guarded`, minus infinity is an error.
    """

    columns: tuple[Column, ...]
    best: Best
    guarded: bool
    all: Part | None = None
    delta: Part | None = None

    @property
    def known(self) -> list[Part]:
        return [self.all] if self.all else []

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        return Relation(self.columns, tuple(self.known))


Improvings = Mapping[str, ImprovingFrame]


def beginning(
    hypernode: Hypernode, columns: Mapping[str, tuple[Column, ...]]
) -> dict[str, ImprovingFrame]:
    """The predicates of a hypernode, of which no value is known yet."""
    return {
        predicate: ImprovingFrame(
            columns[predicate], best, is_guarded(hypernode, columns[predicate][best.place])
        )
        for predicate, best in hypernode.bests.items()
    }


def improve(
    frames: Frames, hypernode: Hypernode, owns: Improvings, context: Context
) -> Iterator[dict[str, int]]:
    """Improve values until nothing improves. Yields how many each round has improved.

    Raises EvaluationError if values get better for ever.
    """
    inside = within(context, owns)
    plans = [whole(rule) for rule in hypernode.rules]
    onwards = [plan for rule in hypernode.rules for plan in delta_variants(rule, owns)]
    idle = groups = 0
    while found := _round(frames, owns, plans, inside):
        yield found
        plans, before = onwards, groups
        groups = sum(part.rows for own in owns.values() for part in own.known)
        idle = idle + 1 if groups == before else 0
        if idle > groups + MOST_IDLE_ROUNDS:
            raise EvaluationError(
                f"the values of {', '.join(owns)} get better for ever: look for a cycle that makes "
                "values better each time, such as one of negative length."
            )


def _round(
    frames: Frames, owns: Improvings, plans: Sequence[Plan], inside: Context
) -> dict[str, int]:
    """Apply plans; what they find better is the next delta. Nothing if no plan could find any."""
    found = {}
    for predicate, own in owns.items():
        if query := heads(predicate, own.columns, plans, inside):
            known = own.relation(Version.ALL)
            items = [source(known, "x")] if known.parts else []
            better = unbeaten(query, known, own.best, items, inside, guarded=own.guarded)
            found[predicate] = frames.computed(better)
    for predicate, own in owns.items():
        part, former = found.get(predicate), dict.fromkeys([own.all, own.delta])
        own.delta = part if part and part.rows else None
        if own.delta:
            own.all = frames.computed(_with(own, own.delta)) if own.all else own.delta
        for old in former:
            if old and old not in (own.all, own.delta):
                frames.forget(old)
    return {predicate: part.rows for predicate, part in found.items()}


def _with(own: ImprovingFrame, better: Part) -> exp.Query:
    """What is known, with better values in the place of those that they beat."""
    known, new = own.relation(Version.ALL), Relation(own.columns, (better,))
    left = exp.select(*columns_of(known, "k")).from_(relation_query(known).subquery("k"))
    item = exp.alias_(source(new, "x"), "n", table=True)
    left = left.join(joining(item, "ANTI"), on=in_group(known, own.best, "n", "k"))
    return union_all([left, relation_query(new)])
