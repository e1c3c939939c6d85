// Which metric exists on which chip and in which version of ncu, and how many passes a set of metrics takes: the tables
// of data/metrics/facts, parsed once. Names are without suffix ("dram__bytes") and chips in small letters ("ga100"). It
// answers and decides nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/ingest.hpp>

namespace gambrel::ingest_detail {

// Names with spaces between them, as a cell of the tables has them. Searched in place: a command asks for a few of
// many thousand.
class ChipList {
public:
    explicit ChipList(std::string_view text) : text_(text) {}
    [[nodiscard]] bool contains(std::string_view chip) const;

private:
    std::string_view text_;
};

struct ProfilerTool {
    std::string name;
    NcuVersion version;
    ChipList chips;
};

struct ChipFact {
    std::string name;
    std::optional<ComputeCapability> cc;
};

struct PassFact {
    std::string chip;
    std::vector<std::string> groups;  // "TIME+SASS9+MEM": names of groups of metrics, or a metric
    int passes = 0;
};

class MetricFacts {
public:
    // Tables as (name, text), which must outlive the facts; a metric has one row.
    explicit MetricFacts(std::span<const std::pair<std::string_view, std::string_view>> tables);

    [[nodiscard]] std::vector<std::string> chips_of(ComputeCapability cc) const;
    [[nodiscard]] bool knows_chip(std::string_view chip) const;
    // The highest compute capability in the tables that is not above this one and has memory of its own.
    [[nodiscard]] std::optional<ComputeCapability> nearest_below(ComputeCapability cc) const;
    [[nodiscard]] bool known(std::string_view metric) const { return metrics_.contains(metric); }
    [[nodiscard]] bool exists(std::string_view metric, std::string_view chip) const;
    // In that version too, as far as the tools that were asked tell.
    [[nodiscard]] bool exists(std::string_view metric, std::string_view chip, NcuVersion version) const;
    [[nodiscard]] bool tool_knows(std::string_view chip, NcuVersion version) const;
    // First and last version that know the chip; the last is absent if the newest tool does.
    [[nodiscard]] std::pair<std::optional<NcuVersion>, std::optional<NcuVersion>> versions_of(
        std::string_view chip) const;
    // Passes of exactly these metrics (full names), absent if the tables do not list the set.
    [[nodiscard]] std::optional<int> passes(std::string_view chip, const std::set<std::string>& metrics) const;

private:
    struct Around {
        const ProfilerTool* at_most = nullptr;   // the newest tool that is no newer
        const ProfilerTool* at_least = nullptr;  // the oldest that is no older
    };
    [[nodiscard]] Around around(NcuVersion version) const;
    [[nodiscard]] std::set<std::string> metrics_of(const PassFact& fact) const;

    struct Absence {
        ChipList chips;
        std::string_view tool;
    };
    std::map<std::string_view, ChipList> metrics_;
    std::multimap<std::string_view, Absence> absences_;  // by metric
    std::vector<ProfilerTool> tools_;                    // by version, oldest first
    std::vector<ChipFact> chips_;
    std::vector<PassFact> passes_;
};

// "dram__bytes" of "dram__bytes.sum".
std::string_view base_name(std::string_view metric);

// The tables compiled into the library.
const MetricFacts& metric_facts();

}  // namespace gambrel::ingest_detail
