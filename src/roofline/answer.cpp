#include <algorithm>

#include <gambrel/roofline.hpp>

namespace gambrel {

std::optional<double> step_speedup(const AnalysisRow& row, Seconds whole) {
    if (!row.verdict.headroom || whole <= Seconds{}) return std::nullopt;
    const Seconds left = whole - std::max(Seconds{}, *row.verdict.headroom);
    return left > Seconds{} ? std::optional(whole / left) : std::nullopt;
}

Answer answer(const Analysis& analysis) {
    constexpr double kWorthwhile = 0.01;
    Answer out;
    for (const AnalysisRow& row : analysis.rows) {
        if (!row.kernel.time) continue;
        out.time += row.kernel.time->value;
        if (!row.verdict.headroom) out.unjudged += row.kernel.time->value;
    }
    out.at_roofs = out.time;
    for (std::size_t i = 0; i < analysis.rows.size(); ++i) {
        const AnalysisRow& row = analysis.rows[i];
        if (!row.kernel.time || !row.verdict.headroom) continue;
        const Seconds headroom = std::max(Seconds{}, *row.verdict.headroom);
        out.at_roofs -= headroom;
        if (headroom < kWorthwhile * out.time) continue;
        if (const auto speedup = step_speedup(row, out.time)) out.first.push_back({i, headroom, *speedup});
    }
    std::stable_sort(out.first.begin(), out.first.end(),
                     [](const Answer::Item& a, const Answer::Item& b) { return a.headroom > b.headroom; });
    return out;
}

}  // namespace gambrel
