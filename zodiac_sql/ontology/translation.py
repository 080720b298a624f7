"""What an ontology becomes: rules, facts, and a report of what became of each axiom."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zodiac_sql.language.syntax import Rule
from zodiac_sql.ontology.applicable import applicable

Row = tuple[str | int | float | bool | datetime.date | datetime.datetime, ...]
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


@dataclass(frozen=True, slots=True)
class Translation:
    """The rules and facts of an ontology.

    `facts` has the rows of each predicate; `schema` has what follows about classes and properties
    themselves, as rows of rdfs:subClassOf, rdfs:domain and the like. `imports` are the ontologies
    that are imported and were not among the files.
    """

    files: tuple[Path, ...]
    profile: str
    rules: tuple[TranslatedRule, ...]
    facts: Mapping[str, tuple[Row, ...]]
    schema: Mapping[str, tuple[Row, ...]]
    report: tuple[ReportRow, ...]
    prefixes: Mapping[str, str]
    imports: tuple[str, ...]

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
