"""Decompositions as the catalog keeps them (migration 0005), and the tables of their nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from zodiac_sql import names
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.rewrite.hypertree.tree import Hypertree, Node


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node of a tree: see `Node`. `parent` is a place among the nodes, or None.

    `table` is the end of its table's name in schema hd ("r3_n1"), with `columns` and their `types`;
    None where the node is a single atom, or has the rows of another node.
    """

    parent: int | None
    variables: tuple[str, ...]
    cover: tuple[int, ...]
    atoms: tuple[int, ...]
    table: str | None = None
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredTree:
    """What was decided for a cyclic rule: its tree, or no nodes where it is evaluated as a whole.

    `why` is the reason; `facts` is how many facts its body had to read then.
    """

    rule: str
    why: str
    facts: int
    nodes: tuple[StoredNode, ...] = ()

    def __str__(self) -> str:
        return f"hypertree({self.rule})"

    @property
    def shown(self) -> str:
        """The variables of its nodes, those below a node in brackets: `A B C [C D A]`."""
        return self._shown(0) if self.nodes else "as a whole"

    @property
    def told(self) -> str:
        """What was decided, and why."""
        return f"{self.rule}: {self.shown} ({self.why})"

    def _shown(self, place: int) -> str:
        below = [self._shown(i) for i, node in enumerate(self.nodes) if node.parent == place]
        return " ".join([*self.nodes[place].variables, *(f"[{tree}]" for tree in below)])

    def apart(self, taken: Collection[str | None]) -> StoredTree:
        """This tree, with new names of tables if some are taken: unlike rules, SQL ignores case."""
        lower = {name.lower() for name in taken if name}
        if not any(node.table and node.table.lower() in lower for node in self.nodes):
            return self
        nodes = (replace(n, table=n.table and f"{n.table}_{len(lower)}") for n in self.nodes)
        return replace(self, nodes=tuple(nodes))

    @property
    def tree(self) -> Hypertree:
        """The decomposition itself."""
        return Hypertree(
            tuple(Node(frozenset(n.variables), n.cover, n.atoms, n.parent) for n in self.nodes)
        )

    @property
    def tables(self) -> Iterator[Predicate]:
        """The tables of its nodes, by their names inside the hypernode."""
        for number, node in enumerate(self.nodes, 1):
            if node.table is not None:
                types = tuple(Type(t) for t in node.types)
                columns = tuple(Column(c, t) for c, t in zip(node.columns, types, strict=True))
                name = names.node(self.rule, number)
                yield Predicate(name, node.table, columns, types, (None,) * len(types))


def tables_of_trees(trees: Iterable[StoredTree]) -> Mapping[str, Predicate]:
    """The tables of all nodes of some trees, by their names inside a hypernode."""
    return {table.name: table for tree in trees for table in tree.tables}
