"""Functions of dates and times: days, buckets, texts, and time zones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

NOON = dt.datetime(2026, 3, 29, 12, 7, 5, 1)
"""A Sunday. In Berlin, clocks went from 02:00 to 03:00 that day."""


def _values(kb: KnowledgeBase, *expressions: str) -> list[object]:
    """The values of expressions over T, the only moment of the predicate at."""
    bindings = ", ".join(f"V{n} = {one}" for n, one in enumerate(expressions))
    (row,) = kb.query(f"at(T), {bindings}").fetchall()
    return [*row[1:]]


def test_days_buckets_and_texts(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("at", [(NOON,)])
    assert _values(kb, "date(T)", 'date(T, "Pacific/Auckland")') == [
        dt.date(2026, 3, 29), dt.date(2026, 3, 30),
    ]  # fmt: skip
    widths = ("15 minutes", "1 hour", "1 day", "1 week", "1 month", "1 year")
    assert _values(kb, *(f'time_bucket("{width}", T)' for width in widths)) == [
        dt.datetime(2026, 3, 29, 12), dt.datetime(2026, 3, 29, 12), dt.datetime(2026, 3, 29),
        dt.datetime(2026, 3, 23), dt.datetime(2026, 3, 1), dt.datetime(2026, 1, 1),
    ]  # fmt: skip
    short = {
        "30 s": "30 seconds", "7 sec": "7 seconds", "7 secs": "7 seconds", "1 sec": "1 second",
        "15 min": "15 minutes", "15 mins": "15 minutes", "5 h": "5 hours", "5 hr": "5 hours",
        "5 hrs": "5 hours",
    }  # fmt: skip
    assert _values(kb, *(f'time_bucket("{width}", T)' for width in short)) == _values(
        kb, *(f'time_bucket("{width}", T)' for width in short.values())
    )
    assert _values(kb, 'time_bucket("1 week", date(T))') == [dt.date(2026, 3, 23)]
    assert _values(kb, 'format_time(T, "%Y-%m-%d")', 'format_time(date(T), "%-d.%-m.%y, %a")') == [
        "2026-03-29", "29.3.26, Sun",
    ]  # fmt: skip


def test_days_of_a_zone_are_as_long_as_its_clocks_make_them(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("at", [(NOON,)])
    berlin = '"Europe/Berlin"'
    assert _values(
        kb, f'time_bucket("1 day", T, {berlin})', f'time_bucket("1 week", T, {berlin})',
        f'format_time(time_bucket("1 day", T, {berlin}), "%Y-%m-%dT%H:%M:%S%z", {berlin})',
        f'format_time(T, "%H:%M%z, %%z", {berlin})', 'format_time(T, "%z", "America/St_Johns")',
    ) == [
        dt.datetime(2026, 3, 28, 23), dt.datetime(2026, 3, 22, 23), "2026-03-29T00:00:00+01:00",
        "14:07+02:00, %z", "-02:30",
    ]  # fmt: skip


def test_days_between_are_midnights(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("at", [(NOON,)])
    assert _values(
        kb, "days_between(T, add_seconds(T, 43000))", "days_between(add_seconds(T, -44000), T)",
        "days_between(date(T), T)", "days_between(T, add_days(date(T), 3))",
    ) == [1, 1, 0, 3]  # fmt: skip


def test_what_begins_before_the_year_1_has_no_value(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("at", [(dt.datetime(1, 1, 1),), (dt.datetime(9999, 12, 31, 23),)])
    kb.add_rules('long(B) :- at(T), B = time_bucket("7 years", T).')
    kb.add_rules('day(D) :- at(T), D = date(T, "America/New_York").')
    kb.add_rules('text(D) :- at(T), D = format_time(T, "%Y%z", "Asia/Tokyo").')
    assert kb.table("long").fetchall() == [(dt.datetime(9994, 1, 1),)]
    assert kb.table("day").fetchall() == [(dt.date(9999, 12, 31),)]
    assert kb.table("text").fetchall() == [("0001+09:18",)]
    assert kb.verify()


@pytest.mark.parametrize("way", ["auto", "lookups"])
def test_a_log_by_hours_follows_changes(open_kb: OpenKb, way: str) -> None:
    kb = open_kb(strategy=way)
    kb.add_rules(
        ".decl reading(turbine: symbol, at: timestamp, celsius: float) "
        'inside(X, H, T) :- reading(X, A, T), H = time_bucket("1 hour", A).'
        "hourly(X, H, M) :- AGGREGATE(inside(X, H, T)) ON X, H WITH AVG(T) AS M."
        'shown(X, N) :- hourly(X, H, _), N = format_time(H, "%H h", "Europe/Berlin").'
    )
    for minute in range(0, 180, 20):
        kb.insert("reading", [("wt1", NOON + dt.timedelta(minutes=minute), float(minute))])
    kb.delete("reading", [("wt1", NOON + dt.timedelta(minutes=20), 20.0)])
    assert sorted(kb.table("hourly").fetchall()) == [
        ("wt1", dt.datetime(2026, 3, 29, hour), mean)
        for hour, mean in ((12, 20.0), (13, 80.0), (14, 140.0))
    ]
    assert sorted(kb.table("shown").fetchall()) == [("wt1", f"{h} h") for h in (14, 15, 16)]
    assert kb.verify() and "hourly(wt1, " in str(kb.why('shown(wt1, "14 h")'))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('time_bucket("15 m", T)', '"15 m" is no interval'),
        ('time_bucket("15 hs", T)', 'number and a unit: "30 seconds" .or sec, s., "15 minutes"'),
        ('time_bucket("0 days", T)', "no interval"),
        ('time_bucket("101 years", T)', 'up to "100 years"'),
        ("time_bucket(X, T)", "takes an interval as its first argument: X is no text"),
        ('time_bucket("1 day")', "It takes 2 or 3"),
        ('format_time(T, "%Q")', "knows no %Q"),
        ('format_time(T, "100 %")', "knows no %"),
        ('format_time(T, "")', "the format is empty"),
        ('format_time(T, "%z")', "is given no zone"),
        ('date(T, "Europe/Berln")', "Did you mean Europe/Berlin"),
        ('date(T, "../etc/passwd")', "there is no time zone"),
        ('date(T, "localtime")', "there is no time zone"),
        ('date(date(T), "UTC")', "date takes timestamp, not date"),
    ],
)
def test_wrong_texts_are_refused_when_the_rule_comes(
    open_kb: OpenKb, expression: str, said: str
) -> None:
    kb = open_kb()
    kb.insert("reading", [("wt1", NOON)])
    with pytest.raises(ProgramError, match=said.replace("(", r"\(")):
        kb.add_rules(f"p(V) :- reading(X, T), V = {expression}.")
    with pytest.raises(ProgramError, match=said.replace("(", r"\(")):
        kb.query(f"reading(X, T), V = {expression}")
    assert not kb.rules().num_rows


def test_a_system_without_zones_leaves_names_to_duckdb(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zodiac_sql.program import moment_arguments

    kb = open_kb()
    kb.insert("at", [(NOON,)])
    moment_arguments._close_zones.cache_clear()
    monkeypatch.setattr("zoneinfo.available_timezones", set)
    assert _values(kb, 'date(T, "Europe/Berlin")') == [dt.date(2026, 3, 29)]
    with pytest.raises(Exception, match="Mars/Olympus"):
        _values(kb, 'date(T, "Mars/Olympus")')
    moment_arguments._close_zones.cache_clear()


def test_the_zone_of_another_client_does_not_matter(open_kb: OpenKb, tmp_path: Path) -> None:
    """What is stored has no zone; so a file is the same wherever it is made."""
    path = tmp_path / "zone.duckdb"
    with open_kb(path) as kb:
        kb.insert("at", [(NOON,)])
        kb.add_rules('day(D, B) :- at(T), D = date(T), B = time_bucket("1 day", T, "Asia/Tokyo").')
        rows = kb.table("day").fetchall()
    with duckdb.connect(str(path), read_only=True) as client:
        client.execute("SET TimeZone = 'Pacific/Auckland'")
        assert client.sql("SELECT * FROM day").fetchall() == rows
