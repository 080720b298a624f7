"""Writing to the catalog what differs between two states, inside the publishing transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import TypeVar

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statements import parameter
from zodiac_sql.database.together import Together
from zodiac_sql.language.syntax import Type
from zodiac_sql.program.state import State, StoredRule
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.storage.catalog import changed_meanwhile
from zodiac_sql.storage.kept_windows import save_windows

T = TypeVar("T")


def claim(writes: Together, old: State, new: State) -> None:
    """Begin to publish a change that counts: from here on no other connection can publish one.

    Once it is written, it raises LockedError if `old` is not what the file holds, because another
    connection of this process has published a change in the meantime.
    """

    def require_one(written: int) -> None:
        if written != 1:
            raise changed_meanwhile(writes.store, "this change was computed")

    writes.add(
        "UPDATE zodiac.counter SET next_hypernode = $1, generation = generation + 1"
        " WHERE generation = $2",
        [new.next_hypernode, old.generation],
        require_one,
    )


def save(writes: Together, old: State, new: State) -> None:
    """Let what differs between two states be written, in the publishing transaction."""
    if not new.is_same_program(old):
        _save_program(writes, old, new)
    if new.prefixes != old.prefixes:
        writes.add("DELETE FROM zodiac.prefix")
        for prefix, iri in new.prefixes.items():
            writes.add("INSERT INTO zodiac.prefix VALUES ($1, $2)", [prefix, iri])
    if new.sets != old.sets:
        _save_sets(writes, old, new)
    if old.former and not new.former:
        writes.add("DELETE FROM zodiac.former_rule")
    if new.windows != old.windows:
        save_windows(writes, new.windows)
    _save_positions(writes, old.positions, new.positions)
    if new.functions != old.functions:
        writes.add("DELETE FROM zodiac.function")
        for name, f in new.functions.items():
            parameters = [p.value for p in f.parameters]
            writes.add(
                "INSERT INTO zodiac.function VALUES ($1, $2, $3, $4)",
                [name, f.aggregate, parameters, f.returns.value],
            )


def _save_program(writes: Together, old: State, new: State) -> None:
    if new.rules != old.rules or new.hypernodes != old.hypernodes:
        _save_rules(writes, old, new)
        _save_hypernodes(writes, old, new)
        _save_trees(writes, old, new)
        _save_edges(writes, old, new)
    if new.templates != old.templates:
        _save_templates(writes, old, new)
    if new.schema != old.schema:
        _save_schema(writes, old, new)


def _save_sets(writes: Together, old: State, new: State) -> None:
    gone, written = _changed(*({one.name: one for one in state.sets} for state in (old, new)))
    _remove(writes, "rule_set", "name", gone)
    for one in written:
        writes.add(
            "INSERT INTO zodiac.rule_set"
            " SELECT $1, $2, $3, $4::TIMESTAMP,"
            " map_from_entries($5::STRUCT(k VARCHAR, v VARCHAR)[])",
            [
                one.name, one.source, one.digest, one.changed_at.removesuffix("Z"),
                [{"k": k, "v": v} for k, v in one.prefixes],
            ],
        )  # fmt: skip
    there, wanted = _members(old, new), _members(new, old)
    _add_over(
        writes,
        "DELETE FROM zodiac.rule_member AS m"
        " USING (SELECT unnest($1) AS s, unnest($2) AS l, unnest($3) AS r) AS g"
        " WHERE (m.set_name, m.label, m.rule) = (g.s, g.l, g.r)",
        [place for place in there if place not in wanted],
    )
    _add_over(
        writes,
        "INSERT INTO zodiac.rule_member SELECT unnest($1), unnest($2), unnest($3)",
        [place for place in wanted if place not in there],
    )


def _members(state: State, other: State) -> dict[tuple[str, str, str], None]:
    """The rows of zodiac.rule_member for the sets that are otherwise in another state, in order."""
    same = {one.name: one.members for one in other.sets}
    sets = (one for one in state.sets if same.get(one.name) is not one.members)
    members = ((one.name, label, rule) for one in sets for label, rule in one.members)
    return dict.fromkeys(members)


_FEW = 100
"""At most so many keys are compared with each row one by one, which takes no join."""


def _remove(writes: Together, table: str, key: str, gone: Sequence[object]) -> None:
    """Delete rows of a table of the catalog by their keys."""
    if gone:
        few = len(gone) <= _FEW
        writes.add(_deletion(table, key, few), {f"gone_{table}": gone})


@cache
def _deletion(table: str, key: str, few: bool) -> str:
    """DELETE of the rows whose keys are in a list."""
    column, gone = exp.column(key), parameter(f"gone_{table}")
    test: exp.Expr = exp.func("list_contains", gone, column, dialect="duckdb")
    if not few:
        keys = exp.select(exp.func("unnest", gone, dialect="duckdb"))
        test = exp.In(this=column, query=keys.subquery())
    return render(exp.Delete(this=exp.table_(table, db="zodiac"), where=exp.Where(this=test)))


def _add_over(writes: Together, sql: str, rows: Collection[tuple[object, ...]]) -> None:
    """Add a statement whose parameters are the columns of some rows, if there are any."""
    if rows:
        writes.add(sql, [list(column) for column in zip(*rows, strict=True)])


def _changed(before: Mapping[str, T], after: Mapping[str, T]) -> tuple[list[str], list[T]]:
    """The names of rows that go, and the rows that are written: a row that differs is both."""
    gone = [name for name, row in before.items() if after.get(name) != row]
    return gone, [row for name, row in after.items() if before.get(name) != row]


def _save_positions(writes: Together, old: Mapping[str, int], new: Mapping[str, int]) -> None:
    for name, position in new.items():
        if name not in old:
            writes.add("INSERT INTO zodiac.stream VALUES ($1, $2)", [name, position])
        elif position != old[name]:
            writes.add("UPDATE zodiac.stream SET position = $2 WHERE name = $1", [name, position])


def _save_rules(writes: Together, old: State, new: State) -> None:
    gone, written = _changed(_owned(old), _owned(new))
    _remove(writes, "rule", "name", gone)
    if written:
        writes.add(
            "INSERT INTO zodiac.rule SELECT unnest($1), unnest($2),"
            " unnest(list_transform($3, lambda m: map_from_entries(m))),"
            " unnest($4), unnest($5), unnest($6), unnest($7)::TIMESTAMP,"
            " unnest($8::VARCHAR[]), unnest($9::VARCHAR[][])",
            [
                [rule.name for rule, _ in written],
                [rule.text for rule, _ in written],
                [[{"k": k, "v": v} for k, v in rule.prefixes] for rule, _ in written],
                [rule.head for rule, _ in written],
                [rule.position for rule, _ in written],
                [owner for _, owner in written],
                [rule.added_at.removesuffix("Z") for rule, _ in written],
                [rule.origin and rule.origin.rule for rule, _ in written],
                [rule.origin and list(rule.origin.predicates) for rule, _ in written],
            ],
        )


def _save_templates(writes: Together, old: State, new: State) -> None:
    gone, written = _changed(*({rule.name: rule for rule in s.templates} for s in (old, new)))
    _remove(writes, "template", "name", gone)
    if written:
        writes.add(
            "INSERT INTO zodiac.template SELECT unnest($1), unnest($2),"
            " unnest(list_transform($3, lambda m: map_from_entries(m))),"
            " unnest($4), unnest($5)::TIMESTAMP",
            [
                [rule.name for rule in written],
                [rule.text for rule in written],
                [[{"k": k, "v": v} for k, v in rule.prefixes] for rule in written],
                [rule.position for rule in written],
                [rule.added_at.removesuffix("Z") for rule in written],
            ],
        )


def _owned(state: State) -> dict[str, tuple[StoredRule, int]]:
    """The rules of a state by name, each with its hypernode."""
    owner = {name: row.id for row in state.hypernodes for name in row.rules}
    return {rule.name: (rule, owner[rule.name]) for rule in state.rules}


def _save_hypernodes(writes: Together, old: State, new: State) -> None:
    before, after = _placed(old), _placed(new)
    gone = [row[0] for row in before - after]
    written = sorted(after - before, key=lambda row: row[0])
    _remove(writes, "hypernode", "id", gone)
    if written:
        writes.add(
            "INSERT INTO zodiac.hypernode"
            " SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5),"
            " unnest($6::STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN,"
            " unequal BOOLEAN, covers BOOLEAN)[][])",
            [
                *([row[place] for row in written] for place in range(5)),
                [[asdict(module) for module in row[5]] for row in written],
            ],
        )


def _save_trees(writes: Together, old: State, new: State) -> None:
    before, after = ({t for r in s.hypernodes if r.trees for t in r.trees} for s in (old, new))
    gone, written = [tree.rule for tree in before - after], after - before
    _remove(writes, "hypertree", "rule", gone)
    for tree in sorted(written, key=lambda tree: tree.rule):
        writes.add(
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


def _save_edges(writes: Together, old: State, new: State) -> None:
    gone = _edges(old.positive - new.positive, old.negative - new.negative)
    written = _edges(new.positive - old.positive, new.negative - old.negative)
    _add_over(
        writes,
        "DELETE FROM zodiac.hyperedge AS e"
        " USING (SELECT unnest($1) AS a, unnest($2) AS b, unnest($3) AS n) AS g"
        " WHERE (e.source, e.target, e.negative) = (g.a, g.b, g.n)",
        gone,
    )
    _add_over(
        writes, "INSERT INTO zodiac.hyperedge SELECT unnest($1), unnest($2), unnest($3)", written
    )


def _edges(
    positive: Iterable[tuple[int, int]], negative: Iterable[tuple[int, int]]
) -> list[tuple[int, int, bool]]:
    """The rows of zodiac.hyperedge for some edges."""
    return sorted([(*edge, False) for edge in positive] + [(*edge, True) for edge in negative])


def _save_schema(writes: Together, old: State, new: State) -> None:
    gone = [name for name in old.schema if new.schema.get(name) != old.schema[name]]
    _remove(writes, "predicate", "name", gone)
    written = [p for name, p in new.schema.items() if old.schema.get(name) != p]
    if written:
        writes.add(
            "INSERT INTO zodiac.predicate SELECT unnest($1), unnest($2), unnest($3),"
            " unnest($4::VARCHAR[][]), unnest($5::VARCHAR[][]), unnest($6::VARCHAR[][]),"
            " unnest($7::VARCHAR[][]), unnest($8)",
            [
                [p.name for p in written],
                [p.sql_name for p in written],
                [p.arity for p in written],
                [[c.name for c in p.columns] for p in written],
                [[_type_name(c.meant) for c in p.columns] for p in written],
                [[_type_name(t) for t in p.settled] for p in written],
                [list(p.datatypes) for p in written],
                [p.declared for p in written],
            ],
        )


def _type_name(type_: Type | None) -> str | None:
    return None if type_ is None else type_.value
