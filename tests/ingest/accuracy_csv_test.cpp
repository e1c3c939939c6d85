// How far from the authors' own tables? GPP, DETR and DeepCAM with the paper's rules, to 1e-6.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "ingest/expected.hpp"

namespace gambrel {
namespace {

using test::Deviation;
using test::ingested;
using test::number;
using test::value;

constexpr double kGibi = 1073741824.0;  // the scripts' "GFLOP/s" divide by 2^30

const std::filesystem::path kShared = test::shared_data();

std::map<std::string, Kernel> by_name(const std::filesystem::path& path, TimeSum time_sum) {
    std::map<std::string, Kernel> kernels;
    for (auto& k : grouped(ingested(path, FlopRule::paper).kernels, Grouping::kernel, time_sum)) {
        const std::string name = k.name.str();
        EXPECT_TRUE(kernels.emplace(name, std::move(k)).second) << name << " twice in " << path;
    }
    return kernels;
}

// The columns of gpp_rtx4060_expected.csv and detr_a100_expected_tc512.csv.
void compare_nersc(const Kernel& k, const test::Row& row, Deviation& d, bool exact) {
    const std::string what = row.at("file") + " " + row.at("kernel").substr(0, 60) + " ";
    EXPECT_EQ(static_cast<double>(k.launches), number(row, "count")) << what;
    d.add(value(k.time), number(row, exact ? "time_exact" : "time_script"), what + "time");
    d.add(value(k.work[Pipe::fp64]), number(row, "fp64"), what + "fp64");
    d.add(value(k.work[Pipe::fp32]), number(row, "fp32"), what + "fp32");
    d.add(value(k.work[Pipe::fp16]), number(row, "fp16"), what + "fp16");
    d.add(value(tensor_flop(k)), number(row, "tensor"), what + "tensor");
    d.add(value(tensor_flop(k)) / 512, number(row, "tensor_inst"), what + "tensor instructions");
    d.add(value(flop(k)), number(row, "flops"), what + "flops");
    d.add(value(k.bytes[Level::l1]), number(row, "l1"), what + "l1");
    d.add(value(k.bytes[Level::l2]), number(row, "l2"), what + "l2");
    d.add(value(k.bytes[Level::dram]), number(row, "dram"), what + "dram");
    d.add(value(intensity(k, Level::l1)), number(row, "ai_l1"), what + "ai_l1");
    d.add(value(intensity(k, Level::l2)), number(row, "ai_l2"), what + "ai_l2");
    d.add(value(intensity(k, Level::dram)), number(row, "ai_dram"), what + "ai_dram");
    if (exact)
        d.add(value(flop_rate(k)) / 1e9, number(row, "gflops_1e9"), what + "gflops");
    else
        d.add(value(flop_rate(k)) / kGibi, number(row, "gflops_2p30_script"), what + "gflops of the script");
}

void compare_folder(const std::string& folder, const std::string& expected, int at_least) {
    for (const bool exact : {true, false}) {
        std::map<std::string, std::map<std::string, Kernel>> files;
        Deviation d(1e-6);
        std::set<std::string> not_stored;
        for (const auto& row : test::table(kShared / "ncu_csv" / expected)) {
            const std::string& file = row.at("file");
            const auto path = kShared / "ncu_csv" / folder / file;
            if (!std::filesystem::exists(path)) {  // the table covers more files than are stored
                not_stored.insert(file);
                continue;
            }
            if (std::isnan(number(row, "time_exact"))) continue;  // the failed launch
            if (!files.contains(file)) files[file] = by_name(path, exact ? TimeSum::exact : TimeSum::mean_rate);
            ASSERT_TRUE(files[file].contains(row.at("kernel"))) << file << " " << row.at("kernel");
            compare_nersc(files[file].at(row.at("kernel")), row, d, exact);
        }
        EXPECT_GE(d.compared(), at_least);
        d.record(folder + (exact ? "_exact" : "_script"));
        for (const auto& [file, kernels] : files) {
            std::size_t expected_kernels = 0;
            for (const auto& row : test::table(kShared / "ncu_csv" / expected))
                expected_kernels += row.at("file") == file;
            EXPECT_EQ(kernels.size(), expected_kernels) << file;
        }
    }
}

class CsvAccuracy : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "shared data not found at " << kShared;
    }
};

TEST_F(CsvAccuracy, gpp_on_rtx_4060) { compare_folder("gpp_rtx4060", "gpp_rtx4060_expected.csv", 4 * 14); }

TEST_F(CsvAccuracy, detr_on_a100) { compare_folder("detr_a100", "detr_a100_expected_tc512.csv", 200 * 14); }

