#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

template <class Q>
std::string ceiling_text(const std::optional<Ceiling<Q>>& ceiling) {
    return ceiling ? to_text(ceiling->value, 3) : std::string{};
}
template <class Q>
std::string ceiling_exact(const std::optional<Ceiling<Q>>& ceiling) {
    return ceiling ? exact(ceiling->value.value()) : std::string{};
}

std::string capacity_text(const Machine& m, Level level) {
    const MemoryLevel* found = m.find(level);
    return found && found->capacity ? binary_text(found->capacity->value) : std::string{};
}
std::string capacity_exact(const Machine& m, Level level) {
    const MemoryLevel* found = m.find(level);
    return found && found->capacity ? exact(found->capacity->value.value()) : std::string{};
}

}  // namespace

std::string machine_list(std::span<const Machine> machines, const TextStyle& style) {
    Table table({{"id", false, 100, 16},
                 {"name", false, 20, 18},
                 {"architecture", false, 40},
                 {"CC", true, 60},
                 {"SMs", true, 50},
                 {"boost", true, 45},
                 {"FP64", true, 55},
                 {"FP32", true, 90},
                 {"Tensor FP16", true, 80},
                 {"L2", true, 30},
                 {"DRAM", true, 95}});
    const bool ascii = !style.unicode;
    for (const Machine& m : machines)
        table.add({{printable(m.id, ascii), printable(m.name, ascii), printable(m.architecture, ascii),
                    m.compute_capability ? to_text(*m.compute_capability) : "", m.sm.sms ? exact(m.sm.sms->value) : "",
                    m.clocks.boost ? fmt::format("{:.0f} MHz", m.clocks.boost->value.value() / 1e6) : "",
                    ceiling_text(compute_ceiling(m, Pipe::fp64)), ceiling_text(compute_ceiling(m, Pipe::fp32)),
                    ceiling_text(compute_ceiling(m, Pipe::tensor_fp16)), capacity_text(m, Level::l2),
                    ceiling_text(memory_ceiling(m, Level::dram))},
                   "",
                   {}});
    TextStyle fitting = style;
    fitting.width = std::clamp(style.width, 40, 250);
    return terminal_text(table, fitting);
}

std::string machine_list_csv(std::span<const Machine> machines) {
    std::string out =
        "id,name,architecture,chip,compute_capability,sms,boost_hz,fp64_flop_per_s,fp32_flop_per_s,"
        "tensor_fp16_flop_per_s,l1_byte_per_s,l2_byte_per_s,l2_capacity_bytes,dram_byte_per_s,dram_capacity_bytes\n";
    for (const Machine& m : machines)
        out += csv_line(
            {m.id, m.name, m.architecture, m.chip, m.compute_capability ? to_text(*m.compute_capability) : "",
             m.sm.sms ? exact(m.sm.sms->value) : "", m.clocks.boost ? exact(m.clocks.boost->value.value()) : "",
             ceiling_exact(compute_ceiling(m, Pipe::fp64)), ceiling_exact(compute_ceiling(m, Pipe::fp32)),
             ceiling_exact(compute_ceiling(m, Pipe::tensor_fp16)), ceiling_exact(memory_ceiling(m, Level::l1)),
             ceiling_exact(memory_ceiling(m, Level::l2)), capacity_exact(m, Level::l2),
             ceiling_exact(memory_ceiling(m, Level::dram)), capacity_exact(m, Level::dram)});
    return out;
}

}  // namespace gambrel
