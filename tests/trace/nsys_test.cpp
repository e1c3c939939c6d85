// Are exports of Nsight Systems of all schema versions read, and what is missing or cut off said to be so?
#include <gambrel/trace.hpp>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace gambrel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const std::string kNames = "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1,'gemm'),(2,'launch');";
const std::string kKernelColumns =
    "(start, end, deviceId, streamId, correlationId, globalPid, demangledName, gridX, gridY, gridZ)";
const std::string kKernelTable = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL" + kKernelColumns +
                                 "; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                                 "(100,150,0,7,11,16777216,1,4,2,1),(200,260,0,7,12,16777216,1,-4,2,1);";
const std::string kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(90,95,16777217,11,2),(96,99,16777217,12,2);";

// The bytes of a database that these statements make.
std::string database(const std::string& sql) {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
    std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    sqlite3_close(db);
    return out;
}

Timeline timeline_of_sql(const std::string& sql) {
    auto timeline = read_timeline(database(sql), "t.sqlite");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    return timeline ? std::move(*timeline) : Timeline{};
}

TEST(Nsys, kernels_are_joined_to_the_calls_of_their_process) {
    const Timeline t = timeline_of_sql(kNames + kKernelTable + kCalls);
    ASSERT_THAT(t.activities, SizeIs(2));
    EXPECT_EQ(t.activities[0].name.str(), "gemm");
    EXPECT_EQ(t.activities[0].launch, Activity::Launch::no_operation);
    EXPECT_EQ(t.activities[0].launch_ns, 90);
    EXPECT_EQ(t.activities[1].shape.grid[0], 0u);  // negative: not a grid
}

TEST(Nsys, tables_with_a_version_and_copies_of_them_are_read_once) {
    const std::string versioned = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V3;";
    EXPECT_THAT(timeline_of_sql(kNames + kKernelTable + versioned).activities, SizeIs(2));
    const std::string copied = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_";
    EXPECT_THAT(
        timeline_of_sql(kNames + kKernelTable + copied + "V2 AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;").activities,
        SizeIs(2));
    const std::string named = copied + "NAMED AS SELECT *, 'gemm' AS name FROM CUPTI_ACTIVITY_KIND_KERNEL;";
    EXPECT_THAT(timeline_of_sql(kNames + kKernelTable + named).activities, SizeIs(2));
    const Timeline only = timeline_of_sql(kKernelTable + named + "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;");
    ASSERT_THAT(only.activities, SizeIs(2));
    EXPECT_EQ(only.activities[0].name.str(), "gemm");
}

TEST(Nsys, what_a_file_lacks_takes_nothing_else_away) {
    EXPECT_THAT(timeline_of_sql(kKernelTable).activities, SizeIs(2));  // no names, no calls
    const std::string drop = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN ";
    EXPECT_EQ(timeline_of_sql(kNames + kKernelTable + kCalls + drop + "correlationId;").activities.at(0).launch,
              Activity::Launch::unknown);
    EXPECT_EQ(timeline_of_sql(kNames + kKernelTable + kCalls + drop + "globalPid;").activities.at(0).launch_ns, 90);
    const auto none = read_timeline(database("CREATE TABLE t(a);"), "t.sqlite");
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().front().what, HasSubstr("no table of Nsight Systems"));
}

TEST(Nsys, a_whole_graph_is_time_of_a_graph) {
    const Timeline t = timeline_of_sql(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, graphId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(10, 500, 0, 3);");
    ASSERT_THAT(t.activities, SizeIs(1));
    EXPECT_EQ(t.activities[0].launch, Activity::Launch::graph);
}

TEST(Nsys, the_gpu_is_named_by_tables_of_all_years_and_by_the_process_that_numbers_it) {
    const std::string old =
        "CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId, name, computeCapabilityMajor, computeCapabilityMinor);"
        "INSERT INTO TARGET_INFO_CUDA_GPU VALUES(0, 'Tesla T4', 7, 5);";
    EXPECT_EQ(timeline_of_sql(kNames + kKernelTable + old).devices.at(0).name, "Tesla T4");
    const std::string two =
        "CREATE TABLE TARGET_INFO_GPU(id, cuDevice, name);"
        "INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'NVIDIA L4'), (1, 1, 'NVIDIA A10');"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1, 0, 1);";  // process 1 sees the second GPU as its first
    EXPECT_EQ(timeline_of_sql(kNames + kKernelTable + two).devices.at(0).name, "NVIDIA A10");
}

TEST(Nsys, a_file_that_ends_too_early_gives_the_tables_before_its_end) {
    const std::string many =
        "CREATE TABLE ZZ(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 9000)"
        "INSERT INTO ZZ SELECT i || 'some text that fills pages' FROM n;";
    const std::string whole = database(kNames + kKernelTable + kCalls + many);
    const auto cut = read_timeline(std::string_view(whole).substr(0, whole.size() / 2), "t.sqlite");
    ASSERT_TRUE(cut) << to_text(cut.error());
    EXPECT_THAT(cut->activities, SizeIs(2));
    EXPECT_TRUE(cut->partial);
}

// SQLite reads a last page that is cut short as if it were whole, so that an empty result was none to doubt.
TEST(Nsys, a_file_that_ends_inside_its_last_page_is_partial_also_when_read_by_name) {
    const std::string whole = database(kNames + kKernelTable + kCalls);
    const auto path = std::filesystem::path(testing::TempDir()) / "cut-in-a-page.sqlite";
    std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() - 100);
    const std::vector<std::string> paths = {path.string()};
    const auto cut = read_timeline(paths);
    ASSERT_TRUE(cut) << to_text(cut.error());
    EXPECT_TRUE(cut->partial);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace gambrel
