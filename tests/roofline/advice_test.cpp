// Each rule of data/advice fires where it should and keeps silent where it should not.
#include <gambrel/roofline.hpp>

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"
#include "roofline/advice_facts.hpp"
#include "roofline/advice_rules.hpp"
#include "roofline/toy.hpp"

namespace gambrel {
namespace {

using namespace roofline_detail;
using test::launch;
using test::measured;
using test::toy_machine;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Kernel with(Kernel k, std::string_view gauge, double value) {
    k.gauges.push_back({Symbol(gauge), {value, Origin::measured, Symbol("by hand")}});
    return k;
}

// FP16 and Tensor Cores counted as zero, so that FLOP are known.
Kernel counted(std::string_view name, double seconds, double flop, double dram) {
    Kernel k = launch(std::string(name).c_str(), seconds, flop, dram);
    k.work[Pipe::fp16] = measured(Flops{0});
    k.work[Pipe::tensor_fp16] = measured(Flops{0});
    k.bytes[Level::l2] = measured(Bytes{dram});
    return k;
}

Analysis analysed(std::vector<Kernel> kernels, Machine machine = toy_machine()) {
    Run run;
    run.kernels = std::move(kernels);
    run.machines = {std::move(machine)};
    return analysis(std::move(run));
}

const Advice* find(const std::vector<Advice>& all, std::string_view rule) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const Advice& a) { return a.rule == rule; });
    return it == all.end() ? nullptr : &*it;
}

bool fires(std::string_view rule, std::vector<Kernel> kernels, Machine machine = toy_machine()) {
    return find(advice(analysed(std::move(kernels), std::move(machine))), rule) != nullptr;
}

TEST(AdviceRules, ask_only_for_facts_that_exist) {
    std::set<std::string> known{"names", "share", "gain_s"};
    for (const auto& name : row_fact_names()) known.insert(name);
    for (const auto& name : whole_fact_names()) known.insert(name);
    for (const auto& [file, text] : embedded("metrics")) {
        if (file != "gauges") continue;
        const auto table = nlohmann::json::parse(text);
        for (const auto& quantity : table["quantities"])
            known.insert(quantity["quantity"].get<std::string>().substr(std::string("gauge.").size()));
    }
    EXPECT_GT(known.size(), 30U);
    for (const AdviceRule& rule : advice_rules()) {
        std::vector<std::string> asked = template_names(rule.text + rule.evidence);
        for (const auto& part : {rule.rows, rule.gain, rule.when})
            if (part)
                for (const auto& name : part->names()) asked.push_back(name);
        for (const auto& name : asked) EXPECT_TRUE(known.contains(name)) << rule.id << " asks for " << name;
        EXPECT_FALSE(rule.rests_on.empty()) << rule.id;
    }
}

TEST(AdviceRules, name_all_faults_of_a_table) {
    const auto rules = parse_advice_rules(
        R"({"rules": [{"id": "a", "text": "", "evidence": "", "gain_s": "time_s +"},
                      {"id": "b", "text": "", "evidence": "", "gain_s": "1", "whenn": "1"}]})",
        "t.json");
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().size(), 2U);
    EXPECT_THAT(to_text(rules.error()), HasSubstr("did you mean \"when\"?"));
}

TEST(Advice, of_layout_transposes_says_what_they_take) {
    const auto a = analysed({counted("volta_sgemm", 0.09, 1e9, 1e8), counted("nchwToNhwcKernel<half>", 0.01, 0, 1e8)});
    const auto all = advice(a);
    const Advice* one = find(all, "layout_transposes");
    ASSERT_NE(one, nullptr);
    EXPECT_DOUBLE_EQ(one->gain.value(), 0.01);
    EXPECT_NEAR(one->step_speedup, 0.1 / 0.09, 1e-12);
    EXPECT_THAT(one->text, HasSubstr("channels_last"));
    EXPECT_THAT(one->evidence, HasSubstr("10.0 % of the time"));
    ASSERT_EQ(one->rows.size(), 1U);
    EXPECT_EQ(a.rows[one->rows[0]].kernel.name.str(), "nchwToNhwcKernel<half>");
    EXPECT_FALSE(fires("layout_transposes", {counted("volta_sgemm", 0.1, 1e9, 1e8)}));
    EXPECT_FALSE(
        fires("layout_transposes", {counted("volta_sgemm", 1, 1e9, 1e8), counted("nchwToNhwcKernel", 0.001, 0, 1e6)}))
        << "a thousandth is not worth a change";
}

