"""The hyper rule dependency graph by definition, and whether a knowledge base has it.

Like the oracle, this knows nothing of zodiac_sql's rules: it looks at the rules of `programs`, and
at what the library says and has in its file. `assert_whole` is the invariant "Tables" of
ARCHITECTURE.md, `assert_hypernodes_told` what a Change must say of hypernodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
from generators.programs import (
    Aggregate,
    Atom,
    Facts,
    Literal,
    Not,
    Row,
    Rule,
    Var,
    predicates_of,
    rule_text,
)
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import HypernodeChange

Names = frozenset[str]
"""A hypernode: the names of its rules. Its number is the library's own affair."""

Contents = dict[tuple[Names, str], set[Row]]
"""What each hypernode derives of each predicate."""


# ---------------------------------------------------------------------------------- as it should be


@dataclass(frozen=True)
class Shape:
    """The HRDG without numbers."""

    parts: frozenset[Names]
    positive: frozenset[tuple[Names, Names]]
    negative: frozenset[tuple[Names, Names]]
    recursive: frozenset[Names]
    negative_inside: bool

    @cached_property
    def owner(self) -> dict[str, Names]:
        return {name: part for part in self.parts for name in part}


def shape_of(rules: Iterable[Rule]) -> Shape:
    """Strongly connected components of the rule dependency graph, and the edges between them.

    Edges go by predicates; if then something depends on its own negation, by constants, too.
    """
    rules = list(rules)
    shape = _shape(rules, by_constants=False)
    return _shape(rules, by_constants=True) if shape.negative_inside else shape


def _shape(rules: Iterable[Rule], by_constants: bool) -> Shape:
    by_name = {rule.name: rule for rule in rules}
    deriving: dict[str, list[Rule]] = defaultdict(list)
    for rule in by_name.values():
        deriving[rule.head.predicate].append(rule)
    edges: dict[bool, set[tuple[str, str]]] = {False: set(), True: set()}
    for rule in by_name.values():
        for atom, negative in reads(rule.body):
            for source in deriving[atom.predicate]:
                if not by_constants or _can_be_read(source.head, atom):
                    edges[negative].add((source.name, rule.name))
    graph = nx.DiGraph()
    graph.add_nodes_from(by_name)
    for some in edges.values():
        graph.add_edges_from(some)
    parts = frozenset(map(frozenset, nx.strongly_connected_components(graph)))
    owner = {name: part for part in parts for name in part}
    between = {
        negative: {(owner[a], owner[b]) for a, b in some} for negative, some in edges.items()
    }
    return Shape(
        parts,
        frozenset((a, b) for a, b in between[False] if a != b),
        frozenset((a, b) for a, b in between[True] if a != b),
        frozenset(a for a, b in between[False] if a == b),
        any(a == b for a, b in between[True]),
    )


def _can_be_read(head: Atom, atom: Atom) -> bool:
    """Whether no column has a constant in one, and another constant in the other."""
    pairs = zip(head.terms, atom.terms, strict=True)
    return all(isinstance(a, Var) or isinstance(b, Var) or a == b for a, b in pairs)


def reads(body: Iterable[Literal]) -> set[tuple[Atom, bool]]:
    """The atoms of a body, and whether it needs them complete: negated or aggregated over."""
    found: set[tuple[Atom, bool]] = set()
    for literal in body:
        if isinstance(literal, Atom):
            found.add((literal, False))
        elif isinstance(literal, Not):
            found.add((literal.atom, True))
        elif isinstance(literal, Aggregate):
            found |= {(atom, True) for atom, _ in reads(literal.body)}
    return found


def allowed(rules: Iterable[Rule]) -> bool:
    """Whether rules are a program: stratified, and an aggregate's head is its rule's alone."""
    rules = list(rules)
    heads = Counter(rule.head.predicate for rule in rules)
    alone = all(
        heads[rule.head.predicate] == 1
        for rule in rules
        if any(isinstance(literal, Aggregate) for literal in rule.body)
    )
    return alone and not shape_of(rules).negative_inside


