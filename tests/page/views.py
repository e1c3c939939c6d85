"""The views of measure and explore, and several results on one page: does each part do what it says?"""
import csv
import io
import xml.etree.ElementTree as ElementTree

import pictures
from case import PageTest

b = None
HASH = "return decodeURIComponent(location.hash)"
TEXT = "return document.querySelector(arguments[0])?.innerText ?? ''"
HIDDEN = "return document.querySelector(arguments[0]).offsetParent === null"
TOOLTIP = "const t = document.querySelector('.tooltip'); return t.hidden ? '' : t.innerText"
SPOKEN = "return document.querySelector('[aria-live]')?.textContent ?? ''"
# Where the n-th mark of a chart is on the screen.
MARK = """
  const m = document.querySelectorAll(`#${arguments[0]} .dot`)[arguments[1]];
  m.scrollIntoView({ block: 'center' });
  const r = m.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]
"""
COLUMN = "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map(r => r.children[arguments[1]].innerText)"
TEXTS = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"


def saved(id_, kind):
    b.js("document.getElementById(`${arguments[0]}-${arguments[1]}`).click()", id_, kind)
    return b.downloaded(kind)


class Measured(PageTest):
    def test_the_sweep_shows_levels_capacities_and_the_spread_of_every_point(self):
        b.open("measured.html")
        chart = lambda n: b.js(f"return document.querySelector('#curves-{n} svg').textContent")
        for part in ("L1 15", "DRAM 8", "L1 ends, 128 KiB", "Working set", "Bandwidth"):
            self.assertIn(part, chart(0))
        for part in ("L2 2.9", "L2 ends, 6 MiB"):
            self.assertIn(part, chart(1))
        marks = b.js("return document.querySelectorAll('#curves-0 .dot').length")
        self.assertGreater(marks, 5)
        self.assertEqual(b.js("return document.querySelectorAll('#curves-0 .spread').length"), marks)

    def test_hover_shows_a_point_with_its_interval_and_samples(self):
        b.open("measured.html")
        x, y = b.js(MARK, "curves-0", 0)
        b.mouse("mouseMoved", x, y)
        text = b.js(TOOLTIP)
        for part in ("samples", "Working set", "Bandwidth", "TB/s", "95 % interval"):
            self.assertIn(part, text)
        b.mouse("mouseMoved", 5, 5)
        self.assertEqual(b.js(TOOLTIP), "")

    def test_arrow_keys_go_through_the_points_and_are_spoken(self):
        b.open("measured.html")
        b.js("document.querySelector('#curves-0 svg').focus()")
        b.key("ArrowRight")
        first = b.js(SPOKEN)
        b.key("ArrowRight")
        second = b.js(SPOKEN)
        self.assertIn("Bandwidth", first)
        self.assertNotEqual(first, second)
        b.key("End")
        self.assertIn("Bandwidth", b.js(TOOLTIP))
        b.key("Escape")
        self.assertEqual(b.js(TOOLTIP), "")

    def test_the_roofline_of_the_machine_stands_beside_it_without_what_is_about_kernels(self):
        b.open("measured.html")
        for part in ("#search", "#share", "#sized", ".panel", ".table-box"):
            self.assertTrue(b.js(HIDDEN, part), part)
        roofline, sweep = (b.js("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                                "return [r.left, r.right, r.top, r.bottom]", s) for s in (".chart-box", "#curves-0"))
        self.assertLess(roofline[1], sweep[0] + 1, "side by side")
        self.assertLess(sweep[2], roofline[3])
        b.js("document.getElementById('save-svg').click()")
        texts = [e.text or "" for e in ElementTree.fromstring(b.downloaded("svg")).iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(any(t.startswith("DRAM") and "theoretical" in t for t in texts), texts)
        self.assertTrue(any(t.startswith("DRAM") and "theoretical" not in t for t in texts), texts)

    def test_levels_of_a_machine_can_be_hidden(self):
        b.open("measured.html")
        self.chip("DRAM")
        b.js("document.getElementById('save-svg').click()")
        self.assertNotIn(b"DRAM", b.downloaded("svg"))
        self.assertIn("hide-levels=DRAM", b.js(HASH))

    def test_ceilings_have_their_proof_and_the_failed_one_is_listed(self):
        b.open("measured.html")
        text = b.js(TEXT, "#table-0")
        for part in ("proved; the roof", "failed: the sum of what was read is <b>wrong</b>", "Not measured", "<script>window.hacked = 7</script>"):
            self.assertIn(part, text)
        self.assertEqual(b.js("return document.querySelectorAll('#table-0 tr.bad').length"), 1)
        self.assertGreater(b.js("return document.querySelectorAll('#table-0 tr.good').length"), 3)
        self.assertIsNone(b.js("return window.hacked ?? null"))
        self.assertIn("L2", b.js(COLUMN, "table-1", 0))

    def test_heads_sort_a_table_by_value_and_by_name(self):
        b.open("measured.html")
        b.js("document.getElementById('table-1-by-2').click()")
        self.assertEqual(b.js("return document.querySelector('#table-1 [aria-sort=descending] button').id"), "table-1-by-2")
        order = b.js(COLUMN, "table-1", 0)
        self.assertLess(order.index("L1"), order.index("DRAM"))
        b.js("document.getElementById('table-1-by-2').click()")
        self.assertEqual(b.js(COLUMN, "table-1", 0), order[::-1])
        b.js("document.getElementById('table-0-by-0').click()")
        names = b.js(COLUMN, "table-0", 0)
        self.assertEqual(names[0], min(names, key=str.lower))

    def test_chart_and_table_are_saved(self):
        b.open("measured.html")
        root = ElementTree.fromstring(saved("curves-0", "svg"))
        self.assertIn("Bandwidth over working set", "".join(root.itertext()))
        rows = list(csv.DictReader(io.StringIO(saved("curves-0", "csv").decode())))
        self.assertEqual(len(rows), b.js("return document.querySelectorAll('#curves-0 .dot').length"))
        self.assertLess(float(rows[0]["low"]), float(rows[0]["Bandwidth"]) * 1.0001)
        picture = pictures.load(saved("curves-0", "png")).convert("RGB")
        self.assertEqual(picture.width, 1120)
        self.assertGreater(len(picture.getcolors(1 << 24)), 20)
        ceilings = list(csv.DictReader(io.StringIO(saved("table-0", "csv").decode())))
        self.assertTrue(any("failed" in c["Proof"] for c in ceilings))


class Explored(PageTest):
    def test_the_front_has_hover_keys_and_one_design_that_is_chosen(self):
        b.open("explored.html")
        self.assertEqual(b.js("return document.querySelectorAll('#curves-1 .chosen').length"), 1)
        self.assertIn("cheapest", b.js("return document.querySelector('#curves-1 svg').textContent"))
        x, y = b.js("const m = document.querySelector('#curves-1 .chosen'); m.scrollIntoView({ block: 'center' });"
                    "const r = m.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]")
        b.mouse("mouseMoved", x, y)
        text = b.js(TOOLTIP)
        for part in ("Cost", "Speed-up"):
            self.assertIn(part, text)
        self.assertRegex(text, r"dram\.bandwidth x|sms x")
        b.js("document.querySelector('#curves-1 svg').focus()")
        b.key("ArrowRight")
        before = b.js(SPOKEN)
        b.key("ArrowDown")
        self.assertNotEqual(b.js(SPOKEN), before)

    def test_sensitivity_is_shown_for_all_networks_each_network_and_each_layer(self):
        b.open("explored.html")
        legend = b.js(TEXTS, "#bars-0 .legend li")
        self.assertEqual(legend, ["all networks", "alexnet", "vgg16"])
        self.assertEqual(b.js("return document.querySelectorAll('#bars-0 .piece').length"), 33)
        heads = b.js(TEXTS, "#table-1 thead button")
        for resource in ("dram.bandwidth", "sms", "clock"):
            self.assertIn(resource, heads)
        self.assertNotIn("l2.capacity", heads)
        self.assertRegex(b.js(TEXT, "#table-1"), r"No layer follows .*l2\.capacity")
        shades = b.js("return [...document.querySelectorAll('#table-1 td[style]')].map(e => e.style.background)")
        self.assertGreater(len(set(shades)), 5)

    def test_bottlenecks_before_and_after_are_stacked_bars_with_words(self):
        b.open("explored.html")
        svg = b.js("return document.querySelector('#bars-1 svg').textContent")
        for part in ("start", "fastest", "cheapest"):
            self.assertIn(part, svg)
        self.assertIn("DRAM", b.js(TEXTS, "#bars-1 .legend li"))
        colors = set(b.js("return [...document.querySelectorAll('#bars-1 .piece')].map(p => p.getAttribute('fill'))"))
        self.assertEqual(len(colors), len(b.js(TEXTS, "#bars-1 .legend li")), "a colour for each bottleneck")
        b.js("document.querySelector('#bars-1 svg').scrollIntoView(); document.querySelector('#bars-1 svg').focus()")
        b.key("ArrowRight")
        self.assertRegex(b.js(TOOLTIP), r"start\s+\S+: .*s, [\d.]+ %")
        b.key("ArrowDown")
        self.assertIn("fastest", b.js(TOOLTIP))

    def test_layers_move_on_the_roofline_from_the_start_to_the_design_with_both_roofs(self):
        b.open("explored.html")
        self.assertIn("Before and after", b.js(TEXT, "#compared"))
        b.js("document.getElementById('save-svg').click()")
        data = b.downloaded("svg")
        self.assertIn(b'stroke-dasharray="1.5 4"', data, "the roofs of the start")
        self.set("roofs", "none", "change")
        b.js("document.getElementById('save-svg').click()")
        self.assertNotIn(b'stroke-dasharray="1.5 4"', b.downloaded("svg"))

    def test_bytes_of_each_pair_lie_on_or_off_the_line_of_equals(self):
        b.open("compared.html")
        self.assertEqual(b.js(TEXTS, "#curves-0 .legend li"), ["L1", "L2", "DRAM"])
        rows = list(csv.DictReader(io.StringIO(saved("curves-0", "csv").decode())))
        off = [r["label"] for r in rows if float(r["Bytes in step.ncu-rep"]) != float(r["Bytes in fused.ncu-rep"])]
        self.assertEqual(len(off), 1)
        self.assertRegex(off[0], r"bn_fw_tr.* at DRAM: -50.0 %")

    def test_times_of_a_simulation_are_not_compared_but_its_bytes_are(self):
        b.open("judged.html")
        heads = b.js("return [...document.querySelectorAll('.kernels thead button')].map(h => h.dataset.sort)")
        self.assertIn("d-L2", heads)
        self.assertNotIn("dtime", heads)
        self.assertNotIn("explained", heads)
        self.assertIn("Side by side", b.js(TEXT, "#compared"))

    def test_hostile_names_of_layers_are_text(self):
        b.open("explored.html")
        self.assertIsNone(b.js("return window.hacked ?? null"))
        self.assertEqual(b.js("return document.querySelectorAll('main img').length"), 0)
        self.assertIn("<img src=x onerror='window.hacked = 8'>", b.js(COLUMN, "table-1", 0))

    def test_bars_are_saved(self):
        b.open("explored.html", "theme=dark")
        self.assertIn(b"#15181d", saved("bars-1", "svg"))
        rows = list(csv.DictReader(io.StringIO(saved("bars-1", "csv").decode())))
        self.assertEqual([r["line"] for r in rows], ["start", "fastest", "cheapest"])


class Joined(PageTest):
    def test_the_overview_is_first_and_leads_to_each_view(self):
        b.open("joined.html")
        self.assertEqual(b.js("return document.querySelector('[role=tab]').textContent"), "Overview")
        self.assertEqual(b.js("return document.querySelectorAll('.overview .card').length"), 3)
        self.assertTrue(b.js(HIDDEN, "#chart"))
        text = b.js(TEXT, ".overview")
        for part in ("12 kernels", "Tensor FP16 50.2 %", "Time by roof", "gambrel analyze step.ncu-rep -o page.html", "Bandwidth over working set"):
            self.assertIn(part, text)
        b.js("document.getElementById('overview-1').click()")
        self.assertIn("view=1", b.js(HASH))
        self.shown("12 of 12")
        b.js("document.querySelector('[role=tab][aria-selected=true]').focus()")
        b.key("ArrowLeft"), b.key("ArrowLeft")
        self.assertEqual(b.js(HASH), "")
        self.assertEqual(b.js("return document.activeElement.textContent"), "Overview")

    def test_a_view_is_what_it_was_on_its_own_page_and_says_what_made_it(self):
        b.open("step.html")
        alone = b.js(TEXT, ".kernels"), b.js(TEXT, "#machine-facts"), b.js(TEXT, "#totals")
        b.open("joined.html", "view=1")
        self.assertEqual((b.js(TEXT, ".kernels"), b.js(TEXT, "#machine-facts"), b.js(TEXT, "#totals")), alone)
        footer = b.js(TEXT, "footer")
        self.assertIn("This view was made by gambrel", footer)
        self.assertIn("gambrel report a.html b.html -o one.html", footer)

    def test_state_in_the_hash_names_the_view(self):
        b.open("joined.html", "view=0&theme=dark&hide-levels=L2")
        self.assertFalse(b.js(HIDDEN, "#curves-0"))
        self.assertEqual(b.js("return document.documentElement.dataset.theme"), "dark")
        self.assertEqual(b.js("return document.querySelector('[data-chip=L2]').getAttribute('aria-pressed')"), "false")
