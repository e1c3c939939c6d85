#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

#include <gambrel/mapping.hpp>

#include "base/word_hash.hpp"

namespace gambrel {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::int32_t> number_at(std::string_view text, std::size_t& at) {
    std::int32_t value = 0;
    const auto [end, fault] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (fault != std::errc{}) return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
    return value;
}

// Numbers joined by `x` from `at` on, as "128x64" or "128x128x64"; how many there were, at most four.
std::size_t numbers_by_x(std::string_view text, std::size_t at, std::array<std::int32_t, 4>& out) {
    std::size_t count = 0;
    while (count < out.size() && at < text.size() && digit(text[at])) {
        const auto value = number_at(text, at);
        if (!value) break;
        out[count++] = *value;
        if (at + 1 >= text.size() || text[at] != 'x' || !digit(text[at + 1])) break;
        ++at;
    }
    return count;
}

// "64x3" at `at`: the k-step and the stages.
void find_stages(std::string_view text, std::size_t at, KernelName& name) {
    std::array<std::int32_t, 4> values{};
    if (numbers_by_x(text, at, values) != 2 || values[1] > 16) return;
    name.tile.k = values[0];
    name.stages = values[1];
}

// The first "MxN" or "MxNxK" whose M is at least 16: "1x3x3x0x1" and "sliced1x4" are none.
void find_tile(std::string_view text, KernelName& name) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!digit(text[at]) || (at > 0 && (digit(text[at - 1]) || text[at - 1] == 'x'))) continue;
        std::array<std::int32_t, 4> values{};
        const std::size_t count = numbers_by_x(text, at, values);
        if (count < 2 || values[0] < 16 || values[0] > 512 || values[1] < 8 || values[1] > 512) continue;
        name.tile = {values[0], values[1], count >= 3 ? values[2] : 0};
        // CUTLASS and nvjet: 256x128_64x3 is the k-step and the stages.
        const std::size_t after = text.find_first_not_of("0123456789x", at);
        if (count == 2 && after != std::string_view::npos && text[after] == '_') find_stages(text, after + 1, name);
        return;
    }
}

std::int32_t number_after(std::string_view text, std::string_view key) {
    const std::size_t found = text.find(key);
    if (found == std::string_view::npos) return 0;
    std::size_t at = found + key.size();
    // Stages, slices and vectors are small; a larger number is something else.
    const std::int32_t number = number_at(text, at).value_or(0);
    return number >= 1 && number <= 16 ? number : 0;
}

// implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, ...>: after the types and a size the logarithms of the
// tile.
void engine_tile(std::string_view text, KernelName& name) {
    const std::size_t open = text.find('<');
    if (open == std::string_view::npos) return;
    std::array<std::int32_t, 4> values{};
    std::size_t count = 0;
    for (std::size_t at = open + 1; at < text.size() && count < values.size() && text[at] != '>';) {
        while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
        if (text.substr(at).starts_with("(int)")) at += 5;  // as ncu spells them
        if (at < text.size() && digit(text[at])) {
            values[count++] = number_at(text, at).value_or(0);
        } else {
            at = text.find_first_of(",>", at);
            if (at == std::string_view::npos) return;
        }
    }
    if (count < 4 || values[1] > 9 || values[2] > 9 || values[3] > 6) return;
    name.tile = {1 << values[1], 1 << values[2], 1 << values[3]};
}

std::optional<Pass> pass_of(std::string_view text) {
    if (has(text, "dgrad") || has(text, "bprop")) return Pass::dgrad;
    if (has(text, "wgrad") || has(text, "stridedB_splitK")) return Pass::wgrad;
    if (has(text, "stridedB")) return Pass::dgrad;
    if (has(text, "fprop") || has(text, "relu") || has(text, "convolve")) return Pass::fwd;
    return std::nullopt;
}

// By the shape of the instruction in the name. xmma is a code generator that also makes kernels for CUDA cores. Its
// names hold the types of input, multiplication and output: f32f32_f32f32_f32 multiplies in FP32, f32f32_tf32f32_f32 in
// TF32.
bool on_matrix_units(std::string_view text) {
    static constexpr std::array<std::string_view, 11> kMarks = {"884",  "1688",     "8816", "16816", "16832", "hmma",
                                                                "imma", "tensorop", "xmma", "wgmma", "utcmma"};
    if (has(text, "simt") || has(text, "ffma")) return false;
    if (has(text, "xmma") && has(text, "_f32f32_") && !has(text, "tf32")) return false;
    return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return has(text, mark); });
}

