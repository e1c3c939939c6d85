// Are the metrics that rules name and `gambrel profile` asks for known to ncu? Held against data/metrics/facts, which
// is what `ncu --query-metrics` and CUPTI's metric library print for each chip.
#include "ingest/collection.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/metric_facts.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Collection collected(const CollectionRequest& request) {
    const auto result = metrics_to_collect(request);
    EXPECT_TRUE(result) << (result ? "" : to_text(result.error()));
    return result ? *result : Collection{};
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

constexpr NcuVersion kVersions[] = {{2022, 3}, {2023, 1}, {2023, 2}, {2024, 1}, {2024, 3},
                                    {2025, 1}, {2025, 2}, {2025, 3}, {2025, 4}, {2026, 3}};

// Gauges are read where a report has them and never asked for, so the tables of chips do not list them.
std::set<MetricId> read_for_gauges_alone() {
    std::set<MetricId> gauges, others;
    for (const auto& quantity : metric_rules().quantities) {
        auto& ids = quantity.quantity.kind == QuantityId::Kind::gauge ? gauges : others;
        for (const auto& rule : quantity.rules) {
            ids.insert(rule.over.begin(), rule.over.end());
            for (const auto& term : rule.terms) ids.insert(term.metrics.begin(), term.metrics.end());
        }
    }
    for (const MetricId id : others) gauges.erase(id);
    return gauges;
}

TEST(MetricNames, gauges_are_never_collected) {
    for (const auto& quantity : metric_rules().quantities)
        for (const auto& rule : quantity.rules)
            EXPECT_FALSE(quantity.quantity.kind == QuantityId::Kind::gauge && rule.collect) << quantity.name;
}

TEST(MetricNames, every_name_in_the_rules_is_one_that_ncu_knows) {
    const std::set<MetricId> gauges = read_for_gauges_alone();
    const std::map<std::string, std::string> exceptions{
        {"gpc__frequency", "ncu 2019 only; the DeepCAM logs have it"},
        {"Duration", "details page of --csv"},
        {"SM Frequency", "details page of --csv"},
        {"sm__pipe_tensor_op_imma_cycles_active", "read, never asked for; reports of A100 have it"},
        {"sm__pipe_tensor_op_imma_cycles_active_v2", "read, never asked for; reports of newer chips have it"},
    };
    std::vector<std::string> unknown;
    const MetricRules& rules = metric_rules();
    for (MetricId id = 0; id < rules.metrics.size(); ++id) {
        const std::string name(base_name(rules.metrics.name(id)));
        if (gauges.contains(id)) continue;
        // nvprof's own; made by ncu from others; attributes of the device, which are no counters.
        if (name.starts_with("nvprof:") || name.starts_with("derived__") || name.starts_with("device__attribute_"))
            continue;
        if (!metric_facts().known(name) && !exceptions.contains(name)) unknown.push_back(name);
    }
    EXPECT_GT(rules.metrics.size(), 150u);
    EXPECT_THAT(unknown, IsEmpty());
}

TEST(MetricNames, every_metric_that_we_ask_for_exists_on_that_chip_in_every_version) {
    int asked = 0;
    for (const Machine& m : catalogue()) {
        if (!m.compute_capability || m.compute_capability->major < 7) continue;
        const std::string chip = lower(m.chip);
        ASSERT_TRUE(metric_facts().knows_chip(chip)) << m.id;
        for (const NcuVersion version : kVersions) {
            if (!metric_facts().tool_knows(chip, version)) continue;
            const Collection c = collected({*m.compute_capability, m.chip, version, TensorBy::automatic});
            EXPECT_THAT(c.metrics, Contains("gpu__time_duration.sum")) << m.id;
            for (const auto& metric : c.metrics) {
                EXPECT_TRUE(metric_facts().exists(metric, chip, version))
                    << metric << " on " << m.id << ", ncu " << to_text(version);
                EXPECT_NE(metric_rules().metrics.find(metric), kNoMetric)
                    << metric << " is collected but no rule reads it";
                ++asked;
            }
        }
    }
    EXPECT_GT(asked, 5000);
}

