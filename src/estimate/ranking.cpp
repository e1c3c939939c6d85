#include <algorithm>

#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

struct Waits {
    Seconds time;
    PerTerm exposed{};
    PerPipe<Seconds> computing{};
    const EstimatedMachine* on = nullptr;
};

std::optional<Waits> waits_of(const Estimates& estimates) {
    Waits out;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            const auto* p = std::get_if<Prediction>(&e.detail);
            if (!p) return std::nullopt;
            out.time += p->time * e.layer->repeat;
            for (std::size_t i = 0; i < kTerms; ++i) out.exposed[i] += p->exposed[i] * e.layer->repeat;
            out.computing[p->mapping.pipe] += p->exposed[Term::compute] * e.layer->repeat;
            out.on = e.on.get();
        }
    if (!out.on || out.time <= Seconds{}) return std::nullopt;
    out.time = std::max(out.time, estimates.host);
    return out;
}

// What the time of a term is shorter with more of; 0 where that is not one number.
double resource_of(Term term, Pipe pipe, const ModelInputs& in) {
    switch (term) {
        case Term::dram:
            return in.dram_bandwidth.value();
        case Term::l2:
            return in.l2_bandwidth.value();
        case Term::compute:
            return in.flop_per_cycle[pipe].value() * in.sms * in.clock.value();
        case Term::link:
            return in.link.value();
        default:
            return 0;
    }
}

GpuRanking::Slower compared(std::size_t index, const Waits& slow, const Waits& fast) {
    GpuRanking::Slower out;
    out.index = index;
    out.ratio = slow.time / fast.time;
    for (std::size_t i = 0; i < kTerms; ++i)
        if (const Seconds longer = slow.exposed[i] - fast.exposed[i]; longer > out.longer)
            out.longer = longer, out.because = static_cast<Term>(i);
    out.longer =
        std::min(out.longer, std::max(Seconds{}, slow.time - fast.time));  // the rest waits for the host anyway
    for (const Pipe pipe : all_pipes())
        if (slow.computing[pipe] > slow.computing[out.pipe]) out.pipe = pipe;
    out.resource = resource_of(out.because, out.pipe, slow.on->inputs);
    out.best = resource_of(out.because, out.pipe, fast.on->inputs);
    return out;
}

}  // namespace

std::optional<GpuRanking> gpu_ranking(std::span<const Estimates> each) {
    std::vector<Waits> waits(each.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < each.size(); ++i) {
        if (!each[i].refused.empty()) continue;
        const auto one = waits_of(each[i]);
        if (!one) return std::nullopt;
        waits[i] = *one;
        order.push_back(i);
    }
    if (order.size() < 2) return std::nullopt;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (each[a].fits != each[b].fits) return each[a].fits;
        return waits[a].time < waits[b].time;
    });
    GpuRanking out;
    out.fastest = order.front();
    out.time = waits[out.fastest].time;
    for (std::size_t i = 1; i < order.size(); ++i)
        out.slower.push_back(compared(order[i], waits[order[i]], waits[out.fastest]));
    return out;
}

}  // namespace gambrel
