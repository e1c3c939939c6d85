// JSON to Machine. docs/formats.md describes the fields.
#include <iterator>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/file_bytes.hpp"
#include "base/json_text.hpp"
#include "machine/json_fields.hpp"

namespace gambrel {
namespace {

using machine_detail::FactFields;
using nlohmann::json;

// "lanes" are fused multiply-adds; a Fact keeps its source while the unit becomes FLOP per cycle.
Fact<FlopPerCycle> two_flop_per_lane(const Fact<double>& lanes, bool integer) {
    if (!lanes) return std::nullopt;
    return Sourced<FlopPerCycle>{FlopPerCycle{lanes->value * (integer ? 1 : 2)}, lanes->origin, lanes->cite};
}

void read_sm(const json* object, const std::string& source, Machine& m, Errors& errors) {
    if (!object) return;
    FactFields sm(*object, source + "sm", errors);
    m.sm.sms = sm.count("count", true);
    m.sm.schedulers = sm.count("schedulers");
    m.sm.max_warps = sm.count("max_warps");
    m.sm.max_ctas = sm.count("max_ctas");
    m.sm.registers = sm.quantity<Bytes>("registers");
    m.sm.shared_memory = sm.quantity<Bytes>("shared_memory");
    m.sm.shared_memory_per_cta = sm.quantity<Bytes>("shared_memory_per_cta");
    if (m.sm.shared_memory && m.sm.shared_memory_per_cta &&
        m.sm.shared_memory_per_cta->value > m.sm.shared_memory->value)
        sm.fault("shared_memory_per_cta",
                 fmt::format("{} is more than the {} of the SM", binary_text(m.sm.shared_memory_per_cta->value),
                             binary_text(m.sm.shared_memory->value)));
    if (const auto* list = sm.object("lanes")) {
        FactFields lanes(*list, sm.path_of("lanes"), errors);
        for (const Pipe p : {Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::bf16, Pipe::int32})
            m.pipes[p].dense = two_flop_per_lane(lanes.number(std::string(name(p))), is_integer(p));
        lanes.finish();
    }
    sm.finish();
}

void read_tensor(const json* object, const std::string& source, Machine& m, Errors& errors) {
    if (!object) return;
    FactFields tensor(*object, source + "tensor", errors);
    for (const Pipe p : all_pipes()) {
        if (!is_tensor(p)) continue;
        const std::string key(name(p).substr(std::string_view("tensor_").size()));
        if (const auto* rates = tensor.object(key)) {
            FactFields r(*rates, tensor.path_of(key), errors);
            m.pipes[p].dense = r.quantity<FlopPerCycle>("dense", true);
            m.pipes[p].sparse = r.quantity<FlopPerCycle>("sparse");
            r.finish();
        }
    }
    tensor.finish();
}

void read_level(const json& object, const std::string& path, Machine& m, Errors& errors) {
    FactFields f(object, path, errors);
    const std::size_t faults_before = errors.size();
    const std::string name_text = f.text("name", true);
    const auto level = level_from(name_text);
    if (!level && errors.size() == faults_before)
        f.fault("name", fmt::format("\"{}\" is not a level; expected shared, L1, L2, L3 or DRAM", name_text));
    if (level && m.find(*level)) f.fault("name", fmt::format("level \"{}\" is there twice", name_text));
    MemoryLevel nameless;  // the faults of its fields are reported all the same
    MemoryLevel& l = level ? m.at(*level) : nameless;
    const std::string scope = f.text("scope", true);
    if (scope != "sm" && scope != "gpu")
        f.fault("scope", fmt::format("\"{}\" is not a scope; expected sm or gpu", scope));
    l.per_sm = scope == "sm";
    l.capacity = f.quantity<Bytes>("capacity");
    l.width = f.quantity<BytesPerCycle>("width");
    l.bandwidth = f.quantity<Bandwidth>("bandwidth");
    l.partitions = f.number("partitions");
    l.inline_ecc = f.number("inline_ecc");
    if (l.inline_ecc && l.inline_ecc->value > 1)
        f.fault("inline_ecc",
                fmt::format("{} is out of range; expected 0 to 1, as 0.0625 for a sixteenth", l.inline_ecc->value));
    l.ecc_block = f.quantity<Bytes>("ecc_block");
    l.latency = f.quantity<Cycles>("latency");
    l.measured = f.at_clock<Bandwidth>("measured");
    f.finish();
}

void read_memory(const json* object, const std::string& source, Machine& m, Errors& errors) {
    if (!object) return;
    FactFields memory(*object, source + "memory", errors);
    m.sm.sector = memory.quantity<Bytes>("sector");
    m.sm.line = memory.quantity<Bytes>("line");
    if (const auto* levels = memory.array("levels", true))
        for (std::size_t i = 0; i < levels->size(); ++i)
            read_level((*levels)[i], fmt::format("{}[{}]", memory.path_of("levels"), i), m, errors);
    memory.finish();
}

void read_peaks(const json* stated, const json* measured, const std::string& source, Machine& m, Errors& errors) {
    if (stated) {
        FactFields f(*stated, source + "stated_peaks", errors);
        for (const Pipe p : all_pipes()) {
            m.pipes[p].stated = f.at_clock<FlopRate>(std::string(name(p)));
            m.pipes[p].stated_sparse = f.at_clock<FlopRate>(std::string(name(p)) + "_sparse");
        }
        f.finish();
    }
    if (measured) {
        FactFields f(*measured, source + "measured_peaks", errors);
        for (const Pipe p : all_pipes()) m.pipes[p].measured = f.at_clock<FlopRate>(std::string(name(p)));
        f.finish();
    }
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, std::string_view source_name) {
    const std::string source = std::string(source_name) + ": ";
    const auto document = base_detail::parse_json(text, std::string(source_name));
    if (!document) return tl::unexpected(document.error());
    Errors errors;
    Machine m;
    m.source = std::string(source_name);
    m.made_from = MachineSource::file;
    FactFields root(*document, source, errors);
    if (const auto* schema = root.any("schema", true); schema && *schema != 1)
        root.fault("schema",
                   fmt::format("{} is not 1, the version that this gambrel reads", base_detail::json_excerpt(*schema)));
    m.id = root.text("id", true);
    m.name = root.text("name", true);
    m.aliases = root.texts("aliases");
    m.architecture = root.text("architecture");
    m.chip = root.text("chip");
    m.note = root.text("note");
    m.partial = root.text("partial");
    if (const std::string cc = root.text("compute_capability"); !cc.empty() && cc != "unknown") {
        m.compute_capability = parse_compute_capability(cc);
        if (!m.compute_capability)
            root.fault("compute_capability", fmt::format("\"{}\" is not of the form \"8.6\"", cc));
    }
    if (const auto* object = root.object("clocks")) {
        FactFields clocks(*object, source + "clocks", errors);
        m.clocks.base = clocks.quantity<Frequency>("base");
        m.clocks.boost = clocks.quantity<Frequency>("boost");
        m.clocks.memory = clocks.quantity<Frequency>("memory");
        if (m.clocks.base && m.clocks.boost && m.clocks.base->value > m.clocks.boost->value)
            clocks.fault("base", fmt::format("{} is above the boost clock, {}", to_text(m.clocks.base->value),
                                             to_text(m.clocks.boost->value)));
        clocks.finish();
    }
    m.board_power = root.number("board_power_w");
    m.launch = root.quantity<Seconds>("launch");
    m.fourier_vectors = root.number("fourier_vectors");
    read_sm(root.object("sm"), source, m, errors);
    read_tensor(root.object("tensor"), source, m, errors);
    read_memory(root.object("memory", true), source, m, errors);
    const auto* stated = root.object("stated_peaks");
    read_peaks(stated, root.object("measured_peaks"), source, m, errors);
    root.finish();
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return m;
}

Result<Machine> load_machine_file(const std::string& path) {
    const auto bytes = base_detail::FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return parse_machine(bytes->view(), path);
}

}  // namespace gambrel
