#!/usr/bin/env python3
"""Does the page do what it says, in a real Chromium?   test_page.py PAGES GAMBREL

PAGES is the folder that make_pages filled. Exit status 77, "skipped", without a browser. GAMBREL_UPDATE_GOLDEN=1 records pictures.
"""
import csv
import io
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import browser as browser_module
import case
import pictures
from case import SHOWN, PageTest

b = None
ROWS = "return [...document.querySelectorAll('.kernels tbody tr[data-row]')].map(r => r.dataset.row)"
HASH = "return decodeURIComponent(location.hash)"
# Where a point of a row lies on the screen, found as a reader would: from the axes that the page itself drew.
POINT = """
  const data = JSON.parse(document.getElementById('data').textContent), view = data.views[arguments[2] || 0];
  const c = view.rows, i = arguments[0], flop = c.flop[i], box = document.querySelector('.upper').getBoundingClientRect();
  const chart = view.charts[0], p = new URLSearchParams(location.hash.slice(1)).get('box');
  const [x0, x1, y0, y1] = p ? p.split(',').map(Number) : [...chart.x, ...chart.y];
  const x = Math.log10(flop / c.bytes[arguments[1]][i]), y = Math.log10(flop / c.time[i]);
  return [box.left + 98 + (x - x0) / (x1 - x0) * (box.width - 16 - 98), box.top + box.height - 50 - (y - y0) / (y1 - y0) * (box.height - 64)]
"""
# The colour of the lower canvas at a point of the screen.
PIXEL = """
  const c = document.querySelector('.roofline canvas'), r = c.getBoundingClientRect(), copy = document.createElement('canvas');
  const g = copy.getContext('2d', { willReadFrequently: true });
  g.drawImage(c, arguments[0] - r.left, arguments[1] - r.top, 1, 1, 0, 0, 1, 1);
  return [...g.getImageData(0, 0, 1, 1).data].slice(0, 3)
"""


