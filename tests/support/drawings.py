"""Rules to draw, and how a drawing is taken apart."""

from __future__ import annotations

import random
from xml.etree import ElementTree as ET

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.syntax import Atom, Literal, Negation, Rule, Variable
from zodiac_sql.read.drawing.draw import Drawing
from zodiac_sql.read.drawing.layout import Box

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


NASTY = 'p("a]|b", \'c\') :-\n\tq(<iri>, {X}, "\\n&amp;#35;`*_*"), ∧ 漢\x00\x1b ]]> --> %% .'
