"""Which hypernodes have to be evaluated from scratch, because no existing table is of use."""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.change.choose_rewrites import with_modules
from zodiac_sql.change.prepared import is_same
from zodiac_sql.change.workspace import Basis
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.former_aggregates import meant_otherwise
from zodiac_sql.language.passed_on import literals_made
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.program.derived_datatypes import datatypes_in, differing
from zodiac_sql.program.state import State


def is_impaired(heritage: Heritage | None) -> bool:
    """Whether the tables that a hypernode begins with do not match its rules yet."""
    if heritage is None:
        return False
    return bool(heritage.lost or heritage.new or len(heritage.origins) > 1)


def fresh_hypernodes(basis: Basis) -> set[int]:
    """The hypernodes that have to be evaluated from scratch."""
    restructuring, planned = basis.planned.restructuring, basis.planned
    former = _of_former_rules(basis) if basis.state.former else set()
    if restructuring.before is restructuring.after and is_same(planned.schema, basis.state.schema):
        return former
    before, after = basis.state.schema, planned.schema
    others = {name for name, known in after.items() if before.get(name) is not known}
    others |= differing(datatypes_in(basis.state), basis.datatypes)
    return former | {
        h.id
        for h in planned.graph.hypernodes
        if (
            h.id in restructuring.heritages
            or h.id not in restructuring.sources
            or not others.isdisjoint(h.reads)
            or not others.isdisjoint(h.derives)
        )
        and _is_fresh(basis, h)
    }


def _of_former_rules(basis: Basis) -> set[int]:
    """The hypernodes whose facts were derived when their aggregates meant something else, or when
    terms that rules made of native values had other datatypes.
    """

    def derived_otherwise(rule: Rule) -> bool:
        made = literals_made(rule, basis.types, basis.datatypes, basis.functions)
        return any(made) or meant_otherwise(rule)

    return {h.id for h in basis.planned.graph.hypernodes if any(map(derived_otherwise, h.rules))}


def _is_fresh(basis: Basis, hypernode: Hypernode) -> bool:
    """Whether a hypernode has to be evaluated from scratch: it has no tables to begin with.

    A hypernode whose rules change also starts from scratch if it has or had modules or trees:
    these neither take tables over nor leave them to others.
    """
    restructuring = basis.planned.restructuring
    heritage = restructuring.heritages.get(hypernode.id)
    if heritage and with_modules(basis, hypernode).rows:
        return True
    if heritage and _had_inner_tables(basis.state, heritage):
        return True
    if hypernode.id not in restructuring.sources or (heritage and not heritage.origins):
        return True
    lost, new = (heritage.lost, heritage.new) if heritage else ((), ())
    if used_functions(lost) & basis.state.functions.keys() - basis.functions.keys():
        return True  # a rule may have been dropped because its function is no longer registered
    lasting = [rule for rule in hypernode.rules if rule not in new]
    if _retyped(basis, lasting) or _retyped(basis, lost, gone=True):
        return True
    return any(_makes_other_literals(basis, rule) for rule in (*lasting, *lost))


def _makes_other_literals(basis: Basis, rule: Rule) -> bool:
    """Whether the terms that a rule makes of native values have other datatypes than before."""
    before, after = datatypes_in(basis.state), basis.datatypes
    if before is after:
        return False
    made = [literals_made(rule, basis.types, one, basis.functions) for one in (before, after)]
    return made[0] != made[1]


def _had_inner_tables(state: State, heritage: Heritage) -> bool:
    origins = {origin.id for origin in heritage.origins}
    return any(
        row.modules or any(tree.nodes for tree in row.trees)
        for row in state.hypernodes
        if row.id in origins
    )


def _retyped(basis: Basis, rules: Iterable[Rule], gone: bool = False) -> bool:
    """Whether a predicate in some rules has other columns than before.

    For rules that are gone, a column that has lost its type counts as unchanged: nothing may be
    left that gives it a type.
    """
    for name in {
        p for rule in rules for p in (rule.head.predicate, *rule.positive(), *rule.negative())
    }:
        before, after = basis.state.schema.get(name), basis.planned.schema[name]
        if before is after:
            continue
        if before is None or before.columns != (
            past_columns(basis, name) if gone else after.columns
        ):
            return True
    return False


def past_columns(basis: Basis, name: str) -> tuple[Column, ...]:
    """The columns of a predicate; those without a type have the type from before the change."""
    after, before = basis.planned.schema[name], basis.state.schema.get(name)
    if before is None or before.arity != after.arity:
        return after.columns
    pairs = zip(after.columns, before.columns, strict=True)
    return tuple(Column(new.name, new.meant or old.meant) for new, old in pairs)
