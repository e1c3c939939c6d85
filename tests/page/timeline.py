"""The timeline of a trace: does it show when what ran, add up to the classes, and lead to the kernel in chart and table?"""
import csv
import io
import json
import time

from case import PageTest

b = None
HASH = "return decodeURIComponent(location.hash)"
TIP = "const t = document.querySelector('.tooltip'); return t.hidden ? '' : t.innerText"
SPOKEN = "return document.querySelector('[aria-live]')?.textContent ?? ''"
LEGEND = "return [...document.querySelectorAll('#timeline-legend li')].map(e => [e.dataset.key ?? '', Number(e.dataset.ns), Number(e.dataset.events ?? 0), e.innerText])"
DATA = "return JSON.parse(document.getElementById('data').textContent).views[0].timeline"
# Nanoseconds of a class as the data of the page has them, without the page's scripts.
SUMS = """
  const t = JSON.parse(document.getElementById('data').textContent).views[0].timeline, out = {};
  t.lane.forEach((_, i) => { const c = t.groups[t.group[i]][0]; out[c] = (out[c] ?? 0) + (t.busy[i] ?? t.span[i]) });
  return out
"""
# Where a time lies on the screen at the whole view: the lanes end where the canvas ends and begin behind their names.
PLACE = """
  const t = JSON.parse(document.getElementById('data').textContent).views[0].timeline;
  const r = document.querySelector('.timeline .over').getBoundingClientRect(), g = document.createElement('canvas').getContext('2d');
  g.font = "400 11px Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
  const gutter = Math.ceil(Math.min(Math.max(...t.lanes.map(l => g.measureText(l[0]).width)) + 12, 0.28 * r.width));
  const lane = t.lanes.length <= 4 ? 30 : t.lanes.length <= 16 ? 20 : 12;
  return [r.left + gutter + arguments[1] / t.wall * (r.width - gutter), r.top + 34 + (arguments[0] + 0.5) * lane]
"""
PIXEL = """
  const c = document.querySelector('.timeline canvas'), r = c.getBoundingClientRect(), copy = document.createElement('canvas');
  const g = copy.getContext('2d', { willReadFrequently: true });
  g.drawImage(c, arguments[0] - r.left, arguments[1] - r.top, 1, 1, 0, 0, 1, 1);
  return '#' + [...g.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v.toString(16).padStart(2, '0')).join('')
"""
PERIOD = 12000  # of tests/report/timeline_sample.hpp, in nanoseconds


