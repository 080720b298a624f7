"""Which forms the rules of a hypernode have: recognised once, and read by all that choose by them.

Ways to evaluate and to maintain a hypernode, estimates, proofs and Spark ask for a form and not for
rules. A form says what rules look like, whatever the names of variables and the order of atoms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from zodiac_sql.graph.handed_on import Positions, handed_on, hands_on
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.mixed import reads_values
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Aggregate, Rule
from zodiac_sql.rewrite.closures.condensed import Condensed, condensed
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.recognise import modules_of
from zodiac_sql.rewrite.closures.shapes import Paths, paths
from zodiac_sql.rewrite.copies import Sources, sources_in
from zodiac_sql.rewrite.hypertree.rewrite import may_decompose
from zodiac_sql.rewrite.product import Ends, ends_of


class Forms:
    """The forms of a hypernode, each recognised when it is first asked for.

    A hypernode with modules at work is another one than the one that users have written: both have
    their forms (rewrite/rewritten_hypernode.py).
    """

    def __init__(self, hypernode: Hypernode, schema: Schema) -> None:
        self.hypernode = hypernode
        names = (*hypernode.derives, *hypernode.reads)
        self.schema = {name: schema[name] for name in names if name in schema}

    @cached_property
    def reads_values(self) -> bool:
        """Whether a rule reads the values of terms, or makes terms: forms compare what is stored.

        No function that users have registered matters for this.
        """
        columns = {name: [c.meant for c in known.columns] for name, known in self.schema.items()}
        return any(reads_values(rule, columns, {}) for rule in self.hypernode.rules)

    @cached_property
    def linear(self) -> bool:
        """Whether each rule has one recursive atom, if it has any: then one statement can hold them
        all.
        """
        return are_linear(self.hypernode.rules, self.hypernode.derives)

    @cached_property
    def paths(self) -> Paths | None:
        """How the only rule makes longer paths, if that is all it does."""
        rules = self.hypernode.rules
        return paths(rules[0]) if len(rules) == 1 and not self.reads_values else None

    @cached_property
    def along(self) -> Paths | None:
        """The same along another relation, whatever the ends of paths are."""
        found = self.paths
        return None if found is None or found.own or found.unequal else found

    @cached_property
    def preserved(self) -> tuple[int, ...]:
        """The arguments of its only predicate that no rule changes which reads that predicate.

        Facts with different values there have nothing to do with each other.
        """
        if len(self.hypernode.derives) != 1:
            return ()
        (predicate,) = self.hypernode.derives
        steps = [rule for rule in self.hypernode.rules if predicate in rule.positive()]
        places = range(len(self.hypernode.rules[0].head.terms))
        return tuple(n for n in places if hands_on(steps, {predicate: n}, {predicate}))

    @cached_property
    def handed_on(self) -> Positions | None:
        """The argument of each of its predicates that all rules hand on, if there is one."""
        return handed_on(self.hypernode.rules)

    @cached_property
    def product(self) -> Ends | None:
        """How the only rule is a product, if it is one."""
        rules = self.hypernode.rules
        return ends_of(rules[0]) if len(rules) == 1 and not self.reads_values else None

    @cached_property
    def copies(self) -> Mapping[str, Sources] | None:
        """From where each predicate has its facts, if rules only copy them."""
        return None if self.reads_values else sources_in(self.hypernode, self.schema)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """The closures among its predicates, at most one for each (paper 2)."""
        return () if self.reads_values else modules_of(self.hypernode, self.schema)

    @cached_property
    def condensed(self) -> Condensed | None:
        """The closure that its rules make all together, if they make one of arcs in one direction.

        It can be kept as components.
        """
        return None if self.reads_values else condensed(self.hypernode, self.schema)

    @cached_property
    def cyclic(self) -> tuple[Rule, ...]:
        """The rules whose bodies are cyclic, and can be decomposed (paper 5)."""
        if self.reads_values:
            return ()
        return tuple(rule for rule in self.hypernode.rules if may_decompose(rule))


def are_linear(rules: Iterable[Rule], heads: Collection[str]) -> bool:
    """Whether each rule has one atom at most of what they derive."""
    return all(sum(a.predicate in heads for a in rule.positive_atoms()) <= 1 for rule in rules)


def grouped(rule: Rule) -> tuple[Aggregate, ...]:
    """The aggregates of a rule, if all are over the same groups of the solutions of one body."""
    found = tuple(literal for literal in rule.body if isinstance(literal, Aggregate))
    same = all((one.body, one.group) == (found[0].body, found[0].group) for one in found)
    return found if same else ()


def worthwhile(forms: Forms) -> tuple[Module, ...]:
    """The modules of a hypernode that gain something."""
    taken = {rule.name for module in forms.modules for rule in module.taken}
    left = [rule for rule in forms.hypernode.rules if rule.name not in taken]
    return tuple(module for module in forms.modules if module.gains(left))
