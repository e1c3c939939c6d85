#!/usr/bin/env python3
"""make_flop_table.py: tests/trace/flop_counter.tsv, what torch.utils.flop_counter counts for operators that a trace may hold.

Needs torch (any build; tensors are on the device "meta", so nothing is computed):
    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch --index-url <the CPU wheels> && /tmp/torch/bin/python tools/make_flop_table.py
"""
import json
import os
import random

import torch
from torch.utils.flop_counter import FlopCounterMode

TYPES = {torch.float32: "float", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16"}
aten = torch.ops.aten
rng = random.Random(17)


def tensor(dtype, *dims):
    return torch.empty(*dims, device="meta", dtype=dtype)


def cases():
    for dtype in TYPES:
        for _ in range(6):
            m, n, k, b = (rng.choice([8, 24, 64, 129, 512, 1000]) for _ in range(4))
            yield "aten::mm", aten.mm.default, [tensor(dtype, m, k), tensor(dtype, k, n)]
            yield "aten::addmm", aten.addmm.default, [tensor(dtype, n), tensor(dtype, m, k), tensor(dtype, k, n)]
            yield "aten::bmm", aten.bmm.default, [tensor(dtype, b, m, k), tensor(dtype, b, k, n)]
            yield "aten::baddbmm", aten.baddbmm.default, [tensor(dtype, b, m, n), tensor(dtype, b, m, k), tensor(dtype, b, k, n)]
        for _ in range(10):
            groups = rng.choice([1, 1, 2, 32])
            c, f = groups * rng.choice([1, 4, 16]), groups * rng.choice([1, 2, 24])
            side, r, stride, pad, dilation = rng.choice([14, 28, 57]), rng.choice([1, 3, 5]), rng.choice([1, 2]), rng.choice([0, 1, 2]), rng.choice([1, 2])
            x, w = tensor(dtype, rng.choice([1, 8]), c, side, side + 3), tensor(dtype, f, c // groups, r, r)
            arguments = [x, w, None, [stride, stride], [pad, pad], [dilation, dilation], False, [0, 0], groups]
            yield "aten::_convolution", aten.convolution.default, arguments
        for _ in range(5):
            b, h, s, t, d = rng.choice([1, 4]), rng.choice([4, 12]), rng.choice([128, 384, 1000]), rng.choice([128, 512]), rng.choice([64, 128])
            q, kv = tensor(dtype, b, h, s, d), tensor(dtype, b, h, t, d)
            if dtype != torch.float32:
                yield "aten::_scaled_dot_product_flash_attention", aten._scaled_dot_product_flash_attention.default, [q, kv, kv, 0.0, False, False]
            yield "aten::_scaled_dot_product_efficient_attention", aten._scaled_dot_product_efficient_attention.default, [q, kv, kv, None, False, 0.0, False]


def text(value):
    if value is None or isinstance(value, torch.Tensor):
        return ""
    return str(value)


def kind(value):
    if isinstance(value, torch.Tensor):
        return TYPES[value.dtype]
    return "" if value is None else "ScalarList" if isinstance(value, list) else "Scalar"


here = os.path.join(os.path.dirname(__file__), "..", "tests", "trace", "flop_counter.tsv")
with open(here, "w") as out:
    out.write("# operator, FLOP, arguments as the PyTorch profiler records them; torch %s\n" % torch.__version__.split("+")[0])
    for name, operator, arguments in cases():
        with FlopCounterMode(display=False) as counter:
            operator(*arguments)
        recorded = {
            "Input Dims": [list(a.shape) if isinstance(a, torch.Tensor) else [] for a in arguments],
            "Input type": [kind(a) for a in arguments],
            "Concrete Inputs": [text(a) for a in arguments],
        }
        out.write("%s\t%d\t%s\n" % (name, counter.get_total_flops(), json.dumps(recorded, separators=(",", ":"))))
