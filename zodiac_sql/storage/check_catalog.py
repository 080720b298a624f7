"""What does not fit together in a catalog that was edited by somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import RESERVED, why_not
from zodiac_sql.program.state import HypernodeRow, State


def what_is_wrong(state: State) -> Iterator[str]:
    """What does not fit together in a catalog."""
    for predicate in state.schema.values():
        yield from _wrong_in_predicate(predicate)
    yield from _repeated("SQL name", [p.sql_name.lower() for p in state.schema.values()])
    yield from _repeated("rule", [rule.name for rule in state.rules])
    yield from _repeated("rule", [rule.name for rule in state.written])
    yield from _wrong_origins(state)
    yield from _repeated("hypernode", [row.id for row in state.hypernodes])
    for rule in state.rules:
        if rule.head not in state.schema:
            yield f"rule {rule.name} derives {rule.head}, which is no predicate"
    placed = sorted(name for row in state.hypernodes for name in row.rules)
    if placed != sorted(rule.name for rule in state.rules):
        yield "a rule is in no hypernode"
    yield from _wrong_in_sets(state)
    places = {row.id: place for place, row in enumerate(state.hypernodes)}
    if not all(0 < id_ < state.next_hypernode for id_ in places):
        yield "a hypernode has a number that is not given yet"
    for before, after in state.positive | state.negative:
        if places.get(before, len(places)) >= places.get(after, -1):
            yield f"h{before} cannot come before h{after}"
    for row in state.hypernodes:
        yield from _wrong_in_hypernode(row, state.schema)


def _wrong_origins(state: State) -> Iterator[str]:
    templates = {rule.name: rule for rule in state.templates}
    for rule in state.rules:
        if rule.origin and (template := templates.get(rule.origin.rule)) is None:
            yield f"rule {rule.name} was made of one that is not there"
        elif rule.origin and template and (rule.text, rule.prefixes) != (
            template.text, template.prefixes
        ):  # fmt: skip
            yield f"rule {rule.name} has another text than the one that it was made of"


def _wrong_in_sets(state: State) -> Iterator[str]:
    yield from _repeated("rule set", [one.name for one in state.sets])
    placed = {rule for one in state.sets for _, rule in one.members}
    if placed != {rule.name for rule in state.written}:
        yield "a rule is in no rule set, or a rule set has one that is not there"
    for one in state.sets:
        yield from _repeated(f"rule of the set {one.name}", [label for label, _ in one.members])


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
        if module.kind not in ("tc", "stc", "scc") or not binary or None in flags:
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
