#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/explore.hpp>

#include "explore/vary_syntax.hpp"

namespace gambrel {
namespace {

using namespace explore_detail;

constexpr std::size_t kMostValues = 10'000;  // of an axis: more is a mistake, and must not take all memory
constexpr double kMostDesigns = 9e18;        // an index is 63 bits

struct SpaceReader {
    const Machine& machine;
    const ModelInputs& hardware;
    std::size_t range_points;
    std::string where;
    Errors errors;

    void fault(std::string_view entry, std::string what) {
        errors.push_back({where, fmt::format("\"{}\": {}", entry, std::move(what))});
    }
    std::optional<double> factor(std::string_view entry, Resource r, std::string_view text) {
        auto read = factor_from(text, r, base_value(machine, hardware, r));
        if (read) return *read;
        fault(entry, read.error());
        return std::nullopt;
    }
    std::vector<double> list(std::string_view entry, Resource r, std::string_view text);
    std::vector<double> range(std::string_view entry, Resource r, std::string_view text);
    void entry(std::string_view text, Space& space);
};

std::vector<double> SpaceReader::list(std::string_view entry, Resource r, std::string_view text) {
    std::vector<double> values;
    for (const std::string_view part : split(text, ','))
        if (const auto value = factor(entry, r, part)) values.push_back(*value);
    return values;
}

// Each value the same factor above the last, and the start among them: halves and doubles of a capacity are met.
std::vector<double> geometric(double low, double high, std::size_t points) {
    std::vector<double> values;
    for (std::size_t i = 0; i < points; ++i)
        values.push_back(low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(points - 1)));
    values.back() = high;
    for (double& v : values)
        if (std::fabs(v - std::round(v)) < 1e-9) v = std::round(v);
    if (low < 1 && high > 1) values.push_back(1);
    return values;
}

std::vector<double> SpaceReader::range(std::string_view entry, Resource r, std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() > 3) {
        fault(entry, "has more than two colons; write FROM:TO or FROM:TO:STEP");
        return {};
    }
    std::vector<double> numbers;
    for (const std::string_view part : parts)
        if (const auto value = factor(entry, r, part)) numbers.push_back(*value);
    if (numbers.size() != parts.size()) return {};
    if (numbers.size() == 1) return numbers;
    const double low = numbers[0], high = numbers[1];
    if (high < low) {
        fault(entry, "ends below its start");
        return {};
    }
    if (high == low) return {low};
    if (numbers.size() == 2) return geometric(low, high, std::max<std::size_t>(2, range_points));
    const double count = std::floor((high - low) / numbers[2] + 1e-9) + 1;
    if (!(count <= static_cast<double>(kMostValues))) {
        fault(entry, fmt::format("has more than {} values", kMostValues));
        return {};
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        values.push_back(low + static_cast<double>(i) * numbers[2]);
    return values;
}

void SpaceReader::entry(std::string_view text, Space& space) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
        return fault(text, "has no \"=\"; write a resource and its values, such as sms=1:4");
    const std::string_view which = trimmed(text.substr(0, equals));
    const auto resource = resource_from(which);
    if (!resource) return fault(text, unknown_resource(which));
    for (const Axis& axis : space.axes)
        if (axis.resource == *resource) return fault(text, "gives this resource a second time");
    std::string_view values = trimmed(text.substr(equals + 1));
    Axis axis{*resource, {}};
    if (values.starts_with("{")) {
        if (!values.ends_with("}")) return fault(text, "has no closing brace");
        axis.values = list(text, *resource, values.substr(1, values.size() - 2));
    } else {
        axis.values = range(text, *resource, values);
    }
    if (axis.values.size() > kMostValues) return fault(text, fmt::format("has more than {} values", kMostValues));
    // SMs are whole, so factors that give the same number of them are one.
    if (*resource == Resource::sms)
        for (double& v : axis.values) v = std::max(1.0, std::round(v * hardware.sms)) / hardware.sms;
    std::sort(axis.values.begin(), axis.values.end());
    axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
    if (!axis.values.empty()) space.axes.push_back(std::move(axis));
}

}  // namespace

std::uint64_t Space::size() const {
    std::uint64_t n = 1;
    for (const Axis& axis : axes) n *= axis.values.size();
    return n;
}

Factors Space::at(std::uint64_t index) const {
    Factors f;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const std::uint64_t n = axes[i].values.size();
        f[axes[i].resource] = axes[i].values[index % n];
        index /= n;
    }
    return f;
}

Result<Space> parse_space(std::string_view text, const Machine& machine, const ModelInputs& hardware,
                          const std::string& where, std::size_t range_points) {
    SpaceReader reader{machine, hardware, range_points, where, {}};
    Space space;
    for (const std::string_view entry : split_outside_braces(text)) reader.entry(trimmed(entry), space);
    double size = 1;
    for (const Axis& axis : space.axes) size *= static_cast<double>(axis.values.size());
    if (size > kMostDesigns) reader.errors.push_back({where, fmt::format("{:.3g} designs are more than 9e18", size)});
    if (!reader.errors.empty()) return tl::unexpected(std::move(reader.errors));
    return space;
}

}  // namespace gambrel
