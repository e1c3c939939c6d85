// What fits on an SM: the counts that launches in profiler traces show, and what binds.
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/rules.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;
constexpr double kKiB = 1024;

Occupancy of_kernel(const char* kernel, Pass pass, const char* gpu = "v100-sxm2-16gb") {
    Layer layer = convolution_layer();
    layer.pass = pass;
    layer.hints.kernel = kernel;
    return occupancy(machine(gpu), mapping_for(layer, machine(gpu)));
}

TEST(Occupancy, a_128x64_kernel_of_cudnn_has_four_ctas_on_v100_and_64_kib_of_l1) {
    const Occupancy o = of_kernel("volta_scudnn_128x64_relu_interior_nn_v1", Pass::fwd);
    EXPECT_EQ(o.ctas_per_sm, 4);
    EXPECT_EQ(o.warps_per_sm, 16);
    EXPECT_EQ(o.limit, Occupancy::Limit::registers);
    EXPECT_DOUBLE_EQ(o.l1.value(), 64 * kKiB);
}

TEST(Occupancy, strided_kernels_have_three_ctas_on_v100_and_32_kib_of_l1) {
    const Occupancy o = of_kernel("volta_scudnn_128x64_stridedB_interior_nn_v1", Pass::dgrad);
    EXPECT_EQ(o.ctas_per_sm, 3);
    EXPECT_EQ(o.limit, Occupancy::Limit::shared_memory);
    EXPECT_DOUBLE_EQ(o.l1.value(), 32 * kKiB);
}

TEST(Occupancy, a_128x128_kernel_of_cudnn_has_two_ctas_on_v100) {
    const Occupancy o = of_kernel("volta_scudnn_128x128_relu_interior_nn_v1", Pass::fwd);
    EXPECT_EQ(o.ctas_per_sm, 2);
    EXPECT_EQ(o.warps_per_sm, 16);
    EXPECT_DOUBLE_EQ(o.l1.value(), 64 * kKiB);
}

Mapping plain(std::int32_t threads, std::int32_t registers, double shared) {
    Mapping m;
    m.threads = threads;
    m.registers = registers;
    m.shared_memory = Bytes{shared};
    return m;
}

TEST(Occupancy, each_resource_can_bind) {
    const Machine& v100 = machine("v100-sxm2-16gb");
    const auto expect = [&](const Mapping& m, std::int32_t ctas, Occupancy::Limit limit) {
        const Occupancy o = occupancy(v100, m);
        EXPECT_EQ(o.ctas_per_sm, ctas);
        EXPECT_EQ(o.limit, limit);
        EXPECT_EQ(o.warps_per_sm, ctas * ((m.threads + 31) / 32));
    };
    expect(plain(1024, 16, 0), 2, Occupancy::Limit::threads);
    expect(plain(256, 128, 0), 2, Occupancy::Limit::registers);
    expect(plain(64, 32, 40 * kKiB), 2, Occupancy::Limit::shared_memory);
    expect(plain(32, 16, 0), 32, Occupancy::Limit::ctas);
}

TEST(Occupancy, registers_are_dealt_in_eights_and_warps_are_whole) {
    const Machine& v100 = machine("v100-sxm2-16gb");
    EXPECT_EQ(occupancy(v100, plain(256, 121, 0)).ctas_per_sm, 2);  // as 128
    EXPECT_EQ(occupancy(v100, plain(256, 80, 0)).ctas_per_sm, 3);
    EXPECT_EQ(occupancy(v100, plain(256, 81, 0)).ctas_per_sm, 2);  // as 88
    EXPECT_EQ(occupancy(v100, plain(33, 32, 0)).warps_per_sm % 2, 0);
}

