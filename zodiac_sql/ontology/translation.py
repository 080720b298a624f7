"""What an ontology becomes: rules, facts, and a report of what became of each axiom."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from zodiac_sql.language.syntax import Atom, Constant, Program, Rule, Type
from zodiac_sql.ontology.applicable import applicable
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.schema import implied
from zodiac_sql.program.rule_sets import MadeRules

Row = tuple[str | int | Decimal | float | bool | datetime.date | datetime.datetime, ...]
"""The values of a fact, as `kb.insert` takes them."""


@dataclass(frozen=True, slots=True)
class TranslatedRule:
    """A rule, the axioms that it comes from, and the rules of the W3C that say so.

    `text` uses the prefixes of the translation, and has no label. `w3c` names rules of OWL 2
    Profiles, section 4.3, such as "cax-sco", or of RDFS, such as "rdfs9".
    """

    name: str
    text: str
    w3c: tuple[str, ...]
    axioms: tuple[str, ...]
    rule: Rule = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """What became of an axiom: the names of its rules, and why something of it was left out.

    An axiom without rules and without a reason needs none: it became facts, or says nothing.
    """

    axiom: str
    file: str
    line: int | None
    rules: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Translation:
    """The rules and facts of an ontology.

    `facts` has the rows of each predicate. `imports` are the ontologies that are imported and were
    not among the files.
    """

    files: tuple[Path, ...]
    profile: str
    rules: tuple[TranslatedRule, ...]
    facts: Mapping[str, tuple[Row, ...]]
    report: tuple[ReportRow, ...]
    prefixes: Mapping[str, str]
    imports: tuple[str, ...]
    graph: Graph = field(repr=False, compare=False)

    @cached_property
    def schema(self) -> Mapping[str, tuple[Row, ...]]:
        """What follows about classes and properties themselves: rows of rdfs:subClassOf,
        rdfs:domain and the like. It is found when it is asked for.
        """
        return implied(self.graph)

    @property
    def left_out(self) -> tuple[ReportRow, ...]:
        """The axioms of which something was left out."""
        return tuple(row for row in self.report if row.why)

    def applicable(self, given: Collection[str]) -> tuple[TranslatedRule, ...]:
        """The rules that can apply if, besides the ontology's own, only `given` have facts."""
        found = applicable([rule.rule for rule in self.rules], {*given, *self.facts})
        names = {rule.name for rule in found}
        return tuple(rule for rule in self.rules if rule.name in names)

    def text(self, rules: Sequence[TranslatedRule] | None = None) -> str:
        """All rules, or some of them, as a text with the prefixes that they use."""
        rules = self.rules if rules is None else rules
        used = {prefix for each in rules for prefix, _ in each.rule.prefixes}
        declared = [f"@prefix {p}: <{iri}> .\n" for p, iri in self.prefixes.items() if p in used]
        return "".join([*declared, *(f"{rule}\n" for rule in rules)])

    def written(self) -> MadeRules:
        """The rules and facts for a rule set: `update.replace_rules` takes them."""
        rules = tuple(replace(each.rule, name=each.name) for each in self.rules)
        facts = tuple(
            Atom(name, tuple(Constant(_type_of(value), value) for value in row))
            for name, rows in self.facts.items()
            for row in rows
        )
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(file.read_bytes())
        program = Program(rules, facts, prefixes=tuple(self.prefixes.items()))
        return MadeRules(
            program, ", ".join(map(str, self.files)), digest.hexdigest(), self._remarks
        )

    @property
    def _remarks(self) -> tuple[str, ...]:
        """What is to be said of what was left out."""
        found = [f"not among the files, and so not imported: {iri}" for iri in self.imports]
        if left := len(self.left_out):
            axioms = "1 axiom has" if left == 1 else f"{left} axioms have"
            found.append(f"{axioms} no rule, or not all: zodiac ontology --report tells which")
        return tuple(found)


def _type_of(value: object) -> Type:
    """The type of a constant; symbols are texts."""
    for class_, type_ in _TYPES:
        if isinstance(value, class_):
            return type_
    return Type.SYMBOL


_TYPES: tuple[tuple[type, Type], ...] = (
    (bool, Type.BOOL),
    (int, Type.INT),
    (Decimal, Type.DECIMAL),
    (float, Type.FLOAT),
    (datetime.datetime, Type.TIMESTAMP),
    (datetime.date, Type.DATE),
)
