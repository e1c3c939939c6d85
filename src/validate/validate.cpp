#include <gambrel/validate.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "validate/drifts.hpp"
#include "validate/fitted.hpp"

namespace gambrel {

using validate_detail::add_fitted_rooflines;

namespace {

struct MeasuredColumn {
    std::string_view name;
    ValidatedQuantity quantity;
    double unit;
};
// l1_bytes_excl_shared: sums that leave shared memory out, as l1tex__t_bytes does.
constexpr std::array<MeasuredColumn, 8> kColumns = {{
    {"l1_bytes", ValidatedQuantity::l1, 1},
    {"l1_bytes_excl_shared", ValidatedQuantity::l1, 1},
    {"l2_bytes", ValidatedQuantity::l2, 1},
    {"dram_bytes", ValidatedQuantity::dram, 1},
    {"time_us", ValidatedQuantity::time, 1e-6},
    {"time_ms", ValidatedQuantity::time, 1e-3},
    {"time_s", ValidatedQuantity::time, 1},
    {"latency_ms_median", ValidatedQuantity::time, 1e-3},
}};

double number(std::string_view text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc{} && std::isfinite(value) && value > 0 ? value : 0;
}

struct Found {
    MeasuredColumn column;
    std::size_t at;
};

std::vector<Found> measured_columns(const std::vector<std::string>& columns) {
    std::vector<Found> found;
    for (const MeasuredColumn& c : kColumns) {
        const auto it = std::find(columns.begin(), columns.end(), c.name);
        if (it != columns.end()) found.push_back({c, static_cast<std::size_t>(it - columns.begin())});
    }
    return found;
}

double amount(const Kernel& k, ValidatedQuantity q) {
    const auto value = [](const auto& known) { return known ? known->value.value() : 0; };
    switch (q) {
        case ValidatedQuantity::l1:
            return value(k.bytes[Level::l1]);
        case ValidatedQuantity::l2:
            return value(k.bytes[Level::l2]);
        case ValidatedQuantity::dram:
            return value(k.bytes[Level::dram]);
        case ValidatedQuantity::time:
            break;
    }
    // A lower bound is not an estimate.
    return k.time && k.time->origin != Origin::derived ? k.time->value.value() : 0;
}

std::string operator_name(const Layer& layer) {
    if (std::holds_alternative<Convolution>(layer.op)) return "convolution";
    if (std::holds_alternative<Gemm>(layer.op)) return "gemm";
    if (std::holds_alternative<Attention>(layer.op)) return "attention";
    return std::holds_alternative<MixtureOfExperts>(layer.op) ? "experts" : "vector";
}

// FNV-1a over the sizes, so that a shape is on the same side of a split in every file and on every machine.
std::uint64_t shape_hash(const Layer& layer) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::int64_t size) {
        for (int byte = 0; byte < 8; ++byte) {
            hash ^= static_cast<std::uint64_t>(size >> (8 * byte)) & 0xff;
            hash *= 0x100000001b3;
        }
    };
    if (const auto* g = std::get_if<Gemm>(&layer.op)) {
        for (const std::int64_t size : {g->m, g->n, g->k, g->batch}) add(size);
    } else if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        for (const std::int64_t size : {v->n, v->c, v->h, v->w, v->k, v->r, v->s, v->stride_h, v->pad_top, v->groups})
            add(size);
    } else {
        const OperandBytes once = compulsory_bytes(layer);
        for (const Bytes bytes : {once.input, once.filter, once.output}) add(static_cast<std::int64_t>(bytes.value()));
    }
    return hash;
}

ValidationRow describe(const LayerRow& row) {
    const Layer& layer = row.layers.front();
    ValidationRow r;
    r.line = row.line;
    r.name = layer.name;
    r.gpu = layer.hints.gpu;
    const auto other = [&](const Layer& one) { return one.pass != row.layers.front().pass; };
    const bool several = std::any_of(row.layers.begin(), row.layers.end(), other);
    r.pass = several ? "backward" : std::string(name(layer.pass));
    r.precision = name(layer.precision);
    r.algorithm = layer.hints.algorithm;
    r.op = operator_name(layer);
    r.shape = shape_hash(layer);
    return r;
}

