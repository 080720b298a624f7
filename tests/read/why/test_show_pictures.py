"""Explanations as SVG, Mermaid, DOT and HTML."""

from __future__ import annotations

import random
import re
import time
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.drawings import SVG, groups, overlap
from support.explanations import (
    NASTY,
    absent,
    chain,
    fact,
    nasty,
    proof,
    several,
    step,
    wide,
    wind_farm,
)

from zodiac_sql.errors import QueryError
from zodiac_sql.read.drawing.layout import Box
from zodiac_sql.read.why.proof import Explanation, Step
from zodiac_sql.read.why.show_boxes import picture
from zodiac_sql.read.why.show_parts import rounded


def tangle(seed: int, facts: int, cycles: bool = False) -> Explanation:
    """Facts that rest on any others before them; with cycles, also on any after them."""
    chance = random.Random(seed)
    derivations = {}
    for number in range(1, facts):
        last = facts - 1 if cycles else number - 1
        derivations[fact("p", number)] = tuple(
            step("r: p(X) :- others.", *(fact("p", chance.randint(0, last)) for _ in range(4)))
            for _ in range(2 if cycles else 1)
        )
    explicit = frozenset({fact("p", 0)})
    return Explanation((fact("p", facts - 1),), derivations, explicit, every=cycles)


NOTHING = Explanation((), {}, frozenset())
ALL = {
    "chain": chain(3),
    "deep": chain(1000),
    "wide": wide(1000),
    "wind farm": wind_farm(),
    "several": several(),
    "tangle": tangle(1, 300),
    "cycles": tangle(2, 300, cycles=True),
    "nasty": nasty(),
    "long": nasty("x" * 10_000),
    "nothing": NOTHING,
}
every = pytest.mark.parametrize("explanation", ALL.values(), ids=ALL)


def svg(explanation: Explanation) -> ET.Element:
    return ET.fromstring(explanation.svg())


def lines(group: ET.Element) -> list[str | None]:
    return [text.text for text in group.findall(f"{SVG}text")]


# Boxes and arrows, wherever they stand


@every
def test_boxes_come_after_those_with_arrows_to_them(explanation: Explanation) -> None:
    drawn = picture(explanation)
    assert [box.id for box in drawn.boxes] == list(range(1, len(drawn.boxes) + 1))
    assert all(0 < arrow.source < arrow.target <= len(drawn.boxes) for arrow in drawn.arrows)
    assert len(set(drawn.arrows)) == len(drawn.arrows)
    assert len(drawn.boxes) < 150
    named = [box.lines for box in drawn.boxes if box.kind in ("explicit", "derived")]
    assert len(named) == len(set(named))


def test_every_fact_and_step_of_a_small_explanation_is_drawn() -> None:
    explanation = tangle(3, 20)
    drawn = picture(explanation)
    facts = list(explanation.facts())
    kinds = [box.kind for box in drawn.boxes]
    assert kinds.count("derived") == kinds.count("rule") == len(facts) - 1
    assert kinds.count("explicit") == 1 and "aside" not in kinds


def test_cycles_are_cut() -> None:
    drawn = picture(several())
    shown = {box.id: box for box in drawn.boxes}
    (again,) = [box for box in drawn.boxes if "a cycle: this fact has a box below" in box.lines]
    assert again.kind == "aside" and again.lines[0] == "near(a, b)"
    (goal,) = [box for box in drawn.boxes if box.goal]
    assert goal.lines == ("near(a, b)", "explicit, too")
    into = [shown[arrow.source].lines[0] for arrow in drawn.arrows if arrow.target == goal.id]
    assert [text.split(":")[0] for text in into] == [
        "r1",
        "r2",
        "r3",
        "… there are more derivations",
    ]


def test_fact_that_rests_on_itself() -> None:
    goal = fact("p", 1)
    alone = Explanation((goal,), {goal: (step("r: p(X) :- p(X).", goal),)}, frozenset())
    assert [box.kind for box in picture(alone).boxes] == ["aside", "rule", "derived"]


