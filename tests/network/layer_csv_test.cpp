// Does a layer table give the layers it describes, and a reason for each row that it cannot?
#include <gambrel/network.hpp>

#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

LayerTable read(std::string_view text, const LayerTableOptions& options = {}) {
    auto table = read_layer_table(text, "t.csv", options);
    EXPECT_TRUE(table) << (table ? "" : to_text(table.error()));
    return table ? *table : LayerTable{};
}

// A few plain digits are read by a shorter way: every length, and every place where something else than a digit may
// stand.
TEST(LayerTable, reads_whole_numbers_of_any_length_and_nothing_else) {
    const std::string digits = "190872635408172";
    for (std::size_t length = 1; length <= digits.size(); ++length) {
        const std::string number = digits.substr(0, length);
        const auto repeat = [](const std::string& cell) {
            return read("M,N,K,repeat\n1,1,1," + cell + "\n").rows.at(0);
        };
        const LayerRow row = repeat(number), spaced = repeat(" " + number + " ");
        ASSERT_THAT(row.layers, SizeIs(1)) << number << ": " << row.reason;
        EXPECT_EQ(row.layers[0].repeat, std::stod(number));
        ASSERT_THAT(spaced.layers, SizeIs(1)) << number << ": " << spaced.reason;
        EXPECT_EQ(spaced.layers[0].repeat, std::stod(number));
        for (std::size_t at = 0; at < length; ++at)
            for (const char c : {'/', ':', 'o', '\xb0'}) {
                std::string wrong = number;
                wrong[at] = c;
                EXPECT_THAT(repeat(wrong).reason, HasSubstr("expected a whole number")) << wrong;
            }
    }
}

TEST(LayerTable, takes_pass_and_timing_from_words_of_published_tables) {
    const LayerTable table = read(
        "op,software,N,C,H,W,K,R,S\nCUDNN_CONV_FWD,,1,8,8,8,8,1,1\n"
        "CUDNN_CONV_BWD_DATA,PyTorch 2.1 (kernel times),1,8,8,8,8,1,1\n"
        "CUDNN_CONV_BWD_FILTER,CUDA graph replay,1,8,8,8,8,1,1\n,PyTorch,1,8,8,8,8,1,1\n");
    ASSERT_THAT(table.rows, SizeIs(4));
    std::vector<std::pair<Pass, std::optional<Timing>>> found;
    for (const LayerRow& row : table.rows) {
        ASSERT_THAT(row.layers, SizeIs(1)) << row.reason;
        found.emplace_back(row.layers[0].pass, row.layers[0].hints.timing);
    }
    EXPECT_THAT(found, testing::ElementsAre(std::pair(Pass::fwd, std::nullopt), std::pair(Pass::dgrad, Timing::kernel),
                                            std::pair(Pass::wgrad, Timing::graph), std::pair(Pass::fwd, std::nullopt)));
}

// DeepBench lets the library choose and writes its choice down for forward passes; some sheets copy those of another
// GPU.
TEST(LayerTable, leaves_to_the_model_what_deepbench_left_to_the_library) {
    const LayerTable table = read(
        "pass,algorithm_fwd,alg_label_trust,N,C,H,W,K,R,S\nfwd,WINOGRAD,original,1,8,8,8,8,3,3\n"
        "fwd,WINOGRAD,copied,1,8,8,8,8,3,3\nfwd,,,1,8,8,8,8,3,3\nbwd_data,WINOGRAD,original,1,8,8,8,8,3,3\n");
    std::vector<std::string> found;
    for (const LayerRow& row : table.rows) {
        ASSERT_THAT(row.layers, SizeIs(1)) << row.reason;
        found.push_back(row.layers[0].hints.algorithm);
        EXPECT_EQ(row.layers[0].hints.timing, Timing::stream);
    }
    EXPECT_THAT(found, testing::ElementsAre("WINOGRAD", "FASTEST", "FASTEST", "FASTEST"));
    EXPECT_TRUE(read("algorithm,N,C,H,W,K,R,S\n,1,8,8,8,8,3,3\n").rows.at(0).layers.at(0).hints.algorithm.empty());
}

