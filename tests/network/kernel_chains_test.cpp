// Which kernels does a library run for a vector operator, and what does each of them move?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <gambrel/network.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

std::vector<Layer> layers_of(const std::string& row) {
    const auto table = read_layer_table("op,pass,provider,precision,rows,cols,config,software\n" + row + "\n", "t.csv",
                                        {Precision::fp32});
    EXPECT_TRUE(table) << row;
    return table ? table->rows.at(0).layers : std::vector<Layer>{};
}

// Bytes that all kernels of the row move, over those of one tensor, caches aside.
double tensors(const std::string& row, double tensor) {
    double bytes = 0;
    for (const Layer& layer : layers_of(row)) {
        const OperandBytes once = compulsory_bytes(layer);
        const auto& s = std::get<Streaming>(layer.op);
        bytes += (once.read + once.written + s.read_again * element_size(layer.precision)).value();
    }
    return bytes / tensor;
}
constexpr double kFp32 = 4096.0 * 8192 * 4, kBf16 = kFp32 / 2;

TEST(KernelChains, of_eager_losses_move_every_intermediate_result) {
    // p - q, its size, a half of it, the sum; then a filling, two operators, a softmax's two kernels, a sum of
    // gradients.
    EXPECT_NEAR(tensors("tvd,fwd,torch,fp32,4096,8192,,", kFp32), 8, 0.01);
    EXPECT_NEAR(tensors("tvd,bwd,torch,fp32,4096,8192,,", kFp32), 1 + 2 + 3 + 3 + 3 + 3, 0.01);
    EXPECT_NEAR(tensors("tvd,fwd,liger,fp32,4096,8192,,", kFp32), 3, 0.01);
}

TEST(KernelChains, of_norms_compute_in_fp32) {
    // Hugging Face: a cast (1 + 2), a square (4), a mean (2), a product (4), a cast (3), the weights in FP32 (3).
    EXPECT_NEAR(tensors("rms_norm,fwd,huggingface,bf16,4096,8192,,", kBf16), 19, 0.01);
    EXPECT_NEAR(tensors("rms_norm,fwd,liger,bf16,4096,8192,,", kBf16), 2, 0.01);
}

TEST(KernelChains, read_a_row_once_where_shared_memory_holds_it) {
    const auto again = [](const std::string& row) {
        double sum = 0;
        for (const Layer& layer : layers_of(row))
            if (const auto& s = std::get<Streaming>(layer.op); s.rows_per_sm < s.rows) sum += s.read_again;
        return sum;
    };
    EXPECT_EQ(again("cross_entropy,fwd,torch,fp32,64,8192,,"), 0);
    EXPECT_EQ(again("cross_entropy,fwd,torch,fp32,64,16384,,"), 2 * 64 * 16384);
}

TEST(KernelChains, find_what_the_kernel_before_wrote) {
    const auto layers = layers_of("relu_squared,fwd,torch,bf16,4096,128,,");
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(std::get<Streaming>(layers[0].op).read_again, 0);
    EXPECT_EQ(std::get<Streaming>(layers[1].op).read_again, 4096 * 128);
    EXPECT_EQ(compulsory_bytes(layers[1]).read, Bytes{0});
}

TEST(KernelChains, of_megatron_have_the_forward_pass_in_backward_rows) {
    const auto count = [](const char* pass) {
        return layers_of(std::string("megatron_rms_norm,") + pass + ",torch,bf16,64,64,,").size();
    };
    EXPECT_EQ(count("fwd"), 1U);
    EXPECT_EQ(count("fwd+bwd"), count("bwd") + 1);  // the gradient is added to that of the run before
    EXPECT_GT(count("bwd"), 5U);
}

TEST(KernelChains, spill_where_two_arrays_do_not_fit_into_registers) {
    const auto spilled = [](const std::string& columns) {
        return std::get<Streaming>(layers_of("jsd,fwd,liger,fp32,64," + columns + ",,").at(1).op).spilled;
    };
    EXPECT_EQ(spilled("8192"), 0);  // 64 of them a thread
    EXPECT_EQ(spilled("16384"), 14.0 * 64 * 16384);
}