TEST(Advice, of_kernels_without_flop_needs_a_twentieth_of_the_time) {
    EXPECT_TRUE(fires("zero_flop_kernels", {counted("sgemm", 0.9, 1e9, 1e8), counted("fill", 0.1, 0, 1e8)}));
    EXPECT_FALSE(fires("zero_flop_kernels", {counted("sgemm", 0.97, 1e9, 1e8), counted("fill", 0.03, 0, 1e8)}));
    Kernel unknown = counted("fill", 0.5, 0, 1e8);
    unknown.work[Pipe::fp16].reset();
    EXPECT_FALSE(fires("zero_flop_kernels", {unknown})) << "a hole is not a zero";
}

TEST(Advice, of_launches_needs_a_timeline_with_gaps) {
    Analysis a = analysed({counted("k", 0.001, 1e6, 1e6)});
    EXPECT_EQ(find(advice(a), "launch_bound"), nullptr);
    a.timeline.emplace();
    a.timeline->wall_ns = 2'000'000, a.timeline->launch_bound_ns = 1'000'000;
    const auto all = advice(a);
    const Advice* one = find(all, "launch_bound");
    ASSERT_NE(one, nullptr);
    EXPECT_DOUBLE_EQ(one->step_speedup, 2);
    a.timeline->launch_bound_ns = 10'000;
    EXPECT_EQ(find(advice(a), "launch_bound"), nullptr);
}

TEST(Advice, of_tensor_cores_is_for_fp32_products_near_their_roof) {
    // 1e9 FLOP at 100 GFLOP/s: 10 ms; at the FP16 rate, ten times as fast, 1 ms.
    const auto all = advice(analysed({counted("volta_sgemm_128x64", 0.0125, 1e9, 1e6)}));
    const Advice* one = find(all, "fp32_could_use_fp16");
    ASSERT_NE(one, nullptr);
    EXPECT_NEAR(one->step_speedup, 10, 1e-9);
    EXPECT_FALSE(fires("fp32_could_use_fp16", {counted("volta_sgemm_128x64", 1, 1e9, 1e6)})) << "latency, not FP32";
    EXPECT_FALSE(fires("fp32_could_use_fp16", {counted("elementwise", 0.0125, 1e9, 1e6)}));
    Machine with_tf32 = toy_machine();
    with_tf32.pipes[Pipe::tensor_tf32].dense = test::known(FlopPerCycle{500});
    EXPECT_TRUE(fires("fp32_could_use_tf32", {counted("volta_sgemm_128x64", 0.0125, 1e9, 1e6)}, with_tf32));
    EXPECT_FALSE(fires("fp32_could_use_fp16", {counted("volta_sgemm_128x64", 0.0125, 1e9, 1e6)}, with_tf32));
    Machine none = toy_machine();
    none.pipes[Pipe::tensor_fp16] = {};
    EXPECT_FALSE(fires("fp32_could_use_fp16", {counted("volta_sgemm_128x64", 0.0125, 1e9, 1e6)}, none));
}

TEST(Advice, of_mixed_precision_is_not_for_runs_that_have_it) {
    Kernel tensor = counted("volta_fp16_s884cudnn_fp16_256x64", 0.01, 1, 1e6);
    tensor.work[Pipe::tensor_fp16] = measured(Flops{1e9});
    const Kernel fp32 = counted("volta_sgemm_128x64", 0.0125, 1e9, 1e6);
    EXPECT_TRUE(fires("fp32_could_use_fp16", {fp32}));
    EXPECT_FALSE(fires("fp32_could_use_fp16", {fp32, tensor}));
    EXPECT_TRUE(fires("fp32_in_mixed_precision", {fp32, tensor}));
    EXPECT_FALSE(fires("fp32_in_mixed_precision", {fp32}));
    // FP16 tensors that an FP32 pipe multiplies: mixed precision is on, the kernel is the wrong one.
    const Kernel half = counted("cudnn::detail::implicit_convolve_sgemm<__half, __half, 128>", 0.0125, 1e9, 1e6);
    EXPECT_FALSE(fires("fp32_could_use_fp16", {half}));
    EXPECT_FALSE(fires("fp32_in_mixed_precision", {half, tensor}));
    EXPECT_TRUE(fires("half_off_tensor_cores", {half, tensor}));
    EXPECT_FALSE(fires("half_off_tensor_cores", {fp32, tensor}));
    Machine with_tf32 = toy_machine();
    with_tf32.pipes[Pipe::tensor_tf32].dense = test::known(FlopPerCycle{500});
    EXPECT_FALSE(fires("fp32_could_use_tf32", {half}, with_tf32)) << "TF32 is for FP32 tensors";
}

