"""Modules of PyTorch on GPUs that are not here: FLOP against torch's own counter, paths against named_modules."""
import gzip
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch brings it")

from torch.utils.flop_counter import FlopCounterMode

import gambrel
from gambrel._trace import compare_by_module

IDS = torch.zeros(2, 64, dtype=torch.long)
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 500, "hidden_size": 64, "intermediate_size": 128,
         "max_position_embeddings": 128}


def bert(t):
    return t.BertModel(t.BertConfig(**SIZES))


def gpt2(t):
    return t.GPT2LMHeadModel(t.GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=500, n_positions=128, bos_token_id=1, eos_token_id=1))


def llama(t):
    return t.LlamaForCausalLM(t.LlamaConfig(**SIZES, num_key_value_heads=2))


def mixtral(t):
    model = t.MixtralForCausalLM(t.MixtralConfig(**SIZES, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2))
    model.set_experts_implementation("eager")  # the counter has no formula for the grouped product
    return model


def counted(module, inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(**inputs) if isinstance(inputs, dict) else module(inputs)
    return counter.get_total_flops()


@pytest.mark.parametrize("make, layers", [(bert, 0), (gpt2, 2), (llama, 2), (mixtral, 2)])
def test_flop_of_a_transformer_are_those_of_flop_counter(make, layers):
    module = make(pytest.importorskip("transformers")).eval()
    network = gambrel.network(module, {"input_ids": IDS})
    # flop_counter has no masks: of a causal layer we count the (S + 1) / 2S of the pairs that the mask leaves.
    full = 4 * 2 * 4 * 64 * 64 * 16
    masked = layers * (full - full * 65 / 128)
    assert network.matrix_flop + masked == counted(module, {"input_ids": IDS})
    assert set(network.modules.values()) <= {path for path, _ in module.named_modules()}
    assert network.unmodelled == [] and network.parameters == sum(p.numel() for p in module.parameters())


def test_flop_of_resnet50_are_those_of_flop_counter():
    t = pytest.importorskip("transformers")
    module = t.ResNetForImageClassification(t.ResNetConfig(num_labels=1000)).eval()
    network = gambrel.network(module, (1, 3, 224, 224))
    assert network.matrix_flop == counted(module, torch.zeros(1, 3, 224, 224))
    assert len({path for path in network.modules.values() if path.endswith("convolution")}) == 53


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1, groups=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.up = torch.nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, x):
        x = self.up(torch.relu(self.norm(self.conv(x))))
        return self.head(x.mean((2, 3)))


def test_a_module_of_ones_own_is_predicted_forward_and_backward():
    with torch.device("meta"):
        module = Block().eval()
    x = torch.zeros(8, 3, 32, 32, device="meta")
    forward = gambrel.predict(module, x, gpu="h100-sxm", precision="fp16")
    assert [layer.module for layer in forward.layers] == ["conv", "norm", "", "up", "", "head"]
    assert forward.network.matrix_flop == counted(module, x)
    assert {layer.layer.precision for layer in forward.layers} == {"fp16"}
    step = gambrel.predict(module, x, gpu="h100-sxm", training=True)
    passes = {(layer.module, layer.layer.pass_) for layer in step.layers if layer.op in ("conv2d", "linear")}
    # Nothing before the first convolution learns, so it needs no gradient of its input.
    assert passes == {("conv", "fwd"), ("conv", "wgrad"), ("head", "fwd"), ("head", "dgrad"), ("head", "wgrad")}
    modules = step.grouped("module")
    assert sum(k.time for k in modules.kernels) == pytest.approx(step.time) and step.time > forward.time


def test_convolutions_of_one_dimension_and_even_filters_are_counted_right():
    module = torch.nn.Sequential(torch.nn.Conv1d(4, 8, 4, padding="same"), torch.nn.Conv1d(8, 8, 3, stride=2, padding=1, dilation=2, groups=4))
    x = torch.zeros(2, 4, 31)
    assert gambrel.network(module, x).matrix_flop == counted(module, x)


def test_masks_and_shared_heads_are_recovered():
    t = pytest.importorskip("transformers")
    with torch.device("meta"):
        module = t.MistralForCausalLM(t.MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=16)).eval()
    network = gambrel.network(module, {"input_ids": IDS.to("meta")})
    heads = [layer for layer in network.layers if layer.op == "attention"]
    pairs = sum(min(row + 1, 16) for row in range(64))
    assert len(heads) == 2 and all(layer.flop == 4 * 2 * 4 * pairs * 16 for layer in heads)
    # Q and O of four heads, K and V of two, each once.
    assert all(layer.bytes == 2 * 64 * 16 * 4 * (4 + 4 + 2 + 2) for layer in heads)


