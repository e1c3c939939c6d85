// What a table shows of an estimate: from the estimate itself, or by a shorter way that computes nothing else.
#include <gambrel/estimate.hpp>

#include "estimate/parts.hpp"

namespace gambrel {

using namespace estimate_detail;

Errors Estimator::plan(const Layer& given, PlannedLayer& planned) {
    const auto known = machine_for(given);
    if (!known) return known.error();
    // Counting references takes longer than comparing.
    if (planned.on != **known) planned.on = **known;
    const EstimatedMachine& on = *planned.on;
    if (Errors wrong = note_of(given, on, planned.note); !wrong.empty()) return wrong;
    planned.found = layer_by_algorithm(given, on);
    planned.layer = planned.found ? planned.found.get() : &given;
    if (options_.method == Method::paper || searches_tile()) return {};
    planned.mapping = mapping_of(*planned.layer, on);
    planned.fits = occupancy(on.inputs.limits, planned.mapping);
    return not_launchable(*planned.layer, planned.mapping, planned.fits, on.machine);
}

Errors Estimator::figures(const PlannedLayer& planned, Figures& shown) const {
    const EstimatedMachine& on = *planned.on;
    const Layer& layer = *planned.layer;
    const auto show = [&](const Tile& tile, const TimedTraffic& p) {
        const ShownBytes bytes = shown_bytes(p.traffic, layer);
        shown.on = &on;
        shown.tile = tile;
        shown.flop = flop(layer);
        shown.l1 = bytes.l1, shown.l2 = bytes.l2, shown.dram = bytes.dram;
        shown.time = p.time;
        shown.bound = name(p.bound);
        shown.reason = not_modelled(layer);
        if (!planned.note.empty()) shown.reason += (shown.reason.empty() ? "" : "; ") + planned.note;
    };
    if (options_.method != Method::paper && !searches_tile()) {
        show(planned.mapping.cta, timed_traffic(prepare(layer, planned.mapping), planned.fits, on.inputs));
        return {};
    }
    const auto p = predicted(layer, on);
    if (!p) return p.error();
    show(p->mapping.cta, *p);
    return {};
}

Result<Figures> Estimator::figures(const Layer& layer) {
    PlannedLayer planned;
    Figures all;
    if (Errors wrong = plan(layer, planned); !wrong.empty()) return tl::unexpected(std::move(wrong));
    if (Errors wrong = figures(planned, all); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return all;
}

Figures figures(const Estimate& e) {
    Figures f{e.on.get(), e.mapping.cta, flop(*e.layer), {}, {}, {}, {}, e.bound, {}};
    const auto bytes = [&](Level level) { return e.kernel.bytes[level] ? e.kernel.bytes[level]->value : Bytes{}; };
    f.l1 = bytes(Level::l1), f.l2 = bytes(Level::l2), f.dram = bytes(Level::dram);
    if (e.kernel.time) f.time = e.kernel.time->value;
    for (const Symbol reason : e.kernel.reasons) f.reason += (f.reason.empty() ? "" : "; ") + reason.str();
    return f;
}

Figures& Figures::operator+=(const Figures& next) {
    flop += next.flop;
    l1 += next.l1, l2 += next.l2, dram += next.dram;
    time += next.time;
    if (!next.reason.empty() && next.reason != reason) reason += (reason.empty() ? "" : "; ") + next.reason;
    return *this;
}

}  // namespace gambrel
