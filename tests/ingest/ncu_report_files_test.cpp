// Real reports of 2019 to 2025, Pascal to Blackwell, read in place from the shared data.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_bytes.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {
namespace {

using base_detail::FileBytes;
using testing::ElementsAre;
using testing::IsEmpty;

const std::filesystem::path kFolder = std::filesystem::path(GAMBREL_SHARED_DATA) / "ncu_rep";

const MetricSet& wanted() {
    static const MetricSet metrics = [] {
        MetricSet set;
        set.add("gpu__time_duration.sum");
        set.add("dram__bytes.sum");
        set.add("launch__grid_size");
        return set;
    }();
    return metrics;
}

class NcuReportFiles : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "shared data not found at " << kFolder;
    }
    static Profile read(const std::string& name) {
        const auto file = FileBytes::open((kFolder / name).string());
        if (!file) throw std::runtime_error(to_text(file.error()));
        return read(file->view(), name);
    }
    static Profile read(std::string_view bytes, const std::string& name) {
        auto profile = read_ncu_report(bytes, {name, wanted(), {}});
        if (!profile) throw std::runtime_error(to_text(profile.error()));
        return std::move(*profile);
    }
    static double value(const Profile& profile, const Launch& launch, const std::string& metric) {
        for (std::size_t i = launch.first_value; i < launch.first_value + launch.values; ++i)
            if (wanted().name(profile.values[i].metric) == metric) return profile.values[i].value;
        return std::nan("");
    }
    static std::vector<std::string> reports() {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(kFolder))
            if (entry.path().extension() != ".csv") names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }
};

TEST_F(NcuReportFiles, all_are_read_whole) {
    std::size_t launches = 0, shapeless = 0;
    const auto names = reports();
    EXPECT_EQ(names.size(), 56U);
    for (const std::string& name : names) {
        const Profile profile = read(name);
        EXPECT_THAT(profile.notes, IsEmpty()) << name;
        EXPECT_FALSE(profile.launches.empty()) << name;
        for (const Launch& launch : profile.launches) {
            EXPECT_FALSE(launch.name.empty()) << name;
            EXPECT_FALSE(launch.device.empty()) << name;
            EXPECT_TRUE(launch.cc) << name;
            const double size = value(profile, launch, "launch__grid_size");
            if (!launch.shape) {
                ++shapeless;
                EXPECT_TRUE(std::isnan(size)) << name;
                continue;
            }
            const auto& grid = launch.shape->grid;
            EXPECT_EQ(static_cast<double>(grid[0]) * grid[1] * grid[2], size) << name;
        }
        launches += profile.launches.size();
    }
    EXPECT_EQ(launches, 422U);
    EXPECT_EQ(shapeless, 2U);  // failed launches, written as 0 x 0 x 0
}

TEST_F(NcuReportFiles, kernel_device_version_and_time_are_as_expected) {
    std::ifstream csv(kFolder / "expected_roofline.csv");
    std::string line;
    std::getline(csv, line);
    ASSERT_TRUE(line.starts_with("file,id,gpu,ncu,kernel,time_ns,"));
    std::map<std::string, Profile> profiles;
    int rows = 0;
    while (std::getline(csv, line)) {
        std::istringstream fields(line);
        std::string file, id, gpu, ncu, kernel, time;
        for (std::string* field : {&file, &id, &gpu, &ncu, &kernel, &time}) std::getline(fields, *field, ',');
        if (!profiles.contains(file)) profiles.emplace(file, read(file));
        const Profile& profile = profiles.at(file);
        const Launch& launch = profile.launches.at(std::stoul(id));
        EXPECT_THAT(launch.name.str(), testing::HasSubstr(kernel)) << file;
        EXPECT_EQ(launch.device.str(), gpu) << file;
        EXPECT_EQ(profile.tool_version, ncu) << file;
        const double seconds = value(profile, launch, "gpu__time_duration.sum");
        if (time == "nan")
            EXPECT_TRUE(std::isnan(seconds)) << file;
        else
            EXPECT_EQ(seconds, std::stod(time)) << file << " " << id;
        ++rows;
    }
    EXPECT_EQ(rows, 55);
}

TEST_F(NcuReportFiles, nvtx_ranges_of_manual_nvtx) {
    const Profile profile = read("NVIDIA__nsight-training--cuda-nsight_compute-sample_reports--manual_nvtx.ncu-rep");
    std::vector<std::vector<std::string>> ranges;
    for (const Launch& launch : profile.launches) {
        auto& names = ranges.emplace_back();
        for (const Symbol name : launch.nvtx) names.push_back(name.str());
    }
    EXPECT_THAT(ranges, ElementsAre(ElementsAre("run_test", "init_data"), ElementsAre("run_test", "daxpy"),
                                    ElementsAre("run_test", "check_results")));
}