@dataclass(frozen=True)
class Moved:
    """What becomes of hypernodes from one program to the next, judged by rules that stay.

    `merged`: hypernodes with unchanged rules of several old ones; `split`: the reverse.
    """

    merged: Mapping[Names, frozenset[Names]]
    split: Mapping[Names, frozenset[Names]]

    @classmethod
    def between(cls, before: Mapping[str, Rule], after: Mapping[str, Rule]) -> Moved:
        old, new = shape_of(before.values()), shape_of(after.values())
        unchanged = unchanged_rules(before, after)
        pairs = {(old.owner[name], new.owner[name]) for name in unchanged}
        merged: dict[Names, set[Names]] = defaultdict(set)
        split: dict[Names, set[Names]] = defaultdict(set)
        for a, b in pairs:
            merged[b].add(a)
            split[a].add(b)
        return cls(
            {part: frozenset(olds) for part, olds in merged.items() if len(olds) > 1},
            {part: frozenset(news) for part, news in split.items() if len(news) > 1},
        )

    def __bool__(self) -> bool:
        return bool(self.merged or self.split)


def unchanged_rules(before: Mapping[str, Rule], after: Mapping[str, Rule]) -> set[str]:
    """Names of the rules that are in both programs, and the same."""
    return {name for name in before.keys() & after.keys() if before[name] == after[name]}


def contents(rules: Iterable[Rule], facts: Facts) -> Contents:
    """Every hypernode's tables by clingo: its rules derive into predicates of their own, which are
    copied into those that all rules read. In a stratified program that is the modular fixpoint.
    """
    rules = list(rules)
    numbers = {part: number for number, part in enumerate(shape_of(rules).parts)}
    owner = {name: part for part in numbers for name in part}
    own: dict[tuple[Names, str], str] = {}
    apart: list[Rule] = []
    for rule in rules:
        head, part = rule.head, owner[rule.name]
        name = f"own{numbers[part]}_{head.predicate}"
        if (part, head.predicate) not in own:
            variables = tuple(Var(f"C{index}") for index in range(len(head.terms)))
            copy = Rule("", Atom(head.predicate, variables), (Atom(name, variables),))
            apart.append(copy)
        own[part, head.predicate] = name
        apart.append(replace(rule, head=Atom(name, head.terms)))
    found = extensions(apart, facts)
    return {key: found[name] for key, name in own.items()}


# -------------------------------------------------------------------------------------- as it is


