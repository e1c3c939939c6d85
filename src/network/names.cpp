#include <algorithm>
#include <array>
#include <utility>

#include <gambrel/network.hpp>

#include "network/text.hpp"

namespace gambrel {
namespace {

constexpr std::array<std::string_view, 3> kPasses = {"fwd", "dgrad", "wgrad"};
constexpr std::array<std::string_view, 7> kPrecisions = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
constexpr std::array<std::string_view, 2> kLayouts = {"nchw", "nhwc"};
constexpr std::array<double, 7> kElementBytes = {8, 4, 4, 2, 2, 1, 1};
constexpr std::array<std::string_view, kStreamingKinds> kKinds = {
    "max_pool",      "average_pool",   "batch_norm",  "batch_norm_training",
    "layer_norm",    "group_norm",     "rms_norm",    "lrn",
    "activation",    "transcendental", "elementwise", "softmax",
    "concatenation", "resize",         "reduction",   "gather",
    "copy"};

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
constexpr std::array<std::pair<std::string_view, Precision>, 14> kPrecisionSpellings = {{
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
}};

}  // namespace

std::string_view name(Pass pass) { return kPasses[static_cast<std::size_t>(pass)]; }
std::string_view name(Precision precision) { return kPrecisions[static_cast<std::size_t>(precision)]; }
std::string_view name(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }
std::string_view name(StreamingKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<Pass> pass_from(std::string_view text) { return lookup<Pass>(text, kPasses, kPassSpellings); }
std::optional<Precision> precision_from(std::string_view text) {
    return lookup<Precision>(text, kPrecisions, kPrecisionSpellings);
}
std::optional<Layout> layout_from(std::string_view text) { return lookup<Layout, 2, 0>(text, kLayouts, {}); }

Bytes element_size(Precision precision) { return Bytes{kElementBytes[static_cast<std::size_t>(precision)]}; }

}  // namespace gambrel
