#include "trace/launch_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>

#include "trace/described.hpp"
#include "trace/network_match.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

// Work and bytes of one launch, kept for all that are equal to it.
struct Answer {
    PerPipe<Known<Flops>> work;
    PerLevel<Known<Bytes>> bytes;
    std::vector<Symbol> reasons;
    bool zero_flop = false;
    std::string fault;
};

using Key = std::array<std::uint64_t, 9>;

bool has_shapes(const OperatorCall& call) {
    return std::any_of(call.inputs.begin(), call.inputs.end(),
                       [](const OperatorInput& i) { return !i.tensors.empty(); });
}

}  // namespace

struct LaunchModel::State {
    const Timeline* timeline = nullptr;
    const std::vector<Machine>* machines = nullptr;
    OperatorTable table;
    std::vector<Estimator> estimators;
    std::vector<std::size_t> order;                           // kernels by rank, instance and start
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of;  // of each activity: its part of `order`
    std::map<Key, Answer> known;
    mutable std::unordered_map<Symbol, bool> communicates;
    mutable std::unordered_map<Symbol, Role> roles;
    std::set<std::string> assumed;
    NetworkMatch match;

    [[nodiscard]] Role role(Symbol kernel) const {
        const auto [it, fresh] = roles.try_emplace(kernel, Role::main);
        if (fresh) it->second = role_of(kernel.str());
        return it->second;
    }
    void index_instances();
    const OperatorCall* ruled(std::int32_t call, const OperatorRule*& rule) const;
    Launch launch_of(std::size_t index) const;
    Described described(const Launch& launch) const;
    [[nodiscard]] std::int32_t matched(std::size_t index) const { return match.of.empty() ? -1 : match.of[index]; }
    Described of_network(const Launch& launch, std::int32_t layer) const;
    void match_open(const std::vector<Layer>& network);
    Answer answer(const Launch& launch, std::int32_t layer);
    void amounts(const Launch& launch, const Described& d, Answer& out);
};

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

Described LaunchModel::State::described(const Launch& l) const {
    if (!l.call) return Described::refused(why_no_operator(*l.activity));
    if (l.call->name.str().starts_with("triton_")) return describe_triton(l);
    if (!l.rule) {
        if (!has_shapes(*l.call))
            return Described::refused(fmt::format("the shapes of {} were not recorded", l.call->name.str()));
        if (!is_elementwise(l.kernel()))
            return Described::refused(fmt::format("no rule for operator {}", l.call->name.str()));
        StreamRule every;
        every.write = "broadcast";
        every.flop = 1;
        for (int i = 0; i < int(std::min<std::size_t>(64, l.call->inputs.size())); ++i) every.read.push_back(i);
        return describe_stream(l, every);
    }
    switch (l.rule->kind) {
        case OperatorRule::Kind::gemm:
            return describe_gemm(l);
        case OperatorRule::Kind::grouped:
            return describe_grouped(l);
        case OperatorRule::Kind::convolution:
            return describe_convolution(l);
        case OperatorRule::Kind::attention:
            return describe_attention(l);
        case OperatorRule::Kind::stream:
            break;
    }
    for (const auto& [part, rule] : l.rule->kernels)
        if (l.kernel().find(part) != std::string_view::npos) {
            if (rule.read.empty() && rule.write == "none" && rule.write_arguments.empty())
                return stream(l, 4 * l.activity->shape.ctas(), 4 * l.activity->shape.ctas(), 0);
            return describe_stream(l, rule);
        }
    if (!l.dominant)
        return Described::refused(
            fmt::format("one of several kernels of {}: its part is not known", l.call->name.str()));
    return describe_stream(l, l.rule->stream);
}

void LaunchModel::State::amounts(const Launch& l, const Described& d, Answer& out) {
    static const Symbol kWork("trace: FLOP of the operator");
    if (const auto wrong = faults(*d.layer); !wrong.empty()) return void(out.fault = "not valid: " + wrong.front());
    auto estimate = estimators[l.activity->device](*d.layer);
    if (!estimate) return void(out.fault = estimate.error().front().what);
    for (const Pipe p : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16})
        out.work[p] = Amount<Flops>{Flops{}, Origin::derived, kWork};
    Flops flop = d.flop.value_or(Flops{});
    if (!d.flop)
        for (const Pipe p : all_pipes())
            if (estimate->kernel.work[p]) flop += estimate->kernel.work[p]->value;
    for (const Level level : {Level::l1, Level::l2, Level::dram})
        if (const auto& bytes = estimate->kernel.bytes[level])
            out.bytes[level] = Amount<Bytes>{(bytes->value + d.extra) * d.share, bytes->origin, bytes->rule};
    for (const Symbol reason : estimate->kernel.reasons) out.reasons.push_back(reason);
    out.work[estimate->mapping.pipe] = Amount<Flops>{flop * d.share, Origin::derived, kWork};
    out.zero_flop = flop <= Flops{};
}

