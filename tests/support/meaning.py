"""What a text of rules says, however it is spaced and spelled."""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.language.parse import parse_what_can_be


def meaning(text: str) -> str:
    """A text as what it is parsed to. (As a text itself: a NaN is not equal to itself.)"""
    program, _ = parse_what_can_be(text)
    rules = tuple(replace(rule, text="") for rule in program.rules)
    return repr(replace(program, rules=rules, objections=()))
