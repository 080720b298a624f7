"""Facts that may hold after a change: all that will hold, and perhaps more.

What a variable for a predicate stands for must be known before anything is evaluated
(program/expand.py). So the facts that tell it are found here, in Python, by rules of which only the
positive atoms count: a rule that is read with fewer conditions derives more. That is enough, since
a rule that was made for one predicate too many derives nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import Atom, Constant, Rule, Term, Type, Variable

Row = tuple[str | None, ...]
"""Symbols by their text. None may be any value: what is no symbol, or is computed."""


@dataclass(frozen=True, slots=True)
class Explicit:
    """The explicit facts after a change.

    `is_there` tells whether a predicate has any, `rows` returns some columns of them.
    """

    is_there: Callable[[str], bool]
    rows: Callable[[str, tuple[int, ...]], Collection[Row]]


NO_FACTS = Explicit(lambda _: False, lambda _, __: ())


@dataclass(slots=True)
class PossibleFacts:
    """What may hold of the predicates that are asked for."""

    rules: Sequence[Rule]
    explicit: Explicit
    read: set[str] = field(default_factory=set)
    """The predicates on which the answers depend."""
    _derived: dict[str, set[Row]] = field(default_factory=dict)
    _explicit: dict[tuple[str, tuple[int, ...]], Collection[Row]] = field(default_factory=dict)

    def solutions(self, atoms: Sequence[Atom], names: Sequence[str]) -> set[Row]:
        """The values that variables may have where all of some atoms hold."""
        self._derive({atom.predicate for atom in atoms})
        return set(self._solutions(atoms, names))

    def _derive(self, wanted: set[str]) -> None:
        """Find all that rules may derive of predicates, and of those that these depend on."""
        by_head: dict[str, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            by_head[rule.head.predicate].append(rule)
        new, waiting = [], [name for name in wanted if name not in self.read]
        while waiting:
            name = waiting.pop()
            if name not in self.read:
                self.read.add(name)
                new += by_head[name]
                waiting += [p for rule in by_head[name] for p in rule.positive()]
        for rule in new:
            head = rule.head
            every = tuple(range(len(head.terms)))
            self._derived.setdefault(head.predicate, set(self._rows(head.predicate, every)))
        while sum(self._apply(rule) for rule in new):
            pass

    def _apply(self, rule: Rule) -> bool:
        """Add what a rule may derive. Returns whether there is anything new."""
        names = tuple(dict.fromkeys(v.name for v in variables(*rule.head.terms)))
        known = self._derived[rule.head.predicate]
        before = len(known)
        for row in set(self._solutions(tuple(rule.positive_atoms()), names)):
            values = dict(zip(names, row, strict=True))
            known.add(tuple(_value(term, values) for term in rule.head.terms))
        return len(known) > before

    def _solutions(self, atoms: Sequence[Atom], names: Sequence[str]) -> Iterator[Row]:
        counts = Counter(v.name for atom in atoms for v in variables(*atom.terms))
        needed = {name for name, count in counts.items() if count > 1}.union(names)
        found: Iterable[Mapping[str, str | None]] = [{}]
        for atom in atoms:
            places = tuple(i for i, term in enumerate(atom.terms) if _is_needed(term, needed))
            terms = tuple(atom.terms[i] for i in places)
            found = _joined(found, terms, self._rows(atom.predicate, places))
        for values in found:
            yield tuple(values.get(name) for name in names)

    def _rows(self, predicate: str, places: tuple[int, ...]) -> Collection[Row]:
        if predicate in self._derived:
            return {tuple(row[i] for i in places) for row in self._derived[predicate]}
        key = predicate, places
        if key not in self._explicit:
            self._explicit[key] = self.explicit.rows(*key)
        return self._explicit[key]


def _is_needed(term: Term, needed: Collection[str]) -> bool:
    return isinstance(term, Constant) or term.name in needed


def _value(term: Term, values: Mapping[str, str | None]) -> str | None:
    if isinstance(term, Variable):
        return values.get(term.name)
    return str(term.value) if term.type is Type.SYMBOL else None


def _joined(
    found: Iterable[Mapping[str, str | None]], terms: Sequence[Term], rows: Collection[Row]
) -> Iterator[Mapping[str, str | None]]:
    """Solutions extended by an atom with some rows."""
    indexes: dict[tuple[int, ...], dict[Row, list[Row]]] = {}
    for values in found:
        known = tuple(_value(term, values) for term in terms)
        places = tuple(i for i, value in enumerate(known) if value is not None)
        if places not in indexes:
            indexes[places] = _index(rows, places)
        wanted = tuple(known[i] for i in places)
        for row in (*indexes[places].get(wanted, ()), *_loose(indexes[places], wanted)):
            if (extended := _extended(values, terms, row)) is not None:
                yield extended


def _index(rows: Collection[Row], places: tuple[int, ...]) -> dict[Row, list[Row]]:
    index: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        key = tuple(row[i] for i in places)
        index[() if None in key else key].append(row)
    return index


def _loose(index: Mapping[Row, list[Row]], wanted: Row) -> Sequence[Row]:
    """The rows that must be looked at whatever is wanted: they may have any value."""
    return index.get((), ()) if wanted else ()


def _extended(
    values: Mapping[str, str | None], terms: Sequence[Term], row: Row
) -> Mapping[str, str | None] | None:
    """Values with those of a row; None if they do not fit."""
    extended = dict(values)
    for term, value in zip(terms, row, strict=True):
        known = _value(term, extended)
        if known is not None and value is not None and known != value:
            return None
        if isinstance(term, Variable):
            extended[term.name] = value if known is None else known
    return extended
