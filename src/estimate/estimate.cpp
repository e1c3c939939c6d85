#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "estimate/model_summary.hpp"
#include "estimate/row_notes.hpp"

namespace gambrel {
namespace {

// Runs an Estimator over rows, with progress over all of them.
class Rows {
public:
    Rows(Estimates& out, std::size_t count, const EstimateProgress& progress)
        : out_(out), estimator_(out.options), count_(std::max<std::size_t>(1, count)), progress_(progress) {}

    // False once it was asked to stop; what was done until then is kept.
    bool add(const LayerRow* source, std::span<const Layer> layers) {
        EstimatedRow row{source, {}, {}};
        for (const Layer& layer : layers) {
            if (!go_on(0, layer.name)) return false;
            auto estimate = estimated(layer);
            if (!estimate) {
                row.estimates.clear();
                row.reason = estimate.error().front().what;
                break;
            }
            row.estimates.push_back(std::move(*estimate));
        }
        out_.rows.push_back(std::move(row));
        ++done_;
        return !out_.partial;
    }

private:
    Result<Estimate> estimated(const Layer& layer) {
        if (out_.options.method != Method::simulation || !progress_) return estimator_(layer);
        SimulationOptions options = out_.options.simulation;
        std::stop_source stop;
        options.stop = stop.get_token();
        options.progress = [&](double fraction) {
            if (!go_on(fraction, layer.name)) stop.request_stop();
        };
        estimator_.set_simulation(std::move(options));
        return estimator_(layer);
    }
    bool go_on(double fraction, const std::string& layer) {
        const double done = (static_cast<double>(done_) + fraction) / static_cast<double>(count_);
        if (progress_ && !progress_(done, layer)) out_.partial = true;
        return !out_.partial;
    }

