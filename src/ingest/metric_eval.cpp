#include "ingest/metric_eval.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ingest/collection.hpp"

namespace gambrel::ingest_detail {
namespace {

bool is_extensive(QuantityId::Kind kind) {
    using Kind = QuantityId::Kind;
    return kind == Kind::time || kind == Kind::work || kind == Kind::sparse_work || kind == Kind::bytes;
}

// TU116 and TU117 share their compute capability with chips that have Tensor Cores, so the catalogue is asked by name.
bool lacks_tensor_cores(const Launch& launch) {
    const Machine* machine = launch.device.empty() ? nullptr : find_in_catalogue(launch.device.str());
    return machine && std::none_of(machine->pipes.begin() + static_cast<int>(Pipe::tensor_fp64), machine->pipes.end(),
                                   [](const auto& pipe) { return pipe.dense && pipe.dense->value.value() > 0; });
}

bool tensor_known(const Kernel& kernel) {
    return std::any_of(kernel.work.begin() + static_cast<int>(Pipe::tensor_fp64), kernel.work.end(),
                       [](const auto& w) { return w.has_value(); });
}

constexpr std::array kWantedWork = {Pipe::fp64, Pipe::fp32, Pipe::fp16};
constexpr std::array kWantedBytes = {Level::l1, Level::l2, Level::dram};

// A bit for each amount that a row wants and that is not known.
unsigned absent_amounts(const Kernel& kernel) {
    unsigned absent = 0, bit = 1;
    const auto add = [&](bool known) {
        absent |= known ? 0 : bit;
        bit <<= 1U;
    };
    add(kernel.time.has_value());
    for (const Pipe p : kWantedWork) add(kernel.work[p].has_value());
    add(tensor_known(kernel));
    for (const Level l : kWantedBytes) add(kernel.bytes[l].has_value());
    return absent;
}

Symbol phase_of(const Launch& launch, int depth) {
    if (launch.nvtx.empty() || depth < 1) return Symbol{};
    if (depth == 1) return launch.nvtx.front();
    std::string path;
    for (std::size_t i = 0; i < launch.nvtx.size() && i < static_cast<std::size_t>(depth); ++i)
        path += (i ? "/" : "") + launch.nvtx[i].str();
    return Symbol(path);
}

}  // namespace

Evaluator::Evaluator(const MetricRules& rules, const IngestOptions& options)
    : rules_(rules),
      options_(options),
      scratch_(rules.metrics.size()),
      stamp_(rules.metrics.size()),
      candidates_(rules, options.flop_rule) {}

void Evaluator::load(const Profile& profile, const Launch& launch) {
    ++generation_;
    for (std::size_t i = launch.first_value; i < launch.first_value + launch.values; ++i) {
        const auto& [metric, value] = profile.values[i];
        // The last of several values counts: both of NVIDIA's readers do so.
        scratch_[metric] = value;
        stamp_[metric] = generation_;
    }
}

Evaluator::Outcome Evaluator::term_value(const Term& term, double& out) const {
    const auto there = [&](MetricId m) { return stamp_[m] == generation_; };
    const auto metric = std::find_if(term.metrics.begin(), term.metrics.end(), there);
    if (metric == term.metrics.end()) return Outcome::absent;
    double value = scratch_[*metric] * term.factor / term.per;
    for (const MetricId m : term.times) {
        if (!there(m)) return Outcome::absent;
        value *= scratch_[m];
    }
    if (term.times_time) {
        if (!time_) return Outcome::absent;
        value *= *time_;
    }
    out = value;
    return std::isfinite(value) ? Outcome::known : Outcome::broken;
}

Evaluator::Outcome Evaluator::rule_value(const Rule& rule, double& out) const {
    if (rule.constant) {
        out = *rule.constant;
        return Outcome::known;
    }
    double sum = 0;
    bool any = false;
    for (const Term& term : rule.terms) {
        if (term.flop_rule && *term.flop_rule != options_.flop_rule) continue;
        double value = 0;
        const Outcome outcome = term_value(term, value);
        if (outcome == Outcome::broken) return Outcome::broken;
        if (outcome == Outcome::absent) {
            if (!term.optional) return Outcome::absent;
            continue;
        }
        any = true;
        sum += value;
    }
    if (!any) return Outcome::absent;
    for (const MetricId m : rule.over) {
        if (stamp_[m] != generation_) return Outcome::absent;
        sum /= scratch_[m];
    }
    if (!std::isfinite(sum)) return Outcome::broken;
    if (rule.only_if_zero && sum != 0) return Outcome::absent;
    out = rule.at_least_zero ? std::max(0.0, sum) : sum;
    return Outcome::known;
}

std::optional<ComputeCapability> Evaluator::cc_of(const Launch& launch) const {
    return launch.cc ? launch.cc : options_.assumed_cc;
}

Evaluator::Value Evaluator::best(const std::vector<const Rule*>& rules, bool& broken) const {
    Value best;
    for (const Rule* rule : rules) {
        if (best.rule && rule->tier != best.rule->tier) break;
        double value = 0;
        const Outcome outcome = rule_value(*rule, value);
        broken |= outcome == Outcome::broken;
        if (outcome == Outcome::known && (!best.rule || value > best.value)) best = {value, rule};
    }
    return best;
}

void Evaluator::store(Kernel& kernel, const QuantityId& id, const Value& found, const Launch& launch) const {
    using Kind = QuantityId::Kind;
    const double value = is_extensive(id.kind) ? found.value * static_cast<double>(launch.launches) : found.value;
    const Symbol rule = found.rule->id;
    switch (id.kind) {
        case Kind::time:
            kernel.time = {Seconds{value}, Origin::measured, rule};
            break;
        case Kind::clock:
            kernel.clock = {Frequency{value}, Origin::measured, rule};
            break;
        case Kind::work:
            kernel.work[id.pipe] = {Flops{value}, Origin::measured, rule};
            break;
        case Kind::sparse_work:
            kernel.sparse_work = {Flops{value}, Origin::measured, rule};
            break;
        case Kind::tensor_activity:
            break;  // only asked for by kernel()
        case Kind::bytes:
            kernel.bytes[id.level] = {Bytes{value}, Origin::measured, rule};
            break;
        case Kind::peak_rate:
            kernel.pipe_peaks.push_back({id.pipe, {FlopRate{value}, Origin::measured, rule}});
            break;
        case Kind::peak_bandwidth:
            kernel.level_peaks.push_back({id.level, {Bandwidth{value}, Origin::measured, rule}});
            break;
        case Kind::gauge:
            kernel.gauges.push_back({id.gauge, {value, Origin::measured, rule}});
            break;
    }
}

void Evaluator::add_missing_reason(Kernel& kernel, const Launch& launch, const std::vector<QuantityId>& broken) {
    if (!broken.empty()) {
        say_what_is_missing(kernel, launch, broken);
        return;
    }
    const unsigned absent = absent_amounts(kernel);
    if (absent == 0) return;
    // Thousands of launches lack the same.
    const auto [known, fresh] = missing_.try_emplace({cc_of(launch), absent});
    MissingAmounts& said = known->second;
    if (fresh) {
        const std::size_t reasons = kernel.reasons.size(), remedies = kernel.remedies.size();
        say_what_is_missing(kernel, launch, broken);
        if (kernel.reasons.size() > reasons) said.reason = kernel.reasons.back();
        if (kernel.remedies.size() > remedies) said.remedy = kernel.remedies.back();
        return;
    }
    kernel.reasons.push_back(said.reason);
    if (!said.remedy.empty()) kernel.remedies.push_back(said.remedy);
}

void Evaluator::say_what_is_missing(Kernel& kernel, const Launch& launch, const std::vector<QuantityId>& broken) {
    using Kind = QuantityId::Kind;
    const auto is_broken = [&](auto matches) { return std::any_of(broken.begin(), broken.end(), matches); };
    std::vector<std::string> missing, refused;
    const auto add = [&](std::string what, auto matches) {
        (is_broken(matches) ? refused : missing).push_back(std::move(what));
    };
    if (!kernel.time) add("time", [](const QuantityId& id) { return id.kind == Kind::time; });
    for (const Pipe p : kWantedWork)
        if (!kernel.work[p])
            add(fmt::format("{} work", name(p)),
                [p](const QuantityId& id) { return id.kind == Kind::work && id.pipe == p; });
    if (!tensor_known(kernel))
        add("tensor work", [](const QuantityId& id) { return id.kind == Kind::work && is_tensor(id.pipe); });
    for (const Level l : kWantedBytes)
        if (!kernel.bytes[l])
            add(fmt::format("{} bytes", name(l)),
                [l](const QuantityId& id) { return id.kind == Kind::bytes && id.level == l; });
    // No row needs a clock, but one that was refused is reported.
    if (!kernel.clock && is_broken([](const QuantityId& id) { return id.kind == Kind::clock; }))
        refused.emplace_back("clock");
    if (!refused.empty() && !launch.faults.empty())
        kernel.reasons.emplace_back(
            fmt::format("no {}: {}{}", fmt::join(refused, ", "), launch.faults.front().str(),
                        launch.faults.size() > 1 ? fmt::format(" and {} more", launch.faults.size() - 1) : ""));
    if (missing.empty()) return;
    const std::string what = fmt::format("{}", fmt::join(missing, ", "));
    kernel.reasons.emplace_back(fmt::format("not in the file: {}", what));
    // Finding out which chip has which counter takes a while.
    auto [remedy, is_new] = remedies_.try_emplace({cc_of(launch), what});
    if (is_new) {
        const auto metrics = metrics_for(rules_, cc_of(launch), [&](const QuantityId& id) {
            if (is_broken(
                    [&](const QuantityId& b) { return b.kind == id.kind && b.pipe == id.pipe && b.level == id.level; }))
                return false;
            if (id.kind == Kind::time) return !kernel.time;
            if (id.kind == Kind::work) return is_tensor(id.pipe) ? !tensor_known(kernel) : !kernel.work[id.pipe];
            return id.kind == Kind::bytes && id.level != Level::shared && !kernel.bytes[id.level];
        });
        if (!metrics.empty()) remedy->second = Symbol(fmt::format("ncu --metrics {}", fmt::join(metrics, ",")));
    }
    if (!remedy->second.empty()) kernel.remedies.push_back(remedy->second);
}

Kernel Evaluator::kernel(const Profile& profile, const Launch& launch) {
    Kernel k;
    k.name = launch.name;
    k.phase = phase_of(launch, options_.nvtx_depth);
    k.source = Symbol(profile.source);
    k.device = launch.device;
    k.launches = launch.launches;
    k.shape = launch.shape;
    k.gauges.reserve(gauges_);
    load(profile, launch);
    time_.reset();
    bool tensor_busy = false;
    std::vector<QuantityId> broken;
    for (const auto& [of, rules] : candidates_.of(profile, launch, cc_of(launch))) {
        const QuantityId& quantity = of->quantity;
        bool refused = false;
        const Value value = best(rules, refused);
        if (!value.rule) {
            if (refused) broken.push_back(quantity);
            continue;
        }
        if (quantity.kind == QuantityId::Kind::time) time_ = value.value;
        tensor_busy |= quantity.kind == QuantityId::Kind::tensor_activity && value.value > 0;
        store(k, quantity, value, launch);
        if (!value.rule->note.empty() && value.value != 0) k.reasons.push_back(value.rule->note);
    }
    if (!tensor_busy && !tensor_known(k) && lacks_tensor_cores(launch))
        k.work[Pipe::tensor_fp16] = {Flops{}, Origin::measured, Symbol("no_tensor_cores")};
    if (tensor_busy && !tensor_known(k)) {
        k.has_uncounted_work = true;
        k.reasons.emplace_back(
            "the Tensor Cores were busy, but the file does not tell how much they did, so all FLOP are unknown");
    }
    k.zero_flop_launches = is_zero_flop(k) ? k.launches : 0;
    add_missing_reason(k, launch, broken);
    gauges_ = k.gauges.size();
    return k;
}

std::vector<std::string> preferred_metrics(const MetricRules& rules, std::optional<ComputeCapability> cc,
                                           const std::function<bool(const QuantityId&)>& wanted) {
    std::vector<std::string> names;
    for (const auto& quantity : rules.quantities) {
        if (!wanted(quantity.quantity)) continue;
        const auto preferred = std::find_if(quantity.rules.begin(), quantity.rules.end(), [&](const Rule& r) {
            return r.collect && r.flop_rule != FlopRule::paper && (!r.cc || (cc && r.cc->holds(*cc)));
        });
        if (preferred == quantity.rules.end()) continue;
        for (const Term& term : preferred->terms)
            for (const MetricId m : term.metrics)
                if (std::find(names.begin(), names.end(), rules.metrics.name(m)) == names.end())
                    names.push_back(rules.metrics.name(m));
    }
    return names;
}

}  // namespace gambrel::ingest_detail
