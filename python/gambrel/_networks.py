"""Where layers come from: names, files, rows of a table, Layers, modules of PyTorch."""
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

from . import _core
from ._core import Layer, Network
from ._errors import Error

if TYPE_CHECKING:
    from torch import nn

# A built-in name, an .onnx file, a model's config.json, a Network, Layers, rows of a layer table (dictionaries, or anything
# that speaks Arrow or has to_dict), or a torch.nn.Module.
Source = Union[str, "os.PathLike[str]", Network, Sequence[Layer], Sequence[Mapping[str, object]], "nn.Module", Any]


def _is_module(source: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def _csv(rows: object) -> str:
    """Rows of a layer table as text: dictionaries, or columns of anything that pandas, polars or Arrow made."""
    import csv
    import io

    columns: Mapping[str, Sequence[object]] | None = None
    if hasattr(rows, "to_pydict"):
        columns = rows.to_pydict()  # pyarrow
    elif hasattr(rows, "to_dict") and not isinstance(rows, Mapping):
        try:
            columns = rows.to_dict(orient="list")  # pandas
        except TypeError:
            columns = {name: list(values) for name, values in rows.to_dict().items()}  # polars
    elif isinstance(rows, Mapping):
        columns = rows
    if columns is not None:
        names = list(columns)
        table = [list(row) for row in zip(*(columns[name] for name in names))]
    else:
        dictionaries = [dict(row) for row in rows]  # type: ignore[attr-defined]
        names = list(dict.fromkeys(name for row in dictionaries for name in row))
        table = [[row.get(name) for name in names] for row in dictionaries]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([["" if cell is None or cell != cell else cell for cell in row] for row in table])
    return text.getvalue()


def network(
    source: Source,
    inputs: object = None,
    *,
    batch: int = 0,
    sequence: int = 0,
    shapes: Mapping[str, Sequence[int]] | None = None,
    precision: str | None = None,
    layout: str | None = None,
    pass_: str | None = None,
    training: bool = False,
    phase: str | None = None,
    context: int = 0,
    tensor_parallel: int = 0,
    fused: bool = True,
    kv_precision: str | None = None,
    in_order: bool = False,
    algorithm: str = "fastest",
    title: str = "",
) -> Network:
    """The layers of a network: a built-in name, an .onnx file, a model's config.json, a layer table (.csv, rows, a frame),
    Layers, or a torch.nn.Module with its inputs.

    Equal layers of a name or a file are one layer with a count, unless `in_order` asks for every layer as it runs.
    Convolutions are predicted by the algorithm that is predicted "fastest" of those that cuDNN has, or all as "implicit" GEMMs.
    """
    if isinstance(source, Network):
        return source
    if _is_module(source):
        from ._torch import module_network

        return module_network(source, inputs, precision=precision, training=training, algorithm=algorithm, title=title)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        is_table = path.endswith((".csv", ".csv.gz"))
        return _core.load_network(
            "" if is_table else path, path if is_table else "", batch, sequence,
            [(name, list(shape)) for name, shape in (shapes or {}).items()], precision, layout, pass_, training, phase,
            context, tensor_parallel, fused, kv_precision, in_order, algorithm,
        )
    if isinstance(source, Sequence):
        layers = [layer for layer in source if isinstance(layer, Layer)]
        if layers and len(layers) == len(source):
            return _core.make_network(title or "layers", layers, [], [], 0.0, training, algorithm)
    try:
        text = _csv(source)
    except (TypeError, ValueError):
        raise Error([("network", f'"{type(source).__name__}" is not a network: expected a name, a file, layers, rows of '
                      "a layer table, or a torch.nn.Module")]) from None
    return _core.read_table(text, title or "layers", precision)
