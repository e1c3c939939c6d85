#include <gambrel/machine.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace gambrel {
namespace {

std::optional<Frequency> clock_of(const Machine& m, std::optional<Frequency> wanted) {
    if (wanted) return wanted;
    if (m.clocks.boost) return m.clocks.boost->value;
    return std::nullopt;
}

// A benchmark's figure, carried to another clock where the hardware is clocked by it.
template <class Q>
Ceiling<Q> carried(const AtClock<Q>& measured, std::optional<Frequency> clock, bool clocked) {
    Ceiling<Q> c{measured.ceiling.value, measured.ceiling.origin, measured.ceiling.cite};
    if (clocked && clock && measured.clock && measured.clock->value() > 0 && *clock != *measured.clock) {
        c.value *= *clock / *measured.clock;
        c.origin = Origin::derived;
        c.cite += fmt::format(", carried from {} to {}", to_text(*measured.clock), to_text(*clock));
    }
    return c;
}

// Integer operations are not FLOP, though they share the unit's type.
std::string rate_text(Pipe pipe, FlopPerCycle rate) {
    const std::string text = to_text(rate);
    return is_integer(pipe) && text.ends_with("FLOP/cycle") ? text.substr(0, text.size() - 10) + "OP/cycle" : text;
}

// Whether the counter of L2 sees a request twice that the far half answers.
bool counts_crossings(const Machine& m) {
    const MemoryLevel* l2 = m.find(Level::l2);
    return l2 && l2->partitions && l2->partitions->value >= 2 && architecture_of(m).l2_counts_read_crossing > 0;
}

}  // namespace

std::string to_text(ComputeCapability cc) { return fmt::format("{}.{}", cc.major, cc.minor); }

std::optional<ComputeCapability> parse_compute_capability(std::string_view text) {
    ComputeCapability cc;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, cc.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
    const auto minor = std::from_chars(major.ptr + 1, end, cc.minor);
    if (minor.ec != std::errc{} || minor.ptr != end || cc.major < 1 || cc.minor < 0) return std::nullopt;
    return cc;
}

const MemoryLevel* Machine::find(Level level) const {
    const auto it = std::find_if(levels.begin(), levels.end(), [&](const auto& l) { return l.level == level; });
    return it == levels.end() ? nullptr : &*it;
}

MemoryLevel& Machine::at(Level level) {
    auto it = std::find_if(levels.begin(), levels.end(), [&](const auto& l) { return l.level >= level; });
    if (it == levels.end() || it->level != level) {
        it = levels.insert(it, MemoryLevel{});
        it->level = level;
    }
    return *it;
}

std::optional<Ceiling<FlopRate>> compute_ceiling(const Machine& m, Pipe pipe, std::optional<Frequency> wanted,
                                                 Roofs roofs, bool sparse) {
    const Arithmetic& a = m.pipes[pipe];
    const auto clock = clock_of(m, wanted);
    if (roofs == Roofs::measured && a.measured && !sparse) return carried(*a.measured, clock, true);
    const auto& rate = sparse ? a.sparse : a.dense;
    if (rate && rate->value.value() > 0 && m.sm.sms && clock)
        return Ceiling<FlopRate>{
            rate->value * m.sm.sms->value * *clock, Origin::derived,
            fmt::format("{} SMs x {} x {}", m.sm.sms->value, rate_text(pipe, rate->value), to_text(*clock))};
    if (rate && rate->value.value() == 0) return std::nullopt;
    if (auto stated = sparse ? a.stated_sparse : a.stated) {
        if (!stated->clock && m.clocks.boost) stated->clock = m.clocks.boost->value;
        return carried(*stated, clock, true);
    }
    if (a.measured && !sparse) return carried(*a.measured, clock, true);
    return std::nullopt;
}

std::optional<Ceiling<Bandwidth>> memory_ceiling(const Machine& m, Level level, std::optional<Frequency> wanted,
                                                 Roofs roofs) {
    const MemoryLevel* l = m.find(level);
    if (!l) return std::nullopt;
    const auto clock = clock_of(m, wanted);
    const bool clocked = level != Level::dram;
    if (roofs == Roofs::measured && l->measured) return carried(*l->measured, clock, clocked);
    if (l->width && clock && (!l->per_sm || m.sm.sms)) {
        const double units = l->per_sm ? m.sm.sms->value : 1;
        const std::string count = l->per_sm ? fmt::format("{} SMs x ", units) : "";
        return Ceiling<Bandwidth>{l->width->value * units * *clock, Origin::derived,
                                  fmt::format("{}{} x {}", count, to_text(l->width->value), to_text(*clock))};
    }
    if (l->bandwidth) return Ceiling<Bandwidth>{l->bandwidth->value, l->bandwidth->origin, l->bandwidth->cite};
    if (l->measured) return carried(*l->measured, clock, clocked);
    return std::nullopt;
}

std::optional<Ceiling<Bandwidth>> counter_ceiling(const Machine& m, Level level, std::optional<Frequency> clock,
                                                  Roofs roofs) {
    auto out = memory_ceiling(m, level, clock, roofs);
    if (!out || level != Level::l2 || roofs != Roofs::measured || !counts_crossings(m)) return out;
    auto slices = memory_ceiling(m, level, clock, Roofs::theoretical);
    if (!slices || slices->value <= out->value) return out;
    slices->cite += fmt::format(
        ", what the slices can look up: the counter adds lookups between the halves of L2, which the measured {} lack",
        to_text(out->value));
    return slices;
}

}  // namespace gambrel
