"""A torch.nn.Module as a Network, without running it: torch.export on the module as it is (meta or CPU; never a fake GPU), each
operator to a Layer, each Layer with the path of its module."""
from __future__ import annotations

import contextlib
import inspect
from typing import Any, Iterator, Mapping

import torch

from . import _core
from ._core import Layer, Network
from ._errors import Error
from ._torch_ops import RULES, Context, size, tensor


def _experts(x: torch.Tensor, index: torch.Tensor, gate: torch.Tensor, down: torch.Tensor, gated: bool) -> torch.Tensor:
    return torch.empty_like(x)


_operator_of_experts: Any = torch.library.custom_op("gambrel::experts", _experts, mutates_args=())
_operator_of_experts.register_fake(_experts)


def _is_experts(module: Any) -> bool:
    """Experts as Hugging Face has them: all matrices of one kind in one parameter, called with tokens and their experts."""
    stacked = [getattr(module, name, None) for name in ("down_proj", "gate_up_proj")]
    if getattr(module, "up_proj", None) is not None and stacked[1] is None:
        stacked[1] = module.up_proj
    return all(isinstance(p, torch.nn.Parameter) and p.dim() == 3 for p in stacked)


@contextlib.contextmanager
def _whole_experts(module: Any) -> Iterator[None]:
    """How many tokens an expert gets is data, which no export has: experts become one operator, whose totals are known."""
    patched = [m for m in module.modules() if _is_experts(m)]
    for one in patched:
        up = getattr(one, "gate_up_proj", None)

        def forward(hidden: Any, index: Any, *_: Any, one: Any = one, up: Any = up, **__: Any) -> Any:
            return torch.ops.gambrel.experts(hidden, index, one.up_proj if up is None else up, one.down_proj, up is not None)

        one.forward = forward
    try:
        yield
    finally:
        for one in patched:
            del one.forward


def _arguments(module: Any, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs as positions and names, on the device of the module; a tuple of integers is a shape."""
    if inputs is None:
        raise Error([("inputs", "a module needs its inputs: expected a tensor, a tuple, a dictionary or a shape")])
    device = next((p.device for p in module.parameters()), torch.device("meta"))

    def move(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.device == device:
            return value
        # What has no data needs none: only shapes are looked at.
        return torch.zeros_like(value, device=device) if value.is_meta else value.to(device)

    if isinstance(inputs, Mapping):
        named = {name: move(value) for name, value in inputs.items()}
        positions: tuple[Any, ...] = ()
    else:
        if isinstance(inputs, (tuple, list)) and inputs and all(isinstance(side, int) for side in inputs):
            dtype = next((p.dtype for p in module.parameters() if p.dtype.is_floating_point), torch.float32)
            inputs = torch.zeros(tuple(inputs), dtype=dtype, device="meta")
        positions = tuple(move(v) for v in (inputs if isinstance(inputs, (tuple, list)) else (inputs,)))
        named = {}
    # A cache is a result that the graph cannot have, and that a single pass does not need.
    if "use_cache" in inspect.signature(module.forward).parameters:
        named.setdefault("use_cache", False)
    return positions, named


def _exported(module: Any, inputs: Any) -> Any:
    positions, named = _arguments(module, inputs)
    try:
        with _whole_experts(module), torch.no_grad():
            return torch.export.export(module, positions, named, strict=False)
    except Error:
        raise
    except Exception as error:
        text = str(error).strip().splitlines()
        raise Error([(type(module).__name__, f"torch.export cannot follow it: {text[0] if text else error!r}")]) from error


def _operator(node: Any) -> str:
    target = node.target
    packet = getattr(target, "overloadpacket", None)
    if packet is None:
        return str(getattr(target, "__name__", target))
    space, _, name = str(packet).partition(".")
    return name if space == "aten" else f"{space}::{name}"


def _path(node: Any) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return str(stack[-1][0]) if stack else ""


class _Names:
    """Names of layers, each once."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def __call__(self, path: str, operator: str) -> str:
        name = f"{path} {operator}".strip()
        count = self._used[name] = self._used.get(name, 0) + 1
        return name if count == 1 else f"{name} #{count}"


def _bytes(node: Any) -> float:
    values = [tensor(one) for one in (*node.all_input_nodes, node)]
    return float(sum(size(v) * v.dtype.itemsize for v in values if v is not None))


def module_network(
    module: Any, inputs: Any, *, precision: str | None = None, training: bool = False, algorithm: str = "fastest", title: str = ""
) -> Network:
    program = _exported(module, inputs)
    signature = program.graph_signature
    parameters = set(signature.inputs_to_parameters) | set(signature.inputs_to_buffers)
    learned = {n for n, p in signature.inputs_to_parameters.items() if program.state_dict[p].requires_grad}
    names, learns = _Names(), set(learned)
    layers: list[Layer] = []
    origins: list[tuple[str, str]] = []
    unmodelled: dict[tuple[str, str], list[Any]] = {}
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        operator, path = _operator(node), _path(node)
        # A gradient flows on to an input that came from something that learns; parameters get theirs whatever the input is.
        trained = any(one.name in learns and one.name not in parameters for one in node.all_input_nodes)
        if any(one.name in learns for one in node.all_input_nodes):
            learns.add(node.name)
        rule = RULES.get(operator)
        context = Context(names(path, operator) if rule else "", precision, parameters, trained)
        outcome = rule(context, node) if rule else "has no rule"
        if isinstance(outcome, Layer):
            layers.append(outcome)
            origins.append((path, operator))
        elif isinstance(outcome, str):
            seen = unmodelled.setdefault((operator, outcome), [f"{path} {node.name}".strip(), 0, 0.0])
            seen[1] += 1
            seen[2] += _bytes(node)
    count = float(sum(p.numel() for p in module.parameters()))
    holes = [(op, why, first, times, moved) for (op, why), (first, times, moved) in unmodelled.items()]
    return _core.make_network(title or type(module).__name__, layers, origins, holes, count, training, algorithm)
