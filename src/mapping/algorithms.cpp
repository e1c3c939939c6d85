// Which algorithms a library has for a convolution whose row names none. Which of them it takes is for the model to
// say.
#include <array>

#include <gambrel/mapping.hpp>

namespace gambrel {
namespace {

// cuDNN's names. Fourier transforms are left out: their spectra take gigabytes, so that frameworks rarely allow them.
constexpr std::array<std::string_view, 4> kAlgorithms = {"IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "WINOGRAD",
                                                         "WINOGRAD_NONFUSED"};

Layer named(const Layer& layer, std::string_view algorithm) {
    Layer out = layer;
    out.hints.algorithm = algorithm;
    out.hints.algorithm_found = !algorithm.empty();
    return out;
}

bool has_choice(const Layer& layer, const Machine& machine) {
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v || v->groups != 1 || layer.layout != Layout::nchw) return false;
    const auto pipe = pipe_for(layer, machine);
    return layer.precision == Precision::fp32 && pipe && pipe->pipe == Pipe::fp32 && layer.hints.kernel.empty() &&
           layer.hints.tile_m <= 0;
}

}  // namespace

std::vector<Layer> by_library_algorithms(const Layer& layer, const Machine& machine) {
    if (layer.hints.algorithm != kFastestAlgorithm) return {layer};
    std::vector<Layer> all{named(layer, {})};
    if (!has_choice(layer, machine)) return all;
    for (const std::string_view algorithm : kAlgorithms) {
        Layer other = named(layer, algorithm);
        // Engines of backward passes have names of their own and are not among these.
        const bool transforms = algorithm.starts_with("WINOGRAD");
        if (transforms ? transform_of(other) != Transform::none : layer.pass == Pass::fwd)
            all.push_back(std::move(other));
    }
    return all;
}

}  // namespace gambrel
