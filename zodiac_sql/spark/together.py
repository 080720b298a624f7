"""Many devices at once: the rules of a fleet with one more column, which has the device.

    hot(X) :- reading(X, T), T > 30.    ->    hot(D, X) :- reading(D, X, T), T > 30.
    lost() :- not reading(_, _).        ->    lost(D) :- device(D), not reading(D, _, _).

No device sees the facts of another, because all atoms of a rule have the same D; an aggregate has
it in its group. So some thousand devices are one program, which takes little longer than one of
them. If it fails, its halves are evaluated, and so on, to find out which device it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from zodiac_sql.errors import ConstraintError
from zodiac_sql.language.constraints import NEVER, says_never, with_body
from zodiac_sql.language.functions import Function
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Column,
    Constant,
    Declaration,
    Literal,
    Negation,
    Program,
    Rule,
    Type,
    Value,
    Variable,
)
from zodiac_sql.names import is_constraint
from zodiac_sql.opening import connect
from zodiac_sql.program.rule_sets import INTO_MAIN
from zodiac_sql.spark.device_facts import Input, place_of, rows_of
from zodiac_sql.spark.planning import PlannedRules
from zodiac_sql.sql.relations import HOLDS

ROWS = 20_000
"""Devices are evaluated together until they have so many rows of facts."""

_DEVICE = Variable("zodiac$device")


@dataclass(frozen=True, slots=True)
class JoinedProgram:
    """A program for many devices, which has numbers for them. `device` is the predicate that has
    these. It is sent to the workers.
    """

    program: Program
    device: str
    inputs: tuple[Input, ...]
    functions: tuple[Function, ...]
    predicates: tuple[str, ...]
    timeout: float | None

    @staticmethod
    def of(
        planned: PlannedRules,
        inputs: tuple[Input, ...],
        functions: tuple[Function, ...],
        predicates: tuple[str, ...],
        timeout: float | None,
    ) -> JoinedProgram:
        name = "device"
        while name in planned.schema:
            name += "s"
        rules = [_with_device(rule, name) for rule in planned.graph.rules()]
        for predicate, facts in planned.facts.items():
            types = [c.meant for c in planned.schema[predicate].columns]
            rules += [_stating(predicate, row, types, name, n) for n, row in enumerate(facts)]
        declared = (
            Declaration(predicate, _named(Type.INT, *(c.meant for c in known.columns)))
            for predicate, known in planned.schema.items()
            if not known.open and not is_constraint(predicate)
        )
        program = Program(
            tuple(rules),
            declarations=(Declaration(name, _named(Type.INT)), *declared),
        )
        return JoinedProgram(program, name, inputs, functions, predicates, timeout)

    def on(self, devices: pa.ChunkedArray, facts: pa.Table) -> Mapping[str, pa.Table]:
        """The extensions on some devices, each with the device in its first column.

        Raises a ZodiacError if a device fails.
        """
        coded = devices.combine_chunks().dictionary_encode()
        numbers = coded.indices.cast(pa.int64())
        with connect(threads=1, functions=self.functions) as kb:
            with kb.update(timeout=self.timeout) as update:
                update._collected.add_program(self.program, INTO_MAIN)
                update.insert(self.device, pa.table({"c0": numbers.unique()}))
                for number, one in enumerate(self.inputs):
                    given = facts.column(place_of(number))
                    if given.null_count < len(given):
                        update.insert(one.exactly, _facts(one, numbers, given))
            if update.change.violations:
                raise ConstraintError(update.change.violations, may_pass=False)
            found = set(update.change.inserted) & set(self.predicates)
            return {p: _named_devices(update.change.inserted_facts(p), coded) for p in found}


def _facts(one: Input, numbers: pa.Array, given: pa.ChunkedArray) -> pa.Table:
    """The facts of a predicate with the numbers of their devices. Raises DataError."""
    there = given.is_valid()
    columns = [numbers.filter(there.combine_chunks())]
    if one.columns:
        columns += rows_of(one, given.filter(there)).columns
    return pa.table(columns, [f"c{place}" for place in range(len(columns))])


def _named_devices(facts: pa.Table, coded: pa.DictionaryArray) -> pa.Table:
    """Facts with devices for their numbers; without columns, the facts have `holds`."""
    named = facts.set_column(0, facts.column_names[0], coded.dictionary.take(facts.column(0)))
    if named.num_columns > 1:
        return named
    return named.append_column(HOLDS.name, pa.repeat(True, named.num_rows))


def groups(
    batches: Iterable[pa.RecordBatch], by: str
) -> Iterator[tuple[pa.ChunkedArray, pa.Table]]:
    """The rows of whole devices, ROWS or a few more at a time: the devices, and their facts.

    The rows of a device stand together.
    """
    waiting: list[pa.Table] = []
    rows = 0
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        rows += batch.num_rows
        if rows >= ROWS:
            table = pa.concat_tables(waiting)
            last = table.num_rows - len(runs(table[by])[-1])
            if last:
                yield table[by].slice(0, last), table.slice(0, last)
            waiting, rows = [table.slice(last)], table.num_rows - last
    if rows:
        table = pa.concat_tables(waiting)
        yield table[by], table


def runs(devices: pa.ChunkedArray) -> list[range]:
    """The places of each device, whose rows stand together."""
    codes = devices.combine_chunks().dictionary_encode().indices
    ends = pc.indices_nonzero(pc.not_equal(codes[1:], codes[:-1])).to_pylist()
    bounds = [0, *(end + 1 for end in ends), len(codes)]
    return [range(a, b) for a, b in itertools.pairwise(bounds)]


# --- rules ----------------------------------------------------------------------------------------


def _with_device(rule: Rule, devices: str) -> Rule:
    """A rule with the device in each atom.

    It has no text that could be read again, so nobody takes it for the rule that it was made of.
    """
    body = tuple(_literal(one) for one in rule.body)
    if not any(isinstance(one, Atom) for one in body):
        body = (Atom(devices, (_DEVICE,)), *body)
    if says_never(rule):
        return with_body(rule, body, NEVER)
    best = rule.best and replace(rule.best, place=rule.best.place + 1)
    return Rule(rule.name, _atom(rule.head), body, best=best)


def _literal(literal: Literal) -> Literal:
    if isinstance(literal, Atom):
        return _atom(literal)
    if isinstance(literal, Negation):
        return Negation(_atom(literal.atom))
    if isinstance(literal, Aggregate):
        body = tuple(_literal(one) for one in literal.body)
        return replace(literal, body=body, group=(_DEVICE, *literal.group))
    return literal


def _atom(atom: Atom) -> Atom:
    return Atom(atom.predicate, (_DEVICE, *atom.terms), atom.span)


def _stating(
    predicate: str, row: tuple[object, ...], types: Iterable[Type | None], devices: str, number: int
) -> Rule:
    """A fact that holds on every device."""
    terms = (_constant(value, type_) for value, type_ in zip(row, types, strict=True))
    head = Atom(predicate, (_DEVICE, *terms))
    return Rule(f"zodiac${predicate}${number}", head, (Atom(devices, (_DEVICE,)),))


def _constant(value: object, type_: Type | None) -> Constant:
    assert isinstance(value, Value)
    if type_ is Type.FLOAT and isinstance(value, int):
        value = float(value)
    if type_ is Type.DECIMAL and isinstance(value, int):
        value = Decimal(value)
    return Constant(type_ or Type.SYMBOL, value)


def _named(*types: Type | None) -> tuple[Column, ...]:
    return tuple(Column(f"c{place}", type_) for place, type_ in enumerate(types))
