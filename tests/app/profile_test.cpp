// The real binary in a folder of fakes: shows that the right command is made, run and followed by an analysis. That a
// real ncu accepts it was checked by hand (2022.3, up to the missing driver); that it yields these counters, only a GPU
// can show.
#include <algorithm>

#include <gmock/gmock.h>

#include "app/profile_folder.hpp"

namespace {

using namespace gambrel::test;
using Profile = ProfileFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kA100Metrics =
    "gpu__time_duration.sum,sm__cycles_elapsed.avg.per_second,"
    "sm__sass_thread_inst_executed_op_dadd_pred_on.sum,sm__sass_thread_inst_executed_op_dmul_pred_on.sum,"
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum,sm__sass_thread_inst_executed_op_fadd_pred_on.sum,"
    "sm__sass_thread_inst_executed_op_fmul_pred_on.sum,sm__sass_thread_inst_executed_op_ffma_pred_on.sum,"
    "sm__sass_thread_inst_executed_op_hadd_pred_on.sum,sm__sass_thread_inst_executed_op_hmul_pred_on.sum,"
    "sm__sass_thread_inst_executed_op_hfma_pred_on.sum,l1tex__t_bytes.sum,lts__t_bytes.sum,dram__bytes.sum,"
    "sm__ops_path_tensor_src_fp64.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_bf16_dst_"
    "fp32.sum,"
    "sm__ops_path_tensor_src_fp16_dst_fp32.sum,sm__ops_path_tensor_src_fp16_dst_fp16.sum,sm__ops_path_tensor_src_"
    "int8.sum";

// The order of metrics follows that of the tables and means nothing.
std::vector<std::string> sorted_list(const std::string& text) {
    std::vector<std::string> items;
    std::stringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
    std::sort(items.begin(), items.end());
    return items;
}

TEST_F(Profile, runs_ncu_with_exactly_the_metrics_and_analyses_its_report) {
    if (!have_data()) GTEST_SKIP() << kNoData;
    fake_ncu();
    fake_gpu();
    const Outcome o = run("--csv - -- app 1 2");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, testing::StartsWith("name,phase,launches,time_s"));
    EXPECT_THAT(o.out, Not(HasSubstr("==PROF==")));
    EXPECT_THAT(o.err, HasSubstr("==PROF== this is ncu"));
    auto argv = argv_of_ncu();
    ASSERT_GT(argv.size(), 2u);
    EXPECT_EQ(sorted_list(argv[1]), sorted_list(kA100Metrics));
    argv[1] = "METRICS";
    EXPECT_THAT(argv, ElementsAre("--metrics", "METRICS", "--nvtx", "--clock-control", "base", "--cache-control", "all",
                                  "--replay-mode", "kernel", "--target-processes", "all", "-f", "-o",
                                  "gambrel-app.ncu-rep", "app", "1", "2"));
}

