"""Drawings of the HRDG: what a person must be able to see, in each format."""

from __future__ import annotations

import random
import re
import time
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode, hypergraph
from zodiac_sql.language.syntax import Atom, Literal, Negation, Rule, Variable
from zodiac_sql.read.drawing.draw import Before, Drawing
from zodiac_sql.read.drawing.layout import Box, Edge, Layout, layout
from zodiac_sql.read.drawing.panel import COLOURS, MARKS
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow

SVG = "{http://www.w3.org/2000/svg}"


def atom(text: str) -> Atom:
    """`p(X, Y)`."""
    predicate, terms = text.rstrip(")").split("(")
    return Atom(predicate, tuple(Variable(name.strip()) for name in terms.split(",")))


def rule(name: str, head: str, *body: str) -> Rule:
    """A rule of atoms; those that begin with `not ` are negated."""
    literals: list[Literal] = []
    for text in body:
        bare = atom(text.removeprefix("not "))
        literals.append(Negation(bare) if text.startswith("not ") else bare)
    return Rule(name, atom(head), tuple(literals), f"{head} :- {' ∧ '.join(body)}")


FIGURE_1 = (
    rule("r1", "p1(X,Y)", "p0(X,Y)"),
    rule("r2", "p2(X,Z)", "p1(X,Y)", "p3(Y,Z)"),
    rule("r3", "p3(X,Y)", "p4(X,Y)"),
    rule("r4", "p4(X,Y)", "p2(X,Y)"),
    rule("r5", "p5(X,Y)", "p6(Y,Z)", "not p2(X,Z)"),
    rule("r6", "p6(X,Y)", "p5(X,Y)"),
    rule("r7", "p7(X,Z)", "p3(X,Y)", "p5(Y,Z)"),
)


@pytest.fixture
def figure_1() -> Drawing:
    return Drawing(hypergraph(FIGURE_1, {}, 1))


def chain(count: int) -> Drawing:
    """Hypernodes that each read some earlier ones, now and then under a negation."""
    chance = random.Random(1)
    rules = []
    for i in range(count):
        sources = sorted(chance.sample(range(i), min(i, chance.randrange(4))))
        body = [f"{chance.choice(('', '', '', 'not '))}p{j}(X)" for j in sources]
        rules.append(rule(f"r{i}", f"p{i}(X)", "base(X)", *body))
    return Drawing(hypergraph(rules, {}, 1))


def with_text(text: str, name: str = "r1") -> Drawing:
    """One hypernode with one rule that reads as given."""
    return Drawing(hypergraph([Rule(name, atom("p(X)"), (atom("q(X)"),), text)], {}, 1))


def tree(drawing: Drawing) -> ET.Element:
    return ET.fromstring(drawing.svg())


def groups(root: ET.Element, name: str) -> list[ET.Element]:
    return root.findall(f".//{SVG}g[@class='{name}']")


def overlap(a: Box, b: Box) -> bool:
    across = a.x < b.x + b.width and b.x < a.x + a.width
    return across and a.y < b.y + b.height and b.y < a.y + a.height


# Text


def test_text(figure_1: Drawing) -> None:
    assert str(figure_1).splitlines() == [
        "h1  stratum 0             r1  derives p1",
        "h2  stratum 0  recursive  r2, r3, r4  derives p2, p3, p4  <- h1",
        "h3  stratum 1  recursive  r5, r6  derives p5, p6  <- not h2",
        "h4  stratum 1             r7  derives p7  <- h2, h3",
    ]


def test_text_of_one_line_has_no_gaps() -> None:
    assert str(with_text("p(X) :- q(X) .")) == "h1  stratum 0  r1  derives p"


# Mermaid and DOT


def test_mermaid(figure_1: Drawing) -> None:
    assert figure_1.mermaid() == (
        """\
---
title: "solid: positive edge, dashed: negative edge (negation or aggregate)"
config:
  flowchart:
    wrappingWidth: 800
---
flowchart TB
    subgraph stratum_0["stratum 0"]
        direction TB
        h1["h1<br/>r1: p1(X,Y) :- p0(X,Y)"]
        h2["h2 recursive<br/>r2: p2(X,Z) :- p1(X,Y) ∧ p3(Y,Z)<br/>"""
        """r3: p3(X,Y) :- p4(X,Y)<br/>r4: p4(X,Y) :- p2(X,Y)"]
    end
    subgraph stratum_1["stratum 1"]
        direction TB
        h3["h3 recursive<br/>r5: p5(X,Y) :- p6(Y,Z) ∧ not p2(X,Z)<br/>r6: p6(X,Y) :- p5(X,Y)"]
        h4["h4<br/>r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z)"]
    end
    h1 --> h2
    linkStyle 0 stroke:#0072b2
    h2 --> h4
    linkStyle 1 stroke:#0072b2
    h3 --> h4
    linkStyle 2 stroke:#0072b2
    h2 -.-> h3
    linkStyle 3 stroke:#c44e00
    classDef default text-align:left,font-family:monospace
"""
    )


