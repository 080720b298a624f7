"""The variables of a random body, and expressions over them that are not simply computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from generators.programs import Var
from generators.random_rules import chance
from generators.typed_language import NUMBERS, POOLS, Kind
from support.naive_values import Call, Expression


@dataclass
class Scope:
    """The variables that a body has bound so far."""

    rng: Random
    bound: dict[Var, Kind] = field(default_factory=dict)
    made: int = 0

    def of(self, *kinds: Kind) -> list[Var]:
        return [v for v, k in self.bound.items() if k in kinds]

    def fresh(self, kind: Kind | None = None) -> Var:
        variable = Var("XYZUVWABCDGHIJ"[self.made % 14] + ("" if self.made < 14 else "1"))
        self.made += 1
        if kind is not None:
            self.bound[variable] = kind
        return variable

    def value(self, *kinds: Kind) -> Expression:
        """A variable of one of some kinds, or now and then a constant."""
        known = self.of(*kinds)
        if known and not chance(self.rng, 25):
            return self.rng.choice(known)
        return self.rng.choice(POOLS[self.rng.choice(kinds)])


def more_expressions(scope: Scope, what: str) -> tuple[Expression, Kind]:
    """A value that a condition chooses, or one read from text, found by a pattern, or moved."""
    if what == "if":
        kind = scope.rng.choice(list(Kind))
        both = scope.value(kind), scope.value(kind)
        if kind is Kind.SYMBOL and chance(scope.rng, 40):
            both = both[0], Call("concat", (both[1], scope.rng.choice(("", "!"))))
        return Call("if", (condition(scope), *both)), kind
    if what == "read":
        return scope.rng.choice(
            [
                (Call("int", (_numeral(scope),)), Kind.INT),
                (Call("float", (_numeral(scope),)), Kind.FLOAT),
                (Call("int", (scope.value(Kind.FLOAT),)), Kind.INT),
                (Call("float", (scope.value(Kind.INT),)), Kind.FLOAT),
                (Call("int", (scope.value(Kind.DECIMAL),)), Kind.INT),
                (Call("float", (scope.value(Kind.DECIMAL),)), Kind.FLOAT),
                (Call("decimal", (_numeral(scope),)), Kind.DECIMAL),
                (Call("decimal", (scope.value(*NUMBERS),)), Kind.DECIMAL),
                (Call("text", (scope.value(*Kind),)), Kind.SYMBOL),
            ]
        )
    if what == "pattern":
        text, pattern = scope.value(Kind.SYMBOL), scope.rng.choice(PATTERNS)
        return scope.rng.choice(
            [
                (Call("matches", (text, pattern)), Kind.BOOL),
                (Call("regex_replace", (text, pattern, "-")), Kind.SYMBOL),
                (Call("regex_extract", (text, pattern)), Kind.SYMBOL),
                (Call("regex_extract", (text, "([A-Za-z])([a-z]?)", 2)), Kind.SYMBOL),
            ]
        )
    return _moment(scope)


PATTERNS = ("a", "[a-z]+", "^.$", "^[0-9]", ":", "x|b", "[A-Z]?d")


def _numeral(scope: Scope) -> Expression:
    if chance(scope.rng, 60):
        return scope.value(Kind.SYMBOL)
    return Call("concat", (scope.value(*NUMBERS), scope.rng.choice(("", "0", "x"))))


def _moment(scope: Scope) -> tuple[Expression, Kind]:
    day, moment = scope.value(Kind.DATE), scope.value(Kind.TIMESTAMP)
    number = scope.value(Kind.INT, Kind.SMALL)
    seconds = scope.value(Kind.FLOAT, Kind.SMALL, Kind.CENT)
    if chance(scope.rng, 50):
        return _told_of(scope, day, moment)
    return scope.rng.choice(
        [
            (Call("add_days", (day, number)), Kind.DATE),
            (Call("add_days", (moment, number)), Kind.TIMESTAMP),
            (Call("add_seconds", (moment, seconds)), Kind.TIMESTAMP),
            (Call("days_between", (day, scope.value(Kind.DATE, Kind.TIMESTAMP))), Kind.INT),
            (Call("days_between", (moment, scope.value(Kind.DATE, Kind.TIMESTAMP))), Kind.INT),
            (Call("seconds_between", (scope.value(Kind.DATE, Kind.TIMESTAMP), moment)), Kind.FLOAT),
            (Call("epoch", (scope.value(Kind.DATE, Kind.TIMESTAMP),)), Kind.FLOAT),
        ]
    )  # fmt: skip


INTERVALS = (
    "15 minutes", "1 minute", "7 seconds", "1 hour", "36 hours", "1 day", "10 days", "1 week",
    "1 month", "7 months", "1 year", "30 years", "15 min", "7 secs", "5 s", "36 h", "1 hr",
)  # fmt: skip
FORMATS = (
    "%Y-%m-%d", "%H:%M:%S.%f", "%d. %-m. %y", "in <%G-W%V-%u>", "%I %p, %a", "%A %B %b",
    "%j %-j %w", "%U %W", "100 %% of %-d", "%a://%Y",
)  # fmt: skip
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")


def _told_of(scope: Scope, day: Expression, moment: Expression) -> tuple[Expression, Kind]:
    """A day, a bucket, or a text of a moment, in a zone or in none."""
    rng = scope.rng
    zone = (rng.choice(ZONES),) if chance(rng, 40) else ()
    of = moment if zone or chance(rng, 60) else day
    kind = Kind.TIMESTAMP if of is moment else Kind.DATE
    form = rng.choice(FORMATS)
    return rng.choice(
        [
            (Call("date", (of, *zone)), Kind.DATE),
            (Call("time_bucket", (rng.choice(INTERVALS), of, *zone)), kind),
            (
                Call("format_time", (of, form + rng.choice((" %z", "%z%z")) * len(zone), *zone)),
                Kind.SYMBOL,
            ),
        ]
    )


def condition(scope: Scope, depth: int = 0) -> Expression:
    """A condition for `if`."""
    rng = scope.rng
    if depth < 2 and chance(rng, 30):
        both = condition(scope, depth + 1), condition(scope, depth + 1)
        return rng.choice((Call("and", both), Call("or", both), Call("not", both[:1])))
    if chance(rng, 10):
        return scope.value(Kind.BOOL)
    if chance(rng, 15):
        return Call(">", (Call("/", (scope.value(Kind.SMALL), scope.value(Kind.SMALL))), 0.5))
    kinds = rng.choice(
        [
            NUMBERS,
            (Kind.SYMBOL,),
            (Kind.DATE, Kind.TIMESTAMP),
            (Kind.BOOL,),
        ]
    )
    operator = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    return Call(operator, (scope.value(*kinds), scope.value(*kinds)))
