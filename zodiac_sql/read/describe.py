"""A knowledge base described in tables: its rules, predicates and hypernodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from zodiac_sql.change.change import Change
from zodiac_sql.change.report import modules_at_work
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import is_constraint, is_external, is_node
from zodiac_sql.program.state import State, StoredRule, hypergraph_of
from zodiac_sql.program.windows import StoredWindow
from zodiac_sql.read.drawing.contents import Contents
from zodiac_sql.read.drawing.draw import Before, Drawing
from zodiac_sql.read.query import Answer
from zodiac_sql.read.why.known import prefixes_of
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.extensions import counts
from zodiac_sql.storage.sources import Sources, derived_tables, sources_of


def rules(state: State) -> Answer:
    """The rules, in the order in which they were added, and after them the windows.

    name: string          what the rule is called; a window, ".window reading"
    rule: string          its text, without the name
    hypernode: string     the hypernode that it belongs to: "h3"; for a rule with variables for
                          predicates those of the rules made of it: "h3, h5", or ""
    added_at: string      when it was added: UTC, ISO 8601, in seconds
    sets: list<string>    the rule sets that it stands in
    """
    sets: dict[str, list[str]] = {}
    for one in state.sets:
        for _, rule in one.members:
            sets.setdefault(rule, []).append(one.name)
    sets |= {one.name: [one.set] for one in state.windows}
    owners: dict[str, dict[str, None]] = {rule.name: {} for rule in state.written}
    written = {rule.name: rule.origin.rule if rule.origin else rule.name for rule in state.rules}
    for row in state.hypernodes:
        for name in row.rules:
            owners[written[name]][f"h{row.id}"] = None
    rules: tuple[StoredRule | StoredWindow, ...] = (*state.written, *state.windows)
    return table_of(
        name=("string", [rule.name for rule in rules]),
        rule=("string", [rule.text for rule in rules]),
        hypernode=("string", [", ".join(owners.get(rule.name, ())) for rule in rules]),
        added_at=("string", [rule.added_at for rule in rules]),
        sets=("list<string>", [sets[rule.name] for rule in rules]),
    )


def rule_sets(state: State) -> Answer:
    """The rule sets, in the order in which they came.

    set: string           what the set is called
    rules: int64          how many rules it has
    source: string        the file that it was read from last; null for a text
    digest: string        the SHA-256 of that text, in hexadecimal
    changed_at: string    when rules or facts were last added to it: UTC, ISO 8601, in seconds
    prefixes: string      those that its texts declare: "ex: <http://e/>, ..."
    """
    sets = state.sets
    return table_of(
        set=("string", [one.name for one in sets]),
        rules=("int64", [len(one.members) for one in sets]),
        source=("string", [one.source for one in sets]),
        digest=("string", [one.digest for one in sets]),
        changed_at=("string", [one.changed_at for one in sets]),
        prefixes=("string", [", ".join(f"{p}: <{i}>" for p, i in one.prefixes) for one in sets]),
    )


def predicates(store: Store, state: State) -> Answer:
    """The predicates, with the exact numbers of their facts.

    predicate: string     its name in rules
    sql_name: string      the name of its view in SQL
    columns: string       their names and types: "s: symbol, o: float", "open" if not yet known
    explicit: int64       facts that were asserted
    derived: int64        facts that hypernodes derive, each once; if one keeps them as components
                          (module scc), all facts, because it has what is explicit among them
    extension: int64      facts of both kinds together, each once
    """
    sources = sources_of(state)
    known = [one for one in state.schema.values() if not is_constraint(one.name)]
    numbers = _counts(store, sources, known)
    return table_of(
        predicate=("string", [predicate.name for predicate in known]),
        sql_name=("string", [predicate.sql_name for predicate in known]),
        columns=("string", [_columns(predicate) for predicate in known]),
        explicit=("int64", [explicit for explicit, _, _ in numbers]),
        derived=("int64", [derived for _, derived, _ in numbers]),
        extension=("int64", [extension for _, _, extension in numbers]),
    )


def _columns(predicate: Predicate) -> str:
    return ", ".join(f"{c.name}: {c.meant or 'open'}" for c in predicate.columns)


def _counts(
    store: Store, sources: Sources, known: Sequence[Predicate]
) -> list[tuple[int, int, int]]:
    """How many facts of each predicate are explicit, derived, and either. What a table tells by
    itself is not counted.
    """
    explicit = [sum(part.rows for part in sources.explicit.get(one.name, ())) for one in known]
    derived = [_derived(sources, one) for one in known]
    both = [
        sources.relation(one.name)
        for one, given, relation in zip(known, explicit, derived, strict=True)
        if given and relation.parts
    ]
    several = [relation for relation in derived if len(relation.parts) > 1]
    counted = iter(counts(store, [*several, *both]))
    found = [next(counted) if len(one.parts) > 1 else one.rows for one in derived]
    return [
        (given, number, next(counted) if given and relation.parts else given or number)
        for given, number, relation in zip(explicit, found, derived, strict=True)
    ]


def _derived(sources: Sources, predicate: Predicate) -> Relation:
    tables = sources.derived.get(predicate.name, {}).values()
    parts = tuple(part for table_ in tables for part in table_ if part.rows)
    return Relation(predicate.columns, parts)


def hypernodes(state: State) -> Answer:
    """The hypernodes (paper 1, section 4), in the order of evaluation.

    hypernode: string     its name: "h3"
    stratum: int64        most negations and aggregates on a way from the facts to it
    recursive: bool       whether its rules depend on themselves
    modules: list<string>    closures computed by dedicated algorithms: "tc(path)", "stc(near)"
    rules: list<string>   the names of its rules
    derives: list<string> the predicates that its rules derive
    reads: list<string>   the predicates that its rules read
    rows: int64           facts in its tables
    trees: list<string>   what was decided for its cyclic rules, and why: "r1: A B C (as chosen)"
    """
    graph = hypergraph_of(state)
    rows = _rows(state)
    modules = {row.id: [str(module) for module in row.modules] for row in state.hypernodes}
    trees = {row.id: [tree.told for tree in row.trees] for row in state.hypernodes}
    return table_of(
        hypernode=("string", [h.name for h in graph.hypernodes]),
        stratum=("int64", [h.stratum for h in graph.hypernodes]),
        recursive=("bool", [h.recursive for h in graph.hypernodes]),
        modules=("list<string>", [modules[h.id] for h in graph.hypernodes]),
        rules=("list<string>", [[rule.name for rule in h.rules] for h in graph.hypernodes]),
        derives=(
            "list<string>",
            [[p for p in h.derives if not is_constraint(p)] for h in graph.hypernodes],
        ),
        reads=("list<string>", [sorted(h.reads) for h in graph.hypernodes]),
        rows=("int64", [rows[h.name] for h in graph.hypernodes]),
        trees=("list<string>", [trees[h.id] for h in graph.hypernodes]),
    )


def _rows(state: State) -> dict[str, int]:
    """How many facts there are in the tables of each hypernode."""
    rows = {f"h{row.id}": 0 for row in state.hypernodes}
    for predicate, id_, place in derived_tables(state):
        if not is_external(predicate) and not is_node(predicate):
            rows[f"h{id_}"] += state.rows.get(place, 0)
    return rows


def drawing(state: State, change: Change | None, rules: bool) -> Drawing:
    """The HRDG, or with a change the HRDG before and after it; with `rules`, or predicates."""
    contents = None if rules else _contents(state, change)
    if change is None:
        modules = modules_at_work(state.hypernodes)
        return Drawing(hypergraph_of(state), modules=modules, contents=contents)
    told, former = change.hypernodes, {h.id: h.rules for h in change.before.hypernodes}
    after = dict.fromkeys(_numbers(told.updated), "updated")
    after |= {n: "changed" for n in after if former[n] != change.after[n].rules}
    before = {**after, **dict.fromkeys(_numbers(told.dropped), "dropped")}
    after |= dict.fromkeys(_numbers(told.created), "created")
    for old, parts in told.split.items():
        before |= dict.fromkeys(_numbers([old]), "split")
        after |= dict.fromkeys(_numbers(parts), "split")
    for new, olds in told.merged.items():
        before |= dict.fromkeys(_numbers(olds), "merged")
        after |= dict.fromkeys(_numbers([new]), "merged")
    modules, others = change.modules
    return Drawing(change.after, Before(change.before, before, modules), after, others, contents)


def _contents(state: State, change: Change | None) -> Contents:
    """The numbers of facts, or with a change how many came and went of each predicate."""
    sources = sources_of(state)
    graph = hypergraph_of(state) if change is None else change.after
    explicit = {
        name: sum(part.rows for part in sources.explicit.get(name, ())) for name in state.schema
    }
    given = [name for name, rows in explicit.items() if rows or name not in graph.derivers]
    if change is None:
        derived = {(n, p): state.rows.get(place, 0) for p, n, place in derived_tables(state)}
        return Contents(
            {place: f"{rows:,}" for place, rows in derived.items()},
            {name: f"{explicit[name]:,}" for name in given},
            prefixes_of(state),
        )
    came, went = change.inserted, change.deleted
    moved = {
        name: " ".join(
            f"{sign}{n:,}" for sign, n in (("+", came.get(name)), ("-", went.get(name))) if n
        )
        for name in {*came, *went}
    }
    graphs = (change.before, change.after)
    return Contents(
        {
            (h.id, name): moved.get(name, "")
            for one in graphs
            for h in one.hypernodes
            for name in h.derives
        },
        # Of a predicate that rules derive, too, it is not known how many of these were explicit.
        {
            name: "" if any(name in one.derivers for one in graphs) else moved.get(name, "")
            for name in dict.fromkeys((*given, *_only_read(graphs)))
        },
        prefixes_of(state),
    )


def _only_read(graphs: Iterable[Hypergraph]) -> Iterator[str]:
    """The predicates that rules read before or after a change, and none derives."""
    for graph in graphs:
        yield from sorted(name for name in graph.readers if name not in graph.derivers)


def _numbers(names: Iterable[str]) -> list[int]:
    """The numbers of hypernodes by their names."""
    return [int(name.removeprefix("h")) for name in names]


def table_of(**columns: tuple[str, list[Any]]) -> Answer:
    """An answer with columns of given types, so that a table without rows has types, too."""
    import pyarrow as pa

    types = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}
    types["double"] = pa.float64()
    types["list<string>"] = pa.list_(pa.string())
    arrays = {name: pa.array(values, types[type_]) for name, (type_, values) in columns.items()}
    return Answer(pa.table(arrays))
