"""What a recursive hypernode finds in one statement, however many rounds that takes.

A round by itself costs ten statements or more. Where rounds are many and narrow, as along a chain
of events, one recursive statement of SQLite finds all facts that follow from some, one after the
other, and puts them into a table, which is empty before and afterwards. It has w columns for
those of predicates:

    deep_w   number: the order in which they were found; tag: the number of the predicate; its
             columns as c0, c1, ..., and NULL for those that others have; rank

A fact is found after the one from which it follows, so its number is a rank for what is won. That
needs rules with one recursive atom each: SQLite lets a recursive statement read just the fact that
it has found last. What is lost may follow from any of several atoms, because the others are looked
up among all facts that were there. It is taken out without a check whether something else still
derives it, and what was taken out wrongly is derived again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.language.syntax import Atom
from zodiac_sql.lookups.body import LookupBody, Scope, Seen
from zodiac_sql.lookups.heads import derived_heads, new_heads
from zodiac_sql.lookups.moves import merge_ranked
from zodiac_sql.lookups.rule_forms import RuleForm
from zodiac_sql.lookups.tables import (
    FACT,
    LOST,
    RANK,
    WON,
    Copy,
    column_names,
    has,
    insertion,
    render,
)

NUMBER, TAG, LEAVES = "number", "tag", "leaves"

_FOUND = "found"

_MOST_TERMS = 100
"""SQLite takes a union of 500 queries at most. So many rules in one recursion are not a chain."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is done with the facts of one predicate that such a statement has found."""

    into_lost: str
    into_won: str
    merge: str
    """Put them into the hypernode's table, with their numbers after `top` as ranks."""


@dataclass(frozen=True, slots=True)
class Deep:
    """The statements of a hypernode that find all that is lost, or won, at once."""

    creation: str
    losing: str
    winning: str | None
    """None: a rule joins what the hypernode derives with itself."""
    found: Mapping[str, Found]
    empty: str


def deep_of(scope: Scope, forms: Sequence[RuleForm]) -> Deep | None:
    """Those of a recursive hypernode. None: it has too many rules."""
    own = {name: scope.copies[name] for name in sorted(scope.recursive)}
    compiler = _Compiler(scope, forms, own)
    if len(own) + sum(1 for _ in compiler.driven()) > _MOST_TERMS:
        return None
    return Deep(
        compiler.creation(),
        compiler.losing(),
        compiler.winning(),
        {name: compiler.found(copy) for name, copy in compiler.own.items()},
        render(exp.delete(exp.table_(compiler.table))),
    )