    Estimates& out_;
    Estimator estimator_;
    std::size_t count_, done_ = 0;
    const EstimateProgress& progress_;
};

// A network's memory is more than that of its layers; a table's rows are judged one by one.
void note_memory(Estimates& out) {
    const auto& network = out.layers->network;
    const auto& machine = out.options.machine;
    if (!network || !machine || network->model) return;  // a model's own summary says more
    const MemoryLevel* dram = machine->find(Level::dram);
    const Bytes needed = least_memory(*network);
    if (!dram || !dram->capacity || needed <= dram->capacity->value) return;
    out.fits = false;
    out.notes.push_back(
        {network->name, fmt::format("needs at least {}, more than the {} of {}: it does not fit, and "
                                    "the times are of its layers alone",
                                    to_text(needed, 3), binary_text(dram->capacity->value), machine->name)});
}

void note_host(Estimates& out) {
    if (out.options.host_gap <= Seconds{} || !out.layers->network) return;
    double operators = 0;
    for (const EstimatedRow& row : out.rows)
        for (const Estimate& e : row.estimates) operators += e.layer->repeat;
    const Seconds gpu = out.gpu_time();
    out.host = operators * out.options.host_gap;
    const char* verdict =
        out.host > gpu ? "more than the {} of the GPU, so the total is the host's" : "hidden behind the {} of the GPU";
    out.notes.push_back(
        {out.layers->network->name, fmt::format("the host takes {} to launch {:.0f} operators at {} each (given), {}",
                                                to_text(out.host, 3), operators, to_text(out.options.host_gap, 3),
                                                fmt::format(fmt::runtime(verdict), to_text(gpu, 3)))});
}

}  // namespace

std::string Estimates::machine() const { return options.machine ? options.machine->name : "the GPU of each row"; }

Seconds Estimates::gpu_time() const {
    Seconds sum;
    for (const EstimatedRow& row : rows)
        for (const Estimate& e : row.estimates)
            if (e.kernel.time) sum += e.kernel.time->value * e.layer->repeat;
    return sum;
}

Seconds Estimates::time() const { return std::max(gpu_time(), host); }

Bytes least_memory(const Network& network) {
    bool trained = false;
    Bytes largest, kept;
    double element = 0;
    for (const Layer& layer : network.layers) {
        const OperandBytes operands = compulsory_bytes(layer);
        element = std::max(element, element_size(layer.precision).value());
        largest = std::max(largest, operands.input + operands.output);
        trained = trained || layer.pass != Pass::fwd;
        // An output stays for the backward pass, as itself or as what an activation in place made of it.
        if (layer.pass == Pass::fwd && !std::holds_alternative<Streaming>(layer.op) &&
            !std::holds_alternative<AllReduce>(layer.op))
            kept += operands.output * layer.repeat;
    }
    const Bytes parameters{network.parameters * element};
    return trained ? 2 * parameters + std::max(kept, largest) : parameters + largest;
}

Result<Estimates> estimate(std::shared_ptr<const LayerSet> layers, const EstimatorOptions& options,
                           const EstimateProgress& progress) {
    Estimates out;
    out.layers = std::move(layers);
    out.options = options;
    out.notes = out.layers->notes;
    const LayerSet& set = *out.layers;
    if (set.network && !options.machine)
        return failure("--machine",
                       "which GPU? Give a name that `gambrel machines` lists, such as v100, or a machine file");
    note_memory(out);
    Rows rows(out, set.table ? set.table->rows.size() : set.network->layers.size(), progress);
    if (set.table) {
        for (const LayerRow& row : set.table->rows) {
            if (row.layers.empty())
                out.rows.push_back({&row, {}, row.reason});
            else if (!rows.add(&row, row.layers))
                break;
        }
    } else {
        for (const Layer& layer : set.network->layers)
            if (!rows.add(nullptr, std::span(&layer, 1))) break;
    }
    estimate_detail::RowNotes notes(set.table ? "row" : "layer");
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
        const EstimatedRow& row = out.rows[i];
        for (const Estimate& e : row.estimates) notes.add_layer(*e.layer, *e.on);
        if (row.estimates.empty())
            notes.add_reason(row.reason, [&] {
                return row.source ? fmt::format("line {}", row.source->line) : set.network->layers.at(i).name;
            });
    }
    // A total over some of a network's layers would be a wrong answer.
    if (!out.partial && (!notes.any() || (set.network && notes.any_reason())))
        return tl::unexpected(notes.failure(set.title, set.table.has_value()));
    notes.append_to(out.notes, set.title);
    note_host(out);
    out.summary = estimate_detail::summary_of(out);
    if (out.summary) out.fits = out.summary->fits;
    if (out.partial)
        out.notes.push_back(
            {"interrupted",
             fmt::format("the result is partial: {} of {} rows; the last may be partial", out.rows.size(),
                         set.table ? set.table->rows.size() : set.network->layers.size())});
    return out;
}

Result<std::vector<Estimates>> estimate_each(const std::shared_ptr<const LayerSet>& layers,
                                             std::span<const EstimatorOptions> options) {
    std::vector<Estimates> out;
    Errors refused;
    for (const EstimatorOptions& one : options) {
        auto estimates = estimate(layers, one);
        if (estimates) {
            out.push_back(std::move(*estimates));
            continue;
        }
        Estimates none;
        none.layers = layers;
        none.options = one;
        for (const Error& e : estimates.error())
            none.refused += fmt::format("{}{}", none.refused.empty() ? "" : "; ", to_text(e));
        refused.push_back({none.machine(), none.refused});
        out.push_back(std::move(none));
    }
    if (refused.size() == out.size()) return tl::unexpected(std::move(refused));
    return out;
}

Run to_run(const Estimates& estimates) {
    Run run;
    run.title = estimates.layers->title;
    run.origin = origin(estimates.options.method);
    run.roofs = estimates.options.roofs;
    run.partial = estimates.partial;
    run.notes = estimates.notes;
    std::vector<const Machine*> known;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            // The same GPU at two clocks is one machine: a kernel carries its own clock.
            const auto same = [&](const Machine* m) { return m->name == e.on->machine.name; };
            const auto at = std::find_if(known.begin(), known.end(), same);
            const auto index = static_cast<std::size_t>(at - known.begin());
            if (at == known.end()) {
                known.push_back(&e.on->machine);
                run.machines.push_back(e.on->machine);
            }
            run.kernels.push_back(repeated(e.kernel, e.layer->repeat));
            run.kernels.back().machine = index;
        }
    return run;
}

}  // namespace gambrel
