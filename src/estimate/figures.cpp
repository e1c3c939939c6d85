// What a table shows of an estimate: from the estimate itself, or by a shorter way that computes nothing else.
#include <gambrel/estimate.hpp>

#include "estimate/parts.hpp"

namespace gambrel {

using namespace estimate_detail;

Result<Figures> Estimator::figures_on(const EstimatedMachine& on, const Layer& layer) const {
    const auto shown = [&](const Tile& tile, const TimedTraffic& p) {
        const ShownBytes bytes = shown_bytes(p.traffic, layer);
        return Figures{&on,        tile,   flop(layer),   bytes.l1,           bytes.l2,
                       bytes.dram, p.time, name(p.bound), not_modelled(layer)};
    };
    if (options_.method == Method::paper || searches_tile()) {
        const auto p = predicted(layer, on);
        if (!p) return tl::unexpected(p.error());
        return shown(p->mapping.cta, *p);
    }
    const Mapping m = mapping_of(layer, on);
    const Occupancy fits = occupancy(on.inputs.limits, m);
    if (Errors wrong = not_launchable(layer, m, fits, on.machine); !wrong.empty())
        return tl::unexpected(std::move(wrong));
    return shown(m.cta, timed_traffic(prepare(layer, m), fits, on.inputs));
}

Result<Figures> Estimator::figures(const Layer& given) {
    const auto known = machine_for(given);
    if (!known) return tl::unexpected(known.error());
    const EstimatedMachine& on = ***known;
    const auto note = note_of(given, on);
    if (!note) return tl::unexpected(note.error());
    const auto found = layer_by_algorithm(given, on);
    auto shown = figures_on(on, found ? *found : given);
    if (shown && !note->empty()) shown->reason += (shown->reason.empty() ? "" : "; ") + *note;
    return shown;
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