def test_what_has_no_model_is_listed_with_its_reason():
    class Odd(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.inv(x) @ x

    network = gambrel.network(Odd(), torch.eye(8))
    assert [(hole.count, hole.reason) for hole in network.unmodelled] == [(1, "has no rule")]
    with pytest.raises(gambrel.Error, match="torch.export cannot follow it"):
        class Wild(torch.nn.Module):
            def forward(self, x):
                return x[: int(x.sum())] if x.sum() > 3 else x
        gambrel.network(Wild(), torch.ones(8))


# What a rule of data/operators calls an argument, and what PyTorch calls it.
MEANINGS = {"a": {"self", "mat1", "batch1", "input", "mat"}, "b": {"mat2", "batch2", "other", "weight", "vec", "tensor"},
            "addend": {"self", "bias"}, "offsets": {"offs", "offsets"}, "input": {"input", "self"}, "output": {"grad_output"},
            "mask": {"bias", "attn_bias", "output_mask"}, "mask_type": {"custom_mask_type"}, "causal": {"is_causal", "dropout_p"},
            "cumulative": {"cum_seq_q", "cu_seqlens_q"}, "kernel": {"kernel_size"}, "size": {"output_size", "input_size"},
            "table": {"weight", "self"}, "index": {"indices", "index"}, "dilation": {"dilation", "ceil_mode"}}


def test_positions_of_arguments_are_those_of_this_version():
    rules = json.loads((Path(__file__).parents[2] / "data/operators/torch.json").read_text())["operators"]
    checked = 0
    for rule in rules:
        for name in (n for n in rule["names"] if n.startswith("aten::")):
            # The overload that the profiler records: of tensors, without a type or a result of its own.
            schemas = [s for s in torch._C._jit_get_schemas_for_operator(name) if s.overload_name in ("", "Tensor")]
            for schema in schemas[:1]:
                names = [a.name for a in schema.arguments]
                for meaning, position in rule.get("arguments", {}).items():
                    assert names[position] in MEANINGS.get(meaning, {meaning}), (name, meaning, names)
                    checked += 1
                reads = rule.get("read", [])
                for position in reads if isinstance(reads, list) else []:
                    if isinstance(position, int) and name not in ("aten::lift_fresh", "aten::where"):
                        kind = str(schema.arguments[position].type)
                        assert "Tensor" in kind or "number" in kind, (name, position, names)
                        checked += 1
    assert checked > 200


def test_a_trace_without_a_gpu_says_so():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with gambrel.trace() as t:
        torch.ones(8, 8) @ torch.ones(8, 8)
    for ask in (lambda: t.run, lambda: t.compare(gambrel.predict("alexnet", gpu="v100"))):
        with pytest.raises(gambrel.Error, match="no CUDA device"):
            ask()
    with pytest.raises(ZeroDivisionError), gambrel.trace() as t:
        1 / 0
    with pytest.raises(gambrel.Error, match="ended with ZeroDivisionError"):
        t.run


def test_a_trace_of_a_gpu_that_did_nothing_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    with gambrel.trace() as t:
        torch.ones(8, 8) @ torch.ones(8, 8)
    with pytest.raises(gambrel.Error, match="while the context was open"):
        t.run


def with_kernels(trace, names):
    """The trace of a step on a CPU, as a GPU would have left it: a launch and a kernel for each of these operators."""
    out, number = [], 0
    for event in trace["traceEvents"]:
        out.append(event)
        if event.get("cat") == "cpu_op" and event["name"] in names:
            number += 1
            where = {"ph": "X", "ts": event["ts"] + event["dur"] / 2}
            out.append({**where, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 0.01, "pid": event["pid"], "tid": event["tid"],
                        "args": {"correlation": number, "External id": event["args"]["External id"]}})
            out.append({**where, "cat": "kernel", "name": "kernel_" + event["name"][6:], "dur": 20, "pid": 0, "tid": 7,
                        "args": {"correlation": number, "device": 0, "stream": 7, "grid": [64, 1, 1], "block": [256, 1, 1]}})
    properties = [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
    return {**trace, "traceEvents": out, "deviceProperties": properties}


def test_a_measured_trace_lies_beside_a_prediction_module_by_module(tmp_path):
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            return self.blocks[0](x) + self.blocks[1](x)

    module, x, file = Outer().eval(), torch.zeros(8, 3, 32, 32), tmp_path / "step.json"
    with gambrel.trace(module, tmp_path / "step.json.gz"), torch.no_grad():
        module(x)
    assert "nn.Module: blocks.0" in gzip.open(tmp_path / "step.json.gz", "rt").read()
    with gambrel.trace(module, file), torch.no_grad():
        module(x)
    assert not any(one._forward_hooks for one in module.modules())
    file.write_text(json.dumps(with_kernels(json.loads(file.read_text()), {"aten::conv2d", "aten::linear", "aten::batch_norm"})))
    measured = gambrel._core.dotted_modules(gambrel.analyze(file))
    assert {k.module for k in measured.grouped("module").kernels} == {f"blocks.{i}.{name}" for i in (0, 1) for name in ("conv", "norm", "head")}
    compared = compare_by_module(gambrel.predict(module, x, gpu="a100"), measured)
    assert {pair.name for pair in compared.pairs if pair.matched} == {f"blocks.{i}.{name}" for i in (0, 1) for name in ("conv", "norm", "head")}
