// validate on small tables: what it reads as measured, which rows it takes, and the arithmetic of its summaries.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/validate.hpp>

namespace gambrel {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = "name,gpu,precision,pass,N,C,H,W,K,R,S,pad,";

LayerTable table_of(const std::string& columns, const std::string& rows) {
    auto table = read_layer_table(kHead + columns + '\n' + rows, "rows.csv");
    EXPECT_TRUE(table);
    return table ? *table : LayerTable{};
}

double measured(const ValidationRow& row, ValidatedQuantity quantity) {
    return row.measured[static_cast<std::size_t>(quantity)];
}
double predicted(const ValidationRow& row, EstimateSource model, ValidatedQuantity quantity) {
    return row.predicted[static_cast<std::size_t>(model)][static_cast<std::size_t>(quantity)];
}

TEST(Validate, puts_what_was_measured_beside_both_models) {
    const auto v = validate(
        table_of("time_us,l1_bytes,l2_bytes,dram_bytes", "a,v100,fp32,fwd,8,64,28,28,64,3,3,1,50,3e6,2e6,1e6\n"), {});
    ASSERT_TRUE(v);
    ASSERT_EQ(v->rows.size(), 1U);
    const ValidationRow& row = v->rows.front();
    EXPECT_EQ(row.line, 2U);
    EXPECT_EQ(row.name, "a");
    EXPECT_EQ(row.pass, "fwd");
    EXPECT_DOUBLE_EQ(measured(row, ValidatedQuantity::time), 50e-6);
    EXPECT_DOUBLE_EQ(measured(row, ValidatedQuantity::l1), 3e6);
    EXPECT_DOUBLE_EQ(measured(row, ValidatedQuantity::l2), 2e6);
    EXPECT_DOUBLE_EQ(measured(row, ValidatedQuantity::dram), 1e6);
    for (const EstimateSource model : {EstimateSource::paper, EstimateSource::gambrel})
        for (const ValidatedQuantity quantity :
             {ValidatedQuantity::l1, ValidatedQuantity::l2, ValidatedQuantity::dram, ValidatedQuantity::time})
            EXPECT_GT(predicted(row, model, quantity), 0);
    EXPECT_NE(predicted(row, EstimateSource::paper, ValidatedQuantity::time),
              predicted(row, EstimateSource::gambrel, ValidatedQuantity::time));
    EXPECT_FALSE(row.regime.empty());
    EXPECT_FALSE(row.bound.empty());
}

// 4096^3 takes 8.8 ms at the FP32 peak of V100 and 1.1 ms at that of its Tensor Cores.
TEST(Validate, counts_rows_that_are_faster_than_their_precision_allows) {
    const auto faster = [](const char* precision, const char* time) {
        const auto table = read_layer_table(
            std::string("op,gpu,precision,M,N,K,time_ms\ngemm,v100,") + precision + ",4096,4096,4096," + time + "\n",
            "rows.csv");
        return faster_than_peak(*validate(*table, {}));
    };
    EXPECT_EQ(faster("fp32", "1.5"), 1U);
    EXPECT_EQ(faster("fp16", "1.5"), 0U);
    EXPECT_EQ(faster("fp32", "10"), 0U);
}

// A decoding step of 34 sequences with 2,816 keys each reads 393 MB, which takes RTX A6000 with its 768 GB/s 504 us
// beyond the 6 MB that its L2 may hold; 64 us are those of one sequence. Four sequences of 256 keys fit into L2.
TEST(Validate, counts_rows_that_are_faster_than_dram_can_move_their_tensors) {
    const auto faster = [](int sequences, int keys, const char* time) {
        const auto table = read_layer_table(
            fmt::format("op,gpu,precision,phase,kind,batch,q_len,kv_len,heads,kv_heads,head_dim,time_us\n"
                        "attention,rtx-a6000,bf16,decode,gqa,{},1,{},32,8,128,{}\n",
                        sequences, keys, time),
            "rows.csv");
        return faster_than_memory(*validate(*table, {}));
    };
    EXPECT_EQ(faster(34, 2816, "64"), 1U);
    EXPECT_EQ(faster(34, 2816, "650"), 0U);
    EXPECT_EQ(faster(4, 256, "1"), 0U);
}

TEST(Validate, knows_milliseconds_and_seconds) {
    for (const auto& [column, value] : {std::pair{"time_ms", "0.05"}, std::pair{"time_s", "50e-6"}}) {
        const auto v =
            validate(table_of(column, std::string("a,v100,fp32,fwd,8,64,28,28,64,3,3,1,") + value + '\n'), {});
        ASSERT_TRUE(v);
        EXPECT_DOUBLE_EQ(measured(v->rows.at(0), ValidatedQuantity::time), 50e-6) << column;
    }
}

TEST(Validate, leaves_a_quantity_out_that_a_row_does_not_say) {
    const auto v = validate(table_of("time_us,dram_bytes",
                                     "a,v100,fp32,fwd,8,64,28,28,64,3,3,1,50,\n"
                                     "b,v100,fp32,fwd,8,64,28,28,64,3,3,1,50,nan\n"),
                            {});
    ASSERT_TRUE(v);
    for (const ValidationRow& row : v->rows) EXPECT_EQ(measured(row, ValidatedQuantity::dram), 0);
    EXPECT_EQ(summary(v->rows, ValidatedQuantity::dram, EstimateSource::gambrel).rows, 0U);
    EXPECT_EQ(summary(v->rows, ValidatedQuantity::time, EstimateSource::gambrel).rows, 2U);
}

TEST(Validate, adds_both_gradients_of_a_row_of_a_whole_backward_pass) {
    const std::string shape = ",8,64,28,28,64,3,3,1,50\n";
    const auto v = validate(
        table_of("time_us", "a,v100,fp32,backward" + shape + "b,v100,fp32,dgrad" + shape + "c,v100,fp32,wgrad" + shape),
        {});
    ASSERT_TRUE(v);
    ASSERT_EQ(v->rows.size(), 3U);
    EXPECT_EQ(v->rows[0].pass, "backward");
    EXPECT_DOUBLE_EQ(predicted(v->rows[0], EstimateSource::gambrel, ValidatedQuantity::time),
                     predicted(v->rows[1], EstimateSource::gambrel, ValidatedQuantity::time) +
                         predicted(v->rows[2], EstimateSource::gambrel, ValidatedQuantity::time));
}

TEST(Validate, takes_rows_by_length_and_by_cell) {
    const LayerTable table = table_of("algorithm,time_us",
                                      "a,v100,fp32,fwd,8,64,28,28,64,3,3,1,IMPLICIT_GEMM,50\n"
                                      "b,v100,fp32,fwd,8,64,28,28,64,3,3,1,FFT,150\n"
                                      "c,v100,fp32,fwd,8,64,28,28,64,3,3,1,IMPLICIT_GEMM,150\n");
    ValidationOptions options;
    options.min_time = 100e-6;
    options.columns = {"algorithm"};
    options.values = {"IMPLICIT"};
    const auto v = validate(table, options);
    ASSERT_TRUE(v);
    ASSERT_EQ(v->rows.size(), 1U);
    EXPECT_EQ(v->rows[0].name, "c");
    EXPECT_EQ(v->skipped, 2U);
}

TEST(Validate, lists_rows_that_it_cannot_judge_and_goes_on) {
    const auto v = validate(table_of("time_us",
                                     "a,v101,fp32,fwd,8,64,28,28,64,3,3,1,50\n"
                                     "b,v100,fp32,fwd,8,64,28,28,0,3,3,1,50\n"
                                     "c,v100,fp32,fwd,8,64,28,28,64,3,3,1,50\n"),
                            {});
    ASSERT_TRUE(v);
    EXPECT_EQ(v->rows.size(), 1U);
    ASSERT_EQ(v->unread.size(), 2U);
    EXPECT_THAT(v->unread[0].where, HasSubstr("line 2"));
    EXPECT_THAT(v->unread[0].what, HasSubstr("v101"));
    EXPECT_THAT(v->unread[1].where, HasSubstr("line 3"));
}

TEST(Validate, says_which_columns_it_needs_and_the_nearest_name) {
    const auto none = validate(table_of("speed", "a,v100,fp32,fwd,8,64,28,28,64,3,3,1,50\n"), {});
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().front().what, HasSubstr("time_us"));
    ValidationOptions options;
    options.columns = {"algoritm"};
    options.values = {"x"};
    const auto typo = validate(table_of("algorithm,time_us", "a,v100,fp32,fwd,8,64,28,28,64,3,3,1,x,50\n"), options);
    ASSERT_FALSE(typo);
    EXPECT_THAT(typo.error().front().what, HasSubstr("algorithm"));
}