def test_dot() -> None:
    negated = rule("r8", "p8(X)", "p3(X,Y)", "not p1(X,Y)")
    drawing = Drawing(hypergraph([FIGURE_1[0], FIGURE_1[2], negated], {}, 1))
    expected = r"""
digraph hrdg {
    label="solid: positive edge, dashed: negative edge (negation or aggregate)"
    fontname="Helvetica"
    node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=11]
    subgraph cluster_stratum_0 {
        label="stratum 0"; style=filled; color="#eef2f6"
        h1 [label="h1\lr1: p1(X,Y) :- p0(X,Y)\l", tooltip="r1: p1(X,Y) :- p0(X,Y)"]
        h2 [label="h2\lr3: p3(X,Y) :- p4(X,Y)\l", tooltip="r3: p3(X,Y) :- p4(X,Y)"]
    }
    subgraph cluster_stratum_1 {
        label="stratum 1"; style=filled; color="#f6f2e9"
        h3 [label="h3\lr8: p8(X) :- p3(X,Y) ∧ not p1(X,Y)\l", TOOLTIP]
    }
    h2 -> h3 [style=solid, color="#0072b2"]
    h1 -> h3 [style=dashed, color="#c44e00"]
}
"""
    tooltip = 'tooltip="r8: p8(X) :- p3(X,Y) ∧ not p1(X,Y)"'
    assert drawing.dot() == expected.lstrip().replace("TOOLTIP", tooltip)


# SVG


def test_svg_shows_every_rule_in_its_hypernode(figure_1: Drawing) -> None:
    found = {
        group.get("id"): [text.text for text in group.findall(f".//{SVG}g/{SVG}text")]
        for group in groups(tree(figure_1), "hypernode")
    }
    assert found == {h.name: [str(r) for r in h.rules] for h in figure_1.graph.hypernodes}


def test_svg_marks_recursive_hypernodes(figure_1: Drawing) -> None:
    marked = {
        group.get("id")
        for group in groups(tree(figure_1), "hypernode")
        if "recursive" in [text.text for text in group.findall(f"{SVG}text")]
    }
    assert marked == {"h2", "h3"}


def test_svg_tells_negative_edges_from_positive_ones(figure_1: Drawing) -> None:
    root = tree(figure_1)
    for kind in ("positive", "negative"):
        assert groups(root, kind)
        for group in groups(root, kind):
            line = group.findall(f"{SVG}path")[0]
            assert ("stroke-dasharray" in line.attrib) == (kind == "negative")
            assert group.get("stroke") == COLOURS[kind]
    titles = [group.findtext(f"{SVG}title") for group in groups(root, "negative")]
    assert titles == ["h2 → h3 (negative)"]
    text = " ".join(root.itertext())
    assert "positive edge" in text and "negative edge (negation or aggregate)" in text


def test_svg_groups_strata_in_bands_that_hold_their_boxes(figure_1: Drawing) -> None:
    root = tree(figure_1)
    bands = [
        (float(r.attrib["y"]), float(r.attrib["y"]) + float(r.attrib["height"]))
        for r in root.findall(f".//{SVG}rect[@class='stratum']")
    ]
    assert len(bands) == 2 and bands[0][1] < bands[1][0]
    boxes = {g.get("id"): g.find(f"{SVG}rect") for g in groups(root, "hypernode")}
    for h in figure_1.graph.hypernodes:
        box, (top, bottom) = boxes[h.name], bands[h.stratum]
        assert box is not None
        y, height = float(box.attrib["y"]), float(box.attrib["height"])
        assert top < y and y + height < bottom


def test_svg_needs_nothing_from_outside(figure_1: Drawing) -> None:
    svg = figure_1.svg()
    assert not re.search(r"<script|href|@import|url\(|<image", svg)
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]


# Layout


