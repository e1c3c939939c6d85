// Streams that read a row twice, share the bus with writes, or wait for the host: does each mechanism do what it says?
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>
#include <gambrel/network.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Layer stream(double rows, double columns, double written = 1) {
    Streaming s;
    s.read[0] = rows * columns, s.written = written * rows * columns, s.rows = rows;
    Layer layer;
    layer.name = "stream";
    layer.op = s;
    layer.precision = Precision::fp32;
    return layer;
}

Prediction streamed_on(const Layer& layer, const std::string& gpu) {
    const Machine& m = machine(gpu);
    const Mapping mapping = mapping_for(layer, m);
    const ModelInputs h = *model_inputs(m);
    return predict(layer, mapping, occupancy(h.limits, mapping), h);
}

TEST(Streams, find_rows_in_l2_that_they_read_twice_if_all_rows_in_flight_fit) {
    // 16 CTAs on each of 132 SMs with 4 KiB read and 4 KiB written each: 17 MB of an L2 of 50. With 64 KiB: 277 MB.
    const auto reads = [](double columns) {
        Layer layer = stream(16384, columns);
        auto& s = std::get<Streaming>(layer.op);
        s.read_again = s.read[0], s.rows_per_sm = 16;
        return streamed_on(layer, "h100-sxm").traffic.dram.a / (s.read[0] * Bytes{4});
    };
    EXPECT_NEAR(reads(1024), 1, 1e-9);
    EXPECT_NEAR(reads(16384), 2, 1e-9);
    EXPECT_GT(reads(2048), 1);
    EXPECT_LT(reads(2048), 2);
}

TEST(Streams, find_what_the_kernel_before_wrote_if_it_fits_into_l2) {
    const auto read = [](double rows) {
        Layer layer = stream(rows, 1024);
        auto& s = std::get<Streaming>(layer.op);
        std::swap(s.read_again, s.read[0]);
        s.rows_per_sm = rows;
        return streamed_on(layer, "h100-sxm").traffic.dram.a / (s.read_again * Bytes{4});
    };
    EXPECT_NEAR(read(2048), 0, 1e-9);   // 8 MB, and as much written
    EXPECT_NEAR(read(16384), 1, 1e-9);  // 67 MB
}

// Rows of 16 KiB: 16,384 look-ups.
TEST(Streams, that_gather_read_a_row_of_their_table_once_while_l2_holds_it) {
    const auto share_read = [](double table_rows) {
        Layer layer = stream(16384, 4096);
        auto& s = std::get<Streaming>(layer.op);
        s.kind = StreamingKind::gather, s.table_rows = table_rows;
        return streamed_on(layer, "a100-sxm4-80gb").traffic.dram.a / (s.read[0] * Bytes{4});
    };
    EXPECT_EQ(share_read(0), 1) << "of a table that is not known no row is taken to be read twice";
    EXPECT_NEAR(share_read(1024), 1.0 / 16, 1e-5) << "17 MB stay in 42 MB of L2";
    EXPECT_GT(share_read(8192), 0.5) << "of 116 MB most of what is asked for again has left";
    EXPECT_NEAR(share_read(1e9), 1, 1e-4);
    for (double rows = 16; rows < 1e6; rows *= 2) EXPECT_LE(share_read(rows), share_read(2 * rows)) << rows;
}

// A profiler empties all caches before the kernel, those of instructions too, and stops its watch while half of A100's
// L2 is not yet written back. A call that is repeated writes back what the one before it left.
TEST(Streams, that_a_profiler_counts_start_slowly_and_leave_output_in_l2) {
    const auto streamed = [](const char* gpu, bool profiled) {
        Layer layer = stream(1 << 12, 1 << 11);  // 34 MB read, 34 MB written
        layer.hints.timing = profiled ? Timing::kernel : Timing::call;
        layer.hints.cold = layer.hints.profiled = profiled;
        return streamed_on(layer, gpu);
    };
    const auto taken = [&](const char* gpu) {
        const Prediction profiled = streamed(gpu, true), repeated = streamed(gpu, false);
        EXPECT_EQ(profiled.terms[Term::launch], calibration().cold_start_short) << gpu;
        EXPECT_EQ(profiled.traffic.dram.total(), repeated.traffic.dram.total()) << gpu;
        return profiled.terms[Term::dram] / repeated.terms[Term::dram];
    };
    EXPECT_EQ(taken("v100-sxm2-16gb"), 1);
    const Traffic a100 = streamed("a100-sxm4-80gb", true).traffic;
    EXPECT_GT(a100.left_in_l2, Bytes{15e6});
    EXPECT_NEAR(taken("a100-sxm4-80gb"), a100.counted_dram() / a100.dram.total(), 1e-9);
}