// Found by layer_csv_fuzz: such a row had neither a layer nor a reason.
TEST(LayerTable, gives_a_reason_for_a_row_of_vector_operators_without_its_operator) {
    const LayerTable table = read("op,rows,cols\nsoftmax,4,8\n,4,8\n");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_THAT(table.rows[0].layers, SizeIs(1));
    EXPECT_THAT(table.rows[1].reason, HasSubstr("op is empty"));
}

TEST(LayerTable, reads_columns_in_any_order_and_keeps_the_others) {
    const LayerTable table = read(
        "K,R,S,note,N,C,H,W,pad_h,pad,stride_w,dilation,groups,gpu,sm_clock_mhz,precision,pass,algorithm,tile_m\n"
        "8,3,3,\"a, b\",2,4,10,12,0,1,2,2,2,v100,1312.5,fp16,wgrad,IMPLICIT_GEMM,128.0\n");
    ASSERT_THAT(table.rows, SizeIs(1));
    const LayerRow& row = table.rows[0];
    EXPECT_EQ(row.cells[3], "a, b");
    EXPECT_EQ(row.line, 2u);
    ASSERT_THAT(row.layers, SizeIs(1)) << row.reason;
    const Layer& layer = row.layers[0];
    const auto& v = std::get<Convolution>(layer.op);
    EXPECT_EQ(v.c, 4);
    EXPECT_EQ(v.pad_top, 0) << "pad_h wins over pad";
    EXPECT_EQ(v.pad_right, 1);
    EXPECT_EQ(v.stride_h, 1);
    EXPECT_EQ(v.stride_w, 2);
    EXPECT_EQ(v.dilation_h, 2);
    EXPECT_EQ(v.groups, 2);
    EXPECT_EQ(layer.pass, Pass::wgrad);
    EXPECT_EQ(layer.precision, Precision::fp16);
    EXPECT_EQ(layer.hints.tile_m, 128);
    EXPECT_EQ(layer.hints.gpu, "v100");
    EXPECT_EQ(layer.hints.sm_clock, Frequency{1312.5e6});
}

TEST(LayerTable, says_by_several_columns_that_a_kernel_reads_a_tensor_as_large_as_its_output) {
    for (const std::string column : {"reads_c", "inplace", "residual"}) {
        const LayerTable table = read("M,N,K," + column + "\n8,8,8,1\n8,8,8,0\n");
        ASSERT_THAT(table.rows, SizeIs(2));
        EXPECT_TRUE(table.rows[0].layers[0].hints.overwrites) << column;
        EXPECT_FALSE(table.rows[1].layers[0].hints.overwrites) << column;
    }
}