class Chart(PageTest):
    def test_hover_tells_everything_of_a_kernel(self):
        b.open("step.html")
        x, y = b.js(POINT, 0, "DRAM")
        b.mouse("mouseMoved", x, y)
        text = b.js("const t = document.querySelector('.tooltip'); return t.hidden ? '' : t.innerText")
        for part in ("volta_fp16_s884cudnn", "forward", "66.2 ms", "43.2 % of all", "Launches", "8", "Tensor FP16 5.54 TFLOP", "FP32 1.95 GFLOP",
                     "83.7 TFLOP/s", "L1", "L2", "DRAM", "939", "78.0 %", "Tensor FP16, at 78.0 % of that roof", "measured"):
            self.assertIn(part, text)
        b.mouse("mouseMoved", x, y + 150)
        self.assertTrue(b.js("return document.querySelector('.tooltip').hidden"))

    def test_click_isolates_with_the_points_of_all_levels_joined_and_esc_releases(self):
        b.open("step.html")
        x, y = b.js(POINT, 0, "DRAM")
        other = b.js(POINT, 1, "DRAM")
        hue = lambda at: max(b.js(PIXEL, *at)) - min(b.js(PIXEL, *at))
        ahead = b.js(PIXEL, *other)
        self.assertGreater(hue(other), 100)
        b.click(x, y)
        self.assertIn("kernel=0", b.js(HASH))
        self.assertEqual(b.js("return document.querySelector('tr.chosen').dataset.row"), "0")
        self.assertIn("volta_fp16_s884cudnn_fp16_256x64", b.js("return document.querySelector('.panel .name').innerText"))
        self.assertLess(hue(other), 60, "other kernels fade")
        middle = (x + b.js(POINT, 0, "L2")[0]) / 2
        self.assertLess(min(max(b.js(PIXEL, middle, y + d)) for d in (-1, 0, 1)), 150, "a strong line joins the levels")
        b.js("document.getElementById('chart').focus()")
        b.key("Escape")
        self.assertEqual(b.js(HASH), "")
        self.assertEqual(b.js(PIXEL, *other), ahead)

    def test_shift_click_isolates_several_and_a_second_click_releases(self):
        b.open("step.html")
        first, second = b.js(POINT, 0, "DRAM"), b.js(POINT, 1, "DRAM")
        b.click(*first)
        b.click(*second, modifiers=8)
        self.assertIn("kernel=0,1", b.js(HASH))
        b.click(*second, modifiers=8)
        b.click(*first)
        self.assertEqual(b.js(HASH), "")

    def test_dragging_pans_and_the_wheel_zooms_about_the_pointer(self):
        b.open("step.html")
        x, y = b.js(POINT, 0, "DRAM")
        b.drag(x - 200, y + 100, x - 300, y + 160)
        b.wait(lambda: "box=" in b.js(HASH))
        moved = b.js(POINT, 0, "DRAM")
        self.assertAlmostEqual(moved[0], x - 100, delta=2)
        self.assertAlmostEqual(moved[1], y + 60, delta=2)
        panned = b.js(HASH)
        b.mouse("mouseWheel", moved[0], moved[1], deltaX=0, deltaY=-400)
        b.wait(lambda: b.js(HASH) != panned)
        box = [float(v) for v in b.js("return new URLSearchParams(location.hash.slice(1)).get('box')").split(",")]
        start = b.js("const c = JSON.parse(document.getElementById('data').textContent).views[0].charts[0]; return [...c.x, ...c.y]")
        self.assertLess(box[1] - box[0], 0.7 * (start[1] - start[0]))
        held = b.js(POINT, 0, "DRAM")
        self.assertAlmostEqual(held[0], moved[0], delta=2)
        self.assertAlmostEqual(held[1], moved[1], delta=2)
        b.js("document.getElementById('zoom-home').click()")
        self.assertEqual(b.js(HASH), "")

    def test_keys_pan_zoom_and_walk_by_falling_time(self):
        b.open("step.html")
        b.js("document.getElementById('chart').focus()")
        start = b.js(POINT, 0, "DRAM")
        b.key("ArrowRight")
        self.assertLess(b.js(POINT, 0, "DRAM")[0], start[0] - 20)
        b.key("0", "0")
        self.assertEqual(b.js(HASH), "")
        b.key("+", "+")
        self.assertIn("box=", b.js(HASH))
        b.key("0", "0")
        b.key("n", "n")
        self.assertEqual(b.js(HASH), "#kernel=0")
        b.key("n", "n")
        self.assertEqual(b.js(HASH), "#kernel=1")
        b.key("p", "p")
        self.assertEqual(b.js(HASH), "#kernel=0")
        self.assertIn("78.0 % of roof", b.js("return document.querySelector('[aria-live]').textContent"))
        b.key("/", "/")
        self.assertEqual(b.js("return document.activeElement.id"), "search")

    def test_level_toggles_hide_points_and_roof(self):
        b.open("step.html")
        point = b.js(POINT, 0, "DRAM")
        hue = lambda: max(b.js(PIXEL, *point)) - min(b.js(PIXEL, *point))
        self.assertGreater(hue(), 100)
        self.chip("DRAM")
        self.assertLess(hue(), 30, "the mark is gone; a grid line or a name may be there")
        b.mouse("mouseMoved", *point)
        self.assertTrue(b.js("return document.querySelector('.tooltip').hidden"))
        self.chip("DRAM")
        self.assertEqual(b.js(HASH), "")

    def test_theoretical_and_measured_roofs_are_drawn_together_or_alone(self):
        b.open("step.html")
        names = lambda: [t for t in self.svg_texts() if "GB/s" in t or "TB/s" in t or t.startswith("FP32 ")]
        both = names()
        self.assertIn("DRAM 897 GB/s", both)
        self.assertIn("DRAM 829 GB/s measured", both)
        self.assertIn("FP32 12.9 TFLOP/s measured", both)
        self.set("roofs", "measured", "change")
        self.assertEqual(sorted(names()), ["DRAM 829 GB/s measured", "FP32 12.9 TFLOP/s measured"])
        self.set("roofs", "theoretical", "change")
        self.assertIn("DRAM 897 GB/s", names())
        self.assertNotIn("DRAM 829 GB/s measured", names())
        self.set("roofs", "none", "change")
        self.assertEqual(names(), [])

    def svg_texts(self):
        b.js("document.getElementById('save-svg').click()")
        root = ElementTree.fromstring(b.downloaded("svg"))
        return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_marker_size_follows_time_until_switched_off(self):
        b.open("step.html")
        x, y = b.js(POINT, 0, "DRAM")
        edge = b.js(PIXEL, x + 8, y + 8)
        b.js("document.getElementById('sized').click()")
        self.assertIn("size=equal", b.js(HASH))
        self.assertNotEqual(b.js(PIXEL, x + 8, y + 8), edge)


