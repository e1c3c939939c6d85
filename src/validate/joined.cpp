// The same kernels measured, modelled and simulated.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <gambrel/validate.hpp>

namespace gambrel {
namespace {

using Measured = std::array<double, kValidatedQuantities>;  // 0: unknown

struct Candidate {
    LayerRow row;
    Measured measured{};
    double time = 0;  // s; measured, else modelled
};

std::string shape_name(const Layer& layer) {
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v) return layer.name;
    // One word, as kernels are called, so that nothing takes a part of it for a type.
    std::string filter = fmt::format("{}x{}", v->r, v->s);
    if (v->stride_h > 1) filter += fmt::format("s{}", v->stride_h);
    if (v->dilation_h > 1) filter += fmt::format("d{}", v->dilation_h);
    return fmt::format("{}_{}_{}_c{}_k{}_{}x{}", name(layer.pass), name(layer.precision), filter, v->c, v->k, v->h,
                       v->w);
}

// Rows that can be modelled, one layer each, by falling time.
Result<std::vector<Candidate>> candidates(const LayerSet& layers, const EstimatorOptions& options) {
    std::vector<Candidate> out;
    std::map<std::size_t, Measured> measured;
    if (layers.table) {
        ValidationOptions reading;
        reading.estimator = options;
        const auto read = validate(*layers.table, reading);
        if (!read) return tl::unexpected(read.error());
        for (const ValidationRow& row : read->rows) measured[row.line] = row.measured;
        for (const LayerRow& row : layers.table->rows)
            if (row.layers.size() == 1 && measured.contains(row.line))
                out.push_back({row, measured[row.line], measured[row.line][3]});
    } else {
        for (Layer layer : merged(layers.network->layers)) {
            if (!std::holds_alternative<Convolution>(layer.op)) continue;
            layer.repeat = 1;  // a kernel, as a profiler would see it
            out.push_back({LayerRow{0, {}, {std::move(layer)}, {}}, {}, 0});
        }
    }
    Estimator model(options);
    for (Candidate& c : out)
        if (c.time <= 0)
            if (const auto e = model(c.row.layers.front())) c.time = e->kernel.time->value.value();
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    // Several runs launched the same kernel on the same shape: one of them stands for all, the longest.
    std::set<std::string> seen;
    std::erase_if(out, [&](const Candidate& c) {
        const Layer& layer = c.row.layers.front();
        return !seen.insert(shape_name(layer) + layer.hints.kernel + layer.hints.algorithm).second;
    });
    return out;
}

Kernel measured_kernel(Kernel k, const Measured& m) {
    const Symbol rule("counters of the row");
    const auto put = [&](Level level, double bytes) {
        if (bytes > 0)
            k.bytes[level] = Amount<Bytes>{Bytes{bytes}, Origin::measured, rule};
        else
            k.bytes[level].reset();
    };
    put(Level::l1, m[0]), put(Level::l2, m[1]), put(Level::dram, m[2]);
    k.time.reset();
    if (m[3] > 0) k.time = Amount<Seconds>{Seconds{m[3]}, Origin::measured, rule};
    k.reasons.clear();
    return k;
}

double amount_of(const Kernel& k, ValidatedQuantity q) {
    constexpr std::array<Level, 3> kOf = {Level::l1, Level::l2, Level::dram};
    if (q == ValidatedQuantity::time) return k.time ? k.time->value.value() : 0;
    const auto& bytes = k.bytes[kOf[static_cast<std::size_t>(q)]];
    return bytes ? bytes->value.value() : 0;
}

std::size_t machine_index(Run& run, const Machine& machine) {
    const auto same = [&](const Machine& m) { return m.name == machine.name; };
    const auto at = std::find_if(run.machines.begin(), run.machines.end(), same);
    const auto index = static_cast<std::size_t>(at - run.machines.begin());
    if (at == run.machines.end()) run.machines.push_back(machine);
    return index;
}

}  // namespace

std::optional<double> JoinedKernel::error(const Run& run, ValidatedQuantity q, EstimateSource source) const {
    const bool simulation = source == EstimateSource::simulated;
    if (!measured || (simulation && (!simulated || q == ValidatedQuantity::time))) return std::nullopt;
    const double truth = amount_of(run.kernels[*measured], q);
    const double said = amount_of(run.kernels[simulation ? *simulated : modelled], q);
    if (truth <= 0 || said <= 0) return std::nullopt;
    return said / truth - 1;
}

Result<JoinedStudy> joined_study(const LayerSet& layers, const JoinedOptions& options) {
    auto rows = candidates(layers, options.estimator);
    if (!rows) return tl::unexpected(rows.error());
    JoinedStudy study;
    const std::size_t taken = std::min(options.longest, rows->size());
    study.left_out = rows->size() - taken;
    rows->resize(taken);
    LayerSet chosen;
    chosen.title = layers.title;
    chosen.table.emplace();
    for (Candidate& c : *rows) {
        c.row.layers.front().name = shape_name(c.row.layers.front());
        chosen.table->rows.push_back(c.row);
    }
    auto modelled = estimate(std::make_shared<const LayerSet>(std::move(chosen)), options.estimator);
    if (!modelled) return tl::unexpected(modelled.error());
    study.modelled = std::move(*modelled);
    EstimatorOptions simulating = options.estimator;
    simulating.method = Method::simulation;
    Estimator simulator(simulating);
    Run& run = study.run;
    run.title = layers.title;
    run.roofs = options.estimator.roofs;
    bool stopped = false;
    for (std::size_t i = 0; i < taken; ++i) {
        const EstimatedRow& row = study.modelled.rows[i];
        if (row.estimates.empty()) {
            run.notes.push_back({fmt::format("row {}", row.source->line), row.reason});
            continue;
        }
        const Estimate& e = row.estimates.front();
        JoinedKernel joined;
        joined.name = e.layer->name;
        const std::size_t machine = machine_index(run, e.on->machine);
        const auto add = [&](Kernel kernel, std::string_view phase) {
            kernel.phase = Symbol(phase), kernel.machine = machine;
            run.kernels.push_back(std::move(kernel));
            return run.kernels.size() - 1;
        };
        const Measured& measured = (*rows)[i].measured;
        if (std::any_of(measured.begin(), measured.end(), [](double m) { return m > 0; }))
            joined.measured = add(measured_kernel(e.kernel, measured), "measured");
        joined.modelled = add(e.kernel, "modelled");
        stopped = stopped || (options.progress &&
                              !options.progress(static_cast<double>(i) / static_cast<double>(taken), e.layer->name));
        if (auto simulated = stopped ? Result<Estimate>(failure("", "")) : simulator(*e.layer)) {
            simulated->kernel.time = run.kernels[joined.measured.value_or(joined.modelled)].time;
            if (!simulated->kernel.time) simulated->kernel.time = e.kernel.time;
            joined.simulated = add(std::move(simulated->kernel), "simulated");
        }
        study.is_measured = study.is_measured || joined.measured.has_value();
        study.kernels.push_back(std::move(joined));
    }
    run.partial = stopped;
    run.origin = study.is_measured ? Origin::measured : Origin::modelled;
    return study;
}

}  // namespace gambrel
