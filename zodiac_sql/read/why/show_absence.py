"""Why a fact does not hold, as HTML for a notebook: rules fold and unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.folds import DEEPEST, GREY, RED, coloured, fold, framed
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.read.drawing.panel import printable
from zodiac_sql.read.why.show_parts import plain

if TYPE_CHECKING:
    from zodiac_sql.read.why.absence import Attempt, WhyNot


def html_form(told: WhyNot) -> str:
    """The goal, and below it each rule that could derive it, with what it lacks."""
    if told.holds is not None:
        said = coloured(f"{_shown(told.goal, told)} holds:")
        return framed(f"<div>{said}</div>") + told.holds._repr_html_()
    return framed(fold(coloured(f"{_shown(told.goal, told)} does not hold"), _below(told, 1), 0))


def _below(told: WhyNot, depth: int) -> str:
    if depth > DEEPEST:
        return coloured("…", GREY)
    rules = "".join(_attempt(one, told, depth) for one in told.attempts)
    return rules + "".join(f"<div>{coloured(plain(note), GREY)}</div>" for note in told.notes)


def _attempt(one: Attempt, told: WhyNot, depth: int) -> str:
    holds = "".join(f"<div>{coloured(_shown(text, told))}</div>" for text in one.holds)
    fails = coloured(f"✗ {_shown(one.fails, told)}", RED)
    below = "" if one.below is None else _below(one.below, depth + 2)
    rule = f"{plain(one.rule)}: {printable(plain(one.text))}"
    return fold(coloured(rule, GREY), holds + fold(fails, below, depth + 1), depth)


def _shown(text: str, told: WhyNot) -> str:
    return plain(prefixed(text, told.prefixes))
