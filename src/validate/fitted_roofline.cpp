#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "validate/fitted.hpp"

namespace gambrel {
namespace {

constexpr auto kTime = static_cast<std::size_t>(ValidatedQuantity::time);
constexpr std::size_t kFewestRows = 10;

using Logs = std::array<double, 3>;

FittedRoofline from_logs(const Logs& logs) { return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2])}; }

double mean_error(const FittedRoofline& roof, const std::vector<const ValidationRow*>& rows) {
    double sum = 0;
    for (const ValidationRow* row : rows) sum += std::abs(roof.time(*row) / row->measured[kTime] - 1);
    return sum / static_cast<double>(rows.size());
}

bool can_be_fitted(const ValidationRow& row) {
    return row.measured[kTime] > 0 && row.roof_compute > 0 && row.roof_memory > 0;
}

// Steps along each constant, in logarithms, that shrink where none helps. The error has many small dents, so it starts
// with large steps and from two places.
Logs searched(Logs at, const std::vector<const ValidationRow*>& rows) {
    constexpr double kFirst = 0.5, kLast = 0.003;
    double best = mean_error(from_logs(at), rows);
    for (double step = kFirst; step > kLast;) {
        bool better = false;
        for (std::size_t i = 0; i < at.size(); ++i)
            for (const double way : {step, -step}) {
                Logs tried = at;
                tried[i] += way;
                const double error = mean_error(from_logs(tried), rows);
                if (error >= best) continue;
                at = tried;
                best = error;
                better = true;
                break;
            }
        if (!better) step /= 2;
    }
    return at;
}

struct Sums {
    std::size_t rows = 0;
    double gambrel = 0, roofline = 0, inside = 0;
    void add(const ValidationRow& row, const std::optional<FittedRoofline>& roof) {
        const double measured = row.measured[kTime];
        ++rows;
        if (const auto ratio = row.ratio(ValidatedQuantity::time, EstimateSource::gambrel))
            gambrel += std::abs(*ratio - 1);
        if (roof) roofline += std::abs(roof->time(row) / measured - 1);
        inside += measured >= row.time_low && measured <= row.time_high ? 1 : 0;
    }
    [[nodiscard]] HeldOutErrors line(HeldOutErrors of) const {
        const double n = std::max<double>(1, static_cast<double>(rows));
        of.rows = rows;
        of.gambrel = gambrel / n;
        of.roofline = roofline / n;
        of.inside = inside / n;
        return of;
    }
};

using Group = std::vector<const ValidationRow*>;
using Kind = std::array<std::string, 2>;  // operator and precision

void split_by_shape(const std::map<std::array<std::string, 3>, Group>& groups, std::vector<HeldOutErrors>& out) {
    for (const auto& [key, rows] : groups) {
        Group fitted, kept;
        for (const ValidationRow* row : rows) (is_fitted_on(row->shape) ? fitted : kept).push_back(row);
        const auto roof = fitted_roofline(fitted);
        for (const auto& [side, part] : {std::pair{"fitted", &fitted}, {"kept out", &kept}}) {
            Sums sums;
            for (const ValidationRow* row : *part) sums.add(*row, roof);
            if (sums.rows > 0) out.push_back(sums.line({"shape", key[2], key[0], key[1], side}));
        }
    }
}

void split_by_gpu(const std::map<std::array<std::string, 3>, Group>& groups, std::vector<HeldOutErrors>& out) {
    std::map<Kind, std::size_t> gpus;
    for (const auto& [key, rows] : groups) ++gpus[{key[0], key[1]}];
    for (const auto& [key, rows] : groups) {
        if (gpus[{key[0], key[1]}] < 2) continue;
        Group others;
        for (const auto& [other, more] : groups)
            if (other[0] == key[0] && other[1] == key[1] && other[2] != key[2])
                others.insert(others.end(), more.begin(), more.end());
        const auto roof = fitted_roofline(others);
        Sums sums;
        for (const ValidationRow* row : rows) sums.add(*row, roof);
        out.push_back(sums.line({"gpu", key[2], key[0], key[1], "kept out"}));
    }
}

}  // namespace

double FittedRoofline::time(const ValidationRow& row) const {
    return start + std::max(row.roof_compute / compute, row.roof_memory / memory);
}

std::optional<FittedRoofline> fitted_roofline(const std::vector<const ValidationRow*>& rows) {
    std::vector<const ValidationRow*> used;
    for (const ValidationRow* row : rows)
        if (can_be_fitted(*row)) used.push_back(row);
    if (used.size() < kFewestRows) return std::nullopt;
    std::optional<FittedRoofline> best;
    for (const double start : {3e-6, 3e-5}) {
        const FittedRoofline found = from_logs(searched({std::log(start), std::log(0.7), std::log(0.8)}, used));
        if (!best || mean_error(found, used) < mean_error(*best, used)) best = found;
    }
    return best;
}

bool is_fitted_on(std::uint64_t shape) { return (shape >> 32) % 2 == 0; }

std::vector<HeldOutErrors> held_out_errors(const Validation& validation) {
    std::map<std::array<std::string, 3>, Group> groups;  // by operator, precision and GPU
    for (const ValidationRow& row : validation.rows)
        if (can_be_fitted(row)) groups[{row.op, row.precision, row.gpu}].push_back(&row);
    std::vector<HeldOutErrors> out;
    split_by_shape(groups, out);
    split_by_gpu(groups, out);
    return out;
}

namespace validate_detail {

void add_fitted_rooflines(std::vector<ValidationRow>& rows) {
    std::map<Kind, std::vector<ValidationRow*>> groups;  // by GPU and precision
    for (ValidationRow& row : rows)
        if (can_be_fitted(row)) groups[{row.gpu, row.precision}].push_back(&row);
    for (auto& [key, group] : groups) {
        const auto roof = fitted_roofline({group.begin(), group.end()});
        if (!roof) continue;
        for (ValidationRow* row : group)
            row->predicted[static_cast<std::size_t>(EstimateSource::roofline)][kTime] = roof->time(*row);
    }
}

}  // namespace validate_detail
}  // namespace gambrel
