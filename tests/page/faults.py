"""Faults that readers of the page met once: labels, names that are cut, colours, search with isolation, small screens, tab stops."""
from case import PageTest

b = None
TEXT = "return document.querySelector(arguments[0])?.innerText ?? ''"
# Every text that the chart draws, with the place of each.
DRAWN = """
  const texts = [], old = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (t, x, y) { texts.push(t); return old.apply(this, arguments) };
  document.getElementById('zoom-home').click();
  dispatchEvent(new Event('resize'));
  document.getElementById('sized').click(); document.getElementById('sized').click();
  CanvasRenderingContext2D.prototype.fillText = old;
  return texts
"""


def colors(page, hash_):
    b.open(page, hash_)
    return b.js("return Object.fromEntries([...document.querySelectorAll('#bounds tbody tr')].map(r => "
                "[r.querySelector('th').textContent, r.querySelector('.swatch').style.background]))")


class Faults(PageTest):
    def test_the_largest_kernels_are_named_with_their_share(self):
        b.open("step.html")
        texts = b.js(DRAWN)
        longest = b.js("return [...document.querySelectorAll('.kernels tbody tr')].filter(r => !r.innerText.includes('no FLOP')).slice(0, 3).map(r => r.querySelector('bdi').textContent)")
        for name in longest:
            self.assertTrue(any(t.startswith(name[:8]) and t.endswith("%") for t in texts), f"{name}: {texts}")

    def test_what_to_try_is_under_the_answer_and_unfolds(self):
        b.open("step.html")
        lines = b.js("return document.querySelectorAll('#advice li').length")
        self.assertGreater(lines, 0)
        self.assertIn(f"What to try: {lines} suggestion", b.js(TEXT, "#advice summary"))
        self.assertFalse(b.js("return document.getElementById('advice').open"))
        b.js("document.querySelector('#advice summary').click()")
        self.assertIn("% of the time", b.js(TEXT, "#advice"))

    def test_long_names_lose_their_middle_and_keep_their_end(self):
        b.open("step.html")
        found = b.js("""return [...document.querySelectorAll('.kernels .cut')].map(c => {
            const [head, tail] = [c.querySelector('.head'), c.querySelector('.tail')].map(e => e.getBoundingClientRect()), td = c.closest('td').getBoundingClientRect();
            return [tail.width > 0, tail.right <= td.right + 1] })""")
        self.assertTrue(found)
        for seen, inside in found:
            self.assertTrue(seen and inside)
        clipped = [t for t in b.js(DRAWN) if "…" in t and not t.startswith("…")]
        self.assertTrue(clipped)
        for text in clipped:
            name = text.rsplit(" ", 2)[0]  # without the share
            self.assertFalse(name.endswith("…"), text)

    def test_a_pipe_has_the_same_colour_on_every_page(self):
        pages = [colors("step.html", "theme=light"), colors("predicted.html", "theme=light"), colors("compared.html", "theme=light")]
        for name in ("FP32", "DRAM"):
            self.assertEqual(len({p[name] for p in pages if name in p}), 1, name)
        self.assertNotEqual(pages[0]["FP32"], pages[0]["Tensor FP16"])

    def test_a_search_that_leaves_the_isolated_kernel_out_isolates_nothing(self):
        b.open("step.html", "kernel=0")
        self.assertIn("volta", b.js(TEXT, ".panel .name"))
        self.set("search", "adam", "input")
        self.assertEqual(b.js("return document.querySelectorAll('.panel .name').length"), 0)
        self.assertEqual(b.js("return document.querySelectorAll('.kernels tr.chosen').length"), 0)
        self.set("search", "", "input")
        self.assertIn("volta", b.js(TEXT, ".panel .name"))

    def test_arrows_have_a_legend(self):
        b.open("compared.html")
        self.assertIn("an arrow leads from the hollow mark", b.js(TEXT, "#arrow-legend"))
        b.open("step.html")
        self.assertEqual(b.js(TEXT, "#arrow-legend"), "")

    def test_the_tables_of_a_comparison_are_whole(self):
        for width in (1400, 390):
            b.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            try:
                b.open("compared.html", size=(max(width, 500), 900))
                cut = b.js("const w = document.querySelector('#compared .wide'); return [w.scrollWidth - w.clientWidth, w.scrollHeight - w.clientHeight]")
                self.assertLessEqual(max(cut), 1, width)
                if width == 1400:
                    table = b.js("const s = document.querySelector('.scroller'); return s.scrollWidth - s.clientWidth")
                    self.assertLessEqual(table, 1)
            finally:
                b.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_on_a_small_screen_the_time_stands_beside_the_name_and_filters_are_folded(self):
        b.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        try:
            b.open("step.html", size=(500, 800))
            heads = b.js("return [...document.querySelectorAll('.kernels thead th')].map(h => [h.textContent, h.getBoundingClientRect().right])")
            self.assertTrue(heads[1][0].startswith("Time"))
            self.assertLess(heads[1][1], 390)
            self.assertFalse(b.js("return document.querySelector('.filters').open"))
            self.assertLess(b.js("return document.getElementById('chart').getBoundingClientRect().top"), 300)
        finally:
            b.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_the_strip_is_one_stop_of_the_tab_key_and_arrows_go_on(self):
        b.open("views.html", "view=1")
        self.assertGreater(b.js("return document.querySelectorAll('.layer').length"), 5)
        self.assertEqual(b.js("return document.querySelectorAll('.layer[tabindex=\"0\"]').length"), 1)
        b.js("document.querySelector('.layer').focus()")
        b.driver.switch_to.active_element.send_keys("\ue014")  # right
        self.assertEqual(b.js("return document.activeElement.dataset.layer"), "1")
        self.assertEqual(b.js("return document.querySelectorAll('.layer[tabindex=\"0\"]').length"), 1)

    def test_columns_that_need_it_have_an_explanation(self):
        b.open("step.html")
        for key in ("roof", "bound", "ai-DRAM"):
            title = b.js("return document.querySelector(`[data-sort=\"${arguments[0]}\"]`).closest('th').title", key)
            self.assertGreater(len(title), 20, key)

    def test_a_counter_that_nobody_needs_is_no_alarm(self):
        b.open("step.html")
        self.assertNotIn("fp64 work", b.js(TEXT, "#warnings"))
        rows = b.js("const v = JSON.parse(document.getElementById('data').textContent).views[0].rows;"
                    "return v.reason.map((r, i) => [v.texts[r], v.incomplete[i]])")
        optional = [incomplete for reason, incomplete in rows if "fp64 work" in reason]
        self.assertTrue(optional)
        self.assertEqual(set(optional), {0})
        needed = [incomplete for reason, incomplete in rows if "L2 bytes" in reason]
        self.assertEqual(set(needed), {1})

    def test_the_answer_is_on_the_first_screen(self):
        for page, part in (("step.html", "at the roofs"), ("predicted.html", "images/s"), ("decode.html", "tokens/s"),
                           ("compared.html", "Time "), ("explored.html", "gives")):
            b.open(page)
            self.assertIn(part, b.js(TEXT, "#answer"), page)
            self.assertLess(b.js("return document.getElementById('answer').getBoundingClientRect().bottom"), 250, page)
        b.open("step.html")
        self.assertTrue(b.js("return !!document.querySelector('[data-sort=\"headroom\"]')"))

    def test_shares_of_a_comparison_are_of_a_rows_own_side_and_rows_say_which(self):
        b.open("compared.html")
        rows = b.js("const c = JSON.parse(document.getElementById('data').textContent).views[0].compared;"
                    "return [c.side, c.share, c.before, c.after]")
        side, share, before, after = rows
        self.assertIn(-1, side)
        b.js("document.querySelector('.scroller').style.maxHeight = 'none'")
        b.wait(lambda: b.js("return document.querySelectorAll('.kernels tbody tr[data-row]').length") == len(side))
        texts = b.js("return Object.fromEntries([...document.querySelectorAll('.kernels tbody tr[data-row]')].map(r => [r.dataset.row, r.innerText]))")
        for i, where in enumerate(side):
            name = {-1: before, 1: after}.get(where)
            self.assertEqual("only in" in texts[str(i)], name is not None)
            if share[i] is not None and share[i] > 0.001:
                self.assertIn(f"{100 * share[i]:.1f} %", texts[str(i)])
        # Two sides have no sum.
        sums = b.js("return [...document.querySelectorAll('#bounds tbody tr td:last-child')].map(t => Number(t.innerText))")
        self.assertEqual(sum(sums), sum(1 for s in side if s >= 0))

    def test_layers_are_called_layers_and_no_alarm_is_raised_over_a_prediction(self):
        for page in ("predicted.html", "bert.html", "decode.html"):
            b.open(page)
            heads = b.js("return [...document.querySelectorAll('.kernels thead th')].map(h => h.textContent)")
            self.assertEqual((heads[0], "Runs" in heads, "Launches" in heads), ("Layer", True, False))
            self.assertNotIn("above a roof", b.js(TEXT, "#warnings"))
            self.assertIn("what the model waits for", b.js(TEXT, "#layers-title"))
            self.assertIn("nearest roof", b.js(TEXT, "#bounds-title"))
            self.assertEqual(b.js(TEXT, "#zero-flop").count("None"), 0)

    def test_a_giant_name_leaves_room_for_what_stands_below_it(self):
        b.open("hostile.html", "kernel=3")
        height = b.js("return document.querySelector('.panel .name').getBoundingClientRect().height")
        self.assertLess(height, 200)
