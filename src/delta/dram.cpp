#include <algorithm>
#include <cmath>
#include <numeric>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// The grid as the launch order sees it: `line` CTAs of a panel read different parts of the walked operand, each of
// `panels` panels reads all of it.
struct LaunchOrder {
    double line, panels;
};

struct RereadCounts {
    double together;  // reads of the walked operand if the CTAs of a wave keep step
    double apart;     // if only those keep step that came to their SMs at the same time
    double uneven;    // share of a panel whose CTAs run faster, as their SMs have fewer
    [[nodiscard]] RereadCounts evened() const { return {together, apart, 0}; }
};

RereadCounts reread_counts(const TiledLaunch& c, const LaunchOrder& o) {
    const double sms = c.gpu.sms, ctas = o.line * o.panels, flight = c.resident * sms;
    const auto groups = [&](double size) {
        const double whole = std::floor(ctas / size), rest = ctas - whole * size;
        return whole * std::min(1.0, size / o.line) + std::min(1.0, rest / o.line);
    };
    RereadCounts s{groups(flight), std::min(groups(sms), o.panels), 0};
    // A last wave that fills SMs unevenly runs at two speeds.
    const double rest = remainder_of(ctas, flight), more = remainder_of(rest, sms);
    if (rest > sms && more > 0) s.uneven = std::min(1.0, std::floor(rest / sms) * (sms - more) / o.line);
    return s;
}

double reads_of_walked(const TiledLaunch& c, const RereadCounts& s) {
    const double steps = static_cast<double>(c.grid.k_steps) * c.mapping.cta.k;
    const bool apart = !c.gpu.architecture->ctas_keep_step && !is_tensor(c.mapping.pipe);
    const double drifting =
        apart ? 1 : std::min(1.0, c.gpu.calibration->drift * (c.resident - 1) / std::max(1.0, steps));
    const double together = std::min(s.together + s.uneven, s.apart);
    return std::max(1.0, together + (s.apart - together) * drifting);
}

// The operand of the panel: once, unless a panel is too long to stay while its CTAs pass, or they run at two speeds.
double reads_of_panel(const TiledLaunch& c, const LaunchOrder& o, const RereadCounts& s, Bytes panel_bytes) {
    const double flight = c.resident * c.gpu.sms, in_flight = std::clamp(flight / o.line, 1.0, o.panels);
    const double faster = s.uneven > 0 ? std::min(1.0, in_flight / o.panels) : 0;
    if (panel_bytes * in_flight <= c.gpu.calibration->panel_share * c.gpu.usable_l2()) return 1;
    return faster + std::max(1.0, std::ceil(o.line / std::max(1.0, flight / in_flight)));
}

struct Reads {
    double a = 1, b = 1;
};
Reads reads_of(const TiledLaunch& c, const LaunchOrder& o, const RereadCounts& s) {
    const Geometry& g = c.geometry;
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    const double parts = static_cast<double>(c.grid.split_k);
    const Bytes panel = (rows_first ? g.b.unique : g.a.unique) / g.batch / parts / o.panels;
    const double walked = reads_of_walked(c, s), stays = reads_of_panel(c, o, s, panel);
    return rows_first ? Reads{walked, stays} : Reads{stays, walked};
}

// What passes between one reading of the walked operand and the next: itself, the panels in flight and their outputs.
Bytes between_readings(const TiledLaunch& c, const LaunchOrder& o) {
    const Geometry& g = c.geometry;
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    const double parts = static_cast<double>(c.grid.split_k);
    const Bytes walked = (rows_first ? g.a.unique : g.b.unique) / g.batch / parts;
    const Bytes panels = (rows_first ? g.b.unique : g.a.unique) / g.batch / parts;
    const double in_flight = std::clamp(c.resident * c.gpu.sms / o.line, 1.0, o.panels);
    return walked + panels * (in_flight / o.panels) + g.output * g.stored / g.batch / o.panels;
}

// The share of what is read again that L2 has lost by then. What is read once by an SM takes one place; what SMs of
// both halves read takes two. So the capacity lies between a half and the whole of an L2 that has halves, and the share
// rises over that range. One L2 keeps what its panels may take, and has lost all where they fill it.
double lost_of(const TiledLaunch& c, Bytes between) {
    const bool halves = c.gpu.l2_copies >= 2;
    const Bytes least = halves ? c.gpu.usable_l2() : c.gpu.calibration->panel_share * c.gpu.usable_l2();
    const Bytes most = halves ? c.gpu.l2_capacity : c.gpu.usable_l2();
    return std::clamp((between - least) / (most - least), 0.0, 1.0);
}
double lost_share(const TiledLaunch& c, const LaunchOrder& o) {
    const Geometry& g = c.geometry;
    const bool halves = c.gpu.l2_copies >= 2;
    if (!halves && g.a.unique + g.b.unique + g.output * g.stored <= c.gpu.usable_l2()) return 0;
    return lost_of(c, between_readings(c, o));
}
Reads lessened(Reads r, double lost) { return {1 + (r.a - 1) * lost, 1 + (r.b - 1) * lost}; }

