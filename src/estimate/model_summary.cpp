// What a run of a transformer comes to: time and rate of a step, and its memory against the GPU's.
#include <algorithm>
#include <map>
#include <string>

#include <gambrel/estimate.hpp>

#include "estimate/model_summary.hpp"

namespace gambrel::estimate_detail {
namespace {

// What most of the time waits for, over all layers. A simulated layer has no terms of time but the roof that binds it.
std::string bound_of(const Estimates& estimates) {
    std::map<std::string, Seconds, std::less<>> waits;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            const double runs = e.layer->repeat;
            if (const auto* p = std::get_if<Prediction>(&e.detail))
                for (std::size_t i = 0; i < kTerms; ++i)
                    waits[std::string(name(static_cast<Term>(i)))] += p->exposed[i] * runs;
            else if (e.kernel.time)
                waits[e.bound] += e.kernel.time->value * runs;
        }
    const auto most =
        std::max_element(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == waits.end() ? "" : most->first;
}

std::int64_t largest_batch(const ModelRun& run, Bytes capacity) {
    const Bytes left = capacity - run.weights, each = (run.kv_cache + run.activations) / static_cast<double>(run.batch);
    if (left <= Bytes{}) return 0;
    return each > Bytes{} ? static_cast<std::int64_t>(std::min(left / each, 1e9)) : run.batch;
}

}  // namespace

std::optional<ModelSummary> summary_of(const Estimates& estimates) {
    const auto& network = estimates.layers->network;
    if (!network || !network->model) return std::nullopt;
    const ModelRun& run = *network->model;
    ModelSummary s;
    s.phase = run.phase;
    s.time = estimates.time();
    if (s.time > Seconds{}) s.tokens_per_s = run.tokens / s.time.value();
    if (run.phase == Phase::prefill) s.time_to_first_token = s.time;
    if (run.phase == Phase::decode) s.time_per_output_token = s.time / static_cast<double>(run.sequence);
    s.weights = run.weights;
    s.kv_cache = run.kv_cache;
    s.activations = run.activations;
    s.memory = run.memory();
    s.batch = run.batch;
    const MemoryLevel* dram = estimates.options.machine ? estimates.options.machine->find(Level::dram) : nullptr;
    if (dram && dram->capacity) {
        s.capacity = dram->capacity->value;
        s.fits = s.memory <= s.capacity;
        s.largest_batch = largest_batch(run, s.capacity);
    }
    s.bound = bound_of(estimates);
    return s;
}

}  // namespace gambrel::estimate_detail
