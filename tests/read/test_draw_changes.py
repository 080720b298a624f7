"""Drawings of the HRDG before and after a change."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.drawings import FIGURE_1, NASTY, SVG, chain, groups, overlap, rule, tree, with_text

from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode, hypergraph
from zodiac_sql.language.syntax import Rule
from zodiac_sql.read.drawing.draw import Before, Drawing
from zodiac_sql.read.drawing.layout import Box
from zodiac_sql.read.drawing.panel import COLOURS, MARKS


def numbered(rules: list[Rule], numbers: dict[str, int]) -> Hypergraph:
    """The HRDG of rules, its hypernodes numbered by the names of their first rules."""
    graph = hypergraph(rules, {}, 1)
    ids = {h.id: numbers[h.rules[0].name] for h in graph.hypernodes}
    return Hypergraph(
        tuple(Hypernode(ids[h.id], h.rules, h.recursive, h.stratum) for h in graph.hypernodes),
        frozenset((ids[a], ids[b]) for a, b in graph.positive),
        frozenset((ids[a], ids[b]) for a, b in graph.negative),
    )


@pytest.fixture
def split() -> Drawing:
    """Figure 3 of the paper: Figure 1 with r8, before and after r4 is dropped."""
    rules = [*FIGURE_1, rule("r8", "p2(X, Z)", "p3(X, Y)", "p2(Y, Z)")]
    before = numbered(rules, {"r1": 1, "r2": 2, "r5": 3, "r7": 4})
    numbers = {"r1": 1, "r2": 2, "r3": 5, "r8": 6, "r5": 3, "r7": 4}
    after = numbered([r for r in rules if r.name != "r4"], numbers)
    parts = dict.fromkeys((2, 5, 6), "split")
    return Drawing(after, Before(before, {2: "split"}), parts | {3: "updated", 4: "updated"})


@pytest.fixture
def small() -> Drawing:
    """One hypernode goes, another comes, a third one stays."""
    before = numbered([FIGURE_1[0], FIGURE_1[2]], {"r1": 1, "r3": 2})
    after = numbered([FIGURE_1[0], FIGURE_1[6]], {"r1": 1, "r7": 3})
    return Drawing(after, Before(before, {2: "dropped"}), {3: "created"})


def marked_chains(before: int, after: int) -> Drawing:
    """Two graphs in which every mark occurs, if they are large enough."""

    def marks(graph: Hypergraph) -> dict[int, str]:
        return {h.id: word for h, word in zip(graph.hypernodes, [*MARKS, *MARKS], strict=False)}

    old, new = chain(before).graph, chain(after).graph
    return Drawing(new, Before(old, marks(old)), marks(new))


def shapes(
    element: ET.Element, x: float = 0, y: float = 0
) -> list[tuple[ET.Element, float, float]]:
    """All elements below this one, each with the place of its origin on the page."""
    found = []
    for child in element:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", child.get("transform", ""))
        left, top = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        found += [(child, left, top), *shapes(child, left, top)]
    return found


def placed(element: ET.Element, x: float = 0, y: float = 0) -> list[Box]:
    """The rectangles below an element, with their borders."""
    boxes = []
    for shape, left, top in shapes(element, x, y):
        if shape.tag == f"{SVG}rect" and "x" in shape.attrib:
            names = ("x", "y", "width", "height")
            dx, dy, width, height = (float(shape.attrib[name]) for name in names)
            border = float(shape.get("stroke-width", "1")) if "stroke" in shape.attrib else 0.0
            corner = left + dx - border / 2, top + dy - border / 2
            boxes.append(Box(*corner, width + border, height + border))
    return boxes


def panels(root: ET.Element) -> dict[str | None, list[Box]]:
    """The rectangles of each panel."""
    return {
        group.get("id"): placed(group, x, y)
        for group, x, y in shapes(root)
        if group.get("class") == "panel"
    }


def legend(root: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root[-1].iter(f"{SVG}text")]


def test_text_of_a_change(split: Drawing) -> None:
    assert str(split).splitlines() == [
        "before",
        "  h1  stratum 0                      r1  derives p1",
        "  h2  stratum 0  recursive  split    r2, r3, - r4, r8  derives p2, p3, p4  <- h1",
        "  h3  stratum 1  recursive           r5, r6  derives p5, p6  <- not h2",
        "  h4  stratum 1                      r7  derives p7  <- h2, h3",
        "",
        "after",
        "  h1  stratum 0                      r1  derives p1",
        "  h5  stratum 0             split    r3  derives p3",
        "  h2  stratum 0             split    r2  derives p2  <- h1, h5",
        "  h6  stratum 0  recursive  split    r8  derives p2  <- h5, h2",
        "  h3  stratum 1  recursive  updated  r5, r6  derives p5, p6  <- not h2, not h6",
        "  h4  stratum 1             updated  r7  derives p7  <- h5, h3",
    ]


def test_a_rule_with_another_text_went_and_came() -> None:
    old, new = with_text("p(X) :- q(X) ."), with_text("p(X) :- q(X), r(X) .")
    drawing = Drawing(new.graph, Before(old.graph, {1: "changed"}), {1: "changed"})
    line = "  h1  stratum 0  changed  {} r1  derives p".format
    assert str(drawing).splitlines() == ["before", line("-"), "", "after", line("+")]


def test_a_rule_that_moved_to_another_hypernode_has_no_sign(split: Drawing) -> None:
    for form in (split.svg(), split.mermaid(), split.dot(), str(split)):
        assert len(re.findall(r"(?:-|#45;) r\d", form)) == 1
        assert not re.search(r"(?:\+|#43;) r\d", form)


def test_mermaid_of_a_change(small: Drawing) -> None:
    expected = """\
