"""Semi-naive evaluation on Spark: each round applies the rules to the last round's new facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, distinct, semi_join, union_all
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.spark.frames import ROWS_TO_COPY, Frames
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants
from zodiac_sql.sql.relations import Part, Relation, relation_query, source
from zodiac_sql.sql.relations import columns_of as relation_columns
from zodiac_sql.sql.select import compile_rule


@dataclass(slots=True)
class Own:
    """A predicate of a recursive hypernode: its delta, and its older facts in parts.

    `base` are facts that were there before the first round, and whose part stays as it is. Parts of
    similar size are united. So there are few parts, and each fact is copied a few times, not once
    in every round.
    """

    columns: tuple[Column, ...]
    base: Part | None = None
    old: list[Part] = field(default_factory=list)
    delta: Part | None = None

    @property
    def older(self) -> list[Part]:
        return [self.base, *self.old] if self.base else self.old

    @property
    def new(self) -> list[Part]:
        """The facts that came after the base."""
        return [*self.old, self.delta] if self.delta else self.old

    @property
    def known(self) -> list[Part]:
        return [self.base, *self.new] if self.base else self.new

    @property
    def ends(self) -> bool:
        """Whether the delta has under a twentieth of the rows of the older facts."""
        rows = self.delta.rows if self.delta else 0
        return 20 * rows < sum(part.rows for part in self.older)

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        return Relation(self.columns, tuple(self.older if version is Version.OLD else self.known))

    def advance(self, frames: Frames, found: Part | None) -> None:
        """Move the delta to the older facts, and make the facts just found the new delta."""
        if self.delta:
            self.old.append(self.delta)
            while len(self.old) > 1 and 2 * self.old[-1].rows >= self.old[-2].rows:
                self.old.append(frames.united(self.old.pop(), self.old.pop()))
        self.delta = found if found is not None and found.rows else None


def grow(
    frames: Frames,
    rules: Sequence[Rule],
    owns: Mapping[str, Own],
    plans: Sequence[Plan],
    inside: Context,
) -> Iterator[dict[str, int]]:
    """Add what plans find, and what follows from it by rules. Yields what each round has found."""
    queries = _queries(owns, plans, inside)
    found = {p: unknown(frames, owns[p], query) for p, query in queries.items()}
    for predicate, part in found.items():
        owns[predicate].advance(frames, part)
    yield {predicate: part.rows for predicate, part in found.items()}
    yield from close(frames, rules, owns, inside)


def close(
    frames: Frames, rules: Sequence[Rule], owns: Mapping[str, Own], inside: Context
) -> Iterator[dict[str, int]]:
    """Apply rules until they find nothing new. Yields how many facts each round has found.

    The first round applies them to the deltas that `owns` have. `inside` says what they read.
    """
    variants = [plan for rule in rules for plan in delta_variants(rule, owns)]
    while queries := _queries(owns, variants, inside):
        found = {p: unknown(frames, owns[p], query) for p, query in queries.items()}
        for predicate, own in owns.items():
            own.advance(frames, found.get(predicate))
        yield {predicate: part.rows for predicate, part in found.items()}


def _queries(
    owns: Mapping[str, Own], plans: Sequence[Plan], context: Context
) -> dict[str, exp.Query]:
    queries = {p: heads(p, own.columns, plans, context) for p, own in owns.items()}
    return {predicate: query for predicate, query in queries.items() if query}


class Growing(Protocol):
    """A predicate while it is derived."""

    def relation(self, version: Version) -> Relation: ...


def within(context: Context, owns: Mapping[str, Growing]) -> Context:
    """What rules read while some predicates grow."""
    return replace(
        context,
        relation=lambda p, v: owns[p].relation(v) if p in owns else context.relation(p, v),
    )


def heads(
    predicate: str, columns: Sequence[Column], plans: Sequence[Plan], context: Context
) -> exp.Query | None:
    """A query for the facts of a predicate that plans find, each once; None if there are none."""
    mine = [
        plan
        for plan in plans
        if plan.rule.head.predicate == predicate and not is_empty(plan, context)
    ]
    if not mine:
        return None
    return distinct(union_all([compile_rule(p, columns, context).query for p in mine]))


def unknown(frames: Frames, own: Own, facts: exp.Query) -> Part:
    """Compute those of some facts that are not known yet.

    If the facts are few, they are copied to every executor, to find which of them are among the
    known ones. Spark cannot know that they are few before they are computed, and would move all
    known facts instead. (For the last rounds of a closure of 2 million pairs, this halves the
    time.)
    """
    known = own.relation(Version.ALL)
    if not known.parts:
        return frames.computed(facts)
    if not own.ends:
        return frames.computed(without(facts, known, source(known, "x")))
    few = frames.computed(facts)
    if not few.rows:
        return few
    there = Relation(own.columns, (few,))
    columns = relation_columns(known, "c")
    seen = exp.select(*columns).from_(relation_query(known).subquery("c", copy=False))
    seen = semi_join(seen, columns, source(there, "h"), "h")
    if few.rows <= ROWS_TO_COPY:
        seen = seen.hint("BROADCAST(h)", dialect="spark", copy=False)
    found = frames.computed(without(relation_query(there), known, seen.subquery(copy=False)))
    frames.forget(few)
    return found


def without(facts: exp.Query, known: Relation, others: exp.Expr) -> exp.Select:
    """The facts that are not among others. Columns are named as in `known`."""
    columns = relation_columns(known, "c")
    rows = exp.select(*columns).from_(facts.subquery("c", copy=False))
    return anti_join(rows, columns, others)
