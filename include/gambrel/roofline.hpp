// The verdict of a kernel on a machine: intensity and roof at each level, the binding roof, the headroom. Pure.
// Every roof is a shortest time: work over a pipe's peak, bytes over a level's bandwidth. The longest of these binds.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>

namespace gambrel {

// A kernel is reported as above its ceiling only beyond this factor: counters of separate replay passes and rounded
// clocks disagree by a little.
inline constexpr double kRoofTolerance = 1.02;

struct LevelVerdict {
    Level level = Level::dram;
    Bandwidth ceiling;
    Origin ceiling_origin = Origin::derived;
    std::string ceiling_cite;  // how the ceiling came about
    Bandwidth achieved;
    std::optional<Intensity> intensity;  // absent for a kernel without FLOP
    std::optional<FlopRate> roof;        // the lower of compute roof and intensity x bandwidth
    Seconds shortest;                    // bytes / ceiling
    double of_ceiling = 0;               // achieved / ceiling
};

struct PipeVerdict {
    Pipe pipe = Pipe::fp32;
    FlopRate ceiling;
    Origin ceiling_origin = Origin::derived;
    std::string ceiling_cite;  // how the ceiling came about
    FlopRate achieved;
    Seconds shortest;  // work / ceiling
    double of_ceiling = 0;
};

// What limits a kernel that is far from every roof. latency: warps wait for memory or for each other. occupancy: the
// launch leaves SMs or their warps empty. sm: the profiler reports the SMs busy with work that no FLOP or byte counts,
// such as integer and address arithmetic.
enum class OffRoof : std::uint8_t { latency, occupancy, sm };

using Bound = std::variant<std::monostate, Pipe, Level, OffRoof>;
std::string to_text(Bound bound);  // "DRAM", "tensor_fp16", "latency", "" if nothing could be said

// Below this share of every roof, none of them is what limits the kernel (data/advice/verdict.json).
double near_roof();

struct Roofline {
    std::vector<PipeVerdict> pipes;
    std::vector<LevelVerdict> levels;
    std::optional<Frequency> clock;        // the clock the ceilings were taken at
    std::optional<FlopRate> compute_roof;  // total FLOP over the longest pipe time: the flat roof of this kernel's mix
    std::optional<FlopRate> achieved;
    Bound bound;                        // what holds it up: the nearest roof, or an OffRoof if no roof is near
    Bound nearest;                      // the roof that of_roof, shortest and headroom are about
    bool by_profiler = false;           // `nearest` and its share are the profiler's own percentage, not counted here
    std::string why;                    // what `bound` rests on where it is not simply the nearest roof
    Seconds shortest;                   // the longest of the shortest times
    std::optional<Seconds> headroom;    // time - shortest; negative above the roof
    std::optional<double> of_roof;      // shortest / time
    std::vector<std::string> findings;  // above a roof, and why that may be; what could not be judged
};

struct RooflineOptions {
    std::optional<Frequency> clock;  // overrides the kernel's own
    Roofs roofs = Roofs::theoretical;
    bool use_reported_peaks = true;  // a profiler's own peaks of the launch before the machine's, where there are any
};

Roofline roofline(const Machine& machine, const Kernel& kernel, const RooflineOptions& options = {});

// Every kernel of a run beside its machine and verdict, with totals and the census of kernels that do no FLOP.
// What all reports are views of; computed here once, so that report formats and never computes. Pure.

struct AnalysisRow {
    Kernel kernel;
    Roofline verdict;
    std::size_t machine = 0;  // index into Analysis::machines
};

struct PhaseSummary {
    Symbol phase;
    Kernel sum;
    std::uint64_t zero_flop_launches = 0;
    Seconds zero_flop_time{};
};

struct Analysis {
    std::string title;  // what was analysed, for headings
    Grouping grouping = Grouping::kernel;
    std::vector<Machine> machines;
    std::vector<AnalysisRow> rows;  // by falling time; launches keep file order
    Kernel total;
    std::uint64_t zero_flop_launches = 0;
    std::size_t zero_flop_names = 0;
    Seconds zero_flop_time{};
    PerLevel<Bytes> zero_flop_bytes{};
    std::vector<PhaseSummary> phases;  // in order of appearance; empty if there are no phases
    std::vector<Error> notes;
    Roofs roofs = Roofs::theoretical;
    Origin origin = Origin::measured;
    bool partial = false;                       // the source was cut short
    std::optional<TimelineSummary> timeline{};  // of a trace
    std::optional<TimelineLanes> lanes{};       // of a trace
};

struct AnalysisOptions {
    Grouping grouping = Grouping::kernel;
    TimeSum time_sum = TimeSum::exact;
    RooflineOptions roofline;
};

Analysis analysis(Run run, const AnalysisOptions& options = {});

// What to work on first: the rows with the most time above their roofs, and what the whole would gain by each.
struct Answer {
    struct Item {
        std::size_t row = 0;      // index into Analysis::rows
        Seconds headroom;         // of the row
        double step_speedup = 1;  // of the whole, were this row at its roof and all else as it is
    };
    Seconds time;             // of all rows whose time is known
    Seconds at_roofs;         // of the same rows, were each that could be judged at its roof
    Seconds unjudged;         // the part of `time` of rows that no roof could be found for
    std::vector<Item> first;  // by falling headroom; only what would save at least 1 % of the time
};
Answer answer(const Analysis& analysis);
// Of the whole, if this row were at its roof; absent where the row could not be judged.
std::optional<double> step_speedup(const AnalysisRow& row, Seconds whole);

// What to change, by the rules of data/advice: each rule has a condition over the facts of an Analysis, what it expects
// to save, and the counters that it rests on. Advice is about what was analysed; it promises nothing.
struct Advice {
    std::string rule;                   // the id of the rule
    std::string text;                   // what to do, in a sentence
    std::string evidence;               // what was seen
    std::vector<std::string> rests_on;  // counters and facts
    std::vector<std::size_t> rows;      // of the analysis, by falling gain; empty: the whole
    Seconds gain;                       // of the whole
    double step_speedup = 1;            // whole / (whole - gain)
    bool at_most = false;               // the gain is a bound, not an estimate
};

// Largest gain first. A rule whose facts are unknown does not apply.
std::vector<Advice> advice(const Analysis& analysis);

}  // namespace gambrel
