// What the tests of the CSV readers share: real files read in place, and values looked up by name.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "base/csv_table.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail::test {

using namespace base_detail;

inline std::string shared(const std::string& path) { return std::string(GAMBREL_SHARED_DATA) + "/" + path; }

inline std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

#define GAMBREL_NEEDS(path) \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "shared data not found at " << (path)

inline MetricSet metric_set(std::initializer_list<std::string_view> names) {
    MetricSet metrics;
    for (const auto name : names) metrics.add(name);
    return metrics;
}

// The metrics of the NERSC method.
inline MetricSet nersc_metrics() {
    MetricSet metrics =
        metric_set({"dram__bytes.sum", "lts__t_bytes.sum", "l1tex__t_bytes.sum", "sm__cycles_elapsed.avg",
                    "sm__cycles_elapsed.avg.per_second", "sm__inst_executed_pipe_tensor.sum"});
    for (const char precision : {'d', 'f', 'h'}) {
        for (const std::string op : {"add", "mul", "fma"}) {
            metrics.add("sm__sass_thread_inst_executed_op_" + (precision + op) + "_pred_on.sum");
        }
    }
    return metrics;
}

inline std::optional<double> value(const Profile& profile, std::size_t launch, const MetricSet& metrics,
                                   std::string_view name) {
    const MetricId id = metrics.find(name);
    const Launch& l = profile.launches.at(launch);
    for (std::size_t i = l.first_value; i < l.first_value + l.values; ++i) {
        if (profile.values.at(i).metric == id) return profile.values[i].value;
    }
    return std::nullopt;
}

// Sums of a metric over the launches of each kernel.
inline std::map<std::string, double> sums(const Profile& profile, const MetricSet& metrics, std::string_view name) {
    std::map<std::string, double> result;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        result[profile.launches[i].name.str()] += value(profile, i, metrics, name).value_or(NAN);
    }
    return result;
}

// A plain CSV file of expected values: one map from column to text for each row.
inline std::vector<std::map<std::string, std::string>> table(const std::string& path) {
    const std::string text = text_of(path);
    CsvScanner scanner(text);
    CsvRow header, row;
    std::vector<std::map<std::string, std::string>> rows;
    if (!scanner.read(header)) return rows;
    while (!scanner.at_end() && scanner.read(row)) {
        auto& fields = rows.emplace_back();
        for (std::size_t i = 0; i < row.fields.size(); ++i) fields[std::string(header.fields[i])] = row.fields[i];
    }
    return rows;
}

}  // namespace gambrel::ingest_detail::test
