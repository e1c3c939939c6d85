"""One headless Chromium for all tests: opens pages from disk, keeps what the console said and which requests were made."""
import json
import os
import shutil
import time
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DRIVER = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")


def missing():
    """What is needed and not there, or None."""
    if webdriver is None:
        return "python3-selenium"
    if not CHROMIUM:
        return "chromium"
    return None if DRIVER else "chromium-driver"


def judges_speed():
    """Only by request (GAMBREL_JUDGE_SPEED=1, on an idle machine): other programs run beside the tests."""
    return os.environ.get("GAMBREL_JUDGE_SPEED") == "1"


class Browser:
    def __init__(self, pages, downloads):
        self.pages = Path(pages)
        self.downloads = Path(downloads)
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        # Root has no sandbox; a fixed scale and no scroll bars keep pictures comparable.
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=1", "--hide-scrollbars",
                     "--window-size=1400,1000", "--font-render-hinting=none", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(self.downloads),
                                                 "profile.default_content_setting_values.automatic_downloads": 1})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(60)

    def quit(self):
        self.driver.quit()

    def open(self, page, hash_="", size=(1400, 1000)):
        if not (self.pages / page).is_file():
            raise AssertionError(f"{page}: was not made")
        self.driver.set_window_size(*size)
        self.driver.get("about:blank")  # else a change of the hash alone would not load the page again
        self.console(), self.requests()
        self.driver.get(f"file://{self.pages / page}{'#' + hash_ if hash_ else ''}")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def console(self):
        return [f"{e['level']}: {e['message']}" for e in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for; pictures and downloads made inside it are not requests."""
        out = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("data:", "blob:", "about:")):
                    out.append(url)
        return out

    def wait(self, condition, seconds=10):
        end = time.time() + seconds
        while time.time() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError("waited in vain")

    def downloaded(self, ending):
        """The bytes of the file that a click saved."""
        def ready():
            files = [f for f in self.downloads.glob(f"*.{ending}") if f.stat().st_size > 0]
            return files and not list(self.downloads.glob("*.crdownload")) and files[0]
        file = self.wait(ready)
        data = file.read_bytes()
        file.unlink()
        return data

    def mouse(self, kind, x, y, **more):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x, y, modifiers=0):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, modifiers=modifiers)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 5, y0 + (y1 - y0) * step / 5, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def key(self, key, text=None):
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", "key": key, **({"text": text} if text else {})})
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})