TEST(LayerTable, a_table_of_too_many_rows_is_refused_with_the_limit) {
    std::string text = "M,N,K\n";
    for (int i = 0; i < 500'001; ++i) text += "x,1,1\n";
    const auto table = read_layer_table(text, "t.csv");
    ASSERT_FALSE(table);
    EXPECT_THAT(to_text(table.error()), HasSubstr("the limit is 500000 rows"));
}

TEST(LayerTable, a_row_wider_than_the_header_keeps_no_more_cells_than_that) {
    std::string wide = "1";
    for (int i = 0; i < 90'000; ++i) wide += ",1";
    const LayerTable table = read("M,N,K\n" + wide + "\n1,2,3\n");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_THAT(table.rows[0].cells, SizeIs(3));
    EXPECT_THAT(table.rows[0].reason, HasSubstr("90001 fields, expected 3"));
}

TEST(LayerTable, reads_gemms_by_their_op_or_their_columns) {
    const LayerTable by_op = read("op,batch,M,N,Kred\nbmm,4,3,5,7\nlinear,1,3,5,7\nlstm,1,1,1,1\n");
    EXPECT_EQ(std::get<Gemm>(by_op.rows[0].layers[0].op), (Gemm{3, 5, 7, 4}));
    EXPECT_TRUE(std::get<Gemm>(by_op.rows[1].layers[0].op).b_shared);
    EXPECT_THAT(by_op.rows[2].reason, HasSubstr("op \"lstm\""));
    const LayerTable lower = read("m,n,k\n3,5,7\n", {Precision::bf16});
    EXPECT_EQ(std::get<Gemm>(lower.rows[0].layers[0].op), (Gemm{3, 5, 7}));
    EXPECT_EQ(lower.rows[0].layers[0].precision, Precision::bf16);
}

// Beside a kernel that the row names, others are not part of what was measured.
TEST(LayerTable, kernels_beside_a_product_without_a_name_are_those_of_its_call) {
    const auto table = read(
        "op,M,N,K,kernel,other_kernels\ngemm,8,8,8,,copy of the bias into C;splitKreduce\n"
        "gemm,8,8,8,,bias add\ngemm,8,8,8,sgemm_32x32,splitKreduce;bias add\n");
    const auto hints = [&](std::size_t row) { return table.rows[row].layers.at(0).hints; };
    EXPECT_TRUE(hints(0).adds_up_parts);
    EXPECT_EQ(hints(0).bias_kernel, BiasKernel::copies);
    EXPECT_FALSE(hints(1).adds_up_parts);
    EXPECT_FALSE(hints(2).adds_up_parts);
}

TEST(LayerTable, a_bias_is_of_the_forward_pass_and_is_yes_or_no) {
    const LayerTable table = read(
        "N,C,H,W,K,R,S,pass,bias\n1,2,8,8,4,3,3,fwd,1\n1,2,8,8,4,3,3,fwd,no\n1,2,8,8,4,3,3,backward,yes\n"
        "1,2,8,8,4,3,3,fwd,\n1,2,8,8,4,3,3,fwd,64\n");
    EXPECT_TRUE(table.rows[0].layers.at(0).bias);
    EXPECT_FALSE(table.rows[1].layers.at(0).bias);
    EXPECT_FALSE(table.rows[2].layers.at(0).bias || table.rows[2].layers.at(1).bias);
    EXPECT_FALSE(table.rows[3].layers.at(0).bias);
    EXPECT_THAT(table.rows[4].reason, HasSubstr("bias \"64\": expected 1 or 0"));
}

TEST(LayerTable, reads_a_mixed_table_by_its_op) {
    const LayerTable table = read("op,M,N,K,batch,C,H,W,R,S\ngemm,3,5,7,1,,,,,\nconv,,2,8,,4,9,9,3,3\n");
    EXPECT_EQ(std::get<Gemm>(table.rows[0].layers.at(0).op), (Gemm{3, 5, 7}));
    EXPECT_EQ(std::get<Convolution>(table.rows[1].layers.at(0).op).k, 8);
}

TEST(LayerTable, a_bad_row_is_a_row_with_all_its_reasons) {
    const LayerTable table = read(
        "N,C,H,W,K,R,S,pass,precision,groups\n1,4,9,9,8,3,x,sideways,fp23,\n1,4,9,9,8,3\n1,4,2,9,8,3,3,,,3\n"
        "1,4,9,9,8,3,3,fwd,fp32,1\n1,\"4,9\n\n1,4,9,9,8,3,,fwd,fp32,1\n");
    ASSERT_THAT(table.rows, SizeIs(6));
    EXPECT_THAT(table.rows[0].reason, HasSubstr("S \"x\""));
    EXPECT_THAT(table.rows[0].reason, HasSubstr("pass \"sideways\""));
    EXPECT_THAT(table.rows[0].reason, HasSubstr("precision \"fp23\""));
    EXPECT_THAT(table.rows[1].reason, HasSubstr("6 fields, expected 10"));
    EXPECT_THAT(table.rows[2].reason, HasSubstr("groups 3"));
    EXPECT_THAT(table.rows[2].reason, HasSubstr("larger than the padded input"));
    EXPECT_THAT(table.rows[3].layers, SizeIs(1));
    EXPECT_THAT(table.rows[4].reason, HasSubstr("quote"));
    EXPECT_THAT(table.rows[5].reason, HasSubstr("S is empty"));
}

TEST(LayerTable, hints_that_no_launch_can_have_are_refused) {
    const LayerTable table = read(
        "N,C,H,W,K,R,S,split_k,tile_m,tile_n,sm_clock_mhz,fma\n"
        "1,3,8,8,4,3,3,28,,,,\n1,3,8,8,4,3,3,27,,,,\n1,3,8,8,4,3,3,,100000,64,,\n1,3,8,8,4,3,3,-1,,,,\n"
        "1,3,8,8,4,3,3,,,,1.41,\n1,3,8,8,4,3,3,,,,1410000000,\n1,3,8,8,4,3,3,,,,,many\n");
    EXPECT_EQ(table.rows[0].reason, "split_k 28 is more than the 27 elements of the reduction");
    EXPECT_EQ(table.rows[1].reason, "");
    EXPECT_EQ(table.rows[2].reason, "tile_m is 100000, expected 0 to 1024");
    EXPECT_EQ(table.rows[3].reason, "split_k is -1, expected 0 to 1048576");
    for (const std::size_t row : {4, 5})
        EXPECT_THAT(table.rows[row].reason, HasSubstr("expected MHz, a number from 10 to 10000"));
    EXPECT_EQ(table.rows[6].reason, "fma \"many\": expected a number from 0");
}

// "implicit_gemm" ran another kernel than "IMPLICIT_GEMM".
TEST(LayerTable, algorithms_are_read_in_any_case) {
    const LayerTable table = read("N,C,H,W,K,R,S,algorithm\n1,3,8,8,4,3,3,winograd_nonfused\n1,3,8,8,4,3,3,Fastest\n");
    EXPECT_EQ(table.rows[0].layers.at(0).hints.algorithm, "WINOGRAD_NONFUSED");
    EXPECT_EQ(table.rows[1].layers.at(0).hints.algorithm, kFastestAlgorithm);
}

TEST(LayerTable, other_separators_than_commas_are_named) {
    EXPECT_THAT(to_text(read_layer_table("N;C;H\n1;2;3\n", "t.csv").error()),
                HasSubstr("has semicolons between its fields, expected commas"));
    EXPECT_THAT(to_text(read_layer_table("N\tC\n1\t2\n", "t.csv").error()), HasSubstr("has tabs between its fields"));
}

TEST(LayerTable, a_wrong_header_names_the_nearest_columns) {
    const auto missing = read_layer_table("N,Cin,H,W,K,R\n", "t.csv");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error(), SizeIs(2)) << to_text(missing.error());
    EXPECT_THAT(to_text(missing.error()), HasSubstr("column \"S\" is missing"));
    const auto twice = read_layer_table("N,C,H,W,K,R,S,pad,pad\n", "t.csv");
    ASSERT_FALSE(twice);
    EXPECT_THAT(to_text(twice.error()), HasSubstr("\"pad\" is given twice"));
    EXPECT_THAT(to_text(read("N,C,H,W,K,R,S,strides,time_us\n").notes), HasSubstr("did you mean \"stride\""));
    EXPECT_FALSE(read_layer_table("", "t.csv"));
    EXPECT_FALSE(read_layer_table(std::string_view("PK\0\3", 4), "t.csv"));
}

TEST(LayerTable, pad_same_is_tensorflows_rule_and_backward_is_two_passes) {
    const LayerTable table = read("N,C,H,W,K,R,S,pad,stride,pass\n1,4,112,112,8,3,3,SAME,2,backward\n");
    ASSERT_THAT(table.rows[0].layers, SizeIs(2));
    const auto& v = std::get<Convolution>(table.rows[0].layers[0].op);
    EXPECT_EQ(v.pad_top, 0);
    EXPECT_EQ(v.pad_bottom, 1);
    EXPECT_EQ(v.p(), 56);
    EXPECT_EQ(table.rows[0].layers[1].pass, Pass::wgrad);
}

struct Measured {
    const char* file;
    std::size_t rows;
};
class MeasuredTables : public testing::TestWithParam<Measured> {};

// FLOP or output sizes that the file itself states, by any of its columns for them.
void check_against_the_file(const LayerTable& table, const LayerRow& row) {
    const auto cell = [&](std::string_view column) -> std::optional<double> {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (table.columns[i] == column && !row.cells[i].empty()) return std::stod(row.cells[i]);
        return std::nullopt;
    };
    const Layer& layer = row.layers[0];
    for (const auto& [column, unit] : {std::pair{"direct_gflop", 1e9}, {"gflop", 1e9}, {"direct_flops_fwd", 1.0}}) {
        const double stated = cell(column).value_or(flop(layer).value() / unit);
        EXPECT_NEAR(flop(layer).value() / (stated * unit), 1, 1e-6) << column << " of line " << row.line;
    }
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        const auto p = static_cast<double>(v->p()), q = static_cast<double>(v->q());
        EXPECT_EQ(cell("out").value_or(p), p) << row.line;
        EXPECT_EQ(cell("out_h").value_or(p), p) << row.line;
        EXPECT_EQ(cell("out_w").value_or(q), q) << row.line;
    }
}

