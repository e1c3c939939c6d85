// The neutral record between readers and metric rules: launches with the values of the metrics that the rules know.
// Readers fill it and judge nothing; rules read it and know no file format.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>

namespace gambrel::ingest_detail {

using MetricId = std::uint32_t;
inline constexpr MetricId kNoMetric = std::numeric_limits<MetricId>::max();

// The metrics that anything in gambrel can use. A reader drops every other metric at once.
class MetricSet {
public:
    MetricId add(std::string_view name);
    [[nodiscard]] MetricId find(std::string_view name) const;  // kNoMetric if nobody wants it
    [[nodiscard]] const std::string& name(MetricId id) const { return names_[id]; }
    [[nodiscard]] std::size_t size() const { return names_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    std::vector<std::string> names_;
    std::unordered_map<std::string, MetricId, Hash, std::equal_to<>> ids_;
};

// In ncu's base units (ns, byte, cycle, hz, inst, %): a reader of scaled units (Kbyte, usecond) converts.
// NaN where the profiler wrote nan, n/a or a value that cannot be (negative, 2^63 or more); Launch::faults then says
// which.
struct MetricValue {
    MetricId metric = kNoMetric;
    double value = 0;
};

struct Launch {
    Symbol name;
    Symbol device;             // "Tesla V100-SXM2-16GB"; empty if the file does not say
    std::vector<Symbol> nvtx;  // ranges around the launch, outermost first
    std::optional<ComputeCapability> cc;
    std::optional<LaunchShape> shape;
    std::uint64_t launches = 1;   // over 1: a summary row, the values are averages over that many launches
    std::vector<Symbol> faults;   // "l1tex__t_bytes.sum: nan"
    std::size_t first_value = 0;  // its values are Profile::values[first_value, first_value + values)
    std::size_t values = 0;
};

struct Profile {
    std::string source;        // the file
    std::string tool;          // "ncu" or "nvprof"
    std::string tool_version;  // "2022.3.0.0", empty if the file does not say
    std::string command_line;  // of the profiler, empty if the file does not say
    std::vector<Launch> launches;
    std::vector<MetricValue> values;
    std::vector<Error> notes;
    bool partial = false;  // launches or values were lost: the file is cut short or damaged
    std::uint64_t filtered_launches = 0;
};

// Appends a value to the launch that is being built at the end of `profile`; refuses values below zero and of 2^63 or
// more.
void add_value(Profile& profile, Launch& launch, const MetricSet& metrics, MetricId id, double value);

// True for names that the user wants; launches of other names need not be decoded further.
using KeepName = std::function<bool(const std::string&)>;

}  // namespace gambrel::ingest_detail
