"""Which columns of a predicate rules name: of a wide table, no others need to be loaded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from zodiac_sql.language.syntax import Atom, Rule
from zodiac_sql.language.templates import fixed_atoms


@dataclass(frozen=True, slots=True)
class ColumnsRead:
    """What the atoms of a predicate say of its columns.

    `names` are those that some atom names, in lower case because SQL ignores it. `positional` is an
    atom that names none: its terms stand for all columns, in their order.
    """

    names: frozenset[str] = frozenset()
    positional: Atom | None = None


def columns_read(predicate: str, rules: Iterable[Rule], facts: Iterable[Atom]) -> ColumnsRead:
    """What rules, and facts in texts, say of the columns of a predicate.

    Heads count, too: what they derive gets the columns that the facts have.
    """
    atoms = (atom for rule in rules for atom in fixed_atoms(rule))
    said = [atom for atom in (*atoms, *facts) if atom.predicate == predicate]
    names = frozenset(name.lower() for atom in said for name in atom.names)
    return ColumnsRead(names, next((atom for atom in said if not atom.names), None))
