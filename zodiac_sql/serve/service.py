"""What the answers of a server need: what it asks, its threads, its limits, what it has seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import Request

from zodiac_sql.database.limits import Limits
from zodiac_sql.reader import Reader
from zodiac_sql.serve.access import WRITES
from zodiac_sql.serve.history import History
from zodiac_sql.serve.requests import Unacceptable
from zodiac_sql.serve.resources import Cancelling, Resources
from zodiac_sql.serve.running import Running

if TYPE_CHECKING:
    from zodiac_sql.knowledge_base import KnowledgeBase

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Service:
    """A server, as those who answer know it."""

    path: str
    """The database."""
    resources: Resources
    limits: Limits
    """Those of each request."""
    history: History = field(default_factory=History)
    running: Running = field(default_factory=Running)
    started: float = field(default_factory=time.time)

    async def ask(
        self, request: Request, limits: Limits, question: Callable[[Reader], _Found]
    ) -> _Found:
        """What a reader answers to a question."""
        return await self.running.run(request, partial(self._asked, limits, question))

    def _asked(
        self, limits: Limits, question: Callable[[Reader], _Found], cancelling: Cancelling
    ) -> _Found:
        with self.resources.reading(limits, cancelling) as reader:
            return question(reader)

    async def change(
        self, request: Request, limits: Limits, change: Callable[[KnowledgeBase], _Found]
    ) -> _Found:
        """What comes of a change. Raises Unacceptable if the token is only for reading."""
        if not request.scope[WRITES]:
            raise Unacceptable(403, "this token may only read")
        return await self.running.run(request, partial(self._changed, limits, change))

    def _changed(
        self, limits: Limits, change: Callable[[KnowledgeBase], _Found], cancelling: Cancelling
    ) -> _Found:
        with self.resources.changing(limits, cancelling) as kb:
            return change(kb)
