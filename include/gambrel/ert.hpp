// Results of the Empirical Roofline Toolkit: its raw sweeps (try.NNN), read and judged by its own rule, and its
// roofline.json. ERT names levels by their order, so its names are kept as its words and never taken for capacities.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/measure.hpp>

namespace gambrel {

struct ErtLine {            // one timed launch
    std::string precision;  // "fp64"; "" in files of versions that knew no other
    double working_set = 0, trials = 0, microseconds = 0, bytes = 0, flop = 0;
};
// Program output before and between the lines is passed over. An error if there is no line at all.
Result<std::vector<ErtLine>> parse_ert_try(std::string_view text, std::string_view source_name);

using ErtNamed = std::vector<std::pair<std::string, double>>;  // "FP64 GFLOPs" or "L1", in 1e9 per second

// What ERT's preprocess, maximum and summary make of the tries of one leaf, rule for rule.
struct ErtSummary {
    ErtNamed gflops;
    double weight = 0;
    ErtNamed gbytes;  // from the fastest, "L1" on; the last is "DRAM"
};
// `separation` is how much slower a plateau must be to be another level: ERT has 1.15, a fork that results are found of
// has 1.25.
Result<ErtSummary> ert_summary(const std::vector<ErtLine>& lines, double separation = 1.15);

// Bandwidth over working set of the same lines, for our own plateaus: the best of each working set's medians.
std::vector<SweepPoint> ert_sweep(const std::vector<ErtLine>& lines);

struct ErtRoofline {
    ErtNamed gflops, gbytes;            // empirical
    ErtNamed spec_gflops, spec_gbytes;  // as its user stated them
    std::string host;                   // "" if the file does not say
};
Result<ErtRoofline> parse_ert_json(std::string_view text, std::string_view source_name);

// A roofline.json, a try.NNN, or a folder: then all tries of the leaf in it with the largest weight, as ERT chooses.
struct ErtImport {
    ErtRoofline roofline;           // as the file states it, or by ERT's rule from the tries
    std::vector<Plateau> plateaus;  // ours, of the same tries; empty for a roofline.json
    std::string leaf;               // the folder or file that the bandwidths are from
};
Result<ErtImport> load_ert(const std::string& path);

// A machine with ERT's ceilings as measured ones. Levels beyond L3 have no place in a Machine: an error names them.
Result<Machine> machine_from(const ErtRoofline& roofline, std::string_view source_name);

}  // namespace gambrel
