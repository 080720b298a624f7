"""Expressions over mixed and native variables: texts, conversions, moments, the least of some."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from generators.programs import Var
from generators.random_rules import chance
from generators.typed_expressions import FORMATS, INTERVALS, PATTERNS, ZONES
from support.mixed_types import MOMENTS, NUMBERS, comparable, expression_type
from support.naive_values import Call


@dataclass
class Scope:
    """The variables of a body so far, with the kinds that they are meant to have."""

    bound: dict[Var, str] = field(default_factory=dict)
    prefix: str = "V"

    def fresh(self, kind: str | None = None) -> Var:
        variable = Var(f"{self.prefix}{len(self.bound)}")
        if kind is not None:
            self.bound[variable] = kind
        return variable

    def of(self, kinds: Collection[str]) -> list[Var]:
        return [variable for variable, kind in self.bound.items() if kind in kinds]


Typed = tuple[Any, str | None]
"""An expression and its type."""


@dataclass(frozen=True)
class Expressions:
    """Draws calls over the variables of a scope."""

    rng: Random
    scope: Scope
    pools: Mapping[str, Sequence[Any]]

    def drawn(self) -> Typed:
        """A call of any function, with its type; (None, None) if no variable fits."""
        draws: list[Callable[[], Any]] = [self.text, self.conversion, self.moment, self.extreme]
        for draw in self.rng.sample(draws, len(draws)):
            call = draw()
            if call is not None:
                return call, expression_type(call, self.scope.bound)
        return None, None

    def variable(self, kinds: Collection[str]) -> Var | None:
        """A variable of some kinds, or a mixed one."""
        known = self.scope.of(("any", "any", *kinds))
        return self.rng.choice(known) if known else None

    def other(self, kinds: Sequence[str]) -> Any:
        """A second argument: mostly a constant."""
        variable = self.variable(kinds) if chance(self.rng, 40) else None
        return variable or self.rng.choice(self.pools[self.rng.choice(kinds)])

    def text(self) -> Call | None:
        x, rng = self.variable(("symbol",)), self.rng
        if x is None:
            return None
        symbol = ("symbol",)
        return rng.choice(
            [
                Call("length", (x,)), Call("upper", (x,)), Call("lower", (x,)), Call("trim", (x,)),
                Call("substr", (x, 1, 2)), Call("substr", (x, 2)),
                Call("replace", (x, "a", self.other(symbol))),
                Call("concat", (x, "_", self.anything())), Call("concat", (self.anything(), x)),
                Call("contains", (x, self.other(symbol))),
                Call("starts_with", (x, self.other(symbol))),
                Call("ends_with", (x, self.other(symbol))),
                Call("matches", (x, rng.choice(PATTERNS))),
                Call("regex_replace", (x, rng.choice(PATTERNS), "-")),
                Call("regex_extract", (x, rng.choice(PATTERNS))),
            ]
        )  # fmt: skip

    def anything(self) -> Any:
        return self.rng.choice(list(self.scope.bound))

    def conversion(self) -> Call | None:
        function = self.rng.choice(("int", "float", "decimal", "text", "sqrt", "power"))
        takes = NUMBERS if function in ("sqrt", "power") else (*NUMBERS, "symbol")
        x = self.anything() if function == "text" else self.variable(takes)
        if x is None:
            return None
        return Call(function, (x, 2) if function == "power" else (x,))

    def moment(self) -> Call | None:
        day, clock, rng = self.variable(MOMENTS), self.variable(("timestamp",)), self.rng
        if day is None:
            return None
        zoned = clock is not None and chance(rng, 35)
        x, zone = (clock, (rng.choice(ZONES),)) if zoned else (day, ())
        form = rng.choice(FORMATS) + " %z" * zoned
        calls = [
            Call(rng.choice(("year", "month", "day", "epoch")), (day,)),
            Call(rng.choice(("days_between", "seconds_between")), (day, self.other(MOMENTS))),
            Call("add_days", (day, self.other(("int",)))),
            Call("date", (x, *zone)),
            Call("time_bucket", (rng.choice(INTERVALS), x, *zone)),
            Call("format_time", (x, form, *zone)),
        ]
        if clock is not None:
            calls.append(Call(rng.choice(("hour", "minute")), (clock,)))
            calls.append(Call("add_seconds", (clock, self.other(NUMBERS))))
        return rng.choice(calls)

    def extreme(self) -> Call | None:
        kinds = self.rng.choice((NUMBERS, NUMBERS, MOMENTS[:1], MOMENTS[1:]))
        x = self.variable(kinds)
        if x is None:
            return None
        arguments = [x, *(self.other(kinds) for _ in range(self.rng.choice((1, 1, 2))))]
        self.rng.shuffle(arguments)
        return Call(self.rng.choice(("least", "greatest")), tuple(arguments))

    def comparison(self, operators: Sequence[str]) -> tuple[Any, str, Any] | None:
        """A comparison of a call with a constant or a variable."""
        call, kind = self.drawn()
        if kind is None:
            return None
        others = [v for v, known in self.scope.bound.items() if comparable(known, kind)]
        pool = self.rng.choice(list(self.pools)) if kind == "any" else kind
        right = self.rng.choice((*others, self.rng.choice(self.pools[pool])))
        return call, self.rng.choice(operators), right
