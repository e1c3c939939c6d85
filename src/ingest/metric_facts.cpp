#include "ingest/metric_facts.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/format.h>

#include "base/csv_table.hpp"
#include "base/embedded.hpp"

namespace gambrel::ingest_detail {
namespace {

using base_detail::CsvRow;
using base_detail::CsvScanner;

// Seen in CUPTI 12.2.142 on every chip from Volta to Hopper with the names of today, and not in 12.1.105.
constexpr NcuVersion kFirstWithOperations{2023, 2};

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

void for_each_row(std::string_view text, const std::function<void(const std::vector<std::string_view>&)>& take) {
    CsvScanner scanner(text);
    CsvRow row;
    scanner.skip_line();
    while (!scanner.at_end() && scanner.read(row)) take(row.fields);
}

}  // namespace

bool ChipList::contains(std::string_view chip) const {
    for (std::size_t at = text_.find(chip); at != std::string_view::npos && !chip.empty();
         at = text_.find(chip, at + 1)) {
        const std::size_t end = at + chip.size();
        if ((at == 0 || text_[at - 1] == ' ') && (end == text_.size() || text_[end] == ' ')) return true;
    }
    return false;
}

std::string_view base_name(std::string_view metric) { return metric.substr(0, metric.find('.')); }

MetricFacts::MetricFacts(std::span<const std::pair<std::string_view, std::string_view>> tables) {
    for (const auto& [table, text] : tables) {
        for_each_row(text, [&, name = table](const std::vector<std::string_view>& f) {
            if (f.size() < 3) return;
            if (name == "metrics_by_chip") {
                metrics_.emplace(f[0], ChipList(f[1]));
            } else if (name == "version_differences") {
                absences_.emplace(f[0], Absence{ChipList(f[1]), f[2]});
            } else if (name == "chips") {
                chips_.push_back({std::string(f[0]), parse_compute_capability(f[1])});
            } else if (name == "tools") {
                if (const auto version = parse_ncu_version(f[1]))
                    tools_.push_back({std::string(f[0]), *version, ChipList(f[2])});
            } else if (name == "passes") {
                int passes = 0;
                std::from_chars(f[2].data(), f[2].data() + f[2].size(), passes);
                passes_.push_back({std::string(f[0]), split(f[1], '+'), passes});
            }
        });
    }
    std::sort(tools_.begin(), tools_.end(), [](const auto& a, const auto& b) { return a.version < b.version; });
}

std::vector<std::string> MetricFacts::chips_of(ComputeCapability cc) const {
    std::vector<std::string> names;
    for (const auto& chip : chips_)
        if (chip.cc == cc) names.push_back(chip.name);
    return names;
}

bool MetricFacts::knows_chip(std::string_view chip) const {
    return std::any_of(chips_.begin(), chips_.end(), [&](const auto& c) { return c.name == chip; });
}

std::optional<ComputeCapability> MetricFacts::nearest_below(ComputeCapability cc) const {
    std::optional<ComputeCapability> best;
    for (const auto& chip : chips_)
        if (chip.cc && *chip.cc <= cc && (!best || *chip.cc > *best) && exists("dram__bytes", chip.name))
            best = chip.cc;
    return best;
}

bool MetricFacts::exists(std::string_view metric, std::string_view chip) const {
    const auto found = metrics_.find(base_name(metric));
    return found != metrics_.end() && found->second.contains(chip);
}

MetricFacts::Around MetricFacts::around(NcuVersion version) const {
    Around out;
    for (const auto& tool : tools_) {
        if (tool.version <= version) out.at_most = &tool;
        if (tool.version >= version && !out.at_least) out.at_least = &tool;
    }
    return out;
}

bool MetricFacts::exists(std::string_view metric, std::string_view chip, NcuVersion version) const {
    if (!exists(metric, chip)) return false;
    const auto lacks = [&](const ProfilerTool* tool) {
        if (!tool) return false;
        const auto [first, last] = absences_.equal_range(base_name(metric));
        return std::any_of(first, last,
                           [&](const auto& a) { return a.second.tool == tool->name && a.second.chips.contains(chip); });
    };
    const Around tools = around(version);
    if (metric.starts_with("sm__ops_path_tensor_")) {
        if (version < kFirstWithOperations) return false;
        // The tool before is too old to have the family, so it does not tell; the one after does.
        return !lacks(tools.at_least ? tools.at_least : tools.at_most);
    }
    // Between two tools that differ nobody knows when the metric came or went; ncu refuses a run for one unknown name.
    return !lacks(tools.at_most) && (tools.at_most || !lacks(tools.at_least));
}

bool MetricFacts::tool_knows(std::string_view chip, NcuVersion version) const {
    const Around tools = around(version);
    return (tools.at_most && tools.at_most->chips.contains(chip)) ||
           (tools.at_least && tools.at_least->chips.contains(chip));
}

std::pair<std::optional<NcuVersion>, std::optional<NcuVersion>> MetricFacts::versions_of(std::string_view chip) const {
    std::optional<NcuVersion> first, last;
    for (const auto& tool : tools_) {
        if (!tool.chips.contains(chip)) continue;
        if (!first) first = tool.version;
        last = tool.version;
    }
    if (last && !tools_.empty() && *last == tools_.back().version) last.reset();
    return {first, last};
}

std::set<std::string> MetricFacts::metrics_of(const PassFact& fact) const {
    std::set<std::string> out;
    const auto sass = [&](std::initializer_list<const char*> operations) {
        for (const char* op : operations)
            out.insert(fmt::format("sm__sass_thread_inst_executed_op_{}_pred_on.sum", op));
    };
    for (const auto& group : fact.groups) {
        if (group == "TIME") {
            out.insert({"gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second"});
        } else if (group == "SASS9") {
            sass({"dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma"});
        } else if (group == "FP32X2") {
            sass({"fadd2", "fmul2", "ffma2"});
        } else if (group.starts_with("MEM")) {
            out.insert({"l1tex__t_bytes.sum", "lts__t_bytes.sum"});
            if (group == "MEM") out.insert("dram__bytes.sum");
        } else if (group.starts_with("OPS")) {
            for (const auto& [metric, chips] : metrics_) {
                const bool base =
                    metric.starts_with("sm__ops_path_tensor_src_") && metric.find("_sparsity_") == std::string::npos;
                const bool rare = metric.ends_with("_int4") || metric.ends_with("_int1");
                if (base && chips.contains(fact.chip) && !(rare && group == "OPS_FP_INT8"))
                    out.insert(std::string(metric) + ".sum");
            }
        } else {
            out.insert(group);
        }
    }
    return out;
}

std::optional<int> MetricFacts::passes(std::string_view chip, const std::set<std::string>& metrics) const {
    for (const auto& fact : passes_)
        if (fact.chip == chip && metrics_of(fact) == metrics) return fact.passes;
    return std::nullopt;
}

const MetricFacts& metric_facts() {
    static const MetricFacts facts = [] {
        std::vector<std::pair<std::string_view, std::string_view>> tables;
        for (const auto& entry : embedded("metric_facts")) tables.emplace_back(entry.name, entry.text);
        return MetricFacts(tables);
    }();
    return facts;
}

}  // namespace gambrel::ingest_detail
