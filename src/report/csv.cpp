#include <iterator>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/numbers.hpp"
#include "report/reasons.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using report_detail::exact;

// RFC 4180: quoted only where it must be, so that grep and cut work on the rest.
std::string quoted(std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
    std::string out = "\"";
    for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

template <class Q>
std::string amount(const Known<Q>& known) {
    return known ? exact(known->value.value()) : std::string{};
}
template <class Q>
std::string amount(const std::optional<Q>& known) {
    return known ? exact(known->value()) : std::string{};
}

std::string utf8(std::string_view text) { return report_detail::encode_utf8(report_detail::decode_utf8(text)); }

}  // namespace

std::string csv(const Analysis& analysis) {
    std::string out =
        "name,phase,launches,time_s,flop_fp64,flop_fp32,flop_fp16,flop_tensor,flop,l1_bytes,l2_bytes,dram_bytes,"
        "ai_l1,ai_l2,ai_dram,flop_per_s,bound,percent_of_roof,reason\n";
    for (const auto& row : analysis.rows) {
        const Kernel& k = row.kernel;
        const auto percent = row.verdict.of_roof ? exact(100 * *row.verdict.of_roof) : std::string{};
        const std::string fields[] = {quoted(utf8(k.name.str())), quoted(utf8(k.phase.str())), std::to_string(k.launches),
                                      amount(k.time), amount(k.work[Pipe::fp64]), amount(k.work[Pipe::fp32]),
                                      amount(k.work[Pipe::fp16]), amount(tensor_flop(k)), amount(flop(k)),
                                      amount(k.bytes[Level::l1]), amount(k.bytes[Level::l2]), amount(k.bytes[Level::dram]),
                                      amount(intensity(k, Level::l1)), amount(intensity(k, Level::l2)),
                                      amount(intensity(k, Level::dram)), amount(flop_rate(k)), to_text(row.verdict.bound),
                                      percent, quoted(utf8(report_detail::reason_text(row)))};
        out += fmt::format("{}\n", fmt::join(std::begin(fields), std::end(fields), ","));
    }
    return out;
}

}  // namespace gambrel
