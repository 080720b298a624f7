"""Solutions of a pattern: a query with a column for each variable, in which NULL is unbound.

How a column holds terms is known for the whole column (`TermForm`). Terms are the same if their
values are, in two columns of the same form; all others are compared as texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.facts.native_text import literal_text
from zodiac_sql.language.syntax import Type

ORDER = "zodiac$order"
"""Column with the place of a solution, where an order is asked for."""

_NOTHING = "zodiac$nothing"
"""Column of a query without variables."""


@dataclass(frozen=True, slots=True)
class TermForm:
    """How a column holds terms.

    type SYMBOL   the number of the symbol in the dictionary
    other types   native values, which are literals of one datatype (facts/native_text.py)
    None          the text of the term, as a symbol has it (language/symbols.py)
    """

    type: Type | None
    datatype: str = ""


TEXT = TermForm(None)
ID = TermForm(Type.SYMBOL)


@dataclass(frozen=True, slots=True)
class TermColumn:
    """The terms of a variable. They are `certain` if no solution lacks it."""

    form: TermForm
    certain: bool


@dataclass(frozen=True, slots=True)
class Solutions:
    """A query whose columns are variables, by their names in SQL (`Names`)."""

    query: exp.Query
    columns: Mapping[str, TermColumn]
    ordered: bool = False

    def subquery(self, alias: str) -> exp.Subquery:
        return self.query.subquery(alias, copy=False)


@dataclass(slots=True)
class Names:
    """Names that no user has chosen: of variables in SQL, and of tables in a query."""

    variables: dict[str, str] = field(default_factory=dict)
    _numbers: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)

    def column(self, variable: str) -> str:
        """The column of a variable; the same for the same one."""
        return self.variables.setdefault(variable, f"v{len(self.variables)}")

    @property
    def written(self) -> frozenset[str]:
        """The columns of variables that the user has written."""
        return frozenset(c for name, c in self.variables.items() if not name.startswith("\0"))

    def fresh(self) -> str:
        """An alias that no other table in the query has."""
        return f"t{self._numbers()}"

    def hidden(self) -> str:
        """The column of a variable that the user has not written."""
        return self.column(f"\0{self._numbers()}")


def select(columns: Iterable[tuple[str, exp.Expr]], order: exp.Expr | None = None) -> exp.Select:
    """SELECT of values under names. There is always a column."""
    named = [value.as_(name, quoted=True) for name, value in columns]
    if order is not None:
        named.append(order.as_(ORDER, quoted=True))
    if not named:
        named = [exp.convert(1).as_(_NOTHING, quoted=True)]
    return exp.select(*named, copy=False)


def column(name: str, alias: str) -> exp.Column:
    return exp.column(name, table=alias, quoted=True)


def one_solution() -> Solutions:
    """The solution in which no variable is bound."""
    return Solutions(select(()), {})


def none_of(names: Iterable[str]) -> Solutions:
    """No solution."""
    columns = dict.fromkeys(names, TermColumn(TEXT, True))
    query = select((name, unbound(TEXT)) for name in columns).where(exp.false(), copy=False)
    return Solutions(query, columns)


def unbound(form: TermForm) -> exp.Expr:
    """NULL of the type that a column of some form has in SQL."""
    return exp.cast(exp.null(), "VARCHAR" if form.type is None else _SQL[form.type])


_SQL = {
    Type.SYMBOL: "INTEGER", Type.INT: "BIGINT", Type.DECIMAL: "DECIMAL(38,18)",
    Type.FLOAT: "DOUBLE", Type.BOOL: "BOOLEAN",
    Type.DATE: "DATE", Type.TIMESTAMP: "TIMESTAMP",
}  # fmt: skip


def symbols(alias: str) -> exp.Expr:
    """The dictionary as an item of FROM."""
    return exp.to_table("zodiac.symbol").as_(alias)


def in_form(
    solutions: Solutions, forms: Mapping[str, TermForm], names: Names, *, known_only: bool = False
) -> Solutions:
    """The same solutions with other forms of some columns: texts, or with `known_only` numbers.

    Then solutions are left out if a term is not in the dictionary.
    """
    other = {n: f for n, f in forms.items() if n in solutions.columns}
    other = {n: f for n, f in other.items() if solutions.columns[n].form != f}
    if not other:
        return solutions
    alias = names.fresh()
    query = exp.select(copy=False).from_(solutions.subquery(alias), copy=False)
    values: dict[str, exp.Expr] = {}
    for name, known in solutions.columns.items():
        value: exp.Expr = column(name, alias)
        if name in other and known.form.type is Type.SYMBOL:
            value, query = _looked_up(query, value, "id", "text", names, "LEFT")
        elif name in other and known.form.type is not None:
            value = literal_text(value, known.form.type, known.form.datatype)
        if name in other and other[name].type is Type.SYMBOL:
            assert known_only
            value, query = _looked_up(query, value, "text", "id", names, "")
        values[name] = value
    order = column(ORDER, alias) if solutions.ordered else None
    query = query.select(*select(values.items(), order).expressions, copy=False)
    columns = {n: replace(c, form=other.get(n, c.form)) for n, c in solutions.columns.items()}
    return Solutions(query, columns, solutions.ordered)


def _looked_up(
    query: exp.Select, value: exp.Expr, given: str, wanted: str, names: Names, kind: str
) -> tuple[exp.Expr, exp.Select]:
    """A value's counterpart in the dictionary, and the query with the join that finds it."""
    alias = names.fresh()
    same = column(given, alias).eq(value)
    query = query.join(symbols(alias), on=same, join_type=kind, copy=False)
    return column(wanted, alias), query