TEST_F(NcuReportFiles, a_report_of_2019_counts_its_grid_in_blocks) {
    const Profile profile = read("BrennenTaylor__Twisty--profile.nsight-cuprof-report");
    EXPECT_EQ(profile.tool_version, "");
    ASSERT_EQ(profile.launches.size(), 2U);
    for (const Launch& launch : profile.launches) {
        const auto& grid = launch.shape.value().grid;
        EXPECT_EQ(static_cast<double>(grid[0]) * grid[1] * grid[2], value(profile, launch, "launch__grid_size"));
    }
}

// Where blocks begin, by the same layout but on purpose not by the reader under test.
std::vector<std::size_t> block_ends(std::string_view bytes) {
    const auto u32 = [&](std::size_t at) {
        std::uint32_t v = 0;
        for (std::size_t i = 4; i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
        return v;
    };
    const auto varint = [&](std::size_t& at) {
        std::uint64_t v = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto b = static_cast<unsigned char>(bytes[at++]);
            v |= std::uint64_t{b & 0x7fU} << shift;
            if (b < 0x80) return v;
        }
    };
    std::vector<std::size_t> ends{10};
    for (std::size_t at = 10; at < bytes.size(); ends.push_back(at)) {
        const std::size_t end = at + 4 + u32(at);
        std::uint64_t payload = 0;
        for (at += 4; at < end;) {
            const std::uint64_t key = varint(at), number = varint(at);
            if (key == (5 << 3)) payload = number;
            if ((key & 7) == 2) at += number;
        }
        at = end + payload;
    }
    return ends;
}

TEST_F(NcuReportFiles, a_cut_at_any_offset_gives_the_launches_before_it_and_a_note) {
    for (const char* name :
         {"NVIDIA__nsight-training--cuda-nsight_compute-sample_reports--manual_nvtx.ncu-rep",
          "BrennenTaylor__Twisty--profile.nsight-cuprof-report", "DarrenLu666888__CUDATutorial--profile.ncu-rep"}) {
        const auto file = FileBytes::open((kFolder / name).string());
        ASSERT_TRUE(file);
        const auto ends = block_ends(file->view());
        const std::size_t whole = read(file->view(), name).launches.size();
        std::size_t before = 0;
        // Steps of a prime, and each offset around the border of a block.
        std::vector<std::size_t> cuts;
        for (std::size_t cut = 10; cut < file->view().size(); cut += 997) cuts.push_back(cut);
        for (const std::size_t end : ends)
            for (std::size_t cut = end; cut < std::min(end + 6, file->view().size()); ++cut) cuts.push_back(cut);
        std::sort(cuts.begin(), cuts.end());
        for (const std::size_t cut : cuts) {
            const Profile profile = read(file->view().substr(0, cut), name);
            const bool at_border = std::find(ends.begin(), ends.end(), cut) != ends.end();
            EXPECT_GE(profile.launches.size(), before) << name << " cut at " << cut;
            const bool said = std::any_of(profile.notes.begin(), profile.notes.end(), [](const Error& note) {
                return note.what.find("truncated") != std::string::npos &&
                       note.where.find(": byte ") != std::string::npos;
            });
            EXPECT_EQ(said, !at_border) << name << " cut at " << cut;
            before = profile.launches.size();
        }
        EXPECT_LE(before, whole);
        EXPECT_GE(before + 1, whole);
    }
}

TEST_F(NcuReportFiles, flipped_bytes_never_crash_the_reader) {
    const auto file = FileBytes::open((kFolder / "2388612861__GPU-DEMO--ncu_report.ncu-rep").string());
    ASSERT_TRUE(file);
    std::string bytes(file->view());
    for (std::size_t i = 4; i < bytes.size(); i += 61) {
        const char good = bytes[i];
        for (const int flip : {0x01, 0x80, 0xff}) {
            bytes[i] = static_cast<char>(good ^ flip);
            const auto profile = read_ncu_report(bytes, {"flipped", wanted(), {}});
            const std::size_t launches = profile ? profile->launches.size() : 0;
            EXPECT_LE(launches, 64U);
        }
        bytes[i] = good;
    }
}

}  // namespace
}  // namespace gambrel::ingest_detail
