// The tables of data/metrics on cases one can check in the head.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/metric_eval_sample.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kInst = "sm__inst_executed_pipe_tensor.sum";
const std::string kHfma = "sm__sass_thread_inst_executed_op_hfma_pred_on.sum";

TEST(TensorWork, hfma2_on_the_tensor_pipe_of_an_a100_is_no_tensor_work) {
    // 320 warps of HFMA2 are 10240 thread instructions, and nothing else ran on the pipe (DETR, CatArrayBatchedCopy).
    const Kernel k = evaluated({{kInst, 320}, {kHfma, 10240}});
    EXPECT_EQ(tensor_flop(k)->value, Flops{0});
    const Kernel paper = evaluated({{kInst, 320}, {kHfma, 10240}}, {.flop_rule = FlopRule::paper});
    EXPECT_EQ(tensor_flop(paper)->value, Flops{163840});
    EXPECT_EQ(tensor_flop(evaluated({{kInst, 330}, {kHfma, 10240}}))->value, Flops{10 * 4096});
}

TEST(TensorWork, an_instruction_is_worth_what_its_architecture_and_name_say) {
    const auto work = [](ComputeCapability cc, const char* name, Pipe pipe) {
        const Kernel k = evaluated({{kInst, 1}}, {.name = name, .cc = cc});
        double all = 0;  // in one pipe only
        for (const auto& w : k.work) all += w ? w->value.value() : 0;
        EXPECT_EQ(all, k.work[pipe]->value.value()) << name;
        return k.work[pipe]->value.value();
    };
    EXPECT_EQ(work({7, 0}, "volta_fp16_s884gemm", Pipe::tensor_fp16), 512);
    EXPECT_EQ(work({7, 0}, "volta_h884gemm", Pipe::tensor_fp16_acc16), 1024);
    EXPECT_EQ(work({7, 5}, "turing_s1688cudnn", Pipe::tensor_fp16), 2048);
    EXPECT_EQ(work({7, 5}, "turing_int8_i8816cudnn", Pipe::tensor_int8), 2048);
    EXPECT_EQ(work({8, 0}, "ampere_fp16_s16816gemm", Pipe::tensor_fp16), 4096);
    EXPECT_EQ(work({8, 0}, "ampere_sgemm_tf32_128x128", Pipe::tensor_tf32), 2048);
    EXPECT_EQ(work({8, 6}, "ampere_bf16_s16816gemm", Pipe::tensor_bf16), 4096);
    EXPECT_EQ(work({8, 0}, "ampere_dgemm_d884", Pipe::tensor_fp64), 512);
    EXPECT_EQ(work({8, 9}, "ampere_i16832gemm_s8_s8", Pipe::tensor_int8), 8192);
}

TEST(TensorWork, operation_counters_go_before_instruction_counts_and_are_not_added_to_their_parts) {
    const Kernel k = evaluated({{kInst, 1000},
                                {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 80},
                                {"sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum", 50},
                                {"sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_on.sum", 30}});
    EXPECT_EQ(k.work[Pipe::tensor_fp16]->value, Flops{80});
    EXPECT_EQ(k.sparse_work->value, Flops{30});
}

TEST(TensorWork, an_idle_pipe_and_a_gpu_without_one_have_done_none) {
    EXPECT_EQ(tensor_flop(evaluated({{kInst, 0}}, {.cc = ComputeCapability{10, 0}}))->value, Flops{0});
    const Kernel uncounted =
        evaluated({{kInst, 5}}, {.cc = ComputeCapability{10, 0}});  // what one is worth is not known
    EXPECT_FALSE(tensor_flop(uncounted));
    EXPECT_TRUE(uncounted.has_uncounted_work);
    EXPECT_THAT(reasons(uncounted), HasSubstr("Tensor Cores were busy"));
    EXPECT_EQ(tensor_flop(evaluated({}, {.cc = ComputeCapability{6, 1}}))->value, Flops{0});
}

Values nersc(double amount) {
    Values v{{"gpu__time_duration.sum", 2e9},  {"sm__cycles_elapsed.avg.per_second", 1e9}, {"dram__bytes.sum", amount},
             {"lts__t_bytes.sum", 2 * amount}, {"l1tex__t_bytes.sum", 4 * amount},         {kInst, 0}};
    for (const char* op : {"dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma"})
        v.emplace_back(std::string("sm__sass_thread_inst_executed_op_") + op + "_pred_on.sum", amount);
    return v;
}

