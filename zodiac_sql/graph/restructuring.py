"""What becomes of hypernodes when rules come and go (paper 1, section 4.4, Algorithms 2 to 4).

A hypernode of the new HRDG takes over the tables of the old ones with which it shares rules. If a
hypernode is split, the table of a predicate passes as a whole to the part that keeps most of the
rules for it; other parts with such rules derive it anew. So the tables with which a hypernode
begins are right except for two things: rules that helped to fill them but are not its own (`lost`),
and rules of its own that did not help (`new`).

Why that is right: in a least fixpoint every fact has a derivation from facts before it. So the
table of a predicate remains the least fixpoint of the rules for it when other predicates of the old
hypernode become inputs, and the union of tables closed under their rules is closed under all of
them when hypernodes merge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.graph.matching import covers
from zodiac_sql.language.syntax import Rule

Rows = Callable[[int, str], int]


@dataclass(frozen=True, slots=True)
class Heritage:
    """What a hypernode begins with.

    `origins` are the old hypernodes that it takes tables from, in their topological order, and
    `base` is the largest of them; `tables` maps each predicate to those that its table comes from.
    """

    origins: tuple[Hypernode, ...]
    base: int
    tables: Mapping[str, tuple[int, ...]]
    lost: tuple[Rule, ...]
    new: tuple[Rule, ...]


@dataclass(frozen=True)
class Restructuring:
    """The HRDG before and after a change of rules, by the numbers of hypernodes.

    `sources` maps each hypernode of `after` to the old ones with which it shares rules, and so an
    unchanged one to itself; a created hypernode is not in it. `heritages` has an entry for each
    hypernode in `sources` that is not unchanged.
    """

    before: Hypergraph
    after: Hypergraph
    sources: Mapping[int, tuple[int, ...]]
    heritages: Mapping[int, Heritage] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[int, tuple[int, ...]]:
        """The new hypernodes that share rules with each old one."""
        found: dict[int, list[int]] = {h.id: [] for h in self.before.hypernodes}
        for number, sources in self.sources.items():
            for source in sources:
                found[source].append(number)
        return {number: tuple(sorted(parts)) for number, parts in found.items()}

    @property
    def created(self) -> tuple[int, ...]:
        """Hypernodes all of whose rules are new."""
        return tuple(h.id for h in self.after.hypernodes if h.id not in self.sources)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Old hypernodes none of whose rules is left."""
        return tuple(number for number, parts in self.parts.items() if not parts)

    @property
    def merged(self) -> dict[int, tuple[int, ...]]:
        """New hypernodes that share rules with several old ones, each with these old ones."""
        return {number: old for number, old in self.sources.items() if len(old) > 1}

    @property
    def split(self) -> dict[int, tuple[int, ...]]:
        """Old hypernodes that share rules with several new ones, each with these new ones."""
        return {number: parts for number, parts in self.parts.items() if len(parts) > 1}

    def unchanged(self) -> set[int]:
        """Hypernodes with the same rules as before, and the same number."""
        return self.sources.keys() - self.heritages.keys()

    @property
    def direct(self) -> frozenset[int]:
        """The directly impacted hypernodes of paper 1.

        They are those with new rules and those that were merged (Algorithm 2), what is left of
        those that lost rules, and the successors of those that were split or deleted (Algorithm 3,
        as the examples of section 4.4 read it: if a hypernode only shrinks, its successors wait for
        its changes).
        """
        if self.before is self.after:
            return frozenset()
        parts = self.parts
        edges = self.before.positive | self.before.negative
        followers = {target for source, target in edges if len(parts[source]) != 1}
        after = {part for number in followers for part in parts[number]}
        return frozenset({*self.created, *self.heritages, *after})


def unchanged(graph: Hypergraph) -> Restructuring:
    """No rule comes or goes."""
    return Restructuring(graph, graph, {h.id: (h.id,) for h in graph.hypernodes})


def restructure(before: Hypergraph, after: Hypergraph, rows: Rows) -> Restructuring:
    """What becomes of the hypernodes of one HRDG in another.

    `rows` counts the rows in an old hypernode's table of a predicate.
    """
    if simple := _whole_hypernodes(before, after):
        return simple
    left = kept_rules(before, after.rules())
    owner = {rule.name: h.id for h in after.hypernodes for rule in h.rules}
    origin = {name: number for number, names in left.items() for name in names}
    sources: dict[int, set[int]] = defaultdict(set)
    for name, number in origin.items():
        sources[owner[name]].add(number)
    same = {
        h.id
        for h in before.hypernodes
        if len(left[h.id]) == len(h.rules) and _is_one(h, owner, after)
    }
    passed = {h.id: _heirs(h, left[h.id], owner) for h in before.hypernodes if h.id not in same}
    if after.by_constants:
        passed = {
            number: {p: heir for p, heir in heirs.items() if _fits(before[number], p, after[heir])}
            for number, heirs in passed.items()
        }
    heritages = {
        h.id: _heritage(h, before, passed, origin, rows)
        for h in after.hypernodes
        if h.id in sources and not sources[h.id] <= same
    }
    ordered = {number: tuple(sorted(old)) for number, old in sources.items()}
    return Restructuring(before, after, ordered, heritages)