class Judge {
public:
    explicit Judge(const ValidationOptions& options)
        : options_(options.estimator),
          estimators_{Estimator{with(Method::paper)}, Estimator{with(Method::model)},
                      Estimator{with(Method::simulation)}, Estimator{with(Method::model)}} {}

    std::optional<Error> predict(const LayerRow& row, ValidationRow& out) {
        for (const EstimateSource source : {EstimateSource::paper, EstimateSource::gambrel})
            for (const Layer& layer : row.layers) {
                const auto e = estimator(source)(layer);
                if (!e) return e.error().front();
                add(*e, at(out, source));
                if (source == EstimateSource::paper) continue;
                add_roofs(layer, *e, out);
                if (&layer != &row.layers.front()) continue;
                out.regime = name(std::get<Prediction>(e->detail).regime);
                out.bound = e->bound;
                if (out.gpu.empty()) out.gpu = e->on->machine.id;
            }
        return std::nullopt;
    }

    // Where a layer does not fit the simulator's machine, the row keeps what the models say. False once it was stopped.
    bool simulate(const LayerRow& row, ValidationRow& out, double done, double part) {
        SimulationOptions simulation = options_.simulation;
        if (simulation.progress) simulation.progress = [&](double x) { options_.simulation.progress(done + part * x); };
        estimator(EstimateSource::simulated).set_simulation(std::move(simulation));
        std::array<double, kValidatedQuantities> sum{};
        for (const Layer& layer : row.layers) {
            const auto e = estimator(EstimateSource::simulated)(layer);
            if (!e) return true;
            if (std::get<Simulation>(e->detail).partial) return false;
            add(*e, sum);
        }
        at(out, EstimateSource::simulated) = sum;
        return true;
    }

private:
    static void add_roofs(const Layer& layer, const Estimate& e, ValidationRow& out) {
        const Machine& machine = e.on->machine;
        const auto compute = compute_ceiling(machine, e.mapping.pipe);
        const auto memory = memory_ceiling(machine, Level::dram);
        const OperandBytes once = compulsory_bytes(layer);
        if (compute) out.least_compute += kernel_flop(*e.layer) / compute->value / Seconds{1};
        if (compute) out.roof_compute += flop(layer) / compute->value / Seconds{1};
        if (memory)
            out.roof_memory += (once.input + once.filter + once.output + once.bias) / memory->value / Seconds{1};
        const Bytes beyond_l2 = once.read + once.written - e.on->inputs.l2_capacity;
        if (memory) out.least_memory += std::max(Bytes{}, beyond_l2) / memory->value / Seconds{1};
        if (e.interval) out.time_low += e.interval->low.value(), out.time_high += e.interval->high.value();
    }
    EstimatorOptions with(Method method) const {
        EstimatorOptions options = options_;
        options.method = method;
        return options;
    }
    Estimator& estimator(EstimateSource source) { return estimators_[static_cast<std::size_t>(source)]; }
    static void add(const Estimate& e, std::array<double, kValidatedQuantities>& sum) {
        for (std::size_t q = 0; q < kValidatedQuantities; ++q)
            sum[q] += amount(e.kernel, static_cast<ValidatedQuantity>(q));
    }
    static std::array<double, kValidatedQuantities>& at(ValidationRow& row, EstimateSource source) {
        return row.predicted[static_cast<std::size_t>(source)];
    }
    const EstimatorOptions& options_;
    std::array<Estimator, kEstimateSources> estimators_;  // by EstimateSource
};

bool chosen(const LayerTable& table, const LayerRow& row, const ValidationOptions& options) {
    for (std::size_t i = 0; i < options.columns.size(); ++i) {
        const auto it = std::find(table.columns.begin(), table.columns.end(), options.columns[i]);
        const auto at = static_cast<std::size_t>(it - table.columns.begin());
        if (at >= row.cells.size() || row.cells[at].find(options.values[i]) == std::string::npos) return false;
    }
    return true;
}

}  // namespace

std::string_view name(ValidatedQuantity quantity) {
    static constexpr std::array<std::string_view, kValidatedQuantities> kNames = {"L1", "L2", "DRAM", "time"};
    return kNames[static_cast<std::size_t>(quantity)];
}

