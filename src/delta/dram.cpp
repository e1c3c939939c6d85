#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// Elements of k by which each further CTA of an SM falls behind before the wave moves together again: a leader waits for
// DRAM, its followers find its lines in L2 and close up. Fitted on V100's counters (docs/model.md).
constexpr double kDrift = 167;

// How many times the operand that the launch order walks along is read. `line` CTAs of a panel (a column) read different
// parts of it, `panels` panels all of it.
double reads_of_walked(const Case& c, double line, double panels, double drift) {
    const double sms = c.hardware.sms, ctas = line * panels;
    const double flight = std::max(1.0, c.resident * sms);
    if (ctas <= 0) return 1;
    const auto groups = [&](double together) {  // CTAs that move together share what they read
        const double whole = std::floor(ctas / together), rest = ctas - whole * together;
        return whole * std::min(1.0, together / line) + std::min(1.0, rest / line);
    };
    double together = groups(flight);
    // A last wave that fills SMs unevenly runs at two speeds.
    const double rest = std::fmod(ctas, flight), uneven = std::fmod(rest, sms);
    if (rest > sms && uneven > 0) {
        const double fewer = std::floor(rest / sms) * (sms - uneven);
        together += std::min(1.0, fewer / line);
    }
    const double apart = std::min(groups(sms), panels);
    together = std::min(together, apart);
    const double steps = static_cast<double>(c.grid.k_steps) * c.mapping.cta.k;
    const double drifting = std::min(1.0, drift * (c.resident - 1) / std::max(1.0, steps));
    return std::max(1.0, together + (apart - together) * drifting);
}

// The operand of the panel: once, unless a panel is too long to stay while its CTAs pass.
double reads_of_panel(const Case& c, double panel_bytes, double panels, double line) {
    const double flight = c.resident * c.hardware.sms;
    const double in_flight = std::clamp(flight / line, 1.0, panels);
    if (panel_bytes * in_flight <= 0.5 * c.hardware.l2_capacity) return 1;
    // CTAs of a wave read the panel together; each wave reads it anew.
    return std::max(1.0, std::ceil(line / std::max(1.0, flight / in_flight)));
}

}  // namespace

void dram_traffic(const Case& c, Traffic& traffic) {
    const Geometry& g = c.geometry;
    const Grid& grid = c.grid;
    const double rows = static_cast<double>(grid.rows), columns = static_cast<double>(grid.columns);
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    const double all = g.a.unique + g.b.unique;
    double reads_a = 1, reads_b = 1;
    if (all + output_bytes(c) > c.hardware.l2_capacity) {
        const auto split = static_cast<double>(grid.split_k);
        const double line = (rows_first ? rows : columns), panels = (rows_first ? columns : rows);
        const double walked = reads_of_walked(c, line, panels, kDrift);
        const double a_panel = g.a.unique / g.batch / rows / split, b_panel = g.b.unique / g.batch / columns / split;
        const double stays = reads_of_panel(c, rows_first ? b_panel : a_panel, panels, line);
        reads_a = rows_first ? walked : stays;
        reads_b = rows_first ? stays : walked;
    }
    traffic.reads_of_a = reads_a;
    traffic.reads_of_b = reads_b;
    OperandTraffic& t = traffic.dram;
    t.a = std::min(g.a.unique * reads_a, std::max(traffic.l2.a, g.a.unique));
    t.b = std::min(g.b.unique * reads_b, std::max(traffic.l2.b, g.b.unique));
    // Sums of a split that fit stay in L2 until the last one; a workspace is streamed.
    const double once = g.output * g.element;
    t.c = grid.split_k > 1 && c.mapping.split_k_in_workspace && output_bytes(c) > c.hardware.l2_capacity ? output_bytes(c)
                                                                                                         : once;
}

}  // namespace gambrel::delta_detail
