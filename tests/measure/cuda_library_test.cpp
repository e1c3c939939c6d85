// Products by cuBLASLt on a stand-in for NVIDIA's libraries: which types and algorithms are asked for, and how they are
// proved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/measure.hpp>

#include "measure/fake_cuda_device.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;

TEST_F(CudaDevice, library_products_of_every_type_keep_the_librarys_rules) {
    set("FAKE_CC", "90");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    for (const Pipe pipe :
         {Pipe::fp32, Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_fp8, Pipe::tensor_int8}) {
        const auto sample = run(**device, {.action = ProbeAction::gemm, .pipe = pipe, .extent = 48}, 0, 2);
        ASSERT_TRUE(sample) << title(pipe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(pipe) << ": " << *sample->fault;
        EXPECT_DOUBLE_EQ(sample->flop, 2 * 2.0 * 48 * 48 * 48);
    }
    EXPECT_EQ(counts()["product of type 28 to 0"], 2) << "E4M3 to FP32";
    EXPECT_EQ(counts()["product of type 3 to 10"], 2) << "INT8 to INT32";
    set("FAKE_BROKEN", "cublasLtMatmul");
    const auto bad = run(**device, {.action = ProbeAction::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}, 0, 1);
    ASSERT_TRUE(bad);
    EXPECT_TRUE(bad->fault);
}

TEST_F(CudaDevice, the_proof_of_a_product_moves_a_few_entries_of_it_and_not_the_matrix) {
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const auto made = (*device)->prepare({.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 64}, Bytes(0));
    ASSERT_TRUE(made && made->probe);
    std::filesystem::remove(log_);
    ASSERT_TRUE(made->probe->run(Bytes(0), 1));
    std::size_t moved = 0;
    for (const std::string& call : calls())
        if (std::size_t bytes = 0; std::sscanf(call.c_str(), "read %zu B", &bytes) == 1 ||
                                   std::sscanf(call.c_str(), "wrote %zu B", &bytes) == 1)
            moved += bytes;
    EXPECT_GT(moved, 0U);
    EXPECT_LE(moved, 16 * 2 * sizeof(float)) << "C has " << 64 * 64 * sizeof(float) << " B";
}

TEST_F(CudaDevice, fast_accumulation_of_fp8_is_asked_for_and_judged_as_what_it_is) {
    set("FAKE_CC", "90");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    Probe probe{.action = ProbeAction::gemm, .pipe = Pipe::tensor_fp8, .extent = 32};
    const auto usual = run(**device, probe, 0, 1);
    ASSERT_TRUE(usual) << to_text(usual.error());
    EXPECT_EQ(counts()["fast accumulation"], 0);
    probe.variant = MatrixVariant::fast_accumulation;
    const auto fast = run(**device, probe, 0, 1);
    ASSERT_TRUE(fast) << to_text(fast.error());
    EXPECT_FALSE(fast->fault) << *fast->fault << ": the library loses one part in a hundred then";
    EXPECT_EQ(counts()["fast accumulation"], 1);
    EXPECT_THAT(title(probe), HasSubstr("with fast accumulation"));
}

TEST_F(CudaDevice, of_the_algorithms_that_the_library_offers_the_fastest_is_timed) {
    set("FAKE_LT_ALGORITHMS", "4");
    auto device = open_device("cuda:0");
    const auto made = (*device)->prepare({.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 32}, Bytes(0));
    ASSERT_TRUE(made && made->probe);
    const int before = counts()["algorithm 2"];
    ASSERT_TRUE(made->probe->run(Bytes(0), 3));
    EXPECT_EQ(counts()["algorithm 2"], before + 3);
    EXPECT_EQ(counts()["algorithm 3"], 2) << "run once, then timed once";
}

TEST_F(CudaDevice, a_library_too_old_for_a_type_is_a_reason_and_no_fault) {
    set("FAKE_CC", "90");
    set("FAKE_LT_OLD", "1");
    auto device = open_device("cuda:0");
    const auto fp8 =
        (*device)->prepare({.action = ProbeAction::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}, Bytes(0));
    ASSERT_TRUE(fp8) << to_text(fp8.error());
    EXPECT_EQ(fp8->probe, nullptr);
    EXPECT_THAT(fp8->reason, HasSubstr("does not support such matrices"));
    EXPECT_TRUE(run(**device, {.action = ProbeAction::gemm, .pipe = Pipe::tensor_int8, .extent = 32}, 0, 1));
}

TEST_F(CudaDevice, tensor_types_that_the_gpu_lacks_are_not_measured_by_a_fallback) {
    set("FAKE_CC", "70");
    set("FAKE_ARCHS", "70,75,80");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const auto tf32 =
        (*device)->prepare({.action = ProbeAction::gemm, .pipe = Pipe::tensor_tf32, .extent = 32}, Bytes(0));
    ASSERT_TRUE(tf32);
    EXPECT_EQ(tf32->probe, nullptr) << "cuBLASLt would take FP32";
}

}  // namespace
}  // namespace gambrel::measure_detail
