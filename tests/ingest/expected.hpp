// What the accuracy tests share: files read through the public interface, expected tables, and errors that keep a
// record.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <gambrel/ingest.hpp>

#include "kernel/quoted_csv.hpp"

namespace gambrel::test {

inline std::filesystem::path shared_data() { return GAMBREL_SHARED_DATA; }

inline Run ingested(const std::filesystem::path& path, FlopRule rule = FlopRule::corrected) {
    IngestOptions options;
    options.flop_rule = rule;
    const std::string text = path.string();
    auto result = ingest(std::span(&text, 1), options);
    if (!result) throw std::runtime_error(to_text(result.error()));
    return std::move(*result);
}

inline std::vector<Row> table(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot open " + path.string());
    return rows(file);
}

// NaN for an empty field or "nan".
inline double number(const Row& row, const std::string& column) {
    const std::string& text = row.at(column);
    return text.empty() ? std::nan("") : std::stod(text);
}

template <class Q>
double value(const Known<Q>& amount) {
    return amount ? amount->value.value() : std::nan("");
}
template <class Q>
double value(const std::optional<Q>& quantity) {
    return quantity ? quantity->value() : std::nan("");
}

// Largest relative error seen, and how many values were compared: a bound that nothing was held against proves nothing.
class Deviation {
public:
    explicit Deviation(double bound) : bound_(bound) {}

    void add(double actual, double expected, const std::string& what) {
        ++compared_;
        const double error = expected == 0 ? std::fabs(actual) : std::fabs(actual / expected - 1);
        if (!(error <= worst_)) worst_ = error;
        EXPECT_TRUE(error <= bound_) << what << ": expected " << expected << ", got " << actual << ", off by " << error;
    }
    [[nodiscard]] int compared() const { return compared_; }
    // Into --gtest_output, so that the bounds can be tightened by what was seen.
    void record(const std::string& name) const {
        std::ostringstream text;
        text << worst_ << " over " << compared_;
        testing::Test::RecordProperty(name, text.str());
    }

private:
    double bound_;
    double worst_ = 0;
    int compared_ = 0;
};

}  // namespace gambrel::test
