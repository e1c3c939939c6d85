#include "ingest/ncu_facts.hpp"

#include <algorithm>

namespace gambrel::ingest_detail {
namespace {

constexpr std::array<std::string_view, kNcuFacts> kNames = {
    "device__attribute_compute_capability_major",
    "device__attribute_compute_capability_minor",
    "launch__device_id",
    "launch__grid_size",
    "launch__grid_dim_x",
    "launch__grid_dim_y",
    "launch__grid_dim_z",
    "launch__block_dim_x",
    "launch__block_dim_y",
    "launch__block_dim_z",
    "device__attribute_display_name",
};

std::optional<Dim3> told(const NcuFacts& facts, NcuFact x, NcuFact y, NcuFact z) {
    Dim3 dim{};
    std::size_t i = 0;
    for (const NcuFact fact : {x, y, z}) {
        const double value = facts[fact];
        if (!(value >= 1 && value <= std::numeric_limits<std::uint32_t>::max())) return std::nullopt;
        dim[i++] = static_cast<std::uint64_t>(value);
    }
    return dim;
}

std::optional<Dim3> blocks_of(const Dim3& threads, const Dim3& block) {
    Dim3 grid{};
    for (std::size_t i = 0; i < grid.size(); ++i) {
        if (threads[i] % block[i] != 0) return std::nullopt;
        grid[i] = threads[i] / block[i];
    }
    return grid;
}

// In double, because the three factors come from the file and may overflow any integer.
double product(const Dim3& dim) {
    return static_cast<double>(dim[0]) * static_cast<double>(dim[1]) * static_cast<double>(dim[2]);
}

std::optional<Dim3> grid_of(const WrittenShape& written, const Dim3& block, const NcuFacts& facts) {
    if (const auto dims = told(facts, NcuFact::grid_x, NcuFact::grid_y, NcuFact::grid_z)) return dims;
    if (!written.grid) return std::nullopt;
    const std::optional<Dim3> divided = blocks_of(*written.grid, block);
    // A truncated report may have lost the version that says how to read GridSize, so the metric is asked first.
    const double size = facts[NcuFact::grid_size];
    if (product(*written.grid) == size) return written.grid;
    if (divided && product(*divided) == size) return divided;
    if (size == size) return std::nullopt;
    return written.grid_counts_threads ? divided : written.grid;
}

}  // namespace

NcuFact ncu_fact(std::string_view metric_name) {
    return static_cast<NcuFact>(std::find(kNames.begin(), kNames.end(), metric_name) - kNames.begin());
}

std::optional<ComputeCapability> capability(const NcuFacts& facts) {
    const double major = facts[NcuFact::cc_major], minor = facts[NcuFact::cc_minor];
    if (!(major >= 1 && major < 1000 && minor >= 0 && minor < 1000)) return std::nullopt;
    return ComputeCapability{static_cast<int>(major), static_cast<int>(minor)};
}

std::optional<LaunchShape> launch_shape(const WrittenShape& written, const NcuFacts& facts) {
    const auto block =
        written.block ? written.block : told(facts, NcuFact::block_x, NcuFact::block_y, NcuFact::block_z);
    if (!block) return std::nullopt;
    const auto grid = grid_of(written, *block, facts);
    if (!grid) return std::nullopt;
    LaunchShape shape;
    for (std::size_t i = 0; i < 3; ++i) {
        if (std::max((*grid)[i], (*block)[i]) > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
        shape.grid[i] = static_cast<std::uint32_t>((*grid)[i]);
        shape.block[i] = static_cast<std::uint32_t>((*block)[i]);
    }
    return shape;
}

}  // namespace gambrel::ingest_detail