def random_layout(seed: int) -> tuple[Layout, list[Edge], dict[int, int]]:
    chance = random.Random(seed)
    count = chance.randrange(1, 60)
    strata = dict(enumerate(sorted(chance.randrange(3) for _ in range(count))))
    sizes = {i: (chance.uniform(60, 500), chance.uniform(40, 200)) for i in range(count)}
    pairs = [sorted(chance.sample(range(count), 2)) for _ in range(count if count > 1 else 0)]
    kinds = ("positive", "negative")
    edges = list(dict.fromkeys(Edge(a, b, chance.choice(kinds)) for a, b in pairs))
    return layout(sizes, strata, edges), edges, strata


@pytest.mark.parametrize("seed", range(30))
def test_boxes_never_overlap_and_stay_on_the_page(seed: int) -> None:
    plan, _, _ = random_layout(seed)
    assert not any(overlap(a, b) for a, b in combinations(plan.boxes.values(), 2))
    for box in plan.boxes.values():
        assert box.x >= -1e-6 and box.x + box.width <= plan.width + 1e-6
        assert box.y >= 0 and box.y + box.height <= plan.height


@pytest.mark.parametrize("seed", range(30))
def test_lines_point_downwards_and_pass_no_box(seed: int) -> None:
    plan, _, _ = random_layout(seed)
    for link in plan.links:
        assert link.y0 - 1e-6 <= link.leave < link.arrive <= link.y1 + 1e-6
        across = min(link.x0, link.x1), max(link.x0, link.x1)
        parts = (
            (link.x0, link.x0, link.y0, link.leave),
            (*across, link.leave, link.arrive),
            (link.x1, link.x1, link.arrive, link.y1),
        )
        for left, right, top, bottom in parts:
            line = Box(left, top + 1e-6, right - left, bottom - top - 2e-6)
            assert line.height < 0 or not any(overlap(line, box) for box in plan.boxes.values())


@pytest.mark.parametrize("seed", range(30))
def test_every_edge_runs_from_its_box_to_its_box(seed: int) -> None:
    plan, edges, _ = random_layout(seed)
    for edge in edges:
        source, target = plan.boxes[edge.source], plan.boxes[edge.target]
        pieces = [link for link in plan.links if edge in link.edges]
        pieces.sort(key=lambda link: link.y0)
        assert pieces[0].y0 == pytest.approx(source.y + source.height)
        assert source.x < pieces[0].x0 < source.x + source.width
        for upper, lower in pairwise(pieces):
            assert (upper.x1, upper.y1) == pytest.approx((lower.x0, lower.y0))
        assert pieces[-1].last and pieces[-1].y1 == pytest.approx(target.y)
        assert target.x < pieces[-1].x1 < target.x + target.width


@pytest.mark.parametrize("seed", range(30))
def test_bands_of_strata_do_not_mix(seed: int) -> None:
    plan, _, strata = random_layout(seed)
    bands = [plan.bands[stratum] for stratum in sorted(plan.bands)]
    assert all(a[1] < b[0] for a, b in pairwise(bands))
    for box, stratum in strata.items():
        top, bottom = plan.bands[stratum]
        assert top < plan.boxes[box].y and plan.boxes[box].y + plan.boxes[box].height < bottom


def test_lines_cross_only_where_they_must() -> None:
    """Two chains, given interleaved, come out side by side."""
    edges = [Edge(0, 3, "positive"), Edge(1, 2, "positive")]
    plan = layout(dict.fromkeys(range(4), (80, 40)), dict.fromkeys(range(4), 0), edges)
    assert plan.boxes[0].x == pytest.approx(plan.boxes[3].x)
    assert plan.boxes[1].x == pytest.approx(plan.boxes[2].x)


def test_a_wide_layer_becomes_several_rows() -> None:
    plan = layout(dict.fromkeys(range(40), (300, 40)), dict.fromkeys(range(40), 0), [])
    assert plan.width < 3000
    assert len({box.y for box in plan.boxes.values()}) > 1


# Any graph, any text


@pytest.mark.parametrize("count", [1, 2, 30])
def test_same_graph_same_bytes(count: int) -> None:
    first, second = chain(count), chain(count)
    for form in ("svg", "mermaid", "dot", "__str__"):
        assert getattr(first, form)() == getattr(second, form)()


def test_empty_graph_says_so() -> None:
    drawing = Drawing(Hypergraph())
    assert "no rules" in "".join(tree(drawing).itertext())
    assert 'empty["no rules"]' in drawing.mermaid()
    assert 'label="no rules"' in drawing.dot()
    assert str(drawing) == "no rules"


