#include <algorithm>
#include <cmath>

#include <gambrel/delta.hpp>

#include "delta/intervals.hpp"
#include "delta/levels.hpp"

namespace gambrel {
namespace delta_detail {
namespace {

// Groups that run in turn: the first of them; the others are the same.
void one_group(Case& c) {
    Geometry& g = c.geometry;
    for (Operand* o : {&g.a, &g.b}) {
        o->elements /= g.batch;
        o->unique /= g.batch;
    }
    g.output /= g.batch;
    g.bias /= g.batch;
    g.unique_bias /= g.batch;
    c.groups = g.batch;
    g.batch = 1;
    c.grid.batch = 1;
}

void all_groups(const Case& c, Prediction& p) {
    for (OperandTraffic* t : {&p.traffic.shared, &p.traffic.l1, &p.traffic.l2, &p.traffic.dram}) {
        t->a *= c.groups;
        t->b *= c.groups;
        t->c *= c.groups;
    }
    p.traffic.dram_uneven *= c.groups;
    if (c.groups > 1) p.grid.batch = static_cast<std::int64_t>(c.groups);
}

}  // namespace

Case make_case(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const Hardware& hardware) {
    Case c{mapping, occupancy, grid(*kernel_view(layer), mapping), {}, hardware, 1, 1};
    c.geometry = geometry(layer, mapping, c.grid);
    if (mapping.groups_in_turn) one_group(c);
    c.resident = resident_ctas(c.grid, occupancy, hardware);
    return c;
}

}  // namespace delta_detail

using namespace delta_detail;

Prediction predict(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const Hardware& hardware,
                   Model model) {
    Prediction p;
    p.mapping = mapping;
    p.occupancy = occupancy;
    p.flop = flop(layer).value();
    if (mapping.family != KernelFamily::tiled) {
        streaming(layer, hardware, p);
    } else {
        const Case c = make_case(layer, mapping, occupancy, hardware);
        p.grid = c.grid;
        if (model == Model::paper) {
            paper_traffic(c, layer, p.traffic);
            paper_time(c, p);
            p.regime = regime_of(c, layer, p.terms.waves);
        } else {
            p.traffic.shared = shared_traffic(c);
            p.traffic.l1 = l1_traffic(c);
            p.traffic.l2 = l2_traffic(c);
            dram_traffic(c, p.traffic);
            time(c, layer, p);
        }
        all_groups(c, p);
    }
    const Traffic& t = p.traffic;
    p.traffic.l1_hit = t.l1.total() > 0 ? std::max(0.0, 1 - t.l2.total() / t.l1.total()) : 0;
    p.traffic.l2_hit = t.l2.total() > 0 ? std::max(0.0, 1 - t.dram.total() / t.l2.total()) : 0;
    const TimeInterval interval = time_interval(p.regime);
    p.time_low = p.time * interval.low;
    p.time_high = p.time * interval.high;
    return p;
}

Prediction predict(const Layer& layer, const Machine& machine, const Hardware& hardware, Model model, bool search) {
    const Mapping mapping = mapping_for(layer, machine);
    Prediction best = predict(layer, mapping, occupancy(machine, mapping), hardware, model);
    if (!search || mapping.family != KernelFamily::tiled) return best;
    for (const Tile& tile : known_tiles(machine, mapping.pipe)) {
        Mapping other = with_tile(mapping, layer, machine, tile);
        const Occupancy fits = occupancy(machine, other);
        if (fits.ctas_per_sm == 0) continue;
        other.source = Mapping::Source::search;
        const Prediction p = predict(layer, other, fits, hardware, model);
        if (p.time < best.time) best = p;
    }
    return best;
}

}  // namespace gambrel
