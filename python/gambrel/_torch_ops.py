"""Operators of PyTorch as Layers: one rule for each family. A rule gets a node of an exported graph and returns a Layer, None
where nothing runs on a GPU (views, asserts), or a sentence that says why there is no model."""
from __future__ import annotations

import math
from typing import Any, Callable, Union

import torch

from ._core import Layer
from ._torch_masks import causal_window, shared_heads

Outcome = Union[Layer, None, str]
Rule = Callable[["Context", Any], Outcome]

_FLOATS = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
_FLOATS.update({d: "fp8" for n in dir(torch) if n.startswith("float8") for d in [getattr(torch, n)]})
# Integers and truth values only move: the precision whose elements have their size.
_OTHERS = {8: "fp64", 4: "fp32", 2: "fp16", 1: "int8"}


def size(value: Any) -> float:
    return float(math.prod(int(side) for side in value.shape))


def tensor(node: Any) -> Any:
    """What an argument of a node will be, or None where it is no tensor."""
    value = node.meta.get("val") if hasattr(node, "meta") else None
    return value if isinstance(value, torch.Tensor) else None


class Context:
    """What rules ask for: precision, parameters, and what learns."""

    def __init__(self, name: str, precision: str | None, parameters: set[str], trained: bool) -> None:
        self.name, self.asked, self.parameters, self.trained = name, precision, parameters, trained

    def precision(self, value: Any) -> str:
        if value.dtype in _FLOATS:
            return self.asked or _FLOATS[value.dtype]
        return _OTHERS.get(value.dtype.itemsize, "fp32")

    def is_parameter(self, node: Any) -> bool:
        while hasattr(node, "target") and node.op == "call_function" and node.target in _TRANSPOSES:
            node = node.args[0]
        return getattr(node, "name", None) in self.parameters

    def stream(self, node: Any, kind: str, **more: Any) -> Outcome:
        """What reads its tensors once and writes one."""
        read, parameters = [], 0.0
        for argument in node.all_input_nodes:
            value = tensor(argument)
            if value is None:
                continue
            if self.is_parameter(argument):
                parameters += size(value)
            else:
                read.append(size(value))
        out = node.meta["val"]
        first = out[0] if isinstance(out, (tuple, list)) else out
        inputs = [tensor(argument) for argument in node.all_input_nodes if tensor(argument) is not None]
        source = next((v for v in inputs if v.dtype.is_floating_point), inputs[0] if inputs else first)
        if size(first) == 0:
            return None
        precision, written = self.precision(source), self.precision(first)
        more = {"parameters": parameters, "written_as": written if written != precision else None, **more}
        return Layer.streaming(self.name, kind, more.pop("read", read), more.pop("written", size(first)), precision=precision,
                               input_is_trained=self.trained and first.dtype.is_floating_point, **more)


def _pair(value: Any, default: int) -> list[int]:
    sides = [int(v) for v in (value if isinstance(value, (list, tuple)) else [value if value is not None else default])]
    return sides * 2 if len(sides) == 1 else sides


