// Measurements of many ranks side by side: the spread of each ceiling over the nodes, and who stands out. Pure; how the
// texts travel between ranks is the caller's affair.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel {

struct RankResult {
    int rank = 0;
    std::string error;  // why this rank has no measurement; "" if it has
    Measurement measurement;
};
// What a rank sends: device, ceilings, faults; no sweeps. The inverse of each other for that.
std::string to_wire(const RankResult& result);
Result<RankResult> from_wire(std::string_view text);

struct Outlier {
    int rank = 0;
    std::string device;   // DeviceInfo::id
    double relative = 0;  // value over the median of all ranks, minus one
    bool worse = false;   // slower, or of longer latency
};
struct CeilingSpread {
    MeasuredCeiling typical;  // of the first rank that has it, its value the median over ranks
    std::size_t ranks = 0;
    double lowest = 0, highest = 0;
    int lowest_rank = 0, highest_rank = 0;
    std::vector<Outlier> outliers;
};
struct ClusterSummary {
    std::vector<CeilingSpread> ceilings;
    std::vector<std::pair<int, std::string>> failed;  // rank and why
    Measurement typical;                              // of the first rank, with the medians over ranks
};
// A rank is an outlier in a ceiling if it is off the median of the ranks by more than 5 % and by more than 3.5 robust
// standard deviations (median absolute deviation). It takes three ranks to name one.
ClusterSummary cluster_summary(const std::vector<RankResult>& ranks);
bool has_outliers(const ClusterSummary& summary);

}  // namespace gambrel
