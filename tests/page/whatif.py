"""The model inside the page: does it give what the commands give, fast enough for a slider, and does the page say so without it?"""
import csv
import io
import json
import sys

from browser import judges_speed
from case import PageTest

b = None
TEXT = "return document.querySelector(arguments[0])?.innerText ?? ''"
HASH = "return decodeURIComponent(location.hash)"
CHOOSE = """const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'));"""
SLIDE = """const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'));"""


def opened(page, hash_=""):
    """False in a build without the compiler for WebAssembly, whose pages have no module."""
    b.open(page, hash_)
    if not b.js("return JSON.parse(document.getElementById('data').textContent).module"):
        return False
    b.wait(lambda: b.js("return document.documentElement.dataset.model"), 60)
    return True


def rows():
    """Those whose bytes are known: a trace has others."""
    b.js("document.getElementById('save-csv').click()")
    table = list(csv.DictReader(io.StringIO(b.downloaded("csv").decode())))
    return [[float(r[c]) for c in ("time_s", "l1_bytes", "l2_bytes", "dram_bytes")] for r in table if r["l1_bytes"]]


class WhatIf(PageTest):
    def need(self, page, hash_=""):
        if not opened(page, hash_):
            self.skipTest("this build has no model inside the page (GAMBREL_WASM)")
        self.assertEqual(b.js("return document.documentElement.dataset.model"), "ready", b.js(TEXT, "#model-state"))

    def test_every_row_is_what_the_commands_give_for_that_design(self):
        expected = json.loads((b.pages / "expected.json").read_text())
        worst = 0
        for page, designs in expected.items():
            for hash_, wanted in designs.items():
                self.need(page, hash_)
                found = rows()
                self.assertEqual(len(found), len(wanted), f"{page} {hash_}")
                # Saved rows are in the page's order, which is that of the network for a page of layers.
                for got, want in zip(sorted(found), sorted(wanted)):
                    for i, (x, y) in enumerate(zip(got, want)):
                        # An exploration's report counts L2 without lookups in its other half.
                        if "sms" in hash_ and i == 2:
                            continue
                        off = abs(x / y - 1) if y else abs(x)
                        self.assertLessEqual(off, 1e-12, f"{page} {hash_}: {got} for {want}")
                        worst = max(worst, off)
        designs = sum(len(d) for d in expected.values())
        print(f"the page against the library, {designs} designs: largest relative difference {worst:.1e}", file=sys.stderr)

    def test_a_slider_moves_roofs_points_strip_table_and_answer_and_the_address(self):
        self.need("predicted.html")
        before = b.js(TEXT, "#answer"), b.js(TEXT, "#layers-title"), b.js("return document.querySelector('.kernels tbody tr').innerText")
        pixels = "return document.querySelector('.roofline canvas').toDataURL()"
        picture = b.js(pixels)
        b.js(SLIDE, "factor-dram.bandwidth", 32)
        b.wait(lambda: "dram.bandwidth=4" in b.js(HASH))
        after = b.js(TEXT, "#answer"), b.js(TEXT, "#layers-title"), b.js("return document.querySelector('.kernels tbody tr').innerText")
        for x, y in zip(before, after):
            self.assertNotEqual(x, y)
        self.assertNotEqual(picture, b.js(pixels))
        self.assertIn("as fast as the start", after[0])
        self.assertIn("×4", b.js(TEXT, "#value-dram\\.bandwidth"))
        b.js("document.getElementById('design-reset').click()")
        b.wait(lambda: b.js(HASH) == "")
        self.assertEqual(b.js(TEXT, "#answer"), before[0])

    def test_verdicts_of_the_page_are_those_of_the_command(self):
        bounds = "return Object.fromEntries([...document.querySelectorAll('.kernels tbody tr[data-row]')].map(r => [r.dataset.row, r.innerText]))"
        self.need("predicted.html")
        b.js("document.querySelector('.scroller').style.maxHeight = 'none'")
        b.wait(lambda: len(b.js(bounds)) > 20)
        told = b.js(bounds)
        self.need("predicted.html", "gpu=v100-sxm2-16gb")
        b.js("document.querySelector('.scroller').style.maxHeight = 'none'")
        b.wait(lambda: len(b.js(bounds)) > 20)
        found = {row: text for row, text in b.js(bounds).items() if row in told}
        self.assertGreater(len(found), 20)
        self.assertTrue(any("occupancy" in text for text in told.values()), "the page has a case of each")
        for row, text in found.items():
            for cell, expected in zip(text.split("\t"), told[row].split("\t"), strict=True):
                # Shares have four digits in the page's data, so that 88.249 % is 88.2 % as computed and 88.3 % as written.
                if cell != expected and cell.endswith(" %") and expected.endswith(" %"):
                    self.assertAlmostEqual(float(cell[:-2]), float(expected[:-2]), delta=0.101)
                else:
                    self.assertEqual(cell, expected, told[row])

    def test_a_network_of_another_sequence_is_slid_to(self):
        self.need("bert.html")
        self.assertTrue(b.js("return document.getElementById('context').closest('.slider').hidden"))
        self.assertIn("128 (the start)", b.js(TEXT, "#sequence-value"))
        b.js(SLIDE, "sequence", 5)
        b.wait(lambda: "sequence=512" in b.js(HASH))
        self.assertIn("samples/s", b.js(TEXT, "#answer"))
        b.js(CHOOSE, "precision", "fp16")
        b.wait(lambda: "precision=fp16" in b.js(HASH))
        faster = b.js(TEXT, "#answer")
        self.assertIn("the start", faster)
        self.need("decode.html", "batch=256&context=16384")
        self.assertIn("It does not fit", b.js(TEXT, "#answer"))
        self.assertIn("tokens/s", b.js(TEXT, "#answer"))

    def test_a_precision_that_the_gpu_lacks_cannot_be_chosen(self):
        self.need("predicted.html")
        disabled = "return [...document.getElementById('precision').options].filter(o => o.disabled).map(o => o.value)"
        self.assertEqual(b.js(disabled), ["tf32", "bf16", "fp8", "int8"])
        self.need("predicted.html", "gpu=h100-sxm")
        self.assertEqual(b.js(disabled), [])

    def test_a_trace_moves_with_the_gpu_and_says_what_stays(self):
        self.need("whatif_trace.html")
        before = b.js(TEXT, "#answer")
        b.js(CHOOSE, "gpu", "h100-sxm")
        b.wait(lambda: "gpu=h100-sxm" in b.js(HASH))
        answer = b.js(TEXT, "#answer")
        self.assertNotEqual(before, answer)
        self.assertIn("Measured times, scaled by the model", answer)
        self.assertIn("100 us (12 % of the trace)", answer)

    def test_a_link_leads_to_the_design(self):
        self.need("predicted.html", "gpu=h100-sxm&dram.bandwidth=2")
        self.assertEqual(b.js("return document.getElementById('gpu').value"), "h100-sxm")
        self.assertIn("as fast as the start", b.js(TEXT, "#answer"))
        self.assertIn("H100", b.js(TEXT, ".subtitle"))

    def test_nonsense_in_the_address_is_left_at_its_start(self):
        self.need("predicted.html", "gpu=no-such-gpu&sms=-3&clock=x")
        self.assertNotIn("as fast as", b.js(TEXT, "#answer"))
        self.assertEqual(b.js("return document.getElementById('factor-sms').value"), "0")

    def test_two_hundred_layers_are_evaluated_at_every_step_of_a_slider(self):
        self.need("two_hundred.html")
        times, frames = [], []
        for step in range(1, 13):
            b.js(SLIDE, "factor-sms", step)
            b.wait(lambda: abs(float(b.js("return new URLSearchParams(location.hash.slice(1)).get('sms')") or 0) - 2 ** (step / 16)) < 1e-9)
            times.append(float(b.js("return document.documentElement.dataset.modelMs")))
            if step > 1:  # the first leaves the start, and everything is drawn again
                frames.append(float(b.js("return document.documentElement.dataset.frameMs")))
        print(f"200 layers, ms: model {min(times):.1f} to {max(times):.1f}, drawing {min(frames):.1f} to {max(frames):.1f}", file=sys.stderr)
        if judges_speed():  # the best of them: the time that other programs take is not the question
            self.assertLess(min(times), 8)

    def test_a_page_without_the_module_says_so_and_still_works(self):
        b.open("predicted_without.html")
        self.assertIn("without a compiler for WebAssembly", b.js(TEXT, "#model-state"))
        self.assertTrue(b.js("return document.querySelector('.slider-body').hidden"))
        self.assertGreater(b.js("return document.querySelectorAll('.kernels tbody tr[data-row]').length"), 5)

    def test_pages_that_cannot_compute_carry_neither_module_nor_permission(self):
        for page, has in (("step.html", False), ("predicted.html", True)):
            text = (b.pages / page).read_text()
            if '"module":""' in text:
                self.skipTest("this build has no model inside the page (GAMBREL_WASM)")
            self.assertEqual("wasm-unsafe-eval" in text.split("</head>")[0], has, page)
            self.assertEqual('"catalogue":' in text, has, page)
