"""The state of a knowledge base, and how it is kept in the file.

`State` is what a program is between two changes; it is never modified, only replaced. Rules are
parsed again from their text only when something needs them, so that opening a file stays cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

from zodiac_sql.errors import LockedError, StoreError
from zodiac_sql.functions import Function
from zodiac_sql.hypernodes import Hypergraph, Hypernode
from zodiac_sql.hypertree.stored import StoredNode, StoredTree
from zodiac_sql.modules.inner import ModuleRow
from zodiac_sql.modules.partition import count_pairs
from zodiac_sql.names import ASIDE, RESERVED, classes_table, derived, why_not
from zodiac_sql.rules import Column, Rule, Type
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store
from zodiac_sql.trees import union_all


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule as the catalog keeps it.

    `head` is its predicate; `added_at` is UTC, in ISO form; `position` grows with each rule added.
    """

    name: str
    text: str
    prefixes: tuple[tuple[str, str], ...]
    head: str
    added_at: str
    position: int

    @property
    def standalone(self) -> str:
        """The text after the prefixes that it uses: it can be parsed wherever it is taken."""
        prefixes = (f"@prefix {prefix}: <{iri}> . " for prefix, iri in self.prefixes)
        return "".join(prefixes) + self.text

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True, slots=True)
class HypernodeRow:
    """A hypernode as the catalog keeps it: its rules by name.

    `ranked` tells whether its tables have ranks that may be relied upon; `modules` are those that
    were at work when they were written, and `trees` what was decided for cyclic rules.
    """

    id: int
    stratum: int
    recursive: bool
    rules: tuple[str, ...]
    ranked: bool = False
    modules: tuple[ModuleRow, ...] = ()
    trees: tuple[StoredTree, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Everything known of a program and its tables between two changes.

    `rows` counts the rows of each table of edb, idb and hd, by schema and table name; a table that is
    not there has no entry. `ids` are dictionary ids of symbols that rules mention, as far as known.
    `aside` are tables of idb that the last change took away, kept for its `Change` to read.
    `positions` tells for each stream of updates the number of the last one that was applied.
    `generation` counts the changes published so far, and tells whether a state is still the file's.
    """

    rules: tuple[StoredRule, ...] = ()
    hypernodes: tuple[HypernodeRow, ...] = ()
    positive: frozenset[tuple[int, int]] = frozenset()
    negative: frozenset[tuple[int, int]] = frozenset()
    schema: Mapping[str, Predicate] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], int] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    positions: Mapping[str, int] = field(default_factory=dict)
    next_hypernode: int = 1
    generation: int = 0


def parsed_rules(state: State) -> tuple[Rule, ...]:
    """The rules of a state, parsed from their text."""
    return tuple(_parsed(rule) for rule in state.rules)


def hypergraph_of(state: State) -> Hypergraph:
    """The HRDG of a state as it is in the catalog. Parses all rules."""
    rules = {rule.name: rule for rule in parsed_rules(state)}
    return Hypergraph(
        tuple(
            Hypernode(row.id, tuple(rules[name] for name in row.rules), row.recursive, row.stratum)
            for row in state.hypernodes
        ),
        state.positive,
        state.negative,
    )


@lru_cache(maxsize=10_000)
def _parsed(stored: StoredRule) -> Rule:
    """A rule from its text. That takes a millisecond: showing and verifying parse all, each time."""
    from zodiac_sql.parse import parse  # imported late: opening a file needs no parser

    rules = parse(stored.text, f"<rule {stored.name}>", dict(stored.prefixes)).rules
    if len(rules) != 1 or rules[0].head.predicate != stored.head:
        raise StoreError(f"the catalog was edited: {stored} is no rule for {stored.head}")
    (rule,) = rules
    return replace(rule, name=stored.name, prefixes=stored.prefixes)


# --- file -> state --------------------------------------------------------------------------------


def load(store: Store) -> State:
    """Read the catalog. Raises StoreError if it cannot be one that we wrote."""
    try:
        state = _load(store)
        wrong = next(_wrong(state), None)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        wrong = f"it has {error!r} where something else belongs"
    if wrong is not None:
        raise StoreError(
            f"the catalog of {store.path} was edited: {wrong}. Nothing was changed. Take its facts and "
            "rules from where they came from."
        )
    return state


def _wrong(state: State) -> Iterator[str]:
    """What does not fit together in a catalog."""
    for predicate in state.schema.values():
        yield from _wrong_in_predicate(predicate)
    yield from _repeated("SQL name", [p.sql_name.lower() for p in state.schema.values()])
    yield from _repeated("rule", [rule.name for rule in state.rules])
    yield from _repeated("hypernode", [row.id for row in state.hypernodes])
    for rule in state.rules:
        if rule.head not in state.schema:
            yield f"rule {rule.name} derives {rule.head}, which is no predicate"
    placed = sorted(name for row in state.hypernodes for name in row.rules)
    if placed != sorted(rule.name for rule in state.rules):
        yield "a rule is in no hypernode"
    places = {row.id: place for place, row in enumerate(state.hypernodes)}
    if not all(0 < id_ < state.next_hypernode for id_ in places):
        yield "a hypernode has a number that is not given yet"
    for before, after in state.positive | state.negative:
        if places.get(before, len(places)) >= places.get(after, -1):
            yield f"h{before} cannot come before h{after}"
    for row in state.hypernodes:
        yield from _wrong_in_hypernode(row, state.schema)


def _wrong_in_predicate(predicate: Predicate) -> Iterator[str]:
    lengths = {len(predicate.columns), len(predicate.settled), len(predicate.datatypes)}
    names = [column.name.lower() for column in predicate.columns]
    if len(lengths) > 1 or len(set(names)) < len(names):
        yield f"the columns of {predicate.name} do not fit together"
    if not predicate.name or not predicate.sql_name or not all(names):
        yield "something has no name"
    if any(why_not(name) for name in (predicate.sql_name, *names)) or set(names) & {*RESERVED}:
        yield f"{predicate.name} has a name that none can have"


def _wrong_in_hypernode(row: HypernodeRow, schema: Mapping[str, Predicate]) -> Iterator[str]:
    for module in row.modules:
        flags = (module.fed, module.parted, module.unequal, module.covers)
        binary = module.predicate in schema and schema[module.predicate].arity == 2
        if module.kind not in ("tc", "stc") or not binary or None in flags:
            yield f"h{row.id} has no module {module}"
    for tree in row.trees:
        for place, node in enumerate(tree.nodes):
            if node.parent is not None and not 0 <= node.parent < place:
                yield f"the nodes of {tree} are no tree"
            if (node.parent is None) != (place == 0):
                yield f"the nodes of {tree} are no tree"
        if any(not p.sql_name or p.open for p in tree.tables):
            yield f"a node of {tree} has no table"


def _repeated(what: str, names: Sequence[object]) -> Iterator[str]:
    if len(set(names)) < len(names):
        yield f"there is a {what} twice"


def _load(store: Store) -> State:
    rule_rows = store.rows(
        "SELECT name, source, prefixes, head, hypernode, strftime(added_at, '%Y-%m-%dT%H:%M:%SZ'),"
        " position FROM zodiac.rule ORDER BY position"
    )
    edges = store.rows("SELECT source, target, negative FROM zodiac.hyperedge")
    members: dict[int, list[str]] = {}
    for name, _, _, _, hypernode, *_ in rule_rows:
        members.setdefault(hypernode, []).append(name)
    hypernodes = store.rows(
        "SELECT id, stratum, recursive, ranked, modules FROM zodiac.hypernode ORDER BY position"
    )
    schema = _load_schema(store)
    trees = _load_trees(store)
    tables = _tables(store)
    rows = tuple(
        HypernodeRow(
            id_, stratum, recursive, tuple(members[id_]), ranked,
            tuple(ModuleRow(**module) for module in modules),
            tuple(trees[name] for name in members[id_] if name in trees),
        )
        for id_, stratum, recursive, ranked, modules in hypernodes
    )  # fmt: skip
    return State(
        rules=tuple(
            StoredRule(name, text, tuple(sorted(prefixes.items())), head, added_at, position)
            for name, text, prefixes, head, _, added_at, position in rule_rows
        ),
        hypernodes=rows,
        positive=frozenset((a, b) for a, b, negative in edges if not negative),
        negative=frozenset((a, b) for a, b, negative in edges if negative),
        schema=schema,
        prefixes=dict(store.rows("SELECT prefix, iri FROM zodiac.prefix")),
        functions=_load_functions(store),
        rows=_load_rows(store, tables, rows, schema),
        aside=tuple(table for schema, table, _ in tables if _is_aside(schema, table)),
        positions=dict(store.rows("SELECT name, position FROM zodiac.stream")),
        next_hypernode=store.count("SELECT next_hypernode FROM zodiac.counter"),
        generation=generation(store),
    )


def generation(store: Store) -> int:
    """How many changes were published to the file."""
    return store.count("SELECT generation FROM zodiac.counter")


def _load_schema(store: Store) -> dict[str, Predicate]:
    rows = store.rows(
        "SELECT name, sql_name, columns, types, settled, datatypes, declared"
        " FROM zodiac.predicate ORDER BY name"
    )
    return {
        name: Predicate(
            name,
            sql_name,
            tuple(Column(c, Type(t) if t else None) for c, t in zip(columns, types, strict=True)),
            tuple(Type(t) if t else None for t in settled),
            tuple(datatypes),
            declared,
        )
        for name, sql_name, columns, types, settled, datatypes, declared in rows
    }


def _load_trees(store: Store) -> dict[str, StoredTree]:
    """What was decided for cyclic rules, by their names."""
    rows = store.rows("SELECT rule, why, facts, nodes FROM zodiac.hypertree ORDER BY rule")
    return {
        rule: StoredTree(rule, why, facts, tuple(_node(node) for node in nodes))
        for rule, why, facts, nodes in rows
    }


def _node(node: Mapping[str, object]) -> StoredNode:
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in node.items()}
    return StoredNode(**values)  # type: ignore[arg-type]


def _load_functions(store: Store) -> dict[str, Function]:
    rows = store.rows("SELECT name, aggregate, parameters, returns FROM zodiac.function")
    return {
        name: Function(name, tuple(map(Type, parameters)), Type(returns), aggregate)
        for name, aggregate, parameters, returns in rows
    }


def _tables(store: Store) -> list[tuple[str, str, int]]:
    """The schema, the name and the estimated size of every table of facts or nodes.

    (Without parameters, as what is asked to open a file: see opening.py.)
    """
    rows = store.rows(
        "SELECT database_name, schema_name, table_name, estimated_size FROM duckdb_tables()"
        " WHERE schema_name IN ('edb', 'idb', 'hd')"
    )
    return [(schema, table, size) for file, schema, table, size in rows if file == store.database]


def _is_aside(schema: str, table: str) -> bool:
    return schema == "idb" and table.startswith(ASIDE)


def _load_rows(
    store: Store,
    tables: Sequence[tuple[str, str, int]],
    hypernodes: Sequence[HypernodeRow],
    schema: Mapping[str, Predicate],
) -> dict[tuple[str, str], int]:
    """The exact number of rows of every table of facts or nodes, and of every view of pairs."""
    found = _load_counts(store, [table for table in tables if not _is_aside(*table[:2])])
    for row in hypernodes:
        for module in row.modules:
            if module.parted:
                name = schema[module.predicate].sql_name
                table = derived(row.id, classes_table(name))
                if ("idb", table) in found:
                    found["idb", derived(row.id, name)] = count_pairs(store, table, module.unequal)
    return found


def _load_counts(
    store: Store, tables: Sequence[tuple[str, str, int]]
) -> dict[tuple[str, str], int]:
    """The exact number of rows of tables; DuckDB keeps it, and need not scan."""
    from sqlglot import exp

    # What DuckDB estimates has deleted rows in it, but no more of them than there ever were.
    found = {(schema, table): 0 for schema, table, _ in tables}
    filled = [(schema, table) for schema, table, size in tables if size]
    for start in range(0, len(filled), _COUNTED):
        some = filled[start : start + _COUNTED]
        counts = [
            exp.select(exp.Literal.number(place), exp.Count(this=exp.Star()), copy=False).from_(
                exp.table_(table, db=schema, quoted=True), copy=False
            )
            for place, (schema, table) in enumerate(some)
        ]
        rows = store.rows(union_all(counts))
        found |= {some[place]: count for place, count in rows}
    return found


_COUNTED = 50
"""So many tables are counted by one statement: 5,000 take 0.3 s, and all at once 1 s."""


def drop_aside(store: Store, state: State) -> None:
    """Drop the tables that were set aside, inside a transaction.

    Another connection of this process may have done that already.
    """
    from sqlglot import exp

    for name in state.aside:
        table = exp.table_(name, db="idb", quoted=True)
        store.run(exp.Drop(tables=[table], kind="TABLE", exists=True))


def others_names(store: Store, schema: Mapping[str, Predicate]) -> frozenset[str]:
    """Tables and views of somebody else in schema main, in lower case: their names are taken."""
    rows = store.rows(
        "SELECT lower(table_name) FROM duckdb_tables() WHERE schema_name = 'main'"
        " AND database_name = $1 UNION ALL"
        " SELECT lower(view_name) FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
        " AND database_name = $1",
        [store.database],
    )
    ours = {predicate.sql_name.lower() for predicate in schema.values()}
    return frozenset(name for (name,) in rows if name not in ours)


# --- state -> file --------------------------------------------------------------------------------


def changed_meanwhile(store: Store, what: str) -> LockedError:
    """The error for what was computed while another connection has changed the file."""
    return LockedError(
        f"{store.path} was changed through another connection while {what}. "
        "Nothing was changed by this one: do it again."
    )


def claim(store: Store, old: State, new: State) -> None:
    """Begin to publish: from here on no other connection of this process can.

    Raises LockedError if `old` is not what the file holds, because another one has published a
    change in the meantime.
    """
    counted = store.count(
        "UPDATE zodiac.counter SET next_hypernode = $1, generation = generation + 1"
        " WHERE generation = $2",
        [new.next_hypernode, old.generation],
    )
    if counted != 1:
        raise changed_meanwhile(store, "this change was computed")


def save(store: Store, old: State, new: State) -> None:
    """Write what differs between two states: part of the publishing transaction."""
    if new.rules != old.rules or new.hypernodes != old.hypernodes:
        _save_rules(store, old, new)
        _save_hypernodes(store, old, new)
        _save_trees(store, old, new)
        _save_edges(store, old, new)
    if new.schema != old.schema:
        _save_schema(store, old, new)
    if new.prefixes != old.prefixes:
        store.run("DELETE FROM zodiac.prefix")
        for prefix, iri in new.prefixes.items():
            store.run("INSERT INTO zodiac.prefix VALUES ($1, $2)", [prefix, iri])
    _save_positions(store, old.positions, new.positions)
    if new.functions != old.functions:
        store.run("DELETE FROM zodiac.function")
        for name, f in new.functions.items():
            parameters = [p.value for p in f.parameters]
            store.run(
                "INSERT INTO zodiac.function VALUES ($1, $2, $3, $4)",
                [name, f.aggregate, parameters, f.returns.value],
            )


def _save_positions(store: Store, old: Mapping[str, int], new: Mapping[str, int]) -> None:
    for name, position in new.items():
        if name not in old:
            store.run("INSERT INTO zodiac.stream VALUES ($1, $2)", [name, position])
        elif position != old[name]:
            store.run("UPDATE zodiac.stream SET position = $2 WHERE name = $1", [name, position])


def _save_rules(store: Store, old: State, new: State) -> None:
    before, after = _owned(old), _owned(new)
    gone = [name for name, owned in before.items() if after.get(name) != owned]
    written = [owned for name, owned in after.items() if before.get(name) != owned]
    if gone:
        store.run("DELETE FROM zodiac.rule WHERE name IN (SELECT unnest($1))", [gone])
    if written:
        store.run(
            "INSERT INTO zodiac.rule SELECT unnest($1), unnest($2),"
            " unnest(list_transform($3, lambda m: map_from_entries(m))),"
            " unnest($4), unnest($5), unnest($6), unnest($7)::TIMESTAMP",
            [
                [rule.name for rule, _ in written],
                [rule.text for rule, _ in written],
                [[{"k": k, "v": v} for k, v in rule.prefixes] for rule, _ in written],
                [rule.head for rule, _ in written],
                [rule.position for rule, _ in written],
                [owner for _, owner in written],
                [rule.added_at.removesuffix("Z") for rule, _ in written],
            ],
        )


def _owned(state: State) -> dict[str, tuple[StoredRule, int]]:
    """The rules of a state by name, each with its hypernode."""
    owner = {name: row.id for row in state.hypernodes for name in row.rules}
    return {rule.name: (rule, owner[rule.name]) for rule in state.rules}


def _save_hypernodes(store: Store, old: State, new: State) -> None:
    before, after = _placed(old), _placed(new)
    gone = [row[0] for row in before - after]
    written = sorted(after - before, key=lambda row: row[0])
    if gone:
        store.run("DELETE FROM zodiac.hypernode WHERE id IN (SELECT unnest($1))", [gone])
    if written:
        store.run(
            "INSERT INTO zodiac.hypernode"
            " SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5),"
            " unnest($6::STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN,"
            " unequal BOOLEAN, covers BOOLEAN)[][])",
            [
                *([row[place] for row in written] for place in range(5)),
                [[asdict(module) for module in row[5]] for row in written],
            ],
        )


def _save_trees(store: Store, old: State, new: State) -> None:
    before, after = ({t for row in s.hypernodes for t in row.trees} for s in (old, new))
    gone, written = [tree.rule for tree in before - after], after - before
    if gone:
        store.run("DELETE FROM zodiac.hypertree WHERE rule IN (SELECT unnest($1))", [gone])
    for tree in sorted(written, key=lambda tree: tree.rule):
        store.run(
            "INSERT INTO zodiac.hypertree VALUES ($1, $2, $3,"
            ' $4::STRUCT(parent INTEGER, variables VARCHAR[], "cover" INTEGER[], atoms INTEGER[],'
            ' "table" VARCHAR, "columns" VARCHAR[], types VARCHAR[])[])',
            [tree.rule, tree.why, tree.facts, [asdict(node) for node in tree.nodes]],
        )


def _placed(
    state: State,
) -> set[tuple[int, int, int, bool, bool, tuple[ModuleRow, ...]]]:
    """The rows of zodiac.hypernode."""
    return {
        (row.id, position, row.stratum, row.recursive, row.ranked, row.modules)
        for position, row in enumerate(state.hypernodes)
    }


def _save_edges(store: Store, old: State, new: State) -> None:
    before, after = _edges(old), _edges(new)
    gone, written = before - after, after - before
    if gone:
        store.run(
            "DELETE FROM zodiac.hyperedge AS e"
            " USING (SELECT unnest($1) AS a, unnest($2) AS b, unnest($3) AS n) AS g"
            " WHERE (e.source, e.target, e.negative) = (g.a, g.b, g.n)",
            [list(column) for column in zip(*gone, strict=True)],
        )
    if written:
        store.run(
            "INSERT INTO zodiac.hyperedge SELECT unnest($1), unnest($2), unnest($3)",
            [list(column) for column in zip(*sorted(written), strict=True)],
        )


def _edges(state: State) -> set[tuple[int, int, bool]]:
    """The rows of zodiac.hyperedge."""
    return {(a, b, False) for a, b in state.positive} | {(a, b, True) for a, b in state.negative}


def _save_schema(store: Store, old: State, new: State) -> None:
    gone = [name for name in old.schema if new.schema.get(name) != old.schema[name]]
    store.run("DELETE FROM zodiac.predicate WHERE name IN (SELECT unnest($1::VARCHAR[]))", [gone])
    written = [p for name, p in new.schema.items() if old.schema.get(name) != p]
    if written:
        store.run(
            "INSERT INTO zodiac.predicate SELECT unnest($1), unnest($2), unnest($3),"
            " unnest($4::VARCHAR[][]), unnest($5::VARCHAR[][]), unnest($6::VARCHAR[][]),"
            " unnest($7::VARCHAR[][]), unnest($8)",
            [
                [p.name for p in written],
                [p.sql_name for p in written],
                [p.arity for p in written],
                [[c.name for c in p.columns] for p in written],
                [[_type_name(c.type) for c in p.columns] for p in written],
                [[_type_name(t) for t in p.settled] for p in written],
                [list(p.datatypes) for p in written],
                [p.declared for p in written],
            ],
        )


def _type_name(type_: Type | None) -> str | None:
    return None if type_ is None else type_.value
