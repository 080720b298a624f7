"""Which columns of a predicate rules name: of a wide table, no others need to be loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from zodiac_sql.language.syntax import Atom, Rule
from zodiac_sql.language.templates import atoms_of_variables, fixed_atoms


@dataclass(frozen=True, slots=True)
class ColumnsRead:
    """What the atoms of a predicate say of its columns.

    `names` are those that some atom names, in lower case because SQL ignores it. `positional` is an
    atom that names none: its terms stand for all columns, in their order. So do those of `varying`
    atoms, by the number of columns that the predicate must have to be what their variable is.
    """

    names: frozenset[str] = frozenset()
    positional: Atom | None = None
    varying: Mapping[int, Atom] = field(default_factory=dict)

    def of_all(self, columns: int) -> Atom | None:
        """An atom that reads all columns, if there are so many."""
        return self.positional or self.varying.get(columns)


def columns_read(predicate: str, rules: Iterable[Rule], facts: Iterable[Atom]) -> ColumnsRead:
    """What rules, and facts in texts, say of the columns of a predicate.

    Heads count, too: what they derive gets the columns that the facts have.
    """
    rules = [*rules]
    atoms = (atom for rule in rules for atom in fixed_atoms(rule))
    varying = {len(atom.terms) - 1: atom for rule in rules for atom in atoms_of_variables(rule)}
    said = [atom for atom in (*atoms, *facts) if atom.predicate == predicate]
    names = frozenset(name.lower() for atom in said for name in atom.names)
    positional = next((atom for atom in said if not atom.names), None)
    return ColumnsRead(names, positional, varying)