TEST(MetricNames, passes_are_known_for_every_gpu_of_the_catalogue) {
    for (const Machine& m : catalogue()) {
        if (!m.compute_capability || m.compute_capability->major < 7) continue;
        for (const TensorBy by : {TensorBy::automatic, TensorBy::instructions}) {
            const Collection c = collected({*m.compute_capability, m.chip, std::nullopt, by});
            EXPECT_TRUE(c.passes) << m.id << ": " << fmt::format("{}", fmt::join(c.metrics, ","));
            EXPECT_LE(c.passes.value_or(0), by == TensorBy::instructions ? 2 : 11) << m.id;
        }
    }
}

TEST(Collection, on_volta_is_the_papers_set_in_two_passes) {
    const Collection c = collected({{7, 0}, "GV100", NcuVersion{2024, 3}, TensorBy::automatic});
    EXPECT_EQ(c.metrics.size(), 15u);
    EXPECT_THAT(c.metrics, Contains("sm__inst_executed_pipe_tensor.sum"));
    EXPECT_THAT(c.metrics, Contains("dram__bytes.sum"));
    EXPECT_EQ(c.passes, 2);
    EXPECT_THAT(c.notes, IsEmpty());
}

TEST(Collection, on_ampere_counts_operations_without_the_rare_types) {
    const Collection c = collected({{8, 0}, "GA100", NcuVersion{2024, 3}, TensorBy::automatic});
    EXPECT_THAT(c.metrics, Contains("sm__ops_path_tensor_src_fp16_dst_fp32.sum"));
    EXPECT_THAT(c.metrics, Contains("sm__ops_path_tensor_src_fp64.sum"));
    EXPECT_THAT(c.metrics, Contains("sm__ops_path_tensor_src_int8.sum"));
    EXPECT_THAT(c.metrics, Not(Contains("sm__ops_path_tensor_src_int4.sum")));
    EXPECT_THAT(c.metrics, Not(Contains(StartsWith("sm__inst_executed_pipe_tensor"))));
    EXPECT_EQ(c.passes, 7);
}

TEST(Collection, with_an_ncu_before_operation_counters_counts_instructions_and_says_so) {
    for (const NcuVersion old : {NcuVersion{2022, 3}, NcuVersion{2023, 1}, NcuVersion{2020, 1}}) {
        const Collection c = collected({{8, 0}, "GA100", old, TensorBy::automatic});
        EXPECT_THAT(c.metrics, Contains("sm__inst_executed_pipe_tensor.sum"));
        EXPECT_THAT(c.metrics, Each(Not(StartsWith("sm__ops_path"))));
        EXPECT_EQ(c.passes, 2);
        EXPECT_THAT(c.notes, Contains(HasSubstr("2023.2")));
    }
    EXPECT_THAT(collected({{8, 0}, "GA100", NcuVersion{2023, 2}, TensorBy::automatic}).metrics,
                Contains("sm__ops_path_tensor_src_fp64.sum"));
}

TEST(Collection, on_ada_takes_the_name_that_superseded_the_instruction_count_where_that_is_known_to_exist) {
    const auto names = [](std::optional<NcuVersion> version) {
        auto metrics = collected({{8, 9}, "AD102", version, TensorBy::instructions}).metrics;
        std::erase_if(metrics, [](const auto& m) { return !m.starts_with("sm__inst_executed_pipe_tensor"); });
        return metrics;
    };
    EXPECT_THAT(names(NcuVersion{2025, 1}), ElementsAre("sm__inst_executed_pipe_tensor_v2.sum"));
    EXPECT_THAT(names(NcuVersion{2022, 3}), ElementsAre("sm__inst_executed_pipe_tensor.sum"));
    EXPECT_THAT(names(std::nullopt), ElementsAre("sm__inst_executed_pipe_tensor.sum"));
}

TEST(Collection, asks_no_tensor_counters_of_chips_without_tensor_cores) {
    for (const char* chip : {"TU116", "TU117"})
        EXPECT_THAT(collected({{7, 5}, chip, NcuVersion{2024, 3}, TensorBy::automatic}).metrics,
                    Each(Not(HasSubstr("tensor"))));
}

