#include <algorithm>

#include <gambrel/report.hpp>

#include "report/fields.hpp"
#include "report/numbers.hpp"
#include "report/reasons.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

template <class Q>
std::string exact_or_empty(const Known<Q>& known) {
    return known ? exact(known->value.value()) : std::string{};
}
template <class Q>
std::string exact_or_empty(const std::optional<Q>& known) {
    return known ? exact(known->value()) : std::string{};
}

// Of several levels the origin that is least near to the hardware.
std::string origin_of_bytes(const Kernel& k) {
    std::optional<Origin> worst;
    for (const Level l : all_levels())
        if (k.bytes[l]) worst = std::max(worst.value_or(k.bytes[l]->origin), k.bytes[l]->origin);
    return worst ? std::string(name(*worst)) : std::string{};
}

}  // namespace

std::string csv(const Analysis& analysis) {
    std::string out =
        "name,phase,launches,time_s,flop_fp64,flop_fp32,flop_fp16,flop_tensor,flop,l1_bytes,l2_bytes,dram_bytes,"
        "ai_l1,ai_l2,ai_dram,flop_per_s,bound,percent_of_roof,reason,headroom_s,step_speedup,operator,module,rank,"
        "origin_time,origin_bytes,nearest_roof,roof_basis,why\n";
    const Seconds whole = known_time(analysis);
    const auto speedup = [&](const AnalysisRow& row) {
        const auto factor = step_speedup(row, whole);
        return factor ? exact(*factor) : std::string{};
    };
    const auto reason = [&](const AnalysisRow& row) {
        const std::string text = reason_text(row, true);
        return !analysis.partial ? text : "partial result" + (text.empty() ? "" : "; " + text);
    };
    for (const auto& row : analysis.rows) {
        const Kernel& k = row.kernel;
        out += csv_line({k.name.str(),
                         k.phase.str(),
                         std::to_string(k.launches),
                         exact_or_empty(k.time),
                         exact_or_empty(k.work[Pipe::fp64]),
                         exact_or_empty(k.work[Pipe::fp32]),
                         exact_or_empty(k.work[Pipe::fp16]),
                         exact_or_empty(tensor_flop(k)),
                         exact_or_empty(flop(k)),
                         exact_or_empty(k.bytes[Level::l1]),
                         exact_or_empty(k.bytes[Level::l2]),
                         exact_or_empty(k.bytes[Level::dram]),
                         exact_or_empty(intensity(k, Level::l1)),
                         exact_or_empty(intensity(k, Level::l2)),
                         exact_or_empty(intensity(k, Level::dram)),
                         exact_or_empty(flop_rate(k)),
                         to_text(row.verdict.bound),
                         row.verdict.of_roof ? exact(100 * *row.verdict.of_roof) : "",
                         reason(row),
                         exact_or_empty(row.verdict.headroom),
                         speedup(row),
                         k.op.str(),
                         k.module.str(),
                         k.rank.str(),
                         k.time ? std::string(name(k.time->origin)) : "",
                         origin_of_bytes(k),
                         to_text(row.verdict.nearest),
                         basis_name(row.verdict),
                         row.verdict.why});
    }
    return out;
}

}  // namespace gambrel