TEST(KernelOfALaunch, the_method_of_the_paper_on_ones) {
    const Kernel k = evaluated(nersc(1));
    EXPECT_EQ(k.time->value, Seconds{2});
    EXPECT_EQ(k.clock->value, Frequency{1e9});
    EXPECT_EQ(k.work[Pipe::fp64]->value, Flops{4});
    EXPECT_EQ(k.work[Pipe::fp32]->value, Flops{4});
    EXPECT_EQ(k.work[Pipe::fp16]->value, Flops{8});
    EXPECT_EQ(evaluated(nersc(1), {.flop_rule = FlopRule::paper}).work[Pipe::fp16]->value, Flops{4});
    EXPECT_EQ(k.bytes[Level::l1]->value, Bytes{4});
    EXPECT_EQ(k.bytes[Level::l2]->value, Bytes{2});
    EXPECT_EQ(k.bytes[Level::dram]->value, Bytes{1});
    EXPECT_THAT(k.reasons, IsEmpty());
    EXPECT_EQ(k.zero_flop_launches, 0U);
    EXPECT_EQ(evaluated(nersc(0)).zero_flop_launches, 1U);
}

TEST(KernelOfALaunch, a_summary_row_is_its_averages_times_its_launches) {
    const Kernel k = evaluated(nersc(1), {.launches = 10});
    EXPECT_EQ(k.launches, 10U);
    EXPECT_EQ(k.time->value, Seconds{20});
    EXPECT_EQ(k.work[Pipe::fp32]->value, Flops{40});
    EXPECT_EQ(k.bytes[Level::dram]->value, Bytes{10});
    EXPECT_EQ(k.clock->value, Frequency{1e9});  // not summed
    EXPECT_EQ(evaluated(nersc(0), {.launches = 10}).zero_flop_launches, 10U);
}

TEST(KernelOfALaunch, rates_are_multiplied_by_the_time_of_one_launch) {
    const Values v{{"gpu__time_duration.sum", 2e9}, {"dram__bytes.sum.per_second", 7}};
    EXPECT_EQ(evaluated(v).bytes[Level::dram]->value, Bytes{14});
    EXPECT_EQ(evaluated(v, {.launches = 10}).bytes[Level::dram]->value, Bytes{140});
}

TEST(KernelOfALaunch, cycles_over_their_rate_are_a_time) {
    const Kernel k = evaluated({{"sm__cycles_elapsed.avg", 3e9}, {"sm__cycles_elapsed.avg.per_second", 1.5e9}});
    EXPECT_EQ(k.time->value, Seconds{2});
    EXPECT_EQ(k.time->rule.str(), "sm_cycles_over_rate");
}

TEST(KernelOfALaunch, what_is_missing_is_named_with_the_metrics_that_would_tell) {
    Values v = nersc(1);
    std::erase_if(
        v, [](const auto& m) { return m.first == "lts__t_bytes.sum" || m.first.find("_op_d") != std::string::npos; });
    const Kernel k = evaluated(v);
    EXPECT_EQ(reasons(k), "not in the file: fp64 work, L2 bytes\n");
    ASSERT_EQ(k.remedies.size(), 1U);
    EXPECT_EQ(k.remedies[0].str(),
              "ncu --metrics lts__t_bytes.sum,sm__sass_thread_inst_executed_op_dadd_pred_on.sum,"
              "sm__sass_thread_inst_executed_op_dmul_pred_on.sum,sm__sass_thread_inst_executed_op_dfma_pred_on.sum");
}

TEST(KernelOfALaunch, a_nan_is_a_reason_and_not_a_number) {
    Values v = nersc(1);
    for (auto& [name, value] : v) value = NAN;
    const Kernel k = evaluated(v);
    EXPECT_FALSE(k.time || flop(k) || k.bytes[Level::dram]);
    EXPECT_THAT(reasons(k), AllOf(HasSubstr("no time, fp64 work"), HasSubstr("is nan and 14 more")));
    Values wrapped = nersc(1);
    for (auto& [name, value] : wrapped)
        if (name == "lts__t_bytes.sum") value = 1.8e19;
    EXPECT_THAT(reasons(evaluated(wrapped)), AllOf(HasSubstr("no L2 bytes"), HasSubstr("wrapped counter")));
}

