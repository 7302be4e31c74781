"""A real browser for the tests: Chromium, driven over the WebDriver protocol that its driver speaks."""

import base64
import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


def missing() -> str:
    """What is not there to run a browser; empty if all is."""
    lacking = [name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if found is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


class Browser:
    """One window without a screen. ``cdp`` sends it a command of the DevTools protocol."""

    def __init__(self) -> None:
        command = [str(DRIVER), "--port=0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = f"http://127.0.0.1:{self._port()}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        options = {
            "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self.session = f"/session/{made['sessionId']}"

    def _port(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "successfully on port" in line:
                return line.rsplit(" ", 1)[-1].strip(".\n")
        raise RuntimeError("chromedriver ended before it told its port")

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=240) as answer:
            return json.load(answer)["value"]

    def cdp(self, command: str, **parameters: Any) -> Any:
        return self._send("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, page: Path) -> None:
        self._send("POST", f"{self.session}/url", {"url": page.resolve().as_uri()})

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        return self._send("POST", f"{self.session}/execute/sync", {"script": f"return {script}", "args": []})

    def log(self, kind: str) -> list[dict[str, Any]]:
        return self._send("POST", f"{self.session}/se/log", {"type": kind})

    def requests(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def resize(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.cdp("Emulation.setDeviceMetricsOverride", **metrics)

    def media(self, kind: str = "", **features: str) -> None:
        """As if on paper, or with a dark screen: ``media("print")``, ``media(prefers_color_scheme="dark")``."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.cdp("Emulation.setEmulatedMedia", media=kind, features=named)

    def point(self, selector: str, across: float = 0.5, click: bool = False) -> None:
        """Moves the mouse onto an element, so far from its left, and clicks if asked."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + across * box["width"], "y": box["y"] + box["height"] / 2}
        self.cdp("Input.dispatchMouseEvent", type="mouseMoved", **place)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.cdp("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, key: str) -> None:
        """Presses a key where the focus is."""
        codes = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
        for kind in ("rawKeyDown", "keyUp"):
            self.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        taken = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def paper(self, path: Path) -> None:
        """The page as PDF."""
        path.write_bytes(base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"]))

    def close(self) -> None:
        try:
            self._send("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait(timeout=60)
