"""`--preview` of every change, and graphs of what a change will do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import answered, called, content, refused, told

PREVIEWS = [
    ("add-rules", "-e", "cool: cool(X) :- near(X, Y), not hot(X)."),
    ("add-rules", "-e", "hot: hot(X) :- temperature(X, T), T > 20.", "--replace"),
    ("add-rules", "-e", "near(wt3, new). near(X, Y) :- hot(X), hot(Y)."),
    ("drop-rules", "r2", "wind.rules"),
    ("drop-rules", "-e", "near(A, B) :- near(B, A)."),
    ("insert", "temperature.csv", "-p", "near2"),
    ("insert", "more.csv", "-p", "near"),
    ("delete", "near.csv"),
]


@pytest.mark.parametrize("arguments", PREVIEWS, ids=" ".join)
def test_a_preview_tells_what_will_change(farm: Path, arguments: tuple[str, ...]) -> None:
    (farm.parent / "more.csv").write_text("s,o\nwt3,wt4\nwt1,wt2\n")
    command, *rest = arguments
    before = content(farm)
    preview = told(command, farm, *rest, "--preview", "--samples", 99)
    text = answered(command, farm, *rest, "--preview")
    assert content(farm) == before
    assert told("verify", farm)["exact"]

    assert preview["preview"] is True
    assert text.startswith("a preview: nothing was changed\n\npredicate")
    assert "  would enter  would leave\n" in text
    change = told(command, farm, *rest)
    assert "preview" not in change
    for name in ("inserted", "deleted", "hypernodes", "notes"):
        assert preview[name] == change[name]
    assert preview["inserted"] or preview["deleted"]
    for which in ("inserted", "deleted"):
        samples = {p: len(of[which]) for p, of in preview["samples"].items() if of[which]}
        assert samples == preview[which]


def test_a_preview_as_text(farm: Path) -> None:
    rules = "cool: cool(X, T) :- temperature(X, T), not hot(X)."
    result = called("add-rules", farm, "-e", rules, "-e", "near(X, Y) :- near(Y, X).", "--preview")
    assert result.stdout.startswith("""\
a preview: nothing was changed

predicate  would enter  would leave
---------  -----------  -----------
cool                 1            0

+ cool(wt1, 20.5)

