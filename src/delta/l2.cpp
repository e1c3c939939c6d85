#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// k-steps of all resident CTAs that L1 holds, which is how long a line lives.
double steps_held(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const Mapping& m = c.mapping;
    const Bytes step = g.element * m.cta.k * (m.cta.m * g.a.overfetch_step + m.cta.n * g.b.overfetch_step);
    return c.occupancy.l1 / std::max(Bytes{1}, c.resident * step);
}

// Between what one step merges and what all steps merge: taps of one channel must meet within what L1 holds.
double own_reuse(const OperandAccess& o, const WarpLoad& load, double held, double steps_to_meet) {
    if (!load.through_l1) return o.overfetch_step;
    const double share = std::clamp(held / std::max(1.0, steps_to_meet), 0.0, 1.0);
    return o.overfetch_step + (o.overfetch_cta - o.overfetch_step) * share;
}

// CTAs of one SM that read the same panel are at unrelated places of it: the share of its lines that another one has
// just brought in is the chance that one of the others is less than `held` steps ahead.
double neighbours_hit(const TiledLaunch& c, double held, double same_panel) {
    const double others = c.resident - 1;
    if (others <= 0 || same_panel <= 0) return 0;
    const double near = std::min(1.0, held / static_cast<double>(c.grid.k_steps));
    return 1 - std::pow(1 - near * same_panel, others);
}

// The walked operand, where CTAs of one SM come to the same place of it: those `sms` apart, if a line of CTAs is so
// short that it fits into the SMs a whole number of times, else by chance. They do not keep step, so the panel is found
// again only if L1 still holds all of it beside what each CTA streams, when the next one begins.
double walked_hit(const TiledLaunch& c, double line, double walked_side, double panel_side) {
    if (c.resident <= 1 || line > c.gpu.sms) return 0;
    const double same = remainder_of(c.gpu.sms, line) == 0 ? 1 : 1 / line;
    const Bytes step = c.geometry.element * c.mapping.cta.k * (walked_side + c.resident * panel_side);
    const double held = c.occupancy.l1 / std::max(Bytes{1}, step);
    const double whole = std::clamp(2 * held / static_cast<double>(c.grid.k_steps) - 1, 0.0, 1.0);
    // The CTAs that start together each bring in their own.
    const double later = std::max(0.0, 1 - c.resident * c.gpu.sms / static_cast<double>(c.grid.ctas()));
    return same * whole * later;
}

}  // namespace

OperandTraffic l2_traffic(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const Mapping& m = c.mapping;
    const double held = steps_held(c);
    // k-steps that the taps of one channel span.
    const double taps = g.a.overfetch_cta < g.a.overfetch_step ? g.taps / m.cta.k + 1 : 2;
    OperandTraffic t;
    t.a = g.a.elements * g.element * own_reuse(g.a, m.a, held, taps);
    t.b = g.b.elements * g.element * own_reuse(g.b, m.b, held, 2);
    // CTAs are dealt to SMs one by one: those of one SM are `sms` apart, in the same column if the column is longer.
    const bool rows_first = m.order == CtaOrder::rows_first;
    const double panel = static_cast<double>(rows_first ? c.grid.rows : c.grid.columns);
    const double same = std::max(0.0, 1 - c.gpu.sms / panel);
    if (rows_first && m.b.through_l1) t.b *= 1 - neighbours_hit(c, held, same);
    if (!rows_first && m.a.through_l1) t.a *= 1 - neighbours_hit(c, held, same);
    if (!rows_first && m.b.through_l1) t.b *= 1 - walked_hit(c, panel, m.cta.n, m.cta.m);
    t.a = std::max(t.a, g.a.unique);
    // When a CTA loads its bias, L1 has long lost what the one before it loaded.
    t.b = std::max(t.b, g.b.unique) + g.bias;
    t.c = c.layer.l1.c;
    return t;
}

}  // namespace gambrel::delta_detail
