// Every activity becomes a Kernel in one class; the classes add up.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/impossible.hpp"
#include "trace/lanes.hpp"
#include "trace/launch_model.hpp"
#include "trace/spans.hpp"

namespace gambrel {
namespace {

using namespace trace_detail;

Symbol class_symbol(TimeClass c) {
    static const auto kNames = [] {
        std::array<Symbol, kTimeClasses> names;
        for (std::size_t i = 0; i < kTimeClasses; ++i) names[i] = Symbol(name(static_cast<TimeClass>(i)));
        return names;
    }();
    return kNames[static_cast<std::size_t>(c)];
}

// What a trace knows of a launch, without work and bytes.
Kernel kernel_of(const Timeline& t, const Activity& a, const Machine& machine) {
    static const Symbol kRule("trace: end - start");
    Kernel k;
    k.name = a.name;
    k.phase = a.phase;
    k.source = Symbol(t.ranks[a.rank].source);
    k.device = Symbol(machine.name);
    k.machine = a.device;
    k.module = a.module;
    k.rank = Symbol(t.ranks[a.rank].name);
    if (a.call >= 0) k.op = t.calls[static_cast<std::size_t>(a.call)].name;
    k.time = Amount<Seconds>{Seconds{static_cast<double>(a.duration_ns) * 1e-9}, Origin::measured, kRule};
    if (a.shape.block[0] > 0) k.shape = a.shape;
    return k;
}

// Copies and memsets move bytes and compute nothing. Those between two memories are bound by the link between them,
// which no machine file states: they get no DRAM bytes, so that no HBM roof judges them.
void add_transfer(const Activity& a, const Machine&, Kernel& k) {
    static const Symbol kRule("trace: bytes of the copy");
    for (const Pipe pipe : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16})
        k.work[pipe] = Amount<Flops>{Flops{}, Origin::measured, kRule};
    k.zero_flop_launches = 1;
    if (a.bytes < 0) return;
    const std::string& name = a.name.str();
    const bool memset = a.kind == Activity::Kind::memset;
    const bool on_device = memset || name.find("DtoD") != std::string::npos;
    if (on_device) {
        k.bytes[Level::dram] = Amount<Bytes>{Bytes{a.bytes * (memset ? 1 : 2)}, Origin::measured, kRule};
        return;
    }
    const double seconds = static_cast<double>(a.duration_ns) * 1e-9;
    if (seconds > 0)
        k.reasons.emplace_back(fmt::format("crosses a link between memories, which is its roof, not DRAM"));
}

// "Net/Linear_1/aten::addmm [768] [8192x768] [768x3072]": the same work on another GPU or with another library.
std::string full_name(const OperatorCall& call, const Activity& a) {
    std::string out = a.module.empty() ? std::string{} : a.module.str() + "/";
    out += call.name.str();
    for (const OperatorInput& input : call.inputs)
        for (const auto& dims : input.tensors) out += fmt::format(" [{}]", fmt::join(dims, "x"));
    constexpr std::size_t kLongest = 400;  // optimizers take thousands of tensors
    return out.size() <= kLongest ? out : fmt::format("{}... ({} inputs)", out.substr(0, kLongest), call.inputs.size());
}

std::string_view reason_of(const Activity& a) {
    switch (a.launch) {
        case Activity::Launch::graph:
            return "launched by a CUDA graph: no operator, so its shapes are unknown";
        case Activity::Launch::before_capture:
            return "its launch is not in the trace: it was called before the capture began, so its shapes are unknown";
        case Activity::Launch::no_operation:
            return "no operator encloses its launch, so its shapes are unknown";
        case Activity::Launch::unknown:
            return "the trace has no launches, so its operator and shapes are unknown";
        case Activity::Launch::operation:
            break;
    }
    return "";
}

struct Builder {
    const Timeline& timeline;
    const TraceOptions& options;
    const std::vector<Machine>& machines;
    LaunchModel model;
    std::vector<Possible> possible;
    LaneBuilder lanes;
    Run run{};
    std::unordered_map<Symbol, std::unordered_map<Symbol, std::size_t>> unmodelled{};

