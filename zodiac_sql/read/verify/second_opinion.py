"""A second way from rules to facts, for `verify` alone.

An error in how rules become SQL must not stand on both sides of a comparison. So this module shares
neither plans nor joins nor strategies with evaluation, only the parsed rules, their types and the
SQL of single functions. It applies a hypernode's rules to the facts of the last round until a round
finds none, without modules, trees, products, ranks or join orders; many rounds are one recursive
statement. rule_body.py makes a query of
the body of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.rounds import is_narrow
from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.duckdb_errors import OutOfMemoryError
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    distinct,
    drop,
    joining,
    parameter,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.groups_in_shares import SHARES, divisible
from zodiac_sql.evaluate.limited import MOST_ROWS, most_rows, within_limits
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Rule, Type
from zodiac_sql.read.verify.beside_heads import has_solution, told_apart
from zodiac_sql.read.verify.rule_body import BodyQuery, NotAtOnce, Reads
from zodiac_sql.read.verify.values import ProgramMeaning
from zodiac_sql.rewrite.forms import are_linear
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.tagged import Layout, layout_by_key, layout_of, typed


def derive(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    outside: Callable[[str], Relation],
) -> dict[str, Part]:
    """What some rules derive: their least fixpoint over `outside`, a temporary table for each head.

    Rules also read facts from outside. A table has such a fact only if a rule derives it, too.
    """
    heads = dict.fromkeys(rule.head.predicate for rule in rules)
    if not any(atom.predicate in heads for rule in rules for atom in rule.positive_atoms()):
        return _derive_at_once(store, program, rules, outside)
    own = {name: _Own.begin(store, program.schema[name]) for name in heads}

    def everything(place: int, atom: Atom) -> Relation:
        relation, mine = outside(atom.predicate), own.get(atom.predicate)
        if mine is None or not mine.known.rows:
            return relation
        return replace(relation, parts=(*relation.parts, mine.known))

    variants = [Variant(rule, everything) for rule in rules]
    texts: dict[Hashable, str | None] = {}
    rounds, goes_on = 0, are_linear(rules, heads)
    by_key = not goes_on
    while variants:
        if (goes_on or by_key and _is_narrow(own)) and rounds:
            counted = rounds // LONGER if by_key else rounds
            if _is_deep(rules, own, everything, counted):
                if _derive_the_rest(store, program, rules, own, everything, by_key):
                    break
                goes_on = by_key = False
        rounds += 1
        tables = tuple((one.delta.table, bool(one.known.rows)) for one in own.values())
        for name, one in own.items():
            those = [variant for variant in variants if variant.rule.head.predicate == name]
            key = name, tuple((id(variant.rule), variant.place) for variant in those), tables
            one.find(store, partial(_facts, store, program, those, one.relation), texts, key)
        for one in own.values():
            one.finish_round(store)
            if store.watch.bounds is not None:
                store.watch.bounds.found([v.rule.name for v in variants], one.delta.rows)
        deltas = {name: one.delta for name, one in own.items()}
        variants = delta_rounds(rules, everything, deltas)
    return {name: one.known for name, one in own.items() if one.known.rows}


# --- all rounds that are left, in one statement ---------------------------------------------------


def _is_narrow(own: Mapping[str, _Own]) -> bool:
    """Whether the last round has found little: such a statement joins it with all that it has."""
    return is_narrow(sum(one.delta.rows for one in own.values()))


def _is_deep(rules: Sequence[Rule], own: Mapping[str, _Own], reads: Reads, rounds: int) -> bool:
    """Whether the rounds so far took as long as a statement does that reads everything at once."""
    rows = sum(reads(0, atom).rows for rule in rules for atom in rule.positive_atoms())
    rows += sum(one.known.rows for one in own.values())
    return rounds * len(own) >= len(rules) + rows // _ROWS


_ROWS = 30_000
"""DuckDB puts about so many facts into a hash table in the time that a small statement takes."""

LONGER = 4
"""For rules that read several of its facts, so many times as many rounds must have been."""

_R = "r"
"""What the recursive statement has found."""


def _derive_the_rest(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    own: Mapping[str, _Own],
    reads: Reads,
    by_key: bool,
) -> bool:
    """Add all that follows from the last round. Returns False if a text has no id, or the like."""
    lay_out = layout_by_key if by_key else layout_of
    layout = lay_out({name: typed(one.relation.stored) for name, one in own.items()})
    found = {name: layout.part(name, _R, "") for name in own}
    all_found = {name: replace(part, schema="recurring") for name, part in found.items()}

    def everything(place: int, atom: Atom) -> Relation:
        relation, mine = reads(place, atom), all_found.get(atom.predicate)
        return replace(relation, parts=(*relation.parts, mine)) if by_key and mine else relation

    seeds, steps, made = [], [], set[str]()
    try:
        for name, one in own.items():
            if one.delta.rows:
                last = exp.select(exp.Star()).from_(temp_table(one.delta.table))
                seeds.append(layout.put(name, last))
            mine = [rule for rule in rules if rule.head.predicate == name]
            variants = delta_rounds(mine, everything, found)
            facts = _facts(store, replace(program, at_once=True), variants, one.relation)
            if facts is not None:
                made |= set() if facts.lasts else {name}
                new = one.unknown(facts.query)
                if by_key:
                    columns, there = columns_of(one.relation, "c"), (all_found[name],)
                    again = relation_query(replace(one.relation, parts=there))
                    new = anti_join(new, columns, again.subquery("y", copy=False), "y")
                steps.append(layout.put(name, new))
        begun, table = sum(one.delta.rows for one in own.values()), store.temporary.fresh("rest")
        given = most_rows(store.watch.bounds, begun)
        query = _recursion(union_all(seeds), union_all(steps), layout.key, given)
        rows = store.count(create_temp(table, query), given)
    except (NotAtOnce, OutOfMemoryError):
        return False
    facts_of = picked_from(table, layout, {name: one.relation for name, one in own.items()})
    known = not any(has_unknown(store, facts_of[name]) for name in made)
    for name, one in own.items() if known else ():
        one.add(store, relation_query(facts_of[name]))
    if known and store.watch.bounds is not None:
        store.watch.bounds.found([rule.name for rule in rules], rows - begun)
    store.run(drop(table))
    return known


def picked_from(
    table: str, layout: Layout, relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """What a temporary table with tags has of each predicate."""
    return {
        name: replace(relation, parts=(layout.part(name, table),))
        for name, relation in relations.items()
    }


def has_unknown(store: Store, relation: Relation) -> bool:
    """Whether a text has no id."""
    unknown = exp.Literal.number(_UNKNOWN)
    columns = zip(relation.stored, columns_of(relation, "t"), strict=True)
    missing = [value.eq(unknown) for column, value in columns if column.type is Type.SYMBOL]
    rows = relation_query(relation).subquery("t", copy=False)
    query = exp.select(exp.Literal.number(1)).from_(rows, copy=False)
    return bool(store.rows(query.where(exp.or_(*missing), copy=False).limit(1, copy=False)))


def _recursion(
    seeds: exp.Query, steps: exp.Query, key: Sequence[str], given: Collection[str]
) -> exp.Query:
    """All that a recursion finds, which keeps each row once by a key, if there is one. If a limit
    is given, it ends when it has found more.
    """
    names = [exp.to_identifier(name, quoted=True) for name in key]
    alias = exp.TableAlias(this=exp.to_identifier(_R), columns=names or None)
    step = within_limits(_R, steps, given) if names else steps
    cte = exp.CTE(this=exp.union(seeds, step, distinct=True, copy=False), alias=alias)
    if names:
        cte.set("key_expressions", [name.copy() for name in names])
    whole = exp.select(exp.Star()).from_(_R)
    whole.set("with_", exp.With(expressions=[cte], recursive=True))
    most = parameter(MOST_ROWS) + exp.Literal.number(1)
    return whole if names or not given else whole.limit(most, copy=False)


# --- one round ------------------------------------------------------------------------------------


def _derive_at_once(
    store: Store, program: ProgramMeaning, rules: Sequence[Rule], outside: Callable[[str], Relation]
) -> dict[str, Part]:
    """What rules derive if none reads what another one derives: one round finds all."""
    mine: dict[str, list[Rule]] = {}
    for rule in rules:
        mine.setdefault(rule.head.predicate, []).append(rule)
    derived = {}
    for name, those in mine.items():
        table, relation = store.temporary.fresh("known"), Relation(program.schema[name].columns, ())
        variants = [Variant(rule, lambda _, atom: outside(atom.predicate)) for rule in those]
        found = _facts(store, program, variants, relation, stays=True)
        if found is None:
            continue
        try:
            count = store.count(create_temp(table, distinct(found.query)))
        except OutOfMemoryError:
            if not divisible(those):
                raise
            count = _derive_in_shares(store, program, variants, relation, table)
        if count:
            derived[name] = Part("temp", table, count)
    return derived


@dataclass(frozen=True, slots=True)
class Variant:
    """A rule, and what its atoms read: that at `place`, if any, what the last round has found."""

    rule: Rule
    reads: Reads
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Heads:
    """A query for heads, symbols as ids."""

    query: exp.Query
    lasts: bool
    """Whether the query finds them in later rounds, too: not if their texts had to be encoded. Of
    those in a recursive statement, whether all have ids: a text may have none."""


def _facts(
    store: Store,
    program: ProgramMeaning,
    variants: Sequence[Variant],
    relation: Relation,
    stays: bool = False,
) -> Heads | None:
    """What rules of the same head derive from what they read; None if that can be nothing."""
    values = [
        exp.cast(value, SQL_TYPES[column.type or Type.SYMBOL]).as_(column.name, quoted=True)
        for column, value in zip(relation.stored, columns_of(relation, "u"), strict=True)
    ]
    heads = (heads_of(store, program, v.rule, v.reads, stays=stays) for v in variants)
    found = [one for one in heads if one is not None]
    united = [
        exp.select(*values).from_(one.query.subquery("u", copy=False), copy=False) for one in found
    ]
    return Heads(union_all(united), all(one.lasts for one in found)) if united else None


def _derive_in_shares(
    store: Store,
    program: ProgramMeaning,
    variants: Sequence[Variant],
    relation: Relation,
    table: str,
) -> int:
    """Fill a table with what rules derive whose groups do not all fit the memory. Returns its rows.

    (evaluate/groups_in_shares.py says why.)
    """
    found = temp_table(store.temporary.fresh("found"))
    for shares in SHARES:
        try:
            for place in range(shares):
                share = replace(program, share=(place, shares))
                facts = _facts(store, share, variants, relation)
                assert facts is not None
                query = facts.query
                store.run(exp.insert(query, found) if place else create_temp(found.name, query))
            break
        except OutOfMemoryError:
            if shares == SHARES[-1]:
                raise
    rows = store.count(create_temp(table, distinct(exp.select(exp.Star()).from_(found))))
    store.run(drop(found.name))
    return rows


def delta_rounds(rules: Sequence[Rule], reads: Reads, deltas: Mapping[str, Part]) -> list[Variant]:
    """Each rule once for each atom of which the last round has found facts: it reads only those."""
    return [
        Variant(rule, _with_delta(reads, place, deltas[atom.predicate]), place)
        for rule in rules
        for place, atom in enumerate(rule.positive_atoms())
        if atom.predicate in deltas and deltas[atom.predicate].rows
    ]


def _with_delta(reads: Reads, delta_place: int, delta: Part) -> Reads:
    def read(place: int, atom: Atom) -> Relation:
        relation = reads(place, atom)
        return replace(relation, parts=(delta,)) if place == delta_place else relation

    return read


@dataclass(slots=True)
class _Own:
    """The tables of one head: the known facts, the last round's delta, and this round's one."""

    relation: Relation
    known: Part
    delta: Part
    next: Part

    @classmethod
    def begin(cls, store: Store, predicate: Predicate) -> _Own:
        fresh = store.temporary.fresh
        tables = [Part("temp", fresh(stem), 0) for stem in ("known", "delta", "delta")]
        return cls(Relation(predicate.columns, ()), *tables)

    def find(
        self,
        store: Store,
        facts: Callable[[], Heads | None],
        texts: dict[Hashable, str | None],
        key: Hashable,
    ) -> None:
        """Make a delta of the new facts among those found, while others still read the last one.

        Most rounds differ only in what is in their tables. So the text of a statement is kept under
        a key with all that it depends on.
        """
        if key in texts:
            text = texts[key]
        else:
            found = facts()
            text = render(create_temp(self.next.table, self.new(found.query))) if found else None
            if found is None or found.lasts:
                texts[key] = text
        self.next = replace(self.next, rows=store.count(text) if text else 0)

    def new(self, found: exp.Query) -> exp.Select:
        """What is found and not known, each fact once."""
        return self.unknown(distinct(found))

    def unknown(self, found: exp.Query) -> exp.Select:
        """What is found and not known."""
        columns = columns_of(self.relation, "c")
        new = exp.select(*columns).from_(found.subquery("c", copy=False), copy=False)
        return anti_join(new, columns, temp_table(self.known.table)) if self.known.rows else new

    def add(self, store: Store, found: exp.Query) -> None:
        """Add what is found and not known."""
        self.next = replace(
            self.next, rows=store.count(create_temp(self.next.table, self.new(found)))
        )
        self.finish_round(store)

    def finish_round(self, store: Store) -> None:
        """Add the new facts to the known ones; the next round reads them as its delta."""
        self.delta, self.next = self.next, self.delta
        if self.delta.rows:
            delta = exp.select(exp.Star()).from_(temp_table(self.delta.table))
            known = self.known.table
            add = (
                exp.insert(delta, temp_table(known))
                if self.known.rows
                else create_temp(known, delta)
            )
            store.run(add)
            self.known = replace(self.known, rows=self.known.rows + self.delta.rows)


def heads_of(
    store: Store,
    program: ProgramMeaning,
    rule: Rule,
    reads: Reads,
    ranked: bool = False,
    stays: bool = False,
) -> Heads | None:
    """A query for the heads that a rule derives; None if there can be none.

    With `ranked`, a column has the highest rank among the ranked facts that the rule reads. If what
    it reads `stays`, atoms that share no variable with the others are looked at by themselves.
    """
    literals = rule.body
    if stays:
        literals, others = told_apart(rule)
        if others and not has_solution(BodyQuery(store, program, reads, others)):
            return None
    body = BodyQuery(store, program, reads, literals)
    if not body.build():
        return None
    head = program.schema[rule.head.predicate].columns
    query, texts = body.head(rule.head, head, ranked)
    if not texts:
        return Heads(query, lasts=True)
    if program.at_once:
        return Heads(_looked_up(query, texts), lasts=False)
    raw, encoded = store.temporary.fresh("raw"), store.temporary.fresh("encoded")
    store.run(create_temp(raw, query))
    dictionary.encode(store, raw, texts, encoded)
    return Heads(exp.select(exp.Star()).from_(temp_table(encoded)), lasts=False)


_UNKNOWN = -1
"""The id of no symbol. NULL would be equal to nothing, and be found again in each round."""


def _looked_up(query: exp.Select, texts: Sequence[str]) -> exp.Select:
    """Heads with ids in the place of texts, or _UNKNOWN where no symbol has a text."""
    rows = exp.select().from_(query.subquery("h", copy=False), copy=False)
    for place, name in enumerate(query.named_selects):
        value: exp.Expr = exp.column(name, table="h", quoted=True)
        if name in texts:
            alias = f"i{place}"
            same = exp.column("text", table=alias).eq(value)
            symbols = temp_table(dictionary.KNOWN).as_(alias)
            rows = rows.join(joining(symbols, "LEFT"), on=same, copy=False)
            found = exp.column("id", table=alias)
            value = exp.func("coalesce", found, exp.Literal.number(_UNKNOWN))
        rows = rows.select(value.as_(name, quoted=True), copy=False)
    return rows
