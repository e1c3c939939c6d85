#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "explore/evaluator.hpp"
#include "explore/measured_rows.hpp"

namespace gambrel {

using namespace explore_detail;

namespace {

struct Row {
    Layer layer;
    double time = 0;
};

double predicted(const Layer& layer, const Machine& machine, const ModelInputs& h) {
    const Mapping mapping = mapping_for(layer, machine);
    return predict(layer, mapping, occupancy(machine, mapping), h).time.value();
}

using Rows = std::map<std::string, Row>;  // by what is computed

}  // namespace

Factors factors_between(const Machine& from, const ModelInputs& a, const Machine& to, const ModelInputs& b) {
    Factors f;
    const auto per_sm_second = [](const ModelInputs& h) { return h.clock.value() * h.sms; };
    for (const Resource r : all_resources()) f[r] = base_value(to, b, r) / base_value(from, a, r);
    // Rates of an SM are factors of what one SM does in a cycle, and L2's follows the clock by itself.
    f[Resource::shared_bandwidth] /= per_sm_second(b) / per_sm_second(a);
    f[Resource::l1_bandwidth] /= per_sm_second(b) / per_sm_second(a);
    f[Resource::l2_bandwidth] /= f[Resource::clock];
    f[Resource::schedulers] /= f[Resource::macs];
    f[Resource::l2_capacity] = b.usable_l2() / a.usable_l2();  // what the model uses: the halves of one may be copies
    return f;
}

Result<RatioProof> ratio_proof(const LayerTable& table, const std::string& from, double min_time) {
    std::map<std::string, Rows> by_gpu;
    for (const LayerRow& row : table.rows)
        if (row.layers.size() == 1 && !row.layers.front().hints.gpu.empty())
            if (const double time = measured_time(table, row); time > 0) {
                const Machine* machine = find_in_catalogue(row.layers.front().hints.gpu);
                if (machine) by_gpu[machine->id].emplace(shape_of(row.layers.front()), Row{row.layers.front(), time});
            }
    const Machine* first = find_in_catalogue(from);
    if (!first) return failure(from, "not in the catalogue");
    if (by_gpu[first->id].empty()) return failure(first->id, "no row of this GPU has a time");
    const ModelInputs a = *model_inputs(*first);
    RatioProof proof{first->name, {}, 0};
    for (const auto& [gpu, rows] : by_gpu) {
        if (gpu == first->id) continue;
        const Machine& second = *find_in_catalogue(gpu);
        const ModelInputs b = *model_inputs(second);
        const Factors f = factors_between(*first, a, second, b);
        const ModelInputs design = scaled(a, f);
        // The host's time for a framework's call is not a resource of the GPU, and whether two instructions issue
        // together depends on the schedulers; check bits and what a board's power leaves of its clock are no factors
        // either: all of them are those of the second GPU.
        ModelInputs hosted = design;
        hosted.architecture = b.architecture;
        hosted.check_bits = b.check_bits;
        hosted.fills_partial_writes = b.fills_partial_writes;
        hosted.burst = b.burst;
        hosted.fed = b.fed;
        hosted.matrix_power = b.matrix_power;
        const Machine built = with_room(*first, f);
        for (const auto& [key, start] : by_gpu[first->id]) {
            const auto found = rows.find(key);
            if (found == rows.end()) continue;
            if (std::min(start.time, found->second.time) < min_time) {
                ++proof.short_rows;
                continue;
            }
            const double before = predicted(start.layer, *first, a);
            const Layer& other = found->second.layer;
            RatioRow row{second.name, key, key.substr(0, 4), start.time / found->second.time};
            row.factors_alone = before / predicted(other, built, design);
            row.predicted = before / predicted(other, built, hosted);
            row.by_rule = before / predicted(start.layer, built, hosted);
            row.as_itself = before / predicted(other, second, b);
            proof.rows.push_back(row);
        }
    }
    return proof;
}

}  // namespace gambrel
