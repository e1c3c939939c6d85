#include <gambrel/roofline.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gambrel {
namespace {

void count_zero_flop(const std::vector<Kernel>& launches, Analysis& out) {
    std::set<Symbol> names;
    for (const Kernel& k : launches) {
        if (!is_zero_flop(k)) continue;
        names.insert(k.name);
        out.zero_flop_launches += k.launches;
        if (k.time) out.zero_flop_time += k.time->value;
        for (const Level l : all_levels())
            if (k.bytes[l]) out.zero_flop_bytes[l] += k.bytes[l]->value;
    }
    out.zero_flop_names = names.size();
}

std::vector<PhaseSummary> phase_summaries(const std::vector<Kernel>& launches, TimeSum time_sum) {
    std::vector<Symbol> order;
    std::unordered_map<Symbol, Seconds> zero_time;
    for (const Kernel& k : launches) {
        if (std::find(order.begin(), order.end(), k.phase) == order.end()) order.push_back(k.phase);
        if (is_zero_flop(k) && k.time) zero_time[k.phase] += k.time->value;
    }
    if (order.size() == 1 && order.front().empty()) return {};
    const auto sums = phase_sums(launches, time_sum);
    std::vector<PhaseSummary> out;
    for (const Symbol phase : order)
        for (const Kernel& sum : sums)
            if (sum.phase == phase) out.push_back({phase, sum, sum.zero_flop_launches, zero_time[phase]});
    return out;
}

}  // namespace

Analysis analysis(Run run, const AnalysisOptions& options) {
    Analysis out;
    std::vector<Kernel>& launches = run.kernels;
    out.title = std::move(run.title);
    out.notes = std::move(run.notes);
    out.origin = run.origin;
    out.partial = run.partial;
    out.timeline = std::move(run.timeline);
    out.lanes = std::move(run.lanes);
    out.grouping = options.grouping;
    out.roofs = options.roofline.roofs;
    out.machines = std::move(run.machines);
    if (out.machines.empty()) out.machines.emplace_back();  // kernels of which no source names the machine
    out.total = total(launches);
    count_zero_flop(launches, out);
    out.phases = phase_summaries(launches, options.time_sum);
    Groups groups = groups_of(std::move(launches), options.grouping, options.time_sum);
    if (out.lanes)
        for (auto& event : out.lanes->events)
            if (event.row) event.row = groups.of_launch.at(*event.row);
    out.rows.reserve(groups.kernels.size());
    for (Kernel& group : groups.kernels) {
        AnalysisRow row;
        row.machine = group.machine;
        row.verdict = roofline(out.machines.at(row.machine), group, options.roofline);
        row.kernel = std::move(group);
        out.rows.push_back(std::move(row));
    }
    return out;
}

}  // namespace gambrel
