#include <algorithm>
#include <array>
#include <utility>

#include <gambrel/network.hpp>

#include "network/text.hpp"

namespace gambrel {
namespace {

constexpr std::array<std::string_view, 3> kPasses = {"fwd", "dgrad", "wgrad"};
constexpr std::array<std::string_view, kPrecisions> kPrecisionNames = {"fp64", "fp32", "tf32", "fp16", "bf16",
                                                                       "fp8",  "int8", "fp4",  "int4"};
constexpr std::array<std::string_view, 5> kTimings = {"kernel", "graph", "call", "framework", "stream"};
constexpr std::array<std::string_view, 3> kPhases = {"prefill", "decode", "train"};
constexpr std::array<std::string_view, 2> kLayouts = {"nchw", "nhwc"};
constexpr std::array<std::string_view, kStreamingKinds> kKinds = {
    "max_pool",      "average_pool",   "batch_norm",       "batch_norm_training",
    "layer_norm",    "group_norm",     "rms_norm",         "lrn",
    "activation",    "transcendental", "elementwise",      "softmax",
    "concatenation", "resize",         "reduction",        "gather",
    "copy",          "rope",           "gated_activation", "cross_entropy",
    "divergence",    "quantization",   "dropout",          "routing",
    "optimizer"};

template <class T, std::size_t N, std::size_t M>
std::optional<T> lookup(std::string_view text, const std::array<std::string_view, N>& names,
                        const std::array<std::pair<std::string_view, T>, M>& others) {
    const std::string key = network_detail::lower(text);
    if (const auto it = std::find(names.begin(), names.end(), key); it != names.end())
        return static_cast<T>(it - names.begin());
    for (const auto& [other, value] : others)
        if (key == other) return value;
    return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, Pass>, 10> kPassSpellings = {{
    {"forward", Pass::fwd},
    {"fprop", Pass::fwd},
    {"inference", Pass::fwd},
    {"bwd_data", Pass::dgrad},
    {"bwd_input", Pass::dgrad},
    {"backward_data", Pass::dgrad},
    {"bwd_weights", Pass::wgrad},
    {"bwd_weight", Pass::wgrad},
    {"bwd_filter", Pass::wgrad},
    {"backward_filter", Pass::wgrad},
}};
constexpr std::array<std::pair<std::string_view, Precision>, 18> kPrecisionSpellings = {{
    {"double", Precision::fp64},
    {"float64", Precision::fp64},
    {"float", Precision::fp32},
    {"float32", Precision::fp32},
    {"single", Precision::fp32},
    {"half", Precision::fp16},
    {"float16", Precision::fp16},
    {"fp16_mixed", Precision::fp16},
    {"bfloat16", Precision::bf16},
    {"e4m3", Precision::fp8},
    {"e5m2", Precision::fp8},
    {"float8", Precision::fp8},
    {"i8", Precision::int8},
    {"s8", Precision::int8},
    {"mxfp8", Precision::fp8},
    {"nvfp4", Precision::fp4},
    {"mxfp4", Precision::fp4},
    {"w4", Precision::int4},
}};

}  // namespace

std::string_view name(Pass pass) { return kPasses[static_cast<std::size_t>(pass)]; }
std::string_view name(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }
std::string_view name(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }
std::string_view name(StreamingKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<Pass> pass_from(std::string_view text) { return lookup<Pass>(text, kPasses, kPassSpellings); }
std::optional<Precision> precision_from(std::string_view text) {
    return lookup<Precision>(text, kPrecisionNames, kPrecisionSpellings);
}
std::string_view name(Timing timing) { return kTimings[static_cast<std::size_t>(timing)]; }
std::string_view name(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::optional<Timing> timing_from(std::string_view text) { return lookup<Timing, 5, 0>(text, kTimings, {}); }
std::optional<Phase> phase_from(std::string_view text) { return lookup<Phase, 3, 0>(text, kPhases, {}); }
std::optional<Layout> layout_from(std::string_view text) { return lookup<Layout, 2, 0>(text, kLayouts, {}); }

}  // namespace gambrel