def test_a_hundred_hypernodes_in_a_second() -> None:
    drawing = chain(100)
    start = time.perf_counter()
    root = tree(drawing)
    assert time.perf_counter() - start < 1
    assert len(groups(root, "hypernode")) == 100


def test_long_rules_are_cut_and_kept_whole_in_the_tooltip() -> None:
    text = "p(X) :- " + "q(X), " * 40 + "q(X) ."
    entry = groups(tree(with_text(text)), "rule")[0]
    shown = entry.findtext(f"{SVG}text", "")
    assert shown.endswith("…") and len(shown) <= len("r1: ") + 60
    assert entry.findtext(f"{SVG}title") == f"r1: {text}"
    assert text not in with_text(text).mermaid()


NASTY = 'p("a]|b", \'c\') :-\n\tq(<iri>, {X}, "\\n&amp;#35;`*_*"), ∧ 漢\x00\x1b ]]> --> %% .'


def test_svg_escapes_rule_text() -> None:
    shown = groups(tree(with_text(NASTY)), "rule")[0].findtext(f"{SVG}title")
    assert shown == (
        'r1: p("a]|b", \'c\') :- q(<iri>, {X}, "\\n&amp;#35;`*_*"), ∧ 漢\ufffd\ufffd ]]> --> %% .'
    )


def test_mermaid_escapes_rule_text() -> None:
    (line,) = (x for x in with_text(NASTY).mermaid().splitlines() if "h1[" in x)
    inside = line.removeprefix('        h1["h1<br/>r1: ').removesuffix('"]')
    assert not set(inside) & set('"[]|<>{}`*_&\\%')
    read = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), inside)
    assert NASTY.split("\n")[0] in read and "{X}" in read


def test_mermaid_text_with_a_web_address_or_a_keyword_stays_text() -> None:
    text = with_text("style(X) :- ex:style_a(X), <http://www.w3.org/x>(X), classDef(X) .").mermaid()
    (line,) = (x for x in text.splitlines() if "h1[" in x)
    assert not re.search(r"style|classDef|://|www\.", line)


def test_dot_escapes_rule_text() -> None:
    dot = with_text(NASTY).dot()
    assert r"p(\"a]|b\", 'c') :- q(<iri>, {X}, \"\\n&amp;amp;#35;`*_*\")" in dot
    for line in dot.splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0


def test_names_with_line_breaks_stay_on_a_line() -> None:
    assert str(with_text("p(X) :- q(X) .", name="a\nb")) == "h1  stratum 0  a b  derives p"


# Files and notebooks


def test_save_takes_the_format_from_the_suffix(figure_1: Drawing, tmp_path: Path) -> None:
    forms = {".svg": figure_1.svg(), ".mmd": figure_1.mermaid(), ".dot": figure_1.dot()}
    for suffix, expected in forms.items():
        path = tmp_path / f"hrdg{suffix}"
        figure_1.save(path)
        assert path.read_text(encoding="utf-8") == expected
    figure_1.save(str(tmp_path / "HRDG.SVG"))


def test_save_names_the_suffixes_it_knows(figure_1: Drawing, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=r"hrdg\.png.*\.svg, \.mmd or \.dot"):
        figure_1.save(tmp_path / "hrdg.png")
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_svg(figure_1: Drawing) -> None:
    assert figure_1._repr_svg_() == figure_1.svg()


# Before and after a change


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


# Modules


IRI = "http://example.org/rel#path"


def module(kind: str, predicate: str) -> ModuleRow:
    return ModuleRow(kind, predicate, fed=False, parted=False, unequal=False, covers=False)


def closed(predicate: str = IRI, written: str = "ex:path") -> Drawing:
    """Rules that read `near`, which is symmetric and transitive, and a transitive predicate."""
    near = (
        rule("r1", "near(X,Y)", "near(Y,X)"),
        rule("r2", "near(X,Z)", "near(X,Y)", "near(Y,Z)"),
    )
    ends = atom("p(X,Z)").terms, atom("p(X,Y)").terms, atom("p(Y,Z)").terms
    head, first, second = (Atom(predicate, terms) for terms in ends)
    text = f"{written}(X,Z) :- {written}(X,Y) ∧ {written}(Y,Z)"
    far = rule("r4", "far(X)", "near(X,Y)")
    graph = hypergraph([*near, Rule("r3", head, (first, second), text), far], {}, 1)
    return Drawing(graph, modules={1: (module("stc", "near"),), 2: (module("tc", predicate),)})


