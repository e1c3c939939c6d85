// Compares the models, and on request the simulator, with measured rows: measured and predicted values, and the errors
// by level, pass, precision, GPU and regime. It changes no constant of a model.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/estimate.hpp>

namespace gambrel {

enum class ValidatedQuantity : std::uint8_t { l1, l2, dram, time };
inline constexpr std::size_t kValidatedQuantities = 4;
std::string_view name(ValidatedQuantity quantity);

// The source of a prediction: the paper's model, gambrel's, the simulator, or a Roofline of three constants fitted on
// the rows themselves. The simulator counts no cycles, so it predicts no time; a Roofline predicts only a time.
enum class EstimateSource : std::uint8_t { paper, gambrel, simulated, roofline };
inline constexpr std::size_t kEstimateSources = 4;
std::string_view name(EstimateSource source);  // "paper", "gambrel", "simulated", "roofline"

struct ValidationRow {
    std::size_t line = 0;
    std::string name, gpu, pass, precision, algorithm, regime, bound;
    std::string op;                            // "gemm", "convolution", ...
    std::uint64_t shape = 0;                   // a hash of all sizes; rows of one shape share it
    double roof_compute = 0, roof_memory = 0;  // s; FLOP and compulsory bytes at the peaks of the row's GPU; 0: unknown
    double least_compute = 0;                  // s; FLOP that its kernel does at the peak of its pipe; 0: unknown
    double least_memory = 0;  // s; what of its tensors does not fit into L2 at the bandwidth of DRAM; 0: unknown
    double time_low = 0, time_high = 0;                   // s; the interval that our prediction carries
    std::array<double, kValidatedQuantities> measured{};  // 0: the row does not say
    std::array<std::array<double, kValidatedQuantities>, kEstimateSources>
        predicted{};  // by EstimateSource; 0: not asked for
    // Predicted over measured; absent if either is.
    [[nodiscard]] std::optional<double> ratio(ValidatedQuantity quantity, EstimateSource source) const;
};

struct ErrorSummary {
    std::size_t rows = 0;
    double mean = 0;       // of |predicted / measured - 1|
    double geometric = 0;  // exp of the mean |ln|, less 1
    double bias = 0;       // mean of predicted / measured, less 1
    double p90 = 0;        // of |predicted / measured - 1|
};
ErrorSummary summary(const std::vector<ValidationRow>& rows, ValidatedQuantity quantity, EstimateSource source,
                     const std::function<bool(const ValidationRow&)>& chosen = {});

// t = start + max(FLOP / (compute x peak), bytes / (memory x bandwidth)): what a mechanistic model must beat.
struct FittedRoofline {
    double start = 0, compute = 1, memory = 1;  // s, shares of the peaks
    [[nodiscard]] double time(const ValidationRow& row) const;
};
// The constants with the least mean |predicted / measured - 1|, by a pattern search. Nothing from fewer than ten rows.
std::optional<FittedRoofline> fitted_roofline(const std::vector<const ValidationRow*>& rows);

// Rows that something was fitted on beside rows that were kept out of the fit. By shape: half of the shapes of a GPU.
// By GPU: a Roofline of all other GPUs is carried over to this one. Our constants are not fitted here: the same halves
// were used to fit them, and a row is on the same side in every file.
struct HeldOutErrors {
    std::string split, gpu, op, precision, side;  // "shape" or "gpu"; "fitted" or "kept out"
    std::size_t rows = 0;
    double gambrel = 0, roofline = 0;  // mean |predicted / measured - 1|
    double inside = 0;                 // share of the rows inside the interval that our prediction carries
};
// Whether rows of the shape may be fitted on.
bool is_fitted_on(std::uint64_t shape);

struct ValidationOptions {
    EstimatorOptions estimator;
    double min_time = 0;                       // s; rows measured shorter are left out
    std::vector<std::string> columns, values;  // only rows whose cell holds the text
    // Add what the host of a framework takes longer with every row of a GPU, where the rows tell it: see HostDrift.
    bool host_drift = false;
    // Also by the simulator, with the estimator's simulation options, which takes its time. Its progress is of all
    // rows; if it is stopped, the rows that are left are not simulated.
    bool simulate = false;
};
struct FoundDrift {
    std::string gpu, op;
    std::size_t rows = 0;  // that it was fitted on and is added to
    HostDrift drift;
};
struct Validation {
    std::vector<ValidationRow> rows;
    std::vector<FoundDrift> drifts;  // where they were asked for
    std::size_t skipped = 0;         // shorter than min_time, or another cell
    Errors unread;                   // rows that could not be judged, and why
    bool partial = false;            // the simulator was stopped
};
Result<Validation> validate(const LayerTable& table, const ValidationOptions& options);
// Rows whose measured time is shorter than their GPU needs for their FLOP in the precision that they are taken for:
// they are of another precision, another GPU, or an algorithm with fewer multiplications.
std::size_t faster_than_peak(const Validation& validation);
// The same for their tensors and the bandwidth of DRAM, beyond what L2 can hold from one call to the next.
std::size_t faster_than_memory(const Validation& validation);
std::vector<HeldOutErrors> held_out_errors(const Validation& validation);

// The two papers joined: the same kernels measured by counters, modelled and simulated, as rows of one run. The phase
// of a kernel says which of the three it is. A simulation counts bytes and no cycles, so its kernel has the measured
// time, or the modelled one where nothing was measured.
struct JoinedKernel {
    std::string name;
    std::size_t modelled = 0;  // index into run.kernels, as are the two below
    std::optional<std::size_t> measured, simulated;
    // Predicted / measured - 1; absent where either is unknown.
    [[nodiscard]] std::optional<double> error(const Run& run, ValidatedQuantity quantity, EstimateSource source) const;
};
struct JoinedStudy {
    Run run;
    std::vector<JoinedKernel> kernels;  // by falling time
    Estimates modelled;                 // estimate i is that of kernel i
    std::size_t left_out = 0;           // shorter ones
    bool is_measured = false;
};
struct JoinedOptions {
    EstimatorOptions estimator;   // of the model; its simulation options are used too
    std::size_t longest = 24;     // kernels that are taken
    EstimateProgress progress{};  // of the simulation; returning false stops it, and the rest is not simulated
};
// Rows of a table, with what was measured where it says so, or the convolutions of a network.
Result<JoinedStudy> joined_study(const LayerSet& layers, const JoinedOptions& options);

}  // namespace gambrel
