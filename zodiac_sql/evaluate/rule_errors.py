"""Errors while rules are evaluated: they name the rules that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from zodiac_sql.errors import EvaluationError, StoreError
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.syntax import Rule


@contextmanager
def evaluating(rules: Sequence[Rule]) -> Iterator[None]:
    """An error inside names the rules that it comes from.

    If the reason is a value, these are only the rules that compute something.
    """
    try:
        yield
    except EvaluationError as error:
        computing = [rule for rule in rules if any(functions_in(rule.body))]
        raise EvaluationError(_cannot(computing or rules, error)) from error
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        raise StoreError(_cannot(rules, error)) from error


def _cannot(rules: Sequence[Rule], error: Exception) -> str:
    named = ", ".join(f"{rule.name}: {rule.text}" for rule in rules[:_MOST_RULES_NAMED])
    more = (
        f" (or one of {len(rules) - _MOST_RULES_NAMED} more)"
        if len(rules) > _MOST_RULES_NAMED
        else ""
    )
    return f"rule {named}{more} cannot be evaluated. Nothing was changed. {error}"


_MOST_RULES_NAMED = 3
"""If any of many rules may be the cause, this many are named."""