TEST_F(Profile, passes_the_programs_arguments_on_as_they_are) {
    fake_ncu();
    fake_gpu();
    run(R"(-- app 'a b' "it's" '$HOME' '' '[1,2]' -o --dry-run -- -h '*' 'x;y')");
    const auto argv = argv_of_ncu();
    ASSERT_GT(argv.size(), 12u);
    EXPECT_THAT(std::vector(argv.end() - 12, argv.end()),
                ElementsAre("app", "a b", "it's", "$HOME", "", "[1,2]", "-o", "--dry-run", "--", "-h", "*", "x;y"));
}

TEST_F(Profile, hands_its_own_filters_and_settings_to_ncu) {
    fake_ncu();
    fake_gpu();
    run("--kernel 'gemm|conv' --launch-skip 3 --launch-count 5 --nvtx-include forward/ --nvtx-include backward/ "
        "--clock-control none "
        "--cache-control none --replay-mode application --tensor-by instructions -o 50%p.ncu-rep -o chart.svg -- app");
    auto argv = argv_of_ncu();
    ASSERT_GT(argv.size(), 2u);
    EXPECT_THAT(argv[1], HasSubstr("sm__inst_executed_pipe_tensor.sum"));
    EXPECT_THAT(argv[1], Not(HasSubstr("sm__ops_path")));
    argv.erase(argv.begin(), argv.begin() + 2);
    EXPECT_THAT(
        argv, ElementsAre("--nvtx", "--nvtx-include", "forward/", "--nvtx-include", "backward/", "--clock-control",
                          "none", "--cache-control", "none", "--replay-mode", "application", "--target-processes",
                          "all", "--kernel-name-base", "demangled", "--kernel-name", "regex:gemm|conv", "--launch-skip",
                          "3", "--launch-count", "5", "-f", "-o", "50%%p.ncu-rep", "app"));
}

TEST_F(Profile, writes_charts_beside_the_report) {
    if (!have_data()) GTEST_SKIP() << kNoData;
    fake_ncu();
    fake_gpu();
    const Outcome o = run("-q -o chart.svg -o run.ncu-rep -- app");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(text_of(folder_ / "chart.svg"), HasSubstr("<svg"));
    EXPECT_TRUE(fs::exists(folder_ / "run.ncu-rep"));
}

TEST_F(Profile, dry_run_prints_the_command_for_a_shell_and_runs_nothing) {
    const Outcome o = run(R"(--dry-run --gpu v100 -- ./not_here "it's" 'a b')");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, testing::StartsWith("ncu --metrics gpu__time_duration.sum,"));
    EXPECT_THAT(o.out, testing::EndsWith("-f -o gambrel-not_here.ncu-rep ./not_here 'it'\\''s' 'a b'\n"));
    EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1);
    for (const char* said : {"V100", "7.0", "15, in 2 to 3 passes", "locked to base", "flushed before every pass"})
        EXPECT_THAT(o.err, HasSubstr(said));
    EXPECT_FALSE(fs::exists(folder_ / "argv"));
}

TEST_F(Profile, takes_the_gpu_from_nvidia_smi) {
    fake_ncu();
    fake_gpu("NVIDIA GeForce GTX 1650, 7.5");
    const Outcome o = run("--dry-run -- app");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.err, HasSubstr("TU117"));
    EXPECT_THAT(o.out, Not(HasSubstr("tensor")));
    fake_gpu("Some GPU of Tomorrow, 12.0");
    EXPECT_THAT(run("--dry-run -- app").err, HasSubstr("ncu 2024.3: does not know GB202"));
    fake_ncu("2025.3.0.0");
    EXPECT_THAT(run("--dry-run -- app").out, HasSubstr("sm__ops_path_tensor_src_fp4_dst_fp32.sum"));
}

TEST_F(Profile, asks_an_old_driver_for_the_name_only) {
    script(
        "nvidia-smi",
        R"(case "$1" in *compute_cap*) echo 'Field "compute_cap" is not a valid field to query.'; exit 2;; esac; echo 'Tesla V100-SXM2-16GB')");
    const Outcome o = run("--dry-run -- app");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.err, HasSubstr("GV100, compute capability 7.0"));
}

TEST_F(Profile, without_ncu_says_what_to_install) {
    fake_gpu();
    const Outcome o = run("-- app");
    if (o.err.find("error: ncu: not found") == std::string::npos && fs::exists("/usr/bin/ncu"))
        GTEST_SKIP() << "there is an ncu here";
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("Nsight Compute"));
    EXPECT_THAT(o.err, HasSubstr("--ncu PATH"));
    EXPECT_THAT(o.out, IsEmpty());
}

TEST_F(Profile, sends_owners_of_pascal_to_nvprof_whether_or_not_ncu_is_there) {
    const Outcome o = run("--gpu p100 -- app");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("nvprof --csv --metrics"));
    EXPECT_THAT(o.err, Not(HasSubstr("not found")));
}

TEST_F(Profile, is_not_fooled_by_another_program_of_that_name) {
    script("ncu", "echo 17.1.14");
    fake_gpu();
    const Outcome o = run("-- app");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("17.1.14"));
}

TEST_F(Profile, without_permission_says_how_to_get_it) {
    fake_ncu("2024.3.2.0",
             "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; rm -f \"$out\"; exit 1");
    fake_gpu();
    const Outcome o = run("-- app");
    EXPECT_EQ(o.status, 2);
    for (const char* said : {"status 1", "NVreg_RestrictProfilingToAdminUsers=0", "SYS_ADMIN", "sudo"})
        EXPECT_THAT(o.err, HasSubstr(said));
    EXPECT_THAT(o.out, IsEmpty());
}

