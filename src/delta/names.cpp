#include <array>

#include <gambrel/delta.hpp>

namespace gambrel {

std::string_view name(Model model) { return model == Model::paper ? "paper" : "gambrel"; }

std::string_view name(Term term) {
    static constexpr std::array<std::string_view, kTerms> kNames = {
        "compute", "issue", "latency", "shared memory", "L1", "L2", "DRAM", "launch", "link"};
    return kNames[static_cast<std::size_t>(term)];
}

std::string_view name(Regime regime) {
    static constexpr std::array<std::string_view, kRegimes> kNames = {"many waves",
                                                                      "few waves",
                                                                      "one wave",
                                                                      "short reduction",
                                                                      "product, many waves",
                                                                      "product, few waves",
                                                                      "product, one wave",
                                                                      "product, short reduction",
                                                                      "Winograd",
                                                                      "Winograd, separate",
                                                                      "Fourier",
                                                                      "groups in turn",
                                                                      "Tensor Core",
                                                                      "Tensor Core GEMM",
                                                                      "narrow GEMM",
                                                                      "direct",
                                                                      "streaming",
                                                                      "rows",
                                                                      "attention",
                                                                      "attention decode",
                                                                      "experts"};
    return kNames[static_cast<std::size_t>(regime)];
}

}  // namespace gambrel