TEST(Streams, of_reads_alone_have_the_whole_bandwidth) {
    const auto rate = [](double written) {
        const Layer layer = stream(1 << 16, 1 << 14, written);
        const Prediction p = streamed_on(layer, "h100-sxm");
        return p.traffic.dram.total() / p.terms[Term::dram] / model_inputs(machine("h100-sxm"))->dram_bandwidth;
    };
    EXPECT_NEAR(rate(0), 1, 1e-9);
    EXPECT_LT(rate(0.1), rate(0));
    EXPECT_LT(rate(1), rate(0.1));
    EXPECT_NEAR(rate(1), rate(0.5), 1e-9);  // from a third of writes on the bus turns around all the time
}

TEST(Streams, of_one_small_cta_an_sm_have_too_few_loads_on_their_way) {
    Layer layer = stream(4096, 8192);
    const Seconds full = streamed_on(layer, "h100-sxm").time;
    std::get<Streaming>(layer.op).threads_per_sm = 128;
    const Prediction lone = streamed_on(layer, "h100-sxm");
    EXPECT_GT(lone.time, full * 1.3);
    EXPECT_EQ(lone.bound, Term::latency);
    std::get<Streaming>(layer.op).threads_per_sm = 1024;
    EXPECT_NEAR(streamed_on(layer, "h100-sxm").time / full, 1, 0.02);
}

TEST(Streams, go_through_local_memory_where_registers_do_not_hold_them) {
    Layer layer = stream(4096, 16384);
    const Bytes without = streamed_on(layer, "h100-sxm").traffic.dram.total();
    auto& s = std::get<Streaming>(layer.op);
    s.spilled = 3 * s.read[0];
    EXPECT_EQ(streamed_on(layer, "h100-sxm").traffic.dram.total(), without + s.spilled * Bytes{8});
}

// 7 waves of 16 rows on each of 152 SMs. A CTA waits twice beside its steps, and in each step for both readings.
TEST(Streams, that_go_along_rows_in_steps_wait_for_each_reading) {
    Layer layer = stream(16384, 4096);
    auto& s = std::get<Streaming>(layer.op);
    s.read_again = s.read[0], s.rows_per_sm = 16, s.row_step = 512, s.row_waits = 2;
    const Seconds latency = model_inputs(machine("gb200"))->dram_latency / model_inputs(machine("gb200"))->clock;
    EXPECT_NEAR(streamed_on(layer, "gb200").terms[Term::latency] / latency, 7 * (2 + 8 * 2), 1e-9);
    s.row_step = 4096;
    EXPECT_NEAR(streamed_on(layer, "gb200").terms[Term::latency] / latency, 7 * (2 + 1 * 2), 1e-9);
    layer = stream(1 << 16, 128);
    auto& narrow = std::get<Streaming>(layer.op);
    narrow.rows_per_sm = 16, narrow.row_step = 512, narrow.row_waits = 2;
    EXPECT_EQ(streamed_on(layer, "h200").bound, Term::latency) << "rows of 128 elements are all waiting";
}

// Rows of 8 KiB on GB200 wait for about as long as their bytes take.
TEST(Streams, that_wait_for_their_loads_wait_for_the_bandwidth_too) {
    Layer layer = stream(16384, 2048);
    auto& s = std::get<Streaming>(layer.op);
    s.rows_per_sm = 16, s.row_step = 256, s.row_waits = 2;
    const Prediction p = streamed_on(layer, "gb200");
    const Seconds busy = p.time - p.terms[Term::launch] - p.terms.prologue;
    const Seconds waits = p.terms[Term::latency], bytes = p.terms[Term::dram];
    EXPECT_GT(busy, 1.01 * std::max(waits, bytes));
    EXPECT_LT(busy, 0.8 * (waits + bytes));
}

// 4 CTAs of 32 columns go along 16,384 rows, 256 at a time, however many SMs idle beside them.
TEST(Streams, that_add_up_columns_wait_for_each_step_of_rows) {
    Layer layer = stream(16384, 128, 0);
    std::get<Streaming>(layer.op).column_step = 256;
    const auto waits = [&](const char* gpu) {
        const ModelInputs h = *model_inputs(machine(gpu));
        return streamed_on(layer, gpu).terms[Term::latency] / ((h.dram_latency + h.l2_latency) / h.clock);
    };
    EXPECT_NEAR(waits("h200"), 64, 1e-9);
    EXPECT_NEAR(waits("gb200"), 64, 1e-9);
    layer = stream(16384, 16384, 0);  // 512 CTAs, two on each of 132 SMs at a time
    std::get<Streaming>(layer.op).column_step = 256;
    EXPECT_NEAR(waits("h200"), 2 * 64, 1e-9);
}

