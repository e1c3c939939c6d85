// The models, and if asked the simulator, against measured rows: what was measured beside what each says, and how far
// they lie apart by level, pass, precision, GPU and regime. It judges; it changes no constant of a model.
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

// Who says: the paper's model, ours, or the simulator. The simulator counts no cycles, so it says no time.
enum class EstimateSource : std::uint8_t { paper, gambrel, simulated };
inline constexpr std::size_t kEstimateSources = 3;
std::string_view name(EstimateSource source);  // "paper", "gambrel", "simulated"

struct ValidationRow {
    std::size_t line = 0;
    std::string name, gpu, pass, precision, algorithm, regime, bound;
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

struct ValidationOptions {
    EstimatorOptions estimator;
    double min_time = 0;                       // s; rows measured shorter are left out
    std::vector<std::string> columns, values;  // only rows whose cell holds the text
    // Also by the simulator, with the estimator's simulation options, which takes its time. Its progress is of all
    // rows; if it is stopped, the rows that are left are not simulated.
    bool simulate = false;
};
struct Validation {
    std::vector<ValidationRow> rows;
    std::size_t skipped = 0;  // shorter than min_time, or another cell
    Errors unread;            // rows that could not be judged, and why
    bool partial = false;     // the simulator was stopped
};
Result<Validation> validate(const LayerTable& table, const ValidationOptions& options);

}  // namespace gambrel
