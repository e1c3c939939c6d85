"""What the package does, one function for each command. Arguments are checked by the library, which reports all faults at once."""
from __future__ import annotations

import os
import re
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _core
from ._core import Baseline, Check, Comparison, Exploration, Machine, Machines, Measurement, Prediction, Run
from ._errors import Error
from ._networks import Source
from ._networks import network as load_network
from ._progress import ProgressOption, shown

Path = Union[str, "os.PathLike[str]"]
Clock = Union[float, str, None]
Gpu = Union[str, Machine, "os.PathLike[str]", None]


def _machine(gpu: Gpu) -> Machine | None:
    return gpu if gpu is None or isinstance(gpu, Machine) else _core.machine(os.fspath(gpu))


def _needed_machine(gpu: Gpu) -> Machine:
    found = _machine(gpu)
    if found is None:
        raise Error([("gpu", 'which GPU? expected a name that gambrel.machines() lists, such as "v100", or a machine file')])
    return found


_CLOCK = re.compile(r"\s*([0-9.]+)\s*(MHz|GHz|Hz)\s*$")


def _hertz(clock: Clock) -> float | None:
    """A number is Hz, as everywhere in this package; a text states its unit."""
    if clock is None:
        return None
    if isinstance(clock, str):
        match = _CLOCK.match(clock)
        if not match:
            raise Error([("clock", f'"{clock}" is not a valid clock: expected a text such as "1410 MHz", or Hz')])
        clock = float(match.group(1)) * {"Hz": 1, "MHz": 1e6, "GHz": 1e9}[match.group(2)]
    if not clock >= 1e6:
        raise Error([("clock", f'"{clock}" Hz is not a valid clock: expected Hz, such as 1.41e9, or "1410 MHz"')])
    return float(clock)


def _paths(paths: Path | Iterable[Path]) -> list[str]:
    return [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(path) for path in paths]


def machine(name: Path) -> Machine:
    """A machine by its name in the catalogue, or from a machine file."""
    return _core.machine(os.fspath(name))


def machines(like: str = "") -> Machines:
    """The catalogue, or the machines whose names contain all words of `like`."""
    return _core.machines(like)


def networks() -> dict[str, str]:
    """The built-in networks and models, and what each is."""
    return dict(_core.network_names())


def devices() -> dict[str, str]:
    """What `measure` could measure on this computer."""
    return dict(_core.devices())


def analyze(
    paths: Path | Iterable[Path],
    *,
    gpu: Gpu = None,
    clock: Clock = None,
    roofs: str = "auto",
    group: str = "kernel",
    kernel: str | re.Pattern[str] | Callable[[str], bool] | None = None,
    flop_rule: str = "corrected",
    nvtx_depth: int = 1,
    operators: Iterable[Path] = (),
    network: Source = None,
    inputs: object = None,
    **how: Any,
) -> Run:
    """Analyses profiler files, traces or saved results: every kernel is compared with its roofs.

    Several files are one run. `kernel` keeps the kernels whose full or short name the expression matches somewhere, or
    for which the function is true. `group` is launch, kernel, operator, module, phase or rank.

    `network` says what ran, for kernels of a trace that have no shapes (CUDA graphs, nsys): whatever `gambrel.network`
    takes, with its arguments in `inputs` and `how`.
    """
    for name in how:
        if name not in (load_network.__kwdefaults__ or {}):
            hint = "; the GPU is gpu=..." if name == "machine" else ""
            raise TypeError(f"analyze() got an unexpected keyword argument '{name}'{hint}")
    if network is None and (how or inputs is not None):
        given = ", ".join([*(["inputs"] if inputs is not None else []), *how])
        raise Error([("network", f"is missing: {given} describe a network, so expected network=...")])
    keep: Callable[[str, str], bool] | None = None
    if callable(kernel):
        wanted = kernel
        keep = lambda full, short: bool(wanted(full))  # noqa: E731
    elif kernel is not None:
        try:
            pattern = re.compile(kernel)
        except re.error as error:
            raise Error([("kernel", f'"{kernel}" is not a valid regular expression: {error}')]) from None
        keep = lambda full, short: bool(pattern.search(full) or pattern.search(short))  # noqa: E731
    ran = None if network is None else load_network(network, inputs, **{"in_order": True, "algorithm": "implicit", **how})
    return _core.analyze(
        _paths(paths), _machine(gpu), _hertz(clock), roofs, group, flop_rule, nvtx_depth, _paths(operators), ran, keep
    )


def predict(
    source: Source,
    inputs: object = None,
    *,
    gpu: Gpu = None,
    clock: Clock = None,
    roofs: str = "measured",
    model: str = "gambrel",
    tile: tuple[int, int, int] | None = None,
    best_mapping: bool = False,
    progress: ProgressOption = None,
    **how: Any,
) -> Prediction:
    """Bytes at each level and the time of every layer of a network on a GPU that you need not have.

    `how` are the arguments of `network`: batch, sequence, shapes, precision, layout, training, phase, context, ...
    For a torch.nn.Module `inputs` are its inputs: a tensor, a tuple, or a dictionary of named ones; they may be on "meta".
    """
    if model not in ("gambrel", "paper"):
        raise Error([("model", f'"{model}": expected gambrel or paper')])
    layers = load_network(source, inputs, **how)
    with shown(progress) as report:
        return _core.predict(layers, _machine(gpu), _hertz(clock), roofs, model, best_mapping, tile, progress=report)


