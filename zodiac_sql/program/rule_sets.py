"""Rule sets: rules that came together under a name, and leave together.

A rule that stands in several sets is there once, and goes when the last of them lets go of it. Its
name is that of one of its places: a rule that the set "heat" calls r1 is heat/r1. What the set
"main" calls r1 is r1.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from zodiac_sql.errors import QueryError
from zodiac_sql.language.syntax import Program

MAIN = "main"
"""The set of rules that were added without naming one."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A rule set as the catalog keeps it.

    `source` is the file it was read from, `digest` the SHA-256 of its text, in hexadecimal; both
    are None for a text. `changed_at` is UTC, in ISO form, in seconds. `members` are pairs: what the
    set calls a rule, and the rule's name.
    """

    name: str
    source: str | None = None
    digest: str | None = None
    changed_at: str = ""
    prefixes: tuple[tuple[str, str], ...] = ()
    members: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Into:
    """The rule set that a text is added to, and where the text comes from."""

    name: str = MAIN
    source: str | None = None
    digest: str | None = None


INTO_MAIN = Into()


@dataclass(frozen=True, slots=True)
class MadeRules:
    """Rules and facts that were made of something else than a text of rules.

    `source` and `digest` are those of what they were made of; `remarks` are for the change's notes.
    """

    program: Program
    source: str
    digest: str
    remarks: tuple[str, ...] = ()


def qualified(set_name: str, label: str) -> str:
    """The name of a rule that a set knows by a label."""
    return label if set_name == MAIN else f"{set_name}/{label}"


def require_name(name: str) -> None:
    """Raise QueryError if no rule set can have a name."""
    if not _NAME.fullmatch(name):
        raise QueryError(
            f"a rule set cannot be called {name!r}: names have letters, digits, _ . and -, and "
            "begin with a letter"
        )


class SetLabels:
    """Which rule each set calls by which label, while a change is being put together."""

    def __init__(self, sets: Iterable[RuleSet] = ()) -> None:
        self._by_set = {one.name: dict(one.members) for one in sets}
        self._by_rule: dict[str, dict[tuple[str, str], None]] = {}
        self._let_go: set[str] = set()
        for name, members in self._by_set.items():
            for label, rule in members.items():
                self._by_rule.setdefault(rule, {})[name, label] = None

    def sets(self) -> list[str]:
        """The names of the sets, of which some may be empty."""
        return list(self._by_set)

    def labels(self, set_name: str) -> Mapping[str, str]:
        """The rules of a set, by their labels."""
        return self._by_set.get(set_name, {})

    def of_rule(self, rule: str) -> list[tuple[str, str]]:
        """The sets that a rule stands in, with its label there."""
        return list(self._by_rule.get(rule, ()))

    def put(self, set_name: str, label: str, rule: str) -> None:
        """Give a rule a place."""
        self._by_set.setdefault(set_name, {})[label] = rule
        self._by_rule.setdefault(rule, {})[set_name, label] = None

    def let_go(self, set_name: str, label: str) -> None:
        """Take a place away."""
        rule = self._by_set[set_name].pop(label)
        del self._by_rule[rule][set_name, label]
        self._let_go.add(rule)

    def rename(self, rule: str, name: str) -> None:
        """Give a rule another name."""
        places = self._by_rule.pop(rule)
        self._by_rule[name] = places
        for set_name, label in places:
            self._by_set[set_name][label] = name

    def renamed(self, rules: Iterable[str]) -> dict[str, str]:
        """The new names of rules whose name is none of their places' any more."""
        found = {}
        for rule in self._let_go.intersection(rules):
            names = [qualified(*place) for place in self._by_rule.get(rule, ())]
            if names and rule not in names:
                found[rule] = names[0]
        return found


def sets_after(
    before: Iterable[RuleSet],
    places: SetLabels,
    changed: Mapping[str, Into],
    prefixes: Mapping[str, Mapping[str, str]],
    windowed: Collection[str] = (),
) -> tuple[RuleSet, ...]:
    """The rule sets after a change: those without rules and windows are gone.

    `changed` are the sets that the change has to do with, `prefixes` what their texts declare, and
    `windowed` the sets that have windows.
    """
    known = {one.name: one for one in before}
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = []
    for name in dict.fromkeys((*known, *places.sets(), *sorted(windowed))):
        members = tuple(places.labels(name).items())
        old = known.get(name, RuleSet(name))
        if not members and name not in windowed:
            continue
        if name in known and members == old.members and name not in changed:
            found.append(old)
            continue
        into = changed.get(name, Into(name, old.source, old.digest))
        own = {**dict(old.prefixes), **prefixes.get(name, {})}
        found.append(
            replace(
                old, source=into.source, digest=into.digest, changed_at=now,
                prefixes=tuple(sorted(own.items())), members=members,
            )
        )  # fmt: skip
    return tuple(found)
