"""Programs and changes as hypothesis draws them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from generators.merged_predicates import merged
from generators.program_changes import Changes, possible_changes, random_changes
from generators.programs import Program
from generators.random_programs import random_program
from generators.random_rules import chance
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

# A program comes from a seed, not from hypothesis' own draws: most of what hypothesis tries are
# variations of what it tried before, and we want 300 programs, not 100 programs three times. So
# that a failing program still shrinks, hypothesis decides of each rule, fact and change whether to
# keep it; any of them may be left out without making the rest invalid. These decisions are the
# bytes of one string, and everything else comes from the one seed, because values of the same
# kind within one example are what hypothesis makes its variations from.


@dataclass
class Decisions:
    remaining: list[int]

    def keep(self, percent: int = 95) -> bool:
        """Mostly true; shrinks to False."""
        return not self.remaining or self.remaining.pop() >= 256 * (100 - percent) / 100


seeds = st.integers(0, 2**32 - 1)
decisions = st.binary(min_size=192, max_size=192).map(lambda data: Decisions(list(data)))


@st.composite
def programs(draw: DrawFn, max_rules: int = 8) -> Program:
    """A program of 1 to `max_rules` rules, and its facts."""
    rng = Random(draw(seeds))
    return reduced(random_program(rng, max_rules), draw(decisions), 95)


@st.composite
def programs_with_changes(
    draw: DrawFn,
    make: Callable[[Random], Program] = random_program,
    min_changes: int = 4,
    max_changes: int = 8,
    change_rules: bool = True,
    merging: int = 0,
) -> tuple[Program, Changes]:
    """A program and changes to make to it, of its facts and, unless told otherwise, its rules.

    So many percent of the programs are stratified by constants only (merged_predicates.py).
    """
    rng = Random(draw(seeds))
    decide = draw(decisions)
    program = reduced(make(rng), decide, 75 if change_rules else 95)
    changes = random_changes(rng, program, rng.randint(min_changes, max_changes), change_rules)
    kept = [tuple(step for step in change if decide.keep()) for change in changes]
    possible = possible_changes(program, kept)
    return merged(program, possible, rng) if chance(rng, merging) else (program, possible)


def reduced(program: Program, decide: Decisions, percent: int) -> Program:
    """Without the rules and facts that were decided against; most of these rules are spare."""
    # Two decisions for each rule, used or not: what hypothesis removes must not shift the others.
    decided = [(rule, decide.keep(percent), decide.keep()) for rule in program.rules]
    kept = [rule for rule, keep, _ in decided if keep] or list(program.rules[:1])
    held = [rule for rule, _, spare in decided if spare and rule not in kept]
    facts = {
        name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
        for name, rows in program.facts.items()
    }
    facts = {name: rows for name, rows in facts.items() if rows}
    return replace(program, rules=tuple(kept), facts=facts, spare=tuple(held))