TEST_F(Profile, without_a_gpu_or_a_program_says_so) {
    fake_ncu();
    script("nvidia-smi", "exit 9");
    Outcome o = run("-- app");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("--gpu a100"));
    fake_gpu();
    o = run("-- no_such_program");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("no_such_program"));
    EXPECT_FALSE(fs::exists(folder_ / "argv"));
    EXPECT_THAT(run("").err, HasSubstr("gambrel profile -- APP"));
    EXPECT_THAT(run("app").err, HasSubstr("write -- before the program"));
}

TEST_F(Profile, refuses_what_the_analysis_could_not_do_before_it_runs_anything) {
    fake_ncu();
    fake_gpu();
    for (const char* wrong :
         {"--kernel '('", "--clock fast", "-o chart.gif", "--gpu p100", "-o a.ncu-rep -o b.ncu-rep"}) {
        const Outcome o = run(std::string(wrong) + " -- app");
        EXPECT_EQ(o.status, 2) << wrong;
        EXPECT_THAT(o.err, HasSubstr("error: ")) << wrong;
        EXPECT_FALSE(fs::exists(folder_ / "argv")) << wrong;
    }
}

TEST_F(Profile, does_not_replace_a_report_unless_forced) {
    if (!have_data()) GTEST_SKIP() << kNoData;
    fake_ncu();
    fake_gpu();
    std::ofstream(folder_ / "run.ncu-rep") << "precious";
    const Outcome refused = run("-o run.ncu-rep -- app");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--force"));
    EXPECT_EQ(text_of(folder_ / "run.ncu-rep"), "precious");
    EXPECT_EQ(run("-f -o run.ncu-rep -- app").status, 0);
}

TEST_F(Profile, keeps_the_old_report_until_the_new_one_is_whole) {
    fake_gpu();
    std::ofstream(folder_ / "run.ncu-rep") << "precious";
    fake_ncu("2024.3.2.0", "rm -f \"$out\"; exit 1");
    EXPECT_EQ(run("-f -o run.ncu-rep -- app").status, 2);
    EXPECT_EQ(text_of(folder_ / "run.ncu-rep"), "precious") << "ncu wrote nothing";
    fake_ncu("2024.3.2.0", "echo half > \"$out\"; exit 1");
    const Outcome half = run("-f -o run.ncu-rep -- app");
    EXPECT_EQ(half.status, 2);
    EXPECT_EQ(text_of(folder_ / "run.ncu-rep.old"), "precious");
    EXPECT_THAT(half.err, HasSubstr("kept as run.ncu-rep.old"));
}

TEST_F(Profile, says_how_ncu_ended_and_where_its_report_is) {
    if (!have_data()) GTEST_SKIP() << kNoData;
    fake_gpu();
    fake_ncu("2024.3.2.0", "kill -9 $$");
    Outcome o = run("-o 'my run.ncu-rep' -- app");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("signal 9"));
    EXPECT_THAT(o.err, HasSubstr("gambrel analyze 'my run.ncu-rep'"));
    fake_ncu("2024.3.2.0", "rm -f \"$out\"; echo '==WARNING== No kernels were profiled.'");
    o = run("-- app");
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("wrote no report"));
    EXPECT_THAT(o.err, HasSubstr("no CUDA kernel"));
}

TEST_F(Profile, analyses_what_there_is_when_interrupted) {
    if (!have_data()) GTEST_SKIP() << kNoData;
    fake_gpu();
    // Only gambrel gets the signal, from the fake's point of view its parent; it must come back to the fake, which then
    // ends.
    fake_ncu("2024.3.2.0",
             "trap 'touch passed_on; exit 130' INT; kill -INT $PPID; i=0; while [ $i -lt 100 ]; do sleep 0.05; "
             "i=$((i+1)); done; exit 7");
    const Outcome o = run("--csv - -- app");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_TRUE(fs::exists(folder_ / "passed_on"));
    EXPECT_THAT(o.err, HasSubstr("interrupted"));
    EXPECT_THAT(o.out, testing::StartsWith("name,phase"));
}

}  // namespace
