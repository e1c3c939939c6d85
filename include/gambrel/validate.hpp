// The model against measured rows: what was measured beside what is predicted, and how far they lie apart by level,
// pass, precision, GPU and regime. It judges; it changes no constant of the model.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gambrel/network.hpp>
#include <gambrel/predictor.hpp>

namespace gambrel {

enum class Measured : std::uint8_t { l1, l2, dram, time };
inline constexpr std::size_t kMeasured = 4;
std::string_view name(Measured quantity);

struct ValidationRow {
    std::size_t line = 0;
    std::string name, gpu, pass, precision, algorithm, regime, bound;
    std::array<double, kMeasured> measured{};                  // 0: the row does not say
    std::array<std::array<double, kMeasured>, 2> predicted{};  // by Model
};

struct ErrorSummary {
    std::size_t rows = 0;
    double mean = 0;       // of |predicted / measured - 1|
    double geometric = 0;  // exp of the mean |ln|, less 1
    double bias = 0;       // mean of predicted / measured, less 1
    double p90 = 0;        // of |predicted / measured - 1|
};
ErrorSummary summary(const std::vector<ValidationRow>& rows, Measured quantity, Model model,
                     const std::function<bool(const ValidationRow&)>& chosen = {});

struct ValidationOptions {
    PredictorOptions predictor;
    double min_time = 0;                       // s; rows measured shorter are left out
    std::vector<std::string> columns, values;  // only rows whose cell holds the text
};
struct Validation {
    std::vector<ValidationRow> rows;
    std::size_t skipped = 0;  // shorter than min_time, or another cell
    Errors unread;            // rows that could not be judged, and why
};
Result<Validation> validate(const LayerTable& table, const ValidationOptions& options);

}  // namespace gambrel
