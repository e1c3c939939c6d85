#!/usr/bin/env python3
"""Writes the inputs in examples/: two Nsight Compute reports, a log of `ncu --csv`, an ONNX file, a run of ERT, a trace of PyTorch, an
export of Nsight Systems, and DeepCAM's table as a saved result.

make_examples.py [FOLDER]          writes them (default: examples/ of this repository)
make_examples.py --check           exit status 1 if a file there differs from what would be written

Nothing here was measured, but for examples/deepcam.csv, whose rows cite their source. The reports describe two layers of a transformer (8 sequences of 1024 tokens, 1024 channels, 16 heads, FP16)
on an A100 at base clock; sizes follow from the shapes, times are plausible figures chosen by hand.
"""
import csv
import json
import sqlite3
import struct
import sys
import tempfile
from pathlib import Path

from protobuf_wire import blob, block, number, real, sized

CLOCK = 1.095e9  # Hz: ncu locks the clock to base
TOKENS, CHANNELS, HEADS, SEQUENCE = 8 * 1024, 1024, 16, 1024
SCORES = 8 * HEADS * SEQUENCE * SEQUENCE  # elements of the attention matrix
MB = 1e6


def gemm(phase, name, m, n, k, batch, micros, dram, l2, l1):
    grid = (max(1, m // 128), max(1, n // 128), batch)
    return dict(phase=phase, name=name, grid=grid, block=(128, 1, 1), micros=micros, tensor=2.0 * m * n * k * batch,
                dram=dram * MB, l2=l2 * MB, l1=l1 * MB)


def streaming(phase, name, elements, micros, dram, adds=0, fmas=0, l1=None):
    return dict(phase=phase, name=name, grid=(elements // 1024, 1, 1), block=(256, 1, 1), micros=micros, fadd=adds * elements,
                ffma=fmas * elements, dram=dram * MB, l2=1.75 * dram * MB, l1=(l1 or 1.02 * dram) * MB)




def projection(phase, n, k, micros, dram, l2, l1):
    return gemm(phase, "ampere_gemm_fp16_128x128", TOKENS, n, k, 1, micros, dram, l2, l1)


def mlp():
    return [
        streaming("mlp", "void layer_norm_kernel<c10::Half>(int, float, const c10::Half*)",
                  TOKENS * CHANNELS, 41.2, 33.9, adds=4, fmas=3),
        projection("mlp", 4 * CHANNELS, CHANNELS, 371.0, 92.8, 402, 611),
        streaming("mlp", "void gelu_kernel<c10::Half>(int, const c10::Half*, c10::Half*)", 4 * TOKENS * CHANNELS, 108.3, 134.6, adds=4, fmas=6),
        projection("mlp", CHANNELS, 4 * CHANNELS, 384.5, 95.1, 431, 640),
    ]


def attention():
    return [
        projection("attention", 3 * CHANNELS, CHANNELS, 287.4, 74.2, 318, 470),
        streaming("attention", "void transpose_heads_kernel<c10::Half>(const c10::Half*, c10::Half*, int, int, int)", 3 * TOKENS * CHANNELS, 149.6, 101.2, l1=420),
        gemm("attention", "ampere_gemm_fp16_128x64", SEQUENCE, SEQUENCE, 64, 8 * HEADS, 238.9, 303.5, 640, 812),
        streaming("attention", "void scale_and_mask_kernel<c10::Half>(int, float, const c10::Half*, c10::Half*)", SCORES, 431.7, 541.0, fmas=1),
        streaming("attention", "void softmax_warp_forward<c10::Half>(c10::Half*, const c10::Half*, int, int, int)", SCORES, 418.2, 538.6, adds=3, fmas=1),
        gemm("attention", "ampere_gemm_fp16_64x64", SEQUENCE, 64, SEQUENCE, 8 * HEADS, 251.0, 304.1, 655, 840),
        projection("attention", CHANNELS, CHANNELS, 104.8, 36.0, 131, 198),
    ]


def fused_attention():
    kernel = dict(phase="attention", name="void flash_fwd_kernel<c10::Half>(Flash_fwd_params)",
                  grid=(8, 8, HEADS), block=(128, 1, 1), micros=262.5, tensor=4.0 * SCORES * 64, fadd=3 * SCORES, ffma=SCORES,
                  dram=68.4 * MB, l2=330 * MB, l1=402 * MB)
    return [attention()[0], kernel, attention()[-1]]


def step(one_layer):
    launches = []
    for layer in range(2):
        for launch in one_layer() + mlp():
            # The second layer runs a little differently, as it would.
            launches.append({**launch, "micros": launch["micros"] * (1 + 0.006 * layer)})
    return launches


def metrics(launch):
    counts = {f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum": 0.0
              for op in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")}
    counts["sm__sass_thread_inst_executed_op_fadd_pred_on.sum"] = float(launch.get("fadd", 0))
    counts["sm__sass_thread_inst_executed_op_ffma_pred_on.sum"] = float(launch.get("ffma", 0))
    return {
        "gpu__time_duration.sum": ("nsecond", launch["micros"] * 1000),
        "sm__cycles_elapsed.avg.per_second": ("hz", CLOCK),
        **{name: ("inst", value) for name, value in counts.items()},
        "sm__ops_path_tensor_src_fp16_dst_fp32.sum": ("", launch.get("tensor", 0.0)),
        "l1tex__t_bytes.sum": ("byte", launch["l1"]),
        "lts__t_bytes.sum": ("byte", launch["l2"]),
        "dram__bytes.sum": ("byte", launch["dram"]),
    }


def report(launches):
    names = list(metrics(launches[0]))
    attributes = {"device__attribute_compute_capability_major": 8, "device__attribute_compute_capability_minor": 0,
                  "device__attribute_multiprocessor_count": 108}
    device = number(1, 0) + blob(2, "NVIDIA A100-SXM4-40GB")
    device += b"".join(blob(3, blob(1, name) + blob(2, number(5, value))) for name, value in attributes.items())
    kernels = []
    for launch in launches:
        short = launch["name"].split("(")[0].split("<")[0].split("::")[-1].removeprefix("void ")
        kernel = number(1, 77) + number(2, 1) + blob(5, short) + blob(6, short) + blob(7, launch["name"])
        for tag, shape in ((10, launch["grid"]), (11, launch["block"])):
            kernel += blob(tag, b"".join(number(i + 1, size) for i, size in enumerate(shape)))
        for i, (_, value) in enumerate(metrics(launch).values()):
            kernel += blob(13, number(1, i) + blob(2, real(3, value)))
        domain = number(1, 0) + blob(3, blob(1, launch["phase"]) + number(3, 9))
        kernels.append(kernel + blob(21, blob(1, number(1, 0) + blob(2, "<default domain>")) + blob(2, number(1, 77) + blob(2, domain))))
    tool = blob(8, blob(1, "Nsight Compute Target") + blob(2, "2025.1.0.0 (made up: no GPU ran this)"))
    return b"NVR\0" + sized(number(1, 7)) + block(session=blob(6, device)) + block(session=tool) + block(kernels, names)


def log(launches):
    names = metrics(launches[0])
    columns = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
    lines = ["# Made up for the examples of gambrel; no GPU ran this.", columns + list(names), [""] * len(columns) + [unit for unit, _ in names.values()]]
    for i, launch in enumerate(launches):
        shapes = ["(%d, %d, %d)" % launch["block"], "(%d, %d, %d)" % launch["grid"]]
        fixed = [str(i), "77", "python3", "localhost", launch["name"], "1", "7", *shapes, "0", "8.0"]
        lines.append(fixed + [f"{value:.0f}" for _, value in metrics(launch).values()])
    return "\n".join(line if isinstance(line, str) else ",".join('"' + cell + '"' for cell in line) for line in lines) + "\n"


def onnx():
    def tensor(name, dims):
        return blob(5, b"".join(number(1, size) for size in dims) + number(2, 1) + blob(8, name))

    def value(tag, name, dims):
        shape = b"".join(blob(1, number(1, size) if isinstance(size, int) else blob(2, size)) for size in dims)
        return blob(tag, blob(1, name) + blob(2, blob(1, number(1, 1) + blob(2, shape))))

    def node(op, inputs, output, **attributes):
        out = b"".join(blob(1, name) for name in inputs) + blob(2, output) + blob(3, output) + blob(4, op)
        for name, ints in attributes.items():
            out += blob(5, blob(1, name) + b"".join(number(8, i) for i in ints) + number(20, 7))
        return blob(1, out)

    graph = node("Conv", ["image", "stem.weight"], "stem", kernel_shape=[7, 7], strides=[2, 2], pads=[3, 3, 3, 3])
    graph += node("Relu", ["stem"], "stem.relu")
    graph += node("Conv", ["stem.relu", "body.weight"], "body", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    graph += node("Relu", ["body"], "body.relu")
    graph += node("GlobalAveragePool", ["body.relu"], "pool") + node("Flatten", ["pool"], "features")
    graph += node("Gemm", ["features", "head.weight"], "classes") + blob(2, "example")
    graph += tensor("stem.weight", [64, 3, 7, 7]) + tensor("body.weight", [128, 64, 3, 3]) + tensor("head.weight", [128, 1000])
    graph += value(11, "image", ["batch", 3, 224, 224]) + value(12, "classes", ["batch", 1000])
    return number(1, 8) + blob(2, "gambrel examples") + blob(7, graph) + blob(8, number(2, 17))


def ert():
    """A sweep as the Empirical Roofline Toolkit prints it: working set, trials, microseconds, bytes, FLOP."""
    lines = ["fp64"]
    for doubling in range(3, 17):
        size = 1024 << doubling
        for trials in (1, 2, 4, 8, 16, 32):
            moved = 2 * size * trials  # each element is read and written
            rate = 2.9e12 if size <= 4 << 20 else 0.83e12
            lines.append(f"{size:12d} {trials:12d} {5 + 1e6 * moved / rate:15.3f} {moved:12d} {moved // 8:12d}")
    return "\n".join([*lines, "META_DATA", "FLOPS          2", "GPU_BLOCKS     640", "GPU_THREADS    256"]) + "\n"


def trace():
    """A step of a small network as the PyTorch profiler writes it: linear, GELU, linear, and the copy of the input."""
    half = "c10::Half"
    events, correlation, host, gpu = [], 0, 0.0, 40.0

    def event(category, name, start, duration, thread, arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if thread == 7 else 1, "tid": thread, "ts": round(start, 3),
                       "dur": duration, "args": arguments})

    def launch(operator, module, dims, kernel, grid, micros):
        nonlocal correlation, host, gpu
        correlation += 1
        event("python_function", f"nn.Module: {module}", host, 30, 1, {"Python id": correlation})
        event("cpu_op", operator, host + 2, 20, 1, {
            "External id": correlation, "Input Dims": dims, "Input type": [half if d else "Scalar" for d in dims]})
        event("cuda_runtime", "cudaLaunchKernel", host + 8, 4, 1, {"correlation": correlation, "External id": correlation})
        event("kernel", kernel, gpu, micros, 7, {"External id": correlation, "device": 0, "stream": 7, "correlation": correlation,
                                                 "grid": grid, "block": [128, 1, 1], "registers per thread": 128})
        host, gpu = host + 40, gpu + micros + 2.5

    tokens, hidden, inner = 8192, 1024, 4096
    gemm_name = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"
    launch("aten::addmm", "Linear_0", [[inner], [tokens, hidden], [hidden, inner], [], []], gemm_name,
           [inner // 128, tokens // 128, 1], 305.2)
    launch("aten::gelu", "GELU_0", [[tokens, inner], []],
           "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)", [tokens * inner // 512, 1, 1], 98.4)
    launch("aten::addmm", "Linear_1", [[hidden], [tokens, inner], [inner, hidden], [], []], gemm_name,
           [hidden // 128, tokens // 128, 1], 298.7)
    event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", gpu, 640.0, 7,
          {"device": 0, "stream": 7, "correlation": correlation + 1, "bytes": tokens * hidden * 2})
    event("user_annotation", "ProfilerStep#1", 0, gpu + 700, 1, {})
    document = {"schemaVersion": 1, "deviceProperties": [{
        "id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42297786368, "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
        "traceEvents": events}
    return json.dumps(document, indent=1) + "\n"


def nsys():
    """The step of the trace as `nsys export --type sqlite` writes it: times and names, no shapes."""
    kernels = [("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", 305_200, (32, 64), 128),
               ("vectorized_elementwise_kernel", 98_400, (65_536, 1), 128),
               ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", 298_700, (8, 64), 128)]
    thread, start = 16_777_217, 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.sqlite"
        base = sqlite3.connect(path)
        base.executescript("""
            PRAGMA page_size = 1024;
            CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE TARGET_INFO_GPU(id INTEGER, cuDevice INTEGER, name TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
                correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER,
                gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);""")
        base.execute("INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'NVIDIA A100-SXM4-40GB')")
        base.execute("INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel')")
        for number, (name, nanoseconds, (x, y), threads) in enumerate(kernels, 2):
            base.execute("INSERT INTO StringIds VALUES(?, ?)", (number, name))
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?, ?, ?, ?, 1)", (start - 9_000, start - 5_000, thread, number))
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?, ?, 0, 1, 7, ?, 16777216, ?, ?, ?, ?, 1, ?, 1, 1)",
                         (start, start + nanoseconds, number, number, number, x, y, threads))
            start += nanoseconds + 2_500
        base.commit()
        base.close()
        content = bytearray(path.read_bytes())
    # The version of the library that wrote it, which is all that differs between computers.
    content[96:100] = struct.pack(">I", 3_040_000)
    return bytes(content)


def deepcam(table):
    """DeepCAM's table as a saved result, which `gambrel analyze` reads: one row for each run, summed over its launches."""
    def known(value):
        return {"value": float(value), "origin": "measured"}

    rows = [{"name": row["name"], "phase": row["framework"], "source": row["cite"], "device": "Tesla V100-SXM2-16GB",
             "launches": int(row["launches"]), "zero_flop_launches": int(row["zero_flop_launches"]), "time_s": known(row["time_s"]),
             "clock_hz": known(row["clock_hz"]), "work": {"fp32_flop": known(row["flop_fp32"]), "fp16_flop": known(row["flop_fp16"]),
                                                         "tensor_fp16_flop": known(row["flop_tensor"])},
             "traffic": {level: known(row[level]) for level in ("l1_bytes", "l2_bytes", "dram_bytes")}, "machine": "v100-sxm2-16gb"}
            for row in csv.DictReader(table.splitlines())]
    return json.dumps({"schema": "gambrel-analysis-1", "title": "DeepCAM on V100 (arXiv 2009.05257)", "grouping": "launch",
                       "origin": "measured", "machines": [{"id": "v100-sxm2-16gb", "name": "Tesla V100-SXM2-16GB", "source": "catalogue"}],
                       "rows": rows}, indent=1) + "\n"


def files():
    table = (Path(__file__).resolve().parent.parent / "examples/deepcam.csv").read_text(encoding="utf-8")
    return {
        "step.ncu-rep": report(step(attention)),
        "fused.ncu-rep": report(step(fused_attention)),
        "step.csv": log(step(attention)).encode(),
        "model.onnx": onnx(),
        "ert/try.000": ert().encode(),
        "trace.json": trace().encode(),
        "trace.sqlite": nsys(),
        "deepcam.json": deepcam(table).encode(),
    }


def main(arguments):
    folder = Path(__file__).resolve().parent.parent / "examples"
    if arguments == ["--check"]:
        stale = [name for name, content in files().items() if (folder / name).read_bytes() != content]
        for name in stale:
            print(f"examples/{name}: differs from what tools/make_examples.py writes", file=sys.stderr)
        return 1 if stale else 0
    folder = Path(arguments[0]) if arguments else folder
    for name, content in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
