"""Drawings of an HRDG with modules at work."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from support.drawings import SVG, atom, groups, rule, tree

from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.language.syntax import Atom, Rule
from zodiac_sql.read.drawing.draw import Before, Drawing
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow

IRI = "http://example.org/rel#path"


def module(kind: str, predicate: str) -> ModuleRow:
    return ModuleRow(
        kind=kind, predicate=predicate, fed=False, parted=False, unequal=False, covers=False
    )


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
