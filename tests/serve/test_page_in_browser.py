"""The page in a real browser: each screen, and a whole story of the wind farm.

ZODIAC_SHOTS=/some/folder takes pictures of what the tests see.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import Browser, browsing, missing
from support.places import ROOT

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

SCREENS = ("now", "facts", "rules", "profile", "ask")
FARM = ROOT / "examples" / "wind_farm"

BROKEN = """\
@prefix wind: <http://example.org/wind/> .
heat1: brokenSensor(X) :- anomaly(X), not wind:UnderMaintenance(X)
heat2: usual(M) :- AGGREGATE(readings(X, T)) WITH MED(T) AS M ."""

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"needs a browser: there is no {missing()}"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def farm(tmp_path: Path, open_kb: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    """The wind farm of the examples, with a feed."""
    sys.path.insert(0, str(FARM))
    try:
        import generate
    finally:
        sys.path.remove(str(FARM))
    turbines, readings = generate.write(tmp_path)
    kb = open_kb(tmp_path / "farm.duckdb")
    with kb.update() as update:
        update.add_rules(FARM / "wind.rules")
        update.load(turbines)
        update.load(readings)
    kb.keep_feed(["anomaly", "brokenSensor"])
    return kb


@pytest.fixture
def server(farm: KnowledgeBase) -> Iterator[Server]:
    with farm.serve() as server:
        yield server


def page_of(server: Server, token: str = "") -> str:
    return f"{server.url}/#token={token or server.writing_token}"


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [("desk", 1280, False), ("phone", 360, False), ("dark", 1280, True), ("night", 360, True)],
)
def test_each_screen(browser: Browser, server: Server, name: str, width: int, dark: bool) -> None:
    """It has what it is for, nothing is wider than the window, and the browser has no complaint."""
    browser.size(width)
    browser.dark(dark)
    browser.complaints()
    browser.open(page_of(server))
    for screen, seen in zip(
        SCREENS, ("Last changes", "anomaly", "Rule sets", "Times", "Asked before"), strict=True
    ):
        browser.click("nav a", screen.capitalize())
        browser.find(f"#screen-{screen}", seen)
        browser.settled()
        browser.shot(f"{name}-{screen}")
        asked = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.driver.execute_script(asked) <= 0, screen
    ground = browser.find("body").value_of_css_property("background-color")
    assert (sum(map(int, ground[5:].split(",")[:3])) < 200) is dark
    assert browser.complaints() == []


def test_the_story_of_a_wind_farm(browser: Browser, server: Server, farm: KnowledgeBase) -> None:
    browser.size(1280)
    browser.dark(False)
    browser.complaints()
    browser.open(page_of(server))
    browser.find("#screen-now", "Nothing has changed")
    assert "token" not in browser.driver.current_url
    _look_at_facts(browser)
    _write_rules(browser)
    assert len(farm.query("brokenSensor(X)")) == 4
    browser.press("1")
    browser.find("#screen-now a.entered", "+4 brokenSensor")
    browser.shot("story-now")
    browser.click("#screen-now a.entered", "+4 brokenSensor")
    browser.click("#screen-facts form.card button", "Show")
    browser.find("#screen-facts .entered", "+ entered")
    browser.shot("story-changes")
    _ask(browser)
    _drop(browser)
    assert "usual" not in farm.predicates()["predicate"].to_pylist()
    assert [one for one in browser.complaints() if "400 (Bad Request)" not in one] == []


def _look_at_facts(browser: Browser) -> None:
    """By keys: 2 is the screen of facts, Escape closes a window."""
    browser.press("2")
    browser.click("#screen-facts .names a", "anomaly")
    browser.wait(lambda: len(browser.all("#screen-facts tbody tr")) == 5, "five anomalies")
    browser.type("#screen-facts .bar input[type=search]", "e10")
    browser.wait(lambda: len(browser.all("#screen-facts tbody tr")) == 1, "one anomaly")
    browser.click("#screen-facts tbody button", "why?")
    browser.find("dialog svg")
    browser.shot("story-why")
    browser.click("dialog button", "Text")
    browser.find("dialog pre", "anomaly(wind:E10)\n│  by r6")
    browser.shot("story-why-text")
    browser.press("\ue00c")
    browser.wait(lambda: not browser.all("dialog"), "closed window")
    browser.type("#screen-facts form.bar input", "anomaly(wind:E09)")
    browser.press("\n")
    browser.find("dialog pre", "does not hold")
    browser.shot("story-why-not")
    browser.press("\ue00c")
    browser.click("#screen-facts .names a", "wind:hasNeighbour")
    browser.find("#screen-facts .pages", "1–50, 2,184 facts")
    browser.click("#screen-facts .pages button", "Next")
    browser.find("#screen-facts .pages", "51–100, 2,184 facts")
    browser.click("#screen-facts th button", "o")
    browser.find("#screen-facts th button", "o ▲")
    browser.shot("story-pages")


def _write_rules(browser: Browser) -> None:
    """With a mistake, which is shown where it is; then mended, previewed, and applied."""
    browser.driver.find_element("tag name", "body").click()
    browser.press("3")
    browser.click("#screen-rules button", "New set")
    browser.type("dialog input", "heat")
    browser.press("\n")
    browser.find("#screen-rules h2", "Text of heat")
    assert not browser.find("#screen-rules button", "Apply").is_enabled()
    field = browser.find("#screen-rules textarea")
    field.send_keys(BROKEN)
    browser.click("#screen-rules button", "Preview")
    browser.find("#screen-rules .problems", "line 3, column 1")
    browser.shot("story-error")
    assert not browser.find("#screen-rules button", "Apply").is_enabled()
    browser.click("#screen-rules .problems button", "line 3, column 1")
    browser.press("\ue013\ue010 .")  # up, to the end of line 2
    assert "UnderMaintenance(X) ." in (field.get_attribute("value") or "")
    browser.click("#screen-rules button", "Preview")
    browser.find("#screen-rules .entered", "+4 facts would enter")
    browser.click("#screen-rules .entered button", "why?")
    browser.find("#screen-rules .because pre", "brokenSensor(wind:")
    browser.shot("story-preview")
    browser.click("#screen-rules button", "Apply")
    browser.find("#screen-rules .done", "+4 brokenSensor")
    browser.find("#screen-rules .chip", "heat")
    browser.shot("story-applied")
    browser.find("#screen-rules h2").click()
    browser.driver.execute_script("document.activeElement.blur()")


def _ask(browser: Browser) -> None:
    browser.driver.execute_script("document.activeElement.blur()")
    browser.press("5")
    browser.click("#screen-ask .choices button", "SQL")
    field = browser.find("#screen-ask textarea")
    field.send_keys("SELECT s AS turbine FROM brok")
    browser.find("#screen-ask .options li", "brokenSensor")
    browser.shot("story-completion")
    field.send_keys("\t ORDER BY ALL")
    field.send_keys("\ue009\n")  # Ctrl-Enter
    browser.wait(lambda: len(browser.all("#screen-ask tbody tr")) == 4, "four turbines")
    browser.shot("story-answer")
    browser.click("#screen-ask button", "CSV")
    file = browser.downloads / "answer.csv"
    browser.wait(file.exists, "a file of CSV")
    lines = file.read_text().splitlines()
    assert lines[0] == "turbine"
    assert lines[1:] == sorted(
        f"http://example.org/wind/{one}" for one in ("E10", "N07", "N19", "S11")
    )
    browser.find("#screen-ask .history", "SELECT s AS turbine FROM brokenSensor")
    browser.click("#screen-ask .choices button", "Rules")
    browser.type("#screen-ask textarea", "brokenSensor(X), readings(X, T)")
    browser.press("\ue009\n")
    browser.find("#screen-ask td", "wind:E10")
    browser.click("#screen-ask .choices button", "SPARQL")
    browser.type("#screen-ask textarea", "SELECT ?x { ?x a wind:Farm }")
    browser.press("\ue009\n")
    browser.find("#screen-ask td", "wind:East")


def _drop(browser: Browser) -> None:
    browser.click("nav a", "Rules")
    browser.click("#screen-rules button[aria-label='Drop heat/heat2']", "drop")
    browser.find("dialog", "usual")
    browser.shot("story-drop")
    browser.click("dialog button", "Apply")
    browser.find("#screen-rules .done", "−1 usual")


def test_a_set_is_switched_off_and_on(
    browser: Browser, server: Server, farm: KnowledgeBase
) -> None:
    farm.add_rules("warm(X) :- readings(X, T), T > 30.", set="warm")
    before = farm.table("warm").num_rows
    assert before
    browser.size(1280)
    browser.open(page_of(server))
    browser.click("nav a", "Rules")
    browser.click("#screen-rules [role=switch][aria-label^=warm]")
    browser.find("dialog", "would leave")
    browser.click("dialog button", "Apply")
    browser.find("#screen-rules .done", "warm")
    browser.find("#screen-rules .chip", "off")
    browser.shot("switched-off")
    assert farm.rule_sets()["set"].to_pylist() == ["main"]
    browser.click("#screen-rules [role=switch][aria-label^=warm]")
    browser.find("#screen-rules .entered", "would enter")
    browser.click("#screen-rules button", "Apply")
    browser.find("#screen-rules .done", "warm")
    assert farm.table("warm").num_rows == before


def test_the_times(browser: Browser, server: Server) -> None:
    browser.size(1280)
    browser.open(page_of(server))
    browser.press("4")
    browser.click("#screen-profile button", "Evaluate everything")
    browser.find("#screen-profile h3", "Rules, the slowest first")
    browser.driver.execute_script("scrollTo(0, document.body.scrollHeight)")
    browser.shot("times")
    assert {"r1", "r6"} <= set(browser.texts("#screen-profile td:first-child"))


def test_a_chart(browser: Browser, server: Server, farm: KnowledgeBase) -> None:
    farm.add_rules(".decl log(turbine: symbol, at: timestamp, celsius: float).")
    rows = [
        (f"wt{n % 3}", f"2026-01-01 {n // 4:02}:{15 * (n % 4):02}:00", n % 7 + n / 9)
        for n in range(96)
    ]
    farm.insert("log", [(a, datetime.fromisoformat(t), c) for a, t, c in rows])
    browser.size(1280)
    browser.open(page_of(server))
    browser.press("5")
    browser.click("#screen-ask .choices button", "SQL")
    browser.type("#screen-ask textarea", "FROM log")
    browser.press("\ue009\n")
    browser.wait(lambda: len(browser.all("#screen-ask svg.chart polyline")) == 3, "three lines")
    browser.shot("chart")


def test_what_is_in_the_database_is_never_markup(
    browser: Browser, server: Server, farm: KnowledgeBase
) -> None:
    """Predicates, columns, values, rules, sets and errors that would run a script if they could."""
    evil = "<img src=x onerror=alert(1)>"
    farm.insert(f"{evil}p", [(f"{evil}value",)])
    farm.add_rules(f'evil(X, "{evil}text") :- `{evil}p`(X). !- evil(X, "{evil}no").', set="evil")
    farm.keep_feed()
    browser.size(1280)
    browser.complaints()
    browser.open(page_of(server))
    browser.click("nav a", "Facts")
    browser.click("#screen-facts .names a", f"{evil}p")
    browser.find("#screen-facts h2", evil)
    browser.find("#screen-facts td", f"{evil}value")
    browser.click("#screen-facts tbody button", "why?")
    browser.find("dialog h2", evil)
    browser.find("dialog svg")
    browser.shot("evil-why")
    browser.click("dialog button", "Text")
    browser.find("dialog pre", evil)
    browser.click("dialog button", "Close")
    farm.insert(f"{evil}p", [(f"{evil}more",)])
    browser.click("nav a", "Now")
    browser.find("#screen-now a.entered", evil)
    browser.click("nav a", "Rules")
    browser.find("#screen-rules td", evil)
    browser.click("#screen-rules .set", "evil")
    browser.type("#screen-rules textarea", f"p(X) :- `{evil}`.")
    browser.click("#screen-rules button", "Preview")
    browser.find("#screen-rules .problems", "line 1")
    browser.click("nav a", "Profile")
    browser.find("#screen-profile svg")
    browser.click("nav a", "Ask")
    browser.type("#screen-ask textarea", "evil(X, Y)")
    browser.press("\ue009\n")
    browser.find("#screen-ask td", f"{evil}text")
    browser.find("#screen-ask .history button", "evil(X, Y)")
    browser.settled()
    assert browser.driver.find_elements("css selector", "img:not([src='page/icon.svg'])") == []
    assert [one for one in browser.complaints() if "400 (Bad Request)" not in one] == []


def test_without_a_token_and_with_one_for_reading(browser: Browser, server: Server) -> None:
    browser.size(1280)
    browser.open(server.url)
    browser.driver.execute_script("sessionStorage.clear()")
    browser.open(server.url)
    browser.find("h2", "needs a token")
    browser.shot("no-token")
    browser.type("#token", "wrong")
    browser.press("\n")
    browser.wait(lambda: browser.find("#token").get_attribute("value") == "", "the question again")
    browser.type("#token", server.reading_token)
    browser.press("\n")
    browser.find("#file", "reading only")
    browser.click("nav a", "Rules")
    browser.find("#screen-rules td", "r1")
    assert not browser.find("#screen-rules td button", "drop").is_enabled()
    browser.click("#screen-rules button", "Preview")
    browser.find("#screen-rules .wrong", "this token may only read")


def test_a_server_that_ends_and_a_stream(
    browser: Browser, server: Server, farm: KnowledgeBase
) -> None:
    """The last changes come by themselves; when nobody answers any more, the page says so."""
    browser.size(1280)
    browser.open(page_of(server))
    browser.find("#screen-now", "Nothing has changed")
    updates = ({"insert": {"readings": [[f"new{n}", 20.0]]}} for n in range(30))
    for _ in farm.stream(updates):
        pass
    browser.find("#screen-now a.entered", "readings")
    browser.find("#screen-now figure", "lag in seconds")
    browser.shot("stream")
    server.stop()
    browser.find("#trouble", "does not answer any more")
    browser.shot("ended")


def test_what_is_being_computed(browser: Browser, server: Server, farm: KnowledgeBase) -> None:
    may_end = threading.Event()

    def slow(x: str) -> str:
        assert may_end.wait(60)
        return x

    farm.register_function("slow", slow)
    browser.size(1280)
    browser.open(page_of(server))

    def look() -> None:
        try:
            browser.find("#screen-now [role=status]", "1 of 1.")
            browser.shot("working")
        finally:
            may_end.set()

    looking = threading.Thread(target=look)
    looking.start()
    farm.add_rules("late(Y) :- anomaly(X), BIND(slow(X) AS Y).")
    looking.join()
    browser.find("#screen-now a.entered", "+5 late")
    assert browser.all("#screen-now [role=status]", "under way") == []


def test_each_control_is_reached_by_the_keyboard(browser: Browser, server: Server) -> None:
    """Tab goes through all of a screen, and what has the focus is seen to have it."""
    browser.size(1280)
    browser.open(page_of(server))
    browser.press("2")
    browser.find("#screen-facts tbody button")
    browser.settled()
    controls = browser.all("a, button:enabled, input:enabled, summary")
    reached: set[str] = set()
    for _ in range(len(controls) + 16):
        browser.press("\t")
        one = browser.driver.switch_to.active_element
        if one.tag_name not in ("body", "html"):
            reached.add(one.id)
            assert "none" not in one.value_of_css_property("outline-style"), one.get_attribute(
                "outerHTML"
            )
    missed = [one.get_attribute("outerHTML") for one in controls if one.id not in reached]
    assert missed == []
