#include <algorithm>
#include <cmath>

#include <gambrel/compare.hpp>

#include "compare/matching.hpp"

namespace gambrel {
namespace {

using namespace compare_detail;

template <class Q>
std::optional<double> value(const Known<Q>& known) {
    return known ? std::optional(known->value.value()) : std::nullopt;
}
template <class Q>
std::optional<double> value(const std::optional<Q>& known) {
    return known ? std::optional(known->value()) : std::nullopt;
}

void fill(ComparedPair& pair, const Kernel* before, const Kernel* after) {
    const auto change = [&](auto get) {
        return Change{before ? value(get(*before)) : std::nullopt, after ? value(get(*after)) : std::nullopt};
    };
    pair.time = change([](const Kernel& k) { return k.time; });
    pair.flop = change([](const Kernel& k) { return flop(k); });
    pair.flop_rate = change([](const Kernel& k) { return flop_rate(k); });
    for (const Level l : all_levels()) {
        pair.bytes[l] = change([l](const Kernel& k) { return k.bytes[l]; });
        pair.intensity[l] = change([l](const Kernel& k) { return intensity(k, l); });
    }
}

struct RoofTime {
    Bound roof;
    double shortest;
};

std::vector<RoofTime> roof_times(const Roofline& v) {
    std::vector<RoofTime> out;
    for (const auto& p : v.pipes) out.push_back({p.pipe, p.shortest.value()});
    for (const auto& l : v.levels) out.push_back({l.level, l.shortest.value()});
    return out;
}

// The side before, with the shortest time of one roof taken from the side after and its own efficiency kept:
//   t' = max(shortest times, one exchanged) / (shortest / t).   docs/model.md, "Which roof explains a change".
double time_with(const std::vector<RoofTime>& before, const RoofTime& exchanged, double of_roof) {
    double longest = exchanged.shortest;
    for (const auto& r : before)
        if (r.roof != exchanged.roof) longest = std::max(longest, r.shortest);
    return longest / of_roof;
}

constexpr double kLeastPart = 0.1;     // less than a tenth of the change explains nothing
constexpr double kLeastChange = 1e-3;  // equal for all that a clock can tell

void explain(ComparedPair& pair, const Roofline& before, const Roofline& after) {
    if (!pair.time.before || !pair.time.after || !before.of_roof || !(*before.of_roof > 0)) return;
    const double error = std::fabs(*pair.time.after - *pair.time.before);
    if (error <= kLeastChange * *pair.time.before) return;
    const auto was = roof_times(before);
    for (const auto& now : roof_times(after)) {
        const double left = std::fabs(*pair.time.after - time_with(was, now, *before.of_roof));
        const double part = 1 - left / error;
        if (part > std::max(pair.explained, kLeastPart)) pair.explained = part, pair.explained_by = now.roof;
    }
}

// How near to the hardware a side is.
int nearness(const Analysis& a) { return a.origin == Origin::modelled ? 0 : a.origin == Origin::simulated ? 1 : 2; }

double longer(const ComparedPair& p) { return std::max(p.time.before.value_or(0), p.time.after.value_or(0)); }

}  // namespace

std::string_view name(MatchBy by) {
    switch (by) {
        case MatchBy::automatic:
            return "auto";
        case MatchBy::name:
            return "name";
        case MatchBy::order:
            return "order";
        case MatchBy::layer:
            return "layer";
    }
    return "";
}

std::optional<double> Change::ratio() const {
    if (!before || !after || *before == 0) return std::nullopt;
    return *after / *before;
}

Comparison comparison(Analysis before, Analysis after, const CompareOptions& options) {
    Comparison out;
    out.matched_by = options.match_by == MatchBy::automatic ? chosen(before, after) : options.match_by;
    out.is_prediction = nearness(before) < nearness(after);
    for (const Match& m : matched(before, after, out.matched_by)) {
        ComparedPair pair;
        pair.before = m.before, pair.after = m.after;
        const AnalysisRow* a = m.before ? &before.rows[*m.before] : nullptr;
        const AnalysisRow* b = m.after ? &after.rows[*m.after] : nullptr;
        fill(pair, a ? &a->kernel : nullptr, b ? &b->kernel : nullptr);
        if (a && b) explain(pair, a->verdict, b->verdict);
        ++(a && b ? out.matched : a ? out.only_before : out.only_after);
        out.pairs.push_back(pair);
    }
    std::stable_sort(out.pairs.begin(), out.pairs.end(), [](auto& a, auto& b) { return longer(a) > longer(b); });
    fill(out.total, &before.total, &after.total);
    out.before = std::move(before), out.after = std::move(after);
    return out;
}

}  // namespace gambrel