    TimeClass classify(const Activity& a, std::size_t index, Kernel& k) {
        if (a.kind == Activity::Kind::copy || a.kind == Activity::Kind::memset) {
            add_transfer(a, machines[a.device], k);
            return a.kind == Activity::Kind::copy ? TimeClass::copy : TimeClass::memset;
        }
        if (model.is_communication(a.name)) {
            k.reasons.emplace_back(
                "communication: bound by the links between GPUs, which a machine file does not have");
            return TimeClass::communication;
        }
        std::string fault = model.add_to(k, index);
        if (fault.empty()) fault = possible[a.device].fault(k);
        if (fault.empty()) return TimeClass::modelled;
        k.work = {};
        k.bytes = {};
        k.zero_flop_launches = 0;
        k.reasons.emplace_back(fault);
        if (a.launch == Activity::Launch::graph) return TimeClass::graph;
        if (a.launch == Activity::Launch::before_capture) return TimeClass::before_capture;
        return TimeClass::unmodelled;
    }

    void add(const Activity& a, std::size_t index, TimelineSummary& sum) {
        Kernel k = kernel_of(timeline, a, machines[a.device]);
        const TimeClass c = classify(a, index, k);
        k.time_class = class_symbol(c);
        if (options.shapes_in_operators && a.call >= 0)
            k.op = Symbol(full_name(timeline.calls[static_cast<std::size_t>(a.call)], a));
        if (c == TimeClass::modelled && options.on_modelled && (!options.keep || options.keep(a.name.str())))
            options.on_modelled(k, model.last_layer());
        const auto ns = static_cast<std::uint64_t>(a.duration_ns);
        sum.of(c).ns += ns;
        ++sum.of(c).events;
        sum.gpu_ns += ns;
        if (c == TimeClass::unmodelled) {
            const Symbol who = k.op.empty() ? k.name : k.op, why = k.reasons.back();
            const auto [it, fresh] = unmodelled[who].try_emplace(why, sum.unmodelled.size());
            if (fresh) sum.unmodelled.push_back({who, why, 0, 0});
            sum.unmodelled[it->second].ns += ns;
            ++sum.unmodelled[it->second].events;
        }
        const bool kept = !options.keep || options.keep(a.name.str());
        lanes.add(a, c, kept ? std::optional(run.kernels.size()) : std::nullopt);
        if (kept) run.kernels.push_back(std::move(k));
    }
};

}  // namespace

namespace trace_detail {
std::string why_no_operator(const Activity& a) { return std::string(reason_of(a)); }
}  // namespace trace_detail

Result<Run> to_run(const Timeline& timeline, const TraceOptions& options) {
    Errors notes;
    auto machines = machines_of(timeline, options.machine ? &*options.machine : nullptr, notes);
    if (!machines) return tl::unexpected(std::move(machines.error()));
    auto model = LaunchModel::make(timeline, *machines, options);
    if (!model) return tl::unexpected(std::move(model.error()));
    Builder builder{
        timeline, options, *machines, std::move(*model), {machines->begin(), machines->end()}, LaneBuilder(timeline)};
    Run& run = builder.run;
    TimelineSummary sum;
    sum.ranks = timeline.ranks.size();
    sum.steps = timeline.steps;
    if (!options.keep) run.kernels.reserve(timeline.activities.size());
    for (std::size_t i = 0; i < timeline.activities.size(); ++i) builder.add(timeline.activities[i], i, sum);
    const bool modelled = sum.of(TimeClass::modelled).ns > 0;
    add_spans(timeline, builder.model, sum);
    std::stable_sort(sum.unmodelled.begin(), sum.unmodelled.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    run.notes = timeline.notes;
    run.notes.insert(run.notes.end(), notes.begin(), notes.end());
    const Errors assumed = builder.model.notes();
    run.notes.insert(run.notes.end(), assumed.begin(), assumed.end());
    if (timeline.activities.empty()) {
        run.notes.push_back({timeline.title, "holds no kernel, copy or memset: was the GPU profiled?"});
        return tl::unexpected(std::move(run.notes));
    }
    if (run.kernels.empty()) {
        run.notes.push_back({"--kernel", fmt::format("matches none of the {} kernels", timeline.activities.size())});
        return tl::unexpected(std::move(run.notes));
    }
    run.title = timeline.title;
    run.partial = timeline.partial;
    run.origin = modelled ? Origin::modelled : Origin::measured;
    run.timeline = std::move(sum);
    run.lanes = builder.lanes.take();
    run.machines = std::move(*machines);
    return std::move(run);
}

}  // namespace gambrel
