#include "report/estimate_words.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/numbers.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string convolution_text(const Convolution& c) {
    std::string text = fmt::format("conv {}x{}", c.r, c.s);
    if (c.stride_h != 1 || c.stride_w != 1)
        text +=
            c.stride_h == c.stride_w ? fmt::format(" /{}", c.stride_h) : fmt::format(" /{}x{}", c.stride_h, c.stride_w);
    if (c.groups > 1) text += fmt::format(", {} groups", c.groups);
    return text;
}

template <class Visit>
void for_each_estimate(const Estimates& estimates, Visit visit) {
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) visit(e);
}

// "fp16", or every precision that the layers have.
std::string precisions_text(const Estimates& estimates) {
    std::vector<std::string> seen;
    for_each_estimate(estimates, [&](const Estimate& e) {
        std::string precision(name(e.layer->precision));
        if (std::find(seen.begin(), seen.end(), precision) == seen.end()) seen.push_back(std::move(precision));
    });
    return fmt::format("{}", fmt::join(seen, " and "));
}

// The clock of the layers, if it is one for all.
std::string clock_text(const Estimates& estimates) {
    std::optional<Frequency> clock;
    bool one = true;
    for_each_estimate(estimates, [&](const Estimate& e) {
        if (!e.kernel.clock) return;
        one = one && (!clock || *clock == e.kernel.clock->value);
        clock = e.kernel.clock->value;
    });
    return clock && one ? fmt::format("{:.0f} MHz", clock->value() / 1e6) : "";
}

}  // namespace

std::string operator_text(const Layer& layer) {
    return std::visit(Overloaded{[](const Convolution& c) { return convolution_text(c); },
                                 [](const Gemm&) { return std::string("gemm"); },
                                 [](const Streaming& s) { return std::string(name(s.kind)); },
                                 [](const Attention&) { return std::string("attention"); },
                                 [](const MixtureOfExperts&) { return std::string("moe"); },
                                 [](const AllReduce&) { return std::string("all-reduce"); }},
                      layer.op);
}

std::string shape_text(const Layer& layer) {
    return std::visit(
        Overloaded{
            [](const Convolution& c) { return fmt::format("{}x{}x{} -> {}x{}x{}", c.c, c.h, c.w, c.k, c.p(), c.q()); },
            [](const Gemm& g) {
                return g.batch > 1 ? fmt::format("{} x {}x{}x{}", g.batch, g.m, g.n, g.k)
                                   : fmt::format("{}x{}x{}", g.m, g.n, g.k);
            },
            [](const Streaming& s) { return fmt::format("{:.0f} -> {:.0f}", s.read[0], s.written); },
            [](const Attention& a) {
                return fmt::format("{} x {} heads, {} x {}", a.batch, a.heads, a.q_len, a.kv_len);
            },
            [](const MixtureOfExperts& m) {
                return fmt::format("{} tokens, {} of {} experts", m.tokens, m.topk, m.experts);
            },
            [](const AllReduce& r) { return fmt::format("{:.0f} over {}", r.elements, r.ranks); }},
        layer.op);
}

std::int64_t batch_of(const Estimates& estimates) {
    const auto& network = estimates.layers->network;
    if (!network || network->inputs.empty() || network->inputs.front().dims.empty()) return 0;
    return network->inputs.front().dims.front();
}

const char* sample_noun(const Estimates& estimates) {
    const auto& network = estimates.layers->network;
    if (!network || network->inputs.empty()) return "samples";
    const auto& dims = network->inputs.front().dims;
    return dims.size() == 4 && dims[2] > 1 ? "images" : "samples";  // a line of tokens has no height
}

std::optional<Interval> total_range(const Estimates& estimates) {
    Interval sum{};
    bool all = true;
    for_each_estimate(estimates, [&](const Estimate& e) {
        if (!e.interval) return void(all = false);
        sum.low += e.interval->low * e.layer->repeat;
        sum.high += e.interval->high * e.layer->repeat;
    });
    return all && sum.high > Seconds{} ? std::optional(sum) : std::nullopt;
}

