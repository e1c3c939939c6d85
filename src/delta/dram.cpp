#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// Elements of k by which each further CTA of an SM falls behind before the wave moves together again: a leader waits
// for DRAM, its followers find its lines in L2 and close up. Fitted on V100's counters (docs/model.md).
constexpr double kDrift = 167;
// Of a split reduction: the share that is read again in any case, and by how many capacities of L2 too much it takes
// until all is.
constexpr double kSplitMiss = 0.05, kSplitFull = 1.1;

// The grid as the launch order sees it: `line` CTAs of a panel read different parts of the walked operand, each of
// `panels` panels reads all of it.
struct Order {
    double line, panels;
};

struct Shared {
    double together;  // reads of the walked operand if the CTAs of a wave keep step
    double apart;     // if only those keep step that came to their SMs at the same time
    double uneven;    // share of a panel whose CTAs run faster, as their SMs have fewer
    [[nodiscard]] Shared evened() const { return {together, apart, 0}; }
};

Shared waves_of(const Case& c, const Order& o) {
    const double sms = c.hardware.sms, ctas = o.line * o.panels, flight = c.resident * sms;
    const auto groups = [&](double size) {
        const double whole = std::floor(ctas / size), rest = ctas - whole * size;
        return whole * std::min(1.0, size / o.line) + std::min(1.0, rest / o.line);
    };
    Shared s{groups(flight), std::min(groups(sms), o.panels), 0};
    // A last wave that fills SMs unevenly runs at two speeds.
    const double rest = std::fmod(ctas, flight), more = std::fmod(rest, sms);
    if (rest > sms && more > 0) s.uneven = std::min(1.0, std::floor(rest / sms) * (sms - more) / o.line);
    return s;
}

double reads_of_walked(const Case& c, const Shared& s) {
    const double steps = static_cast<double>(c.grid.k_steps) * c.mapping.cta.k;
    const double drifting = std::min(1.0, kDrift * (c.resident - 1) / std::max(1.0, steps));
    const double together = std::min(s.together + s.uneven, s.apart);
    return std::max(1.0, together + (s.apart - together) * drifting);
}

// The operand of the panel: once, unless a panel is too long to stay while its CTAs pass, or they run at two speeds.
double reads_of_panel(const Case& c, const Order& o, const Shared& s, double panel_bytes) {
    const double flight = c.resident * c.hardware.sms, in_flight = std::clamp(flight / o.line, 1.0, o.panels);
    const double faster = s.uneven > 0 ? std::min(1.0, in_flight / o.panels) : 0;
    if (panel_bytes * in_flight <= 0.5 * c.hardware.l2_capacity) return 1;
    return faster + std::max(1.0, std::ceil(o.line / std::max(1.0, flight / in_flight)));
}

struct Reads {
    double a = 1, b = 1;
};
Reads reads_of(const Case& c, const Order& o, const Shared& s) {
    const Geometry& g = c.geometry;
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    const double panel = (rows_first ? g.b.unique : g.a.unique) / g.batch / o.panels;
    const double walked = reads_of_walked(c, s), stays = reads_of_panel(c, o, s, panel);
    return rows_first ? Reads{walked, stays} : Reads{stays, walked};
}

// CTAs of one part of a split reduction read the same k. They start one after the other, and by the time the last has
// come to a place the others have brought in the rest of the part: what is more than L2 holds beside the sums is read
// again.
double split_miss(const Case& c) {
    const Geometry& g = c.geometry;
    const double part = (g.a.unique + g.b.unique) / static_cast<double>(c.grid.split_k);
    const double live = (part + g.output * g.output_element) / c.hardware.l2_capacity;
    // A CTA alone on its SM keeps step with the others.
    const double drifts = std::min(1.0, c.resident - 1);
    return kSplitMiss + drifts * std::clamp((live - 1) / kSplitFull, 0.0, 1 - kSplitMiss);
}

// A filter gradient meets an input row again with the next row of taps, when its CTAs have gone so many pixels further.
double taps_apart(const Case& c) {
    const double between = c.geometry.tap_distance * c.resident * c.hardware.sms * c.mapping.cta.n;
    return 1 + (c.geometry.taps_h - 1) * std::clamp(between / c.hardware.l2_capacity - 0.5, 0.0, 1.0);
}

}  // namespace

void dram_traffic(const Case& c, Traffic& traffic) {
    const Geometry& g = c.geometry;
    const Grid& grid = c.grid;
    const double rows = static_cast<double>(grid.rows), columns = static_cast<double>(grid.columns);
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    Reads reads, even;
    if (g.a.unique + g.b.unique + g.output * g.element > c.hardware.l2_capacity) {
        if (grid.split_k > 1) {
            const double miss = split_miss(c);
            reads = even = {1 + (columns - 1) * miss, 1 + (rows - 1) * miss};
        } else {
            const Order order{rows_first ? rows : columns, rows_first ? columns : rows};
            const Shared shared = waves_of(c, order);
            reads = reads_of(c, order, shared);
            even = reads_of(c, order, shared.evened());
        }
    }
    if (g.tap_distance > 0) {
        const double again = taps_apart(c);
        reads.b *= again;
        even.b *= again;
    }
    traffic.reads_of_a = reads.a;
    traffic.reads_of_b = reads.b;
    const auto bytes_a = [&](double times) { return std::min(g.a.unique * times, std::max(traffic.l2.a, g.a.unique)); };
    const double l2_b = traffic.l2.b - g.bias;
    const auto bytes_b = [&](double times) { return std::min(g.b.unique * times, std::max(l2_b, g.b.unique)); };
    OperandTraffic& t = traffic.dram;
    t.a = bytes_a(reads.a);
    t.b = bytes_b(reads.b) + g.unique_bias;
    traffic.dram_uneven = std::max(0.0, t.a - bytes_a(even.a)) + std::max(0.0, bytes_b(reads.b) - bytes_b(even.b));
    // Sums of a split that fit stay in L2 until the last one; a workspace that does not is streamed.
    const double once = g.output * g.element, all = output_bytes(c);
    t.c = c.mapping.split_k_in_workspace && all > c.hardware.l2_capacity ? all : once;
}

}  // namespace gambrel::delta_detail