def test_what_is_not_drawn_is_counted() -> None:
    def asides(explanation: Explanation) -> list[str]:
        return [box.lines[-1] for box in picture(explanation).boxes if box.kind == "aside"]

    assert asides(wide(1000)) == ["… 988 more facts"]
    assert asides(chain(1000)) == ["… rests on more than 200 facts that are not drawn"]
    goal = fact("p")
    none = tuple(absent("q", number) for number in range(20))
    assert asides(proof(goal, {goal: step("r: p().", absent=none)})) == ["… 8 more absent"]
    many = tuple(Step("rule", f"r{number}", "p().", ()) for number in range(20))
    assert asides(Explanation((goal,), {goal: many}, frozenset())) == ["… 8 more derivations"]
    goals = tuple(fact("p", number) for number in range(20))
    assert asides(Explanation(goals, {}, frozenset(goals))) == ["… 8 more goals"]


# SVG


def test_svg_of_a_small_explanation() -> None:
    root = svg(wind_farm())
    assert [lines(group) for group in groups(root, "derived")] == [
        ["usual(wt2, 11.5)"],
        ["anomaly(wt2)"],
    ]
    assert [lines(group) for group in groups(root, "explicit")] == [["hasTemperature(wt2, 24.5)"]]
    assert [lines(group) for group in groups(root, "absent")] == [["not maintenance(wt2, _)"]]
    assert [lines(group) for group in groups(root, "rule")] == [
        [
            "r4: usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y,",
            "T)) ON X WITH MED(T) AS M.",
            "M = 11.5 = med(T) of 4 solutions with X = wt2",
            "· near(wt2, wt1), hasTemperature(wt1, 11.0)",
            "· near(wt2, wt3), hasTemperature(wt3, 12.0)",
            "… 2 more",
        ],
        [
            "r5: anomaly(X) :- usual(X, M), hasTemperature(X, T), not",
            "maintenance(X, _), BIND(abs(T - M) AS D), D > 5.",
            "D = abs((24.5 - 11.5)) = 13.0",
            "13.0 > 5",
        ],
    ]
    assert len(groups(root, "positive")) == 4 and len(groups(root, "negative")) == 1
    assert root.findtext(f"{SVG}title") == "Why anomaly(wt2)"
    legend = " ".join(root.itertext())
    assert "explicit fact" in legend and "must be absent, and is" in legend
    assert "not drawn here" not in legend


def test_svg_dashes_what_is_absent() -> None:
    root = svg(wind_farm())
    for kind in ("absent", "explicit", "derived", "rule"):
        for group in groups(root, kind):
            (rect,) = group.findall(f"{SVG}rect")
            assert ("stroke-dasharray" in rect.attrib) == (kind == "absent")
    (line,) = groups(root, "negative")
    assert "stroke-dasharray" in line.findall(f"{SVG}path")[0].attrib


@every
def test_svg_has_boxes_that_stand_apart_on_the_page(explanation: Explanation) -> None:
    root = svg(explanation)
    rects = [
        Box(*(float(rect.attrib[name]) for name in ("x", "y", "width", "height")))
        for rect in root.findall(f".//{SVG}g/{SVG}rect")
    ]
    assert not any(overlap(a, b) for a, b in combinations(rects, 2))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(box.x + box.width < width and box.y + box.height < height for box in rects)


def test_svg_points_downwards_to_the_goal() -> None:
    root = svg(chain(3))
    tops = {
        group.findtext(f"{SVG}text"): float(rect.attrib["y"])
        for kind in ("explicit", "derived")
        for group in groups(root, kind)
        for rect in group.findall(f"{SVG}rect")
    }
    assert tops["link(0, 1)"] < tops["path(0, 1)"] < tops["path(0, 2)"] < tops["path(0, 3)"]


# Mermaid and DOT


