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
    auto note = note_of(given, on);
    if (!note) return note.error();
    planned.note = std::move(*note);
    planned.found = layer_by_algorithm(given, on);
    planned.layer = planned.found ? planned.found.get() : &given;
    if (options_.method == Method::paper || searches_tile()) return {};
    planned.mapping = mapping_of(*planned.layer, on);
    planned.fits = occupancy(on.inputs.limits, planned.mapping);
    return not_launchable(*planned.layer, planned.mapping, planned.fits, on.machine);
}

Result<Figures> Estimator::figures(const PlannedLayer& planned) const {
    const EstimatedMachine& on = *planned.on;
    const Layer& layer = *planned.layer;
    const auto shown = [&](const Tile& tile, const TimedTraffic& p) {
        const ShownBytes bytes = shown_bytes(p.traffic, layer);
        Result<Figures> f(Figures{&on, tile, flop(layer), bytes.l1, bytes.l2, bytes.dram, p.time, name(p.bound),
                                  not_modelled(layer)});
        if (!planned.note.empty()) f->reason += (f->reason.empty() ? "" : "; ") + planned.note;
        return f;
    };
    if (options_.method != Method::paper && !searches_tile())
        return shown(planned.mapping.cta, timed_traffic(prepare(layer, planned.mapping), planned.fits, on.inputs));
    const auto p = predicted(layer, on);
    if (!p) return tl::unexpected(p.error());
    return shown(p->mapping.cta, *p);
}

Result<Figures> Estimator::figures(const Layer& layer) {
    PlannedLayer planned;
    if (Errors wrong = plan(layer, planned); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return figures(planned);
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
