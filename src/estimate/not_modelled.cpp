#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

bool has_in_any_case(std::string_view text, std::string_view word) {
    const auto same = [](unsigned char a, unsigned char b) { return std::toupper(a) == std::toupper(b); };
    return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

// Libraries and papers write more around these words than can be listed.
std::string unknown_algorithm(const std::string& algorithm) {
    static constexpr std::array<std::string_view, 10> kWords = {
        "GEMM", "WINOGRAD", "FFT", "DIRECT", kFastestAlgorithm, "ALGO", "DGRAD", "WGRAD", "BWD", "DEPTHWISE"};
    const auto as_written = [&](auto word) { return algorithm.find(word) != std::string::npos; };
    const auto in_any_case = [&](auto word) { return has_in_any_case(algorithm, word); };
    if (std::any_of(kWords.begin(), kWords.end(), as_written)) return {};  // of nearly all rows, and quicker
    if (std::any_of(kWords.begin(), kWords.end(), in_any_case)) return {};
    const std::vector<std::string> usual = {
        "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING", "FASTEST",
        "WINOGRAD",      "WINOGRAD_NONFUSED"};
    return fmt::format("algorithm \"{}\" is not known: predicted as implicit GEMM{}", algorithm,
                       did_you_mean(algorithm, usual));
}

// cuDNN's names of what the model describes, which most rows have.
bool is_implicit_gemm(std::string_view algorithm) {
    static constexpr std::array<std::string_view, 3> kNames = {"IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM"};
    return std::find(kNames.begin(), kNames.end(), algorithm) != kNames.end();
}

std::string by_other_algorithm(const Layer& layer, const Convolution* convolution) {
    const KernelName kernel = parse_kernel_name(layer.hints.kernel);
    std::string_view other = kernel.other_algorithm;
    if (!layer.hints.algorithm.empty() && other.empty()) other = other_algorithm(layer.hints.algorithm);
    if (other.empty()) return {};
    const bool direct = kernel.family == KernelName::Family::direct;
    const bool in_turn = convolution && convolution->groups > 1 && layer.hints.kernel.empty();
    if (direct || transform_of(in_turn ? one_group(layer) : layer) != Transform::none) return {};
    return std::string(other) + " is not modelled: predicted as implicit GEMM";
}

}  // namespace

std::string not_modelled(const Layer& layer) {
    const auto* convolution = std::get_if<Convolution>(&layer.op);
    const bool called = convolution && layer.hints.kernel.empty();  // by an algorithm, if it has one
    const bool implicit = called && is_implicit_gemm(layer.hints.algorithm);
    if (!implicit)
        if (std::string other = by_other_algorithm(layer, convolution); !other.empty()) return other;
    if (called && !implicit && !layer.hints.algorithm.empty())
        if (std::string unknown = unknown_algorithm(layer.hints.algorithm); !unknown.empty()) return unknown;
    const std::int64_t rows = layer.hints.tile_m, columns = layer.hints.tile_n;
    if ((rows > 0 || columns > 0) && (rows < kSmallestTile || columns < kSmallestTile))
        return fmt::format("a tile of {}x{} is not used: expected sides of {} or more", rows, columns, kSmallestTile);
    if (const auto* a = std::get_if<Attention>(&layer.op); a && a->head_dim > 256 && a->q_len == 1 && !a->latent)
        return "decode with head dimensions above 256 was measured on H100 only, where the mean error of the model is "
               "20 %";
    return {};
}

}  // namespace gambrel
