"""What every test of a page asks besides its own question: the console stayed empty, no request left the page."""
import unittest

b = None
SHOWN = "return document.getElementById('shown').textContent"


class PageTest(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(b.console(), [], "the console must stay empty")
        outside = [u for u in b.requests() if not u.startswith("file://" + str(b.pages))]
        self.assertEqual(outside, [], "no request may leave the page")

    def shown(self, text):
        self.assertTrue(b.js(SHOWN).startswith(text), b.js(SHOWN))

    def set(self, id_, value, event):
        b.js("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
             "e.dispatchEvent(new Event(arguments[2]))", id_, value, event)

    def chip(self, name):
        b.js("document.querySelector(`[data-chip=\"${arguments[0]}\"]`).click()", name)
