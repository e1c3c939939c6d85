// Which pipe computes a layer, or why none does.
#include <fmt/format.h>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

Pipe tensor_pipe(Precision precision) {
    switch (precision) {
        case Precision::fp64:
            return Pipe::tensor_fp64;
        case Precision::fp32:
        case Precision::tf32:
            return Pipe::tensor_tf32;
        case Precision::fp16:
            return Pipe::tensor_fp16;
        case Precision::bf16:
            return Pipe::tensor_bf16;
        case Precision::fp8:
            return Pipe::tensor_fp8;
        case Precision::fp4:
            return Pipe::tensor_fp4;
        case Precision::int4:
            return Pipe::tensor_int4;
        case Precision::int8:
            break;
    }
    return Pipe::tensor_int8;
}

Pipe plain_pipe(Precision precision) {
    switch (precision) {
        case Precision::fp64:
            return Pipe::fp64;
        case Precision::fp16:
            return Pipe::fp16;
        case Precision::bf16:
            return Pipe::bf16;
        default:
            return Pipe::fp32;
    }
}

bool has_pipe(const Machine& machine, Pipe pipe) {
    const Arithmetic& a = machine.pipes[pipe];
    if (is_tensor(pipe) && !architecture_of(machine).matrix) return false;
    return (a.dense && a.dense->value.value() > 0) || a.measured || (!a.dense && a.stated);
}

bool computes_in(const Machine& machine, Precision precision) {
    if (precision == Precision::fp32 || precision == Precision::fp64) return has_pipe(machine, plain_pipe(precision));
    const Pipe plain = plain_pipe(precision);
    return has_pipe(machine, tensor_pipe(precision)) || (plain != Pipe::fp32 && has_pipe(machine, plain));
}

// Without a kernel's name: channels that the library's kernels on Tensor Cores cannot take are left to the others.
bool takes_channels(const Layer& layer, const Machine& machine) {
    const auto* v = std::get_if<Convolution>(&layer.op);
    const auto& matrix = architecture_of(machine).matrix;
    if (!v || !layer.hints.kernel.empty() || !matrix || matrix->convolution_channels <= 0) return true;
    return v->c / v->groups % matrix->convolution_channels == 0 && v->k / v->groups % matrix->convolution_channels == 0;
}

}  // namespace

Pipe fitting_pipe(const Layer& layer, const KernelName& name, const Machine& machine) {
    const Precision math = layer.hints.math.value_or(layer.precision);
    const bool named_tensor = name.tensor_core.value_or(false);
    const bool named_plain = !layer.hints.kernel.empty() && !named_tensor;
    const Pipe tensor = tensor_pipe(math);
    const bool wanted = layer.hints.tensor_core.value_or(named_tensor || math != Precision::fp32);
    if (wanted && !named_plain && math != Precision::fp64 && has_pipe(machine, tensor) &&
        takes_channels(layer, machine))
        return tensor;
    // Frameworks ask for sums in FP32, and without Tensor Cores libraries then multiply in FP32 too: P100 and P4 reach
    // no more in FP16 than in FP32. So do cuDNN's engines and the kernels of an "s" in cuDNN and cuBLAS: counters of
    // DeepCAM on V100 show 344 times as many FP32 as FP16 operations in them.
    const std::string_view kernel = layer.hints.kernel;
    const auto single = [&] {
        return name.family == KernelName::Family::engine || kernel.find("sgemm") != kernel.npos ||
               kernel.find("scudnn") != kernel.npos;
    };
    const Pipe plain = math == Precision::fp16 && (!named_plain || single()) ? Pipe::fp32 : plain_pipe(math);
    return has_pipe(machine, plain) ? plain : Pipe::fp32;
}

}  // namespace gambrel::mapping_detail

namespace gambrel {

using namespace mapping_detail;

bool computes_plainly(const Machine& machine, Precision precision) {
    const bool whole_bytes = element_size(precision) >= Bytes{1};
    return whole_bytes && computes_in(machine, precision) &&
           (precision != Precision::fp16 || has_pipe(machine, Pipe::tensor_fp16)) &&
           (precision != Precision::fp64 || !has_pipe(machine, Pipe::tensor_fp64));
}

Result<PipeChoice> pipe_for(const Layer& layer, const Machine& machine) {
    const Precision math = layer.hints.math.value_or(layer.precision);
    if (std::holds_alternative<Convolution>(layer.op) && element_size(math) < Bytes{1})
        return failure(layer.name, fmt::format("a convolution in {}, which no library has; expected eight bits or more",
                                               name(math)));
    PipeChoice choice{fitting_pipe(layer, parse_kernel_name(layer.hints.kernel), machine), {}};
    if (std::holds_alternative<Streaming>(layer.op) || std::holds_alternative<AllReduce>(layer.op)) return choice;
    if (math == Precision::fp64 && std::holds_alternative<Gemm>(layer.op) && layer.hints.kernel.empty() &&
        has_pipe(machine, Pipe::tensor_fp64))
        choice.note = "FP64 products are predicted on CUDA cores; libraries may run them on the FP64 Tensor Cores of " +
                      machine.id + ", up to twice as fast";
    if (math == Precision::fp16 && choice.pipe == Pipe::fp32 && layer.hints.kernel.empty() &&
        has_pipe(machine, Pipe::fp16) && !has_pipe(machine, Pipe::tensor_fp16))
        choice.note = machine.id + " has no Tensor Cores: FP16 tensors are assumed to be multiplied in FP32, as " +
                      "frameworks ask for sums in FP32";
    if (computes_in(machine, math)) return choice;
    // Libraries keep FP16 tensors on GPUs without FP16 arithmetic: their kernels convert as they load.
    if (math == Precision::fp16) {
        choice.note = machine.id + " has no FP16 arithmetic: FP16 tensors are assumed to be computed in FP32";
        return choice;
    }
    std::string known;
    for (const Precision p : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                              Precision::fp8, Precision::int8, Precision::fp4})
        if (computes_in(machine, p)) known += (known.empty() ? "" : ", ") + std::string(name(p));
    return failure(layer.name, fmt::format("{} does not compute in {}; it has {}", machine.id, name(math), known));
}

}  // namespace gambrel