std::vector<ValidationRow> with_ratios(const std::vector<double>& ratios) {
    std::vector<ValidationRow> rows;
    for (const double ratio : ratios) {
        ValidationRow row;
        row.measured[static_cast<std::size_t>(ValidatedQuantity::time)] = 2;
        row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)]
                     [static_cast<std::size_t>(ValidatedQuantity::time)] = 2 * ratio;
        rows.push_back(row);
    }
    return rows;
}

TEST(Summary, is_of_predicted_over_measured) {
    const ErrorSummary s = summary(with_ratios({0.5, 1, 2}), ValidatedQuantity::time, EstimateSource::gambrel);
    EXPECT_EQ(s.rows, 3U);
    EXPECT_DOUBLE_EQ(s.mean, 0.5);      // 0.5, 0, 1
    EXPECT_DOUBLE_EQ(s.bias, 0.5 / 3);  // -0.5, 0, 1
    EXPECT_DOUBLE_EQ(s.geometric, std::exp(2 * std::log(2.0) / 3) - 1);
    EXPECT_DOUBLE_EQ(s.p90, 1);
}

TEST(Summary, of_no_rows_is_empty) {
    EXPECT_EQ(summary({}, ValidatedQuantity::time, EstimateSource::gambrel).rows, 0U);
    EXPECT_EQ(summary(with_ratios({1}), ValidatedQuantity::l1, EstimateSource::gambrel).rows, 0U);
    const auto none = [](const ValidationRow&) { return false; };
    EXPECT_EQ(summary(with_ratios({1}), ValidatedQuantity::time, EstimateSource::gambrel, none).rows, 0U);
}

}  // namespace
}  // namespace gambrel
