"""Drawings of the HRDG as SVG, and where its boxes and lines are."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise

import pytest
from support.drawings import SVG, groups, overlap, tree

from zodiac_sql.read.drawing.draw import Drawing
from zodiac_sql.read.drawing.layout import Box, BoxLayout, Edge, layout
from zodiac_sql.read.drawing.panel import COLOURS

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


def random_layout(seed: int) -> tuple[BoxLayout, list[Edge], dict[int, int]]:
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