def tags(root: ET.Element) -> dict[str | None, list[tuple[str | None, str | None]]]:
    """What stands in the headings of hypernodes about modules, and its tooltips."""
    found = {}
    for group in groups(root, "hypernode"):
        entries = group.findall(f"{SVG}g[@class='modules']")
        if entries:
            texts = [(e.findtext(f"{SVG}text"), e.findtext(f"{SVG}title")) for e in entries]
            found[group.get("id")] = texts
    return found


def test_text_tells_the_modules_at_work() -> None:
    assert str(closed()).splitlines() == [
        "h1  stratum 0  recursive  r1, r2  derives near  modules stc(near)",
        f"h2  stratum 0  recursive  r3  derives {IRI}  modules tc({IRI})",
        "h3  stratum 0             r4  derives far  <- h1",
    ]


def test_a_box_tells_the_modules_at_work_by_names_as_in_the_rules() -> None:
    drawing = closed()
    mermaid, dot = drawing.mermaid(), drawing.dot()
    assert 'h1["h1 recursive stc(near)<br/>r1: near(X,Y) :- near(Y,X)<br/>' in mermaid
    assert 'h2["h2 recursive tc(ex:path)<br/>r3: ex:path(X,Z) :- ' in mermaid
    assert 'h3["h3<br/>r4: ' in mermaid
    assert r'h1 [label="h1 recursive stc(near)\lr1: near(X,Y) :- near(Y,X)\l' in dot
    assert r'h2 [label="h2 recursive tc(ex:path)\lr3: ex:path(X,Z) :- ' in dot
    assert r'h3 [label="h3\lr4: ' in dot
    assert tags(tree(drawing)) == {
        "h1": [("stc(near)", "stc(near)")],
        "h2": [("tc(ex:path)", f"tc({IRI})")],
    }
    bracketed = closed("http://e/a(b)", "<http://e/a(b)>")
    assert tags(tree(bracketed))["h2"] == [("tc(<http://e/a(b)>)", "tc(http://e/a(b))")]


def test_modules_with_long_names_are_cut_and_kept_whole_in_the_tooltip() -> None:
    name = "way_" * 30
    root = tree(closed(name, name))
    ((shown, whole),) = tags(root)["h2"]
    assert shown is not None and shown.endswith("…") and len(shown) == 60
    assert whole == f"tc({name})"


def test_a_heading_has_room_for_several_modules() -> None:
    """For `recursive` beside them, too; a character of 12 pixels takes at most 7.3."""
    graph = closed("q", "q").graph
    several = tuple(module("tc", f"p{i}") for i in range(9))
    drawing = Drawing(graph, Before(graph), {3: "updated"}, {3: several})
    assert "h3 updated tc(p0), tc(p1), " in drawing.dot()
    (group,) = (g for g in groups(tree(drawing), "hypernode") if g.get("id") == "after_h3")
    box = group.find(f"{SVG}rect")
    tag = group.find(f"{SVG}g[@class='modules']/{SVG}text")
    assert box is not None and tag is not None
    left, right = float(tag.attrib["x"]) - 7.3 * len(tag.text or ""), float(tag.attrib["x"])
    assert left > float(box.attrib["x"]) + 7.3 * len("h3 updated")
    assert right < float(box.attrib["x"]) + float(box.attrib["width"])


def test_modules_before_and_after_a_change() -> None:
    graph = Hypergraph(closed().graph.hypernodes[:1])
    was, comes = (module("stc", "near"),), (module("tc", "near"),)
    drawing = Drawing(graph, Before(graph, {1: "changed"}, {1: was}), {1: "changed"}, {1: comes})
    line = "  h1  stratum 0  recursive  changed  r1, r2  derives near  modules {}".format
    assert str(drawing).splitlines() == [
        "before", line("stc(near)"), "", "after", line("tc(near)"),
    ]  # fmt: skip
    assert '"h1 changed recursive stc(near)<br/>' in drawing.mermaid()
    assert '"h1 changed recursive tc(near)<br/>' in drawing.mermaid()
    found = tags(tree(drawing))
    assert found["before_h1"] == [("stc(near)", "stc(near)")]
    assert found["after_h1"] == [("tc(near)", "tc(near)")]
