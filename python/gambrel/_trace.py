"""`with gambrel.trace(module) as t:` around a step of PyTorch: the profiler with shapes and modules, and the Roofline of what ran."""
from __future__ import annotations

import gzip
import json
import os
import tempfile
from types import TracebackType
from typing import Any

import torch

from . import _core
from ._api import analyze
from ._core import Comparison, Run
from ._errors import Error

_MARK = "gambrel.module: "


class _Paths:
    """Marks every call of a submodule with its path, seen from the module that called it."""

    def __init__(self, module: Any) -> None:
        self._open: list[tuple[str, Any]] = []
        self._hooks: list[Any] = []
        for path, one in module.named_modules():
            if path:
                self._hooks.append(one.register_forward_pre_hook(lambda *_, path=path: self._enter(path)))
                self._hooks.append(one.register_forward_hook(lambda *_, path=path: self._leave(), always_call=True))

    def _enter(self, path: str) -> None:
        outer = self._open[-1][0] if self._open else ""
        own = path[len(outer) + 1 :] if outer and path.startswith(outer + ".") else path
        mark = torch.profiler.record_function(_MARK + own)
        mark.__enter__()
        self._open.append((path, mark))

    def _leave(self) -> None:
        self._open.pop()[1].__exit__(None, None, None)

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()


def with_module_events(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace whose marks of modules are events of modules, as the reader of traces knows them."""
    for event in trace["traceEvents"]:
        if str(event.get("name", "")).startswith(_MARK):
            if event.get("cat") == "user_annotation":
                event["name"], event["cat"] = "nn.Module: " + event["name"][len(_MARK) :], "python_function"
            else:  # the shadow of a mark on the GPU's own line
                event["cat"] = "gpu_user_annotation"
    return trace


def _name_modules(file: str) -> None:
    opened: Any = gzip.open if file.endswith(".gz") else open
    with opened(file, "rt", encoding="utf-8") as text:
        events = with_module_events(json.load(text))
    with opened(file, "wt", encoding="utf-8") as text:
        json.dump(events, text)


class trace:
    """Records what runs on the GPU while the context is open; afterwards `run` is the judged run.

    With `module` every kernel gets the path of its submodule. `path` keeps the trace. `reading` are arguments of analyze.
    """

    def __init__(self, module: Any = None, path: str | os.PathLike[str] | None = None, **reading: Any) -> None:
        self._module, self._path, self._reading = module, path, reading
        self._paths: _Paths | None = None
        self._run: Run | None = None
        self._why = "nothing was recorded yet: use it as `with gambrel.trace() as t:`"
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        # Without a module the profiler's own stacks say at least the classes.
        self._profiler = torch.profiler.profile(activities=activities, record_shapes=True, with_stack=module is None)

    def __enter__(self) -> trace:
        if self._module is not None:
            self._paths = _Paths(self._module)
        self._profiler.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None) -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self._profiler.__exit__(kind, error, stack)
        if self._paths:
            self._paths.remove()
        if kind is not None:
            self._why = f"the block ended with {kind.__name__}, so its trace was not kept"
            return
        with tempfile.TemporaryDirectory(prefix="gambrel-") as folder:
            file = os.fspath(self._path) if self._path is not None else os.path.join(folder, "step.pt.trace.json")
            self._profiler.export_chrome_trace(file)
            if self._module is not None:
                _name_modules(file)
            self._judge(file)

    def _judge(self, file: str) -> None:
        if not torch.cuda.is_available():
            self._why = "no kernel ran on a GPU: this PyTorch sees no CUDA device, so there is nothing to judge"
            return
        run = _core.dotted_modules(analyze(file, **self._reading))
        if run.timeline is None or run.timeline.gpu_ns == 0:
            self._why = "no kernel ran on a GPU while the context was open: are module and inputs on the CUDA device?"
            return
        self._run = run

    @property
    def run(self) -> Run:
        if self._run is None:
            raise Error([("trace", self._why)])
        return self._run

    def compare(self, prediction: Run) -> Comparison:
        """The prediction beside what was measured, module by module."""
        return compare_by_module(prediction, self.run)


def compare_by_module(prediction: Run, measured: Run) -> Comparison:
    return _core.compare(prediction.grouped("module"), measured.grouped("module"), "name")
