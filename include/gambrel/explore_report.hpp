// ExplorationReport of an exploration as text, terminal charts, SVG, CSV and JSON. Formats only; every figure is in the
// ExplorationReport. Equal input gives equal bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gambrel/explore.hpp>
#include <gambrel/report.hpp>

namespace gambrel {

// designs: speed-up with stacked bottlenecks. sensitivity: bars. map: two resources with lines of equal speed-up.
// pareto: speed-up against cost.
enum class ExploreChart : std::uint8_t { designs, sensitivity, map, pareto };
inline constexpr std::size_t kExploreCharts = 4;
std::string_view name(ExploreChart chart);
std::optional<ExploreChart> explore_chart_from(std::string_view name);

std::string explore_text(const ExplorationReport& report, const TextStyle& style);
// "" where the report holds nothing to draw.
std::string explore_terminal(const ExplorationReport& report, ExploreChart chart, const TextStyle& style);
std::string explore_svg(const ExplorationReport& report, ExploreChart chart, const ChartStyle& style = {});
std::string explore_json(const ExplorationReport& report);
// One row per design: those of the text, then the front.
std::string explore_csv(const ExplorationReport& report);

std::string proof_text(const RatioProof& proof, const TextStyle& style);
std::string proof_csv(const RatioProof& proof);

}  // namespace gambrel
