"""try_package.py EXAMPLES: each call of the Python package once, with nothing but the package, and the time of importing it."""
from __future__ import annotations

import pathlib
import subprocess
import sys

import gambrel


def import_time() -> float:
    """Milliseconds of CPU of `import gambrel` in a new interpreter, because a busy computer would stretch the clock's; the best of several."""
    script = "import time; t = time.process_time(); import gambrel; print((time.process_time() - t) * 1e3)"
    return min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout) for _ in range(5))


def main(examples: pathlib.Path) -> None:
    run: gambrel.Run = gambrel.analyze(examples / "step.ncu-rep")
    kernel: gambrel.Kernel = run.kernels[0]
    time: float | None = kernel.time
    print(run)
    print(kernel.name, time, kernel.bytes.get("DRAM"))
    prediction: gambrel.Prediction = gambrel.predict("resnet50", gpu="a100", batch=8, precision="fp16")
    print(prediction.time)
    print(gambrel.simulate([gambrel.Layer.gemm("a", 256, 256, 64)], gpu="v100").layers)
    print(gambrel.explore("alexnet", gpu="v100", vary="sms=1:2").recommended)
    print(gambrel.compare(run, examples / "fused.ncu-rep").matched)
    print(gambrel.check(run, min_roof=0.4).passed)
    print(gambrel.measure("sim:v100", quick=True).machine.name)
    print(len(gambrel.machines()))
    took = import_time()
    print(f"import: {took:.1f} ms")
    if took > 50:
        sys.exit("import gambrel takes more than 50 ms")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
