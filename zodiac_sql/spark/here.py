"""Rules that have little to do are applied on the driver, by the embedded engine.

A job of Spark's costs a tenth of a second or more, whatever it does, and a hypernode needs several.
In that time the embedded engine derives a hundred thousand facts. So a hypernode that reads few
facts is evaluated here; if that takes long, it is left to Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from zodiac_sql.change.update import Update
from zodiac_sql.errors import ConstraintError, LimitError
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.syntax import Column, Declaration, Program, Rule
from zodiac_sql.names import is_constraint
from zodiac_sql.opening import connect
from zodiac_sql.program.rule_sets import INTO_MAIN
from zodiac_sql.spark.evaluated_program import is_copying
from zodiac_sql.spark.types import arrow_schema

ON_DRIVER = 1_000_000
"""A hypernode that reads at most so many facts is evaluated on the driver."""

DERIVED = 3
"""It may have so many times as many facts itself. If it follows a change, they are derived anew and
compared with those before: for 2 million pairs this takes seconds, and one deletion on Spark,
minutes."""

SECONDS = 30
"""What is not derived on the driver after so many seconds is left to Spark. (`max_rows` would be
nearer to what is meant, but makes recursion three times as slow.)"""


@dataclass(slots=True)
class Here:
    """A knowledge base in memory, with the facts that hypernodes evaluated here have read.

    `columns` has the columns of all predicates. A hypernode that reads more than `limit` facts is
    not evaluated here.
    """

    kb: KnowledgeBase
    columns: Mapping[str, Sequence[Column]]
    limit: int
    _there: set[str] = field(default_factory=set)

    def derive(
        self,
        rules: Sequence[Rule],
        facts: Callable[[str], pa.Table],
        timeout: float | None = SECONDS,
    ) -> dict[str, int] | None:
        """Apply rules to facts that `facts` returns, by name.

        Returns how many facts each predicate has then; None if it would take more than `timeout`
        seconds. Raises ConstraintError.
        """
        heads = dict.fromkeys(rule.head.predicate for rule in rules)
        copying = {rule.name: rule.head.predicate for rule in rules if is_copying(rule)}
        others = tuple(rule for rule in rules if rule.name not in copying)
        reads = {p for rule in others for p in (*rule.positive(), *rule.negative())} - {*heads}
        sources = {p: p for p in reads - self._there} | copying
        declared = [
            _declared(p, self.columns[p])
            for p in {*sources.values(), *heads}
            if not is_constraint(p)
        ]
        try:
            with self.kb.update(timeout=timeout) as update:
                program = Program(others, declarations=tuple(d for d in declared if d))
                update._collected.add_program(program, INTO_MAIN)
                for source, predicate in sources.items():
                    _insert(update, predicate, self.columns[predicate], facts(source))
        except LimitError:
            return None
        except ConstraintError as error:
            # Why they hold would be told of this knowledge base, which the user does not know.
            told = [replace(violation, why="") for violation in error.violations]
            raise ConstraintError(told, may_pass=False) from None
        self._there |= {*reads, *heads}
        return {p: update.change.inserted.get(p, 0) for p in heads}

    def read(self, predicate: str) -> pa.Table:
        """The facts of a predicate that was derived here, and has some."""
        schema = arrow_schema(self.columns[predicate])
        return self.kb.table(predicate).arrow().rename_columns(schema.names).cast(schema)


@contextmanager
def here_of(columns: Mapping[str, Sequence[Column]], limit: int) -> Iterator[Here]:
    """An embedded engine for as long as the block lasts."""
    with connect() as kb:
        yield Here(kb, columns, limit)


def _declared(predicate: str, columns: Sequence[Column]) -> Declaration | None:
    """A declaration with the types that the whole program gives a predicate, if it gives all."""
    if not columns or any(column.type is None for column in columns):
        return None
    named = (Column(f"c{place}", column.meant) for place, column in enumerate(columns))
    return Declaration(predicate, tuple(named))


def _insert(update: Update, predicate: str, columns: Sequence[Column], facts: pa.Table) -> None:
    if not facts.num_rows:
        return
    if columns:
        facts = facts.rename_columns([f"c{place}" for place in range(len(columns))])
    update.insert(predicate, facts if columns else [()])


def minus(facts: pa.Table, others: pa.Table) -> pa.Table:
    """The facts that are not among others, whose columns have the same types."""
    if not facts.num_rows or not others.num_rows:
        return facts
    places = range(facts.num_columns)
    values, keys = [f"v{place}" for place in places], [f"k{place}" for place in places]
    left = pa.table([*facts.columns, *map(_key, facts.columns)], [*values, *keys])
    right = pa.table([_key(column) for column in others.columns], keys)
    found = left.join(right, keys, join_type="left anti").select(values)
    return found.rename_columns(facts.column_names).combine_chunks()


def _key(column: pa.ChunkedArray) -> pa.Array:
    """A column whose equal values are equal for Arrow, too, which takes NaN for unequal to NaN."""
    values = column.combine_chunks()
    if not pa.types.is_floating(values.type):
        return values
    nan = pa.scalar(float("nan"), values.type)
    return pc.if_else(pc.is_nan(values), nan, values).view(pa.int64())