// CTAs of one part of a split reduction read the same k. They start one after the other, and by the time the last has
// come to a place the others have brought in the rest of the part: what is more than L2 holds beside the sums is read
// again.
double split_miss(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const Bytes part = (g.a.unique + g.b.unique) / static_cast<double>(c.grid.split_k);
    const double live = (part + g.output * g.output_element) / c.gpu.usable_l2();
    // A CTA alone on its SM keeps step with the others.
    const double drifts = std::min(1.0, c.resident - 1);
    const double least = c.gpu.calibration->split_least_miss;
    return least + drifts * std::clamp((live - 1) / c.gpu.calibration->split_full_excess, 0.0, 1 - least);
}

// A filter gradient meets an input row again with the next row of taps, after its CTAs have gone on by that many
// pixels.
double taps_apart(const TiledLaunch& c) {
    const Bytes between = c.geometry.tap_distance * c.resident * c.gpu.sms * c.mapping.cta.n;
    const double excess = between / c.gpu.usable_l2() - c.gpu.calibration->tap_row_share;
    return 1 + (c.geometry.taps_h - 1) * std::clamp(excess, 0.0, 1.0);
}

bool along_k(const TiledLaunch& c, const WarpLoad& load) {
    return c.layer.gemm && !is_tensor(c.mapping.pipe) && load.k_major;
}

// Of a row that lies along k, what a CTA takes at a time. Where its warps share out k, each group of them has a step of
// its own, one behind the other.
Bytes piece_of(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    return m.cta.k * slices * c.geometry.element;
}

bool by_sectors(const TiledLaunch& c, const WarpLoad& load) {
    return along_k(c, load) && piece_of(c) <= Bytes{kSector};
}

// Both operands come sector by sector, and no L1 keeps the rest of their lines.
bool shares_sectors(const TiledLaunch& c) {
    return c.gpu.architecture->single_sector_drift > 0 && by_sectors(c, c.mapping.a) && by_sectors(c, c.mapping.b);
}

// CTAs that read the same rows find each other's sectors in L2 while they are at nearly the same place of k. They drift
// apart step by step, and have lost each other once they are further apart than the steps that L2 holds of all CTAs in
// flight. Next to a CTA in the order of launches runs another one of its panel. The next one that reads the same part
// of the walked operand comes a panel later, and the drift has gone on for as many waves.
Reads sector_reads(const TiledLaunch& c, const LaunchOrder& o, const RereadCounts& s) {
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    const Tile& tile = c.mapping.cta;
    const double ctas = o.line * o.panels, flight = c.resident * c.gpu.sms;
    const double in_flight = std::min(flight, ctas * static_cast<double>(c.grid.split_k));
    const double held = c.gpu.usable_l2() / (in_flight * (tile.m + tile.n) * Bytes{kSector});
    const double halfway = c.gpu.architecture->single_sector_drift * held * held;
    const auto lost = [&](double steps) { return steps / (steps + halfway); };
    const auto steps = static_cast<double>(c.grid.k_steps);
    const Bytes walked = (rows_first ? c.geometry.a.unique : c.geometry.b.unique) / c.geometry.batch;
    const double part = 1.0 / static_cast<double>(c.grid.split_k);
    const bool stays = walked * part <= c.gpu.calibration->panel_share * c.gpu.usable_l2();
    const double together = std::max(1.0, std::min(s.together, o.panels)), waves = std::max(1.0, ctas / flight);
    const double of_walked = stays ? 1 : together + (o.panels - together) * lost(steps * waves);
    const double of_panel = 1 + (o.line - 1) * lost(steps);
    return rows_first ? Reads{of_walked, of_panel} : Reads{of_panel, of_walked};
}

// Where a layer skips rows, DRAM sends the rest of what it fetches at least, at both ends of each run of rows; over
// what was asked for.
double fetched_beside(const TiledLaunch& c, const OperandAccess& o) {
    const double fetch = c.gpu.architecture->l2_fetch.value(), run = o.run.value();
    if (fetch <= kSector || run <= 0) return 0;
    const auto pitch = static_cast<std::int64_t>(o.run_pitch.value());
    const auto grain = static_cast<double>(std::gcd(static_cast<std::int64_t>(fetch), pitch));
    const double whole = std::ceil(run / grain) * grain + fetch - grain;
    return std::min(whole, o.run_pitch.value()) / run - 1;
}

}  // namespace