KernelName parsed_name(std::string_view text) {
    KernelName name;
    name.other_algorithm = other_algorithm(text);
    if (has(text, "winograd")) {
        name.family = KernelName::Family::winograd;
        return name;
    }
    if (has(text, "convolve_sgemm") || has(text, "_engine<")) {
        name.family = KernelName::Family::engine;
        engine_tile(text, name);
        name.precomputed = has(text, "precomputed_convolve");
        name.explicit_matrix = has(text, "explicit_convolve");
        name.pass = pass_of(text);
        name.tensor_core = false;
        return name;
    }
    if (has(text, "conv2d_grouped_direct") || has(text, "conv2d_c1_k1")) {
        name.family = KernelName::Family::direct;
        if (has(text, "grouped")) name.tile = {32, 1, 1};  // a warp: 32 pixels of one filter
        name.pass = Pass::fwd;
        name.tensor_core = false;
        return name;
    }
    if (has(text, "dgrad_1x1_stride")) {
        // By the counters of its three launches in DeepCAM on V100, whose L1 bytes are those of 256 x 64 exactly.
        name.family = KernelName::Family::cudnn;
        name.tile = {256, 64, 0};
        name.pass = Pass::dgrad;
        name.tensor_core = name.leaves_zeros = true;
        return name;
    }
    const bool convolution = has(text, "cudnn") || has(text, "fprop") || has(text, "dgrad") || has(text, "wgrad");
    const bool nvjet = has(text, "nvjet");  // cuBLAS from Hopper on
    if (!convolution && !nvjet && !has(text, "gemm")) return name;
    name.family = convolution ? KernelName::Family::cudnn : KernelName::Family::gemm;
    find_tile(text, name);
    name.pass = convolution ? pass_of(text) : std::nullopt;
    if (const std::int32_t slices = number_after(text, "sliced1x")) name.slices = slices;
    name.vector = number_after(text, "ldg");
    name.split_k = has(text, "splitK") || has(text, "split_k");
    // ampere_..._ldg8_stages_64x4; xmma_..._stage4: one tile of k each.
    if (const std::size_t at = text.find("stages_"); at != std::string_view::npos) find_stages(text, at + 7, name);
    if (name.stages == 0) name.stages = number_after(text, "_stage");
    name.tensor_core = nvjet || on_matrix_units(text);
    if (has(text, "nhwc")) name.nhwc = true;
    if (has(text, "nchw") && !has(text, "nhwc2nchw")) name.nhwc = false;
    return name;
}

}  // namespace

std::string_view other_algorithm(std::string_view name) {
    for (const std::string_view other : {"WINOGRAD", "FFT", "DIRECT", "winograd"})
        if (has(name, other)) return other;
    return {};
}

// A table repeats a few names over many thousand rows, and each row asks for its name several times. Four names share a
// place, so that two of them do not push each other out by turns. The cache needs no destructor: not every system that
// this is compiled for runs those of a thread.
KernelName parse_kernel_name(std::string_view text) {
    struct Known {
        std::array<char, 512> text;
        std::size_t length;  // 0: unused
        KernelName name;
    };
    static_assert(std::is_trivially_destructible_v<Known>);
    constexpr std::size_t kPlaces = 64, kNames = 4;
    struct Place {
        std::array<Known, kNames> names;
        std::size_t oldest;
    };
    thread_local std::array<Place, kPlaces> cache{};
    thread_local const Known* last = nullptr;
    if (text.empty()) return {};
    if (text.size() > sizeof(Known::text)) return parsed_name(text);
    const auto is_of = [&](const Known& known) { return std::string_view(known.text.data(), known.length) == text; };
    if (last != nullptr && is_of(*last)) return last->name;
    Place& place = cache[base_detail::word_hash(text) % kPlaces];
    for (const Known& known : place.names)
        if (is_of(known)) return last = &known, known.name;
    Known& known = place.names[place.oldest++ % kNames];
    known.name = parsed_name(text);
    known.length = text.size();
    std::copy(text.begin(), text.end(), known.text.begin());
    last = &known;
    return known.name;
}

std::string_view name(KernelFamily family) {
    switch (family) {
        case KernelFamily::tiled:
            return "tiled";
        case KernelFamily::depthwise:
            return "depthwise";
        case KernelFamily::attention:
            return "attention";
        case KernelFamily::experts:
            return "experts";
        case KernelFamily::collective:
            return "collective";
        case KernelFamily::streaming:
            break;
    }
    return "streaming";
}

}  // namespace gambrel