class Timeline(PageTest):
    def color(self, by):
        b.js("const e = document.getElementById('timeline-color'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))", by)

    def at(self, lane, ns):
        b.js("document.querySelector('.timeline').scrollIntoView({block: 'center'})")
        return b.js(PLACE, lane, ns)

    def test_the_legend_adds_up_to_the_classes_in_every_colouring(self):
        for page, events in (("traced.html", 800), ("long_trace.html", 60000)):
            b.open(page)
            sums = b.js(SUMS)
            for by in ("bottleneck", "class", "pipe"):
                self.color(by)
                *parts, whole = b.js(LEGEND)
                self.assertEqual(sum(p[1] for p in parts), whole[1], by)
                self.assertEqual(sum(p[2] for p in parts), events, by)
                self.assertEqual(whole[1], sum(sums.values()), by)
                if by == "class":
                    self.assertEqual({p[0]: p[1] for p in parts}, sums)
                else:
                    self.assertEqual(sum(p[1] for p in parts if " " in p[0]), sums["modelled"], by)

    def test_a_long_trace_is_bounded_and_says_what_was_merged(self):
        b.open("long_trace.html")
        data = b.js(DATA)
        self.assertLessEqual(len(data["lane"]), 20000)
        self.assertLess(len(json.dumps(data, separators=(",", ":"))), 1e6)
        self.assertRegex(b.js("return document.getElementById('timeline-merged').innerText"), r"^[\d,]+ events shorter than \d.* are merged with their neighbours\.$")
        self.assertIn("60,000 events on 2 streams", b.js("return document.getElementById('timeline-title').innerText"))
        b.open("traced.html")
        self.assertTrue(b.js("return document.getElementById('timeline-merged').hidden"))

    def test_hover_tells_what_ran_when(self):
        b.open("traced.html")
        x, y = self.at(1, 100 * PERIOD + 4000)
        b.mouse("mouseMoved", x, y)
        text = b.js(TIP)
        for part in ("gemm_128x128", "1.2 ms", "9 us", "rank 0, stream 8", "step 2", "modelled", "Tensor FP16", "200 launches"):
            self.assertIn(part, text)
        b.mouse("mouseMoved", x, y - 150)
        self.assertEqual(b.js(TIP), "")

    def test_a_click_isolates_the_kernel_in_chart_and_table(self):
        b.open("traced.html")
        x, y = self.at(0, 1 * PERIOD + 2500)
        b.click(x, y)
        self.assertIn("elementwise", b.js("return document.querySelector('.panel .name').innerText"))
        row = b.js("return document.querySelector('tr.chosen').dataset.row")
        self.assertEqual(b.js(HASH), f"#kernel={row}")
        b.click(*self.at(0, 1 * PERIOD + 2500))
        self.assertEqual(b.js(HASH), "")

    def test_other_kernels_fade_when_one_is_isolated_or_found(self):
        b.open("traced.html", "theme=light")
        b.js("document.getElementById('timeline-home').click()")
        colors = lambda: [b.js(PIXEL, *self.at(0, i * PERIOD + 700)) for i in range(4)]
        for _ in range(5):
            b.js("document.getElementById('timeline-in').click()")
        b.js("document.getElementById('timeline-home').click()")
        before = colors()
        self.assertEqual(len(set(before)), 4, before)
        self.set("search", "nccl", "input")
        b.wait(lambda: colors() != before)
        after = colors()
        self.assertEqual(after[2], before[2])
        self.assertNotEqual(after[0], before[0])

    def test_colours_of_pipes_and_classes_are_those_of_every_page(self):
        b.open("traced.html", "theme=light")
        swatches = "return Object.fromEntries([...document.querySelectorAll('#timeline-legend li[data-key]')].map(e => [e.dataset.key, e.querySelector('.swatch').style.backgroundColor]))"
        bounds = b.js("return Object.fromEntries([...document.querySelectorAll('.panel tr, .panel li')].filter(e => e.querySelector('.swatch')).map(e => [e.innerText, e.querySelector('.swatch').style.backgroundColor]))")
        found = b.js(swatches)
        self.assertEqual(found["bound DRAM"], "rgb(213, 94, 0)")
        self.assertEqual(found["bound tensor_fp16"], "rgb(71, 48, 151)")
        self.assertTrue(any(c == found["bound tensor_fp16"] and "Tensor FP16" in t for t, c in bounds.items()), bounds)
        self.color("pipe")
        self.assertEqual(b.js(swatches)["pipe tensor_fp16"], found["bound tensor_fp16"])

    def test_wheel_drag_and_buttons_zoom_and_pan(self):
        b.open("traced.html")
        pixels = lambda: b.js("return document.querySelector('.timeline canvas').toDataURL()")
        whole = pixels()
        x, y = self.at(0, 50 * PERIOD)
        b.mouse("mouseWheel", x, y, deltaX=0, deltaY=-600)
        b.wait(lambda: pixels() != whole)
        zoomed = pixels()
        b.drag(x, y, x - 120, y)
        b.wait(lambda: pixels() != zoomed)
        self.assertEqual(b.js(HASH), "", "a drag is not a click")
        # The last events of the drag may still be on their way, and would pan what the button has just shown.
        b.wait(lambda: (before := pixels()) and not time.sleep(0.1) and pixels() == before)
        b.js("document.getElementById('timeline-home').click()")
        self.assertEqual(pixels(), whole)
        b.js("document.getElementById('timeline-in').click()")
        self.assertNotEqual(pixels(), whole)
        b.js("document.getElementById('timeline-out').click()")
        self.assertEqual(pixels(), whole)

    def test_a_wheel_that_cannot_zoom_out_scrolls_the_page(self):
        b.open("traced.html", size=(1400, 500))
        b.js("scrollTo(0, 0)")
        x, y = b.js(PLACE, 0, 0)
        b.mouse("mouseWheel", x + 50, y, deltaX=0, deltaY=120)
        b.wait(lambda: b.js("return scrollY") > 0)

    def test_keys_go_from_event_to_event_and_isolate(self):
        b.open("traced.html")
        b.js("document.querySelector('.timeline').focus()")
        b.key("ArrowRight")
        self.assertIn("gemm_128x128: Start 0", b.js(SPOKEN))
        b.key("ArrowRight")
        self.assertIn("elementwise", b.js(SPOKEN))
        self.assertIn("elementwise", b.js(TIP))
        b.key("ArrowDown")
        self.assertIn("stream 8", b.js(SPOKEN))
        for _ in range(9):
            b.key("+", "+")
        b.key("End")
        self.assertIn("DtoD: Start 2.388 ms", b.js(SPOKEN))
        b.key("Enter", "\r")
        self.assertIn("kernel=", b.js(HASH))
        self.assertEqual(b.js("return document.activeElement.id"), "timeline-chart", "the keys stay where they were")
        b.key("Escape")
        self.assertEqual(b.js(HASH), "")

    def test_it_is_drawn_at_the_width_of_a_telephone(self):
        b.open("traced.html", size=(500, 900))
        b.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        try:
            b.wait(lambda: b.js("return document.querySelector('.timeline canvas').width") > 600)
            self.assertLessEqual(b.js("return document.documentElement.scrollWidth"), 390)
            x, y = self.at(2, 101 * PERIOD)
            self.assertGreater(x, 0)
        finally:
            b.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_pictures_stay_sharp_when_only_the_screen_changes(self):
        b.open("traced.html")
        sizes = "return [...document.querySelectorAll('#timeline canvas, #chart canvas')].map((c) => c.width / c.clientWidth)"
        b.wait(lambda: b.js(sizes) == [1, 1, 1, 1])
        width, height = b.js("return [innerWidth, innerHeight]")
        b.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": False})
        try:
            b.wait(lambda: b.js(sizes) == [2, 2, 2, 2])
        finally:
            b.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        b.wait(lambda: b.js(sizes) == [1, 1, 1, 1])

    def test_it_is_saved_as_svg_and_csv(self):
        b.open("traced.html")
        b.js("document.getElementById('timeline-csv').click()")
        rows = list(csv.DictReader(io.StringIO(b.downloaded("csv").decode())))
        self.assertEqual(len(rows), 800)
        self.assertEqual(sum(int(r["busy [ns]"]) for r in rows if r["class"] == "copy"), b.js(SUMS)["copy"])
        b.js("document.getElementById('timeline-svg').click()")
        svg = b.downloaded("svg").decode()
        self.assertGreater(svg.count("<rect"), 800)
        self.assertIn("rank 1, stream 8", svg)

    def test_a_page_without_a_trace_has_none(self):
        b.open("step.html")
        self.assertTrue(b.js("return document.getElementById('timeline').hidden"))
