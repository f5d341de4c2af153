# SPDX-License-Identifier: MIT
"""Drives a headless Chromium over its debugging pipe: messages of JSON, each ended by a NUL, on descriptors 3 and 4.

Every request that the page makes is written down, and every error of it.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--disable-default-apps", "--disable-dev-shm-usage", "--remote-debugging-pipe")


def program():
    """Path of the browser, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class BrowserError(Exception):
    pass


class Browser:
    def __init__(self, limit=60.0):
        self.limit = limit
        self.profile = tempfile.TemporaryDirectory(prefix="perfdata-web-", ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def arrange():
            # The ends may stand where the others go: move them out of the way first.
            high = [os.dup2(end, 200 + index) for index, end in enumerate((to_read, from_write))]
            os.dup2(high[0], 3, inheritable=True)
            os.dup2(high[1], 4, inheritable=True)

        self.process = subprocess.Popen(
            [program(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=arrange)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.requests = []
        self.errors = []
        self.loaded = 0
        target = next(one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.send(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send("Browser.close")
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        self.profile.cleanup()

    def receive(self, limit):
        end = time.monotonic() + limit
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_read], [], [], max(end - time.monotonic(), 0))
            if not ready:
                return None
            part = os.read(self.from_read, 1 << 20)
            if not part:
                raise BrowserError("the browser ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + params["message"])
        elif method == "Page.loadEventFired":
            self.loaded += 1

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(self.limit)
            if answer is None:
                raise BrowserError(f"{method}: no answer")
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def browser(self, method, **params):
        """A command for the browser itself and not for its page."""
        session, self.session = self.session, None
        try:
            return self.send(method, **params)
        finally:
            self.session = session

    def open(self, url):
        """Loads a page; what was noted of the one before is forgotten."""
        self.requests.clear()
        self.errors.clear()
        before = self.loaded
        self.send("Page.navigate", url=url)
        end = time.monotonic() + self.limit
        while self.loaded == before:
            message = self.receive(max(end - time.monotonic(), 0))
            if message is None:
                raise BrowserError(f"{url}: it does not load")
            self.note(message)
        self.settle()

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def run(self, expression):
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails']['exception']['description']}")
        return result["result"].get("value")

    def size(self, width, height, ratio=1.0, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.settle()

    def mouse(self, kind, x, y, count=0, buttons=0):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if count or buttons else "none",
                  clickCount=count, buttons=buttons)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1, 1)
        self.mouse("mouseReleased", x, y, 1)
        self.settle()

    def drag(self, x, y, to_x):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1, 1)
        self.mouse("mouseMoved", to_x, y, 0, 1)
        self.mouse("mouseReleased", to_x, y, 1)
        self.settle()

    def key(self, key, shift=False):
        codes = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "/": 191}
        text = {"Enter": "\r", "/": "/"}.get(key, "")
        for kind in ("keyDown" if text else "rawKeyDown"), "keyUp":
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes[key],
                      modifiers=8 if shift else 0, **({"text": text} if kind == "keyDown" else {}))
        self.settle()

    def type_key(self, letter):
        """A key that gives a letter."""
        for kind in "keyDown", "keyUp":
            self.send("Input.dispatchKeyEvent", type=kind, key=letter, **({"text": letter} if kind == "keyDown" else {}))
        self.settle()

    def type(self, text):
        self.send("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
