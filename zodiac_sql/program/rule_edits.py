"""The rules that an update adds and drops, collected verb by verb.

Rules can be dropped by name, as text, by file or by set, even if the same update has added them. A
rule given as text drops every rule of a set that says the same (language/equivalence.py). What is
dropped is a rule's place in a set: the rule goes with its last place.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zodiac_sql.errors import Problem, ProgramError, QueryError
from zodiac_sql.language.alternatives import is_part_of
from zodiac_sql.language.constraints import says_never
from zodiac_sql.language.equivalence import outline, same
from zodiac_sql.language.filters import is_label_of_filter, with_filters
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.moment_constants import rule_with_moments
from zodiac_sql.language.named_columns import all_positional, known_columns, positional
from zodiac_sql.language.parse import parse_what_can_be
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Program, Rule
from zodiac_sql.language.templates import TRIPLE
from zodiac_sql.language.written import on_one_line
from zodiac_sql.paths import impossible
from zodiac_sql.program.arrivals import Arrival
from zodiac_sql.program.check import in_order
from zodiac_sql.program.fact_types import facts_with_moments
from zodiac_sql.program.rule_sets import MAIN, Into, RuleSet, SetLabels, qualified
from zodiac_sql.program.state import StoredRule
from zodiac_sql.program.windows import WindowEdits

_NONE: Functions = {}


@dataclass(slots=True)
class RuleEdits:
    """The rules to add and to drop. `there` are those in the file, `sets` the rule sets.

    `written` returns these rules parsed, which costs time: most updates never call it.
    """

    there: Collection[StoredRule]
    sets: Collection[RuleSet]
    written: Callable[[], Iterable[Rule]]
    windows: WindowEdits = field(default_factory=WindowEdits)
    arrivals: list[Arrival] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    changed: dict[str, Into] = field(default_factory=dict)
    """The sets that were added to or replaced, and from where."""
    prefixes: dict[str, dict[str, str]] = field(default_factory=dict)
    """The prefixes that the texts of sets declare."""
    passed_over: list[Rule] = field(default_factory=list)
    """Rules that were left out because they name columns of which nobody knows."""
    _places: SetLabels | None = None
    _has_dropped: bool = False
    _known: tuple[dict[str, Rule], dict[str, list[Rule]]] | None = None

    def __bool__(self) -> bool:
        return bool(self.arrivals or self._has_dropped or self.windows)

    @property
    def places(self) -> SetLabels:
        """The places of rules in sets that are left."""
        if self._places is None:
            self._places = SetLabels(self.sets)
        return self._places

    @property
    def dropped(self) -> set[str]:
        """The names of rules in the file that have no place left."""
        if not self._has_dropped:
            return set()
        return {rule.name for rule in self.there if not self.places.of_rule(rule.name)}

    def put_in_columns(self, schema: Mapping[str, Predicate]) -> list[Problem]:
        """Put named columns of what was added in their places, now that all of them are known.

        In facts, texts become dates and timestamps where the columns hold these.
        """
        before = [one.program for one in self.arrivals]
        programs, problems = all_positional(before, schema)
        if problems:
            left = {rule.span for program in programs for rule in program.rules}
            rules = (rule for program in before for rule in program.rules)
            self.passed_over += [rule for rule in rules if rule.span not in left]
        self.arrivals = [
            replace(arrival, program=with_filters(facts_with_moments(program, schema)))
            for arrival, program in zip(self.arrivals, programs, strict=True)
        ]
        return problems

    def let_filters_go(self) -> None:
        """Drop the filters that no rule of their sets reads any more."""
        for own in self.places.sets():
            filters = [label for label in self.places.labels(own) if is_label_of_filter(label)]
            if filters:
                rules = [self._by_name[name] for name in self.places.labels(own).values()]
                arrivals = (one.program.rules for one in self.arrivals if one.into.name == own)
                rules += [rule for some in arrivals for rule in some]
                read = {name for rule in rules for name in rule.positive() | rule.negative()}
                for label in filters:
                    kept = self._by_name[self.places.labels(own)[label]].head.predicate
                    if kept not in read:
                        self._let_go(own, label)

    def facts(self) -> Iterable[Atom]:
        """The facts in the texts that were added."""
        return (fact for arrival in self.arrivals for fact in arrival.program.facts)

    def as_there(
        self, program: Program, schema: Mapping[str, Predicate], functions: Functions = _NONE
    ) -> Program:
        """A text in whose rules texts are read as moments, where a rule in the file says so.

        Those of other rules are read when all types are known.
        """
        types = {name: [column.meant for column in known.columns] for name, known in schema.items()}

        def read(rule: Rule) -> Rule:
            found = rule_with_moments(rule, types, functions)
            there = found is not rule and self._by_head.get(rule.head.predicate, ())
            return found if there and any(same(found, other) for other in there) else rule

        rules = tuple(map(read, program.rules))
        return replace(program, rules=rules) if rules != program.rules else program

    def add(self, program: Program, replaces: bool, strict: bool, into: Into) -> None:
        """Add a parsed text. If it `replaces`, its rules drop others that have their names."""
        if replaces:
            for rule in program.rules:
                name = self.places.labels(into.name).get(rule.name)
                if name is not None and not same(rule, self._by_name[name]):
                    self._let_go(into.name, rule.name)
            self._replace_parts(program, into.name)
            named = {rule.name: rule for rule in program.rules if rule.name}
            self._forget(into.name, lambda r: r.name in named and not same(named[r.name], r))
        self.remarks += self.windows.add(program.windows, into.name)
        self._arrive(Arrival(program, strict, into))

    def _replace_parts(self, program: Program, own: str) -> None:
        """Let go of rules with alternatives as a whole, and of rules that now have some."""
        given = {rule.name for rule in program.rules}
        for rule in program.rules:
            whole = rule.name.rpartition(".")[0] if rule.part else rule.name
            for label in (whole, *self._parts(own, whole)) if whole else ():
                if label in self.places.labels(own) and label not in given:
                    self._let_go(own, label)

    def _parts(self, own: str, whole: str) -> list[str]:
        """The labels of the parts of a rule with alternatives: r1.1, r1.2, of the same head."""
        labels = self.places.labels(own)
        found = [label for label in labels if is_part_of(label, whole)]
        rules = (self._by_name[labels[label]] for label in found)
        heads = {None if says_never(rule) else rule.head for rule in rules}
        return found if len(heads) == 1 else []

    def replace_set(self, program: Program, into: Into) -> None:
        """Make the rules of a parsed text those of a set: only the difference is a change.

        Mostly nearly all rules are as they were, under the same labels: these need no search.
        """
        self._withdraw(into.name)
        self.windows.replace_set(program.windows, into.name)
        given = {new.name for new in program.rules if new.name}
        there = [self._is_there(into.name, new) for new in program.rules]
        as_before = {new.name for new, same_ in zip(program.rules, there, strict=True) if same_}
        others = tuple(new for new, same_ in zip(program.rules, there, strict=True) if not same_)
        known: dict[object, list[tuple[Rule, str]]] = {}
        for label, name in self.places.labels(into.name).items():
            if label not in as_before:
                rule = self._by_name[name]
                known.setdefault(outline(rule), []).append((rule, label))
        kept = as_before | {
            label
            for new in others
            for rule, label in known.get(outline(new), ())
            if (new.name or label) == label and same(new, rule)
            if new.name or label not in given  # a label may be given to another rule now
        }
        for label in [one for one in self.places.labels(into.name) if one not in kept]:
            self._let_go(into.name, label)
        self._arrive(Arrival(replace(program, rules=others), False, into, replaces=True))

    def _is_there(self, set_name: str, new: Rule) -> bool:
        """Whether a set has a rule under the same label, with the same names of variables."""
        name = self.places.labels(set_name).get(new.name)
        if name is None:
            return False
        rule = self._by_name[name]
        return rule.head == new.head and rule.body == new.body

    def _arrive(self, arrival: Arrival) -> None:
        self.arrivals.append(arrival)
        self.changed[arrival.into.name] = arrival.into
        self.prefixes.setdefault(arrival.into.name, {}).update(arrival.program.prefixes)

    def drop_set(self, name: str, strict: bool) -> None:
        """Drop all rules of a set. If there is none, that is a remark, or if `strict` an error."""
        waiting = [arrival for arrival in self.arrivals if arrival.into.name == name]
        if not (self.windows.drop_set(name) or self.places.labels(name) or waiting):
            sets = ", ".join(sorted(one for one in self.places.sets() if self.places.labels(one)))
            told = f"there is no rule set named {name}. The rule sets are: {sets or 'none'}"
            if strict:
                raise QueryError(told)
            self.remarks.append(told)
        self._withdraw(name)
        for label in list(self.places.labels(name)):
            self._let_go(name, label)

    def drop(
        self,
        given: str | Path,
        prefixes: Mapping[str, str],
        strict: bool,
        set_name: str | None,
        schema: Mapping[str, Predicate],
    ) -> None:
        """Drop what is given by name, as text or as a file, from a set: from main if None is named.

        A rule that is not there gives a remark, or if `strict` a QueryError. A text or file that
        cannot be read raises ProgramError. `schema` has the predicates so far.
        """
        absent = self._drop(given, prefixes, set_name, schema)
        if absent and strict:
            told = "; ".join(absent).removesuffix(".")
            raise QueryError(f"{told}. The rules are: {', '.join(sorted(self._names()))}")
        self.remarks += absent

    def _drop(
        self,
        given: str | Path,
        prefixes: Mapping[str, str],
        set_name: str | None,
        schema: Mapping[str, Predicate],
    ) -> list[str]:
        """Drop something. Returns what is not there, in words."""
        if isinstance(given, str) and (
            self.windows.drop_named(given, set_name) or self._drop_named(given, set_name)
        ):
            return []
        if isinstance(given, str) and not _is_text(given):
            told = f"there is no rule named {qualified(set_name or MAIN, given)}"
            made_of = given.partition("[")[0]
            return [f"{told}: it was made of {made_of}" if made_of in self._names() else told]
        text, name = rule_text(given)
        program, problems = parsed_text(text, name, prefixes, TRIPLE in schema, schema)
        if problems:
            raise ProgramError(in_order(problems))
        if program.facts:
            count = len(program.facts)
            facts = "1 fact stays" if count == 1 else f"{count} facts stay"
            self.remarks.append(f"{name}: {facts}, for dropping rules deletes none")
        own = set_name or MAIN
        rules = [
            rule
            for rule in self.as_there(program, schema).rules
            if not is_label_of_filter(rule.name)
        ]
        absent = [told for rule in rules if (told := self._drop_equal(rule, own))]
        return [*absent, *self.windows.drop(program.windows, own)]

    def _drop_equal(self, rule: Rule, own: str) -> str:
        """Drop the rules of a set that say the same. Returns what to say if there is none."""
        heads = self._by_head.get(rule.head.predicate, ())
        alike = [other for other in heads if same(rule, other)]
        places = [place for other in alike for place in self.places.of_rule(other.name)]
        found = [label for name, label in places if name == own]
        for label in found:
            self._let_go(own, label)
        if self._forget(own, lambda other: same(rule, other)) or found:
            return ""
        others = ", ".join(sorted({name for name, _ in places}))
        where = f", but in the rule set {others}" if others else ""
        return f"there is no rule {on_one_line(rule.text)}{where}"

    def _drop_named(self, given: str, set_name: str | None) -> bool:
        """Drop a rule by name, "r1" or "heat/r1". Returns whether there is one."""
        own, _, label = given.rpartition("/") if set_name is None else (set_name, "", given)
        own = own or MAIN
        is_there = label in self.places.labels(own)
        parts = [] if is_there else self._parts(own, label)
        for one in [label] if is_there else parts:
            self._let_go(own, one)

        def is_meant(rule: Rule) -> bool:
            return rule.name == label or (rule.part > 0 and is_part_of(rule.name, label))

        return self._forget(own, is_meant) or is_there or bool(parts)

    def _withdraw(self, set_name: str) -> None:
        """Take back what this update has added to a set. (Facts of main are nobody's.)"""
        if set_name == MAIN:
            self._forget(MAIN, lambda _: True)
        else:
            self.arrivals = [one for one in self.arrivals if one.into.name != set_name]

    def _let_go(self, set_name: str, label: str) -> None:
        self.places.let_go(set_name, label)
        self._has_dropped = True

    def _forget(self, set_name: str, goes: Callable[[Rule], bool]) -> bool:
        """Take back rules that this update has added to a set. Returns whether there are any."""
        kept = []
        for arrival in self.arrivals:
            rules = arrival.program.rules
            if arrival.into.name == set_name:
                rules = tuple(rule for rule in rules if not goes(rule))
            kept.append(replace(arrival, program=replace(arrival.program, rules=rules)))
        count = sum(len(arrival.program.rules) for arrival in self.arrivals)
        self.arrivals = kept
        return count > sum(len(arrival.program.rules) for arrival in kept)

    def _names(self) -> set[str]:
        """The names of all rules: those that are left in the file, and those added so far."""
        left = {rule.name for rule in self.there} - self.dropped
        return left.union(
            qualified(arrival.into.name, rule.name)
            for arrival in self.arrivals
            for rule in arrival.program.rules
            if rule.name
        )

    @property
    def _by_name(self) -> Mapping[str, Rule]:
        """The rules in the file."""
        return self._parsed[0]

    @property
    def _by_head(self) -> Mapping[str, Sequence[Rule]]:
        """The rules in the file by the predicate of their head."""
        return self._parsed[1]

    @property
    def _parsed(self) -> tuple[dict[str, Rule], dict[str, list[Rule]]]:
        if self._known is None:
            self._known = {}, {}
            for rule in self.written():
                self._known[0][rule.name] = rule
                self._known[1].setdefault(rule.head.predicate, []).append(rule)
        return self._known


_PATH = re.compile(r"[^\n%()]+\.(rules|dl|srl)")
_MARK = "\ufeff"
"""The byte order mark, with which some programs begin all texts."""

_CLAUSE = re.compile(r"[:!]-|<-|←|\)\s*\.|\.window\b.*\(")


def _is_text(given: str) -> bool:
    """Whether a string is the text of rules or facts, or a path, rather than a name."""
    return bool(_CLAUSE.search(given) or _PATH.fullmatch(given.strip()))


def rule_text(rules: str | Path) -> tuple[str, str]:
    """The text of rules given as text or as a file, and the name to call it by."""
    if isinstance(rules, str) and not _PATH.fullmatch(rules.strip()):
        return rules.removeprefix(_MARK), "<rules>"
    if not isinstance(rules, str | os.PathLike):
        raise TypeError(
            f"rules are a text, or the path of a file, not a {type(rules).__name__}: of several "
            "texts make one, with line breaks between them (names to be dropped are arguments, "
            'drop_rules("r1", "r2")).'
        )
    path = Path(rules)
    if said := impossible(path):
        raise ProgramError([Problem(f"{path} {said}")])
    try:
        return path.read_text(encoding="utf-8-sig"), str(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramError([Problem(f"cannot read {path}: {reason}")]) from error


def parsed_text(
    text: str,
    name: str,
    prefixes: Mapping[str, str],
    own_triple: bool = False,
    schema: Mapping[str, Predicate] | None = None,
) -> tuple[Program, list[Problem]]:
    """A text as `rule_text` returns it, parsed as far as it can be, and its problems.

    A file that ends in .srl has SHACL rules. Named columns that the `schema` knows, or the text
    declares, are in their places. (language/parse.py says what `own_triple` is.)
    """
    if name.lower().endswith(".srl"):
        from zodiac_sql.language.shacl.parse import parse_shacl_rules  # late: few need it

        return parse_shacl_rules(text, name, prefixes)
    program, problems = parse_what_can_be(text, name, prefixes, own_triple=own_triple)
    program, more = positional(program, known_columns(schema or {}, program))
    return with_filters(program), [*problems, *more]


def source_of(rules: str | Path, text: str) -> tuple[str | None, str]:
    """The file that a text comes from, None if it was given as text, and the text's SHA-256."""
    is_file = isinstance(rules, Path) or _PATH.fullmatch(rules.strip())
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return (str(rules).strip() if is_file else None), digest
