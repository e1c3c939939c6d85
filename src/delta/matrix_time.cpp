// Products and convolutions on Tensor Cores as the libraries of Ampere and later run them: persistent CTAs that share
// out the k of the last wave (products only), copies that run beside the multiplications, and a clock that the board's
// power limit decides. docs/model/tensor-cores.md has the equations; Architecture::matrix_gemm has what differs between
// generations.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"
#include "delta/streaming_costs.hpp"

namespace gambrel::delta_detail {
namespace {

bool clustered(const TiledLaunch& c) { return c.mapping.cluster.has_value(); }

// Of the bytes of A and B that CTAs ask for, what L2 sends.
OperandTraffic sent_by_l2(const TiledLaunch& c, OperandTraffic asked) {
    const double shared = std::max(1.0, c.gpu.architecture->matrix_gemm->l2_reuse);
    asked.a *= 1 / (clustered(c) ? c.mapping.cluster->columns : shared);
    asked.b *= 1 / (clustered(c) ? c.mapping.cluster->rows : shared);
    return asked;
}

// Clock over ModelInputs::clock of SMs that are busy for `unheld` at that clock.
class HeldClock {
public:
    HeldClock(const TiledLaunch& c, Seconds unheld) : unheld_(unheld) {
        const ModelInputs& h = c.gpu;
        const Seconds busy = unheld / h.burst, fed = matrix_fed_time(c);
        lasting_ = std::min(1.0, powered_clock(busy, fed, h.matrix_power.lowest_voltage) * h.burst);
        const double surging = powered_clock(busy, fed, 0);  // at its end the voltage is not yet the lowest
        brief_ = std::min(1.0, (surging + h.calibration->power_surge * (1 - surging)) * h.burst);
        window_ = h.calibration->power_window;
    }
    // Power is averaged: a kernel far shorter than the window runs on what the pauses before it left.
    [[nodiscard]] double value() const {
        const double length = unheld_ / brief_ / window_, square = length * length;
        return (brief_ + lasting_ * square) / (1 + square);
    }
    [[nodiscard]] double brief() const { return brief_; }

private:
    Seconds unheld_, window_;
    double brief_, lasting_;
};

// Multiplications and copies overlap, but not at both ends and not where they want the same moment: a sum of cubes,
// which is the longer one where they differ and a quarter more where they are equal.
Seconds overlapped(Seconds a, Seconds b) {
    const Seconds longer = std::max(a, b);
    if (longer <= Seconds{}) return longer;
    const double share = std::min(a, b) / longer;
    return longer * std::cbrt(1 + share * share * share);
}

// What of L2 moves where it sends so much, and so much comes from DRAM.
OperandTraffic passed(const OperandTraffic& sent, const OperandTraffic& dram) {
    return {std::max(sent.a, dram.a), std::max(sent.b, dram.b), sent.c};
}

// Clusters take from L2 once what their CTAs share. Persistent CTAs walk in an order that keeps operands in L2: what
// the time leaves no room for was not read again. The same holds for the partial sums of a split product, which a CTA
// takes up as soon as another has written them.
void share_reads(const TiledLaunch& c, Seconds kernel, Traffic& t) {
    const Bytes again_a = std::max(Bytes{}, t.dram.a - c.geometry.a.unique);
    const Bytes again_b = std::max(Bytes{}, t.dram.b - c.geometry.b.unique);
    const Bytes partial = std::max(Bytes{}, t.dram.c - c.geometry.output * c.geometry.output_element);
    const Bytes excess = t.dram.total() - kernel * c.gpu.dram_bandwidth;
    if (excess <= Bytes{} || again_a + again_b + partial <= Bytes{}) return;
    const double dropped = std::min(1.0, excess / (again_a + again_b + partial));
    t.dram.a -= dropped * again_a;
    t.dram.b -= dropped * again_b;
    t.dram.c -= dropped * partial;
    t.dram_uneven *= 1 - dropped;
}

// Operands, outputs, and what is added to the outputs, each once.
Bytes moved_once(const Geometry& g) {
    return g.a.unique + g.b.unique + g.unique_bias + g.output * g.output_element + g.read_once;
}

// The scale of all scales of four bits is known before, so that one kernel reads each number once and writes it.
Seconds quantization_time(const TiledLaunch& c) {
    const ModelInputs& h = c.gpu;
    const Bytes moved = c.layer.quantized;
    if (moved <= Bytes{}) return {};
    const Seconds start = h.architecture->matrix_gemm->start;
    if (c.geometry.element < Bytes{1}) return start + moved / (h.dram_bandwidth * streaming_costs().reach(h));
    if (c.layer.rows_of_one_scale > 0) return one_scale_time(c);
    return start + moved * h.calibration->quantization_passes / h.dram_bandwidth;
}

// Where a kernel is known well enough to tell what L2 sends, L2 is seen to fall with the clock of busy Tensor Cores.
Seconds l2_time(const TiledLaunch& c) {
    const ModelInputs& h = c.gpu;
    if (!clustered(c)) return (c.layer.l1.a + c.layer.l1.b) / (h.l2_bandwidth * h.architecture->matrix_gemm->l2_reuse);
    const double step = clusters_out_of_step(c) ? h.calibration->l2_out_of_step : 1;
    const OperandTraffic sent = sent_by_l2(c, c.layer.l1);
    return (sent.a + sent.b) / (h.l2_bandwidth * h.matrix_clock * step);
}

// Elements of k whose products Tensor Cores add up before the sum is taken out of them: those of one scale.
constexpr double kSummedInside = 128;

// Hopper adds up narrow products in FP32 outside of its Tensor Cores every few steps, as they keep fewer bits of a sum.
// Kernels with one scale leave the sums to the Tensor Cores.
bool sums_outside(const TiledLaunch& c) {
    return c.geometry.element <= Bytes{1} && !clustered(c) && c.gpu.architecture->matrix_gemm->narrow_reach < 1;
}

}  // namespace

Seconds matrix_fed_time(const TiledLaunch& c) {
    const MatrixPower& power = c.gpu.matrix_power;
    if (power.fed <= FlopRate{}) return {};
    const Geometry& g = c.geometry;
    const OperandTraffic sent = sent_by_l2(c, c.layer.l1);
    const double flop = 2 * g.m * g.n * g.k * static_cast<double>(c.grid.batch);
    double multiplied = flop * flop_in_fp16(*c.gpu.architecture->matrix_gemm, g.element);
    if (sums_outside(c)) multiplied += flop / kSummedInside * power.byte / c.gpu.calibration->byte_energy;
    return Flops{multiplied + power.byte * (sent.a + sent.b).value()} / power.fed;
}

double k_of_part(const TiledLaunch& c) { return c.geometry.k / static_cast<double>(c.grid.split_k); }

bool by_matrix_units(const TiledLaunch& c) {
    const bool one_product = c.mapping.transform == Transform::none && c.layer.groups == 1;
    return one_product && c.mapping.a.asynchronous && c.gpu.architecture->matrix_gemm.has_value();
}

FlopPerCycle matrix_rate(const TiledLaunch& c) {
    const double reach = sums_outside(c) ? c.gpu.architecture->matrix_gemm->narrow_reach : 1;
    return std::max(FlopPerCycle{1}, c.gpu.flop_per_cycle[c.mapping.pipe] * reach);
}

double matrix_waves(const TiledLaunch& c) {
    if (clustered(c)) return std::ceil(clustered_ctas(c) / c.gpu.sms);
    // cuDNN's convolutions are neither persistent nor do they share out k.
    if (!c.layer.gemm) return std::ceil(static_cast<double>(c.grid.ctas()) / c.gpu.sms);
    const double overhead = tile_overhead(*c.gpu.architecture->matrix_gemm, matrix_rate(c));
    return charged_waves(static_cast<double>(c.grid.ctas()) / c.gpu.sms, k_of_part(c), overhead);
}

Seconds beside_matrix_kernel(const TiledLaunch& c) {
    const bool alone = c.layer.gemm || c.geometry.transforms.dram.total() <= Bytes{};
    return alone ? Seconds{} : transform_time(c);
}

Seconds matrix_time_of(const TiledLaunch& c, Traffic& traffic, TimeTerms& t) {
    const ModelInputs& h = c.gpu;
    const MatrixGemm& library = *h.architecture->matrix_gemm;
    const Geometry& g = c.geometry;
    const double k = k_of_part(c), waves = matrix_waves(c);
    const FlopPerCycle rate = matrix_rate(c);
    const Seconds of_one_k = waves * (Flops{2.0 * c.mapping.cta.m * c.mapping.cta.n} / rate / h.clock);
    const Seconds unheld = of_one_k * (k + tile_overhead(library, rate));
    const double held = HeldClock(c, unheld).value();
    t[Term::compute] = of_one_k * k / held;
    t[Term::latency] = unheld / held;
    t[Term::l2] = l2_time(c);
    Bytes once = moved_once(g);
    if (clustered(c)) {
        const Bytes again = read_again(c, t[Term::latency], t[Term::l2]);
        traffic.dram.a = g.a.unique, traffic.dram.b = g.b.unique, traffic.dram_uneven = {};
        (walks_along_m(c) ? traffic.dram.a : traffic.dram.b) += again;
        once += again;
    }
    t[Term::dram] = once / (h.dram_bandwidth * h.gemm_dram);
    const Seconds gaps = c.layer.timing && !kernels_alone(c.layer) ? h.launch * c.mapping.launches : Seconds{};
    // Parts of a split product are written, waited for and added up.
    const Seconds sum = c.grid.split_k > 1 ? h.calibration->sum_of_parts : Seconds{};
    t[Term::launch] = library.start + sum + gaps + quantization_time(c);
    t.waves = static_cast<double>(c.grid.ctas()) / (std::max(1, c.occupancy.ctas_per_sm) * h.sms);
    const double even = static_cast<double>(c.grid.ctas()) / h.sms;
    t.tail = even > 0 ? waves / even : 1;
    traffic.l2 = sent_by_l2(c, traffic.l2);
    t[Term::l2] = std::max(t[Term::l2], traffic.l2.total() / h.l2_bandwidth);
    t[Term::dram] = std::max(t[Term::dram], once / h.dram_bandwidth);
    t[Term::l1] = c.layer.l1.total() / h.l1_width_of_all() / h.clock;
    const Bytes least = passed(traffic.l2, {g.a.unique, g.b.unique, {}}).total();
    const Seconds overlapping = overlapped(std::max({t[Term::latency], t[Term::l1], t[Term::l2]}), t[Term::dram]);
    const Seconds kernel = std::max(overlapping, least / h.l2_bandwidth);
    share_reads(c, kernel, traffic);
    traffic.l2 = passed(traffic.l2, traffic.dram);
    return call_overhead(c) + t[Term::launch] + kernel + beside_matrix_kernel(c);
}

// A sum of cubes is at least the longer term. A kernel with idle SMs or a tile's overhead has a higher clock than its
// multiplications alone, but takes longer than these all the same. The overhead takes cycles that do not depend on the
// rate of the Tensor Cores, so it is bounded apart from them, at a clock that does not fall.
LeastWork matrix_least_work(const TiledLaunch& c, const Traffic& traffic) {
    const ModelInputs& h = c.gpu;
    const MatrixGemm& library = *h.architecture->matrix_gemm;
    const double k = k_of_part(c), even = static_cast<double>(c.grid.ctas()) / h.sms;
    const bool whole_waves = clustered(c) || !c.layer.gemm;
    const Flops of_one_k{(whole_waves ? matrix_waves(c) : charged_waves(even, k, 0)) * 2.0 * c.mapping.cta.m *
                         c.mapping.cta.n};
    LeastWork w;
    w.pipe = c.mapping.pipe;
    w.multiplied = of_one_k * k / HeldClock(c, of_one_k * k / matrix_rate(c) / h.clock).brief();
    w.waited = of_one_k * tile_overhead(library, library.full_rate) / library.full_rate;
    w.l1 = c.layer.l1.total();
    w.l2 = sent_by_l2(c, traffic.l2).total();
    if (!clustered(c)) w.l2 = std::max(w.l2, (c.layer.l1.a + c.layer.l1.b) / library.l2_reuse);
    w.dram = moved_once(c.geometry) * std::max(1.0, 1 / h.gemm_dram);
    w.alone = library.start;
    return w;
}

// In a sum of cubes a term has the share of its cube: were it faster, the time would fall by at most that share (the
// mean of cubes is never below the plain mean), which is what Amdahl's law asks of a share.
PerTerm matrix_exposed(const TimedTraffic& p) {
    const TimeTerms& t = p.terms;
    PerTerm exposed{};
    exposed[Term::launch] = std::min(t[Term::launch], p.time);
    const Seconds kernel = p.time - exposed[Term::launch], caches = std::max(t[Term::l1], t[Term::l2]);
    const Seconds inside = std::max(t[Term::latency], caches);
    const Seconds longer = std::max(inside, t[Term::dram]);
    if (longer <= Seconds{}) return exposed;
    const auto cube = [&](Seconds term) { return std::pow(term / longer, 3); };
    const double share = cube(inside) / (cube(inside) + cube(t[Term::dram]));
    const Term busy = t[Term::compute] > kFilled * t[Term::latency] ? Term::compute : Term::latency;
    exposed[t[Term::latency] >= caches ? busy : longest(t, {Term::l2, Term::l1})] += share * kernel;
    exposed[Term::dram] += (1 - share) * kernel;
    return exposed;
}

}  // namespace gambrel::delta_detail
