#include "network/row_words.hpp"

#include "network/operator_rows.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {

// Spellings that say more than how elements are stored: those of DeepBench, cudnn-benchmark and mixed-precision runs.
std::optional<Storage> storage_from(std::string_view text) {
    const std::string key = lower(text);
    // Where cudnn-benchmark logs the clock, for FP32, it is the base clock of V100, TITAN V and T4.
    if (key == "tensorcorehalf") return Storage{Precision::fp16, {}, true, {}, true};
    if (key == "fp16in_fp16mul_fp32acc") return Storage{Precision::fp16, Precision::fp16, {}};
    if (key == "fp16in_fp32math") return Storage{Precision::fp16, Precision::fp32, false};
    if (key == "fp32in_fp16mul_fp32acc") return Storage{Precision::fp32, Precision::fp16, {}};
    if (key == "int8_acc32") return Storage{Precision::int8, {}, {}};
    if (key == "int4_wo") return Storage{Precision::bf16, {}, {}, Precision::int4};
    if (key == "int8_wo") return Storage{Precision::bf16, {}, {}, Precision::int8};
    if (const auto precision = precision_from(key)) return Storage{*precision, {}, {}};
    return std::nullopt;
}

// What published tables say of how they measured, in words of their own.
std::optional<Timing> timing_of_software(std::string_view text) {
    const std::string software = lower(text);
    if (software.find("graph replay") != std::string::npos) return Timing::graph;
    if (software.find("kernel times") != std::string::npos || software.find("kernel median") != std::string::npos ||
        software.find("profiler") != std::string::npos)
        return Timing::kernel;
    return std::nullopt;
}

// CUDNN_CONV_FWD, conv2d, bmm, linear, ...
Operation operation_from(std::string_view text) {
    const std::string op = lower(text);
    const auto has = [&](std::string_view word) { return op.find(word) != std::string::npos; };
    Operation known;
    known.linear = has("linear");
    if (op.ends_with("bwd_data")) known.pass = Pass::dgrad;
    if (op.ends_with("bwd_filter") || op.ends_with("bwd_weights")) known.pass = Pass::wgrad;
    if (op == "attention")
        known.kind = OperatorKind::attention;
    else if (op == "moe")
        known.kind = OperatorKind::experts;
    else if (is_vector_op(op))
        known.kind = OperatorKind::vector;
    else if (has("conv"))
        known.kind = OperatorKind::convolution;
    else if (has("gemm") || has("bmm") || has("matmul") || known.linear || has("mm"))
        known.kind = OperatorKind::gemm;
    return known;
}

// Of an algorithm's or a kernel's name.
KernelWords words_from(std::string_view text) {
    const std::string name = lower(text);
    KernelWords words{name.find("tensor core") != std::string::npos, name.find("nhwc") != std::string::npos, {}};
    for (const std::string_view algorithm : kAlgorithmNames)
        if (name.size() == algorithm.size() && name == lower(algorithm)) words.algorithm = algorithm;
    return words;
}

std::optional<InputScales> scales_from(std::string_view text) {
    const std::string quant = lower(text);
    if (quant.empty() || quant == "none" || quant == "no" || quant == "0") return InputScales::none;
    if (quant.find("tensor") != std::string::npos) return InputScales::tensor;
    // Scales that need no look at the whole input first.
    for (const std::string_view word : {"block", "group", "token", "row", "channel", "static", "fp4", "mx"})
        if (quant.find(word) != std::string::npos) return InputScales::blocks;
    return std::nullopt;
}

// Where a row names its kernel, the others are not part of what was measured.
BiasKernel bias_kernel_of(std::string_view others, const std::string& kernel) {
    if (!kernel.empty()) return BiasKernel::none;
    if (others.find("bias add") != std::string_view::npos) return BiasKernel::adds;
    return others.find("copy of the bias") != std::string_view::npos ? BiasKernel::copies : BiasKernel::none;
}

void by_deepbench(Layer& layer, std::string_view label, std::string_view trust) {
    Hints& hints = layer.hints;
    if (!hints.algorithm.empty() || !hints.kernel.empty() || hints.tile_m > 0) return;
    if (layer.pass == Pass::fwd && (trust.empty() || trust == "original")) hints.algorithm = label;
    if (hints.algorithm.empty()) hints.algorithm = kFastestAlgorithm;
    if (!hints.timing) hints.timing = Timing::stream;
}

}  // namespace gambrel::network_detail
