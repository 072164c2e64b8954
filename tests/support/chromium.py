"""A headless Chromium driven by its own protocol through a pipe: no port, no driver, no package."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")

LAUNCH = """
import fcntl, os, sys
source, target = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(source, 3)
os.dup2(target, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser listens on descriptor 3 and answers on 4; a process of its own puts the pipes there."""

OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)


def find_browser():
    """The path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """One browser with one page; `events` are all that the page has reported since it was opened."""

    def __init__(self, path, profile, timeout=120):
        self.timeout, self.number, self.events, self.rest = timeout, 0, [], b""
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # Chromium refuses its sandbox to root, which a container often is
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [path, *OPTIONS, *sandbox, f"--user-data-dir={profile}", "about:blank"]
        with open(profile / "browser.log", "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", LAUNCH, str(read_there), str(write_there), *command],
                pass_fds=(read_there, write_there),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        os.close(read_there)
        os.close(write_there)
        self.read_from, self.write_to = read_here, write_here
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")

    def close(self):
        """End the browser."""
        for each in (self.write_to, self.read_from):
            os.close(each)  # it ends when its pipe does
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def call(self, method, **parameters):
        """Send a command and wait for its result; events on the way are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self._receive(until)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _receive(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_from], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser did not answer in time"
            more = os.read(self.read_from, 1 << 20)
            assert more, "the browser ended"
            self.rest += more
        first, _, self.rest = self.rest.partition(b"\0")
        return json.loads(first)

    def evaluate(self, expression):
        """The value of an expression in the page; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, address, width=1280, height=900, **media):
        """Load a page in a window of this size; `media` are media features such as prefers_color_scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        until = time.monotonic() + self.timeout
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive(until))
        # a round trip through the page's queue: what was reported while loading has arrived
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")

    def of(self, method):
        """The parameters of the events of this name."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def complaints(self):
        """Everything that a developer would see in red or yellow: errors, warnings, violations of the policy."""
        said = [each for each in self.of("Runtime.consoleAPICalled") if each["type"] in ("error", "warning", "assert")]
        logged = [each for each in self.of("Log.entryAdded") if each["entry"]["level"] in ("error", "warning")]
        failed = self.of("Network.loadingFailed")
        return [*said, *logged, *failed, *self.of("Runtime.exceptionThrown"), *self.of("Audits.issueAdded")]

    def requests(self):
        """The addresses that the page asked for, but for what is inside it."""
        asked = [each["request"]["url"] for each in self.of("Network.requestWillBeSent")]
        return [address for address in asked if not address.startswith("data:")]

    def click(self, expression):
        """Press and release the left button over the middle of an element."""
        self.evaluate(f"{expression}.scrollIntoView({{block: 'center', inline: 'center'}})")
        box = self.evaluate(f"{expression}.getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **place)

    def press(self, name, code, text=""):
        """Press and release a key."""
        key = {"key": name, "code": name if text != " " else "Space", "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def screenshot(self, expression=None, *, whole=False):
        """A PNG of the window, of an element, or of the whole page."""
        options = {"captureBeyondViewport": whole or expression is not None}
        if expression or whole:
            box = self.evaluate(
                f"(() => {{ const b = ({expression or 'document.documentElement'}).getBoundingClientRect(); "
                "return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height, scale: 1}; })()"
            )
            options["clip"] = box
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **options)["data"])

    def print(self):
        """The page as PDF."""
        return base64.b64decode(
            self.call("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)["data"]
        )
