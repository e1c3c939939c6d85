// The one table of what is assumed where a machine file lacks a number that the model needs.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

struct Need {
    const char* quantity;
    const char* where;  // in a machine file
    double (*given)(const Machine&);
    double (*assumed)(const Machine&, const Architecture&);  // null: nothing can be assumed
    std::string (*text)(double);
    const char* why;  // null: GPUs of its compute capability have it
};

template <class T>
double value(const Fact<T>& fact) {
    if (!fact) return 0;
    if constexpr (std::is_same_v<T, double>)
        return fact->value;
    else
        return fact->value.value();
}
template <Level level>
const MemoryLevel& level_of(const Machine& m) {
    static const MemoryLevel none;
    const MemoryLevel* found = m.find(level);
    return found ? *found : none;
}

// Of one SM and cycle, however the file states the level's rate; 0 if it does not.
template <Level level>
double width_of(const Machine& m) {
    const MemoryLevel& l = level_of<level>(m);
    const double sms = std::max(1.0, value(m.sm.sms)), boost = value(m.clocks.boost);
    if (l.width) return l.width->value.value() / (l.per_sm ? 1 : sms);
    const double rate = l.bandwidth ? l.bandwidth->value.value() : l.measured ? l.measured->ceiling.value.value() : 0;
    return boost > 0 ? rate / sms / boost : rate;
}
template <Level level>
double bandwidth_of(const Machine& m) {
    const auto ceiling = memory_ceiling(m, level, {}, Roofs::measured);
    return ceiling ? ceiling->value.value() : 0;
}

std::string count(double v) { return fmt::format("{:g}", v); }
std::string bytes(double v) { return binary_text(Bytes{v}); }
std::string width(double v) { return to_text(BytesPerCycle{v}); }
std::string rate(double v) { return to_text(Bandwidth{v}); }
std::string cycles(double v) { return fmt::format("{:g} cycles", v); }
std::string clock_text(double v) { return to_text(Frequency{v}); }

constexpr const char* kLatency = "typical of the GPUs in the catalogue whose latency was measured";
using M = const Machine&;
using A = const Architecture&;

// In the order of Needed.
constexpr std::array<Need, kNeeded> kTable = {{
    {"number of SMs", "sm.count", [](M m) { return value(m.sm.sms); }, nullptr, count, nullptr},
    {"clock", "clocks.boost", [](M m) { return value(m.clocks.boost); }, [](M m, A) { return value(m.clocks.base); },
     clock_text, "the base clock, as the file has no boost clock"},
    {"schedulers of an SM", "sm.schedulers", [](M m) { return value(m.sm.schedulers); },
     [](M, A a) { return a.schedulers; }, count, nullptr},
    {"warps of an SM", "sm.max_warps", [](M m) { return value(m.sm.max_warps); }, [](M, A a) { return a.max_warps; },
     count, nullptr},
    {"CTAs of an SM", "sm.max_ctas", [](M m) { return value(m.sm.max_ctas); }, [](M, A a) { return a.max_ctas; }, count,
     nullptr},
    {"registers of an SM", "sm.registers", [](M m) { return value(m.sm.registers); },
     [](M, A a) { return a.registers.value(); }, bytes, nullptr},
    {"shared memory of an SM", "sm.shared_memory", [](M m) { return value(m.sm.shared_memory); },
     [](M, A a) { return a.shared_memory.value(); }, bytes, nullptr},
    {"shared memory of a CTA", "sm.shared_memory_per_cta", [](M m) { return value(m.sm.shared_memory_per_cta); },
     [](M, A a) { return a.shared_memory_per_cta.value(); }, bytes, nullptr},
    {"L1 capacity", "memory.levels, L1: capacity", [](M m) { return value(level_of<Level::l1>(m).capacity); },
     [](M, A a) { return a.l1_capacity.value(); }, bytes, nullptr},
    {"L2 capacity", "memory.levels, L2: capacity", [](M m) { return value(level_of<Level::l2>(m).capacity); }, nullptr,
     bytes, nullptr},
    {"shared memory width of an SM", "memory.levels, shared: width", width_of<Level::shared>,
     [](M, A a) { return a.shared_width.value(); }, width, nullptr},
    {"L1 width of an SM", "memory.levels, L1: width", width_of<Level::l1>, [](M, A a) { return a.l1_width.value(); },
     width, nullptr},
    {"L2 bandwidth", "memory.levels, L2: width or bandwidth", bandwidth_of<Level::l2>,
     [](M m, A) { return 3 * bandwidth_of<Level::dram>(m); }, rate, "three times the DRAM bandwidth"},
    {"DRAM bandwidth", "memory.levels, DRAM: bandwidth", bandwidth_of<Level::dram>, nullptr, rate, nullptr},
    {"L1 latency", "memory.levels, L1: latency", [](M m) { return value(level_of<Level::l1>(m).latency); },
     [](M, A) { return 30.0; }, cycles, kLatency},
    {"L2 latency", "memory.levels, L2: latency", [](M m) { return value(level_of<Level::l2>(m).latency); },
     [](M, A) { return 220.0; }, cycles, kLatency},
    {"DRAM latency", "memory.levels, DRAM: latency", [](M m) { return value(level_of<Level::dram>(m).latency); },
     [](M, A) { return 500.0; }, cycles, kLatency},
}};

const Need& row(Needed number) { return kTable[static_cast<std::size_t>(number)]; }

bool has_a_pipe(const Machine& m) {
    return std::any_of(m.pipes.begin(), m.pipes.end(),
                       [](const Arithmetic& a) { return value(a.dense) > 0 || a.measured || a.stated; });
}

}  // namespace

double needed(const Machine& machine, Needed number) {
    const Need& n = row(number);
    if (const double given = n.given(machine); given > 0) return given;
    return n.assumed ? n.assumed(machine, architecture_of(machine)) : 0;
}

std::vector<Assumption> assumptions(const Machine& machine) {
    std::vector<Assumption> out;
    const Architecture& a = architecture_of(machine);
    if (const auto& cc = machine.compute_capability;
        cc && !machine.own_architecture && std::find(a.covers.begin(), a.covers.end(), *cc) == a.covers.end())
        out.push_back(
            {"architecture", a.name,
             fmt::format("compute capability {} is not in data/architectures; this is the nearest that is not "
                         "newer",
                         to_text(*cc))});
    for (const Need& n : kTable) {
        if (!n.assumed || n.given(machine) > 0) continue;
        if (const double value = n.assumed(machine, a); value > 0)
            out.push_back({n.quantity, n.text(value), n.why ? n.why : fmt::format("GPUs of {} have it", a.name)});
    }
    return out;
}

Errors missing_numbers(const Machine& machine, bool clock_given) {
    Errors missing;
    const std::string where = machine.id.empty() ? machine.source : machine.id;
    if (!machine.compute_capability && !machine.own_architecture) {
        missing.push_back({where,
                           "has no compute_capability, so it is not a GPU that the model knows: machine files of "
                           "CPUs serve analyze and measure only"});
        return missing;
    }
    for (const Need& n : kTable)
        if (!(clock_given && &n == &row(Needed::clock)) && n.given(machine) <= 0 &&
            (!n.assumed || n.assumed(machine, architecture_of(machine)) <= 0))
            missing.push_back(
                {where, fmt::format("the {} is missing ({}), and nothing can be assumed for it", n.quantity, n.where)});
    if (!has_a_pipe(machine))
        missing.push_back({where, "no pipe has a rate (sm.lanes or tensor), and nothing can be assumed for it"});
    return missing;
}

}  // namespace gambrel