TEST_F(CsvAccuracy, a_failed_launch_is_a_row_with_a_reason) {
    const auto in = ingested(kShared / "ncu_csv/gpp_rtx4060/output8.csv");
    ASSERT_EQ(in.kernels.size(), 1U);
    const Kernel& k = in.kernels[0];
    EXPECT_FALSE(k.time || flop(k) || k.bytes[Level::l1] || k.bytes[Level::l2] || k.bytes[Level::dram]);
    ASSERT_FALSE(k.reasons.empty());
    EXPECT_THAT(k.reasons[0].str(), testing::HasSubstr("nan"));
}

TEST_F(CsvAccuracy, files_of_error_text_among_good_ones_are_notes) {
    const auto in = ingested(kShared / "ncu_csv/b200");
    EXPECT_FALSE(in.kernels.empty());
    int errors = 0;
    for (const auto& note : in.notes) {
        EXPECT_FALSE(note.where.empty()) << note.what;
        errors += note.what.find("==ERROR==") != std::string::npos;
    }
    EXPECT_GE(errors, 1);
    for (const Kernel& k : in.kernels) EXPECT_TRUE(k.time || !k.reasons.empty()) << k.name.str();
}

void compare_deepcam(const std::string& run, const std::string& expected) {
    const auto kernels = by_name(kShared / "deepcam" / run, TimeSum::mean_rate);
    const auto rows = test::table(kShared / "deepcam" / expected);
    Deviation d(1e-6);
    for (const auto& row : rows) {
        const std::string& name = row.at("Kernel Name");
        ASSERT_TRUE(kernels.contains(name)) << run << ": " << name;
        const Kernel& k = kernels.at(name);
        const std::string what = run + " " + name.substr(0, 60) + " ";
        EXPECT_EQ(static_cast<double>(k.launches), number(row, "Count")) << what;
        const double tensor = value(tensor_flop(k)), all = value(flop(k));
        d.add(value(k.time), number(row, "Time"), what + "Time");
        d.add(all - tensor, number(row, "CC FLOPs"), what + "CC FLOPs");
        d.add(tensor, number(row, "TC FLOPs"), what + "TC FLOPs");
        d.add(all, number(row, "all FLOPs"), what + "all FLOPs");
        d.add(value(intensity(k, Level::dram)), number(row, "AI HBM"), what + "AI HBM");
        d.add(value(intensity(k, Level::l2)), number(row, "AI L2"), what + "AI L2");
        d.add(value(intensity(k, Level::l1)), number(row, "AI L1"), what + "AI L1");
        d.add(all / value(k.time) / kGibi, number(row, "GFLOP/s"), what + "GFLOP/s");
        d.add(tensor / value(k.time) / kGibi, number(row, "TC GFLOP/s"), what + "TC GFLOP/s");
    }
    EXPECT_EQ(kernels.size(), rows.size()) << run;
    EXPECT_GE(d.compared(), 9 * 30);
    d.record(std::filesystem::path(run).filename().string());
}

TEST_F(CsvAccuracy, deepcam_in_pytorch) {
    compare_deepcam("pytorch/PT-fp32-O0-Adam-fw-733726", "pytorch/expected/fp32-O0-Adam-fw.csv");
    compare_deepcam("pytorch/PT-fp32-O1-Adam-bw-733727", "pytorch/expected/fp32-O1-Adam-bw.csv");
    compare_deepcam("pytorch/PT-fp32-O1-Adam-fw-733728", "pytorch/expected/fp32-O1-Adam-fw.csv");
}

TEST_F(CsvAccuracy, deepcam_in_tensorflow) {
    compare_deepcam("tensorflow/TF-fp16-batch2-fw-amp-732365", "tensorflow/expected/fp16-batch2-fw-amp.csv");
    compare_deepcam("tensorflow/TF-fp32-batch1-fw-noamp-732370", "tensorflow/expected/fp32-batch1-fw-noamp.csv");
}

TEST_F(CsvAccuracy, the_paper_way_of_adding_times_differs_from_the_sum_and_by_less_than_a_per_cent) {
    const auto path = kShared / "deepcam/pytorch/PT-fp32-O1-Adam-bw-733727";
    const auto exact = by_name(path, TimeSum::exact), mean = by_name(path, TimeSum::mean_rate);
    double worst = 0;
    for (const auto& [name, k] : exact)
        worst = std::max(worst, std::fabs(value(mean.at(name).time) / value(k.time) - 1));
    EXPECT_GT(worst, 1e-5);
    EXPECT_LT(worst, 0.01);
}

}  // namespace
}  // namespace gambrel
