#include "trace/launch_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "trace/launch_state.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

bool close(double a, double b) { return std::abs(a - b) <= 0.01 * std::max(std::abs(a), std::abs(b)); }

bool agree(const Answer& a, const Answer& b) {
    for (const Pipe p : all_pipes())
        if (!close(a.work[p] ? a.work[p]->value.value() : 0, b.work[p] ? b.work[p]->value.value() : 0)) return false;
    for (const Level level : {Level::l1, Level::l2, Level::dram})
        if (!close(a.bytes[level] ? a.bytes[level]->value.value() : 0,
                   b.bytes[level] ? b.bytes[level]->value.value() : 0))
            return false;
    return true;
}

}  // namespace

Described LaunchModel::State::described(const Launch& l) const {
    if (!l.call) return Described::refused(why_no_operator(*l.activity));
    if (l.call->name.str().starts_with("triton_")) return describe_triton(l);
    // Of versions that record no call of a fused kernel, inside the region that was compiled.
    if (!l.rule && l.kernel().starts_with("triton_")) return describe_triton(l);
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
    for (const auto& [part, rule] : l.rule->kernels)
        if (l.kernel().find(part) != std::string_view::npos) {
            if (rule.read.empty() && rule.write == "none" && rule.write_arguments.empty())
                return stream(l, 4 * l.activity->shape.ctas(), 4 * l.activity->shape.ctas(), 0);
            return describe_stream(l, rule);
        }
    switch (l.rule->kind) {
        case OperatorRule::Kind::experts:
            return describe_routed(l);
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
    if (keeps_layers) out.of = {d.layer, d.share, d.extra};
}

// What the user's network says of a kernel that has no shapes.
Described LaunchModel::State::of_network(const Launch& l, std::int32_t layer) const {
    Described out;
    out.layer = match.layers[static_cast<std::size_t>(layer)];
    if (const auto view = gemm_view(*out.layer); view && l.role == Role::split_reduce) {
        const double product = double(view->m) * double(view->n) * double(view->batch);
        const double size = element_size(out.layer->precision).value();
        return stream(l, l.split_k * product * 4, product * size, l.split_k * product);
    }
    if (l.split_k > 1) out.layer->hints.split_k = static_cast<std::int64_t>(l.split_k);
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
    state->keeps_layers = static_cast<bool>(trace_options.on_modelled);
    for (const Machine& machine : machines) {
        EstimatorOptions options;
        options.machine = machine;
        state->estimators.emplace_back(std::move(options));
    }
    state->index_instances();
    std::vector<bool> named(timeline.activities.size());
    bool open = false;
    for (std::size_t i = 0; i < named.size(); ++i) {
        named[i] = state->is_named(i);
        open |= !named[i] && timeline.activities[i].kind == Activity::Kind::kernel;
    }
    if (open) state->same = SameKernels(timeline, [&](std::size_t i) { return named[i]; });
    for (const Layer& layer : trace_options.network)
        if (const auto* moe = std::get_if<MixtureOfExperts>(&layer.op); moe && !state->experts) state->experts = *moe;
    if (!trace_options.network.empty()) state->match_open(trace_options.network);
    return LaunchModel(std::move(state));
}

const Answer& LaunchModel::State::known_answer(const Launch& l, std::int32_t layer) {
    const Activity& a = *l.activity;
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
    auto it = known.find(key);
    if (it == known.end()) it = known.emplace(key, answer(l, layer)).first;
    return it->second;
}

const Answer* LaunchModel::State::repeated(std::size_t index, Symbol& op) {
    const Answer* out = nullptr;
    for (const std::size_t other : same.of(index)) {
        const Launch l = launch_of(other);
        const Answer& next = known_answer(l, -1);
        if (!next.fault.empty() || (out && !agree(*out, next))) return nullptr;
        out = &next;
        op = l.call->name;
    }
    return out;
}

std::string LaunchModel::add_to(Kernel& kernel, std::size_t index) {
    static const Symbol kRepeats(
        "its operator is not in the trace: work and bytes of the same kernel, grid and place "
        "among kernels that an operator launched");
    Launch l = state_->launch_of(index);
    const std::int32_t layer = state_->matched(index);
    if (layer >= 0) l.split_k = state_->match.split[index];
    const Answer* known = nullptr;
    Symbol op;
    if (layer >= 0) {
        known = &state_->known_answer(l, layer);
        op = Symbol(state_->match.layers[static_cast<std::size_t>(layer)].name);
    } else if (!state_->is_named(index)) {
        known = state_->repeated(index, op);
        if (known) kernel.reasons.push_back(kRepeats);
    }
    if (!known) {
        if (!l.call) return why_no_operator(*l.activity) + result_size(*l.activity);
        known = &state_->known_answer(l, -1);
        op = l.call->name;
    }
    kernel.op = op;
    if (!known->fault.empty()) return known->fault;
    state_->last = known;
    kernel.work = known->work;
    kernel.bytes = known->bytes;
    kernel.zero_flop_launches = known->zero_flop ? 1 : 0;
    kernel.reasons.insert(kernel.reasons.end(), known->reasons.begin(), known->reasons.end());
    return {};
}

const LaunchLayer& LaunchModel::last_layer() const { return state_->last->of; }

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
