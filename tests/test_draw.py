"""Drawings of the HRDG: what a person must be able to see, in each format."""

from __future__ import annotations

import random
import re
import time
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from zodiac_sql.draw import COLOURS, Drawing
from zodiac_sql.errors import QueryError
from zodiac_sql.hypernodes import Hypergraph, hypergraph
from zodiac_sql.layout import Box, Edge, Layout, layout
from zodiac_sql.rules import Atom, Literal, Negation, Rule, Variable

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
