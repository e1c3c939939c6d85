// The equations of arXiv 1904.01691 as far as they could be reconstructed; docs/model.md numbers them. Kept as they
// are, to compare the model of this project with.
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

void paper_traffic(const TiledLaunch& c, const Layer& layer, Traffic& traffic) {
    const Geometry& g = c.geometry;
    const PaperLayer l = paper_layer(layer, g);
    const double m = c.mapping.cta.m, n = c.mapping.cta.n, k = c.mapping.cta.k;
    const double loops = static_cast<double>(c.grid.ctas() * c.grid.k_steps);
    const double padded = l.wi + 2 * l.pad;
    const double rho = padded * l.stride / std::max(1.0, padded - l.wf + 1);  // (1)
    const double filter = (k + 7) / k;                                        // (2)
    const Bytes out = g.output * g.element;
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
    traffic.shared = c.layer.shared;
}

void paper_time(const TiledLaunch& c, Prediction& p) {
    const ModelInputs& h = c.gpu;
    const Mapping& m = c.mapping;
    const Geometry& g = c.geometry;
    const double ctas = static_cast<double>(c.grid.ctas()), loops = static_cast<double>(c.grid.k_steps);
    const Frequency hz = h.clock;
    const double mac = (h.flop_per_cycle[m.pipe] / 2 * hz * 0.9).value();  // (20)
    const Bytes v1 = (p.traffic.l1.a + p.traffic.l1.b) / (ctas * loops);
    const Bytes v2 = (p.traffic.l2.a + p.traffic.l2.b) / (ctas * loops);
    const Bytes v3 = (p.traffic.dram.a + p.traffic.dram.b) / (ctas * loops);
    const Bandwidth l1 = h.l1_width * hz, l2 = h.l2_bandwidth / h.sms, dram = h.dram_bandwidth / h.sms;
    const Seconds global =
        std::max({h.l1_latency / hz + v1 / l1, h.l2_latency / hz + v2 / l2, h.dram_latency / hz + v3 / dram});
    const Seconds shared = p.traffic.shared.total() / (ctas * loops) / (h.shared_width * hz);      // (14)
    const Seconds compute{static_cast<double>(m.cta.m) * m.cta.n * m.cta.k / std::max(1.0, mac)};  // (15)
    const double q = std::ceil(ctas / h.sms), a = std::max(1.0, std::min<double>(c.occupancy.ctas_per_sm, q));
    const Bytes out = g.element * m.cta.m * m.cta.n;
    const Seconds prologue = global + g.element * (m.cta.m + m.cta.n) * m.cta.k / (h.shared_width * hz);  // (16)
    const Seconds epilogue = out / dram / a + 2 * h.dram_latency / hz;                                    // (17)
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
    p.bound = longest(t, {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2, Term::dram});
    p.time = t[p.bound] + q * (prologue + epilogue) / a + prologue + epilogue;  // (19)
    p.exposed[p.bound] = p.time;  // the paper does not say what hides what
}

}  // namespace gambrel::delta_detail
