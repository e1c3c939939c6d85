// What a launch is, as opposed to what it did: device, compute capability, shape. Told by metrics of its result,
// whether or not these are wanted for themselves. An untold fact is NaN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>

namespace gambrel::ingest_detail {

enum class NcuFact : std::uint8_t {
    cc_major,
    cc_minor,
    device_id,
    grid_size,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    display_name,  // the only text
    none,
};
inline constexpr std::size_t kNcuFacts = static_cast<std::size_t>(NcuFact::none);

NcuFact ncu_fact(std::string_view metric_name);

class NcuFacts {
public:
    NcuFacts() { facts_.fill(std::numeric_limits<double>::quiet_NaN()); }
    double& operator[](NcuFact fact) { return facts_[static_cast<std::size_t>(fact)]; }
    double operator[](NcuFact fact) const { return facts_[static_cast<std::size_t>(fact)]; }

private:
    std::array<double, kNcuFacts> facts_{};
};

std::optional<ComputeCapability> capability(const NcuFacts& facts);

using Dim3 = std::array<std::uint64_t, 3>;  // never 0 in a dimension
struct WrittenShape {
    std::optional<Dim3> grid, block;   // GridSize, BlockSize
    bool grid_counts_threads = false;  // what GridSize means in reports of this age
};
// Metrics go before the written GridSize, whose meaning changed in 2020.3.1 from threads to blocks.
std::optional<LaunchShape> launch_shape(const WrittenShape& written, const NcuFacts& facts);

}  // namespace gambrel::ingest_detail