TEST(Occupancy, what_an_sm_does_not_have_cannot_be_launched) {
    const Machine& v100 = machine("v100-sxm2-16gb");
    EXPECT_EQ(occupancy(v100, plain(256, 32, 97 * kKiB)).ctas_per_sm, 0);
    EXPECT_EQ(occupancy(v100, plain(1024, 255, 0)).ctas_per_sm, 0);
    EXPECT_EQ(occupancy(v100, plain(0, 32, 0)).ctas_per_sm, 0);
}

TEST(Occupancy, a_cta_fits_exactly_where_an_sm_has_at_least_one) {
    int fit = 0, tried = 0;
    for (const auto& [gpu, share] : {std::pair{"v100-sxm2-16gb", 1.0}, {"k80", 1.0}, {"h100-sxm", 1.0}, {"t4", 0.5}}) {
        SmLimits limits = sm_limits(machine(gpu));
        limits.shared_memory *= share;  // a design may have less than a CTA could ask for
        for (const int threads : {0, 32, 33, 512, 1024, 1056, 2048, 2080})
            for (const int registers : {16, 32, 63, 64, 65, 128, 255, 256})
                for (const double kib : {0.0, 1.0, 48.0, 49.0, 64.0, 96.0, 97.0, 227.0, 228.0}) {
                    Mapping m;
                    m.threads = threads;
                    m.registers = registers;
                    m.shared_memory = Bytes{kib * kKiB};
                    const bool fits = mapping_detail::fits(limits, m);
                    EXPECT_EQ(fits, occupancy(limits, m).ctas_per_sm > 0)
                        << gpu << ' ' << threads << ' ' << registers << ' ' << kib;
                    fit += fits ? 1 : 0;
                    ++tried;
                }
    }
    EXPECT_GT(fit, tried / 10);
    EXPECT_LT(fit, tried / 2);
}

TEST(Occupancy, from_ampere_on_the_driver_keeps_1_kib_of_each_cta) {
    const Machine& a100 = machine("a100-sxm4-80gb");
    EXPECT_EQ(occupancy(a100, plain(128, 32, 82 * kKiB)).ctas_per_sm, 1);  // two would be 166 of 164
    EXPECT_EQ(occupancy(a100, plain(128, 32, 81 * kKiB)).ctas_per_sm, 2);
    EXPECT_EQ(occupancy(machine("v100-sxm2-16gb"), plain(128, 32, 48 * kKiB)).ctas_per_sm, 2);
}

TEST(Occupancy, the_carve_out_is_the_smallest_step_that_holds_the_ctas) {
    const auto left = [](const char* gpu, double shared, std::int32_t threads) {
        return occupancy(machine(gpu), plain(threads, 16, shared)).l1.value() / kKiB;
    };
    EXPECT_DOUBLE_EQ(left("v100-sxm2-16gb", 0, 1024), 128);
    EXPECT_DOUBLE_EQ(left("v100-sxm2-16gb", 3 * kKiB, 1024), 120);  // 2 CTAs: 6 of 8
    EXPECT_DOUBLE_EQ(left("v100-sxm2-16gb", 10 * kKiB, 1024), 96);  // 20 of 32
    EXPECT_DOUBLE_EQ(left("t4", 10 * kKiB, 1024), 64);              // 10 of 32
    EXPECT_DOUBLE_EQ(left("t4", 40 * kKiB, 1024), 32);
    EXPECT_DOUBLE_EQ(left("a100-sxm4-80gb", 30 * kKiB, 1024), 128);  // 62 of 64
    EXPECT_DOUBLE_EQ(left("h100-sxm", 100 * kKiB, 1024), 28);        // 202 of 228
}

TEST(Occupancy, before_volta_shared_memory_takes_nothing_from_l1) {
    const Machine& p100 = machine("Tesla P100-PCIE-16GB");
    const double l1 = p100.find(Level::l1)->capacity->value.value();
    EXPECT_DOUBLE_EQ(occupancy(p100, plain(256, 32, 16 * kKiB)).l1.value(), l1);
}

}  // namespace
}  // namespace gambrel