TEST(Advice, of_tail_waves_is_for_grids_just_over_whole_waves) {
    const Kernel k = counted("k", 0.1, 1e8, 1e8);
    const auto all = advice(analysed({with(k, "waves_per_sm", 1.25)}));
    const Advice* one = find(all, "tail_wave");
    ASSERT_NE(one, nullptr);
    EXPECT_DOUBLE_EQ(one->gain.value(), 0.1 * 0.75 / 2);
    EXPECT_THAT(one->evidence, HasSubstr("1.25 waves take as long as 2"));
    EXPECT_FALSE(fires("tail_wave", {with(k, "waves_per_sm", 2)}));
    EXPECT_FALSE(fires("tail_wave", {with(k, "waves_per_sm", 40.2)}));
    EXPECT_FALSE(fires("tail_wave", {k}));
}

TEST(Advice, of_coalescing_rests_on_the_bytes_that_are_used_of_a_sector) {
    const Kernel k = counted("k", 0.02, 1e8, 1e8);  // half of DRAM's bandwidth
    const auto all = advice(analysed({with(k, "load_bytes_per_sector", 8)}));
    const Advice* one = find(all, "uncoalesced");
    ASSERT_NE(one, nullptr);
    EXPECT_TRUE(one->at_most);
    EXPECT_DOUBLE_EQ(one->gain.value(), 0.02 * 0.5 * 0.75);
    EXPECT_FALSE(fires("uncoalesced", {with(k, "load_bytes_per_sector", 30)}));
    EXPECT_TRUE(fires("excessive_sectors", {with(k, "excessive_sectors", 0.5)}));
    EXPECT_FALSE(fires("excessive_sectors", {with(k, "excessive_sectors", 0.05)}));
    EXPECT_FALSE(fires("excessive_sectors", {with(with(k, "excessive_sectors", 0.5), "load_bytes_per_sector", 8)}))
        << "one of the two rules is enough";
}

TEST(Advice, of_l2_is_for_products_that_read_their_inputs_again_from_dram) {
    EXPECT_TRUE(fires("l2_thrash", {counted("sgemm", 0.015, 1e6, 1e8)}));
    EXPECT_FALSE(fires("l2_thrash", {counted("elementwise", 0.015, 1e6, 1e8)})) << "nothing to reuse";
    EXPECT_FALSE(fires("l2_thrash", {counted("down1.conv1.relu", 0.015, 1e6, 1e8)})) << "of a convolution, but none";
    EXPECT_TRUE(fires("l2_thrash", {counted("volta_scudnn_128x64_relu_interior_nn_v1", 0.015, 1e6, 1e8)}));
    Kernel reused = counted("sgemm", 0.015, 1e6, 1e8);
    reused.bytes[Level::l2] = measured(Bytes{4e8});
    EXPECT_FALSE(fires("l2_thrash", {reused}));
    EXPECT_FALSE(fires("l2_thrash", {counted("sgemm", 0.0015, 1e6, 1e7)})) << "the inputs fit into L2 anyway";
}

TEST(Advice, of_small_grids_is_for_less_than_a_wave) {
    const Kernel k = counted("k", 0.1, 1e8, 1e8);
    EXPECT_TRUE(fires("small_grids", {with(k, "waves_per_sm", 0.25)}));
    EXPECT_FALSE(fires("small_grids", {with(k, "waves_per_sm", 1.5)}));
}

TEST(Advice, is_empty_for_kernels_at_their_roof_and_sorted_by_gain) {
    EXPECT_THAT(advice(analysed({counted("k", 0.011, 1e8, 1e8)})), IsEmpty());
    const auto all = advice(analysed({counted("nchwToNhwcKernel", 0.1, 0, 1e8), counted("fill", 0.5, 0, 1e8)}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_GE(all[0].gain, all[1].gain);
}

TEST(AdviceExpression, follows_the_usual_order_of_operations_and_keeps_holes) {
    const auto value = [](std::string_view text) {
        const auto e = Expression::parse(text);
        EXPECT_TRUE(e) << text;
        return e->value([](std::string_view name) -> std::optional<double> {
            if (name == "two") return 2;
            return std::nullopt;
        });
    };
    EXPECT_EQ(value("1 + two * 3 - 4 / two"), 5);
    EXPECT_EQ(value("(1 + two) * 3"), 9);
    EXPECT_EQ(value("max(1, two) == 2 and ceil(1.2) >= 2"), 1);
    EXPECT_EQ(value("min(floor(2.9), 7)"), 2);
    EXPECT_EQ(value("hole > 1"), std::nullopt);
    EXPECT_EQ(value("two > 1 or hole > 1"), 1);
    EXPECT_EQ(value("1 > two and hole > 1"), 0);
    EXPECT_EQ(value("two / 0"), std::nullopt);
    for (const char* wrong : {"", "1 +", "(1", "two two", "sin(1)", "min(1)", "* 2"})
        EXPECT_FALSE(Expression::parse(wrong)) << wrong;
    EXPECT_FALSE(Expression::parse(std::string(1000, '(')));
}

}  // namespace
}  // namespace gambrel