def simulate(
    source: Source,
    inputs: object = None,
    *,
    gpu: Gpu = None,
    clock: Clock = None,
    roofs: str = "measured",
    tile: tuple[int, int, int] | None = None,
    sample: int = 0,
    seed: int = 1,
    threads: int = 0,
    warm: bool = False,
    progress: ProgressOption = None,
    **how: Any,
) -> Prediction:
    """Bytes of every layer by simulating every address; `sample` > 1 simulates that many windows and scales up."""
    layers = load_network(source, inputs, **how)
    with shown(progress) as report:
        return _core.predict(
            layers, _machine(gpu), _hertz(clock), roofs, "simulation", False, tile, sample, seed, threads, warm, report
        )


def compare(before: Run | Path, after: Run | Path, *, match: str = "auto", **reading: Any) -> Comparison:
    """Compares two runs of any origin; files are read as by `analyze`."""
    sides = [side if isinstance(side, Run) else analyze(side, **reading) for side in (before, after)]
    if isinstance(sides[0], Prediction) != isinstance(sides[1], Prediction) and not (set(reading) & {"group"}):
        # A prediction has one row for each layer; what was measured is grouped as its reader asked.
        sides = [side.grouped("kernel") for side in sides]
    return _core.compare(sides[0], sides[1], match)


def baseline(runs: Run | Path | Iterable[Run | Path], **reading: Any) -> Baseline:
    """A baseline for later checks, from one or several runs of one program on one machine."""
    several = [runs] if isinstance(runs, (Run, str, os.PathLike)) else list(runs)
    return _core.baseline_of([run if isinstance(run, Run) else analyze(run, **reading) for run in several])


def check(
    run: Run | Path | Iterable[Path],
    *,
    min_roof: float | None = None,
    baseline: Baseline | Run | Path | None = None,
    min_share: float = 0.01,
    max_time: float = 0.05,
    max_bytes: float = 0.02,
    **reading: Any,
) -> Check:
    """A gate: does every kernel that matters reach its share of the roof, and is none slower than the baseline?

    The baseline is an earlier run, or a file of one, or of `baseline(...).to_json()`. All limits are shares: 0.6 is 60 %. The result is
    true if everything passed.
    """
    for name, share in (("min_roof", min_roof), ("min_share", min_share)):
        if share is not None and not 0 <= share <= 1:
            raise Error([(name, f'"{share}" is not a valid share: expected 0 to 1')])
    if isinstance(baseline, (str, os.PathLike)):
        file = os.fspath(baseline)
        baseline = _core.load_baseline(file) if _core.is_baseline(file) else analyze(file, **reading)
    if isinstance(baseline, Run):
        baseline = _core.baseline_of([baseline])
    judged = run if isinstance(run, Run) else analyze(run, **reading)
    return _core.check(judged, min_roof, baseline, min_share, max_time, max_bytes)


def explore(
    source: Source | Mapping[str, float],
    *,
    gpu: Gpu = None,
    clock: Clock = None,
    roofs: str = "measured",
    vary: str | Mapping[str, str] = "",
    limit: str | Sequence[str] = "",
    costs: Path = "",
    target: float | None = None,
    map: Sequence[str] = (),
    search: str = "auto",
    samples: int = 100_000,
    restarts: int = 64,
    seed: int = 1,
    tiles: str = "fastest",
    convolutions: bool = False,
    threads: int = 0,
    progress: ProgressOption = None,
    **how: Any,
) -> Exploration:
    """Which resources of a GPU to scale, and by how much.

    `source` is a network, or a dictionary of networks with their weights. `vary` is "sms=1:4,l2.bandwidth=1:4" or a
    dictionary of the same.
    """
    weighted = source.items() if isinstance(source, Mapping) else [(source, 1.0)]
    each = [(load_network(one, **how), float(weight)) for one, weight in weighted]
    if not isinstance(vary, str):
        vary = ",".join(f"{resource}={values}" for resource, values in vary.items())
    with shown(progress) as report:
        return _core.explore(
            each, _needed_machine(gpu), _hertz(clock), roofs, vary, limit if isinstance(limit, str) else ",".join(limit),
            os.fspath(costs), target, list(map), search, samples, restarts, seed, tiles, convolutions, threads, report,
        )


def measure(
    device: str = "cpu",
    *,
    quick: bool = False,
    budget: float = 0.0,
    sustained: float = 0.0,
    prove: bool = False,
    progress: ProgressOption = None,
) -> Measurement:
    """Ceilings of arithmetic and memory of a device: "cpu", "cuda:0", "opencl:0", or "sim:NAME" of a machine.

    `budget` and `sustained` are seconds; 0 is the default of the command line.
    """
    with shown(progress) as report:
        return _core.measure(device, quick, budget, sustained, prove, report)
