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
from zodiac_sql.names import is_constraint
from zodiac_sql.read.drawing.contents import Contents, Input, Line
from zodiac_sql.read.drawing.layout import Edge
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow

CHARACTERS_SHOWN = 60  # longer texts are cut
POSITIVE, NEGATIVE = "positive", "negative"
# Okabe and Ito's blue and vermilion: they differ for colour-blind people, and in grey.
COLOURS = {POSITIVE: "#0072b2", NEGATIVE: "#c44e00"}
LEGEND = {POSITIVE: "positive edge", NEGATIVE: "negative edge (negation or aggregate)"}
BANDS = ("#eef2f6", "#f6f2e9")

SAME = "same"
"""Said of an edge of a change that was there before, and is there after it."""

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
FATE_LEGEND = {GONE: "what went: predicates and edges", NEW: "what came: predicates and edges"}


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of parts of a graph by a change: SAME, GONE or NEW."""

    edges: Mapping[tuple[int, int, str], str] = field(default_factory=dict)
    """By their ends and kind."""
    predicates: Mapping[tuple[int, str], str] = field(default_factory=dict)
    """By their hypernodes: only those that came or went."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph, and how it differs from another one beside it.

    `name` is empty if there is no other graph. `single` are the rules, by name and text, that only
    this graph has, and `sign`, GONE or NEW, is shown with them. `modules` are the ones at work in
    hypernodes, by the number of the hypernode. With `contents`, boxes have predicates, not rules.
    A panel that shows two graphs in one knows the `fates` of their parts (merged.py).
    """

    graph: Hypergraph
    name: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    single: frozenset[tuple[str, str]] = frozenset()
    sign: str = ""
    modules: AtWork = field(default_factory=dict)
    contents: Contents | None = None
    fates: Fates | None = None

    @property
    def inputs(self) -> list[Input]:
        """The boxes of explicit facts."""
        return self.contents.inputs(self.graph) if self.contents else []

    def input_lines(self, box: Input) -> list[Line]:
        """The lines of a box of explicit facts."""
        assert self.contents is not None
        lines = self.contents.lines_of(box)
        return [Line(_cut(printable(line.text)), line.full) for line in lines]

    @property
    def signs(self) -> list[str]:
        """The signs that are shown, of rules, predicates or edges."""
        shown = {self.sign} if self.single else set()
        if self.fates:
            shown = {*self.fates.edges.values(), *self.fates.predicates.values()}
        return [sign for sign in RULE_LEGEND if sign in shown]

    def called(self, number: int) -> str:
        """What a box is called in words."""
        return f"h{number}" if number > 0 else "explicit facts"

    def node(self, number: int) -> str:
        """The name of a box in the drawing."""
        return self.id(f"h{number}" if number > 0 else f"explicit_{-number}")

    def id(self, part: str) -> str:
        """A name for a part of the drawing that no other panel uses."""
        return f"{self.name}_{part}" if self.name else part

    def edges(self) -> list[Edge]:
        """All edges in the order of the hypernodes, positive ones first."""
        inputs = self.inputs
        place = {h.id: index for index, h in enumerate(self.graph.hypernodes)}
        place |= {box.id: box.id for box in inputs}
        positive = {*self.graph.positive, *((b.id, n) for b in inputs for n in b.positive)}
        negative = {*self.graph.negative, *((b.id, n) for b in inputs for n in b.negative)}
        return [
            Edge(source, target, self._kind(source, target, kind))
            for kind, pairs in ((POSITIVE, positive), (NEGATIVE, negative))
            for source, target in sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
        ]

    def _kind(self, source: int, target: int, kind: str) -> str:
        """The kind of an edge, and what became of it."""
        return f"{kind} {self.fates.edges[source, target, kind]}" if self.fates else kind

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

    def _sign_of(self, rule: Rule) -> str:
        """The sign of a rule that only this graph has, else nothing."""
        return self.sign if (rule.name, rule.text) in self.single else ""

    def named(self, rule: Rule) -> str:
        """The rule's name after its sign."""
        return " ".join(filter(None, (self._sign_of(rule), printable(rule.name))))

    def _shown(self, rule: Rule) -> str:
        """The rule on one line, cut if it is long."""
        return f"{self.named(rule)}: {_cut(printable(on_one_line(rule.text)))}"

    def _tree(self, rule: Rule, hypernode: Hypernode) -> str:
        """The hypertree that a rule is evaluated by, on one line, or nothing."""
        for row in self.modules.get(hypernode.id, ()):
            if isinstance(row, StoredTree) and row.rule == rule.name:
                return _cut("by nodes " + printable(row.shown))
        return ""

    def lines(self, hypernode: Hypernode) -> Iterator[Line]:
        """The lines of a hypernode: its predicates, or each rule, and the hypertree that this is
        evaluated by.
        """
        if self.contents is not None:
            yield from self._predicates(hypernode, self.contents)
            return
        for rule in hypernode.rules:
            sign, full = self._sign_of(rule), printable(str(rule))
            yield Line(self._shown(rule), full, sign)
            if tree := self._tree(rule, hypernode):
                yield Line(f"    {tree}", full, sign)

    def _predicates(self, hypernode: Hypernode, contents: Contents) -> Iterator[Line]:
        """What a hypernode derives. The rules are said in full."""
        for name in hypernode.derives:
            rules = [rule for rule in hypernode.rules if rule.head.predicate == name]
            sign = self.fates.predicates.get((hypernode.id, name), "") if self.fates else ""
            number = contents.derived.get((hypernode.id, name), "") if sign != GONE else ""
            text = contents.shown(name, number)
            if is_constraint(name):
                text = ", ".join(rule.name for rule in rules)
            shown = _cut(" ".join(filter(None, (sign, printable(text)))))
            yield Line(shown, "\n".join(printable(str(rule)) for rule in rules), sign)

    def shown_all(self, hypernode: Hypernode) -> list[str]:
        """The lines in a hypernode's box: its title, and its rules or predicates."""
        return [self.title(hypernode), *(line.text for line in self.lines(hypernode))]


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


def colour_of(kind: str) -> str:
    """The colour of an edge: by its kind, or in a change by what became of it."""
    plain, _, fate = kind.partition(" ")
    return {SAME: "#888888", **RULE_COLOURS}[fate] if fate else COLOURS[plain]


def is_negative(kind: str) -> bool:
    """Whether an edge is drawn dashed."""
    return kind.startswith(NEGATIVE)


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