def _whole_hypernodes(before: Hypergraph, after: Hypergraph) -> Restructuring | None:
    """The same if whole hypernodes came and went, and all others are the same objects."""
    both = [h for h in after.hypernodes if before.by_id.get(h.id) is h]
    came = len(after.hypernodes) - len(both)
    if came and {h.id for h in after.hypernodes} & before.by_id.keys() != {h.id for h in both}:
        return None
    gone = len(before.hypernodes) - len(both)
    if came and gone:
        there = {h.id for h in both}
        left, new = (
            {rule.name for h in graph.hypernodes if h.id not in there for rule in h.rules}
            for graph in (before, after)
        )
        if left & new:
            return None  # a rule may have moved from one to another
    return Restructuring(before, after, {h.id: (h.id,) for h in both})


def table_heirs(restructuring: Restructuring) -> dict[tuple[int, str], int]:
    """The new hypernode that each table passes to, by old hypernode and predicate."""
    heirs = {
        (old, predicate): number
        for number, heritage in restructuring.heritages.items()
        for predicate, olds in heritage.tables.items()
        for old in olds
    }
    for hypernode in restructuring.after.hypernodes:
        if hypernode.id in restructuring.sources and hypernode.id not in restructuring.heritages:
            heirs.update({(hypernode.id, p): hypernode.id for p in hypernode.derives})
    return heirs


def kept_rules(before: Hypergraph, rules: Iterable[Rule]) -> dict[int, frozenset[str]]:
    """For each hypernode the names of its rules that are still there, unchanged."""
    by_name = {rule.name: rule for rule in rules}
    return {
        h.id: frozenset(rule.name for rule in h.rules if by_name.get(rule.name) == rule)
        for h in before.hypernodes
    }


def execution_plan(graph: Hypergraph, direct: Iterable[int]) -> list[Hypernode]:
    """The hypernodes that directly impacted ones can reach, in topological order (Algorithm 4).

    The graph's hypernodes are in such an order already, so those that are reached are sorted by
    their places in it, which replaces the paper's reversal.
    """
    reached: set[int] = set()
    waiting = list(direct)
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += graph.followers.get(number, ())
    return [graph[number] for number in sorted(reached, key=graph.places.__getitem__)]


def _is_one(old: Hypernode, owner: Mapping[str, int], after: Hypergraph) -> bool:
    """Whether all rules of an old hypernode make up one new one, under the same number.

    Whether they are recursive may depend on other rules, if a negation is stratified by constants:
    then their tables gain or lose ranks.
    """
    if any(owner[rule.name] != old.id for rule in old.rules):
        return False
    new = after[old.id]
    return len(old.rules) == len(new.rules) and old.recursive == new.recursive


def _heirs(old: Hypernode, left: frozenset[str], owner: Mapping[str, int]) -> dict[str, int]:
    """The new hypernode that each table of an old one passes to, if any rule for it is left."""
    heirs = {}
    for predicate in old.derives:
        shares = Counter(
            owner[rule.name]
            for rule in old.rules
            if rule.head.predicate == predicate and rule.name in left
        )
        if shares:
            heirs[predicate] = min(shares, key=lambda number: (-shares[number], number))
    return heirs


def _fits(old: Hypernode, predicate: str, heir: Hypernode) -> bool:
    """Whether all rules that read an old table come after its heir.

    Rule: where edges go by atoms that match, what no rule of the heir derives may not be in its
    tables. Reason: another hypernode that reads it may have its turn before the heir.
    """
    heads = [rule.head for rule in heir.rules if rule.head.predicate == predicate]
    former = (rule.head for rule in old.rules if rule.head.predicate == predicate)
    return all(any(covers(head, one) for head in heads) for one in former)


def _heritage(
    hypernode: Hypernode,
    before: Hypergraph,
    passed: Mapping[int, Mapping[str, int]],
    origin: Mapping[str, int],
    rows: Rows,
) -> Heritage:
    tables = {
        predicate: tuple(
            old for old, heirs in passed.items() if heirs.get(predicate) == hypernode.id
        )
        for predicate in hypernode.derives
    }
    given = {(old, predicate) for predicate, olds in tables.items() for old in olds}
    own = {rule.name for rule in hypernode.rules}
    lost = [
        rule
        for old in before.hypernodes
        for rule in old.rules
        if (old.id, rule.head.predicate) in given
        and not (rule.name in own and origin.get(rule.name) == old.id)
    ]
    new = [
        rule
        for rule in hypernode.rules
        if (origin.get(rule.name), rule.head.predicate) not in given
    ]
    sizes: Counter[int] = Counter()
    for old, predicate in given:
        sizes[old] += rows(old, predicate)
    origins = tuple(h for h in before.hypernodes if h.id in sizes)
    base = min(sizes, key=lambda old: (-sizes[old], old), default=0)
    return Heritage(origins, base, tables, tuple(lost), tuple(new))
