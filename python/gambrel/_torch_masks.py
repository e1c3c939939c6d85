"""What an exported graph no longer says outright: that a mask is causal, how wide its window is, that heads share keys."""
from __future__ import annotations

from typing import Any


def _name(node: Any) -> str:
    target = getattr(node, "target", "")
    packet = getattr(target, "overloadpacket", target)
    return str(getattr(packet, "__name__", packet))


def ancestors(node: Any, most: int = 400) -> list[Any]:
    seen: dict[Any, None] = {}
    waiting = [node]
    while waiting and len(seen) < most:
        one = waiting.pop()
        if one in seen:
            continue
        seen[one] = None
        waiting.extend(one.all_input_nodes)
    return list(seen)


def _is_position(node: Any) -> bool:
    """Whether a tensor is made of arange alone: positions of queries or keys."""
    found = ancestors(node, 60)
    return any(_name(one) == "arange" for one in found) and not any(one.op == "placeholder" for one in found)


def causal_window(mask: Any) -> tuple[bool, int]:
    """(causal, window) of a mask: a comparison of positions with positions, tril or triu; 0 is no window."""
    causal, window = False, 0
    for node in ancestors(mask):
        name = _name(node)
        if name in ("tril", "triu"):
            causal = True
        if name in ("le", "ge", "lt", "gt") and len(node.all_input_nodes) == 2 and all(map(_is_position, node.all_input_nodes)):
            causal = True
            for side in node.all_input_nodes:
                for one in ancestors(side, 20):
                    if _name(one) in ("sub", "add") and len(one.args) > 1 and isinstance(one.args[1], int) and abs(one.args[1]) > 1:
                        window = abs(one.args[1])
    return causal, window


def shared_heads(keys: Any) -> int:
    """How many query heads share one head of keys: keys that were expanded (GQA) count once."""
    node = keys
    for _ in range(6):
        name = _name(node)
        value = node.meta.get("val")
        if name == "expand":
            source = node.args[0].meta["val"]
            if source.dim() == value.dim():
                for before, after in zip(source.shape[-4:-2], value.shape[-4:-2]):
                    if int(before) == 1 and int(after) > 1 and value.dim() == 5:
                        return int(after)
            return 1
        if name == "repeat_interleave" and len(node.args) > 1 and isinstance(node.args[1], int):
            return int(node.args[1])
        if name not in ("reshape", "view", "_unsafe_view", "clone", "contiguous", "transpose") or not node.args:
            return 1
        node = node.args[0]
    return 1