TEST(KernelOfALaunch, what_was_refused_and_what_is_not_in_the_file_are_two_reasons) {
    Values v = nersc(1);
    std::erase_if(v, [](const auto& m) { return m.first.find("_op_d") != std::string::npos; });
    for (auto& [name, value] : v)
        if (name == "dram__bytes.sum") value = NAN;
    const Kernel k = evaluated(v);
    EXPECT_EQ(reasons(k), "no DRAM bytes: dram__bytes.sum is nan\nnot in the file: fp64 work\n");
    ASSERT_EQ(k.remedies.size(), 1U);
    EXPECT_THAT(k.remedies[0].str(), Not(HasSubstr("dram__bytes")));
}

TEST(KernelOfALaunch, negative_bytes_time_and_clock_are_refused_with_a_reason) {
    for (const char* metric : {"dram__bytes.sum", "gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second"}) {
        Values v = nersc(1);
        for (auto& [name, value] : v)
            if (name == metric) value = -5;
        const Kernel k = evaluated(v);
        EXPECT_THAT(reasons(k), HasSubstr("refused: it is negative")) << metric;
        EXPECT_FALSE(k.clock && k.clock->value.value() < 0) << metric;
        EXPECT_FALSE(k.time && k.time->value.value() < 0) << metric;
    }
}

// TU117 has the compute capability of the T4 and no Tensor Cores, so only the name tells.
TEST(MetricTables, a_chip_without_tensor_cores_did_no_tensor_work_and_its_like_is_unknown) {
    const Values values{{"gpu__time_duration.sum", 1e6}};
    Given given;
    given.cc = ComputeCapability{7, 5};
    given.device = "NVIDIA GeForce GTX 1650";
    const Kernel without = evaluated(values, given);
    ASSERT_TRUE(tensor_flop(without));
    EXPECT_EQ(tensor_flop(without)->value, Flops{0});
    EXPECT_EQ(reasons(without).find("tensor work"), std::string::npos);
    given.device = "Tesla T4";
    EXPECT_FALSE(tensor_flop(evaluated(values, given)));
    EXPECT_THAT(reasons(evaluated(values, given)), HasSubstr("tensor work"));
}

TEST(MetricTables, atomics_at_l1_are_counted_once_however_many_counters_tell_of_them) {
    const Values loads{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 10},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", 4},
                       {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum", 4}};
    EXPECT_EQ(evaluated(loads).bytes[Level::l1]->value, Bytes{14 * 32});
}

TEST(Tables, percentages_become_shares_and_stalls_keep_their_unit) {
    const Kernel k = evaluated({{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 82},
                                {"sm__warps_active.avg.pct_of_peak_sustained_active", 12.5},
                                {"launch__registers_per_thread", 168},
                                {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 6}});
    ASSERT_NE(gauge(k, "use_dram"), nullptr);
    EXPECT_DOUBLE_EQ(gauge(k, "use_dram")->value, 0.82);
    EXPECT_EQ(gauge(k, "use_dram")->rule.str(), "ncu_dram_throughput");
    EXPECT_DOUBLE_EQ(gauge(k, "achieved_occupancy")->value, 0.125);
    EXPECT_DOUBLE_EQ(gauge(k, "registers_per_thread")->value, 168);
    EXPECT_DOUBLE_EQ(gauge(k, "stall_long_scoreboard")->value, 6);
    EXPECT_EQ(gauge(k, "waves_per_sm"), nullptr);
    EXPECT_EQ(gauge(evaluated({{"launch__registers_per_thread", NAN}}), "registers_per_thread"), nullptr);
}

// 50 % of 1,000 cycles on 108 SMs at 4,096 OP each.
TEST(Tables, int8_work_of_the_tensor_cores_is_counted_by_the_cycles_that_they_were_busy) {
    const Values values = {{"sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active", 50},
                           {"sm__cycles_active.avg", 1000},
                           {"device__attribute_multiprocessor_count", 108}};
    const Kernel k = evaluated(values);
    ASSERT_TRUE(k.work[Pipe::tensor_int8]);
    EXPECT_DOUBLE_EQ(k.work[Pipe::tensor_int8]->value.value(), 0.5 * 1000 * 108 * 4096);
    EXPECT_THAT(reasons(k), HasSubstr("INT8 operations"));
    Values exact = values;
    exact.emplace_back("sm__ops_path_tensor_src_int8.sum", 1e9);
    EXPECT_DOUBLE_EQ(evaluated(exact).work[Pipe::tensor_int8]->value.value(), 1e9) << "a count goes before it";
}

}  // namespace
}  // namespace gambrel::ingest_detail