// What the user's network says of a kernel that has no shapes.
Described LaunchModel::State::of_network(const Launch& l, std::int32_t layer) const {
    Described out;
    out.layer = match.layers[static_cast<std::size_t>(layer)];
    out.layer->hints.kernel = std::string(l.kernel());
    out.layer->hints.timing = Timing::kernel;
    out.remarks.push_back(fmt::format("shapes of layer {} of the network, by the order of kernels", out.layer->name));
    return out;
}

void LaunchModel::State::match_open(const std::vector<Layer>& network) {
    std::vector<std::size_t> open;
    const auto& all = timeline->activities;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].kind != Activity::Kind::kernel || table.is_communication(all[i].name.str())) continue;
        const OperatorRule* rule = nullptr;
        ruled(all[i].call, rule);
        if (!rule) open.push_back(i);
    }
    match = match_network(*timeline, open, network);
}

Answer LaunchModel::State::answer(const Launch& l, std::int32_t layer) {
    Answer out;
    const Described d = layer >= 0 ? of_network(l, layer) : described(l);
    out.fault = d.fault;
    if (out.fault.empty()) amounts(l, d, out);
    for (const std::string& remark : d.remarks) {
        out.reasons.emplace_back(remark);
        if (remark.find("taken as") != std::string::npos) assumed.insert(remark);
    }
    return out;
}

Result<LaunchModel> LaunchModel::make(const Timeline& timeline, const std::vector<Machine>& machines,
                                      const TraceOptions& trace_options) {
    auto table = OperatorTable::load(trace_options.operator_files);
    if (!table) return tl::unexpected(std::move(table.error()));
    auto state = std::make_unique<State>();
    state->timeline = &timeline;
    state->machines = &machines;
    state->table = std::move(*table);
    for (const Machine& machine : machines) {
        EstimatorOptions options;
        options.machine = machine;
        state->estimators.emplace_back(std::move(options));
    }
    state->index_instances();
    if (!trace_options.network.empty()) state->match_open(trace_options.network);
    return LaunchModel(std::move(state));
}

std::string LaunchModel::add_to(Kernel& kernel, std::size_t index) {
    const Launch l = state_->launch_of(index);
    const Activity& a = *l.activity;
    const std::int32_t layer = state_->matched(index);
    if (!l.call && layer < 0) return why_no_operator(a) + result_size(a);
    std::uint64_t share = 0;
    std::memcpy(&share, &l.share, sizeof share);
    const auto symbol = std::hash<Symbol>{}(a.name);
    const Key key{layer >= 0 ? ~std::uint64_t(layer) : std::uint64_t(a.call),
                  symbol,
                  (std::uint64_t{a.shape.grid[0]} << 32U) | a.shape.grid[1],
                  (std::uint64_t{a.shape.grid[2]} << 32U) | a.shape.block[0],
                  (std::uint64_t{a.shape.block[1]} << 32U) | a.shape.block[2],
                  (std::uint64_t(l.nth) << 32U) | std::uint64_t(l.count),
                  share,
                  (std::uint64_t(l.split_k) << 2U) | (l.dominant ? 2U : 0U) | (l.winograd ? 1U : 0U),
                  a.device};
    auto it = state_->known.find(key);
    if (it == state_->known.end()) it = state_->known.emplace(key, state_->answer(l, layer)).first;
    const Answer& known = it->second;
    kernel.op = layer >= 0 ? Symbol(state_->match.layers[static_cast<std::size_t>(layer)].name) : l.call->name;
    if (!known.fault.empty()) return known.fault;
    kernel.work = known.work;
    kernel.bytes = known.bytes;
    kernel.zero_flop_launches = known.zero_flop ? 1 : 0;
    kernel.reasons.insert(kernel.reasons.end(), known.reasons.begin(), known.reasons.end());
    return {};
}

bool LaunchModel::is_communication(Symbol kernel) const {
    const auto [it, fresh] = state_->communicates.try_emplace(kernel, false);
    if (fresh) it->second = state_->table.is_communication(kernel.str());
    return it->second;
}

Errors LaunchModel::notes() const {
    Errors out;
    for (const std::string& remark : state_->assumed) out.push_back({"assumed", remark});
    if (!state_->match.note.empty()) out.push_back({"--network", state_->match.note});
    return out;
}

LaunchModel::LaunchModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LaunchModel::LaunchModel(LaunchModel&&) noexcept = default;
LaunchModel& LaunchModel::operator=(LaunchModel&&) noexcept = default;
LaunchModel::~LaunchModel() = default;

}  // namespace gambrel::trace_detail
