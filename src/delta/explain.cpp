// The terms of a prediction, line by line, from the functions that compute them.
#include <cmath>

#include <fmt/format.h>

#include "delta/levels.hpp"

namespace gambrel {
namespace {

using namespace delta_detail;
using Line = ExplainedLine;
using Combine = Line::Combine;
using Operands = std::vector<Line::Operand>;

class Lines {
public:
    void given(std::string name, std::string meaning, Line::Value value) {
        lines.push_back({std::move(name), std::move(meaning), Combine::given, {}, value});
    }
    void product(std::string name, std::string meaning, Operands operands, Line::Value value) {
        lines.push_back({std::move(name), std::move(meaning), Combine::product, std::move(operands), value});
    }
    Seconds sum(std::string name, std::string meaning, const Operands& operands) {
        Seconds total;
        for (const Line::Operand& o : operands) total += std::get<Seconds>(o.value);
        lines.push_back({std::move(name), std::move(meaning), Combine::sum, operands, total});
        return total;
    }
    Seconds maximum(std::string name, std::string meaning, const Operands& operands) {
        Seconds most;
        for (const Line::Operand& o : operands) most = std::max(most, std::get<Seconds>(o.value));
        lines.push_back({std::move(name), std::move(meaning), Combine::maximum, operands, most});
        return most;
    }
    std::vector<Line> lines;
};

double count(std::int64_t n) { return static_cast<double>(n); }

void grid_lines(const TiledLaunch& c, const Prediction& p, Lines& out) {
    out.product("CTAs", "rows x columns x batch x parts of k",
                {{"rows", count(p.grid.rows)},
                 {"columns", count(p.grid.columns)},
                 {"batch", count(p.grid.batch)},
                 {"parts", count(p.grid.split_k)}},
                count(p.grid.ctas()));
    out.given("steps", "k-steps of a CTA, ceil(K / parts / k)", count(p.grid.k_steps));
    out.given("CTAs per SM", "CTAs that fit on an SM", count(p.occupancy.ctas_per_sm));
    out.product("waves", "CTAs / (CTAs per SM x SMs), of one group",
                {{"CTAs", count(c.grid.ctas())},
                 {"CTAs per SM", count(std::max(1, p.occupancy.ctas_per_sm)), true},
                 {"SMs", c.gpu.sms, true}},
                p.terms.waves);
}

// Bytes of an operand at a level as what is asked for times what is moved for each byte of it.
void operand_line(const char* level, const char* operand, const OperandAccess& o, const Geometry& g, double groups,
                  Bytes bytes, Lines& out) {
    const Bytes asked = o.elements * g.element * groups;
    const std::string name = fmt::format("{} bytes of {}", level, operand);
    if (asked <= Bytes{}) return out.given(name, "nothing is requested; the operand counts once", bytes);
    out.product(name, "elements x size x bytes moved for each",
                {{"elements", o.elements * groups}, {"size", g.element}, {"moved for each", bytes / asked}}, bytes);
}

void traffic_lines(const TiledLaunch& c, const Prediction& p, Lines& out) {
    const Geometry& g = c.geometry;
    const double groups = c.layer.groups;
    const auto level = [&](const char* name, const OperandTraffic& t) {
        operand_line(name, "A", g.a, g, groups, t.a, out);
        operand_line(name, "B", g.b, g, groups, t.b, out);
        out.given(fmt::format("{} bytes of C", name), "outputs written, with partial sums", t.c);
    };
    level("L1", p.traffic.l1);
    level("L2", p.traffic.l2);
    const auto dram = [&](const char* name, Bytes unique, Bytes bytes) {
        if (unique <= Bytes{}) return out.given(name, "nothing is read", bytes);
        out.product(name, "size of the operand x reads", {{"size", unique}, {"reads", bytes / unique}}, bytes);
    };
    dram("DRAM bytes of A", g.a.unique * groups, p.traffic.dram.a);
    dram("DRAM bytes of B", g.b.unique * groups, p.traffic.dram.b);
    out.given("DRAM bytes of C", "written once, with sectors that are read first, or streamed partial sums",
              p.traffic.dram.c);
    out.given("shared bytes", "stores of tiles and fragments of every warp", p.traffic.shared.total());
}

void rate_lines(const TiledLaunch& c, const Prediction& p, Lines& out) {
    const ModelInputs& h = c.gpu;
    const auto rate = [&](const char* name, Bytes bytes, Bandwidth bandwidth, Seconds result) {
        const double share = result > Seconds{} ? bytes / bandwidth / result : 1;
        if (std::abs(share - 1) < 1e-9)
            return out.product(name, "bytes / bandwidth", {{"bytes", bytes}, {"bandwidth", bandwidth, true}}, result);
        out.product(name, "bytes / (bandwidth x share that such reads reach)",
                    {{"bytes", bytes}, {"bandwidth", bandwidth, true}, {"share", share, true}}, result);
    };
    // Those of the main kernel, and without what an uneven last wave reads again while DRAM is idle.
    const TransformTraffic& more = c.geometry.transforms;
    const double groups = c.layer.groups;
    const Bytes filters = filters_otherwise(c);
    rate("t L1", p.traffic.l1.total() - groups * (more.l1.total() + filters), h.l1_width_of_all() * h.clock,
         p.terms[Term::l1]);
    rate("t L2", p.traffic.l2.total() - groups * (more.l2.total() + filters), h.l2_bandwidth, p.terms[Term::l2]);
    const Bytes even = p.traffic.dram.total() - p.traffic.dram_uneven.total();
    rate("t DRAM", even - groups * (more.dram.total() + filters), h.dram_bandwidth, p.terms[Term::dram]);
}

void time_lines(const TiledLaunch& c, const Prediction& p, Lines& out) {
    const TimeTerms& t = p.terms;
    const ModelInputs& h = c.gpu;
    const CtaWork work = work_of(c);
    const Waves w = waves_of(c);
    const double in_turn = (w.full * w.per_sm + w.gathered) * c.layer.groups;
    const auto pace = [&](const char* name, Cycles cycles, Seconds result) {
        // A power-limited board that falls to its lower clock takes longer than its clock says.
        const double slowed = cycles > Cycles{} ? result / (in_turn * cycles / h.clock) : 1;
        out.product(name, "CTAs of the busiest SM x cycles of each / clock x slow-down",
                    {{"CTAs", in_turn}, {"cycles", cycles}, {"clock", h.clock, true}, {"slow-down", slowed}}, result);
    };
    // What the slow-down of a product on CUDA cores comes from.
    if (const Flops fed = c.layer.groups * launch_counts(c, p.traffic).fed; fed > Flops{} && h.fed > FlopRate{})
        out.given(
            "fed",
            fmt::format(
                "time in which the board can power {:.4g} GFLOP, bytes from L2 and DRAM included, at {:.4g} TFLOP/s",
                fed.value() / 1e9, h.fed.value() / 1e12),
            fed / h.fed);
    pace("t compute", work.compute, t[Term::compute]);
    pace("t issue", work.issue, t[Term::issue]);
    pace("t shared", work.shared, t[Term::shared]);
    out.given("busy", "waves of the longest of compute, issue, shared and one CTA's own latency", t[Term::latency]);
    rate_lines(c, p, out);
    const Seconds memory =
        out.maximum("memory", "the slowest level", {{"L1", t[Term::l1]}, {"L2", t[Term::l2]}, {"DRAM", t[Term::dram]}});
    const Seconds around = out.sum("around", "first tiles and outputs that no other CTA hides",
                                   {{"prologue", t.prologue}, {"epilogue", t.epilogue}});
    Seconds kernel;
    if (queues_copies(c)) {
        const Seconds latency = c.layer.groups * (h.dram_latency + h.l2_latency) / h.clock;
        const Seconds busy =
            out.sum("busy and around", "one after the other", {{"busy", t[Term::latency]}, {"around", around}});
        const Seconds queued =
            out.sum("memory and latency", "other copies hide the rest", {{"memory", memory}, {"latency", latency}});
        kernel = out.maximum("kernel", "the longer", {{"busy and around", busy}, {"memory and latency", queued}});
    } else {
        Seconds longer = out.maximum("longer", "of busy and memory", {{"busy", t[Term::latency]}, {"memory", memory}});
        if (hides_in_part(c) && longer > Seconds{}) {
            const double share = std::min(t[Term::latency], memory) / longer;
            const double overlap = std::cbrt(1 + share * share * share);
            out.product("longer in part", "longer x overlap, the cube root of 1 + (shorter / longer)^3",
                        {{"longer", longer}, {"overlap", overlap}}, longer * overlap);
            longer = overlap * longer;
        }
        kernel = out.sum("kernel", "what overlaps + around", {{"overlapping", longer}, {"around", around}});
    }
    if (const Seconds beside = c.layer.groups * transform_time(c); beside > Seconds{})
        kernel =
            out.sum("all kernels", "with those that run before and after it", {{"kernel", kernel}, {"others", beside}});
    const Seconds call = call_overhead(c);
    if (queues_tiles(c)) {
        const double groups = std::max(1.0, c.layer.groups);
        const Seconds apart = groups * (kLaunchesOfFilters * c.gpu.launch);
        kernel = out.maximum("tiles", "the host launches the next kernels while those of a tile run",
                             {{"kernel", kernel}, {"launches", t[Term::launch] - call - apart}});
        out.sum("time", "launches of the filters' kernels + tiles + call",
                {{"filters", apart}, {"tiles", kernel}, {"call", call}});
    } else if (c.layer.groups > 1) {
        kernel = out.maximum("kernels", "each group takes at least a launch",
                             {{"kernel", kernel}, {"launches", t[Term::launch] - call}});
        out.sum("time", "kernels + call", {{"kernels", kernel}, {"call", call}});
    } else {
        out.sum("time", "kernel + launches + call",
                {{"kernel", kernel}, {"launches", t[Term::launch] - call}, {"call", call}});
    }
}

void matrix_lines(const TiledLaunch& c, const Prediction& p, Lines& out) {
    const TimeTerms& t = p.terms;
    const ModelInputs& h = c.gpu;
    const FlopPerCycle rate = matrix_rate(c);
    const double k = k_of_part(c), overhead = tile_overhead(*h.architecture->matrix_gemm, rate);
    const Cycles of_one_k = Flops{2.0 * c.mapping.cta.m * c.mapping.cta.n} / rate;
    const double waves = matrix_waves(c), held = waves * of_one_k * k / h.clock / t[Term::compute];
    out.given("waves charged",
              c.layer.gemm ? "part of the idle share of the last wave is filled by work that is split along k"
                           : "whole waves: convolutions share out no k",
              waves);
    if (const Seconds fed = matrix_fed_time(c); fed > Seconds{})
        out.given("fed", "time in which the board can power the multiplications and the bytes that L2 sends", fed);
    out.given("held clock", "what the board's power leaves of the clock in a kernel of this length", h.clock * held);
    out.product("busy", "waves x cycles of one k x (k + overhead of a tile) / held clock",
                {{"waves", waves},
                 {"cycles", of_one_k},
                 {"k and overhead", k + overhead},
                 {"held clock", h.clock * held, true}},
                t[Term::latency]);
    out.product("t L2", "bytes that L2 sends, shared by clusters / bandwidth",
                {{"bytes", t[Term::l2] * h.l2_bandwidth}, {"bandwidth", h.l2_bandwidth, true}}, t[Term::l2]);
    const double reached = std::min(1.0, h.gemm_dram);
    out.product("t DRAM", "every operand once / (bandwidth x share that operands reach)",
                {{"bytes", t[Term::dram] * (h.dram_bandwidth * reached)},
                 {"bandwidth", h.dram_bandwidth, true},
                 {"share", reached, true}},
                t[Term::dram]);
    out.product("t L1", "bytes that pass from L2 to the SMs / width of their paths",
                {{"bytes", c.layer.l1.total()}, {"width", h.l1_width_of_all() * h.clock, true}}, t[Term::l1]);
    const Seconds inside =
        out.maximum("inside", "of the SMs", {{"busy", t[Term::latency]}, {"L1", t[Term::l1]}, {"L2", t[Term::l2]}});
    const Seconds longer = out.maximum("longer", "of inside and DRAM", {{"inside", inside}, {"DRAM", t[Term::dram]}});
    const Seconds beside = beside_matrix_kernel(c), kernel = p.time - t[Term::launch] - beside;
    out.product("kernel", "longer x overlap, the cube root of 1 + (shorter / longer)^3",
                {{"longer", longer}, {"overlap", longer > Seconds{} ? kernel / longer : 1}}, kernel);
    Operands parts = {{"kernel", kernel}, {"start and call", t[Term::launch]}};
    if (beside > Seconds{}) parts.push_back({"changes of layout", beside});
    out.sum("time", "kernel + start, gaps between kernels, quantization and call", parts);
}

// Layers that are not one implicit GEMM: what each term would take alone, and what the time waits for.
void untiled_lines(const Prediction& p, Lines& out) {
    out.given("L2 bytes", "requested from L2 by all CTAs", p.traffic.l2.total());
    out.given("DRAM bytes", "not found in L2", p.traffic.dram.total());
    if (p.terms.waves > 0) out.given("waves", "CTAs over those that fit at once", p.terms.waves);
    Operands parts;
    for (std::size_t i = 0; i < kTerms; ++i) {
        const Term term = static_cast<Term>(i);
        if (p.terms[term] > Seconds{})
            out.given(fmt::format("t {}", name(term)), "time of this term alone", p.terms[term]);
        if (p.exposed[term] > Seconds{}) parts.push_back({name(term), p.exposed[term]});
    }
    out.sum("time", "what it waits for, one after the other", parts);
}

}  // namespace

std::vector<ExplainedLine> explain(const Layer& layer, const Prediction& p, const ModelInputs& inputs) {
    Lines out;
    out.given("FLOP", "2 for each multiply-add", p.flop);
    const PreparedLayer prepared = prepare(layer, p.mapping);
    if (p.mapping.family != KernelFamily::tiled) {
        untiled_lines(p, out);
        return out.lines;
    }
    const TiledLaunch c(prepared, p.occupancy, inputs);
    grid_lines(c, p, out);
    if (p.model == Model::gambrel) {
        traffic_lines(c, p, out);
        if (by_matrix_units(c))
            matrix_lines(c, p, out);
        else
            time_lines(c, p, out);
        return out.lines;
    }
    for (const auto& [name, t] :
         {std::pair{"L1 bytes", p.traffic.l1}, {"L2 bytes", p.traffic.l2}, {"DRAM bytes", p.traffic.dram}})
        out.given(name, "the paper's equations (docs/model.md)", t.total());
    for (const Term term : {Term::compute, Term::shared, Term::l1, Term::l2, Term::dram, Term::latency})
        out.given(fmt::format("t {}", name(term)), "the paper's equations (docs/model.md)", p.terms[term]);
    out.given("time", "the longest, with prologue and epilogue of all turns", p.time);
    return out.lines;
}

}  // namespace gambrel
