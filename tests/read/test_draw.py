"""Drawings of the HRDG as text, Mermaid, DOT and files: what a person must be able to see."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from support.drawings import FIGURE_1, NASTY, SVG, chain, groups, rule, tree, with_text

from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.read.drawing.draw import Drawing

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
