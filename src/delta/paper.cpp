// The forms of arXiv 1904.01691 as reconstructed in shared/reference/delta.md, equations (1) to (20); numbers in
// comments are those of that text. Kept as they are, to stand beside ours.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

struct PaperLayer {
    double hi, wi, wf, hf, stride, pad, ho, wo, batch, ci;
};

PaperLayer paper_layer(const Layer& layer, const Geometry& g) {
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        const auto d = [](std::int64_t x) { return static_cast<double>(x); };
        return {d(v->h),        d(v->w),   d(v->s),   d(v->r), d(v->stride_w),
                d(v->pad_left), d(v->p()), d(v->q()), d(v->n), d(v->c)};
    }
    return {1, g.m, 1, 1, 1, 0, 1, g.m, 1, g.k};
}

}  // namespace

void paper_traffic(const Case& c, const Layer& layer, Traffic& traffic) {
    const Geometry& g = c.geometry;
    const PaperLayer l = paper_layer(layer, g);
    const double m = c.mapping.cta.m, n = c.mapping.cta.n, k = c.mapping.cta.k;
    const double loops = static_cast<double>(c.grid.ctas() * c.grid.k_steps);
    const double padded = l.wi + 2 * l.pad;
    const double rho = padded * l.stride / std::max(1.0, padded - l.wf + 1);  // (1)
    const double filter = (k + 7) / k;                                        // (2)
    const double out = g.output * g.element;
    traffic.l1 = {g.element * loops * k * m * rho, g.element * loops * k * n * filter, out};  // (3)
    const double vertical = m * rho;                                                          // (4)
    const double horizontal = (k - 1) * l.wi / l.wf;                                          // (5), its exact mean
    const double tall = vertical * std::ceil(k / (l.hf * l.wf));                              // (6)
    const double wide = horizontal * (1 + m / (l.ho * l.wo));                                 // (7)
    const double input = l.hf * l.wf > 1 ? std::min(tall + wide, m * k * rho) : m * k * rho;  // (8)
    traffic.l2 = {g.element * loops * input, g.element * loops * n * k, out};                 // (9)
    const double columns = static_cast<double>(c.grid.columns);
    traffic.reads_of_a = columns;
    traffic.dram = {g.element * l.batch * l.hi * l.wi * l.ci * columns, g.b.unique, out};  // (10) to (12)
    if (layer.pass != Pass::fwd || std::holds_alternative<Gemm>(layer.op)) traffic.dram.a = g.a.unique * columns;
    traffic.shared = shared_traffic(c);
}

void paper_time(const Case& c, Prediction& p) {
    const Hardware& h = c.hardware;
    const Mapping& m = c.mapping;
    const Geometry& g = c.geometry;
    const double ctas = static_cast<double>(c.grid.ctas()), loops = static_cast<double>(c.grid.k_steps);
    const double hz = h.clock, mac = h.flop_per_cycle[m.pipe] / 2 * hz * 0.9;  // (20)
    const double v1 = (p.traffic.l1.a + p.traffic.l1.b) / (ctas * loops);
    const double v2 = (p.traffic.l2.a + p.traffic.l2.b) / (ctas * loops);
    const double v3 = (p.traffic.dram.a + p.traffic.dram.b) / (ctas * loops);
    const double l1 = h.l1_width * hz, l2 = h.l2_bandwidth / h.sms, dram = h.dram_bandwidth / h.sms;
    const double global =
        std::max({h.l1_latency / hz + v1 / l1, h.l2_latency / hz + v2 / l2, h.dram_latency / hz + v3 / dram});
    const double shared = p.traffic.shared.total() / (ctas * loops) / (h.shared_width * hz);       // (14)
    const double compute = static_cast<double>(m.cta.m) * m.cta.n * m.cta.k / std::max(1.0, mac);  // (15)
    const double q = std::ceil(ctas / h.sms), a = std::max(1.0, std::min<double>(c.occupancy.ctas_per_sm, q));
    const double out = g.element * m.cta.m * m.cta.n;
    const double prologue = global + g.element * (m.cta.m + m.cta.n) * m.cta.k / (h.shared_width * hz);  // (16)
    const double epilogue = out / dram / a + 2 * h.dram_latency / hz;                                    // (17)
    TimeTerms& t = p.terms;
    t[Term::compute] = q * loops * compute;  // (18)
    t[Term::shared] = q * loops * shared;
    t[Term::l1] = q * loops * v1 / l1;
    t[Term::l2] = q * (loops * v2 + out) / l2;
    t[Term::dram] = q * (loops * v3 + out) / dram;
    t[Term::latency] = q * (prologue + loops * std::max(global, compute) + epilogue) / a;
    t.prologue = prologue;
    t.epilogue = epilogue;
    t.waves = ctas / (std::max(1, c.occupancy.ctas_per_sm) * h.sms);
    const auto most = std::max_element(t.seconds.begin(), t.seconds.end());
    p.bound = static_cast<Term>(most - t.seconds.begin());
    p.time = *most + q * (prologue + epilogue) / a + prologue + epilogue;  // (19)
}

}  // namespace gambrel::delta_detail
