// Does the joined study keep the three origins of a kernel apart, and is each error that of its own origin?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/validate.hpp>

namespace gambrel {
namespace {

LayerSet layers_of_rows(const std::string& rows) {
    const std::string head = "name,gpu,precision,pass,N,C,H,W,K,R,S,pad,time_us,l1_bytes,l2_bytes,dram_bytes\n";
    auto table = read_layer_table(head + rows, "rows.csv");
    EXPECT_TRUE(table);
    LayerSet set;
    set.title = "rows.csv";
    if (table) set.table = std::move(*table);
    return set;
}

constexpr const char* kSmall = "a,v100,fp32,fwd,1,32,14,14,32,3,3,1,50,3e6,2e6,1e6\n";

TEST(JoinedStudy, has_a_row_for_each_origin_and_the_error_of_each) {
    const auto study = joined_study(layers_of_rows(kSmall), {});
    ASSERT_TRUE(study);
    ASSERT_EQ(study->kernels.size(), 1U);
    const JoinedKernel& k = study->kernels[0];
    ASSERT_TRUE(k.measured && k.simulated);
    const Kernel &measured = study->run.kernels[*k.measured], &modelled = study->run.kernels[k.modelled],
                 &simulated = study->run.kernels[*k.simulated];
    EXPECT_EQ(measured.phase.str(), "measured");
    EXPECT_EQ(measured.bytes[Level::dram]->origin, Origin::measured);
    EXPECT_EQ(measured.bytes[Level::dram]->value, Bytes{1e6});
    EXPECT_EQ(modelled.bytes[Level::dram]->origin, Origin::modelled);
    EXPECT_EQ(simulated.bytes[Level::dram]->origin, Origin::simulated);
    EXPECT_EQ(simulated.time->value, measured.time->value);  // a simulation counts no cycles
    EXPECT_DOUBLE_EQ(*k.error(study->run, ValidatedQuantity::l1, EstimateSource::gambrel),
                     modelled.bytes[Level::l1]->value.value() / 3e6 - 1);
    EXPECT_DOUBLE_EQ(*k.error(study->run, ValidatedQuantity::l2, EstimateSource::simulated),
                     simulated.bytes[Level::l2]->value.value() / 2e6 - 1);
    EXPECT_FALSE(k.error(study->run, ValidatedQuantity::time, EstimateSource::simulated));
}

TEST(JoinedStudy, takes_the_longest_kernels_and_one_of_equal_ones) {
    const auto study =
        joined_study(layers_of_rows(std::string(kSmall) + "again,v100,fp32,fwd,1,32,14,14,32,3,3,1,60,3e6,2e6,1e6\n" +
                                    "short,v100,fp32,fwd,1,32,7,7,32,3,3,1,5,1e5,1e5,1e5\n"),
                     {.estimator = {}, .longest = 1});
    ASSERT_TRUE(study);
    ASSERT_EQ(study->kernels.size(), 1U);
    EXPECT_NEAR(study->run.kernels[*study->kernels[0].measured].time->value.value(), 60e-6, 1e-18);
    EXPECT_EQ(study->left_out, 1U);
}

TEST(JoinedStudy, without_measured_columns_has_no_errors) {
    LayerSet set = layers_of_rows(kSmall);
    LayerSet network;
    network.title = "one";
    network.network.emplace();
    network.network->layers = {set.table->rows[0].layers[0]};
    JoinedOptions options;
    options.estimator.machine = machine_from("v100").value();
    const auto study = joined_study(network, options);
    ASSERT_TRUE(study);
    ASSERT_EQ(study->kernels.size(), 1U);
    EXPECT_FALSE(study->is_measured);
    EXPECT_FALSE(study->kernels[0].measured);
    EXPECT_FALSE(study->kernels[0].error(study->run, ValidatedQuantity::l1, EstimateSource::gambrel));
}

}  // namespace
}  // namespace gambrel
