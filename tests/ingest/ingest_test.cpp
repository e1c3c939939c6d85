// Is a run that lost something marked as partial, and is a run of nothing an error?
#include <gambrel/ingest.hpp>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace gambrel {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class IngestTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("gambrel_ingest_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }

    fs::path folder_;
    const std::string header_ =
        "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    const std::string rows_ =
        "\"0\",\"axpy\",\"\",\"gpu__time_duration.sum\",\"nsecond\",\"1,000\"\n"
        "\"0\",\"axpy\",\"\",\"dram__bytes.sum\",\"byte\",\"4,096\"\n";
};

TEST_F(IngestTest, a_whole_file_is_not_partial) {
    const std::string path = file("a.csv", header_ + rows_);
    const auto run = ingest(std::span(&path, 1));
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_FALSE(run->partial);
    EXPECT_EQ(run->kernels.size(), 1u);
}

TEST_F(IngestTest, a_table_that_ends_inside_a_row_is_partial) {
    for (const std::size_t lost : {3, 8, 20}) {
        const std::string path = file("a.csv", header_ + rows_.substr(0, rows_.size() - lost));
        const auto run = ingest(std::span(&path, 1));
        ASSERT_TRUE(run) << to_text(run.error());
        EXPECT_TRUE(run->partial) << lost << " bytes are missing";
    }
}

TEST_F(IngestTest, a_run_of_which_one_file_could_not_be_read_is_partial) {
    const std::string paths[] = {file("a.csv", header_ + rows_), file("b.csv", "nothing of the kind\n")};
    const auto run = ingest(paths);
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->partial);
}

TEST_F(IngestTest, files_without_a_launch_are_an_error) {
    const std::string path = file("a.csv", header_);
    const auto run = ingest(std::span(&path, 1));
    ASSERT_FALSE(run);
    EXPECT_THAT(to_text(run.error()), HasSubstr("holds no kernel launch"));
}

TEST_F(IngestTest, json_that_no_reader_knows_is_called_json) {
    const std::string path = file("a.json", "\n{\"a\": 1}");
    const auto run = ingest(std::span(&path, 1));
    ASSERT_FALSE(run);
    EXPECT_THAT(to_text(run.error()), HasSubstr("is JSON, but neither a trace of the PyTorch profiler"));
}

TEST_F(IngestTest, a_filter_that_matches_nothing_is_an_error) {
    const std::string path = file("a.csv", header_ + rows_);
    IngestOptions options;
    options.keep = [](const std::string&) { return false; };
    const auto run = ingest(std::span(&path, 1), options);
    ASSERT_FALSE(run);
    EXPECT_THAT(to_text(run.error()), HasSubstr("--kernel: matches none of the 1 launches"));
}

}  // namespace
}  // namespace gambrel
