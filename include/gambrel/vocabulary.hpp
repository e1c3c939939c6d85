// The words that machines, kernels and networks share: where a number comes from, which memory level it belongs to,
// and which arithmetic pipe does the work. Enumerations and their names, nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gambrel {

// Of hardware: datasheet, measured, derived, assumed, or simulated (a sim: device). Of what a kernel did: measured,
// modelled or simulated; its work may be derived from the layer, its clock assumed. Never mixed silently.
enum class Origin : std::uint8_t { datasheet, measured, derived, assumed, modelled, simulated };
inline constexpr std::size_t kOrigins = 6;

// From the arithmetic outwards. `shared` is beside L1, not between L1 and the pipes; l3 exists on hosts.
enum class Level : std::uint8_t { shared, l1, l2, l3, dram };
inline constexpr std::size_t kLevels = 5;

// The ordinary pipes, then the matrix units (Tensor Cores) by the type of their inputs. FP16 and FP8 inputs accumulate
// in FP32 unless the name says acc16: consumer GPUs run the two at different rates.
enum class Pipe : std::uint8_t {
    fp64,
    fp32,
    fp16,
    bf16,
    int32,
    tensor_fp64,
    tensor_tf32,
    tensor_bf16,
    tensor_fp16,
    tensor_fp16_acc16,
    tensor_fp8,
    tensor_fp8_acc16,
    tensor_fp6,
    tensor_fp4,
    tensor_int8,
    tensor_int4,
    tensor_int1,
};
inline constexpr std::size_t kPipes = 17;

template <class T>
struct PerLevel : std::array<T, kLevels> {
    constexpr T& operator[](Level l) { return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l)); }
    constexpr const T& operator[](Level l) const {
        return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l));
    }
};
template <class T>
struct PerPipe : std::array<T, kPipes> {
    constexpr T& operator[](Pipe p) { return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p)); }
    constexpr const T& operator[](Pipe p) const {
        return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p));
    }
};

constexpr std::array<Level, kLevels> all_levels() {
    return {Level::shared, Level::l1, Level::l2, Level::l3, Level::dram};
}
constexpr std::array<Pipe, kPipes> all_pipes() {
    std::array<Pipe, kPipes> pipes{};
    for (std::size_t i = 0; i < kPipes; ++i) pipes[i] = static_cast<Pipe>(i);
    return pipes;
}
constexpr bool is_tensor(Pipe p) { return p >= Pipe::tensor_fp64; }
// Integer work is work, but not FLOP: it is kept apart from FLOP totals.
constexpr bool is_integer(Pipe p) {
    return p == Pipe::int32 || p == Pipe::tensor_int8 || p == Pipe::tensor_int4 || p == Pipe::tensor_int1;
}

std::string_view name(Origin origin);  // "datasheet"
std::string_view name(Level level);    // "L1", "DRAM"
std::string_view name(Pipe pipe);      // "fp32", "tensor_fp16"
std::string_view title(Pipe pipe);     // for people: "FP32", "Tensor FP16"

std::optional<Origin> origin_from(std::string_view name);
std::optional<Level> level_from(std::string_view name);
std::optional<Pipe> pipe_from(std::string_view name);

}  // namespace gambrel
