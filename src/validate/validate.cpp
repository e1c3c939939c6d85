#include <gambrel/validate.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace gambrel {
namespace {

struct MeasuredColumn {
    std::string_view name;
    Measured quantity;
    double unit;
};
// l1_bytes_excl_shared: sums that leave shared memory out, as l1tex__t_bytes does.
constexpr std::array<MeasuredColumn, 8> kColumns = {{
    {"l1_bytes", Measured::l1, 1},
    {"l1_bytes_excl_shared", Measured::l1, 1},
    {"l2_bytes", Measured::l2, 1},
    {"dram_bytes", Measured::dram, 1},
    {"time_us", Measured::time, 1e-6},
    {"time_ms", Measured::time, 1e-3},
    {"time_s", Measured::time, 1},
    {"latency_ms_median", Measured::time, 1e-3},
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

double predicted(const Prediction& p, Measured q) {
    switch (q) {
        case Measured::l1:
            return p.traffic.l1.total();
        case Measured::l2:
            return p.traffic.l2.total();
        case Measured::dram:
            return p.traffic.dram.total();
        case Measured::time:
            break;
    }
    return p.time;
}

ValidationRow describe(const LayerRow& row) {
    const Layer& layer = row.layers.front();
    ValidationRow r;
    r.line = row.line;
    r.name = layer.name;
    r.gpu = layer.hints.gpu;
    r.pass = row.layers.size() > 1 ? "backward" : std::string(name(layer.pass));
    r.precision = name(layer.precision);
    r.algorithm = layer.hints.algorithm;
    return r;
}

class Judge {
public:
    explicit Judge(const ValidationOptions& options)
        : simulation_(options.simulation),
          predictors_{Predictor{with(options.predictor, Model::paper)},
                      Predictor{with(options.predictor, Model::gambrel)}} {}

    std::optional<Error> predict(const LayerRow& row, ValidationRow& out) {
        for (const Model model : {Model::paper, Model::gambrel})
            for (const Layer& layer : row.layers) {
                const auto p = predictors_[static_cast<std::size_t>(model)](layer);
                if (!p) return p.error().front();
                const Estimate of = model == Model::paper ? Estimate::paper : Estimate::gambrel;
                for (std::size_t q = 0; q < kMeasured; ++q)
                    at(out, of)[q] += predicted(p->prediction, static_cast<Measured>(q));
                if (model == Model::paper) continue;
                out.regime = name(p->prediction.regime);
                out.bound = name(p->prediction.bound);
                if (out.gpu.empty()) out.gpu = p->machine->id;
            }
        return std::nullopt;
    }

    // Where a layer does not fit the simulator's machine, the row keeps what the models say. False once it was stopped.
    bool simulate(const LayerRow& row, ValidationRow& out, double done, double part) {
        SimulationOptions options = simulation_;
        if (options.progress) options.progress = [&](double x) { simulation_.progress(done + part * x); };
        std::array<double, kMeasured> sum{};
        for (const Layer& layer : row.layers) {
            const auto p = predictors_[static_cast<std::size_t>(Model::gambrel)](layer);
            if (!p) return true;
            const auto s = gambrel::simulate(layer, *p->machine, mapping_for(layer, *p->machine), options);
            if (!s) return true;
            if (s->partial) return false;
            sum[static_cast<std::size_t>(Measured::l1)] += s->total().l1().value();
            sum[static_cast<std::size_t>(Measured::l2)] += s->total().l2().value();
            sum[static_cast<std::size_t>(Measured::dram)] += s->total().dram().value();
        }
        at(out, Estimate::simulated) = sum;
        return true;
    }

private:
    static PredictorOptions with(PredictorOptions options, Model model) {
        options.model = model;
        return options;
    }
    static std::array<double, kMeasured>& at(ValidationRow& row, Estimate estimate) {
        return row.predicted[static_cast<std::size_t>(estimate)];
    }
    const SimulationOptions& simulation_;
    std::array<Predictor, 2> predictors_;  // by Model
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

std::string_view name(Measured quantity) {
    static constexpr std::array<std::string_view, kMeasured> kNames = {"L1", "L2", "DRAM", "time"};
    return kNames[static_cast<std::size_t>(quantity)];
}

std::string_view name(Estimate estimate) {
    static constexpr std::array<std::string_view, kEstimates> kNames = {"paper", "gambrel", "simulated"};
    return kNames[static_cast<std::size_t>(estimate)];
}

std::optional<double> ValidationRow::ratio(Measured quantity, Estimate estimate) const {
    const auto q = static_cast<std::size_t>(quantity), e = static_cast<std::size_t>(estimate);
    if (measured[q] <= 0 || predicted[e][q] <= 0) return std::nullopt;
    return predicted[e][q] / measured[q];
}

ErrorSummary summary(const std::vector<ValidationRow>& rows, Measured quantity, Estimate estimate,
                     const std::function<bool(const ValidationRow&)>& wanted) {
    std::vector<double> errors;
    ErrorSummary s;
    double logs = 0;
    for (const ValidationRow& row : rows) {
        const auto ratio = row.ratio(quantity, estimate);
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
        const double time = out.measured[static_cast<std::size_t>(Measured::time)];
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
    const double part = 1 / std::max<double>(1, static_cast<double>(kept.size()));
    for (std::size_t i = 0; options.simulate && !v.partial && i < kept.size(); ++i)
        v.partial = !judge.simulate(*kept[i], v.rows[i], part * static_cast<double>(i), part);
    return v;
}

}  // namespace gambrel