@dataclass(frozen=True, slots=True)
class _Compiler:
    scope: Scope
    forms: Sequence[RuleForm]
    own: Mapping[str, Copy]
    """The predicates that the hypernode derives."""

    @property
    def table(self) -> str:
        return f"deep_{self.width}"

    @property
    def width(self) -> int:
        return max(copy.arity for copy in self.own.values())

    def creation(self) -> str:
        number = exp.ColumnDef(
            this=exp.to_identifier(NUMBER),
            kind=exp.DataType.build("INTEGER", dialect="sqlite"),
            constraints=[exp.ColumnConstraint(kind=exp.PrimaryKeyColumnConstraint())],
        )
        names = [TAG, *column_names(self.width), RANK]
        others = [exp.ColumnDef(this=exp.to_identifier(name)) for name in names]
        table = exp.Schema(this=exp.table_(self.table), expressions=[number, *others])
        return render(exp.Create(this=table, kind="TABLE", exists=True))

    def found(self, copy: Copy) -> Found:
        """What is done with those of one predicate."""
        number = exp.column(NUMBER, table="d")
        rank = exp.Add(this=exp.Placeholder(this="top"), expression=number)
        bit = exp.Placeholder(this="bit")
        return Found(
            insertion(copy, LOST, self._those_of(copy, exp.column(RANK, table="d"))),
            insertion(copy, WON, self._those_of(copy)),
            merge_ranked(copy, self._those_of(copy, bit, rank)),
        )

    def _those_of(self, copy: Copy, *more: exp.Expr) -> exp.Select:
        query = exp.select(*copy.columns("d"), *more).from_(exp.table_(self.table, alias="d"))
        return query.where(exp.column(TAG, table="d").eq(exp.Literal.number(copy.number)))

    # --- the statements ---------------------------------------------------------------------------

    def losing(self) -> str:
        """All that follows, by higher ranks, from what is lost. A fact leads on only if it leaves
        the extension: no other owner has it.
        """
        first = []
        for copy in self.own.values():
            query = exp.select(*self._row(copy, "t", self._leaves(copy)))
            query = query.from_(copy.table(LOST, "l"))
            fact = exp.Join(this=copy.table(FACT, "t"), kind="CROSS")
            first.append(query.join(fact, copy=False).where(*copy.same("l", "t"), copy=False))
        next_ = []
        for form, place, atom in self.driven():
            body = self._body(form, place, atom, Seen.EVER)
            body.where.append(exp.column(LEAVES, table=body.driver))
            derived_heads(self.scope, form, body, below=True)
            copy = self.scope.copies[form.rule.head.predicate]
            next_.append(body.select(self._row(copy, "t", self._leaves(copy))))
        return self._statement([TAG, *column_names(self.width), RANK], [LEAVES], first, next_)

    def winning(self) -> str | None:
        """All that follows from what is won."""
        if any(len(self._recursive(form)) > 1 for form in self.forms):
            return None
        first = [
            exp.select(*self._tagged(copy, copy.columns("w"))).from_(copy.table(WON, "w"))
            for copy in self.own.values()
        ]
        next_ = []
        for form, place, atom in self.driven():
            body = self._body(form, place, atom, Seen.NOW)
            values = new_heads(self.scope, form, body)
            copy = self.scope.copies[form.rule.head.predicate]
            next_.append(body.select(self._tagged(copy, values)))
        return self._statement([TAG, *column_names(self.width)], [], first, next_)

    def _recursive(self, form: RuleForm) -> list[tuple[int, Atom]]:
        """The atoms of a rule that read what the hypernode derives, with their places."""
        atoms = enumerate(form.body.atoms)
        return [(place, atom) for place, atom in atoms if atom.predicate in self.scope.recursive]

    def driven(self) -> Iterator[tuple[RuleForm, int, Atom]]:
        """The atoms in whose places what was found last is put, of all rules."""
        for form in self.forms:
            for place, atom in self._recursive(form):
                yield form, place, atom

    def _body(self, form: RuleForm, place: int, atom: Atom, seen: Seen) -> LookupBody:
        """The bodies that have what was found last in the place of an atom."""
        body = LookupBody(self.scope, form.body.steps)
        body.scan_item(atom, exp.table_(_FOUND, alias=body.driver))
        tag = exp.Literal.number(self.own[atom.predicate].number)
        body.where.append(exp.column(TAG, table=body.driver).eq(tag))
        atoms = form.body.atoms
        body.join([*atoms[:place], *atoms[place + 1 :]], seen)
        return body

    def _tagged(self, copy: Copy, values: Sequence[exp.Expr]) -> list[exp.Expr]:
        nothing = [exp.null() for _ in range(self.width - copy.arity)]
        return [exp.Literal.number(copy.number), *values, *nothing]

    def _row(self, copy: Copy, alias: str, leaves: exp.Expr) -> list[exp.Expr]:
        rank = exp.column(RANK, table=alias)
        return [*self._tagged(copy, copy.columns(alias)), rank, leaves]

    def _leaves(self, copy: Copy) -> exp.Expr:
        others = sum(copy.bits.values()) - copy.bits[self.scope.number]
        return exp.paren(exp.not_(has("t", others))) if others else exp.true()

    def _statement(
        self,
        kept: Sequence[str],
        more: Sequence[str],
        first: Sequence[exp.Select],
        next_: Sequence[exp.Select],
    ) -> str:
        """INSERT of the columns that are kept of what a recursion finds."""
        union: exp.Query = exp.union(*first, *next_) if len([*first, *next_]) > 1 else first[0]
        columns = [exp.to_identifier(name) for name in (*kept, *more)]
        alias = exp.TableAlias(this=exp.to_identifier(_FOUND), columns=columns)
        query = exp.select(*(exp.column(name) for name in kept)).from_(exp.table_(_FOUND))
        query.set("with_", exp.With(expressions=[exp.CTE(this=union, alias=alias)], recursive=True))
        into = exp.Schema(
            this=exp.table_(self.table), expressions=[exp.to_identifier(n) for n in kept]
        )
        return render(exp.Insert(this=into, expression=query))
