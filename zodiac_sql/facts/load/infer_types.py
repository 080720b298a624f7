"""A type for each column of a table in a file.

It is the type that the predicate has, if it was declared. Otherwise it is the type that all cells
of the column look like: if it is not that of the predicate, the predicate's column becomes wider.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.result import Skipped
from zodiac_sql.facts.load.table_file import ROWS, TableFile
from zodiac_sql.facts.row_options import NESTED
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type


@dataclass(frozen=True, slots=True)
class Typing:
    """The columns of zodiac_rows: their types, the kinds of their cells, and those accepted."""

    syntaxes: Mapping[str, cells.Syntax]
    types: Mapping[str, Type | None]
    kinds: Mapping[str, int]
    known: Collection[str]
    mixed: Sequence[str] = ()
    """The columns that hold terms of all kinds because their cells are of several."""
    declared: bool = False

    @property
    def untyped(self) -> tuple[str, ...]:
        return tuple(name for name, type_ in self.types.items() if type_ is None)

    @property
    def terms(self) -> tuple[str, ...]:
        """The columns whose cells become texts of terms."""
        return tuple(
            name
            for name, type_ in self.types.items()
            if type_ is Type.ANY and not self.syntaxes[name].type
        )

    @property
    def zoned(self) -> tuple[str, ...]:
        """The columns of instants."""
        return tuple(
            name
            for name, type_ in self.types.items()
            if type_ is Type.TIMESTAMP and not self.kinds[name] & cells.LOCAL
        )

    @property
    def doubtful(self) -> list[str]:
        """The columns with cells that their types do not accept."""
        return [name for name in self.types if self.refused(name)]

    def refused(self, column: str) -> int:
        """The kinds of cells in a column that its type does not accept."""
        kinds = self.kinds[column]
        type_, known = self.types[column], column in self.known
        return kinds & ~self.syntaxes[column].accepted(type_, kinds, known)

    def kind(self, column: str) -> exp.Expr:
        return self.syntaxes[column].kind_of(exp.column(column, quoted=True))

    def misfit(self, column: str) -> exp.Expr:
        """Whether a cell is of a kind that its column does not accept."""
        refused = [bit for bit in range(13) if self.refused(column) >> bit & 1]
        there = exp.column(column, quoted=True).is_(exp.null()).not_()
        return exp.and_(there, self.kind(column).isin(*(1 << bit for bit in refused)))

    def values(self) -> exp.Select:
        """The rows as values."""
        picked = (
            self.syntaxes[name]
            .value(exp.column(name, quoted=True), type_, self.kinds[name], self.declared)
            .as_(name, quoted=True)
            for name, type_ in self.types.items()
        )
        return exp.select(*picked).from_(temp_table(ROWS))

    def hint(self, predicate: str) -> str:
        """What would be right, for the columns with cells that are refused."""
        said = []
        if any(self.refused(name) & cells.NESTED for name in self.doubtful):
            said.append(f"{NESTED}\n")
        for name in self.doubtful:
            if self.refused(name) == cells.NESTED:
                continue
            type_ = self.types[name]
            why = "of the predicate" if name in self.known else "of the other cells"
            text = f": .decl {predicate}(... {name}: any ...) takes all of them as they are"
            said.append(
                f"Column {name} has the type {type_}, {why}. Correct these cells, or declare "
                f"another type before the first facts{'' if type_ is Type.SYMBOL else text}.\n"
            )
        return "".join(said)


def misfits(table: TableFile, typing: Typing) -> tuple[int, list[Skipped]]:
    """How many rows have a cell that its column does not accept, and the first of these rows."""

    def reason(name: str, text: str, row: int) -> str:
        kind = typing.kind(name)
        one = (
            exp.select(kind)
            .from_(temp_table(ROWS))
            .where(exp.column("rowid").eq(exp.Literal.number(row - 1)))
        )
        why = cells.reason(table.store.count(one), typing.types[name])
        return f"column {name} holds {text}, which {why}"

    return table.refused({name: typing.misfit(name) for name in typing.doubtful}, reason)


def typed(table: TableFile, known: Predicate | None, enters: bool) -> Typing:
    """A type for each column: the one that all cells look like, or that of the predicate.

    If its rows `enter`, only a declared predicate tells types, and columns of terms of all kinds.
    """
    declared = known is not None and known.declared
    of_predicate = {
        name: type_
        for name, type_ in known_types(table.names, known).items()
        if declared or not enters or type_ is Type.ANY
    }
    syntaxes = {n: syntax.suiting(of_predicate.get(n)) for n, syntax in table.syntaxes.items()}
    table = replace(table, syntaxes=syntaxes)
    texts = {name: syntax for name, syntax in table.syntaxes.items() if syntax.type is None}
    asked = {
        name: syntax
        for name, syntax in texts.items()
        if of_predicate.get(name) is not Type.SYMBOL or syntax is cells.JSON
    }
    likely = _kinds(table, dict.fromkeys(asked, 0), some=True)
    kinds = {
        **{name: 0 if syntax.type else cells.TEXT for name, syntax in table.syntaxes.items()},
        **_kinds(table, likely, some=False),
    }
    types = {
        name: syntax.type or of_predicate.get(name) or syntax.found(kinds[name])
        for name, syntax in table.syntaxes.items()
    }
    mixed = [n for n, type_ in types.items() if type_ is Type.ANY and n not in of_predicate]
    return Typing(table.syntaxes, types, kinds, of_predicate, mixed, declared)


def _kinds(table: TableFile, likely: Mapping[str, int], *, some: bool) -> dict[str, int]:
    """The kinds of cells in columns: in `some` of the rows, or in all."""
    found: dict[str, int] = {}
    if not some:
        quick = {
            name: kind
            for name, kinds in likely.items()
            if (kind := table.syntaxes[name].quick_kind(exp.column(name, quoted=True), kinds))
        }
        masks = _masks(table, quick, some)
        found = {name: mask for name, mask in masks.items() if not mask & cells.UNSURE}
    others = {
        name: table.syntaxes[name].kind_of(exp.column(name, quoted=True), kinds)
        for name, kinds in likely.items()
        if name not in found
    }
    return {**found, **_masks(table, others, some)}


def _masks(table: TableFile, kinds: Mapping[str, exp.Expr], some: bool) -> dict[str, int]:
    """The kinds of the cells of columns, each given by an expression, as bits."""
    if not kinds:
        return {}
    masks = []
    for name, kind in kinds.items():
        there = exp.column(name, quoted=True).is_(exp.null()).not_()
        masks.append(exp.func("bit_or", exp.case().when(there, kind), dialect="duckdb"))
    rows: exp.Expr = temp_table(ROWS)
    if some:
        rows = exp.select(exp.Star()).from_(rows).limit(_SAMPLE_ROWS).subquery("r", copy=False)
    (found,) = table.store.rows(exp.select(*masks).from_(rows))
    return {name: mask or 0 for name, mask in zip(kinds, found, strict=True)}


_SAMPLE_ROWS = 1000
"""The kinds of cells in this many rows are taken as likely for all rows."""


def known_types(names: Sequence[str], known: Predicate | None) -> dict[str, Type]:
    """The types that columns have already, by their names in the file."""
    if known is None or len(names) != known.arity:
        return {}
    wanted = [column.name for column in known.columns]
    given = wanted if sorted(wanted) == sorted(names) else names
    return {
        name: column.meant
        for name, column in zip(given, known.columns, strict=True)
        if column.meant is not None
    }
