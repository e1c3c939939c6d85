"""The chart: what the mouse, the wheel and the keys do on it, and what its switches show."""
import xml.etree.ElementTree as ElementTree

from case import PageTest

b = None
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
