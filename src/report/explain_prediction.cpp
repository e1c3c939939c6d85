// The lines of an explained prediction as text. The equations and numbers are those of `delta`.
#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/estimate_words.hpp"

namespace gambrel {
namespace {

std::string_view source_text(Mapping::Source source) {
    switch (source) {
        case Mapping::Source::row:
            return "from the row";
        case Mapping::Source::kernel_name:
            return "from the kernel's name";
        case Mapping::Source::algorithm:
            return "of the algorithm's kernels";
        case Mapping::Source::given:
            return "given by hand";
        case Mapping::Source::search:
            return "found by search";
        case Mapping::Source::rule:
            break;
    }
    return "by rule";
}

std::string value_text(const ExplainedLine::Value& value) {
    return std::visit(
        [](auto v) -> std::string {
            if constexpr (std::is_same_v<decltype(v), double>)
                return fmt::format("{:.6g}", v);
            else
                return to_text(v, 5);
        },
        value);
}

std::string operands_text(const ExplainedLine& line) {
    std::string text;
    for (const ExplainedLine::Operand& o : line.operands) {
        const char* between = line.combine == ExplainedLine::Combine::sum       ? " + "
                              : line.combine == ExplainedLine::Combine::maximum ? ", "
                              : o.divides                                       ? " / "
                                                                                : " x ";
        text += (text.empty() ? "" : between) + value_text(o.value);
    }
    return line.combine == ExplainedLine::Combine::maximum ? fmt::format("max({})", text) : text;
}

}  // namespace

std::vector<ExplainedTerm> explanation(const Estimate& estimate) {
    const auto* p = std::get_if<Prediction>(&estimate.detail);
    if (!p) return {};
    std::vector<ExplainedTerm> out;
    if (estimate.found && p->model == Model::gambrel)
        out.push_back({"algorithm", "predicted fastest of those that cuDNN has for the layer", "",
                       report_detail::algorithm_text(*estimate.found)});
    if (p->mapping.family == KernelFamily::tiled) {
        const GemmView view = *kernel_view(*estimate.layer);
        const Mapping& m = p->mapping;
        out.push_back({"M, N, K", "GEMM view of the layer", "",
                       fmt::format("{}, {}, {} (x{})", view.m, view.n, view.k, view.batch)});
        out.push_back({"tile", std::string(source_text(m.source)), "",
                       fmt::format("{}x{}x{}, {} threads, {} registers, {} shared, {} stages", m.cta.m, m.cta.n,
                                   m.cta.k, m.threads, m.registers, binary_text(m.shared_memory), m.stages)});
    }
    for (const ExplainedLine& line : explain(*estimate.layer, *p, estimate.on->inputs))
        out.push_back({line.name, line.meaning, operands_text(line), value_text(line.result)});
    out.push_back({"bound", std::string(name(p->regime)), "",
                   fmt::format("{}; 80 % of such rows within {} to {}", name(p->bound),
                               to_text(estimate.interval->low, 4), to_text(estimate.interval->high, 4))});
    for (const Assumption& a : assumptions(estimate.on->machine))
        out.push_back({"assumed", a.quantity, a.why, a.value});
    for (const Symbol reason : estimate.kernel.reasons) out.push_back({"note", reason.str(), "", "see docs/model.md"});
    return out;
}

std::string explained_text(const std::string& title, const std::vector<ExplainedTerm>& terms, const TextStyle& style) {
    using namespace chart_detail;
    std::string text = truncated(printable(title, !style.unicode), style.width, !style.unicode) + "\n";
    for (const ExplainedTerm& t : terms) {
        const std::string line =
            fmt::format("{} = {}{}{} = {}", t.name, t.equation, t.values.empty() ? "" : " = ", t.values, t.result);
        for (const std::string& part : wrapped(printable(line, !style.unicode), style.width, 4)) text += part + "\n";
    }
    return text;
}

}  // namespace gambrel
