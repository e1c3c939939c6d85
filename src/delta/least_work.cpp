// What of a launch's time no design can avoid. Where the time is a maximum or has a further term, a bound may leave
// that out; nothing here may be more than time_formula.hpp and matrix_time.cpp charge.
#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

LeastWork least_work(const LaunchCounts& n, const ModelInputs& h) {
    const double in_turn = n.full_waves * n.per_sm + n.gathered, waves = n.full_waves + (n.gathered > 0 ? 1 : 0);
    const double of_data = h.dram_bandwidth / data_bandwidth(h);
    LeastWork w;
    w.pipe = n.pipe;
    w.multiplied = n.multiplied / n.reach;
    if (!n.tensor) {
        w.multiplied = (n.multiplied + n.scalar_loads) * (n.tap_offsets * n.sliced) + n.engine_loads + n.transformed;
        w.issued = n.issued * n.issue_slots + n.engine_slots;
    }
    w.multiplied *= in_turn;
    w.issued *= in_turn;
    w.shared = in_turn * n.shared;
    w.waited = waves * (n.tensor     ? n.barriers
                        : n.unfilled ? *n.unfilled
                                     : n.in_turn) -
               (n.fills_beside ? waves : waves_behind_first(n)) * n.filled_later;
    w.l1 = n.l1;
    w.l2 = n.l2;
    w.dram = n.dram * of_data;
    if (!n.asynchronous) {
        w.dram_alone = (n.read / n.k_steps + (n.stores_apart ? Bytes{} : n.stored)) / n.per_sm;
        w.waited_alone = n.rounds * (2 * h.dram_latency + h.l2_latency) / n.per_sm;
    }
    w.dram_alone += n.beside_dram / n.beside_reach * of_data;
    w.waited_alone += n.beside_rows * h.dram_latency + n.beside_rows_in_l2 * h.l2_latency + n.beside_cycles;
    if (n.groups > 1) {
        w.multiplied *= n.groups;
        w.issued *= n.groups;
        for (Bytes* bytes : {&w.shared, &w.l1, &w.l2, &w.dram, &w.dram_alone}) *bytes *= n.groups;
        for (Cycles* cycles : {&w.waited, &w.waited_alone}) *cycles *= n.groups;
    } else if (!n.queued) {
        w.alone = n.alone ? n.cold_start : h.launch * n.launches;
    }
    w.alone += n.call;
    return w;
}

}  // namespace gambrel::delta_detail