TEST(Streams, of_a_single_cta_wait_as_often_as_it_does) {
    Layer layer = stream(16384, 1, 0);
    std::get<Streaming>(layer.op).lone_waits = 1024;
    const Prediction p = streamed_on(layer, "a100-sxm4-80gb");
    EXPECT_NEAR(p.terms[Term::latency].value(), 1024 * 552.3 / 1410e6, 1e-7);
    EXPECT_EQ(p.bound, Term::latency);
}

// An SM of A100 has 64 FP32 lanes and one of A40 128, but A40 has a third of the bandwidth: GELU is bound by the one
// on A100 and by the other on A40.
TEST(Streams, of_transcendental_functions_take_the_lanes_of_their_series) {
    Layer layer = stream(2752, 10240);
    layer.precision = Precision::fp16;
    std::get<Streaming>(layer.op).kind = StreamingKind::transcendental;
    const Prediction p = streamed_on(layer, "a100-sxm4-80gb");
    EXPECT_EQ(p.bound, Term::issue);
    EXPECT_NEAR(p.terms[Term::issue].value(), 87e-6, 2e-6);
    EXPECT_EQ(streamed_on(layer, "a40").bound, Term::dram);
}

// Measured on A100 in gradients of embeddings: 33 and 89 additions in a nanosecond.
TEST(Streams, that_add_to_l2_take_the_time_of_their_additions) {
    Layer layer = stream(16384, 4096);
    auto& s = std::get<Streaming>(layer.op);
    s.atomics = 16384.0 * 4096;
    const auto rate = [&] { return s.atomics / streamed_on(layer, "a100-sxm4-80gb").terms[Term::issue].value(); };
    EXPECT_NEAR(rate(), 89e9, 2e9);
    s.atomics_ordered = true;
    EXPECT_NEAR(rate(), 33e9, 1e9);
    EXPECT_EQ(streamed_on(layer, "a100-sxm4-80gb").bound, Term::issue);
}

TEST(Streams, are_no_shorter_than_their_launch_by_the_host) {
    Layer layer = stream(64, 64);
    layer.hints.host = Seconds{300e-6};
    const Prediction p = streamed_on(layer, "h100-sxm");
    EXPECT_NEAR(p.time.value(), 300e-6, 1e-9);
    EXPECT_EQ(p.bound, Term::launch);
    // While the GPU clears 256 MB, the host works ahead.
    layer.hints.host_ahead = Bytes{256e6};
    EXPECT_NEAR(streamed_on(layer, "h100-sxm").time.value(), 300e-6 - 256e6 / 3.084e12, 1e-6);
    layer.hints.host = Seconds{50e-6};
    EXPECT_LT(streamed_on(layer, "h100-sxm").time.value(), 10e-6);
}

TEST(Streams, of_batch_norms_in_training_read_twice_what_they_need_statistics_of) {
    Streaming norm;
    norm.kind = StreamingKind::batch_norm;
    norm.read[0] = norm.written = 64.0 * 64 * 112 * 112, norm.parameters = 128;
    Layer layer = stream(1, 1);
    layer.op = norm;
    Network network;
    network.layers = {layer};
    const Network trained = training(network);
    ASSERT_EQ(trained.layers.size(), 2U);
    const auto tensors = [&](const Layer& l) {
        return streamed_on(l, "v100-sxm2-16gb").traffic.dram.total() / (norm.written * Bytes{4});
    };
    // cuDNN's bn_fw_tr and bn_bw on a Volta GPU take 3.0 and 5.7 times as long as a ReLU for each tensor that it moves.
    EXPECT_NEAR(tensors(trained.layers[0]), 3, 0.01);
    EXPECT_NEAR(tensors(trained.layers[1]), 5, 0.01);
    // A tensor that L2 holds comes from DRAM once.
    std::get<Streaming>(network.layers[0].op).read[0] = std::get<Streaming>(network.layers[0].op).written = 1e5;
    EXPECT_NEAR(streamed_on(training(network).layers[0], "v100-sxm2-16gb").traffic.dram.total() / Bytes{4e5}, 2, 0.01);
}

}  // namespace
}  // namespace gambrel