def test_mermaid() -> None:
    assert wind_farm().mermaid() == (
        """\
---
title: "solid: facts that a rule uses, dashed: facts that must be absent, and are"
config:
  flowchart:
    wrappingWidth: 800
---
flowchart TB
    b1("r4: usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y,<br/>"""
        """T)) ON X WITH MED(T) AS M.<br/>M = 11.5 = med(T) of 4 solutions with X = wt2<br/>"""
        """#183; near(wt2, wt1), hasTemperature(wt1, 11.0)<br/>"""
        """#183; near(wt2, wt3), hasTemperature(wt3, 12.0)<br/>… 2 more"):::rule
    b2["usual(wt2, 11.5)"]:::derived
    b3["hasTemperature(wt2, 24.5)"]:::explicit
    b4["not maintenance(wt2, #95;)"]:::absent
    b5("r5: anomaly(X) :- usual(X, M), hasTemperature(X, T), not<br/>"""
        """maintenance(X, #95;), BIND(abs(T - M) AS D), D #62; 5.<br/>"""
        """D = abs((24.5 - 11.5)) = 13.0<br/>13.0 #62; 5"):::rule
    b6["anomaly(wt2)"]:::derived
    b1 --> b2
    linkStyle 0 stroke:#0072b2
    b2 --> b5
    linkStyle 1 stroke:#0072b2
    b3 --> b5
    linkStyle 2 stroke:#0072b2
    b4 -.-> b5
    linkStyle 3 stroke:#c44e00
    b5 --> b6
    linkStyle 4 stroke:#0072b2
    classDef default text-align:left,font-family:monospace
    classDef explicit fill:#eef2f6,stroke:#333333
    classDef derived fill:#ffffff,stroke:#333333
    classDef rule fill:#f6f2e9,stroke:#999999
    classDef absent fill:#ffffff,stroke:#c44e00,stroke-dasharray:6 4
    classDef goal stroke-width:3px
    class b6 goal
"""
    )


def test_dot() -> None:
    goal, link = fact("near", "a", "b"), fact("link", "a", 'b"')
    only = step("r1: near(X, Y) :- link(X, Y), not off(X).", link, absent=(absent("off", "a"),))
    expected = r"""
digraph why {
    label="solid: facts that a rule uses, dashed: facts that must be absent, and are"
    fontname="Helvetica"
    node [shape=box, fontname=monospace, fontsize=11]
    b1 [label="link(a, \"b\\\"\")\l", TOOLTIP1, FILLED, fillcolor="#eef2f6", color="#333333"]
    b2 [label="not off(a)\l", TOOLTIP2, DASHED, fillcolor="#ffffff", color="#c44e00"]
    b3 [label="r1: RULE\l", tooltip="r1: RULE", ROUNDED, fillcolor="#f6f2e9", color="#999999"]
    b4 [label="near(a, b)\l", TOOLTIP4, FILLED, fillcolor="#ffffff", color="#333333", penwidth=3]
    b1 -> b3 [style=solid, color="#0072b2"]
    b2 -> b3 [style=dashed, color="#c44e00"]
    b3 -> b4 [style=solid, color="#0072b2"]
}
"""
    words = {
        "TOOLTIP1": r'tooltip="link(a, \"b\\\"\")"',
        "TOOLTIP2": 'tooltip="not off(a)"',
        "TOOLTIP4": 'tooltip="near(a, b)"',
        "RULE": "near(X, Y) :- link(X, Y), not off(X).",
        "FILLED": 'style="filled"',
        "DASHED": 'style="filled,dashed"',
        "ROUNDED": 'style="filled,rounded"',
    }
    for word, text in words.items():
        expected = expected.replace(word, text)
    assert proof(goal, {goal: only}).dot() == expected.lstrip()


# HTML


