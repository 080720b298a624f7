"""Random ontologies of all of OWL 2 RL, and data: the rules derive what owlrl derives.

Not compared, because owlrl has these rules wrong: prp-key (it forgets the last property of a key),
prp-adp and eq-diff3 (they forget the last member of a list). tests/ontology has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from generators.ontologies import ontologies
from hypothesis import given, settings
from hypothesis import strategies as st
from support import budget
from support.examples import share
from support.owlrl_closure import by_owlrl, by_rules

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


@settings(max_examples=share(4))
@given(text=ontologies, few=st.booleans())
def test_the_same_as_owlrl(
    open_kb: Callable[..., KnowledgeBase],
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    few: bool,
) -> None:
    ours = by_rules(text, tmp_path_factory.mktemp("ontology"), open_kb, few=few)
    theirs = by_owlrl(text)
    assert ours.statements - theirs.statements == set()
    assert theirs.statements - ours.statements == set()
    assert ours.inconsistent == theirs.inconsistent
    budget.tried("ontologies")