class Filters(PageTest):
    def test_search_is_a_regular_expression_over_chart_and_table(self):
        b.open("step.html")
        self.set("search", "^volta_.*(256x|64_nn)", "input")
        self.shown("2 of 12 kernels shown")
        self.assertEqual(len(b.js(ROWS)), 2)
        self.set("search", "volta_(", "input")
        self.assertIn("not yet", b.js("return document.getElementById('search-fault').textContent"))
        self.shown("12 of 12")

    def test_precision_and_phase_filters(self):
        b.open("step.html")
        self.chip("fp32")
        self.shown("4 of 12")
        self.chip("no FLOP")
        self.shown("2 of 12")
        self.chip("fp32"), self.chip("no FLOP"), self.chip("forward")
        self.shown("4 of 12 kernels shown, 15.3 % of the time")
        self.assertIn("hide-phases=forward", b.js(HASH))

    def test_slider_keeps_the_kernels_that_make_up_the_first_part_of_the_time(self):
        b.open("step.html")
        self.set("share", 50, "input")
        self.shown("2 of 12 kernels shown, 57.2 % of the time")
        self.set("share", 43, "input")
        self.shown("1 of 12")
        self.set("share", 44, "input")
        self.shown("2 of 12")

    def test_warnings_lead_to_the_kernels_they_speak_of(self):
        b.open("step.html")
        text = b.js("return document.getElementById('warnings').innerText")
        for part in ("1 kernel above a roof", "1 kernel with amounts that are missing", "Mixed clocks", "1290 to 1330 MHz", "cut off in the middle"):
            self.assertIn(part, text)
        b.js("document.querySelector('[data-only=above]').click()")
        self.assertEqual(b.js(ROWS), ["5"])
        b.js("document.querySelector('[data-only=incomplete]').click()")
        self.shown("1 of 12")
        b.js("document.getElementById('reset').click()")
        self.shown("12 of 12")

    def test_state_in_the_hash_is_restored(self):
        b.open("step.html", "search=kernel&hide-levels=L1&time=90&sort=-launches&theme=dark&kernel=2&box=-1,2,11,14")
        self.assertEqual(b.js("return document.documentElement.dataset.theme"), "dark")
        self.assertEqual(b.js("return document.getElementById('search').value"), "kernel")
        self.assertEqual(b.js("return document.querySelector('[data-chip=L1]').getAttribute('aria-pressed')"), "false")
        self.assertEqual(b.js("return document.querySelector('[aria-sort=descending] button').dataset.sort"), "launches")
        self.assertEqual(b.js("return document.querySelector('tr.chosen')?.dataset.row"), "2")
        b.open("step.html", "search=(&view=99&kernel=x,1e9&box=1,2&time=-5&sort=%zz")
        self.shown("12 of 12")


class Table(PageTest):
    def test_heads_sort_and_rows_select(self):
        b.open("step.html")
        self.assertEqual(b.js(ROWS)[:2], ["0", "1"])
        b.js("document.querySelector('[data-sort=launches]').click()")
        launches = b.js("return [...document.querySelectorAll('.kernels tbody tr[data-row] td:nth-child(3)')].map(t => +t.innerText)")
        self.assertEqual(launches, sorted(launches, reverse=True))
        b.js("document.querySelector('[data-sort=launches]').click()")
        self.assertIn("sort=+launches", b.js(HASH))
        b.js("document.querySelector('tr[data-row=\"7\"]').click()")
        self.assertIn("kernel=7", b.js(HASH))
        self.assertEqual(b.js("return document.querySelector('tr.chosen').getAttribute('aria-selected')"), "true")

    def test_rows_are_walked_with_the_keyboard(self):
        b.open("many.html")
        b.js("document.querySelector('.kernels tbody tr[data-row]').focus()")
        b.key("End")
        self.assertEqual(b.js("return document.activeElement.getAttribute('aria-rowindex')"), "10001")
        b.key("Home")
        b.key("ArrowDown")
        b.key("Enter", "\r")
        self.assertIn("kernel=1", b.js(HASH))

    def test_totals_zero_flop_bottlenecks_machine_and_origin_of_the_page(self):
        b.open("step.html")
        text = lambda id_: b.js("return document.getElementById(arguments[0]).innerText", id_)
        for part in ("forward", "backward", "total", "767", "153 ms", "5.76 TFLOP"):
            self.assertIn(part, text("totals"))
        self.assertIn("212 of 767 launches (27.6 %)", text("zero-flop"))
        for part in ("Tensor FP16", "76.9 ms", "50.2 %", "DRAM", "FP32"):
            self.assertIn(part, text("bounds"))
        for part in ("Tesla V100", "897 GB/s", "datasheet", "829 GB/s", "measured", "a benchmark"):
            self.assertIn(part, b.js("document.querySelectorAll('details').forEach(d => d.open = true); return document.getElementById('machine-facts').innerText"))
        footer = b.js("return document.querySelector('footer').innerText")
        self.assertIn("gambrel analyze step.ncu-rep -o page.html", footer)
        self.assertRegex(footer, r"gambrel \d+\.\d+\.\d+")


