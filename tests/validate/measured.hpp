// The measured rows of shared/data, judged once for all tests that ask.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <gambrel/validate.hpp>

namespace gambrel::test {

inline const std::filesystem::path kMeasuredFolder = std::filesystem::path(GAMBREL_SHARED_DATA) / "measured";

struct Rows {
    const char* file;
    double min_time = 0;
    const char* algorithm = "";  // only rows whose algorithm holds this
    Precision precision = Precision::fp32;
    bool every_row = true;  // false: the table also holds operators that are not modelled
};

inline const std::vector<ValidationRow>& judged(const Rows& wanted) {
    static std::map<std::string, std::vector<ValidationRow>> known;
    const std::string key = std::string(wanted.file) + '|' + wanted.algorithm + '|' + std::to_string(wanted.min_time);
    if (const auto found = known.find(key); found != known.end()) return found->second;
    const auto table = load_layer_table(kMeasuredFolder / wanted.file, {wanted.precision});
    EXPECT_TRUE(table) << wanted.file;
    ValidationOptions options;
    options.min_time = wanted.min_time;
    if (*wanted.algorithm) options.columns = {"algorithm"}, options.values = {wanted.algorithm};
    if (!table) return known[key];
    auto result = validate(*table, options);
    EXPECT_TRUE(result) << wanted.file;
    if (!result) return known[key];
    EXPECT_TRUE(!wanted.every_row || result->unread.empty()) << wanted.file << ": " << result->unread.front().what;
    return known[key] = std::move(result->rows);
}

class MeasuredData : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(kMeasuredFolder)) GTEST_SKIP() << "shared data not found at " << kMeasuredFolder;
    }
};

// Times of a row, by measurement and by our model; s.
inline double measured_time(const ValidationRow& row) {
    return row.measured[static_cast<std::size_t>(ValidatedQuantity::time)];
}
inline double predicted_time(const ValidationRow& row) {
    return row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)]
                        [static_cast<std::size_t>(ValidatedQuantity::time)];
}

inline bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace gambrel::test
