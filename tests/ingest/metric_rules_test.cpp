// The metric tables: are they well formed, and are the faults of a table named?
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/metric_rules.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<MetricRules> parsed(std::string_view text) {
    const std::pair<std::string, std::string_view> named{"table.json", text};
    return parse_metric_rules(std::span(&named, 1));
}
std::string fault(const std::string& quantities) {
    const auto rules = parsed(R"({"schema": 1, "quantities": [)" + quantities + "]}");
    EXPECT_FALSE(rules) << quantities;
    return rules ? "" : to_text(rules.error());
}
std::string one_rule(const std::string& fields) {
    return R"({"quantity": "time", "choose": "first", "rules": [{"id": "r", )" + fields + "}]}";
}

TEST(Braces, expand_to_every_combination_in_order) {
    EXPECT_THAT(expanded_braces("plain"), ElementsAre("plain"));
    EXPECT_THAT(expanded_braces("a_{x,y}_b"), ElementsAre("a_x_b", "a_y_b"));
    EXPECT_THAT(expanded_braces("{a,b}{1,2}"), ElementsAre("a1", "a2", "b1", "b2"));
    EXPECT_THAT(expanded_braces("a{,_x}"), ElementsAre("a", "a_x"));
    EXPECT_THAT(expanded_braces("a{x}"), ElementsAre("ax"));
}

