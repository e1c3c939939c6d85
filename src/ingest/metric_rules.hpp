// The metric tables of data/metrics: which counters make which quantity, as sums with factors, by compute capability,
// kernel name and flop rule, with the alternatives in order of preference. Data turned into a form that is quick to
// evaluate; knows no file format and no launch.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/ingest.hpp>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

// A quantity that rules can make: time, clock, the work of a pipe, the bytes of a level, the profiler's own peaks,
// whether the tensor pipe did anything at all, and gauges of the launch such as its occupancy.
struct QuantityId {
    enum class Kind : std::uint8_t {
        time,
        clock,
        work,
        sparse_work,
        tensor_activity,
        bytes,
        peak_rate,
        peak_bandwidth,
        gauge
    } kind = Kind::time;
    Pipe pipe = Pipe::fp64;     // work, peak_rate
    Level level = Level::dram;  // bytes, peak_bandwidth
    Symbol gauge{};             // "achieved_occupancy"
};

struct Term {
    std::vector<MetricId> metrics;  // alternatives: the first that is there
    double factor = 1;
    double per = 1;               // divides: 52576 ns / 1e9 is the nearest double to 5.2576e-05 s, times 1e-9 is not
    std::vector<MetricId> times;  // multiplied in
    bool times_time = false;      // times the launch's duration
    bool optional = false;        // absent counts as zero; at least one term of a rule must be there
    std::optional<FlopRule> flop_rule;
};

struct CapabilityRange {
    ComputeCapability first, last;
    [[nodiscard]] bool holds(ComputeCapability cc) const { return first <= cc && cc <= last; }
};

struct Rule {
    Symbol id;
    int tier = 0;  // the lowest tier with a rule that applies decides; inside a tier the largest value counts
    std::optional<FlopRule> flop_rule;
    std::optional<CapabilityRange> cc;
    std::vector<std::string> name_has, name_lacks;
    bool collect = false;        // what `gambrel profile` asks for
    bool only_if_zero = false;   // applies only when its value is zero
    bool at_least_zero = false;  // differences of counters may come out below zero by a few counts
    std::vector<Term> terms;
    std::vector<MetricId> over;
    std::optional<double> constant;
    Symbol note;  // becomes a reason of every kernel that used the rule
};

struct QuantityRules {
    QuantityId quantity;
    std::string name;  // "work.fp32"
    std::vector<Rule> rules;
};

struct MetricRules {
    MetricSet metrics;  // everything that any rule or the machine of a report needs
    std::vector<QuantityRules> quantities;
};

// "a_{x,y}_b" to "a_x_b", "a_y_b"; nested braces are not needed and not allowed.
std::vector<std::string> expanded_braces(std::string_view pattern);

Result<MetricRules> parse_metric_rules(std::span<const std::pair<std::string, std::string_view>> named_texts);
// The tables compiled into the library.
const MetricRules& metric_rules();

}  // namespace gambrel::ingest_detail