class Reader(HTMLParser):
    """Checks that every element is closed, and keeps the texts and the deepest nesting."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.names: set[str] = set()
        self.deepest = 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.names.add(tag)
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("form", ["svg", "mermaid", "dot"])
def test_what_was_asked_for_is_never_cut(form: str) -> None:
    """Other facts are drawn on a few lines, and say that there is more."""
    asked, other = fact("p", "a" * 500, "the_end"), fact("q", "b" * 500)
    explanation = proof(asked, {asked: step("r: p(X) :- q(X).", other)})
    shown = getattr(explanation, form)()
    drawn = [box for box in picture(explanation).boxes if box.goal]
    assert "".join(drawn[0].lines).replace(" ", "") == str(asked).replace(" ", "")
    assert max(map(len, drawn[0].lines)) <= 60 and drawn[0].lines[-1] in shown.replace("#95;", "_")
    (box,) = (one for one in picture(explanation).boxes if one.lines[0].startswith("q("))
    assert len(box.lines) <= 5 and "…" in "".join(box.lines)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("p(15.300000000000004)", "p(15.3)"),
        ("-0.30000000000000004 < 1", "-0.3 < 1"),
        ("p(1.0, 0.1, 3.0e-11, 12345.678)", "p(1.0, 0.1, 3.0e-11, 12345.678)"),
        ("X = 15.300000000000004e-7 * 2", "X = 1.53e-06 * 2"),
        ('p("15.300000000000004")', 'p("15.300000000000004")'),
        ("<http://e/15.300000000000004>", "<http://e/15.300000000000004>"),
        ("v15.300000000000004", "v15.300000000000004"),
        ("24.000000000000004 > 24", "24.000000000000004 > 24"),
        ("24.000000000000004 > 23.5", "24.0 > 23.5"),
        ("24.000000000000004 >= 24.0", "24.0 >= 24.0"),
    ],
)
def test_floats_are_drawn_without_the_digits_of_chance(text: str, drawn: str) -> None:
    assert rounded(text) == drawn


def test_html_folds_what_has_something_below() -> None:
    shown = wind_farm()._repr_html_()
    texts = [text.strip() for text in Reader(shown).texts if text.strip()]
    rule = "by r5: anomaly(X) :- usual(X, M), hasTemperature(X, T), not maintenance(X, _), "
    assert texts == [
        "anomaly(wt2)",
        f"{rule}BIND(abs(T - M) AS D), D > 5.",
        "usual(wt2, 11.5)",
        "by r4: usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y, T)) ON X WITH MED(T) AS M.",
        "M = 11.5 = med(T) of 4 solutions with X = wt2",
        "near(wt2, wt1), hasTemperature(wt1, 11.0)",
        "near(wt2, wt3), hasTemperature(wt3, 12.0)",
        "… 2 more",
        "hasTemperature(wt2, 24.5)",
        "explicit",
        "not maintenance(wt2, _)",
        "absent",
        "D = abs((24.5 - 11.5)) = 13.0",
        "13.0 > 5",
        "D > 5",
    ]
    assert re.findall(r"<summary>([^<]*)</summary>", shown) == [texts[0], texts[2], texts[4]]
    assert "<details open>" in shown and Reader(shown).deepest == 3


@every
def test_html_is_well_formed_and_has_only_its_own_elements(explanation: Explanation) -> None:
    read = Reader(explanation._repr_html_())
    assert read.names <= {"div", "details", "summary", "span"} and read.deepest <= 65


def test_html_is_folded_below_the_first_levels() -> None:
    shown = chain(10)._repr_html_()
    assert shown.count("<details open>") == 3 and shown.count("<details>") == 7


# All forms


@every
@pytest.mark.parametrize("form", ["svg", "mermaid", "dot", "_repr_html_", "__str__", "json"])
def test_same_explanation_same_bytes_soon(explanation: Explanation, form: str) -> None:
    start = time.process_time()
    first = getattr(explanation, form)()
    assert time.process_time() - start < 2
    assert getattr(explanation, form)() == first
    assert form == "json" or len(first) < 300_000


def test_nothing() -> None:
    assert "nothing to explain" in "".join(svg(NOTHING).itertext())
    assert 'b0["nothing to explain"]' in NOTHING.mermaid()
    assert 'label="nothing to explain"' in NOTHING.dot()
    assert "nothing to explain" in NOTHING._repr_html_()


def test_nasty_texts_stay_texts() -> None:
    explanation = nasty()
    assert "<script>" in "".join(svg(explanation).itertext())
    assert NASTY[-12:] in "".join(Reader(explanation._repr_html_()).texts)
    (labels, *_) = re.findall(r'"(.*)"\]:::', explanation.mermaid())
    assert not re.search('[<>`"*]', labels.replace("<br/>", ""))
    for line in explanation.dot().splitlines()[4:-1]:
        assert re.fullmatch(r' +b\d+ (-> b\d+ )?\[(\w+=("([^"\\]|\\.)*"|\w+)(, )?)+\]', line)
    for form in (explanation.svg(), explanation.mermaid(), explanation.dot()):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", form)


@pytest.mark.parametrize("suffix", ["svg", "mmd", "dot", "json"])
def test_saved_in_the_format_of_the_suffix(suffix: str, tmp_path: Path) -> None:
    explanation, path = several(), tmp_path / f"why.{suffix.upper()}"
    explanation.save(path)
    form = {"mmd": "mermaid"}.get(suffix, suffix)
    assert path.read_bytes().decode() == getattr(explanation, form)()


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=r"the suffix must be \.svg, \.mmd, \.dot or \.json"):
        several().save(tmp_path / "why.png")
    assert not list(tmp_path.iterdir())
