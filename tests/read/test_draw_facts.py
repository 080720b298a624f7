"""Drawings with predicates and numbers of facts, and before and after a change as one graph."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from support.drawings import SVG, groups, overlap

from zodiac_sql.read.drawing.layout import Box
from zodiac_sql.read.drawing.panel import COLOURS, RULE_COLOURS

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.read.drawing.draw import Drawing

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
@prefix w: <http://wind.example/with/a/long/namespace#> .
n1: near(X, Y) :- near(Y, X).
n2: near(X, Y) :- near(X, Z), near(Z, Y).
usual: w:usual(X, M) :- AGGREGATE(near(X, Y), temp(Y, T)) ON X WITH MED(T) AS M.
anom: anomaly(X) :- w:usual(X, M), temp(X, T), not maintenance(X), T > M.
odd: odd(Y) :- even(X), next(X, Y).
even: even(Y) :- odd(X), next(X, Y).
wave: wave(X) :- anomaly(X), near(X, Y), anomaly(Y).
broken: broken(X) :- anomaly(X), not wave(X).
never: !- anomaly(X), maintenance(X).
"""


def filled(kb: KnowledgeBase) -> KnowledgeBase:
    with kb.update() as update:
        update.add_rules(RULES)
        update.insert("near", [("a", "b"), ("b", "c")])
        update.insert("temp", [("a", 40.0), ("b", 20.0), ("c", 21.0)])
        update.insert("even", [(0,)])
        update.insert("next", [(i, i + 1) for i in range(9)])
        update.insert("unread", [(1,)])
    return kb


def lines(drawing: Drawing, kind: str) -> dict[str | None, list[str | None]]:
    """The texts in boxes of a kind."""
    found = groups(ET.fromstring(drawing.svg()), kind)
    return {g.get("id"): [text.text for text in g.findall(f".//{SVG}g/{SVG}text")] for g in found}


def test_boxes_have_predicates_with_their_numbers(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        drawing = filled(kb).graph()
        shown = {text for texts in lines(drawing, "hypernode").values() for text in texts}
        rows = {name: row["rows"] for row in kb.hypernodes().to_pylist() for name in row["derives"]}
        assert {f"near {rows['near']}", "odd 5", "even 4"} <= shown
        assert any(text.startswith("w:usual ") for text in shown if text)
        assert not any(":-" in str(text) for text in shown) and "never" in shown
        explicit = lines(drawing, "explicit").values()
        assert ["even 1", "next 9"] in explicit and ["temp 3"] in explicit
        assert ["maintenance 0"] in explicit and "unread" not in str(explicit)
        titles = [t.text for t in ET.fromstring(drawing.svg()).iter(f"{SVG}title")]
        assert any("near(X, Y) :- near(Y, X)" in str(title) for title in titles)
        assert "explicit facts → " in str(titles)
        for form in (drawing.mermaid(), drawing.dot()):
            assert "odd 5" in form and "explicit" in form and "n2" not in form.split("tooltip")[0]
        whole = kb.graph(rules=True)
        assert "n2: near" in whole.svg() and "explicit" not in whole.svg()


def test_many_inputs_of_the_same_readers_share_a_box(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("\n".join(f"p(X) :- q{i}(X), p(X)." for i in range(30)))
        drawing = kb.graph()
        (texts,) = lines(drawing, "explicit").values()
        assert len(texts) == 13 and texts[-1] == "… and 18 more"


def test_a_change_is_one_graph(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        with kb.preview(check=False) as preview:
            preview.drop_rules("even", "broken")
            preview.add_rules(
                "warm: warm(X) :- temp(X, T), T > 30. fire: fire(X) :- warm(X), anomaly(X)."
            )
            preview.insert("temp", [("d", 90.0)])
        drawing = kb.graph(preview.change)
        shown = {str(text) for texts in lines(drawing, "hypernode").values() for text in texts}
        assert {"+ warm +2", "- even", "- broken", "odd -4"} <= shown
        assert ["temp +1"] in lines(drawing, "explicit").values()
        assert ["even", "next"] in lines(drawing, "explicit").values()
        root = ET.fromstring(drawing.svg())
        assert not groups(root, "panel") and float(root.attrib["width"]) < 1200
        colours = {
            kind: RULE_COLOURS[kind[-1]] for kind in ("positive +", "positive -", "negative -")
        }
        for kind, colour in colours.items():
            assert {g.get("stroke") for g in groups(root, kind)} == {colour}
        assert groups(root, "positive same") and not groups(root, "positive")
        assert not set(COLOURS.values()) & {g.get("stroke") for g in groups(root, "positive same")}
        text = " ".join(root.itertext())
        assert "what came: predicates and edges" in text and "dropped: has no rules left" in text
        beside = kb.graph(preview.change, rules=True)
        assert len(groups(ET.fromstring(beside.svg()), "panel")) == 2
        assert str(drawing) == str(beside) and str(drawing).startswith("before")


PREDICATES = "pqrst"


def random_rules(rng: random.Random, count: int) -> str:
    """Rules in which negated predicates come before those of the head."""

    def rule(number: int) -> str:
        head = rng.randrange(len(PREDICATES))
        body = [f"e{rng.randrange(3)}(X)"]
        body += [f"{PREDICATES[rng.randrange(head + 1)]}(X)" for _ in range(rng.randrange(3))]
        if head:
            body += [f"not {PREDICATES[rng.randrange(head)]}(X)"] * rng.randrange(2)
        if rng.random() < 0.3:
            body.append(f"{PREDICATES[rng.randrange(len(PREDICATES))]}(X)")
        return f"r{number}: {PREDICATES[head]}(X) :- {', '.join(body)}."

    return "\n".join(rule(number) for number in range(count))


@pytest.mark.parametrize("seed", range(40))
def test_any_change_of_rules_can_be_drawn(open_kb: OpenKb, seed: int) -> None:
    """Boxes do not overlap; edges lead downwards; all hypernodes and edges after it are there."""
    from zodiac_sql.errors import ProgramError

    rng = random.Random(seed)
    with open_kb() as kb:
        kb.insert("e0", [(1,), (2,)])
        for _ in range(20):
            try:
                kb.replace_rules(random_rules(rng, rng.randrange(2, 9)), set="s")
                with kb.preview() as preview:
                    preview.replace_rules(random_rules(rng, rng.randrange(9)), set="s")
            except ProgramError:  # not stratified
                continue
            break
        else:
            pytest.skip("no program is stratified")
        drawing = kb.graph(preview.change)
        root = ET.fromstring(drawing.svg())
        after, before = preview.change.after, preview.change.before
        boxes = {}
        for group in (*groups(root, "hypernode"), *groups(root, "explicit")):
            place = group.find(f"{SVG}rect")
            assert place is not None
            boxes[group.get("id")] = Box(
                *(float(place.attrib[name]) for name in ("x", "y", "width", "height"))
            )
        assert not any(overlap(a, b) for a, b in combinations(boxes.values(), 2))
        wanted = {h.name for h in (*before.hypernodes, *after.hypernodes)}
        assert {name for name in boxes if str(name).startswith("h")} == wanted
        edges = re.findall(r"(\w+) -> (\w+) \[style=(\w+)", drawing.dot())
        kinds = ((after.positive, "solid"), (after.negative, "dashed"))
        assert {(f"h{a}", f"h{b}", style) for pairs, style in kinds for a, b in pairs} <= {*edges}
        for source, target, _ in edges:
            assert boxes[source].y + boxes[source].height < boxes[target].y
        assert drawing.mermaid().count("linkStyle") == len(edges)
        assert drawing.svg() == kb.graph(preview.change).svg()