TEST(LayerTable, says_that_it_assumes_a_precision) {
    const std::string row = "op,M,N,K\ngemm,8,8,8\n";
    const auto assumed = read_layer_table(row, "t.csv");
    ASSERT_TRUE(assumed);
    ASSERT_THAT(assumed->notes, SizeIs(1));
    EXPECT_THAT(assumed->notes[0].what, testing::HasSubstr("taken as fp32"));
    const auto given = read_layer_table(row, "t.csv", {.precision = Precision::bf16});
    ASSERT_TRUE(given);
    EXPECT_THAT(given->notes, IsEmpty());
    EXPECT_EQ(given->rows[0].layers[0].precision, Precision::bf16);
}

TEST_P(MeasuredTables, are_read_whole_and_agree_with_what_they_state) {
    const std::string path = std::string(GAMBREL_SHARED_DATA) + "/measured/" + GetParam().file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "shared data not found at " << path;
    // Some of them have no column precision, which is noted unless it is given.
    const auto table = load_layer_table(path, {.precision = Precision::fp32});
    ASSERT_TRUE(table) << to_text(table.error());
    EXPECT_THAT(table->notes, IsEmpty()) << to_text(table->notes);
    EXPECT_THAT(table->rows, SizeIs(GetParam().rows));
    for (const LayerRow& row : table->rows) {
        ASSERT_FALSE(row.layers.empty()) << "line " << row.line << ": " << row.reason;
        EXPECT_EQ(row.cells.size(), table->columns.size());
        EXPECT_FALSE(row.layers[0].hints.gpu.empty());
        for (const Layer& layer : row.layers) {
            if (std::holds_alternative<Streaming>(layer.op)) continue;  // beside the convolutions of a framework's call
            EXPECT_GT(flop(layer).value(), 0);
            EXPECT_GT(compulsory_bytes(layer).read.value(), 0);
            EXPECT_TRUE(gemm_view(layer).has_value());
        }
        check_against_the_file(*table, row);
        if (HasFailure()) break;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, MeasuredTables,
    testing::Values(Measured{"conv_time_cudnn_fp16tc.csv.gz", 5352}, Measured{"conv_time_cudnn_fp32.csv.gz", 29184},
                    Measured{"conv_time_deepbench.csv.gz", 4975}, Measured{"conv_time_tiles_fp32.csv.gz", 4909},
                    Measured{"conv_traffic_v100_deepcam.csv", 136}, Measured{"conv_traffic_v100_isolated.csv", 84},
                    Measured{"gemm_time_bf16.csv.gz", 20000}, Measured{"gemm_time_tiles_fp32.csv.gz", 20000}),
    [](const auto& table) {
        std::string name = table.param.file;
        return name.substr(0, name.find('.'));
    });

}  // namespace
}  // namespace gambrel
