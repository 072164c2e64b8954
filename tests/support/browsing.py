"""Browsers that people use on the service: a window with its own cookies, and what its developers' console said."""

import os
import shutil
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PASSWORD = "several words are a good one"


def free_port():
    """A port of this machine that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def chromium():
    """A headless browser; without one, skip, or fail where everything must be tested."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        missing = "no Chromium is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI=true, but {missing}")
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=[*options, "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """Somebody in front of a window. `complaints` are errors and warnings of the browser's console."""

    def __init__(self, browser, url, *, width=1280, scripts=True, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=scripts, color_scheme=scheme
        )
        self.context.set_default_timeout(20_000)
        self.page, self.url, self.complaints = self.context.new_page(), url, []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, message):
        expected = "status of 4" in message.text  # a refusal is a page with its own status
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(message.text)

    def open(self, path):
        """Go to a page of the service."""
        return self.page.goto(path if path.startswith("http") else self.url + path)

    def fill(self, **fields):
        """Fill fields by their ids."""
        for name, value in fields.items():
            self.page.locator(f"#{name}").fill(value)

    def press(self, button):
        """Press the button of this name."""
        self.page.get_by_role("button", name=button).first.click()

    def says(self, text, seconds=20):
        """Wait until the page says this."""
        self.page.get_by_text(text).first.wait_for(timeout=seconds * 1000)

    def shot(self, name):
        """Keep a picture of the whole page, if DISCREET_SHOTS names a folder."""
        if folder := os.environ.get("DISCREET_SHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{folder}/{name}.png", full_page=True)

    def accept(self, link, name, display):
        """Use a one-time link."""
        self.open(link)
        self.fill(name=name, display=display, password=PASSWORD, again=PASSWORD)
        self.press("Create the account")

    def enter(self, name):
        """Sign in."""
        self.open("/enter")
        self.fill(name=name, password=PASSWORD)
        self.press("Sign in")
