"""One graph of a drawing, with the words, texts and colours that all formats share.

A drawing of an HRDG has one panel; a drawing of a change has two, before and after.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from zodiac_sql.change.change import AtWork
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.language.written import on_one_line
from zodiac_sql.read.drawing.layout import Edge
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow

CHARACTERS_SHOWN = 60  # longer texts are cut
POSITIVE, NEGATIVE = "positive", "negative"
# Okabe and Ito's blue and vermilion: they differ for colour-blind people, and in grey.
COLOURS = {POSITIVE: "#0072b2", NEGATIVE: "#c44e00"}
LEGEND = {POSITIVE: "positive edge", NEGATIVE: "negative edge (negation or aggregate)"}
BANDS = ("#eef2f6", "#f6f2e9")

# What became of a hypernode, or where it comes from: word, colour of its border, explanation.
# Okabe and Ito's colours again; the word always stands beside the colour.
MARKS = {
    "created": ("#009e73", "all its rules are new"),
    "dropped": ("#c44e00", "has no rules left"),
    "merged": ("#cc79a7", "several became one"),
    "split": ("#0072b2", "one became several"),
    "changed": ("#e69f00", "rules came or went"),
    "updated": ("#56b4e9", "same rules, other facts, as its inputs changed"),
}
GONE, NEW = "-", "+"
# These colours are dark enough for text on white.
RULE_COLOURS = {GONE: "#c44e00", NEW: "#007a5a"}
RULE_LEGEND = {GONE: "a rule that went", NEW: "a rule that came"}


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph, and how it differs from another one beside it.

    `name` is empty if there is no other graph. `single` are the rules, by name and text, that only
    this graph has, and `sign`, GONE or NEW, is shown with them. `modules` are the ones at work in
    hypernodes, by the number of the hypernode.
    """

    graph: Hypergraph
    name: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    single: frozenset[tuple[str, str]] = frozenset()
    sign: str = ""
    modules: AtWork = field(default_factory=dict)

    def id(self, part: str) -> str:
        """A name for a part of the drawing that no other panel uses."""
        return f"{self.name}_{part}" if self.name else part

    def edges(self) -> list[Edge]:
        """All edges in the order of the hypernodes, positive ones first."""
        place = {h.id: index for index, h in enumerate(self.graph.hypernodes)}
        kinds = ((POSITIVE, self.graph.positive), (NEGATIVE, self.graph.negative))
        return [
            Edge(source, target, kind)
            for kind, pairs in kinds
            for source, target in sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
        ]

    def strata(self) -> Iterator[tuple[int, list[Hypernode]]]:
        """Each stratum with its hypernodes in order."""
        ordered = sorted(self.graph.hypernodes, key=lambda h: h.stratum)
        for stratum, hypernodes in groupby(ordered, key=lambda h: h.stratum):
            yield stratum, list(hypernodes)

    def mark(self, hypernode: Hypernode) -> str:
        """The word for a hypernode, or nothing."""
        return self.marks.get(hypernode.id, "")

    def title(self, hypernode: Hypernode) -> str:
        """The first line of a hypernode."""
        recursive = "recursive" if hypernode.recursive else ""
        parts = (hypernode.name, self.mark(hypernode), recursive, self.tag(hypernode))
        return " ".join(filter(None, parts))

    def at_work(self, hypernode: Hypernode) -> str:
        """The modules and trees at work in a hypernode, with full names, or nothing."""
        return ", ".join(printable(str(row)) for row in self.modules.get(hypernode.id, ()))

    def tag(self, hypernode: Hypernode) -> str:
        """The modules and trees at work, with names as the rules write them, cut if long."""
        rows = self.modules.get(hypernode.id, ())
        return _cut(", ".join(_label(row, hypernode) for row in rows))

    def sign_of(self, rule: Rule) -> str:
        """The sign of a rule that only this graph has, else nothing."""
        return self.sign if (rule.name, rule.text) in self.single else ""

    def named(self, rule: Rule) -> str:
        """The rule's name after its sign."""
        return " ".join(filter(None, (self.sign_of(rule), printable(rule.name))))

    def shown(self, rule: Rule) -> str:
        """The rule on one line, cut if it is long."""
        return f"{self.named(rule)}: {_cut(printable(on_one_line(rule.text)))}"

    def tree(self, rule: Rule, hypernode: Hypernode) -> str:
        """The hypertree that a rule is evaluated by, on one line, or nothing."""
        for row in self.modules.get(hypernode.id, ()):
            if isinstance(row, StoredTree) and row.rule == rule.name:
                return _cut("by nodes " + printable(row.shown))
        return ""

    def lines(self, hypernode: Hypernode) -> Iterator[tuple[Rule, str]]:
        """The lines of a hypernode's rules: each rule, and the hypertree it is evaluated by."""
        for rule in hypernode.rules:
            yield rule, self.shown(rule)
            if tree := self.tree(rule, hypernode):
                yield rule, f"    {tree}"

    def shown_all(self, hypernode: Hypernode) -> list[str]:
        """The lines in a hypernode's box: its title and its rules."""
        return [self.title(hypernode), *(line for _, line in self.lines(hypernode))]


def compared(old: Panel, new: Panel) -> tuple[Panel, Panel]:
    """The panels before and after a change, with the rules that went and those that came."""
    there, here = _rules(old.graph), _rules(new.graph)
    return (
        replace(old, name="before", single=there - here, sign=GONE),
        replace(new, name="after", single=here - there, sign=NEW),
    )


def _rules(graph: Hypergraph) -> frozenset[tuple[str, str]]:
    """The rules by name and text, not by hypernode: a rule may move to another hypernode."""
    return frozenset((rule.name, rule.text) for h in graph.hypernodes for rule in h.rules)


def used_marks(panels: Iterable[Panel]) -> list[str]:
    """The words of MARKS that at least one panel shows."""
    used = {panel.mark(h) for panel in panels for h in panel.graph.hypernodes}
    return [word for word in MARKS if word in used]


def printable(text: str) -> str:
    """The text on one line, without characters that XML or a terminal cannot hold."""
    line = " ".join(text.split())
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", line)


def _cut(text: str) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= CHARACTERS_SHOWN else text[: CHARACTERS_SHOWN - 1].rstrip() + "…"


def _label(row: ModuleRow | StoredTree, hypernode: Hypernode) -> str:
    if isinstance(row, StoredTree):
        return printable(str(row))
    return f"{row.kind}({_written(row.predicate, hypernode)})"


def _written(predicate: str, hypernode: Hypernode) -> str:
    """A predicate as the first rule for it writes it: `ex:near` or `<iri>` for an IRI."""
    texts = (rule.text for rule in hypernode.rules if rule.head.predicate == predicate)
    found = re.match(r"\s*(<[^>]*>|[^\s(]+)", next(texts, ""))
    return printable(found[1] if found else predicate)


def cells(text: str) -> int:
    """Width in monospace characters; East Asian ones are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def band(stratum: int) -> str:
    """The colour behind a stratum."""
    return BANDS[stratum % len(BANDS)]