_OF_SYMBOL = ("text", "kind")
_OF_VALUE = ("sort", "exact", "number", "moment")
"""What expressions need of a symbol, and of its value."""


def with_symbols(
    solutions: Solutions, wanted: Collection[str], names: Names
) -> tuple[exp.Expr, str, dict[str, list[exp.Expr]]]:
    """Solutions as an item of FROM, its alias, and what the dictionary has of the columns that are
    wanted.
    """
    alias, inner = names.fresh(), names.fresh()
    ids = [n for n in wanted if n in solutions.columns and solutions.columns[n].form == ID]
    if not ids:
        return solutions.subquery(alias), alias, {}
    query = exp.select(f"{inner}.*", copy=False).from_(solutions.subquery(inner), copy=False)
    for name in ids:
        for table, fields in (("symbol", _OF_SYMBOL), ("symbol_value", _OF_VALUE)):
            row = names.fresh()
            same = column("id", row).eq(column(name, inner))
            item = exp.table_(table, db="zodiac", alias=row)
            query = query.join(item, on=same, join_type="LEFT", copy=False)
            found = (column(of, row).as_(f"{name}${of}", quoted=True) for of in fields)
            query = query.select(*found, copy=False)
    found_: dict[str, list[exp.Expr]] = {
        name: [column(f"{name}${of}", alias) for of in (*_OF_SYMBOL, *_OF_VALUE)] for name in ids
    }
    return query.subquery(alias, copy=False), alias, found_


def united(parts: Sequence[Solutions], names: Names) -> Solutions:
    """All solutions of several patterns, as often as each has them."""
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, TermColumn] = {}
    for name in dict.fromkeys(n for part in parts for n in part.columns):
        there = [part.columns[name] for part in parts if name in part.columns]
        forms = {c.form for c in there}
        certain = len(there) == len(parts) and all(c.certain for c in there)
        columns[name] = TermColumn(forms.pop() if len(forms) == 1 else TEXT, certain)
    queries: list[exp.Query] = []
    for part in parts:
        same = in_form(part, {n: columns[n].form for n in part.columns}, names)
        alias = names.fresh()
        values = (
            (n, column(n, alias) if n in part.columns else unbound(c.form))
            for n, c in columns.items()
        )
        queries.append(select(values).from_(same.subquery(alias), copy=False))
    return Solutions(exp.union(*queries, distinct=False, copy=False), columns)


def forms_in_common(parts: Sequence[Solutions]) -> dict[str, TermForm]:
    """The forms that columns of several patterns need to be compared: TEXT where they differ."""
    found: dict[str, set[TermForm]] = {}
    for part in parts:
        for name, known in part.columns.items():
            found.setdefault(name, set()).add(known.form)
    return {name: TEXT for name, forms in found.items() if len(forms) > 1}