double reach_of_pieces(const ModelInputs& gpu, Bytes piece, double opened) {
    return piece / (piece + opened * gpu.architecture->dram_row_change);
}

// A k-step takes a short piece of each row of an operand that lies along k, and for each DRAM opens another row of its
// own; those of several rows of the operand lie in one where these are shorter than it. Rows are opened in some banks
// while others send what was asked for before: the two times add up as squares do. Alone, the operand arrives at the
// reach of its pieces.
Bytes bytes_of_openings(const TiledLaunch& c, const OperandAccess& o, Bytes read) {
    if (o.pitch <= Bytes{}) return {};
    const double reach = reach_of_pieces(c.gpu, piece_of(c), std::min(1.0, o.pitch / c.gpu.architecture->dram_row));
    const Bytes slow = c.gpu.architecture->single_sector_drift > 0 ? read : std::min(read, o.unique);
    return slow * std::sqrt(1 / (reach * reach) - 1);
}

void dram_traffic(const TiledLaunch& c, Traffic& traffic) {
    const Geometry& g = c.geometry;
    const Grid& grid = c.grid;
    const double rows = static_cast<double>(grid.rows), columns = static_cast<double>(grid.columns);
    const bool rows_first = c.mapping.order == CtaOrder::rows_first;
    Reads reads, even;
    const LaunchOrder order{rows_first ? rows : columns, rows_first ? columns : rows};
    // Parts of a BLAS kernel's split run one after the other, each a GEMM of its own; those of a filter gradient beside
    // each other.
    const bool in_turn = grid.split_k == 1 || c.mapping.split_grain > 0;
    if (in_turn) {
        if (const double lost = lost_share(c, order); lost > 0) {
            const RereadCounts counts = reread_counts(c, order);
            reads = lessened(reads_of(c, order, counts), lost);
            even = counts.uneven > 0 ? lessened(reads_of(c, order, counts.evened()), lost) : reads;
            if (shares_sectors(c)) reads = even = sector_reads(c, order, counts);
        }
    } else if (g.a.unique + g.b.unique + g.output * g.stored > c.gpu.usable_l2()) {
        const double miss = split_miss(c);
        reads = even = {1 + (columns - 1) * miss, 1 + (rows - 1) * miss};
    }
    if (g.tap_distance > Bytes{}) {
        const double again = taps_apart(c);
        reads.b *= again;
        even.b *= again;
    }
    // A direct kernel comes to the next filter when it has gone through the image. L2 loses of it as of a panel.
    if (g.image > c.gpu.usable_l2()) {
        const double lost = lost_of(c, g.image);
        reads.a = even.a = 1 + (columns - 1) * lost;
    }
    // Other kernels run between the products of one turn and the next. A profiler empties the caches before each.
    if (g.transforms.turns > 1 && (c.layer.cold || g.b.unique > c.gpu.usable_l2()))
        reads.b = even.b = std::max(reads.b, g.transforms.turns);
    traffic.reads_of_a = reads.a;
    traffic.reads_of_b = reads.b;
    const auto bytes_a = [&](double times) { return std::min(g.a.unique * times, std::max(traffic.l2.a, g.a.unique)); };
    const Bytes l2_b = traffic.l2.b - g.bias;
    const auto bytes_b = [&](double times) { return std::min(g.b.unique * times, std::max(l2_b, g.b.unique)); };
    OperandTraffic& t = traffic.dram;
    t.a = bytes_a(reads.a);
    traffic.beside = t.a * fetched_beside(c, g.a);
    t.b = bytes_b(reads.b) + g.unique_bias;
    traffic.dram_uneven.a = std::max(Bytes{}, t.a - bytes_a(even.a));
    t.a += traffic.beside;
    traffic.dram_uneven.b = std::max(Bytes{}, bytes_b(reads.b) - bytes_b(even.b));
    // Sums of a split that fit stay in L2 until the last one; a workspace that does not is streamed.
    const Bytes once = g.output * g.stored, all = c.layer.l1.c;
    const bool parts = grid.split_k > 1;
    if (parts && c.mapping.sums == SplitSums::partial)
        t.c = all;
    else
        t.c = parts && c.mapping.sums == SplitSums::workspace && all > c.gpu.usable_l2() ? all : once;
    if (c.gpu.fills_partial_writes) (c.gpu.check_bits > 0 ? traffic.filled : traffic.completed) = g.stored_in_part;
    t.c += g.read_once + traffic.filled;
}

}  // namespace gambrel::delta_detail
