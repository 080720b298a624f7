"""The rules that an update adds and drops, collected verb by verb.

Rules can be dropped by name, as text or by file, even if the same update has added them. A rule
given as text drops every rule that says the same (language/equivalence.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from zodiac_sql.errors import Problem, ProgramError, QueryError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.equivalence import same
from zodiac_sql.language.parse import parse_what_can_be
from zodiac_sql.language.syntax import Atom, Program, Rule
from zodiac_sql.program.arrivals import Arrival
from zodiac_sql.program.check import in_order
from zodiac_sql.program.state import StoredRule


@dataclass(slots=True)
class RuleEdits:
    """The rules to add and to drop. `there` are those in the file.

    `graph` returns these rules parsed, which costs time: most updates never call it.
    """

    there: Collection[StoredRule]
    graph: Callable[[], Hypergraph]
    arrivals: list[Arrival] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.arrivals or self.dropped)

    def facts(self) -> Iterable[Atom]:
        """The facts in the texts that were added."""
        return (fact for arrival in self.arrivals for fact in arrival.program.facts)

    def add(self, program: Program, replaces: bool, strict: bool) -> None:
        """Add a parsed text. If it `replaces`, its rules drop others that have their names."""
        if replaces:
            there = {rule.name: rule for rule in (*self._left(), *self._waiting())}
            self._drop_named(
                {
                    rule.name
                    for rule in program.rules
                    if rule.name in there and not same(rule, there[rule.name])
                }
            )
        self.arrivals.append(Arrival(program, strict))

    def drop(self, given: str | Path, prefixes: Mapping[str, str], strict: bool) -> None:
        """Drop what is given by name, as text or as a file.

        A rule that is not there gives a remark, or if `strict` a QueryError. A text or file that
        cannot be read raises ProgramError.
        """
        absent = self._drop(given, prefixes)
        if absent and strict:
            told = "; ".join(absent).removesuffix(".")
            raise QueryError(f"{told}. The rules are: {', '.join(sorted(self._names()))}")
        self.remarks += absent

    def _drop(self, given: str | Path, prefixes: Mapping[str, str]) -> list[str]:
        """Drop something. Returns what is not there, in words."""
        if isinstance(given, str) and given in self._names():
            self._drop_named({given})
            return []
        if isinstance(given, str) and not _is_text(given):
            return [f"there is no rule named {given}"]
        text, name = rule_text(given)
        program, problems = parse_what_can_be(text, name, prefixes)
        if problems:
            raise ProgramError(in_order(problems))
        if program.facts:
            count = len(program.facts)
            facts = "1 fact stays" if count == 1 else f"{count} facts stay"
            self.remarks.append(f"{name}: {facts}, for dropping rules deletes none")
        return [told for rule in program.rules if (told := self._drop_equal(rule))]

    def _drop_equal(self, rule: Rule) -> str:
        """Drop the rules that say the same. Returns what to say if there is none."""
        found = {other.name for other in self._left() if same(rule, other)}
        waiting = {other for other in self._waiting() if same(rule, other)}
        if not found and not waiting:
            return f"there is no rule {' '.join(rule.text.split())}"
        self.dropped |= found
        self._forget(waiting)
        return ""

    def _drop_named(self, names: Collection[str]) -> None:
        self.dropped |= {rule.name for rule in self.there}.intersection(names)
        self._forget({rule for rule in self._waiting() if rule.name in names})

    def _forget(self, rules: Collection[Rule]) -> None:
        """Take back rules that this update has added."""

        def without(program: Program) -> Program:
            return replace(program, rules=tuple(r for r in program.rules if r not in rules))

        self.arrivals = [replace(one, program=without(one.program)) for one in self.arrivals]

    def _names(self) -> set[str]:
        """The names of all rules: those that are left in the file, and those added so far."""
        left = {rule.name for rule in self.there} - self.dropped
        return left.union(rule.name for rule in self._waiting() if rule.name)

    def _left(self) -> Iterable[Rule]:
        """The rules in the file that were not dropped."""
        return (rule for rule in self.graph().rules() if rule.name not in self.dropped)

    def _waiting(self) -> Iterable[Rule]:
        """The rules that were added."""
        return (rule for arrival in self.arrivals for rule in arrival.program.rules)


_PATH = re.compile(r"[^\n%()]+\.(rules|dl)")
_CLAUSE = re.compile(r":-|<-|←|\)\s*\.")


def _is_text(given: str) -> bool:
    """Whether a string is the text of rules or facts, or a path, rather than a name."""
    return bool(_CLAUSE.search(given) or _PATH.fullmatch(given.strip()))


def rule_text(rules: str | Path) -> tuple[str, str]:
    """The text of rules given as text or as a file, and the name to call it by."""
    if isinstance(rules, str) and not _PATH.fullmatch(rules.strip()):
        return rules, "<rules>"
    path = Path(rules)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramError([Problem(f"cannot read {path}: {reason}")]) from error
