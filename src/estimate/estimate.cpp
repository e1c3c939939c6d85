#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "estimate/model_summary.hpp"

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

// Numbers that the machines do not say and the model assumed, one note for each machine.
void note_assumptions(Estimates& out) {
    std::vector<std::string> seen;
    for (const EstimatedRow& row : out.rows)
        for (const Estimate& e : row.estimates) {
            const Machine& machine = e.on->machine;
            if (std::find(seen.begin(), seen.end(), machine.name) != seen.end()) continue;
            seen.push_back(machine.name);
            std::string text;
            for (const Assumption& a : assumptions(machine))
                text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", a.quantity, a.value, a.why);
            if (!text.empty()) out.notes.push_back({machine.name, "assumed, as it is not stated: " + text});
        }
}

// What sums over GPUs are charged by.
void note_link(Estimates& out) {
    for (const EstimatedRow& row : out.rows)
        for (const Estimate& e : row.estimates)
            if (std::holds_alternative<AllReduce>(e.layer->op)) {
                out.notes.push_back(
                    {e.on->machine.name,
                     fmt::format("sums over GPUs are rings over links of {} in each direction (assumed)",
                                 to_text(e.on->inputs.link, 3))});
                return;
            }
}

// Launches do not wait for kernels, so the longer of the two chains decides.
void note_host(Estimates& out) {
    if (out.options.host_gap <= Seconds{} || !out.layers->network) return;
    double operators = 0;
    Seconds gpu;
    for (const EstimatedRow& row : out.rows)
        for (const Estimate& e : row.estimates) {
            operators += e.layer->repeat;
            if (e.kernel.time) gpu += e.kernel.time->value * e.layer->repeat;
        }
    out.host = operators * out.options.host_gap;
    const char* verdict =
        out.host > gpu ? "more than the {} of the GPU, so the total is the host's" : "hidden behind the {} of the GPU";
    out.notes.push_back(
        {out.layers->network->name, fmt::format("the host takes {} to launch {:.0f} operators at {} each (given), {}",
                                                to_text(out.host, 3), operators, to_text(out.options.host_gap, 3),
                                                fmt::format(fmt::runtime(verdict), to_text(gpu, 3)))});
}

// Reasons of rows that have no estimate, each once with the number of rows. A batch that does not fit gives every layer
// a reason of its own: the first ones say it all.
Errors reasons(const Estimates& estimates) {
    constexpr std::size_t kMost = 6;
    const std::string_view rows = estimates.layers->table ? "row" : "layer";
    Errors out;
    std::vector<std::size_t> counts;
    std::size_t further = 0;
    for (std::size_t i = 0; i < estimates.rows.size(); ++i) {
        const EstimatedRow& row = estimates.rows[i];
        if (row.reason.empty()) continue;
        const auto same = [&](const Error& e) { return e.what == row.reason; };
        const auto at = std::find_if(out.begin(), out.end(), same);
        if (at != out.end()) {
            ++counts[static_cast<std::size_t>(at - out.begin())];
            continue;
        }
        if (out.size() == kMost) {
            ++further;
            continue;
        }
        const std::string where =
            row.source ? fmt::format("line {}", row.source->line) : estimates.layers->network->layers.at(i).name;
        out.push_back({where, row.reason});
        counts.push_back(1);
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        if (counts[i] > 1)
            out[i].what +=
                fmt::format(" (and {} more {}{} for the same reason)", counts[i] - 1, rows, counts[i] == 2 ? "" : "s");
    if (further > 0)
        out.push_back({"", fmt::format("{} more {}{} could not be estimated; the CSV output has the reason of each",
                                       further, rows, further == 1 ? "" : "s")});
    return out;
}

}  // namespace

std::string Estimates::machine() const { return options.machine ? options.machine->name : "the GPU of each row"; }

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
    Errors wrong = reasons(out);
    const bool any =
        std::any_of(out.rows.begin(), out.rows.end(), [](const auto& row) { return !row.estimates.empty(); });
    // A total over some of a network's layers would be a wrong answer.
    if (!out.partial && (!any || (set.network && !wrong.empty()))) {
        if (wrong.empty()) wrong.push_back({set.title, "holds no layer"});
        for (Error& e : wrong)
            if (set.table) e.where = fmt::format("{}: {}", set.title, e.where);
        return tl::unexpected(std::move(wrong));
    }
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(wrong.size(), kShown); ++i) out.notes.push_back(std::move(wrong[i]));
    if (wrong.size() > kShown)
        out.notes.push_back({set.title, fmt::format("{} more reasons for rows without an estimate are in the CSV",
                                                    wrong.size() - kShown)});
    note_assumptions(out);
    note_link(out);
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
