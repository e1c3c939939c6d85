// Which operator and which other launches a launch belongs to.
#include <algorithm>

#include "trace/launch_state.hpp"

namespace gambrel::trace_detail {

bool has_shapes(const OperatorCall& call) {
    return std::any_of(call.inputs.begin(), call.inputs.end(),
                       [](const OperatorInput& i) { return !i.tensors.empty(); });
}

void LaunchModel::State::index_instances() {
    const auto& all = timeline->activities;
    of.assign(all.size(), {0, 0});
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].instance >= 0 && all[i].kind == Activity::Kind::kernel) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair{all[a].rank, all[a].instance} < std::pair{all[b].rank, all[b].instance};
    });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const Activity& first = all[order[begin]];
        for (end = begin; end < order.size(); ++end)
            if (all[order[end]].rank != first.rank || all[order[end]].instance != first.instance) break;
        for (std::size_t i = begin; i < end; ++i)
            of[order[i]] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    }
}

// The innermost call, or that around it where the innermost is a name without shapes.
const OperatorCall* LaunchModel::State::ruled(std::int32_t call, const OperatorRule*& rule) const {
    for (int depth = 0; call >= 0 && depth < 6; ++depth) {
        const OperatorCall& c = timeline->calls[std::size_t(call)];
        rule = table.find(c.name.str());
        if (rule) return &c;
        if (has_shapes(c) || c.name.str().starts_with("triton_")) return nullptr;
        call = c.parent;
    }
    return nullptr;
}

Launch LaunchModel::State::launch_of(std::size_t index) const {
    const auto& all = timeline->activities;
    Launch l;
    l.timeline = timeline;
    l.table = &table;
    l.activity = &all[index];
    l.role = role(l.activity->name);
    l.call = ruled(l.activity->call, l.rule);
    if (!l.call && l.activity->call >= 0) l.call = &timeline->calls[std::size_t(l.activity->call)];
    const auto [begin, end] = of[index];
    // Thousands of kernels under one call are those of a compiled region or a step, not of an operator.
    constexpr std::uint32_t kMostKernels = 512;
    if (!l.rule || end - begin > kMostKernels) return l;
    l.of_call = std::span(order).subspan(begin, end - begin);
    if (experts) l.experts = &*experts;
    double all_ctas = 0, own = l.activity->shape.ctas();
    std::map<Symbol, std::int64_t> times;
    l.count = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
        const Activity& other = all[order[i]];
        const std::string& name = other.name.str();
        l.winograd |= name.find("winograd_nonfused") != std::string::npos;
        const Role other_role = role(other.name);
        if (other_role == Role::main && l.role == Role::split_reduce && other.shape.grid[2] > 1)
            l.split_k = other.shape.grid[2];
        const bool comparable = l.rule->kind == OperatorRule::Kind::stream || other_role == l.role;
        if (comparable) times[other.name] += other.duration_ns;
        if (other_role != l.role) continue;
        ++l.count;
        // Kernels that transpose are distinguished by their size, the others by their order.
        if (other_role == Role::to_nhwc ? other.shape.ctas() > own || (other.shape.ctas() == own && order[i] < index)
                                        : order[i] < index)
            ++l.nth;
        if (other.name == l.activity->name) all_ctas += other.shape.ctas();
    }
    for (const auto& [name, time] : times) l.dominant &= name == l.activity->name || time <= times[l.activity->name];
    l.count = std::max(1, l.count);
    if (all_ctas > 0) l.share = own / all_ctas;
    return l;
}

bool LaunchModel::State::is_named(std::size_t index) const {
    const Activity& a = timeline->activities[index];
    const OperatorRule* rule = nullptr;
    const OperatorCall* call = ruled(a.call, rule);
    if (call) return has_shapes(*call);
    return a.call >= 0 && has_shapes(timeline->calls[std::size_t(a.call)]);
}

}  // namespace gambrel::trace_detail
