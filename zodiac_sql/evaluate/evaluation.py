"""A hypernode that is to be evaluated from scratch, and what is found out about it before that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from zodiac_sql.cost.once import Once
from zodiac_sql.cost.operator import Operator
from zodiac_sql.database.runner import Runner
from zodiac_sql.evaluate.semi_naive import Fixpoint
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.names import is_node
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.select import makes_texts


class Evaluation(Once):
    """A hypernode, given by its forms. `context` reads all but its own tables.

    With `modules` at work, it has only the rules that they leave
    (rewrite/rewritten_hypernode.py).
    """

    def __init__(
        self,
        runner: Runner,
        forms: Forms,
        schema: Schema,
        context: Context,
        modules: Sequence[ModuleRow] = (),
    ) -> None:
        super().__init__()
        self.runner = runner
        self.store = runner.store
        self.forms = forms
        self.schema = schema
        self.context = context
        self.modules = modules

    @property
    def hypernode(self) -> Hypernode:
        """The rules that are evaluated."""
        return self.forms.hypernode

    @property
    def is_recursion(self) -> bool:
        """Whether it is a recursion by rules alone, of which something can follow."""
        return self._is_by_rules and not self._has_nothing

    @property
    def begins_with_nothing(self) -> bool:
        """Whether it is a recursion by rules alone, of which nothing can follow."""
        return self._is_by_rules and self._has_nothing

    @property
    def _is_by_rules(self) -> bool:
        hypernode = self.hypernode
        if hypernode.bests or not hypernode.recursive:
            return False
        return not any(row.parted for row in self.modules)

    @cached_property
    def _has_nothing(self) -> bool:
        """Whether no predicate has a fact from outside: every rule of a recursion needs one."""
        derives = self.hypernode.derives
        if any(map(is_node, derives)):
            return False
        return all(self.context.relation(p, Version.ALL).rows == 0 for p in derives)

    @cached_property
    def may_be_one_statement(self) -> bool:
        """Whether one recursive statement can hold all of its rules, as nothing is counted."""
        if not self.is_recursion or self.store.watch.counts:
            return False
        return self.forms.linear and not makes_texts(self.hypernode.rules, self.context)

    @cached_property
    def reads(self) -> int:
        """How many facts the rules read."""
        return sum(self.context.relation(p, Version.ALL).rows for p in self.hypernode.reads)


Evaluates = Operator[Evaluation, Fixpoint]
"""An operator that evaluates a hypernode from scratch."""
