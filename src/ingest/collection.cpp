#include "ingest/collection.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ingest/metric_eval.hpp"
#include "ingest/metric_facts.hpp"

namespace gambrel {
namespace {

using namespace ingest_detail;

// In order of preference: on Ada the old name is deprecated for the new one since ncu 2024.3.
constexpr const char* kTensorInstructions[] = {"sm__inst_executed_pipe_tensor_v2.sum",
                                               "sm__inst_executed_pipe_tensor.sum"};

struct Target {
    std::vector<std::string> chips;  // one of these; a metric must exist on all
    std::optional<NcuVersion> version;

    [[nodiscard]] bool has(std::string_view metric) const {
        return !chips.empty() && std::all_of(chips.begin(), chips.end(), [&](const auto& chip) {
            return version ? metric_facts().exists(metric, chip, *version) : metric_facts().exists(metric, chip);
        });
    }
};

bool is_tensor_work(const QuantityId& id) { return id.kind == QuantityId::Kind::work && is_tensor(id.pipe); }

std::vector<std::string> tensor_instructions(const Target& target) {
    for (const char* name : kTensorInstructions) {
        // A tool of unknown version may be too old for the new name; all have the old one.
        const bool last = name == std::end(kTensorInstructions)[-1];
        if ((target.version || last) && target.has(name)) return {name};
    }
    return {};
}

bool by_instructions(ComputeCapability cc, TensorBy by) {
    return by == TensorBy::instructions || (by == TensorBy::automatic && cc.major == 7 && cc.minor < 5);
}

bool has_tensor_cores(std::string_view chip) { return chip != "tu116" && chip != "tu117"; }

std::vector<std::string> tensor_metrics(const CollectionRequest& request, const Target& target,
                                        std::vector<std::string>& notes) {
    if (std::none_of(target.chips.begin(), target.chips.end(), has_tensor_cores)) return {};
    std::vector<std::string> names;
    if (!by_instructions(request.cc, request.tensor_by)) {
        for (const auto& name : preferred_metrics(metric_rules(), request.cc, is_tensor_work))
            if (target.has(name)) names.push_back(name);
        if (!names.empty()) return names;
        const bool mixed = !std::all_of(target.chips.begin(), target.chips.end(), has_tensor_cores);
        notes.push_back(
            mixed
                ? fmt::format(
                      "not every GPU of compute capability {} counts tensor operations, so instructions are counted; "
                      "name the GPU to have operations",
                      to_text(request.cc))
                : "this ncu has no counters of tensor operations (they came with 2023.2), so instructions are counted");
    }
    if (request.cc.major >= 9)
        notes.emplace_back(
            "from compute capability 9.0 on a tensor instruction has no one size: its work stays unknown");
    else if (request.cc >= ComputeCapability{7, 5})
        notes.emplace_back(
            "tensor work comes from the number of instructions and a size by architecture and kernel name");
    return tensor_instructions(target);
}

std::string text_of(const std::vector<std::string>& chips) {
    std::string text = fmt::format("{}", fmt::join(chips, ", "));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::vector<std::string> chips_of(const CollectionRequest& request, std::vector<std::string>& notes) {
    std::string chip = request.chip;
    std::transform(chip.begin(), chip.end(), chip.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (metric_facts().knows_chip(chip)) return {chip};
    auto chips = metric_facts().chips_of(request.cc);
    if (!chips.empty()) return chips;
    const auto nearest = metric_facts().nearest_below(request.cc);
    notes.push_back(
        fmt::format("compute capability {} is in no table; the metrics are those of {}, and ncu may refuse one",
                    to_text(request.cc), to_text(*nearest)));
    return metric_facts().chips_of(*nearest);
}

Error too_old_for_ncu(const CollectionRequest& request) {
    auto metrics = nvprof_metrics(metric_rules());
    return {fmt::format("compute capability {}", to_text(request.cc)),
            fmt::format("ncu starts with Volta (7.0). Use nvprof of CUDA 12 or older, and then gambrel analyze:\n"
                        "  mkdir prof; nvprof --csv --log-file prof/time.csv APP\n"
                        "  nvprof --csv --metrics {} --log-file prof/metrics.csv APP\n"
                        "  gambrel analyze prof",
                        fmt::join(metrics, ","))};
}

std::optional<Error> unknown_to_tool(const std::vector<std::string>& chips, NcuVersion version) {
    for (const auto& chip : chips)
        if (metric_facts().tool_knows(chip, version)) return std::nullopt;
    const auto [first, last] = metric_facts().versions_of(chips.front());
    std::string known = first ? fmt::format("; seen to know it: {} and later", to_text(*first)) : "";
    if (first && last) known = fmt::format("; seen to know it: {} to {}", to_text(*first), to_text(*last));
    return Error{fmt::format("ncu {}", to_text(version)),
                 fmt::format("does not know {}{}. Name another with --ncu PATH", text_of(chips), known)};
}

}  // namespace

namespace ingest_detail {

std::vector<std::string> metrics_for(const MetricRules& rules, std::optional<ComputeCapability> cc,
                                     const std::function<bool(const QuantityId&)>& wanted) {
    auto names = preferred_metrics(rules, cc, wanted);
    if (!cc || cc->major < 7) return names;
    CollectionRequest request{*cc, "", std::nullopt, TensorBy::automatic};
    std::vector<std::string> notes;
    const Target target{chips_of(request, notes), std::nullopt};
    const bool tensor = std::any_of(rules.quantities.begin(), rules.quantities.end(),
                                    [&](const auto& q) { return is_tensor_work(q.quantity) && wanted(q.quantity); });
    std::erase_if(names,
                  [&](const auto& name) { return name.starts_with("sm__ops_path_tensor_") || !target.has(name); });
    if (!tensor) return names;
    const auto more = tensor_metrics(request, target, notes);
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

std::vector<std::string> nvprof_metrics(const MetricRules& rules) {
    constexpr std::string_view prefix = "nvprof:";
    std::set<std::string> names;
    for (MetricId id = 0; id < rules.metrics.size(); ++id)
        if (const std::string& name = rules.metrics.name(id); name.starts_with(prefix))
            names.insert(name.substr(prefix.size()));
    names.erase("time");  // what nvprof prints without --metrics
    return {names.begin(), names.end()};
}

}  // namespace ingest_detail

Result<Collection> metrics_to_collect(const CollectionRequest& request) {
    if (request.cc.major < 7) return tl::unexpected(Errors{too_old_for_ncu(request)});
    Collection out;
    const Target target{chips_of(request, out.notes), request.version};
    if (request.version)
        if (auto error = unknown_to_tool(target.chips, *request.version))
            return tl::unexpected(Errors{std::move(*error)});
    const auto ordinary = preferred_metrics(metric_rules(), request.cc, [](const QuantityId& id) {
        return id.kind == QuantityId::Kind::time || id.kind == QuantityId::Kind::clock ||
               (id.kind == QuantityId::Kind::work && !is_tensor(id.pipe)) ||
               (id.kind == QuantityId::Kind::bytes && id.level != Level::shared);
    });
    for (const auto& name : ordinary) {
        if (target.has(name))
            out.metrics.push_back(name);
        else if (name == "dram__bytes.sum")
            out.notes.push_back(
                fmt::format("{} has no counter of DRAM bytes, so there is no DRAM roof", text_of(target.chips)));
        else if (name == "l1tex__t_bytes.sum" || name == "lts__t_bytes.sum")
            out.notes.push_back(fmt::format("this ncu has no {} on {}; a newer one may", name, text_of(target.chips)));
    }
    const auto tensor = tensor_metrics(request, target, out.notes);
    out.metrics.insert(out.metrics.end(), tensor.begin(), tensor.end());
    for (const auto& chip : target.chips) {
        const auto passes = metric_facts().passes(chip, {out.metrics.begin(), out.metrics.end()});
        if (!passes) {
            out.passes.reset();
            break;
        }
        out.passes = std::max(out.passes.value_or(0), *passes);
    }
    return out;
}

std::string to_text(NcuVersion version) { return fmt::format("{}.{}", version.year, version.release); }

std::optional<NcuVersion> parse_ncu_version(std::string_view text) {
    for (std::size_t at = 0; at + 6 <= text.size(); ++at) {
        if (!text.substr(at).starts_with("20") || (at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1]))))
            continue;
        NcuVersion version;
        const char* end = text.data() + text.size();
        const auto year = std::from_chars(text.data() + at, end, version.year);
        if (year.ptr != text.data() + at + 4 || year.ptr == end || *year.ptr != '.') continue;
        if (std::from_chars(year.ptr + 1, end, version.release).ec == std::errc{}) return version;
    }
    return std::nullopt;
}

}  // namespace gambrel
