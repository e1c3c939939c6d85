"""How the page looks, against golden pictures, and whether those can use it who see, hear or point otherwise."""
import os
import re
import unittest
from pathlib import Path

import pictures

b = None

# Text against what is behind it: WCAG AA asks for 4.5:1, 3:1 for large text.
CONTRAST = r"""
  const lum = (c) => { const f = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126*f[0]+0.7152*f[1]+0.0722*f[2] };
  const rgb = (t) => { const m = t.match(/[\d.]+/g).map(Number); return { c: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 } };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, e = node.parentElement;
    if (!node.textContent.trim() || !e.offsetParent || e.closest('script, .spoken, [aria-hidden=true]')) continue;
    const style = getComputedStyle(e);
    let back = e;
    while (back && rgb(getComputedStyle(back).backgroundColor).a < 1) back = back.parentElement;
    const behind = back ? rgb(getComputedStyle(back).backgroundColor).c : [255, 255, 255];
    const front = e instanceof SVGElement ? rgb(style.fill).c : rgb(style.color).c;
    const [x, y] = [lum(front), lum(behind)].sort((p, q) => q - p), ratio = (x + 0.05) / (y + 0.05);
    const need = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && +style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < need) bad.push(`${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 40)} (${e.className || e.tagName})`);
  }
  return bad
"""
UNNAMED = """
  const name = (e) => e.getAttribute('aria-label') || (e.labels && [...e.labels].map(l => l.textContent).join('').trim()) || e.textContent.trim() || e.title;
  return [...document.querySelectorAll('button, input, select, [tabindex="0"], [role=grid], [role=application]')]
    .filter(e => e.offsetParent && !name(e)).map(e => e.outerHTML.slice(0, 120))
"""
COLORS_ON_CHART = """
  const p = JSON.parse(document.getElementById('data').textContent).palette; return [p.light, p.dark]
"""


def contrast(a, c):
    def luminance(color):
        parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    high, low = sorted((luminance(a), luminance(c)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Looks(unittest.TestCase):
    def test_light_dark_and_isolated_are_as_recorded(self):
        wrong = []
        for name, page, hash_ in (("light", "step.html", "theme=light"), ("dark", "step.html", "theme=dark"), ("isolated", "step.html", "theme=light&kernel=0"),
                                  ("strip", "views.html", "view=1&theme=dark"), ("sweep", "views.html", "view=2&theme=light"), ("compared", "compared.html", "theme=light"),
                                  ("measured", "measured.html", "theme=light"), ("measured_dark", "measured.html", "theme=dark"), ("explored", "explored.html", "theme=light"),
                                  ("overview", "joined.html", "theme=light"), ("overview_dark", "joined.html", "theme=dark"),
                                  ("timeline", "traced.html", "theme=light"), ("timeline_dark", "traced.html", "theme=dark&kernel=0")):
            b.open(page, hash_, size=(1280, 1100))
            wrong.append(pictures.compare(name, b.driver.get_screenshot_as_png()))
        self.assertEqual([w for w in wrong if w], [])

    def test_a_narrow_window_hides_nothing(self):
        for page in ("step.html", "measured.html", "explored.html", "joined.html", "compared.html", "traced.html"):
            b.open(page, size=(500, 900))
            self.assertLessEqual(b.js("return document.documentElement.scrollWidth"), b.js("return document.documentElement.clientWidth"), page)


class Access(unittest.TestCase):
    maxDiff = None

    def test_text_has_contrast_and_controls_have_names_in_both_themes(self):
        for page, hashes in (("step.html", ("", "kernel=5")), ("views.html", ("view=1", "view=2", "view=3")), ("compared.html", ("",)),
                             ("measured.html", ("",)), ("explored.html", ("",)), ("joined.html", ("", "view=0")), ("traced.html", ("", "kernel=1"))):
            for hash_ in hashes:
                for theme in ("light", "dark"):
                    b.open(page, f"{hash_}&theme={theme}")
                    b.js("document.querySelectorAll('details').forEach(d => d.open = true)")
                    self.assertEqual(b.js(CONTRAST), [], f"{page} {hash_} {theme}")
                    self.assertEqual(b.js(UNNAMED), [], f"{page} {hash_} {theme}")

    def test_marks_and_roofs_on_the_chart_have_three_to_one(self):
        b.open("step.html")
        for palette in b.js(COLORS_ON_CHART):
            for color in (*palette["level"].values(), palette["warning"], palette["muted"]):
                self.assertGreaterEqual(contrast(color, palette["background"]), 3, color)
            for color in (palette["ink"], palette["muted"]):
                self.assertGreaterEqual(contrast(color, palette["background"]), 4.5, color)

    def test_tab_reaches_every_control_and_focus_is_seen(self):
        b.open("step.html")
        wanted = set(b.js("return [...document.querySelectorAll('button, input, select')].filter(e => e.offsetParent && e.tabIndex >= 0).map((e, i) => e.dataset.tab = String(i))"))
        seen, outlines = set(), set()
        for _ in range(len(wanted) + 30):
            b.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
            b.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
            tab, outline = b.js("const e = document.activeElement; return [e.dataset.tab ?? null, getComputedStyle(e).outlineStyle]")
            seen.add(tab)
            if tab and outline == "none":
                outlines.add(b.js("return document.activeElement.outerHTML"))
        self.assertEqual(wanted - seen, set())
        self.assertEqual(outlines, set())

    def test_axe_finds_no_violation(self):
        script = Path(os.environ.get("GAMBREL_AXE", ""))
        if not script.is_file():
            self.skipTest("axe-core is not here; tools/fetch_axe.sh fetches it and GAMBREL_AXE names the file")
        source = script.read_text(encoding="utf-8")
        found = []
        for page, hash_ in (("step.html", "kernel=5"), ("step.html", "theme=dark"), ("views.html", "view=1"), ("views.html", "view=2"), ("views.html", "view=3&theme=dark"), ("compared.html", ""),
                            ("measured.html", ""), ("explored.html", "theme=dark"), ("explored.html", ""), ("joined.html", ""), ("traced.html", "kernel=0"), ("traced.html", "theme=dark")):
            b.open(page, hash_)
            b.js(source)
            answer = b.driver.execute_async_script("const done = arguments[arguments.length - 1]; axe.run().then(r => done(r.violations), e => done([{id: String(e), nodes: []}]))")
            for v in answer:
                nodes = [re.sub(r"\s+", " ", n["html"])[:120] for n in v["nodes"][:3]]
                found.append(f"{page} {hash_}: {v['id']}: {nodes}")
        self.assertEqual(found, [])
