#include <fmt/format.h>
#include <gambrel/report.hpp>

namespace gambrel {
namespace {

std::string bytes(Bytes b) { return to_text(b, 4); }
std::string seconds(Seconds s) { return to_text(s, 4); }
std::string number(double v) { return fmt::format("{:.6g}", v); }

std::string source_text(Mapping::Source source) {
    switch (source) {
        case Mapping::Source::row:
            return "from the row";
        case Mapping::Source::kernel_name:
            return "from the kernel's name";
        case Mapping::Source::given:
            return "given by hand";
        case Mapping::Source::search:
            return "found by search";
        case Mapping::Source::rule:
            break;
    }
    return "by rule";
}

using Terms = std::vector<ExplainedTerm>;

void shape(const Layer& layer, const Prediction& p, Terms& out) {
    const GemmView view = *kernel_view(layer);
    const Mapping& m = p.mapping;
    out.push_back(
        {"M, N, K", "GEMM view of the layer", "", fmt::format("{}, {}, {} (x{})", view.m, view.n, view.k, view.batch)});
    out.push_back({"tile", source_text(m.source), "",
                   fmt::format("{}x{}x{}, {} threads, {} registers, {} shared, {} stages", m.cta.m, m.cta.n, m.cta.k,
                               m.threads, m.registers, binary_text(m.shared_memory), m.stages)});
    out.push_back({"CTAs", "ceil(M/m) ceil(N/n) batch split_k",
                   fmt::format("{} x {} x {} x {}", p.grid.rows, p.grid.columns, p.grid.batch, p.grid.split_k),
                   std::to_string(p.grid.ctas())});
    out.push_back({"steps", "ceil(K / split_k / k)", "", std::to_string(p.grid.k_steps)});
    out.push_back({"CTAs per SM", "what fits", fmt::format("{} left for L1", binary_text(p.occupancy.l1)),
                   std::to_string(p.occupancy.ctas_per_sm)});
    out.push_back({"waves", "CTAs / (SMs x CTAs per SM)", "", number(p.terms.waves)});
}

void traffic(const PreparedLayer& c, const Prediction& p, Terms& out) {
    const Geometry& g = c.geometry;
    const auto level = [&](const std::string& name, const OperandTraffic& t, double fa, double fb) {
        out.push_back({name + " of A", "elements x size x sector factor",
                       fmt::format("{} x {} x {:.4g}", number(g.a.elements), g.element.value(), fa), bytes(t.a)});
        out.push_back({name + " of B", "elements x size x sector factor",
                       fmt::format("{} x {} x {:.4g}", number(g.b.elements), g.element.value(), fb), bytes(t.b)});
        out.push_back({name + " of C", "outputs written, with partial sums", "", bytes(t.c)});
    };
    level("L1 bytes", p.traffic.l1, g.a.overfetch_request, g.b.overfetch_request);
    const Bytes a = g.a.elements * g.element, b = g.b.elements * g.element;
    level("L2 bytes", p.traffic.l2, a > Bytes{} ? p.traffic.l2.a / c.groups / a : 0,
          b > Bytes{} ? p.traffic.l2.b / c.groups / b : 0);
    out.push_back({"DRAM bytes of A", "bytes touched x reads",
                   fmt::format("{} x {:.4g}", bytes(g.a.unique), p.traffic.reads_of_a), bytes(p.traffic.dram.a)});
    out.push_back({"DRAM bytes of B", "bytes touched x reads",
                   fmt::format("{} x {:.4g}", bytes(g.b.unique), p.traffic.reads_of_b), bytes(p.traffic.dram.b)});
    out.push_back({"DRAM bytes of C", "written once, or streamed partial sums", "", bytes(p.traffic.dram.c)});
    out.push_back({"shared bytes", "stores of tiles + fragments of every warp", "", bytes(p.traffic.shared.total())});
}

void times(const Prediction& p, const ModelInputs& h, Terms& out) {
    const TimeTerms& t = p.terms;
    const auto rate = [&](Bytes bytes_moved, Bandwidth bandwidth) {
        return fmt::format("{} / {}", bytes(bytes_moved), to_text(bandwidth, 4));
    };
    out.push_back({"t compute", "waves x steps x 2 m n k / FLOP per cycle",
                   fmt::format("{} FLOP/cycle of an SM at {}", number(h.flop_per_cycle[p.mapping.pipe].value()),
                               to_text(h.clock)),
                   seconds(t[Term::compute])});
    out.push_back(
        {"t issue", "waves x (steps x instructions + around) x warps / schedulers", "", seconds(t[Term::issue])});
    out.push_back({"t busy", "waves of max(compute, issue, shared, one CTA's own latency), with the tail", "",
                   seconds(t[Term::latency])});
    out.push_back({"t shared", "shared bytes / width", "", seconds(t[Term::shared])});
    out.push_back({"t L1", "L1 bytes / bandwidth", rate(p.traffic.l1.total(), h.l1_width * h.sms * h.clock),
                   seconds(t[Term::l1])});
    out.push_back({"t L2", "L2 bytes / bandwidth", rate(p.traffic.l2.total(), h.l2_bandwidth), seconds(t[Term::l2])});
    out.push_back(
        {"t DRAM", "DRAM bytes / bandwidth", rate(p.traffic.dram.total(), h.dram_bandwidth), seconds(t[Term::dram])});
    out.push_back({"t prologue", "(first tiles / bandwidth + waves x latency) / CTAs per SM", "", seconds(t.prologue)});
    out.push_back({"t epilogue", "(outputs / bandwidth + waves x latency) / CTAs per SM", "", seconds(t.epilogue)});
    out.push_back({"t launch", "launches and call", "", seconds(t[Term::launch])});
    out.push_back({"time", "max(busy, L1, L2, DRAM) + prologue + epilogue + launch",
                   fmt::format("bound by {}, regime {}, 80 % of such rows within {} to {}", name(p.bound),
                               name(p.regime), seconds(p.time_low), seconds(p.time_high)),
                   seconds(p.time)});
}

}  // namespace

std::vector<ExplainedTerm> explanation(const Estimate& estimate) {
    const auto* prediction = std::get_if<Prediction>(&estimate.detail);
    if (!prediction) return {};
    const Prediction& p = *prediction;
    const Layer& layer = *estimate.layer;
    Terms out;
    out.push_back({"FLOP", "2 per multiply-add", "", to_text(p.flop, 4)});
    if (p.mapping.family == KernelFamily::tiled) {
        const PreparedLayer c = prepare(layer, p.mapping);
        shape(layer, p, out);
        traffic(c, p, out);
    } else {
        out.push_back(
            {"bytes", "every operand once", std::string(name(p.mapping.family)), bytes(p.traffic.dram.total())});
    }
    times(p, estimate.on->inputs, out);
    for (const Symbol reason : estimate.kernel.reasons) out.push_back({"note", reason.str(), "", "see docs/model.md"});
    return out;
}

}  // namespace gambrel