TEST(Collection, without_a_chip_asks_only_for_what_every_chip_of_that_capability_has) {
    const Collection c = collected({{7, 5}, "", NcuVersion{2024, 3}, TensorBy::automatic});
    EXPECT_THAT(c.metrics, Contains("sm__inst_executed_pipe_tensor.sum"));
    EXPECT_THAT(c.notes, Contains(HasSubstr("name the GPU")));
    for (const char* chip : {"tu102", "tu104", "tu106", "tu116", "tu117"})
        for (const auto& m : c.metrics) EXPECT_TRUE(metric_facts().exists(m, chip)) << m << " " << chip;
}

TEST(Collection, says_that_integrated_chips_have_no_dram_counter) {
    const Collection c = collected({{8, 7}, "", NcuVersion{2024, 3}, TensorBy::automatic});
    EXPECT_THAT(c.metrics, Not(Contains("dram__bytes.sum")));
    EXPECT_THAT(c.notes, Contains(HasSubstr("no DRAM roof")));
    EXPECT_EQ(c.passes, 7);
}

TEST(Collection, counts_packed_fp32_on_data_centre_blackwell) {
    const Collection c = collected({{10, 0}, "GB100", NcuVersion{2025, 3}, TensorBy::automatic});
    EXPECT_THAT(c.metrics, Contains("sm__sass_thread_inst_executed_op_ffma2_pred_on.sum"));
    EXPECT_THAT(c.metrics, Contains("sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"));
    EXPECT_EQ(c.passes, 8);
}

TEST(Collection, of_an_unknown_new_gpu_is_that_of_the_nearest_known_with_a_note) {
    const Collection c = collected({{13, 0}, "", std::nullopt, TensorBy::automatic});
    EXPECT_THAT(c.metrics, Contains("dram__bytes.sum"));
    EXPECT_THAT(c.notes, Contains(HasSubstr("13.0 is in no table")));
}

TEST(Collection, fails_for_pascal_with_the_nvprof_command) {
    const auto result = metrics_to_collect({{6, 0}, "GP100", std::nullopt, TensorBy::automatic});
    ASSERT_FALSE(result);
    const std::string text = to_text(result.error());
    EXPECT_THAT(text, HasSubstr("nvprof --csv --metrics "));
    EXPECT_THAT(text, HasSubstr("flop_count_dp"));
    EXPECT_THAT(text, HasSubstr("dram_read_transactions"));
    EXPECT_THAT(text, Not(HasSubstr("nvprof:")));
    EXPECT_THAT(nvprof_metrics(metric_rules()), Not(Contains("time")));
}

TEST(Collection, fails_for_a_chip_that_this_ncu_does_not_know_and_says_which_does) {
    const auto dropped = metrics_to_collect({{7, 0}, "GV100", NcuVersion{2025, 4}, TensorBy::automatic});
    ASSERT_FALSE(dropped);
    EXPECT_THAT(to_text(dropped.error()), HasSubstr("2022.3 to 2025.3"));
    const auto too_new = metrics_to_collect({{12, 0}, "GB202", NcuVersion{2022, 3}, TensorBy::automatic});
    ASSERT_FALSE(too_new);
    EXPECT_THAT(to_text(too_new.error()), HasSubstr("2025.1 and later"));
}

TEST(NcuVersion, is_read_from_what_ncu_prints) {
    EXPECT_EQ(parse_ncu_version("Copyright (c) 2018-2022 NVIDIA Corporation\nVersion 2022.3.0.0 (build 31729285)"),
              (NcuVersion{2022, 3}));
    EXPECT_EQ(parse_ncu_version("Version 2025.10.1"), (NcuVersion{2025, 10}));
    EXPECT_EQ(parse_ncu_version("17.1.14"), std::nullopt);
    EXPECT_EQ(parse_ncu_version("Copyright 2018-2022."), std::nullopt);
}

}  // namespace
}  // namespace gambrel::ingest_detail
