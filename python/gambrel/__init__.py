"""gambrel: the hierarchical Roofline of GPU runs, and predictions for GPUs that you do not have.

    import gambrel
    gambrel.analyze("report.ncu-rep")                       # what a profiler counted, judged
    gambrel.predict("resnet50", gpu="a100", batch=32)       # what a network would do
    gambrel.compare(a, b), gambrel.check(run, min_roof=0.6), gambrel.explore("resnet50", gpu="v100")

Every result prints as the terminal's table, is a page in a notebook, and a table for pandas, polars, pyarrow and duckdb
(the Arrow PyCapsule protocol). What is unknown is None, never zero. Amounts are in base units: s, B, FLOP, Hz.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._core import (
    Advice,
    Baseline,
    Check,
    CheckItem,
    Comparison,
    Design,
    Exploration,
    Kernel,
    Layer,
    LayerEstimate,
    Machine,
    Machines,
    Measurement,
    Network,
    Note,
    Prediction,
    Result,
    Run,
    Timeline,
    Unmodelled,
)
from ._errors import Error, Fault
from ._api import analyze, baseline, check, compare, devices, explore, machine, machines, measure, networks
from ._api import predict, simulate
from ._networks import network

__version__: str = getattr(_core, "__version__")

if TYPE_CHECKING:
    from ._trace import trace as trace

__all__ = [
    "Advice", "Baseline", "Check", "CheckItem", "Comparison", "Design", "Error", "Exploration", "Fault", "Kernel", "Layer",
    "LayerEstimate", "Machine", "Machines", "Measurement", "Network", "Note", "Prediction", "Result", "Run", "Timeline",
    "Unmodelled", "__version__", "analyze", "baseline", "check", "compare", "devices", "explore", "machine", "machines",
    "measure", "network", "networks", "predict", "simulate", "trace",
]


def __getattr__(name: str) -> object:
    if name == "trace":  # imported when it is first used: it needs torch
        from ._trace import trace

        return trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
