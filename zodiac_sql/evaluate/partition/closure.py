"""A closed relation kept as a partition, while its hypernode is evaluated or maintained.

The functions of paper 2 that a module with tables of its own provides: `add` (Algorithm 7),
`delete` (Algorithm 8) and `redo` (Algorithm 9). Diff is empty: the rules taken read no other
predicate.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import (
    create_temp,
    create_temp_view,
    joining,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.partition import Partition, begin, connect, part
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import VIEWS
from zodiac_sql.rewrite.closures.module import NODE
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.class_pairs import Pairs
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Reading, Relation, columns_of, relation_query, table

MEMBERS = "zodiac$change_members_"
"""Prefix of the tables of members. They last until the next change, because a Change reads them."""

_REDO = "zodiac$redo"


@dataclass(slots=True)
class Closure:
    """One symmetric-transitive relation of a hypernode.

    If `loses`, the last step took facts away, and DELTA are the facts that the relation lost; else
    DELTA are those that it gained. `whole` names a table of all its nodes now, with their classes.
    """

    row: ModuleRow
    columns: tuple[Column, ...]
    stem: str
    given: Relation
    partition: Partition
    whole: str
    loses: bool = False

    @property
    def store(self) -> Store:
        return self.partition.store

    @property
    def now(self) -> Part:
        """All that the hypernode derives of the relation."""
        read = Reading(pairs=Pairs(unequal=self.row.unequal))
        return Part("temp", self.whole, self.partition.rows, read=read, covers=self.row.covers)

    @property
    def delta(self) -> Part | None:
        """The facts that the last step has added, or taken away."""
        if self.loses:
            return self.partition.part("prev", "class")
        return self.partition.part("class", "prev")

    @property
    def undeleted(self) -> Relation:
        """The extension as it was before the change."""
        stored = self.partition.stored
        return self._with(stored if stored and stored.rows else None)

    def relation(self, version: Version) -> Relation:
        """What a scan of the predicate reads inside the hypernode."""
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        if version is Version.OLD and self.partition.stored is None:
            return self._with(self.partition.part("prev"))
        if version is Version.BEFORE:
            return self.undeleted
        return self._with(self.now if self.now.rows else None)

    def _with(self, own: Part | None) -> Relation:
        """Some own facts, and those from outside unless the own ones cover them."""
        parts = (own,) if own else ()
        if self.row.covers and own:
            return Relation(self.columns, parts)
        return Relation(self.columns, (*self.given.parts, *parts))

    # The functions of paper 2

    def add(self, given: Relation | None, fed: Relation | None, rank: int = 0) -> None:
        """Connect the nodes that new facts relate, `given` from outside or `fed` by other rules.

        Facts that have been derived have at most that `rank`, and what follows has a higher one.
        """
        self.loses = False
        connect(self.partition, self._links(given, fed))

    def delete(self, given: Relation | None, fed: Relation | None, kept: exp.Query | None) -> None:
        """Take apart nodes that lost facts had connected, unless facts `kept` connect them."""
        lost = self._links(given, fed)
        if lost is None:
            connect(self.partition, None)
        else:
            part(self.partition, lost, kept)
        self.loses = True

    def redo(self, given: Relation | None, fed: Relation | None) -> None:
        """Connect again those nodes that were taken apart but that remaining facts connect."""
        links = self._links(None, fed)
        if links is not None:
            self.store.run(create_temp(_REDO, self._among_members(links)))
            links = exp.select(exp.Star()).from_(temp_table(_REDO))
        new = self._links(given, None)
        both = [query for query in (links, new) if query is not None]
        self.loses = False
        connect(self.partition, union_all(both) if both else None)

    def _among_members(self, links: exp.Query) -> exp.Select:
        query = exp.select("a", "b", "looping").from_(links.subquery("l"))
        same = exp.column(NODE, table="m").eq(exp.column("a", table="l"))
        return query.join(joining(temp_table(self.partition.name).as_("m"), "SEMI"), on=same)

    def _links(self, given: Relation | None, fed: Relation | None) -> exp.Query | None:
        """Facts as links. R(a, a) given from outside counts as derived if the row `covers`."""
        queries = []
        if given and given.rows:
            queries.append(links(given, self.row.covers))
        if fed and fed.rows:
            queries.append(links(fed, True))
        return union_all(queries) if queries else None


def links(relation: Relation, looping: bool) -> exp.Select:
    """The facts of a relation as links of a partition."""
    first, second = columns_of(relation, "f")
    query = exp.select(first.as_("a"), second.as_("b"), exp.convert(looping).as_("looping"))
    return query.from_(relation_query(relation).subquery("f", copy=False))


def begin_closure(
    store: Store,
    row: ModuleRow,
    *,
    columns: tuple[Column, ...],
    stem: str,
    given: Relation,
    alone: bool,
    stored: Part | None = None,
) -> Closure:
    """A relation before anything is done; `stem` ends the names of its temporary tables.

    It is `alone` in its hypernode if no other rule is there.
    """
    node = columns[0].type
    assert node is not None
    partition = begin(
        store, f"{MEMBERS}{stem}", node=node, unequal=row.unequal, alone=alone, stored=stored
    )
    whole = partition.name
    if stored:
        whole = f"{VIEWS}{stem}"
        store.run(create_temp_view(whole, _after(stored, partition.name)))
    return Closure(
        row=row, columns=columns, stem=stem, given=given, partition=partition, whole=whole
    )


def _after(stored: Part, members: str) -> exp.Query:
    """The nodes in the file that are no members, and the members that are in a class."""
    names = [exp.column(name, quoted=True) for name in (NODE, "class", "loop")]
    same = exp.column(NODE, table="m").eq(exp.column(NODE, table="s"))
    others = exp.select(*(exp.column(n.name, table="s", quoted=True) for n in names))
    others = others.from_(table(stored).as_("s"))
    others = others.join(joining(temp_table(members).as_("m"), "ANTI"), on=same)
    here = exp.select(*names).from_(temp_table(members))
    here = here.where(exp.not_(exp.column("class", quoted=True).is_(exp.null())))
    return exp.union(others, here, distinct=False, copy=False)
