// Two results side by side, whatever their origins: kernels matched, the change of each amount, and which roof explains
// the change of time. Invariant: every row of both sides is in exactly one pair; what found no partner is a pair of
// one. Pure; reads no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/analysis.hpp>

namespace gambrel {

// automatic: by layer if both sides have layers (modelled or simulated), else by name if most of the time finds a
// partner so, else by order.
enum class MatchBy : std::uint8_t { automatic, name, order, layer };
std::string_view name(MatchBy by);  // "name"

struct Change {
    std::optional<double> before, after;  // base units
    // after / before; absent if either is unknown or before is zero.
    [[nodiscard]] std::optional<double> ratio() const;
};

struct ComparedPair {
    std::optional<std::size_t> before, after;  // rows of the two analyses; one may be missing
    Change time, flop, flop_rate;
    PerLevel<Change> bytes, intensity;
    // The roof whose change, put alone into the side before, brings its time nearest to the side after; and the part of
    // the change of time that it makes good (1: all). Absent if no roof does: then the change is one of efficiency.
    Bound explained_by;
    double explained = 0;
};

struct Comparison {
    Analysis before, after;
    MatchBy matched_by = MatchBy::name;  // never automatic
    // The side after is nearer to the hardware (modelled, then simulated, then measured): ratios are errors.
    bool is_prediction = false;
    std::vector<ComparedPair> pairs;  // by falling time of the longer side
    ComparedPair total;
    std::size_t matched = 0, only_before = 0, only_after = 0;
};

struct CompareOptions {
    MatchBy match_by = MatchBy::automatic;
};
// `before` and `after` must be of one grouping.
Comparison comparison(Analysis before, Analysis after, const CompareOptions& options = {});

}  // namespace gambrel
