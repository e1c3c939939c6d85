// A report of one kernel and three names, read with the metrics that tests ask for.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/ncu_report_builder.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {

using namespace gambrel::test;

inline const MetricSet& wanted_metrics() {
    static const MetricSet metrics = [] {
        MetricSet set;
        for (const char* name : {"gpu__time_duration.sum", "dram__bytes.sum", "device__attribute_multiprocessor_count"})
            set.add(name);
        return set;
    }();
    return metrics;
}

inline const std::vector<std::string> kNames = {"unwanted", "gpu__time_duration.sum", "dram__bytes.sum"};

inline Profile parsed_report(const std::string& bytes, const KeepName& keep = {}) {
    auto profile = read_ncu_report(bytes, {"r.ncu-rep", wanted_metrics(), keep});
    if (!profile) throw std::runtime_error(to_text(profile.error()));
    return std::move(*profile);
}

// The value of a metric of a launch, absent if it has none; fails if it has two.
inline std::optional<double> value(const Profile& profile, std::size_t launch, const std::string& name) {
    std::optional<double> found;
    const Launch& l = profile.launches.at(launch);
    for (std::size_t i = l.first_value; i < l.first_value + l.values; ++i) {
        if (wanted_metrics().name(profile.values.at(i).metric) != name) continue;
        EXPECT_FALSE(found) << name << " is there twice";
        found = profile.values[i].value;
    }
    return found;
}

inline std::string one_kernel(const Message& result, const std::vector<std::string>& names = kNames) {
    Block block;
    block.kernels = {result};
    block.strings = names;
    return ReportBuilder().version("2022.3.0.0 (build 1) (public-release)").block(block).bytes();
}

inline std::vector<std::string> texts(const std::vector<Symbol>& symbols) {
    std::vector<std::string> out;
    for (const Symbol s : symbols) out.push_back(s.str());
    return out;
}

}  // namespace gambrel::ingest_detail