class Saving(PageTest):
    def test_csv_has_the_columns_of_the_command_and_the_rows_shown(self):
        b.open("step.html", "search=volta_s")
        b.js("document.getElementById('save-csv').click()")
        rows = list(csv.DictReader(io.StringIO(b.downloaded("csv").decode())))
        self.assertEqual(len(rows), 2)
        self.assertEqual(float(rows[0]["time_s"]), 0.0107)
        self.assertEqual(float(rows[0]["flop_tensor"]), 0.637e12)
        self.assertEqual(rows[0]["bound"], "tensor_fp16")
        self.assertAlmostEqual(float(rows[0]["ai_dram"]), (0.22e9 + 0.637e12) / 2.1e9)

    def test_svg_is_well_formed_and_shows_the_current_view(self):
        b.open("step.html", "search=volta_s&theme=dark")
        b.js("document.getElementById('save-svg').click()")
        data = b.downloaded("svg")
        root = ElementTree.fromstring(data)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        texts = " ".join(e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text"))
        self.assertIn("volta_sgemm_128x64_nn", texts)
        self.assertNotIn("bn_fw_tr", texts)
        self.assertIn(b"#15181d", data)

    def test_png_is_a_picture_of_twice_the_size(self):
        b.open("step.html")
        width = b.js("return document.querySelector('.roofline').clientWidth")
        b.js("document.getElementById('save-png').click()")
        picture = pictures.load(b.downloaded("png"))
        self.assertEqual(picture.width, 2 * width)
        self.assertGreater(len(picture.convert("RGB").getcolors(1 << 24)), 50)


class Views(PageTest):
    def test_tabs_switch_by_mouse_and_keyboard(self):
        b.open("views.html")
        b.js("document.getElementById('tab-2').click()")
        self.assertIn("view=2", b.js(HASH))
        self.assertTrue(b.js("return document.querySelector('.roofline-part').hidden"))
        b.js("document.getElementById('tab-2').focus()")
        b.key("ArrowLeft")
        self.assertEqual(b.js("return document.activeElement.id"), "tab-1")

    def test_layer_strip_is_coloured_by_bottleneck_and_linked_to_its_kernel(self):
        b.open("views.html", "view=1")
        boxes = b.js("return [...document.querySelectorAll('.layer')].map(l => [l.offsetWidth, l.style.background, l.getAttribute('aria-label')])")
        self.assertEqual(len(boxes), 54)
        self.assertEqual(len({color for _, color, _ in boxes}), 4)
        self.assertGreater(max(w for w, _, _ in boxes), 3 * min(w for w, _, _ in boxes))
        b.js("document.querySelectorAll('.layer')[3].click()")
        self.assertIn("kernel=3", b.js(HASH))
        b.js("document.querySelectorAll('.layer')[5].focus()")
        self.assertIn("bound", b.js("return document.querySelector('.tooltip').innerText.toLowerCase()"))

    def test_sweeps_show_their_levels_and_exploration_its_fronts(self):
        b.open("views.html", "view=2")
        self.assertEqual(b.js("return document.querySelectorAll('.guide').length"), 3)
        self.assertIn("L2 2.6 TB/s", b.js("return document.querySelector('#curves-0 svg').textContent"))
        self.assertIn("MiB", b.js("return document.querySelector('#curves-0 svg').textContent"))
        b.open("views.html", "view=3")
        self.assertEqual(b.js("return document.querySelectorAll('#curves-0 path:not(.spread)').length"), 4)
        self.assertEqual(b.js("return document.querySelectorAll('#curves-1 .dot').length"), 67)

    def test_a_page_without_views_says_so_and_breaks_nothing(self):
        b.open("empty.html")
        self.assertIn("nothing to show", b.js("return document.body.innerText"))


class Compared(PageTest):
    def test_pairs_have_changes_arrows_and_the_roof_that_explains_them(self):
        b.open("compared.html", "sort=-dtime")
        self.shown("13 of 13")
        cells = b.js("return [...document.querySelectorAll('.kernels tbody tr[data-row]')].map(r => [...r.children].map(c => c.innerText))")
        heads = b.js("return [...document.querySelectorAll('.kernels thead button')].map(h => h.dataset.sort)")
        batch_norm = dict(zip(heads, next(c for c in cells if "bn_fw_tr" in c[0])))
        self.assertEqual(batch_norm["dtime"], "\u221247.5 %")
        self.assertEqual(batch_norm["d-DRAM"], "\u221250.0 %")
        self.assertRegex(batch_norm["explained"], r"DRAM bytes \(\d+ %\)")
        adam = dict(zip(heads, next(c for c in cells if "adam_step" in c[0])))
        self.assertEqual(adam["explained"], "rate")
        text = b.js("return document.getElementById('compared').innerText")
        for part in ("11 pairs matched by name", "1 only in step.ncu-rep", "1 only in fused.ncu-rep", "time"):
            self.assertIn(part, text)
        b.js("document.querySelector('[data-only=unmatched]').click()")
        self.shown("2 of 13")
        self.chip("only")
        b.js("document.querySelector('tr[data-row=\"3\"]').click()")
        self.assertIn("change", b.js("return document.querySelector('.panel').innerText"))


class Names(PageTest):
    def test_hostile_names_are_shown_as_text(self):
        b.open("hostile.html")
        self.assertIsNone(b.js("return window.hacked ?? null"))
        self.assertEqual(b.js("return document.querySelectorAll('img, main script').length"), 0)
        names = b.js("return [...document.querySelectorAll('.kernels tbody bdi')].map(e => e.textContent)")
        self.assertEqual(len(names), 9)
        self.assertEqual(b.js("return document.title"), '<script>window.hacked = 4</script> & "title"')
        full = []
        for row in range(9):
            b.open("hostile.html", f"kernel={row}")
            full.append(b.js("return document.querySelector('.panel .name').textContent"))
        self.assertEqual(full[0], "<script>window.hacked = 1</script>")
        self.assertEqual(full[1], "</script><img src=x onerror=\"window.hacked = 2\">")
        self.assertEqual(full[2], "\"quotes\" and 'others' & &amp; `ticks` ${window.hacked = 3}")
        self.assertGreater(len(full[3]), 10000)
        self.assertEqual(full[4], "\u05e9\u05dc\u05d5\u05dd kernel \u0639\u0631\u0628")
        self.assertEqual(full[5], "override \\u202edetrevni")
        self.assertEqual(full[7:], ["__proto__", "constructor"])
        self.assertLessEqual(b.js("return document.documentElement.scrollWidth"), 1400, "a name of 10 kB makes nothing wider")
        self.assertIn("\\u202e", b.js("return document.body.innerText"))
        b.open("hostile.html")
        b.js("document.getElementById('save-svg').click()")
        ElementTree.fromstring(b.downloaded("svg"))
        self.assertIsNone(b.js("return window.hacked ?? null"))


class Size(PageTest):
    def test_ten_thousand_kernels_are_drawn_and_filtered_within_a_second(self):
        # The best of three: what else runs on this machine is not what is asked.
        drawn = []
        for _ in range(3):
            b.open("many.html")
            drawn.append(float(b.js("return document.documentElement.dataset.drawMs")))
        self.shown("10,000 of 10,000")
        times = {"draw": min(drawn)}
        for pattern in ("layer_1", ""):
            times[f"filter {pattern!r}"] = min(b.js("""const e = document.getElementById('search'), t = performance.now(); e.value = arguments[0];
                e.dispatchEvent(new Event('input'));
                const g = document.createElement('canvas').getContext('2d');  // reading a pixel back waits until all are drawn
                g.drawImage(document.querySelector('.roofline canvas'), 0, 0); g.getImageData(0, 0, 1, 1);
                return performance.now() - t""", pattern) for _ in range(3))
        print("10,000 kernels, ms:", {k: round(v) for k, v in times.items()}, file=sys.stderr)
        self.assertLess(max(times.values()), 1000)
        self.assertLess(b.js("return document.querySelectorAll('.kernels tr').length"), 100, "only rows that can be seen are in the document")

    def test_the_page_without_data_is_small(self):
        self.assertLess((b.pages / "empty.html").stat().st_size, 1.5e6)


if __name__ == "__main__":
    if lacking := browser_module.missing():
        print(f"page: not tested in a browser, there is no {lacking}")
        sys.exit(77)
    pages = sys.argv.pop(1)
    # Here, so that looks and access are found by unittest beside the classes above.
    from looks import Access, Looks  # noqa: F401
    from views import Explored, Joined, Measured  # noqa: F401
    from faults import Faults  # noqa: F401
    from timeline import Timeline  # noqa: F401
    from whatif import WhatIf  # noqa: F401
    import faults
    import looks
    import timeline
    import views
    import whatif
    with tempfile.TemporaryDirectory() as downloads:
        b = browser_module.Browser(Path(pages).resolve(), downloads)
        faults.b = looks.b = timeline.b = views.b = whatif.b = case.b = b
        try:
            outcome = unittest.main(exit=False, verbosity=1)
        finally:
            b.quit()
    sys.exit(0 if outcome.result.wasSuccessful() else 1)