// Liger gives 512 threads to a row of 16,384 and 1,024 to one of 32,768; an SM has 65,536 registers for them.
TEST(KernelChains, spill_where_more_threads_leave_fewer_registers) {
    const auto spilled = [](const std::string& columns) {
        return std::get<Streaming>(layers_of("rms_norm,bwd,liger,bf16,64," + columns + ",,").at(0).op).spilled;
    };
    EXPECT_EQ(spilled("16384"), 0);  // 32 of 128 registers for each array
    EXPECT_EQ(spilled("32768"), 64.0 * 32768);
}

TEST(KernelChains, share_a_step_between_short_rows_of_triton_only) {
    const auto rows_per_sm = [](const std::string& provider, const std::string& columns) {
        const auto layers = layers_of("rms_norm,fwd," + provider + ",bf16,4096," + columns + ",,");
        return std::get<Streaming>(layers.at(0).op).rows_per_sm;
    };
    EXPECT_EQ(rows_per_sm("torch_compile", "8192"), 4);
    EXPECT_EQ(rows_per_sm("torch_compile", "128"), 4 * 16);
    EXPECT_EQ(rows_per_sm("pytorch", "128"), 16);
}

// 16,384 losses, 32 at a time: the target's number, then its logarithm.
TEST(KernelChains, of_eager_losses_gather_with_a_single_cta) {
    const auto layers = layers_of("cross_entropy,fwd,huggingface,fp32,16384,4096,,");
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(std::get<Streaming>(layers[1].op).lone_waits, 512 * 2);
}

TEST(KernelChains, count_the_host_in_ligers_benchmark_only) {
    const auto host = [](const std::string& software) {
        Seconds time;
        Bytes ahead;
        for (const Layer& l : layers_of("layer_norm,bwd,liger,fp32,4096,1024,," + software))
            time += l.hints.host, ahead += l.hints.host_ahead;
        return std::pair{time.value(), ahead.value()};
    };
    EXPECT_EQ(host("").first, 0);
    EXPECT_EQ(host("").second, 0);
    // A Triton kernel of 18 arguments through an autograd function, and four operators.
    EXPECT_NEAR(host("Liger 0.6.0").first, 25e-6 + 18 * 5e-6 + 50e-6 + 4 * 11e-6, 1e-9);
    EXPECT_NEAR(host("Liger 0.6.0").second, 256e6, 1);
    // The host of Liger 0.2.1's rows is slower, but has no more to run ahead of.
    EXPECT_NEAR(host("Liger 0.2.1").first, 1.3 * host("Liger 0.6.0").first, 1e-9);
    EXPECT_NEAR(host("Liger 0.2.1").second, 256e6, 1);
}

TEST(KernelChains, of_an_embedding_write_the_gradient_of_its_whole_table) {
    const auto row = [](const std::string& provider) {
        return "embedding,bwd," + provider + ",fp32,1024,768,\"{\"\"V\"\": \"\"4096\"\"}\",";
    };
    // Filled, added to, and read twice and written once more as it is added to that of the run before.
    const double table = 4096.0 * 768 * 4, looked_up = 1024.0 * 768 * 4;
    EXPECT_NEAR(tensors(row("liger"), 1), 4 * table + 3 * looked_up, 1);
    EXPECT_EQ(layers_of("embedding,bwd,torch,fp32,1024,768,,").size(), 1U);
    // PyTorch sorts instead, and sums of equal indices are written, read and scattered.
    const double distinct = 4096 * (1 - std::exp(-1024.0 / 4096)) * 768 * 4;
    EXPECT_NEAR(tensors(row("torch"), 1), 4 * table + looked_up + 3 * distinct, 1);
}

TEST(KernelChains, of_an_embedding_add_in_l2_by_triton) {
    const auto added = [](const std::string& provider) {
        const auto layers = layers_of("embedding,bwd," + provider + ",fp32,1024,768,\"{\"\"V\"\": \"\"4096\"\"}\",");
        return std::get<Streaming>(layers.at(1).op);
    };
    EXPECT_EQ(added("liger").atomics, 1024 * 768);
    EXPECT_TRUE(added("liger").atomics_ordered);
    EXPECT_EQ(added("torch_compile").atomics, 1024 * 768);
    EXPECT_FALSE(added("torch_compile").atomics_ordered);
    EXPECT_EQ(added("torch").atomics, 0);
}

}  // namespace
}  // namespace gambrel