hypernodes would be: 1 created (h3), 2 untouched
seconds: """)
    assert result.stderr == "note: near(X, Y) :- near(Y, X). is there already, as r1\n"
    out = answered("drop-rules", farm, "hot", "--preview")
    assert "\n\n- hot(wt2)\n\nhypernodes would be: 1 dropped (h2), 1 untouched\n" in out
    out = answered("add-rules", farm, "wind.rules", "--preview")
    assert "\n\nno fact would come or go\n\nhypernodes would be: 2 untouched\n" in out


def test_samples_of_a_preview(farm: Path) -> None:
    rows = "".join(f"wt{i},{i}\n" for i in range(1007))
    (farm.parent / "many.csv").write_text("a,b\n" + rows + 'wt1,"a\x1b\nb"\n')
    preview = ("insert", farm, "many.csv", "--preview")
    shown = [line for line in answered(*preview).splitlines() if line.startswith("+ many(wt")]
    assert len(shown) == 5
    assert "\n  ... and 1,003 more\n" in answered(*preview)
    out = answered(*preview, "--samples", 2000)
    assert out.count("\n+ many(wt") == 1008
    assert "\n+ many(wt1, a\\x1b\\nb)\n" in out and " more" not in out
    none = answered(*preview, "--samples", 0)
    assert "+ " not in none and " more" not in none
    assert told(*preview, "--samples", 0)["samples"] == {"many": {"inserted": [], "deleted": []}}
    (one,) = told(*preview, "--samples", 1)["samples"]["many"]["inserted"]
    assert len(one) == 2


def test_a_preview_of_what_is_refused(farm: Path) -> None:
    before = content(farm)
    assert "unsafe" in refused("add-rules", farm, "-e", "bad: p(X) :- hot(Y).", "--preview")
    assert "is there already" in refused("add-rules", farm, "wind.rules", "--strict", "--preview")
    assert "no rule named x" in refused("drop-rules", farm, "x", "--strict", "--preview")
    (farm.parent / "bad.csv").write_text("s,o\nonly\n")
    assert "bad.csv: 1 bad line" in refused("insert", farm, "bad.csv", "--preview")
    assert content(farm) == before


@pytest.mark.parametrize(
    "arguments",
    [("add-rules", "wind.rules"), ("drop-rules", "r1"), ("insert", "near.csv"),
     ("delete", "near.csv")],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_a_preview_makes_no_database(here: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    said = refused(command, "no.duckdb", *rest, "--preview")
    assert said.startswith("there is no database no.duckdb, so there is nothing to preview against")
    assert not (here / "no.duckdb").exists()
    assert "it is for `zodiac run`" in refused(command, ":memory:", *rest, "--preview")


def test_a_graph_before_and_after(farm: Path) -> None:
    before = content(farm)
    (farm.parent / "more.rules").write_text("cool: cool(X) :- near(X, Y), not hot(X).")
    out = answered("graph", farm, "--add", "more.rules", "--drop", "r1")
    first, second = out.split("\n\n")
    assert first.splitlines()[1:] == [
        "  h1  stratum 0  recursive  changed  - r1, r2  derives near  modules stc(near)",
        "  h2  stratum 0                      hot  derives hot",
    ]
    assert second.splitlines()[1] == (
        "  h1  stratum 0  recursive  changed  r2  derives near  modules tc(near)"
    )
    assert second.splitlines()[-1] == (
        "  h3  stratum 1             created  + cool  derives cool  <- h1, not h2"
    )
    for suffix, begin in ((".svg", "<svg"), (".mmd", "---"), (".dot", "digraph")):
        path = farm.with_suffix(suffix)
        assert answered("graph", farm, "-o", path, "--drop", "wind.rules") == f"wrote {path}\n"
        text = path.read_text()
        assert text.startswith(begin) and "dropped" in text
    assert content(farm) == before
    result = called("graph", farm, "--add", "wind.rules")
    assert result.exit_code == 0
    assert result.stdout.startswith("before\n  h1")
    assert result.stderr.startswith("note: r1: near(X, Y)")


def test_a_rule_takes_the_name_of_one_that_goes(farm: Path) -> None:
    (farm.parent / "hot.rules").write_text("hot: hot(X) :- temperature(X, T), T > 20.")
    assert "already a rule named hot" in refused("graph", farm, "--add", "hot.rules")
    out = answered("graph", farm, "--add", "hot.rules", "--drop", "hot")
    assert "- hot  derives hot" in out and "+ hot  derives hot" in out


def test_refused_graphs_of_changes(farm: Path) -> None:
    said = "there is no file no.rules. Nothing was changed.\n"
    assert refused("graph", farm, "--add", "no.rules") == said
    assert refused("graph", farm, "--drop", "no.rules") == said
    picture = farm.with_suffix(".svg")
    unknown = "there is no rule named nope. The rules are: hot, r2\n"
    assert refused("graph", farm, "-o", picture, "--drop", "r1", "--drop", "nope") == unknown
    (farm.parent / "other.rules").write_text("odd(X) :- near(X, X).")
    assert "odd(X)" in refused("graph", farm, "-o", picture, "--drop", "other.rules")
    assert not picture.exists()
    assert "there is no database no.duckdb. " in refused("graph", "no.duckdb", "--drop", "r1")
    assert "it is for `zodiac run`" in refused("graph", ":memory:", "--drop", "r1")


@pytest.fixture
def locked(farm: Path) -> Iterator[Path]:
    """A database that another process has open."""
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(farm)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield farm
        process.communicate("\n")


def test_a_preview_of_a_locked_file(locked: Path) -> None:
    for arguments in (
        ("graph", locked, "--drop", "r1"),
        ("drop-rules", locked, "r1", "--preview"),
        ("insert", locked, "near.csv", "--preview"),
    ):
        said = refused(*arguments)
        assert said.startswith(f"{locked} is open in another process") and said.count("\n") == 1