---
title: "solid: positive edge, dashed: negative edge (negation or aggregate)"
config:
  flowchart:
    wrappingWidth: 800
---
flowchart LR
    subgraph before["before"]
        direction TB
        subgraph before_stratum_0["stratum 0"]
            direction TB
            before_h1["h1<br/>r1: p1(X,Y) :- p0(X,Y)"]
            before_h2["h2 dropped<br/>#45; r3: p3(X,Y) :- p4(X,Y)"]:::dropped
        end
    end
    subgraph after["after"]
        direction TB
        subgraph after_stratum_0["stratum 0"]
            direction TB
            after_h1["h1<br/>r1: p1(X,Y) :- p0(X,Y)"]
            after_h3["h3 created<br/>#43; r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z)"]:::created
        end
    end
    before ~~~ after
    classDef default text-align:left,font-family:monospace
    classDef created stroke:#009e73,stroke-width:4px
    classDef dropped stroke:#c44e00,stroke-width:4px
"""
    assert small.mermaid() == expected


def test_mermaid_colours_the_edges_of_both_panels(split: Drawing) -> None:
    lines = split.mermaid().splitlines()
    edges = [i for i, line in enumerate(lines) if re.search(r" -->| -\.->", line)]
    assert len(edges) == 12
    for number, index in enumerate(edges):
        kind = "positive" if "-->" in lines[index] else "negative"
        assert len(set(re.findall(r"(before|after)_h", lines[index]))) == 1
        assert lines[index + 1] == f"    linkStyle {number} stroke:{COLOURS[kind]}"
    assert lines.index("    before ~~~ after") > edges[-1]  # it counts as an edge


def test_dot_of_a_change(small: Drawing) -> None:
    expected = r"""
