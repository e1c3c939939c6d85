// Compares two results of any origin: kernels matched, the change of each amount, and which roof explains the change of
// time. Invariant: every row of both sides is in exactly one pair; what found no partner is a pair of one. Pure; reads
// no file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/roofline.hpp>

namespace gambrel {

// automatic: by layer if both sides have layers (modelled or simulated), else by name if most of the time finds a
// partner so, else by order.
enum class MatchBy : std::uint8_t { automatic, name, order, layer };
std::string_view name(MatchBy by);  // "name"

struct Change {
    std::optional<double> before, after;  // base units
    // after / before; absent if either is unknown or before is zero.
    [[nodiscard]] std::optional<double> ratio() const;
};

// What a change of time comes from. count: another number of launches, each as long as before. roof: another amount of
// bytes or FLOP at one roof, or another machine. clock: the same machine ran at another clock, and its ceilings moved
// with it. efficiency: neither, so another share of the roof.
enum class Cause : std::uint8_t { efficiency, roof, clock, count };

// The ratio of times as a product: clock * bytes * work * rate = after / before. `bytes` or `work` is 1, whichever the
// binding roof of the side after does not have; `rate` is what no roof explains. docs/model/roofline.md.
struct TimeFactors {
    double clock = 1, bytes = 1, work = 1, rate = 1;
};

struct ComparedPair {
    std::optional<std::size_t> before, after;  // rows of the two analyses; one may be missing
    bool by_base_name = false;  // no equal name was found, and one row on each side is left of this base name
    Change time, flop, flop_rate, clock, launches;
    Change share;  // of the time of its own side
    PerLevel<Change> bytes, intensity;
    // The change that, applied alone to the side before, brings its time nearest to the side after; and the share of
    // the change of time that it explains (1: all).
    Cause cause = Cause::efficiency;
    Bound explained_by;  // the roof, if that is the cause
    double explained = 0;
    std::optional<TimeFactors> factors;  // absent if a side has no time or no roof
};

struct Comparison {
    Analysis before, after;
    MatchBy matched_by = MatchBy::name;  // never automatic
    // The side after is nearer to the hardware (modelled, then simulated, then measured): ratios are errors.
    bool is_prediction = false;
    std::vector<ComparedPair> pairs;  // by falling time of the longer side
    ComparedPair total;
    std::size_t matched = 0, only_before = 0, only_after = 0;
    std::size_t matched_by_base_name = 0;  // of `matched`
};

struct CompareOptions {
    MatchBy match_by = MatchBy::automatic;
};
// `before` and `after` must be of one grouping.
Comparison comparison(Analysis before, Analysis after, const CompareOptions& options = {});

// A gate: does every kernel that matters reach its share of the roof, and does none take more time or bytes than a
// baseline? A baseline belongs to one machine: it keeps the hash of the machine's numbers, because a percentage of
// another roof or a time of another device means nothing. Pure but for the text of a baseline; reads no file.

struct BaselineKernel {
    std::string name, phase;
    std::uint64_t launches = 1;
    std::optional<Seconds> time;
    PerLevel<std::optional<Bytes>> bytes;
    std::optional<Frequency> clock;
    double noise = 0;  // of the time: half the spread of the runs it was made from, relative to their median
};

struct Baseline {
    std::string machine, machine_hash, title;
    std::size_t runs = 1;
    std::vector<BaselineKernel> kernels;
};

// Of the device and its numbers: origin and citation of a fact may be corrected without changing the hash.
std::string machine_hash(const Machine& machine);

// From one or several runs of the same program on the same machine: medians. Fails if the machines differ.
Result<Baseline> baseline_of(std::span<const Analysis> runs);
bool names_baseline(std::string_view bytes);  // whether it begins as to_json writes a baseline
Result<Baseline> parse_baseline(std::string_view json, std::string_view source_name);
std::string to_json(const Baseline& baseline);

struct CheckLimits {
    std::optional<double> min_roof;  // share of the binding roof
    double min_share = 0.01;         // kernels with less of the time, now and in the baseline, are not judged
    double max_time = 0.05;          // more than the baseline, beyond the kernel's noise
    double max_bytes = 0.02;         // more than the baseline, at any level
};

struct CheckItem {
    std::string name, phase;
    std::string what;                  // "roof", "time", "DRAM bytes"
    double found = 0, limit = 0;       // shares for "roof", else base units
    std::optional<double> baseline{};  // what the baseline has, scaled to the launches of this run
    bool passed = true;
};

struct CheckResult {
    std::vector<CheckItem> items;
    std::vector<std::string> notes;     // kernels that came or went, or could not be judged
    bool partial = false;               // of a profile that was cut short: what is missing was not checked
    [[nodiscard]] bool passed() const;  // no check failed; says nothing of what is missing
    [[nodiscard]] std::size_t failures() const;
};
// Fails, instead of giving a verdict, if the baseline is of another machine.
Result<CheckResult> check(const Analysis& analysis, const CheckLimits& limits, const Baseline* baseline = nullptr);

}  // namespace gambrel
