#include "report/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

namespace gambrel::report_detail {

std::string intensity_text(double v) {
    if (!std::isfinite(v)) return {};
    if (v == 0) return "0";
    const double a = std::fabs(v);
    if (a >= 1e6 || a < 0.0005) return fmt::format("{:.1e}", v);
    const int magnitude = static_cast<int>(std::floor(std::log10(a)));
    return fmt::format("{:.{}f}", v, std::clamp(2 - magnitude, 0, 3));
}

std::string percent_text(double fraction, int digits) {
    if (!std::isfinite(fraction)) return {};
    const double least = std::pow(10.0, -digits);
    if (fraction > 0 && 100 * fraction < least / 2) return fmt::format("<{:.{}f} %", least, digits);
    return fmt::format("{:.{}f} %", 100 * fraction, digits);
}

std::string count_text(std::uint64_t n) {
    std::string text = std::to_string(n);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
}

std::string plural(std::uint64_t n, std::string_view noun) {
    return fmt::format("{} {}{}", count_text(n), noun, n == 1 ? "" : "s");
}

std::string ColumnUnit::format(double value) const {
    if (!std::isfinite(value)) return {};
    if (value == 0) return "0";
    const double scaled = value / factor;
    const double least = std::pow(10.0, -decimals);
    if (std::fabs(scaled) < 0.5 * least) return fmt::format("<{:.{}f}", least, decimals);
    return fmt::format("{:.{}f}", scaled, decimals);
}

ColumnUnit column_unit(const std::vector<double>& values, std::string_view unit, bool small_prefixes) {
    struct Prefix {
        double factor;
        std::string_view text;
    };
    static constexpr std::array<Prefix, 8> kPrefixes{
        {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}}};
    double largest = 0, smallest = 0;
    for (const double v : values) {
        if (!std::isfinite(v) || v <= 0) continue;
        largest = std::max(largest, v);
        smallest = smallest == 0 ? v : std::min(smallest, v);
    }
    ColumnUnit out{1, std::string(unit), 0};
    if (largest == 0) return out;
    for (const auto& p : kPrefixes) {
        if (p.factor < 1 && !small_prefixes) break;
        if (p.factor > 1 && small_prefixes) continue;  // kiloseconds are nobody's unit
        out.factor = p.factor, out.text = fmt::format("{}{}", p.text, unit);
        if (largest >= p.factor) break;
    }
    const int magnitude = static_cast<int>(std::floor(std::log10(smallest / out.factor)));
    const int of_largest = static_cast<int>(std::floor(std::log10(largest / out.factor)));
    out.decimals = std::clamp(std::max(1 - magnitude, 2 - of_largest), 0, 4);
    return out;
}

std::string_view bound_color(Bound bound) {
    if (const auto* level = std::get_if<Level>(&bound)) return name(*level);
    return std::holds_alternative<Pipe>(bound) ? "strong" : "faint";
}

std::string bound_text(Bound bound) {
    if (const auto* pipe = std::get_if<Pipe>(&bound)) return std::string(title(*pipe));
    if (const auto* level = std::get_if<Level>(&bound)) return std::string(name(*level));
    return to_text(bound);
}

std::string basis_name(const Roofline& verdict) {
    if (std::holds_alternative<std::monostate>(verdict.nearest)) return {};
    return verdict.by_profiler ? "nsight-compute" : "counters";
}

std::string origins_text(const Analysis& analysis) {
    // By quantity, the origins that its amounts have, in the order of Origin.
    struct Quantity {
        std::string_view what;
        std::set<Origin> origins;
    };
    std::array<Quantity, 3> all{{{"time", {}}, {"FLOP", {}}, {"bytes", {}}}};
    for (const AnalysisRow& row : analysis.rows) {
        const Kernel& k = row.kernel;
        if (k.time) all[0].origins.insert(k.time->origin);
        // A pipe without work says nothing of where the work comes from.
        for (const Pipe p : all_pipes())
            if (k.work[p] && k.work[p]->value.value() > 0) all[1].origins.insert(k.work[p]->origin);
        for (const Level l : all_levels())
            if (k.bytes[l]) all[2].origins.insert(k.bytes[l]->origin);
    }
    std::vector<std::pair<std::string, std::string>> groups;  // origins, quantities
    for (const Quantity& q : all) {
        if (q.origins.empty()) continue;
        std::string origins;
        for (const Origin o : q.origins) origins += (origins.empty() ? "" : " and ") + std::string(name(o));
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == origins; });
        if (same == groups.end())
            groups.emplace_back(origins, q.what);
        else
            same->second += fmt::format(" and {}", q.what);
    }
    if (groups.size() == 1) return groups.front().first;
    std::string text;
    for (const auto& [origins, quantities] : groups)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", origins, quantities);
    return text;
}

Seconds known_time(const Analysis& analysis) {
    if (analysis.total.time) return analysis.total.time->value;
    Seconds sum{};
    for (const auto& row : analysis.rows)
        if (row.kernel.time) sum += row.kernel.time->value;
    return sum;
}

std::size_t distinct_names(const Analysis& analysis) {
    std::unordered_set<Symbol> names;
    for (const auto& row : analysis.rows) names.insert(row.kernel.name);
    return names.size();
}

std::string zero_flop_text(const Analysis& analysis) {
    if (analysis.zero_flop_launches == 0) return {};
    const std::uint64_t launches = analysis.total.launches;
    // Rows of phases, operators and the like have lost the names of their kernels, so there is no "of 43" to state.
    std::string text =
        analysis.grouping != Grouping::launch && analysis.grouping != Grouping::kernel
            ? plural(analysis.zero_flop_names, "name")
            : fmt::format("{} of {} names", count_text(analysis.zero_flop_names), count_text(distinct_names(analysis)));
    text += fmt::format(", {} of {} launches", count_text(analysis.zero_flop_launches), count_text(launches));
    if (launches > 0)
        text += fmt::format(
            " ({})", percent_text(static_cast<double>(analysis.zero_flop_launches) / static_cast<double>(launches)));
    text += ", " + to_text(analysis.zero_flop_time, 3);
    const double time = known_time(analysis).value();
    if (time > 0) text += fmt::format(" ({} of time)", percent_text(analysis.zero_flop_time.value() / time));
    const Bytes dram = analysis.zero_flop_bytes[Level::dram];
    if (dram.value() > 0) text += ", DRAM " + to_text(dram, 3);
    return text;
}

}  // namespace gambrel::report_detail
