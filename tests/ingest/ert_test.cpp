// Are ERT's own numbers reproduced from its raw sweeps by its rule?
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/ingest.hpp>

namespace gambrel {
namespace {

namespace fs = std::filesystem;
const fs::path kErt = fs::path(GAMBREL_SHARED_DATA) / "ert";

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::vector<fs::path> leaves() {  // folders with a stored summary
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(kErt))
        if (entry.path().filename() == "sum") found.push_back(entry.path().parent_path());
    return found;
}

std::vector<ErtLine> lines_of(const fs::path& leaf) {
    std::vector<ErtLine> all;
    for (const auto& entry : fs::directory_iterator(leaf)) {
        if (!entry.path().filename().string().starts_with("try.")) continue;
        const auto lines = parse_ert_try(text_of(entry.path()), entry.path().string());
        EXPECT_TRUE(lines) << to_text(lines.error());
        if (lines) all.insert(all.end(), lines->begin(), lines->end());
    }
    return all;
}

class Ert : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(kErt)) GTEST_SKIP() << "shared data not found at " << kErt;
    }
};

TEST_F(Ert, its_stored_summaries_are_reproduced_to_the_last_digit) {
    std::size_t compared = 0;
    for (const auto& leaf : leaves()) {
        SCOPED_TRACE(leaf);
        const bool fork = leaf.string().find("xeon_p100host") != std::string::npos;  // it has 1.25 in its summary.py
        const auto summary = ert_summary(lines_of(leaf), fork ? 1.25 : 1.15);
        ASSERT_TRUE(summary) << to_text(summary.error());
        std::istringstream stored(text_of(leaf / "sum"));
        std::vector<std::pair<std::string, double>> expected;
        for (std::string line; std::getline(stored, line) && line != "META_DATA";) {
            std::istringstream words(line);
            double value = 0;
            std::string name;
            if (words >> value && std::getline(words >> std::ws, name)) expected.emplace_back(name, value);
        }
        auto found = summary->gflops;
        found.emplace_back("Weight", summary->weight);
        found.insert(found.end(), summary->gbytes.begin(), summary->gbytes.end());
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].first, expected[i].first);
            EXPECT_NEAR(found[i].second, expected[i].second, 0.00501);
            ++compared;
        }
    }
    EXPECT_GE(compared, 40U);
}

TEST_F(Ert, every_published_roofline_file_is_read) {
    std::size_t read = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kErt)) {
        if (entry.path().extension() != ".json") continue;
        const auto roofline = parse_ert_json(text_of(entry.path()), entry.path().string());
        ASSERT_TRUE(roofline) << to_text(roofline.error());
        EXPECT_FALSE(roofline->gbytes.empty());
        ++read;
    }
    EXPECT_GE(read, 13U);
    const auto titan = parse_ert_json(text_of(kErt / "ert_published/roofline.titan.ccs.ornl.gov.01.json"), "titan");
    ASSERT_TRUE(titan);
    EXPECT_EQ(titan->host, "titan-batch7.ccs.ornl.gov");
    EXPECT_EQ(titan->gflops.front().second, 105.34);
    const auto machine = machine_from(*titan, "titan");
    ASSERT_TRUE(machine) << to_text(machine.error());
    EXPECT_DOUBLE_EQ(memory_ceiling(*machine, Level::dram, {}, Roofs::measured)->value.value(), 31.16e9);
    EXPECT_DOUBLE_EQ(compute_ceiling(*machine, Pipe::fp64, {}, Roofs::measured)->value.value(), 105.34e9);
}

TEST(ErtSweep, a_point_keeps_the_tries_of_the_number_of_trials_with_the_best_median) {
    const auto lines = parse_ert_try("64 1 2 128 8\n64 1 1 128 8\n64 4 1 512 8\n128 1 1 128 8\n", "t");
    ASSERT_TRUE(lines);
    const auto sweep = ert_sweep(*lines);
    ASSERT_EQ(sweep.size(), 2U);
    EXPECT_EQ(sweep[0].working_set, 64);
    EXPECT_EQ(sweep[0].rates, std::vector<double>{512e6});
    EXPECT_EQ(sweep[1].rates, std::vector<double>{128e6});
}

TEST(ErtFile, a_pipe_in_an_ert_folder_is_an_error_and_does_not_block) {
    const fs::path folder = fs::path(testing::TempDir()) / "ert_pipe";
    fs::create_directories(folder);
    const std::string path = folder / "try.001";
    unlink(path.c_str());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto read = load_ert(folder.string());
    fs::remove_all(folder);
    ASSERT_FALSE(read);
    EXPECT_THAT(to_text(read.error()), testing::HasSubstr("not a regular file"));
}

TEST(ErtTry, junk_is_passed_over_and_impossible_lines_are_errors) {
    const auto good = parse_ert_try("MPI says hello\nfp32\n 64 1 10.0 128 8\n\nMETA_DATA\n1 2 3 4 5\n", "t");
    ASSERT_TRUE(good);
    ASSERT_EQ(good->size(), 1U);
    EXPECT_EQ(good->front().precision, "fp32");
    EXPECT_EQ(good->front().microseconds, 10);
    const auto zero = parse_ert_try("fp64\n64 1 -3 128 8\n", "t");
    ASSERT_FALSE(zero);
    EXPECT_THAT(to_text(zero.error()), testing::HasSubstr("t: line 2"));
    EXPECT_EQ(parse_ert_try("64 1 0 128 8\n64 2 1 256 16\n", "t")->size(), 1U);  // shorter than the clock's tick
    EXPECT_FALSE(parse_ert_try("", "t"));
    EXPECT_FALSE(parse_ert_try("64 1 nan 128 8\n", "t"));
}

TEST(ErtJson, says_where_it_is_wrong) {
    const auto what = [](const char* text) {
        const auto r = parse_ert_json(text, "r.json");
        return r ? std::string("read") : to_text(r.error());
    };
    EXPECT_THAT(what("{"), testing::HasSubstr("is not valid JSON"));
    EXPECT_THAT(what("{}"), testing::HasSubstr("empirical.gflops.data"));
    EXPECT_THAT(what(R"({"empirical":{"gflops":{"data":[["x",-1]]},"gbytes":{"data":[["L1",2]]}}})"),
                testing::HasSubstr("gflops.data[0]: [\"x\",-1]"));
    const auto five = parse_ert_json(
        R"({"empirical":{"gflops":{"data":[["FP64 GFLOPs",1]]},"gbytes":{"data":[["L4",2]]}}})", "r.json");
    ASSERT_TRUE(five);
    const auto machine = machine_from(*five, "r.json");
    ASSERT_FALSE(machine);
    EXPECT_THAT(to_text(machine.error()), testing::HasSubstr("\"L4\""));
}

}  // namespace
}  // namespace gambrel