TEST(MetricTables, faults_are_named_with_file_quantity_and_rule) {
    EXPECT_THAT(fault(R"({"quantity": "work.fp128", "choose": "first", "rules": []})"),
                AllOf(HasSubstr("table.json"), HasSubstr("\"work.fp128\" is not a known quantity")));
    EXPECT_THAT(fault(R"({"quantity": "time", "choose": "best", "rules": []})"),
                AllOf(HasSubstr("\"best\" is neither first nor largest"), HasSubstr("time")));
    EXPECT_THAT(fault(R"({"quantity": "time", "choose": "first", "rulez": []})"), HasSubstr("did you mean \"rules\"?"));
    EXPECT_THAT(fault(one_rule(R"("terms": [], "flop_rule": "mine")")),
                AllOf(HasSubstr("\"mine\""), HasSubstr("time"), HasSubstr("rule r")));
    EXPECT_THAT(fault(one_rule(R"("terms": [], "cc": "volta")")), AllOf(HasSubstr("\"volta\""), HasSubstr("rule r")));
    EXPECT_THAT(fault(one_rule(R"("terms": [{"metric": "m", "facter": 2}])")), HasSubstr("did you mean \"factor\"?"));
    EXPECT_THAT(fault(one_rule(R"("terms": [{"factor": 2}])")), AllOf(HasSubstr("metric"), HasSubstr("rule r")));
    EXPECT_THAT(fault(one_rule(R"("term": [])")), HasSubstr("did you mean \"terms\"?"));
    EXPECT_THAT(fault(one_rule(R"("terms": [{"constant": 0, "facter": 2}])")), HasSubstr("facter"));
    EXPECT_THAT(fault(one_rule(R"("terms": [{"metric": "m_{a,b"}])")), HasSubstr("m_{a,b"));
    EXPECT_THAT(fault(one_rule(R"("terms": [{"metric": "m_{a,{b,c}}"}])")), HasSubstr("brace"));
}

TEST(MetricTables, another_schema_or_no_json_is_an_error) {
    EXPECT_THAT(to_text(parsed(R"({"schema": 2, "quantities": []})").error()), HasSubstr("schema"));
    EXPECT_FALSE(parsed("{"));
    EXPECT_FALSE(parsed("[]"));
    EXPECT_FALSE(parsed("7"));
}

TEST(MetricTables, all_tables_with_faults_are_told) {
    const std::vector<std::pair<std::string, std::string_view>> tables{{"a.json", "{"}, {"b.json", "{}"}};
    EXPECT_EQ(parse_metric_rules(tables).error().size(), 2U);
}

TEST(MetricTables, choose_first_is_one_tier_a_rule_and_largest_is_one_tier_for_all) {
    const std::string two =
        R"("rules": [{"id": "a", "terms": [{"metric": "m"}]}, {"id": "b", "terms": [{"metric": "n"}]}]})";
    const auto rules = parsed(R"({"schema": 1, "quantities": [{"quantity": "work.fp32", "choose": "first", )" + two +
                              R"(, {"quantity": "work.fp64", "choose": "largest", )" + two +
                              R"(, {"quantity": "time", "choose": "first", "rules": []}]})");
    ASSERT_TRUE(rules) << to_text(rules.error());
    EXPECT_EQ(rules->quantities.at(0).name, "time");  // first, because others multiply by it
    EXPECT_NE(rules->quantities.at(1).rules[0].tier, rules->quantities.at(1).rules[1].tier);
    EXPECT_EQ(rules->quantities.at(2).rules[0].tier, rules->quantities.at(2).rules[1].tier);
}

TEST(MetricTables, every_quantity_is_there_once) {
    std::set<std::string> names;
    for (const auto& quantity : metric_rules().quantities)
        EXPECT_TRUE(names.insert(quantity.name).second) << quantity.name;
    for (const char* name :
         {"time", "clock", "work.fp64", "work.fp32", "work.fp16", "bytes.L1", "bytes.L2", "bytes.DRAM", "sparse_work"})
        EXPECT_TRUE(names.contains(name)) << name;
    for (const Pipe p : all_pipes())
        if (is_tensor(p)) {
            EXPECT_TRUE(names.contains("work." + std::string(name(p)))) << name(p);
        }
    EXPECT_EQ(metric_rules().quantities.front().name, "time");
}

TEST(MetricTables, an_id_is_used_twice_only_where_alternatives_mean_the_same) {
    for (const auto& quantity : metric_rules().quantities) {
        std::set<std::string> ids;
        for (const auto& rule : quantity.rules) {
            const std::string& id = rule.id.str();
            const bool meant = id == "inst_other_type" || id == "tensor_pipe_idle" || id == "imma_cycles_active" ||
                               id.starts_with("peak_sustained_");
            EXPECT_TRUE(ids.insert(id).second || meant) << quantity.name << ": " << id;
        }
    }
}

// The factors that the field gets wrong by two. Written out here a second time on purpose.
TEST(MetricTables, factors_of_the_method_are_what_the_paper_and_the_corrections_say) {
    std::map<std::string, double> factors;  // "quantity rule metric"
    for (const auto& quantity : metric_rules().quantities)
        for (const auto& rule : quantity.rules)
            for (const auto& term : rule.terms)
                for (const MetricId metric : term.metrics)
                    factors[quantity.name + " " + rule.id.str() + " " + metric_rules().metrics.name(metric)] =
                        term.factor / term.per;
    const auto factor = [&](const std::string& key) {
        EXPECT_TRUE(factors.contains(key)) << "no rule " << key;
        return factors.contains(key) ? factors.at(key) : 0;
    };
    const auto op = [](const char* name) {
        return std::string("sm__sass_thread_inst_executed_op_") + name + "_pred_on.sum";
    };
    for (const char p : {'d', 'f'}) {
        const std::string head = std::string(p == 'd' ? "work.fp64" : "work.fp32") + " sm_sass_" + p + " ";
        EXPECT_EQ(factor(head + op((std::string(1, p) + "add").c_str())), 1);
        EXPECT_EQ(factor(head + op((std::string(1, p) + "mul").c_str())), 1);
        EXPECT_EQ(factor(head + op((std::string(1, p) + "fma").c_str())), 2);
    }
    EXPECT_EQ(factor("work.fp16 sm_sass_h " + op("hadd")), 2);
    EXPECT_EQ(factor("work.fp16 sm_sass_h " + op("hfma")), 4);
    EXPECT_EQ(factor("work.fp16 sm_sass_h_paper " + op("hadd")), 1);
    EXPECT_EQ(factor("work.fp16 sm_sass_h_paper " + op("hfma")), 2);
    const std::string inst = " sm__inst_executed_pipe_tensor.sum";
    EXPECT_EQ(factor("work.tensor_fp16 inst_x512_paper" + inst), 512);
    EXPECT_EQ(factor("work.tensor_fp16 inst_hmma_884" + inst), 2.0 * 8 * 8 * 4 * 4 / 4);
    EXPECT_EQ(factor("work.tensor_fp16_acc16 inst_hmma_884_acc16" + inst), 2.0 * 8 * 8 * 4 * 4 / 2);
    EXPECT_EQ(factor("work.tensor_fp16 inst_hmma_1688" + inst), 2.0 * 16 * 8 * 8);
    EXPECT_EQ(factor("work.tensor_fp16 inst_hmma_16816" + inst), 2.0 * 16 * 8 * 16);
    EXPECT_EQ(factor("work.tensor_tf32 inst_hmma_1688_tf32" + inst), 2.0 * 16 * 8 * 8);
    EXPECT_EQ(factor("work.tensor_int8 inst_imma_16832" + inst), 2.0 * 16 * 8 * 32);
    EXPECT_EQ(factor("work.tensor_fp64 inst_dmma_884" + inst), 2.0 * 8 * 8 * 4);
    EXPECT_EQ(factor("peak.fp32 peak_sustained_ffma " + op("ffma") + ".peak_sustained"), 2);
    EXPECT_EQ(factor("peak.fp16 peak_sustained_hfma " + op("hfma") + ".peak_sustained"), 4);
    EXPECT_EQ(factor("peak.L2 peak_lts2xbar_cycles lts__lts2xbar_cycles_active.sum.peak_sustained"), 32);
    EXPECT_EQ(factor("bytes.L2 lts2xbar_cycles_rate lts__lts2xbar_cycles_active.sum.per_second"), 32);
    EXPECT_EQ(factor("bytes.L2 lts_t_sectors lts__t_sectors.sum"), 32);
    EXPECT_EQ(factor("bytes.DRAM dram_sectors dram__sectors_read.sum"), 32);
    EXPECT_EQ(factor("time gpu_time_duration gpu__time_duration.sum"), 1e-9);
}

}  // namespace
}  // namespace gambrel::ingest_detail