std::string conditions_text(const Estimates& estimates) {
    const Seconds gpu = estimates.gpu_time(), total = estimates.time();
    std::vector<std::string> conditions;
    const std::int64_t batch = batch_of(estimates);
    if (batch > 0) conditions.push_back(fmt::format("batch {}", batch));
    for (const std::string& text : {precisions_text(estimates), clock_text(estimates)})
        if (!text.empty()) conditions.push_back(text);
    std::string out = fmt::format("{}: {}", fmt::join(conditions, ", "), to_text(total, 3));
    if (estimates.host > gpu) out += " (the host's launches)";
    if (const auto range = total_range(estimates); range && estimates.host <= gpu)
        out += fmt::format(" (80 % range {} to {})", to_text(range->low, 2), to_text(range->high, 2));
    // A transformer from its configuration counts tokens, in its own summary.
    if (batch > 0 && total > Seconds{} && !estimates.summary && estimates.options.method != Method::simulation)
        out += fmt::format(
            ", {} {}/s",
            count_text(static_cast<std::uint64_t>(std::llround(static_cast<double>(batch) / total.value()))),
            sample_noun(estimates));
    return out;
}

std::string algorithm_text(const Layer& layer) {
    return layer.hints.algorithm.empty() ? "implicit GEMM" : layer.hints.algorithm;
}

namespace {

// "12 WINOGRAD, 41 implicit GEMM": layers as often as they run; empty where the model chose no algorithm.
std::string found_algorithms(const Estimates& estimates) {
    std::map<std::string, double> runs;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates)
            if (e.found) runs[algorithm_text(*e.found)] += e.layer->repeat;
    // With one algorithm for all there was nothing to choose.
    if (runs.size() < 2) return {};
    std::string text;
    for (const auto& [algorithm, count] : runs)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, algorithm);
    return text;
}

}  // namespace

std::string remarks_text(const Estimates& estimates, const TextStyle& style) {
    std::string text;
    const auto line = [&](const std::string& sentence) {
        for (const std::string& part : wrapped(printable(sentence, !style.unicode), style.width, 2))
            text += part + "\n";
    };
    const auto refused = static_cast<std::size_t>(std::count_if(
        estimates.rows.begin(), estimates.rows.end(), [](const EstimatedRow& row) { return row.estimates.empty(); }));
    if (estimates.options.method == Method::simulation)
        line(
            "Bytes are simulated. Times are lower bounds: the shortest that these bytes and this work allow at the "
            "roofs.");
    if (const std::string found = found_algorithms(estimates); !found.empty())
        line(fmt::format(
            "Convolutions by the algorithm that is predicted fastest: {}.{}", found,
            estimates.layers->network ? " --algorithm implicit predicts all of them as implicit GEMMs." : ""));
    if (refused > 0) line(fmt::format("{} could not be estimated; the CSV has the reasons.", plural(refused, "row")));
    if (!estimates.layers->network) return text;
    for (const Unmodelled& u : estimates.layers->network->unmodelled)
        line(fmt::format("not modelled: {} {} ({}), first {}", plural(static_cast<std::uint64_t>(u.count), "operator"),
                         u.op, u.reason, u.first));
    if (const double share = unmodelled_share(*estimates.layers->network); share > 0)
        line(fmt::format("operators without a model move {} of the network's bytes", percent_text(share)));
    return text;
}

}  // namespace gambrel::report_detail

namespace gambrel {

using namespace report_detail;

std::vector<PageLayer> page_layers(const Estimates& estimates) {
    std::vector<PageLayer> layers;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            PageLayer layer;
            layer.name = e.layer->name;
            layer.detail = fmt::format("{} {}, {} {}", operator_text(*e.layer), shape_text(*e.layer),
                                       name(e.layer->pass), name(e.layer->precision));
            if (e.found) layer.detail += ", by " + algorithm_text(*e.found);
            if (const Tile& t = e.mapping.cta; t.m > 0) layer.detail += fmt::format(", tile {}x{}x{}", t.m, t.n, t.k);
            if (e.layer->repeat > 1) layer.detail += fmt::format(", {} times", e.layer->repeat);
            if (e.kernel.time) layer.time = e.kernel.time->value * e.layer->repeat;
            layer.bottleneck = e.bound;
            layer.row = layers.size();
            layers.push_back(std::move(layer));
        }
    return layers;
}

}  // namespace gambrel
