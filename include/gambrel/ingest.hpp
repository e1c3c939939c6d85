// Profiler files to Kernels, by the metric tables in data/metrics. Computes no verdict.
// A bad kernel is a row with a reason; a file that cannot be read at all is an Error naming file, place and value.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>

namespace gambrel {

// corrected: packed FP16 counts 2, 2, 4 and tensor work by operation counters, else by instruction shape and
// architecture. paper: 1, 1, 2 and 512 FLOP per tensor instruction, as arXiv 2009.05257 and the NERSC scripts have it.
enum class FlopRule : std::uint8_t { corrected, paper };

struct IngestOptions {
    FlopRule flop_rule = FlopRule::corrected;
    // For files that do not say it (ncu 2019 CSV, nvprof): the compute capability of the machine that the user named.
    std::optional<ComputeCapability> assumed_cc;
    int nvtx_depth = 1;  // how many NVTX ranges, from the outermost, make the phase
    // Keep only launches whose full or short name this accepts; filtered launches cost no evaluation.
    std::function<bool(const std::string&)> keep;
};

// Files, or folders of files with one metric each. Formats are recognised by content, never by name; .gz is unpacked.
// The kernels are in file order; a row of a per-kernel summary is one Kernel with launches > 1. There is one machine
// for each device named in the files, built from what the files say of it: resolve_machines looks for it in the
// catalogue. Notes say what was truncated, joined or refused. The roofs are those that saved results were judged by.
Result<Run> ingest(std::span<const std::string> paths, const IngestOptions& options = {});

struct NcuVersion {
    int year = 0;
    int release = 0;
    auto operator<=>(const NcuVersion&) const = default;
};
std::string to_text(NcuVersion version);  // "2024.3"
// The first "2024.3" in a text, such as what `ncu --version` prints.
std::optional<NcuVersion> parse_ncu_version(std::string_view text);

// Tensor work by operation counters (exact, several passes more) or by counting instructions (two passes in all, the
// size of an instruction is then a matter of architecture and kernel name). Automatic: operations, but instructions on
// Volta, whose instructions have one size, and with an ncu that has no operation counters.
enum class TensorBy : std::uint8_t { automatic, operations, instructions };

struct CollectionRequest {
    ComputeCapability cc;
    std::string chip;  // "TU116"; empty: only metrics that every chip of that compute capability has
    std::optional<NcuVersion> version;
    TensorBy tensor_by = TensorBy::automatic;
};

struct Collection {
    std::vector<std::string> metrics;
    std::optional<int> passes;  // how often each launch is run again, if the tables tell
    std::vector<std::string> notes;
};

// What `gambrel profile` asks ncu for: exactly the metrics that the rules prefer and that ncu has on that chip. Fails,
// saying what to do instead, where ncu does not know the chip.
Result<Collection> metrics_to_collect(const CollectionRequest& request);

// Results of the Empirical Roofline Toolkit: its raw sweeps (try.NNN), read and judged by its own rule, and its
// roofline.json. ERT names levels by their order, so its names are kept as its words and never taken for capacities.

struct ErtLine {            // one timed launch
    std::string precision;  // "fp64"; "" in files of versions that had no other
    double working_set = 0, trials = 0, microseconds = 0, bytes = 0, flop = 0;
};
// Program output before and between the lines is skipped. A text without any line of a sweep is an error.
Result<std::vector<ErtLine>> parse_ert_try(std::string_view text, std::string_view source_name);

using ErtNamed = std::vector<std::pair<std::string, double>>;  // "FP64 GFLOPs" or "L1", in 1e9 per second

// What ERT's preprocess, maximum and summary make of the tries of one leaf, rule for rule.
struct ErtSummary {
    ErtNamed gflops;
    double weight = 0;
    ErtNamed gbytes;  // from the fastest, "L1" on; the last is "DRAM"
};
// `separation` is how much slower a plateau must be to count as another level: 1.15 in ERT, 1.25 in a fork of it whose
// results are published.
Result<ErtSummary> ert_summary(const std::vector<ErtLine>& lines, double separation = 1.15);

// Bandwidth over working set of the same lines.
struct ErtPoint {
    double working_set = 0;     // bytes
    std::vector<double> rates;  // B/s, one for each try; of the number of trials whose median rate is highest
};
std::vector<ErtPoint> ert_sweep(const std::vector<ErtLine>& lines);

struct ErtRoofline {
    ErtNamed gflops, gbytes;            // empirical
    ErtNamed spec_gflops, spec_gbytes;  // as its user stated them
    std::string host;                   // "" if the file does not say
};
Result<ErtRoofline> parse_ert_json(std::string_view text, std::string_view source_name);

// A roofline.json, a try.NNN, or a folder: then all tries of the leaf in it with the largest weight, as ERT chooses.
struct ErtImport {
    ErtRoofline roofline;         // as the file states it, or by ERT's rule from the tries
    std::vector<ErtPoint> sweep;  // of the same tries; empty for a roofline.json
    std::string leaf;             // the folder or file that the bandwidths are from
};
Result<ErtImport> load_ert(const std::string& path);

// A machine with ERT's ceilings as measured ones. Levels beyond L3 have no place in a Machine: an error names them.
Result<Machine> machine_from(const ErtRoofline& roofline, std::string_view source_name);

}  // namespace gambrel
