#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

constexpr std::array<std::string_view, kOrigins> kOriginNames{"datasheet", "measured", "derived",
                                                              "assumed",   "modelled", "simulated"};
constexpr std::array<std::string_view, kLevels> kLevelNames{"shared", "L1", "L2", "L3", "DRAM"};

struct PipeNames {
    std::string_view name, title;
};
constexpr std::array<PipeNames, kPipes> kPipeNames{{
    {"fp64", "FP64"},
    {"fp32", "FP32"},
    {"fp16", "FP16"},
    {"bf16", "BF16"},
    {"int32", "INT32"},
    {"tensor_fp64", "Tensor FP64"},
    {"tensor_tf32", "Tensor TF32"},
    {"tensor_bf16", "Tensor BF16"},
    {"tensor_fp16", "Tensor FP16"},
    {"tensor_fp16_acc16", "Tensor FP16 (FP16 acc.)"},
    {"tensor_fp8", "Tensor FP8"},
    {"tensor_fp8_acc16", "Tensor FP8 (FP16 acc.)"},
    {"tensor_fp6", "Tensor FP6"},
    {"tensor_fp4", "Tensor FP4"},
    {"tensor_int8", "Tensor INT8"},
    {"tensor_int4", "Tensor INT4"},
    {"tensor_int1", "Tensor INT1"},
}};

template <class E, std::size_t N>
std::optional<E> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i)
        if (names[i] == name) return static_cast<E>(i);
    return std::nullopt;
}

}  // namespace

std::string_view name(Origin origin) { return kOriginNames[static_cast<std::size_t>(origin)]; }
std::string_view name(Level level) { return kLevelNames[static_cast<std::size_t>(level)]; }
std::string_view name(Pipe pipe) { return kPipeNames[static_cast<std::size_t>(pipe)].name; }
std::string_view title(Pipe pipe) { return kPipeNames[static_cast<std::size_t>(pipe)].title; }

std::optional<Origin> origin_from(std::string_view name) { return index_of<Origin>(kOriginNames, name); }
std::optional<Level> level_from(std::string_view name) { return index_of<Level>(kLevelNames, name); }
std::optional<Pipe> pipe_from(std::string_view wanted) {
    for (const Pipe p : all_pipes())
        if (name(p) == wanted) return p;
    return std::nullopt;
}

}  // namespace gambrel
