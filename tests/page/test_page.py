#!/usr/bin/env python3
"""Does the page do what it says, in a real Chromium?   test_page.py PAGES

PAGES is the folder that make_pages filled. Exit status 77, "skipped", without a browser. GAMBREL_UPDATE_GOLDEN=1 records pictures;
GAMBREL_JUDGE_SPEED=1 also fails where the page is too slow.
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
from case import PageTest

b = None
ROWS = "return [...document.querySelectorAll('.kernels tbody tr[data-row]')].map(r => r.dataset.row)"
HASH = "return decodeURIComponent(location.hash)"


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
    def test_ten_thousand_kernels_are_drawn_and_filtered(self):
        # The best of three: the time that other programs take is not the question.
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
        if browser_module.judges_speed():
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
    from chart import Chart  # noqa: F401
    from looks import Access, Looks  # noqa: F401
    from views import Explored, Joined, Measured  # noqa: F401
    from faults import Faults  # noqa: F401
    from timeline import Timeline  # noqa: F401
    from whatif import WhatIf  # noqa: F401
    import chart
    import faults
    import looks
    import timeline
    import views
    import whatif
    with tempfile.TemporaryDirectory() as downloads:
        b = browser_module.Browser(Path(pages).resolve(), downloads)
        chart.b = faults.b = looks.b = timeline.b = views.b = whatif.b = case.b = b
        try:
            outcome = unittest.main(exit=False, verbosity=1)
        finally:
            b.quit()
    sys.exit(0 if outcome.result.wasSuccessful() else 1)
