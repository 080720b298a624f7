"""A store, the texts of statements that run there often, and what those took that apply rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.rule_work import RuleWork
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store


@dataclass(frozen=True, slots=True)
class Runner:
    """Where the statements of a hypernode or a predicate run, and where their texts are kept.

    Those that apply rules note in `rules` what they took.
    """

    store: Store
    cache: StatementCache = field(default_factory=StatementCache)
    rules: RuleWork = field(default_factory=RuleWork)

    def text(self, key: Hashable, make: Callable[[], exp.Expr]) -> str:
        """The text of a statement, which is rendered when its key is first asked for."""
        return self.cache.get(key, lambda: render(make()))