digraph hrdg {
    label="solid: positive edge, dashed: negative edge (negation or aggregate)"
    fontname="Helvetica"
    node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=11]
    subgraph cluster_before {
        label="before"
        subgraph cluster_before_stratum_0 {
            label="stratum 0"; style=filled; color="#eef2f6"
            before_h1 [label="h1\lr1: p1(X,Y) :- p0(X,Y)\l", tooltip="r1: p1(X,Y) :- p0(X,Y)"]
            before_h2 [label="h2 dropped\l- r3: p3(X,Y) :- p4(X,Y)\l", DROPPED]
        }
    }
    subgraph cluster_after {
        label="after"
        subgraph cluster_after_stratum_0 {
            label="stratum 0"; style=filled; color="#eef2f6"
            after_h1 [label="h1\lr1: p1(X,Y) :- p0(X,Y)\l", tooltip="r1: p1(X,Y) :- p0(X,Y)"]
            after_h3 [label="h3 created\l+ r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z)\l", CREATED]
        }
    }
}
"""
    dropped = 'tooltip="r3: p3(X,Y) :- p4(X,Y)", color="#c44e00", penwidth=4'
    created = 'tooltip="r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z)", color="#009e73", penwidth=4'
    expected = expected.lstrip().replace("DROPPED", dropped).replace("CREATED", created)
    assert small.dot() == expected


def test_names_of_the_two_panels_do_not_clash(split: Drawing) -> None:
    mermaid = re.findall(r"^ *(?:subgraph )?(\w+)\[", split.mermaid(), re.MULTILINE)
    dot = re.findall(r"^ *(?:subgraph )?(\w+) (?:\[label|\{)", split.dot(), re.MULTILINE)
    svg = [e.get("id") for e in tree(split).iter() if "id" in e.attrib]
    assert len(mermaid) == len(dot) == 2 + 4 + 4 + 6 and len(svg) == 2 + 4 + 6
    for names in (mermaid, dot, svg):
        assert len(set(names)) == len(names)
    ends = re.findall(r"(\w+) -> (\w+)", split.dot())
    assert {name for pair in ends for name in pair} <= set(dot)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 20), (20, 1), (12, 30), (0, 5), (5, 0), (0, 0)])
def test_svg_panels_stand_side_by_side_above_the_legend(sizes: tuple[int, int]) -> None:
    root = tree(marked_chains(*sizes))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = panels(root)
    assert list(boxes) == ["before", "after"]
    right = max((box.x + box.width for box in boxes["before"]), default=0)
    assert right < min((box.x for box in boxes["after"]), default=width)
    ends = (box.y + box.height for box in (*boxes["before"], *boxes["after"]))
    bottom = max(ends, default=0)
    places = shapes(root)
    start = next(index for index, place in enumerate(places) if place[0] is root[-1])
    texts = [place for place in places[start:] if place[0].tag == f"{SVG}text"]
    assert len(texts) >= 2
    for text, x, y in texts:
        assert bottom < y + float(text.attrib["y"]) - 8
        assert y + float(text.attrib["y"]) < height - 4
        # A character of 12 pixels takes less than 6.5 on average.
        assert x + float(text.attrib["x"]) + 6.5 * len(text.text or "") < width


@pytest.mark.parametrize("sizes", [(1, 1), (12, 30), (5, 0)])
def test_svg_of_a_change_stays_on_the_page_and_nothing_overlaps(sizes: tuple[int, int]) -> None:
    root = tree(marked_chains(*sizes))
    page = Box(0, 0, float(root.attrib["width"]), float(root.attrib["height"]))
    for box in placed(root):
        assert box.x >= 0 and box.x + box.width <= page.width
        assert box.y >= 0 and box.y + box.height <= page.height
    hypernodes = [
        box
        for group, x, y in shapes(root)
        if group.get("class") == "hypernode"
        for box in placed(group, x, y)
    ]
    assert len(hypernodes) == sum(sizes)
    assert not any(overlap(a, b) for a, b in combinations(hypernodes, 2))


def test_svg_marks_hypernodes_by_word_colour_and_border() -> None:
    drawing = marked_chains(15, 15)
    found = {group.get("id"): group for group in groups(tree(drawing), "hypernode")}
    assert drawing.before is not None
    for name, marks in (("before", drawing.before.marks), ("after", drawing.marks)):
        for h in drawing.graph.hypernodes:
            group = found[f"{name}_{h.name}"]
            border, word = group.find(f"{SVG}rect"), marks.get(h.id)
            assert border is not None
            if word is None:
                assert group.findtext(f"{SVG}text") == h.name
                assert border.get("stroke") == "#333333" and "stroke-width" not in border.attrib
            else:
                assert group.findtext(f"{SVG}text") == f"{h.name} {word}"
                assert border.get("stroke") == MARKS[word][0]
                assert border.get("stroke-width") == "4"
    assert len({colour for colour, _ in MARKS.values()}) == len(MARKS)


def test_svg_strikes_out_rules_that_went(small: Drawing) -> None:
    texts = [entry.find(f"{SVG}text") for entry in groups(tree(small), "rule")]
    assert [(t.text, t.get("text-decoration")) for t in texts if t is not None] == [
        ("r1: p1(X,Y) :- p0(X,Y)", None),
        ("- r3: p3(X,Y) :- p4(X,Y)", "line-through"),
        ("r1: p1(X,Y) :- p0(X,Y)", None),
        ("+ r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z)", None),
    ]
    assert len({t.get("fill") for t in texts if t is not None}) == 3


def test_svg_explains_the_marks_in_use_and_no_others(split: Drawing, small: Drawing) -> None:
    edges = ["positive edge", "negative edge (negation or aggregate)"]
    assert legend(tree(split)) == [
        *edges,
        "split: one became several",
        "updated: same rules, other facts, as its inputs changed",
        "- a rule that went",
    ]
    assert legend(tree(small)) == [
        *edges,
        "created: all its rules are new",
        "dropped: has no rules left",
        "- a rule that went",
        "+ a rule that came",
    ]


def test_svg_of_a_change_names_its_panels_and_strata(split: Drawing) -> None:
    for group, name in zip(groups(tree(split), "panel"), ("before", "after"), strict=True):
        texts = [text.text for text in group.findall(f"{SVG}text")]
        assert texts == [name, "stratum 0", "stratum 1"]


def test_a_panel_without_rules_says_so(small: Drawing) -> None:
    first = Drawing(small.graph, Before(Hypergraph()))
    assert str(first).startswith("before\n  no rules\n\nafter\n  h1 ")
    assert 'before_empty["no rules"]' in first.mermaid()
    assert 'before_empty [label="no rules", shape=plaintext]' in first.dot()
    before, after = groups(tree(first), "panel")
    assert "no rules" in "".join(before.itertext())
    assert "no rules" not in "".join(after.itertext())
    assert str(Drawing(Hypergraph(), Before(Hypergraph()))).count("no rules") == 2


def test_same_change_same_bytes() -> None:
    first, second = marked_chains(12, 30), marked_chains(12, 30)
    for form in ("svg", "mermaid", "dot", "__str__"):
        assert getattr(first, form)() == getattr(second, form)()


def test_marks_in_another_order_same_bytes(split: Drawing) -> None:
    turned = Drawing(split.graph, split.before, dict(reversed(list(split.marks.items()))))
    assert (turned.svg(), turned.mermaid()) == (split.svg(), split.mermaid())


def test_without_a_graph_before_nothing_is_marked(figure_1: Drawing) -> None:
    marked = Drawing(figure_1.graph, marks={1: "created"})
    for form in ("svg", "mermaid", "dot", "__str__"):
        assert getattr(marked, form)() == getattr(figure_1, form)()


def test_a_change_escapes_rule_text() -> None:
    graph = with_text(NASTY).graph
    drawing = Drawing(Hypergraph(), Before(graph, {1: "dropped"}))
    shown = groups(tree(drawing), "rule")[0].findtext(f"{SVG}text", "")
    assert shown.startswith('- r1: p("a]|b", \'c\') :- q(<iri>, {X}, "\\n&amp;#35;`*_*")')
    (line,) = (x for x in drawing.mermaid().splitlines() if "before_h1[" in x)
    inside = line.strip().removeprefix('before_h1["h1 dropped<br/>').removesuffix('"]:::dropped')
    assert inside.startswith("#45; r1: p(#34;a")
    assert not set(inside) & set('"[]|<>{}`*_&\\%')
    for line in drawing.dot().splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0


def test_save_of_a_change(split: Drawing, tmp_path: Path) -> None:
    split.save(tmp_path / "change.svg")
    assert (tmp_path / "change.svg").read_text(encoding="utf-8") == split.svg()