std::string_view name(EstimateSource source) {
    static constexpr std::array<std::string_view, kEstimateSources> kNames = {"paper", "gambrel", "simulated",
                                                                              "roofline"};
    return kNames[static_cast<std::size_t>(source)];
}

std::optional<double> ValidationRow::ratio(ValidatedQuantity quantity, EstimateSource source) const {
    const auto q = static_cast<std::size_t>(quantity), e = static_cast<std::size_t>(source);
    if (measured[q] <= 0 || predicted[e][q] <= 0) return std::nullopt;
    return predicted[e][q] / measured[q];
}

ErrorSummary summary(const std::vector<ValidationRow>& rows, ValidatedQuantity quantity, EstimateSource source,
                     const std::function<bool(const ValidationRow&)>& wanted) {
    std::vector<double> errors;
    ErrorSummary s;
    double logs = 0;
    for (const ValidationRow& row : rows) {
        const auto ratio = row.ratio(quantity, source);
        if (!ratio || (wanted && !wanted(row))) continue;
        errors.push_back(std::abs(*ratio - 1));
        s.bias += *ratio - 1;
        logs += std::abs(std::log(*ratio));
    }
    s.rows = errors.size();
    if (errors.empty()) return s;
    const auto n = static_cast<double>(errors.size());
    std::sort(errors.begin(), errors.end());
    s.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
    s.bias /= n;
    s.geometric = std::exp(logs / n) - 1;
    s.p90 = errors[std::min(errors.size() - 1, static_cast<std::size_t>(0.9 * n))];
    return s;
}

namespace {

// Boards of one name clock a few percent apart.
std::size_t faster_than(double ValidationRow::*least, double share, const Validation& v) {
    return static_cast<std::size_t>(std::count_if(v.rows.begin(), v.rows.end(), [&](const ValidationRow& row) {
        const double time = row.measured[static_cast<std::size_t>(ValidatedQuantity::time)];
        return time > 0 && time < share * row.*least;
    }));
}

}  // namespace

std::size_t faster_than_peak(const Validation& v) { return faster_than(&ValidationRow::least_compute, 0.95, v); }
// A bandwidth may be one that a benchmark reached.
std::size_t faster_than_memory(const Validation& v) { return faster_than(&ValidationRow::least_memory, 0.85, v); }

Result<Validation> validate(const LayerTable& table, const ValidationOptions& options) {
    const std::vector<Found> found = measured_columns(table.columns);
    if (found.empty())
        return tl::unexpected(
            Errors{{"", "no measured column: expected time_us, time_ms, l1_bytes, l2_bytes or dram_bytes"}});
    for (const std::string& column : options.columns)
        if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
            return tl::unexpected(
                Errors{{"", fmt::format("no column \"{}\"{}", column, did_you_mean(column, table.columns))}});
    Judge judge(options);
    Validation v;
    std::vector<const LayerRow*> kept;  // of v.rows
    for (const LayerRow& row : table.rows) {
        if (row.layers.empty()) {
            v.unread.push_back({fmt::format("line {}", row.line), row.reason});
            continue;
        }
        if (!chosen(table, row, options)) {
            ++v.skipped;
            continue;
        }
        ValidationRow out = describe(row);
        for (const Found& f : found)
            if (f.at < row.cells.size())
                if (const double value = number(row.cells[f.at]); value > 0)
                    out.measured[static_cast<std::size_t>(f.column.quantity)] = value * f.column.unit;
        const double time = out.measured[static_cast<std::size_t>(ValidatedQuantity::time)];
        if (time > 0 && time < options.min_time) {
            ++v.skipped;
            continue;
        }
        if (const auto wrong = judge.predict(row, out)) {
            v.unread.push_back({fmt::format("line {}", row.line), wrong->what});
            continue;
        }
        v.rows.push_back(std::move(out));
        kept.push_back(&row);
    }
    if (options.host_drift) v.drifts = validate_detail::add_drifts(validate_detail::places_of_calls(table), v.rows);
    add_fitted_rooflines(v.rows);
    const double part = 1 / std::max<double>(1, static_cast<double>(kept.size()));
    for (std::size_t i = 0; options.simulate && !v.partial && i < kept.size(); ++i)
        v.partial = !judge.simulate(*kept[i], v.rows[i], part * static_cast<double>(i), part);
    return v;
}

}  // namespace gambrel
