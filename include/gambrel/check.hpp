// A gate: does every kernel that matters reach its share of the roof, and is none slower or hungrier than a baseline?
// A baseline belongs to one machine: it keeps the hash of the machine's numbers, because a percentage of another roof
// or a time of another device means nothing. Pure but for the text of a baseline; reads no file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/analysis.hpp>

namespace gambrel {

struct BaselineKernel {
    std::string name, phase;
    std::uint64_t launches = 1;
    std::optional<Seconds> time;
    PerLevel<std::optional<Bytes>> bytes;
    double noise = 0;  // of the time: half the spread of the runs it was made from, relative to their median
};

struct Baseline {
    std::string machine, machine_hash, title;
    std::size_t runs = 1;
    std::vector<BaselineKernel> kernels;
};

// Of the device and its numbers: origin and citation of a fact may be corrected without another machine coming out.
std::string machine_hash(const Machine& machine);

// From one or several runs of the same program on the same machine: medians. Fails if the machines differ.
Result<Baseline> baseline_of(std::span<const Analysis> runs);
Result<Baseline> parse_baseline(std::string_view json, std::string_view source_name);
std::string to_json(const Baseline& baseline);

struct CheckLimits {
    std::optional<double> min_roof;  // share of the binding roof
    double min_share = 0.01;         // kernels with less of the time are not held to min_roof
    double max_time = 0.05;          // more than the baseline, beyond the kernel's noise
    double max_bytes = 0.02;         // more than the baseline, at any level
};

struct CheckItem {
    std::string name, phase;
    std::string what;             // "roof", "time", "DRAM bytes"
    double found = 0, limit = 0;  // shares for "roof", else base units
    bool passed = true;
};

struct CheckResult {
    std::vector<CheckItem> items;
    std::vector<std::string> notes;  // kernels that came or went, or could not be judged
    [[nodiscard]] bool passed() const;
    [[nodiscard]] std::size_t failures() const;
};
// Fails, instead of giving a verdict, if the baseline is of another machine.
Result<CheckResult> check(const Analysis& analysis, const CheckLimits& limits, const Baseline* baseline = nullptr);

}  // namespace gambrel
