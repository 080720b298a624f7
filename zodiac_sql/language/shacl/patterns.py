"""Triples of SHACL rules as atoms of our language: a class is a unary predicate, a property binary.

In a body, a blank node is a variable of its own, and a path `:p/^:q` is several atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from lark import Token, Tree

from zodiac_sql.language.shacl.terms import Node, Renamed, Terms, variables_in
from zodiac_sql.language.symbols import RDF_TYPE
from zodiac_sql.language.urns import predicate_name

Place = Literal["body", "head", "data"]


@dataclass(slots=True)
class ShaclTriples:
    """Reads the triples of one rule, or of a block of data. `blank` names a new blank node."""

    terms: Terms
    place: Place
    blank: Callable[[str], str]
    renamed: Renamed = field(default_factory=dict)
    atoms: list[str] = field(default_factory=list)
    _labels: dict[str, str] = field(default_factory=dict)

    def read(self, triples: Node) -> list[str]:
        """The atoms of some triples."""
        for same in triples.children:
            assert isinstance(same, Tree)
            first, *properties = (c for c in same.children if isinstance(c, Tree))
            subject = self._node(first)
            for one in properties:
                self._properties(subject, one)
        return self.atoms

    def _properties(self, subject: str, tree: Node) -> None:
        for one in tree.children:
            assert isinstance(one, Tree)
            verb, *objects = (child for child in one.children if isinstance(child, Tree))
            for object_ in objects:
                self._triple(subject, verb, object_)

    def _triple(self, subject: str, verb: Node, object_: Node) -> None:
        if verb.data == "variable":
            if self.place == "data":
                self.terms.problem("a variable in DATA", verb)
            self.atoms.append(f"{self._variable(verb)}({subject}, {self._node(object_)})")
            return
        (path,) = verb.children
        assert isinstance(path, Tree)
        steps = self._steps(path, forward=True)
        if self.place != "body" and len(steps) + (not steps[0][1]) > 1:
            self.terms.problem(f"a path in the {self.place}", verb, "A property is needed here.")
        *before, (last, forward) = steps
        for iri, is_forward in before:
            middle = f"?{self.blank('')}"
            self._step(subject, iri, is_forward, middle, verb)
            subject = middle
        self._step(subject, last, forward, self._node(object_, last == RDF_TYPE), verb)

    def _steps(self, tree: Node, forward: bool) -> list[tuple[str, bool]]:
        """The properties of a path, each with its direction."""
        found: list[tuple[str, bool]] = []
        for step in tree.children if forward else reversed(tree.children):
            assert isinstance(step, Tree)
            (inner,) = step.children
            along = (step.data == "forward") == forward
            if isinstance(inner, Token):
                found.append((RDF_TYPE, along))
            elif inner.data == "iri":
                found.append((self.terms.iri(inner), along))
            else:
                found += self._steps(inner, along)
        return found

    def _step(self, subject: str, iri: str, forward: bool, object_: str, verb: Node) -> None:
        if not forward:
            subject, object_ = object_, subject
        if iri != RDF_TYPE:
            self.atoms.append(f"<{predicate_name(iri)}>({subject}, {object_})")
        elif object_.startswith(("<", "?")):
            self.atoms.append(f"{object_}({subject})")
        elif object_.startswith('"') and object_.endswith('"'):  # a class named by a plain name
            self.atoms.append(f"<{object_[1:-1]}>({subject})")
        else:
            self.terms.problem("a class is an IRI or a variable", verb)

    def _node(self, tree: Node, is_class: bool = False) -> str:
        match tree.data:
            case "variable":
                if self.place == "data":
                    self.terms.problem("a variable in DATA", tree)
                return self._variable(tree)
            case "anonymous" | "labelled" | "blank":
                return self._blank(tree)
            case "text" | "tagged" | "typed" | "number" | "boolean" if is_class:
                self.terms.problem("a class is an IRI or a variable", tree)
                return "<urn:none>"
            case _:
                return self.terms.constant(tree)

    def _variable(self, tree: Node) -> str:
        name = str(tree.children[0])[1:]
        return f"?{self.renamed.get(name, name)}"

    def _blank(self, tree: Node) -> str:
        """A blank node: in a body a variable, in data a new node."""
        if self.place == "head":
            self.terms.problem(
                "a blank node in a head is not supported", tree,
                "It would be a new node for each solution: rules here make no new nodes.",
            )  # fmt: skip
        label = str(tree.children[0]) if tree.data == "labelled" else ""
        name = self._labels.get(label) or self.blank(label)
        if label:
            self._labels[label] = name
        node = name if self.place == "data" else f"?{name}"
        if tree.data == "blank":
            (properties,) = tree.children
            assert isinstance(properties, Tree)
            self._properties(node, properties)
        return node


def variables_of(triples: list[Node]) -> list[str]:
    """The variables in some triples."""
    return list(dict.fromkeys(name for tree in triples for name in variables_in(tree)))
