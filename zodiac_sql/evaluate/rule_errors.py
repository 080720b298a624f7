"""Errors while rules are evaluated: they name the rules that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from zodiac_sql.database.limits import Growth
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, StoreError
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.syntax import Rule
from zodiac_sql.storage.sources import Sources


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


@contextmanager
def evaluating_all(store: Store, hypernode: Hypernode, there: Sources) -> Iterator[None]:
    """The same for all rules of a hypernode. If there are limits, what it derives counts.

    What is derived already does not: to derive it once more, as after a deletion, is no growth.
    """
    with evaluating(hypernode.rules):
        if store.watch.bounds is None:
            yield
            return
        computes = hypernode.recursive and any(any(functions_in(r.body)) for r in hypernode.rules)
        rules = [(rule.name, rule.text) for rule in hypernode.rules]
        before = sum(
            part.rows
            for name in hypernode.derives
            for parts in there.derived.get(name, {}).values()
            for part in parts
        )
        with store.watch.growing(Growth(hypernode.name, rules, computes, before)):
            yield


def _cannot(rules: Sequence[Rule], error: Exception) -> str:
    if len(rules) == 1:
        place = _place(rules[0])
        named = f"{place}: " * bool(place) + f"rule {rules[0].name}: {rules[0].text}"
    else:
        named = f"rule {', '.join(map(_named, rules[:_MOST_RULES_NAMED]))}"
    more = (
        f" (or one of {len(rules) - _MOST_RULES_NAMED} more)"
        if len(rules) > _MOST_RULES_NAMED
        else ""
    )
    return f"{named}{more} {NOT_EVALUATED} {error}"


NOT_EVALUATED = "cannot be evaluated. Nothing was changed."
"""What is said after the rules."""


def _named(rule: Rule) -> str:
    place = _place(rule)
    return f"{rule.name}{f' ({place})' if place else ''}: {rule.text}"


def _place(rule: Rule) -> str:
    """File, line and column of a rule, if the text it came in is known: of a rule that was there
    when the file was opened, only its own text is.
    """
    known = rule.span is not None and not rule.span.source.name.startswith("<rule ")
    return str(rule.span) if known else ""


_MOST_RULES_NAMED = 3
"""If any of many rules may be the cause, this many are named."""
