"""Rule sets: rules that come together, stand in several sets once, and leave together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql import ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

HEAT = "r1: hot(X) :- t(X, T), T > 30.\nr2: warm(X) :- hot(X).\nlimit(30).\nlimit(40)."
COLD = "r1: cold(X) :- t(X, T), T < 0.\nhot(Y) :- t(Y, S), S > 30.\nlimit(40).\nlimit(0)."


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> KnowledgeBase:
    opened = open_kb(tmp_path / "sets.duckdb")
    opened.insert("t", [("a", 35.0), ("b", -1.0)])
    return opened


def sets_of(kb: KnowledgeBase) -> dict[str, list[str]]:
    return {row["name"]: row["sets"] for row in kb.rules().to_pylist()}


def extension(kb: KnowledgeBase, predicate: str) -> list[object]:
    return sorted(value for (value,) in kb.table(predicate).fetchall())


def test_a_rule_that_two_sets_have_is_there_once(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    change = kb.add_rules(COLD, set="cold")
    assert change.notes == (
        "hot(Y) :- t(Y, S), S > 30. is there already, as heat/r1: now cold has it, too",
    )
    assert sets_of(kb) == {
        "heat/r1": ["heat", "cold"], "heat/r2": ["heat"], "heat/facts:limit": ["heat"],
        "cold/r1": ["cold"], "cold/facts:limit": ["cold"],
    }  # fmt: skip
    change = kb.drop_rules(set="heat")
    assert change.deleted == {"limit": 1, "limit@heat": 2, "warm": 1}
    assert sets_of(kb) == {"cold/r1": ["cold"], "cold/facts:limit": ["cold"], "cold/r2": ["cold"]}
    assert extension(kb, "hot") == ["a"]
    assert kb.verify()


def test_facts_of_a_set_leave_with_it_and_others_stay(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    kb.add_rules(COLD, set="cold")
    kb.insert("limit", [(30,), (50,)])
    assert extension(kb, "limit") == [0, 30, 40, 50]
    kb.drop_rules(set="heat")
    assert extension(kb, "limit") == [0, 30, 40, 50]
    kb.drop_rules(set="cold")
    assert extension(kb, "limit") == [30, 50]
    assert "no rule set named cold" in kb.drop_rules(set="cold").notes[0]
    with pytest.raises(QueryError, match="no rule set named cold"):
        kb.drop_rules(set="cold", strict=True)


def test_replacing_a_set_changes_only_the_difference(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    before = {row["name"]: row["added_at"] for row in kb.rules().to_pylist()}
    change = kb.replace_rules(
        "r3: cool(X) :- t(X, T), T < 10.\nhot(A) :- t(A, B), B > 30.\nlimit(40).\nlimit(45).",
        set="heat",
    )
    assert change.notes == ()
    assert change.inserted == {"cool": 1, "limit": 1, "limit@heat": 1}
    assert change.deleted == {"limit": 1, "limit@heat": 1, "warm": 1}
    assert sets_of(kb) == {
        "heat/r1": ["heat"], "heat/facts:limit": ["heat"], "heat/r3": ["heat"]
    }  # fmt: skip
    after = {row["name"]: row["added_at"] for row in kb.rules().to_pylist()}
    assert after["heat/r1"] == before["heat/r1"]
    assert kb.verify()


def test_the_same_again_is_no_change(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    rows = kb.rules().to_pylist()
    change = kb.replace_rules(HEAT, set="heat")
    assert not change.inserted and not change.deleted and kb.rules().to_pylist() == rows


def test_a_rule_with_another_label_gets_that_name(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    kb.replace_rules(HEAT.replace("r1:", "warmest:"), set="heat")
    assert set(sets_of(kb)) == {"heat/warmest", "heat/r2", "heat/facts:limit"}
    assert extension(kb, "warm") == ["a"]


def test_a_label_goes_to_another_rule_while_a_second_set_keeps_the_first(
    kb: KnowledgeBase,
) -> None:
    kb.add_rules("r1: hot(X) :- t(X, T), T > 30.", set="heat")
    kb.add_rules("r1: hot(X) :- t(X, T), T > 30.", set="copy")
    kb.replace_rules("r1: hot(X) :- t(X, T), T > 99.", set="heat")
    assert sets_of(kb) == {"copy/r1": ["copy"], "heat/r1": ["heat"]}
    assert extension(kb, "hot") == ["a"]
    assert kb.verify()


def test_a_label_that_the_set_has_for_another_rule_is_refused(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    kb.add_rules("hot(X) :- t(X, T), T > 35.")
    with pytest.raises(ProgramError, match="the rule set heat has a rule named r1 already"):
        kb.add_rules("r1: hot(X) :- t(X, T), T > 35.", set="heat")
    assert [name for name, sets in sets_of(kb).items() if sets == ["main"]] == ["r1"]


def test_a_new_version_gives_a_label_to_another_rule(kb: KnowledgeBase) -> None:
    kb.add_rules("r1: hot(X) :- t(X, T), T > 30.", set="heat")
    kb.replace_rules("hot(X) :- t(X, T), T > 30.\nr1: warm(X) :- hot(X).", set="heat")
    texts = {row["name"]: row["rule"] for row in kb.rules().to_pylist()}
    assert texts == {"heat/r1": "warm(X) :- hot(X).", "heat/r2": "hot(X) :- t(X, T), T > 30."}


def test_rules_are_dropped_from_the_set_that_is_named(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    kb.add_rules("r1: hot(X) :- t(X, T), T > 30.")
    assert kb.drop_rules("r2").notes == ("there is no rule named r2",)
    told = kb.drop_rules("warm(X) :- hot(X).").notes
    assert told == ("there is no rule warm(X) :- hot(X)., but in the rule set heat",)
    kb.drop_rules("heat/r2", strict=True)
    kb.drop_rules("r1", set="heat", strict=True)
    assert sets_of(kb) == {"heat/facts:limit": ["heat"], "r1": ["main"]}
    kb.drop_rules("hot(Q) :- t(Q, P), P > 30.", strict=True)
    assert "hot" not in {row["predicate"] for row in kb.predicates().to_pylist()}


def test_labels_of_sets_do_not_clash(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    with pytest.raises(ProgramError, match="already a rule named heat/r1"):
        kb.add_rules("r1: hot(X) :- t(X, T), T > 33.", set="heat")
    kb.add_rules("r1: hot(X) :- t(X, T), T > 33.", set="heat", replace=True)
    kb.add_rules("r1: hot(X) :- t(X, T), T > 34.", set="cold")
    assert set(sets_of(kb)) == {"heat/r1", "heat/r2", "heat/facts:limit", "cold/r1"}


def test_sets_are_described(kb: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "heat.rules"
    file.write_text("@prefix ex: <http://e/> .\nex:hot(X) :- t(X, T), T > 30.")
    kb.add_rules(file, set="heat")
    kb.add_rules("warm(X) :- t(X, _).")
    one, main = kb.rule_sets().to_pylist()
    assert (one["set"], one["rules"], one["source"]) == ("heat", 1, str(file))
    assert one["prefixes"] == "ex: <http://e/>" and len(one["digest"]) == 64
    assert (main["set"], main["rules"], main["source"]) == ("main", 1, None)


def test_a_preview_of_a_set(kb: KnowledgeBase) -> None:
    kb.add_rules(HEAT, set="heat")
    with kb.preview() as preview:
        preview.drop_rules(set="heat")
    assert preview.change.deleted == {"hot": 1, "warm": 1, "limit": 2, "limit@heat": 2}
    assert set(sets_of(kb)) == {"heat/r1", "heat/r2", "heat/facts:limit"}
    assert "limit(30) left" in str(preview.change.why("limit(30)"))


def test_a_set_that_is_dropped_in_the_update_that_adds_it(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules(HEAT, set="heat")
        update.drop_rules(set="heat")
    assert not sets_of(kb) and not update.change.inserted


@pytest.mark.parametrize("name", ["", "a b", "a/b", "1a", "ä b"])
def test_names_that_no_set_can_have(kb: KnowledgeBase, name: str) -> None:
    with pytest.raises(QueryError, match="a rule set cannot be called"):
        kb.add_rules(HEAT, set=name)


def test_two_connections_see_the_same_sets(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "two.duckdb") as one, open_kb(tmp_path / "two.duckdb") as other:
        one.add_rules(HEAT, set="heat")
        other.add_rules(COLD, set="cold")
        assert sets_of(one) == sets_of(other)
        one.drop_rules(set="heat")
        other.replace_rules("r1: cold(X) :- t(X, T), T < 1.", set="cold")
        assert sets_of(one) == sets_of(other) == {"cold/r1": ["cold"]}
