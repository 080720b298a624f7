"""What a notebook shows: cells of rules and of queries, errors, and HTML of what verbs return."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from support.places import ROOT

import zodiac_sql
from zodiac_sql.errors import ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

pytest.importorskip("IPython", reason="cells need IPython")


class Balanced(HTMLParser):
    """Raises AssertionError if an element is not closed where it has to be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def text_of(html: str) -> str:
    return " ".join(" ".join(Balanced(html).texts).split())


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Any]:
    """A shell as a notebook has it, that writes nothing at home."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    one = InteractiveShell(config=config)
    one.run_line_magic("load_ext", "zodiac_sql")
    yield one
    if isinstance(kb := one.user_ns.get("kb"), zodiac_sql.KnowledgeBase):
        kb.close()


def ran(shell: Any, cell: str) -> Any:
    """What a cell gives; the error that it raises."""
    done = shell.run_cell(cell)
    return done.error_in_exec or done.error_before_exec or done.result


# --- cells ----------------------------------------------------------------------------------------


def test_cells_of_rules_and_queries(shell: Any) -> None:
    ran(shell, "import zodiac_sql\nkb = zodiac_sql.connect()")
    change = ran(shell, "%%rules\np(X) :- q(X).\nq(1). q(2).")
    assert change.inserted == {"p": 2, "q": 2}
    assert sorted(ran(shell, "%%query\np(X), X > 1").fetchall()) == [(2,)]
    assert ran(shell, "%%query\nSELECT count(*) FROM p").fetchone() == (2,)
    assert ran(shell, "_").fetchone() == (2,)


def test_a_set_is_replaced(shell: Any) -> None:
    ran(shell, "import zodiac_sql\nother = zodiac_sql.connect()\nother.insert('q', [(1,)])")
    ran(shell, "%%rules other --set s\np(X) :- q(X).\nr(X) :- q(X).")
    change = ran(shell, "%%rules other --set s\np(X) :- q(X).\nr(X) :- q(X), X > 1.")
    assert change.deleted == {"r": 1} and not change.inserted
    assert ran(shell, "%%query other\np(X)").fetchall() == [(1,)]
    ran(shell, "other.close()")


def test_a_reader_is_asked_and_not_changed(shell: Any) -> None:
    ran(shell, "import zodiac_sql\nkb = zodiac_sql.connect()\nkb.insert('q', [(1,)])")
    ran(shell, "reader = kb.reader()")
    assert ran(shell, "%%query reader\nq(X)").fetchall() == [(1,)]
    assert "can be changed" in str(ran(shell, "%%rules reader\np(X) :- q(X)."))
    ran(shell, "reader.close()")


@pytest.mark.parametrize("cell", ["%%query\np(X)", "%%rules\np(X) :- q(X).", "%%query a b\np(X)"])
def test_cells_that_are_not_meant_so(shell: Any, cell: str, capsys: Any) -> None:
    """There is no knowledge base, or too much is said: one line tells."""
    error = ran(shell, cell)
    assert type(error).__name__ == "UsageError"
    assert "connect(" in str(error) or "usage: %%query" in str(error)


def test_it_is_only_imported_when_it_is_loaded() -> None:
    import subprocess
    import sys

    said = "import sys, zodiac_sql; zodiac_sql.connect().close(); print('IPython' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# --- errors ---------------------------------------------------------------------------------------


def test_an_error_is_its_message_and_the_lines_of_the_user(shell: Any, capsys: Any) -> None:
    ran(shell, "import zodiac_sql\nkb = zodiac_sql.connect()\nkb.insert('q', [(1,)])")
    capsys.readouterr()
    ran(shell, "def ask():\n    return kb.query('q(X')\n\nask()")
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["line 4: ask()", "line 2: return kb.query('q(X')"]
    assert shown[2].startswith("ProgramError: ") and any("^" in line for line in shown)
    assert not any("zodiac_sql/" in line for line in shown) and len(shown) < 10
    ran(shell, "%%query\nq(X), Y > 1")
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith(("ProgramError: ", "QueryError: "))


def test_other_errors_are_shown_as_ever(shell: Any, capsys: Any) -> None:
    ran(shell, "1 / 0")
    assert "Traceback" in capsys.readouterr().out


def test_without_a_traceback() -> None:
    assert QueryError("so it is\nand so")._render_traceback_() == ["QueryError: so it is", "and so"]


# --- HTML -----------------------------------------------------------------------------------------

NASTY = "<script>alert('&')</script>"


def filled(kb: KnowledgeBase) -> KnowledgeBase:
    with kb.update() as update:
        update.add_rules("""
            hot: hot(X) :- reading(X, T), T > 30, not cooled(X).
            alarm: alarm(X) :- hot(X), near(X, Y), hot(Y).
        """)
        update.insert("reading", [("wt1", 40), ("wt2", 20), (NASTY, 50)])
        update.insert("near", [("wt1", NASTY), ("wt2", "wt1")])
        update.insert("cooled", [("wt9",)])
    return kb


def test_why_not(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        told = filled(kb).why_not("alarm(wt2)", depth=3)
        shown = text_of(told._repr_html_())
        assert "alarm(wt2) does not hold" in shown and "✗ 20 > 30 is false" in shown
        words = [line.strip("│├└─ ") for line in str(told).splitlines()]
        assert [word for word in words if " ".join(word.split()) not in shown] == []
        holds = kb.why_not("hot(wt1)")._repr_html_()
        assert "hot(wt1) holds:" in text_of(holds) and "<details" in holds
        none = kb.why_not(f'hot("{NASTY}2")')._repr_html_()
        assert "<script>" not in none and NASTY in text_of(none)


def test_why_of_a_change(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        change = kb.insert("reading", [("wt2", 35)])
        told = change.why("alarm(wt2)")
        shown = text_of(told._repr_html_())
        for line in str(told).splitlines():
            assert (
                " ".join(line.replace("└─", "").replace(": inserted", " inserted").split()) in shown
            )
        change = kb.delete("reading", [(NASTY, 50)])
        html = change.why("alarm(wt1)")._repr_html_()
        assert "<script>" not in html and "deleted by the change" in text_of(html)


def test_many_events_nest_only_so_far(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("p(Y) :- p(X), next(X, Y). p(0) :- begun().")
        kb.insert("next", [(i, i + 1) for i in range(300)])
        html = kb.add_rules("begun().").why("p(300)")._repr_html_()
        assert html.count("<details") <= 61 and text_of(html).endswith("…")


def test_verify_and_stats(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        change = filled(kb).insert("reading", [("wt2", 35)])
        assert "exactly what its rules and facts entail" in text_of(kb.verify()._repr_html_())
        assert "publish" in text_of(change.stats._repr_html_())
        for shown in (kb, kb.query("hot(X)"), change, kb.explain(), kb.profile()):
            Balanced(shown._repr_html_())
        store = kb._session.store
        store.run("DELETE FROM idb.h1_hot")
        found = kb.verify()
        assert not found and "hot" in text_of(found._repr_html_())


# --- the example ----------------------------------------------------------------------------------


def test_the_notebook_among_the_examples(shell: Any, capsys: Any) -> None:
    """Each cell runs, and what it gives is shown as HTML; one has an error, as it says."""
    told = json.loads((ROOT / "examples/notebook/roads.ipynb").read_text(encoding="utf-8"))
    results = []
    for cell in told["cells"]:
        assert cell["cell_type"] == "markdown" or cell["outputs"] == []
        if cell["cell_type"] == "code":
            results.append(ran(shell, "".join(cell["source"])))
    (error,) = (one for one in results if isinstance(one, BaseException))
    assert isinstance(error, ProgramError)
    shown = [one for one in results if one is not None and one is not error]
    assert all(hasattr(one, "_repr_html_") or hasattr(one, "_repr_svg_") for one in shown)
    kinds = [type(one).__name__ for one in shown]
    assert kinds == [
        "Change", "Change", "Answer", "Answer", "Explanation", "WhyNot", "Change",
        "ChangeExplanation", "TimeProfile", "Stats", "Drawing", "Verification",
    ]  # fmt: skip
    assert sorted(shown[2].fetchall()) == [("farm",), ("school",)]
    assert str(shown[7]).startswith("cutOff(farm) entered") and shown[-1]