@dataclass(frozen=True)
class Stored:
    """The HRDG as the file has it, and the tables of its hypernodes."""

    numbers: Mapping[Names, str]
    strata: Mapping[Names, int]
    shape: Shape
    contents: Contents
    columns: Mapping[str, str]
    """Of each predicate, as `kb.predicates` shows them."""
    unequal: AbstractSet[tuple[str, str]]
    """Hypernodes and predicates that are closed as transitive, with an inequality."""
    whole: AbstractSet[tuple[str, str]]
    """Those that are kept as components, with what is known from elsewhere."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.numbers.values())


def assert_whole(kb: KnowledgeBase, rules: Mapping[str, Rule], facts: Facts) -> Stored:
    """Catalog, tables and views are those of these rules and facts. Returns what was found."""
    facts = {predicate: rows for predicate, rows in facts.items() if rows}
    _assert_rules(kb, rules)
    stored = _stored(kb, rules)
    expected = contents(rules.values(), facts)
    _assert_graph(stored, shape_of(rules.values()))
    _assert_predicates(kb, rules, facts, expected, {p for _, p in stored.unequal | stored.whole})
    for (part, predicate), rows in expected.items():
        actual = stored.contents.get((part, predicate), set())
        table = f"{predicate} of {stored.numbers[part]} = {sorted(part)}"
        missing, surplus = rows - actual, actual - rows
        if (stored.numbers[part], predicate) in stored.unequal:
            # By the linear rule, a fact known from elsewhere is not derived again from itself.
            missing -= _elsewhere(part, predicate, facts, expected)
        if (stored.numbers[part], predicate) in stored.whole:
            missing |= _elsewhere(part, predicate, facts, expected) - actual
            surplus -= _elsewhere(part, predicate, facts, expected)
        assert not missing and not surplus, f"{table}: {missing=} {surplus=}"
    return stored


def _elsewhere(part: Names, predicate: str, facts: Facts, expected: Contents) -> AbstractSet[Row]:
    """What a hypernode knows of a predicate from outside."""
    return facts.get(predicate, frozenset()).union(
        *(rows for (other, p), rows in expected.items() if p == predicate and other != part)
    )


def _assert_rules(kb: KnowledgeBase, rules: Mapping[str, Rule]) -> None:
    listed = kb.rules().to_pylist()
    assert len(listed) == len(rules)
    texts = {row["name"]: f"{row['name']}: {row['rule']}" for row in listed}
    assert texts == {name: rule_text(rule) for name, rule in rules.items()}
    stored = kb.sql("SELECT name, hypernode, head FROM zodiac.rule").fetchall()
    assert {
        (row["name"], row["hypernode"], rules[row["name"]].head.predicate) for row in listed
    } == {(name, f"h{hypernode}", head) for name, hypernode, head in stored}
    assert len(stored) == len(rules)


def _stored(kb: KnowledgeBase, rules: Mapping[str, Rule]) -> Stored:
    """What the catalog says, which must be what `kb.hypernodes` says; and the tables."""
    listed = kb.hypernodes().to_pylist()
    catalog = kb.sql("FROM zodiac.hypernode SELECT id, stratum, recursive ORDER BY position")
    assert [(row["hypernode"], row["stratum"], row["recursive"]) for row in listed] == [
        (f"h{number}", stratum, recursive) for number, stratum, recursive in catalog.fetchall()
    ]
    places = kb.sql("SELECT position, id FROM zodiac.hypernode").fetchall()
    assert len({place for place, _ in places}) == len({number for _, number in places})
    part_of: dict[str, Names] = {row["hypernode"]: frozenset(row["rules"]) for row in listed}
    for row in listed:
        assert len(set(row["rules"])) == len(row["rules"])
        members = [rules[name] for name in row["rules"]]
        assert sorted(row["derives"]) == sorted({rule.head.predicate for rule in members})
        assert row["reads"] == sorted(
            {atom.predicate for rule in members for atom, _ in reads(rule.body)}
        )
    predicates = kb.predicates().to_pylist()
    tables = _tables(kb, part_of, rules, predicates)
    for row in listed:
        mine = [rows for (part, _), rows in tables.items() if part == part_of[row["hypernode"]]]
        assert row["rows"] == sum(map(len, mine)), row
    edges = kb.sql("SELECT source, target, negative FROM zodiac.hyperedge").fetchall()
    assert len(edges) == len(set(edges))
    between = [(part_of[f"h{a}"], part_of[f"h{b}"], negative) for a, b, negative in edges]
    position = {f"h{number}": place for place, number in places}
    stratum = {row["hypernode"]: row["stratum"] for row in listed}
    for a, b, negative in edges:
        assert position[f"h{a}"] < position[f"h{b}"], f"h{a} comes after h{b}, which reads it"
        assert stratum[f"h{a}"] + negative <= stratum[f"h{b}"], f"strata of h{a} and h{b}"
    shape = Shape(
        frozenset(part_of.values()),
        frozenset((a, b) for a, b, negative in between if not negative),
        frozenset((a, b) for a, b, negative in between if negative),
        frozenset(part_of[row["hypernode"]] for row in listed if row["recursive"]),
        False,
    )
    return Stored(
        {part: name for name, part in part_of.items()},
        {part_of[name]: level for name, level in stratum.items()},
        shape,
        tables,
        {row["predicate"]: row["columns"] for row in predicates},
        _closed(kb, "m.kind = 'tc' AND m.unequal"),
        _closed(kb, "m.kind = 'scc'"),
    )


def _closed(kb: KnowledgeBase, condition: str) -> set[tuple[str, str]]:
    """The hypernodes and predicates that modules of some kind close."""
    found = kb.sql(
        f"SELECT id, m.predicate FROM (SELECT id, unnest(modules) AS m FROM zodiac.hypernode)"
        f" WHERE {condition}"
    ).fetchall()
    return {(f"h{number}", predicate) for number, predicate in found}


def _tables(
    kb: KnowledgeBase,
    part_of: Mapping[str, Names],
    rules: Mapping[str, Rule],
    predicates: list[dict[str, Any]],
) -> Contents:
    """The tables of idb by hypernode and predicate; there are no others."""
    sql_names = {row["predicate"]: row["sql_name"] for row in predicates}
    possible = {
        f"{name}_{sql_names[head]}": (part, head)
        for name, part in part_of.items()
        for head in {rules[rule].head.predicate for rule in part}
    }
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for table, column, type_ in kb.sql(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = current_database() AND schema_name = 'idb'"
        " AND NOT starts_with(table_name, 'zodiac$aside_')"  # for the facts of the last change
        " ORDER BY table_name, column_index"
    ).fetchall():
        columns[table].append((column, type_))
    modular = _tables_of_modules(kb, sql_names)
    strays = columns.keys() - possible.keys()
    assert strays <= modular, f"tables that belong to no hypernode: {strays}, not {modular}"
    empty = modular - strays
    assert all(name.endswith(" external") for name in empty), f"tables that are missing: {empty}"
    for table in strays:
        del columns[table]
    texts = dict(kb.sql("SELECT id, text FROM zodiac.symbol").fetchall())
    symbols = {
        row["predicate"]: [part.endswith(": symbol") for part in row["columns"].split(", ")]
        for row in predicates
        if row["columns"]
    }
    found: Contents = {}
    for table, listed in columns.items():
        part, predicate = possible[table]
        kept = [column for column, _ in listed if column != "$rank"]
        selected = ", ".join(f'"{column}"' for column in kept)
        rows = kb.sql(f'SELECT {selected} FROM idb."{table}"').fetchall()
        assert len(rows) == len(set(rows)), f"{table} has a row twice"
        encoded = symbols.get(predicate, [])
        assert not encoded or len(encoded) == len(kept), f"columns of {table}: {listed}"
        found[part, predicate] = {
            tuple(
                texts[value] if symbol else value
                for value, symbol in zip(row, encoded, strict=bool(encoded))
            )
            for row in rows
        }
    return found


def _tables_of_modules(kb: KnowledgeBase, sql_names: Mapping[str, str]) -> set[str]:
    """What modules keep in idb, by the catalog: what it holds is compared by `verify`."""
    at_work = kb.sql(
        "SELECT id, m.kind, m.predicate, m.fed"
        " FROM (SELECT id, unnest(modules) AS m FROM zodiac.hypernode)"
    ).fetchall()
    external = {f"h{h}_{sql_names[p]} external" for h, _, p, fed in at_work if fed}
    kept = {"stc": ("classes",), "scc": ("classes", "between")}
    return external | {
        f"h{h}_{sql_names[p]} {which}" for h, kind, p, _ in at_work for which in kept.get(kind, ())
    }


def _assert_graph(stored: Stored, expected: Shape) -> None:
    for what in ("parts", "positive", "negative", "recursive"):
        found, wanted = getattr(stored.shape, what), getattr(expected, what)
        assert found == wanted, f"{what}: {_plain(wanted - found)=} {_plain(found - wanted)=}"


def _plain(parts: Iterable[Any]) -> list[Any]:
    return [sorted(part) if isinstance(part, frozenset) else _plain(part) for part in parts]


def _assert_predicates(
    kb: KnowledgeBase,
    rules: Mapping[str, Rule],
    facts: Facts,
    expected: Contents,
    fewer: AbstractSet[str],
) -> None:
    """Predicates, their views, their explicit facts, and the numbers of their facts.

    Of those in `fewer`, rules need not derive what is given.
    """
    listed = kb.predicates().to_pylist()
    assert {row["predicate"] for row in listed} == predicates_of(rules.values(), facts).keys()
    views = kb.sql(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        " AND database_name = current_database() AND schema_name = 'main'"
    ).fetchall()
    assert sorted(name for (name,) in views) == sorted(row["sql_name"] for row in listed)
    explicit = kb.sql(
        "SELECT table_name FROM duckdb_tables()"
        " WHERE database_name = current_database() AND schema_name = 'edb'"
    ).fetchall()
    assert {name for (name,) in explicit} <= {row["sql_name"] for row in listed}
    for row in listed:
        name = row["predicate"]
        given = facts.get(name, frozenset())
        derived = {fact for (_, head), rows in expected.items() if head == name for fact in rows}
        shown = kb.sql(f'SELECT * FROM main."{row["sql_name"]}"').fetchall()
        wanted = given | derived if row["columns"] else {(True,) for _ in given | derived}
        assert len(shown) == len(set(shown)), f"the view of {name} shows a row twice"
        assert set(shown) == wanted, f"the view of {name}"
        counts = len(given), len(derived), len(given | derived)
        told = row["derived"] if name not in fewer else len(derived)
        assert (row["explicit"], told, row["extension"]) == counts, name


# ------------------------------------------------------------------------------- what is told of it


@dataclass(frozen=True)
class Seen:
    """A knowledge base at one moment: its rules, all extensions, and its HRDG."""

    rules: Mapping[str, Rule]
    extensions: Mapping[str, set[Row]]
    explicit: Facts
    stored: Stored

    def outside(self, predicate: str, part: Names) -> set[Row]:
        """What a hypernode gets to read of a predicate: all but what it derives itself."""
        found = set(self.explicit.get(predicate, frozenset()))
        for (owner, head), rows in self.stored.contents.items():
            if head == predicate and owner != part:
                found |= rows
        return found


def assert_hypernodes_told(
    told: HypernodeChange, before: Seen, after: Seen, again: Iterable[str] = ()
) -> None:
    """What a Change says of hypernodes agrees with the rule sets before and after.

    `again`: rules that were dropped and added in one change. They may count as unchanged or as new.
    """
    merged: Mapping[str, tuple[str, ...]] = getattr(told, "merged", {})
    split: Mapping[str, tuple[str, ...]] = getattr(told, "split", {})
    old, new = before.stored.names, after.stored.names
    listed = [*told.created, *told.dropped, *told.updated, *told.untouched]
    assert len(listed) == len(set(listed)), f"a hypernode is told twice: {told}"
    assert set(told.created) <= new - old, f"created: {told}"
    assert set(told.dropped) <= old - new, f"dropped: {told}"
    assert {*told.updated, *told.untouched} <= old & new, f"updated, untouched: {told}"
    results = {*merged, *(name for names in split.values() for name in names)}
    parts = {*split, *(name for names in merged.values() for name in names)}
    assert new - results <= {*told.created, *told.updated, *told.untouched} <= new, f"{told}"
    assert old - parts <= {*told.dropped, *told.updated, *told.untouched} <= old, f"{told}"
    _assert_fresh_numbers(old, new)
    _assert_same_rules_same_name(told, before, after, frozenset(again))
    _assert_merged_and_split(told, before, after)


def _assert_fresh_numbers(old: Iterable[str], new: Iterable[str]) -> None:
    """Numbers grow: what is new has a higher one than all that was there."""
    highest = max((int(name[1:]) for name in old), default=0)
    for name in set(new).difference(old):
        assert int(name[1:]) > highest, f"{name} is no new number after h{highest}"


def _assert_same_rules_same_name(
    told: HypernodeChange, before: Seen, after: Seen, again: Names
) -> None:
    unchanged = unchanged_rules(before.rules, after.rules) - again
    for part, name in before.stored.numbers.items():
        if part <= unchanged and part in after.stored.shape.parts:
            assert after.stored.numbers[part] == name, f"{name} = {sorted(part)} is renamed"
            assert name in told.updated or name in told.untouched, f"{name} keeps its rules: {told}"
            if not _inputs_changed(part, before, after):
                assert name in told.untouched, f"nothing that {name} reads has changed: {told}"
    names = {name: part for part, name in after.stored.numbers.items()}
    for name in told.untouched:
        part = names[name]
        assert before.stored.numbers.get(part) == name, f"{name} is not as it was: {told}"
        assert part <= unchanged | again, f"rules of {name} are not as they were: {told}"
        for key, rows in after.stored.contents.items():
            if key[0] == part:
                was = before.stored.contents.get(key, set())
                assert rows == was, f"{key[1]} of {name} was touched: {told}"


def _inputs_changed(part: Names, before: Seen, after: Seen) -> bool:
    """Whether a hypernode that keeps its rules reads other facts than before, or other columns."""
    for name in part:
        rule = after.rules[name]
        for predicate in {rule.head.predicate, *(atom.predicate for atom, _ in reads(rule.body))}:
            if before.stored.columns.get(predicate) != after.stored.columns.get(predicate):
                return True
        for predicate in {atom.predicate for atom, _ in reads(rule.body)}:
            if before.outside(predicate, part) != after.outside(predicate, part):
                return True
    return False


def _assert_merged_and_split(told: HypernodeChange, before: Seen, after: Seen) -> None:
    """`merged` (new name -> old names) and `split` (old name -> new names), once they are told."""
    unchanged = unchanged_rules(before.rules, after.rules)
    old = {name: part & unchanged for part, name in before.stored.numbers.items()}
    new = {name: part & unchanged for part, name in after.stored.numbers.items()}
    for which, sources, targets in (("merged", new, old), ("split", old, new)):
        pairs: Mapping[str, tuple[str, ...]] = getattr(told, which, {})
        for name, others in pairs.items():
            assert name in sources and set(others) <= targets.keys(), f"{which}: {told}"
            assert len(set(others)) == len(others) >= 2, f"{which}: {told}"
            for other in others:
                assert sources[name] & targets[other], f"{which} {name}, {other}: {told}"
