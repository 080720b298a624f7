"""A real browser that shows the page of a server."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

_Found = TypeVar("_Found")

PROGRAMS = ("chromium", "chromedriver")

SHOTS = os.environ.get("ZODIAC_SHOTS")
"""A folder that gets pictures of the screens, for somebody to look at."""

_FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync"""


def missing() -> str:
    """What is not installed; nothing if all is there."""
    return ", ".join(name for name in PROGRAMS if shutil.which(name) is None)


class Browser:
    """Clicks and types as a user does."""

    def __init__(self, driver: Chrome, downloads: Path) -> None:
        self.driver, self.downloads = driver, downloads

    def size(self, width: int, height: int = 860) -> None:
        told = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", told)

    def dark(self, wanted: bool) -> None:
        value = "dark" if wanted else "light"
        told = {"features": [{"name": "prefers-color-scheme", "value": value}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", told)

    def open(self, address: str) -> None:
        """A page as a new tab has it. What is kept for an address stays."""
        self.driver.get("about:blank")
        self.driver.get(address)

    def all(self, css: str, text: str = "") -> list[WebElement]:
        """Elements that are seen, of which each has a text."""
        found = self.driver.find_elements("css selector", css)
        return [one for one in found if one.is_displayed() and text in one.text]

    def find(self, css: str, text: str = "") -> WebElement:
        """The first such element, as soon as it is there."""
        return self.wait(lambda: self.all(css, text), f"{css} {text!r}")[0]

    def click(self, css: str, text: str = "") -> None:
        """Click the first such element. The page may put another in its place meanwhile."""
        self.wait(lambda: self._clicked(css, text), f"{css} {text!r}")

    def _clicked(self, css: str, text: str) -> bool:
        from selenium.common.exceptions import WebDriverException

        try:
            found = [one for one in self.all(css, text) if one.is_enabled()]
            if found:
                found[0].click()
            return bool(found)
        except WebDriverException:
            return False

    def type(self, css: str, text: str) -> None:
        """Put a text in the place of what stands in a field."""
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def press(self, keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(keys)

    def texts(self, css: str) -> list[str]:
        return [one.text for one in self.all(css)]

    def wait(self, found: Callable[[], _Found], wanted: str, seconds: float = 30.0) -> _Found:
        """What there is in the end."""
        from selenium.common.exceptions import StaleElementReferenceException

        until = time.monotonic() + seconds
        while True:
            try:
                if there := found():
                    return there
            except StaleElementReferenceException:
                pass
            shown = self.driver.find_element("tag name", "body").text
            assert time.monotonic() < until, f"there is no {wanted} in:\n{shown}"
            time.sleep(0.05)

    def settled(self) -> None:
        """Wait until nothing is being fetched."""
        self.wait(lambda: not self.all("[aria-busy]"), "rest")

    def shot(self, name: str) -> None:
        """Take a picture, if somebody wants to look at them."""
        if SHOTS is not None:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.settled()
            self.driver.save_screenshot(f"{SHOTS}/{name}.png")

    def complaints(self) -> list[str]:
        """What the browser says is wrong with the page, since it was asked last."""
        return [one["message"] for one in self.driver.get_log("browser")]


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser with nothing kept from before, which asks nobody but its pages' servers."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    downloads = folder / "downloads"
    downloads.mkdir()
    options = webdriver.ChromeOptions()
    program, driver_program = map(shutil.which, PROGRAMS)
    options.binary_location = program or ""
    for flag in (*_FLAGS.split(), f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_program))
    try:
        yield Browser(driver, downloads)
    finally:
        driver.quit()