def _argument(node: Any, index: int, name: str, default: Any = None) -> Any:
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def convolution(c: Context, node: Any) -> Outcome:
    x, w = tensor(node.args[0]), tensor(node.args[1])
    generic = node.target is torch.ops.aten.convolution.default
    transposed = bool(node.args[6]) if generic else "transpose" in str(node.target)
    if x.dim() not in (3, 4):
        return f"a convolution over {x.dim() - 2} dimensions has no model"
    stride, padding = _argument(node, 3, "stride", 1), _argument(node, 4, "padding", 0)
    dilation = _argument(node, 7 if transposed and not generic else 5, "dilation", 1)
    groups = int(_argument(node, 8 if generic else 6, "groups", 1))
    flat = x.dim() == 3
    steps, spread = ([1] if flat else []) + _pair(stride, 1)[: 1 if flat else 2], ([1] if flat else []) + _pair(dilation, 1)[: 1 if flat else 2]
    kernel = ([1] if flat else []) + [int(v) for v in w.shape[2:]]
    if isinstance(padding, str):  # "same" puts the odd one behind
        around = [0 if padding == "valid" else d * (k - 1) for d, k in zip(spread, kernel)]
        before, behind = [side // 2 for side in around], [side - side // 2 for side in around]
    else:
        before = behind = ([0] if flat else []) + _pair(padding, 0)[: 1 if flat else 2]
    # A transposed convolution is the gradient of a plain one, whose input is its output.
    image = node.meta["val"] if transposed else x
    n, channels, *sides = (int(s) for s in image.shape)
    filters = int(x.shape[1]) if transposed else int(w.shape[0])
    height, width = ([1] if flat else []) + sides
    pad = [before[0], behind[0], before[1], behind[1]]
    return Layer.convolution(c.name, [n, channels, height, width], [filters, *kernel], steps, pad, spread, groups,
                             _argument(node, 2, "bias") is not None, transposed, c.precision(x), c.trained)


def linear(c: Context, node: Any) -> Outcome:
    x, w = tensor(node.args[0]), tensor(node.args[1])
    n, k = int(w.shape[0]), int(w.shape[1])
    return Layer.gemm(c.name, int(size(x)) // k, n, k, 1, c.is_parameter(node.args[1]), len(node.args) > 2 and node.args[2] is not None,
                      False, True, c.precision(x), c.trained)


def product(c: Context, node: Any) -> Outcome:
    """mm, bmm, matmul, and with an addend addmm and baddbmm."""
    addend = "add" in str(node.target).split(".")[1]
    left, right = node.args[1:3] if addend else node.args[:2]
    a, b = tensor(left), tensor(right)
    if a.dim() == 1 and b.dim() == 1:
        return c.stream(node, "reduction")
    out, k = node.meta["val"], int(a.shape[-1])
    filtered = c.is_parameter(right) or c.is_parameter(left)
    n = int(b.shape[-1]) if b.dim() > 1 else 1
    rows = int(a.shape[-2]) if a.dim() > 1 else 1
    batch = max(1, int(size(out)) // (rows * n))
    if b.dim() <= 2 and a.dim() > 2:  # one matrix for all: one tall product
        rows, batch = rows * batch, 1
    bias = addend and c.is_parameter(node.args[0])
    return Layer.gemm(c.name, rows, n, k, batch, filtered and batch == 1, bias, False, b.dim() > 1 and b.stride(-1) != 1, c.precision(a), c.trained)


def attention(c: Context, node: Any) -> Outcome:
    q, k, v = (tensor(argument) for argument in node.args[:3])
    if q.dim() == 3:
        q, k, v = (value.unsqueeze(1) for value in (q, k, v))
    batch, heads, q_len, head_dim = int(math.prod(q.shape[:-3])), int(q.shape[-3]), int(q.shape[-2]), int(q.shape[-1])
    causal, window = bool(_argument(node, 5, "is_causal", False)), 0
    mask = _argument(node, 3, "attn_mask")
    if mask is not None:
        causal, window = causal_window(mask)
    kv_heads = int(k.shape[-3]) // shared_heads(node.args[1])
    return Layer.attention(c.name, batch, q_len, int(k.shape[-2]), heads, kv_heads, head_dim, int(v.shape[-1]), causal, window,
                           c.precision(q), c.trained)


def experts(c: Context, node: Any) -> Outcome:
    x, index, gate, down = (tensor(argument) for argument in node.args[:4])
    hidden = int(x.shape[-1])
    count, gated = int(gate.shape[0]), bool(node.args[4])
    inner = int(size(down)) // (count * hidden)
    return Layer.experts(c.name, int(size(x)) // hidden, hidden, inner, count, int(index.shape[-1]), gated, c.precision(x), c.trained)


def norm(kind: str, rows: Callable[[Any], float]) -> Rule:
    return lambda c, node: c.stream(node, kind, rows=rows(node))


def _last(count: int) -> Callable[[Any], float]:
    return lambda node: size(tensor(node.args[0])) / math.prod(list(tensor(node.args[0]).shape)[-count:])


def _normalized(node: Any) -> float:
    return size(tensor(node.args[0])) / float(math.prod(node.args[1]))


def batch_norm(c: Context, node: Any) -> Outcome:
    return c.stream(node, "batch_norm_training" if bool(_argument(node, 5, "training", False)) else "batch_norm")


def group_norm(c: Context, node: Any) -> Outcome:
    return c.stream(node, "group_norm", rows=float(tensor(node.args[0]).shape[0]) * float(node.args[1]))


def softmax(c: Context, node: Any) -> Outcome:
    x = tensor(node.args[0])
    return c.stream(node, "softmax", rows=size(x) / int(x.shape[int(node.args[1])]))


def pool(kind: str) -> Rule:
    def rule(c: Context, node: Any) -> Outcome:
        out = node.meta["val"]
        first = out[0] if isinstance(out, (tuple, list)) else out
        adaptive = "adaptive" in str(node.target)
        window = size(tensor(node.args[0])) / size(first) if adaptive else math.prod(_pair(node.args[1], 1)[: first.dim() - 2])
        return c.stream(node, kind, window=float(window))

    return rule


def embedding(c: Context, node: Any) -> Outcome:
    out, index = node.meta["val"], tensor(node.args[1])
    # Of the table only the rows that are looked up are read.
    return Layer.streaming(c.name, "gather", [size(index), size(out)], size(out), rows=size(index), precision=c.precision(out),
                           input_is_trained=c.trained)


def gather(c: Context, node: Any) -> Outcome:
    out = node.meta["val"]
    return c.stream(node, "gather", read=[size(out)], rows=float(out.shape[0]) if out.dim() else 1.0)


def dropout(c: Context, node: Any) -> Outcome:
    return c.stream(node, "dropout") if bool(node.args[2]) and float(node.args[1]) > 0 else None


def copy(c: Context, node: Any) -> Outcome:
    return c.stream(node, "copy", read=[size(node.meta["val"])])


def copy_unless_same(c: Context, node: Any) -> Outcome:
    """Casts and moves to a layout run only where they change something."""
    x, out = tensor(node.args[0]), node.meta["val"]
    return None if x.dtype == out.dtype and (x.stride() == out.stride() or size(out) == 0) else copy(c, node)


def copy_unless_view(c: Context, node: Any) -> Outcome:
    x, out = tensor(node.args[0]), node.meta["val"]
    try:
        torch.empty_strided(x.shape, x.stride(), device="meta").view(out.shape)
    except (RuntimeError, ValueError):
        return copy(c, node)
    return None


def reduction(c: Context, node: Any) -> Outcome:
    out = node.meta["val"]
    return c.stream(node, "reduction", rows=size(out[0] if isinstance(out, (tuple, list)) else out))


def routing(c: Context, node: Any) -> Outcome:
    x = tensor(node.args[0])
    return c.stream(node, "routing", rows=size(x) / int(x.shape[-1]))


def streamed(kind: str) -> Rule:
    return lambda c, node: c.stream(node, kind)


def nothing(c: Context, node: Any) -> Outcome:
    return None


_TRANSPOSES = {torch.ops.aten.t.default, torch.ops.aten.transpose.int, torch.ops.aten.permute.default, torch.ops.aten.numpy_T.default}


def _table() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}

    def add(rule: Rule, names: str) -> None:
        rules.update(dict.fromkeys(names.split(), rule))

    add(convolution, "conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d")
    add(linear, "linear")
    add(product, "mm bmm matmul addmm baddbmm mv dot")
    add(attention, "scaled_dot_product_attention")
    add(norm("layer_norm", _normalized), "layer_norm native_layer_norm")
    add(norm("rms_norm", _normalized), "rms_norm _fused_rms_norm")
    add(norm("group_norm", _last(2)), "instance_norm")
    add(batch_norm, "batch_norm _native_batch_norm_legit native_batch_norm")
    add(group_norm, "group_norm native_group_norm")
    add(softmax, "softmax log_softmax _softmax _log_softmax")
    add(pool("max_pool"), "max_pool1d max_pool2d max_pool2d_with_indices adaptive_max_pool2d")
    add(pool("average_pool"), "avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d")
    add(embedding, "embedding")
    add(gather, "index gather index_select take_along_dim")
    add(dropout, "dropout native_dropout feature_dropout")
    add(copy, "clone constant_pad_nd pad repeat roll flip tril triu repeat_interleave index_put index_put_ scatter scatter_ index_add index_add_ lift_fresh_copy masked_fill masked_fill_")
    add(copy_unless_same, "to _to_copy contiguous type_as float copy_ copy")
    add(copy_unless_view, "reshape flatten")
    add(reduction, "mean sum amax amin max min any all argmax argmin prod var std var_mean norm linalg_vector_norm cumsum logsumexp bincount histc")
    add(routing, "topk sort argsort")
    add(streamed("concatenation"), "cat stack concat hstack vstack")
    add(streamed("resize"), "upsample_nearest2d upsample_bilinear2d interpolate upsample_bicubic2d pixel_shuffle grid_sampler_2d")
    add(streamed("cross_entropy"), "cross_entropy_loss nll_loss nll_loss_nd nll_loss2d")
    add(streamed("activation"), "relu relu_ relu6 hardtanh hardtanh_ clamp clamp_ clamp_min clamp_max leaky_relu leaky_relu_ prelu hardswish hardswish_ hardsigmoid abs threshold")
    add(streamed("transcendental"), "gelu silu silu_ sigmoid tanh exp log erf sqrt rsqrt sin cos softplus mish elu selu reciprocal log1p expm1 celu logit")
    add(streamed("elementwise"), "add add_ sub sub_ mul mul_ div div_ pow neg maximum minimum where addcmul addcdiv square rsub eq ne lt le gt ge "
        "logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not __and__ __or__ floor_divide remainder lerp sign round floor "
        "__iand__ __ior__ bitwise_and_ bitwise_or_ isnan isinf nan_to_num mse_loss ceil fmod one_hot glu diff")
    add(nothing, "view transpose permute unsqueeze squeeze expand slice select alias detach detach_ t numpy_T split split_with_sizes chunk unbind "
        "narrow view_as expand_as unflatten movedim swapaxes unfold _assert_tensor_metadata _assert_scalar _assert_async sym_size sym_stride "
        "sym_numel sym_constrain_range_for_size sym_constrain_range item _local_scalar_dense empty empty_like new_empty arange zeros ones full zeros_like ones_like "
        "full_like new_zeros new_ones new_full scalar_tensor lift_fresh fill_ zero_ eye linspace _unsafe_view getitem diagonal as_strided unsafe_chunk "
        "resolve_conj resolve_neg is_nonzero broadcast_to broadcast_tensors swapdims moveaxis real imag squeeze_ unsqueeze_ requires_grad_ ravel atleast_1d atleast_2d")
    rules["gambrel::experts"] = experts
    return rules


RULES = _table()
