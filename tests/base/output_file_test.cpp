// Can a user lose a file? And does everything that can be written to get its bytes?
#include "base/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gambrel::base_detail {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

class OutputFileTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("gambrel_output_file_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
    OutputGuard guard_;
};

std::string reason(const Result<void>& result) { return result ? "" : to_text(result.error().front()); }

TEST_F(OutputFileTest, a_new_file_gets_its_bytes_and_the_mode_of_the_umask) {
    const mode_t old = ::umask(027);
    EXPECT_TRUE(write_file(path("a"), std::string("x\0y", 3), guard_));
    ::umask(old);
    EXPECT_EQ(text_of(path("a")), std::string("x\0y", 3));
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, a_replaced_file_keeps_its_mode_and_nothing_stays_beside_it) {
    fs::permissions(file("a", ""), fs::perms(0604));
    EXPECT_TRUE(write_file(path("a"), "new", guard_));
    EXPECT_EQ(text_of(path("a")), "new");
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0604));
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, a_disk_that_fills_leaves_the_old_file_whole) {
    const std::string old = "{\"schema\": \"gambrel-analysis-1\"}";
    file("a.json", old);
    // A limit on the size of files stands for a full disk.
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = before;
    small.rlim_cur = 1000;
    const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto written = write_file(path("a.json"), std::string(5000, 'x'), guard_);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, old_handler);
    EXPECT_THAT(reason(written), HasSubstr("a.json: cannot be written: File too large"));
    EXPECT_EQ(text_of(path("a.json")), old);
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, an_input_is_never_replaced_whatever_its_spelling) {
    const std::string input = file("in.csv", "data");
    fs::create_symlink("in.csv", path("link.csv"));
    fs::create_hard_link(input, path("hard.csv"));
    guard_.protect(input);
    guard_.force();
    for (const std::string& target : {input, path("link.csv"), path("hard.csv"),
                                      folder_.string() + "/../" + folder_.filename().string() + "/in.csv"}) {
        EXPECT_THAT(reason(write_file(target, "new", guard_)), HasSubstr("input")) << target;
        EXPECT_FALSE(guard_.check_target(target)) << target;
    }
    EXPECT_EQ(text_of(input), "data");
}

TEST_F(OutputFileTest, an_input_that_is_a_link_protects_the_file_that_it_points_to) {
    const std::string input = file("in.csv", "data");
    fs::create_symlink("in.csv", path("link.csv"));
    guard_.protect(path("link.csv"));
    EXPECT_THAT(reason(write_file(input, "new", guard_)), HasSubstr("is the same file as the input"));
}

TEST_F(OutputFileTest, a_foreign_file_is_replaced_only_by_force) {
    const std::string foreign = file("notes.csv", "\"ID\",\"Kernel Name\",\"Metric\"\n1,2,3\n");
    EXPECT_THAT(reason(write_file(foreign, "name,phase,launches,time_s\n", guard_)),
                HasSubstr("was not written by gambrel"));
    EXPECT_EQ(text_of(foreign).substr(0, 5), "\"ID\",");
    guard_.force();
    EXPECT_TRUE(write_file(foreign, "name,phase\n", guard_));
    EXPECT_EQ(text_of(foreign), "name,phase\n");
}

TEST_F(OutputFileTest, formats_that_begin_alike_for_everyone_are_not_taken_for_ours) {
    for (const std::string text : {"{\n  \"schema\": 1\n}\n", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>\n",
                                   "<!DOCTYPE html>\n<p>mine\n", "%PDF-1.5\nmine\n", "\x89PNG\r\n\x1a\nmine",
                                   "{\"schema\": \"gambrel-costs-1\"}", "{\"name\": \"gambrel-x\"}"}) {
        const std::string first_line = text.substr(0, text.find('\n') + 1);
        EXPECT_FALSE(write_file(file("f", text), first_line + "new", guard_)) << text;
    }
}

TEST_F(OutputFileTest, our_own_files_are_replaced_without_a_question) {
    using namespace std::string_literals;
    const std::string filler(100'000, ' ');
    for (const std::string& old :
         {""s, "{\n  \"schema\": \"gambrel-analysis-1\"}"s, "<script>{\"schema\":\"gambrel-page-1\"}"s,
          "<svg>" + filler + "</svg>\n<!-- gambrel -->\n", "\x89PNG....tEXtSoftware\0gambrel"s,
          "%PDF-1.5\n" + filler + "/Creator (gambrel)\n", "gambrel-explore-checkpoint-1\n"s,
          "<testsuites>\n  <testsuite name=\"gambrel check x\""s, "{\"cite\": \"gambrel measure on x\"}"s,
          "{\"GAMBREL_VERSION\": \"1\"}"s, "same bytes"s, "name,phase,launches,time_s\nold,,1,2\n"s}) {
        const std::string bytes = old == "same bytes" ? old : "name,phase,launches,time_s\nnew,,1,2\n";
        EXPECT_EQ(reason(write_file(file("f", old), bytes, guard_)), "") << old.substr(0, 60);
    }
}

TEST_F(OutputFileTest, a_symbolic_link_stays_and_its_target_is_replaced) {
    fs::create_directory(path("real"));
    fs::create_symlink("real/a", path("link"));
    fs::create_symlink("link", path("link2"));
    EXPECT_TRUE(write_file(path("link2"), "one", guard_)) << "a link to a file that does not exist yet";
    guard_.force();
    EXPECT_TRUE(write_file(path("link2"), "two", guard_));
    EXPECT_TRUE(fs::is_symlink(path("link2")));
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(text_of(path("real/a")), "two");
}

TEST_F(OutputFileTest, a_fifo_is_written_to_and_stays_a_fifo) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = text_of(path("pipe")); });
    const std::string bytes(300'000, 'b');
    EXPECT_TRUE(write_file(path("pipe"), bytes, guard_));
    reader.join();
    EXPECT_EQ(got, bytes);
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(OutputFileTest, a_descriptor_named_by_its_path_is_written_where_it_stands) {
    const int fd = ::open(path("log").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_EQ(::write(fd, "before ", 7), 7);
    EXPECT_TRUE(write_file("/dev/fd/" + std::to_string(fd), "middle", guard_));
    ASSERT_EQ(::write(fd, " after", 6), 6);
    ::close(fd);
    EXPECT_EQ(text_of(path("log")), "before middle after");
    EXPECT_THAT(reason(write_file("/dev/fd/777", "x", guard_)), HasSubstr("Bad file descriptor"));
}

TEST_F(OutputFileTest, a_full_device_gives_the_reason) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    EXPECT_THAT(reason(write_file("/dev/full", "x", guard_)), HasSubstr("No space left on device"));
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
    EXPECT_TRUE(write_file("/dev/null", "x", guard_));
}

TEST_F(OutputFileTest, what_cannot_be_written_is_known_before_the_work_and_says_why) {
    EXPECT_THAT(reason(guard_.check_target(path("none/a"))), HasSubstr("No such file or directory"));
    EXPECT_THAT(reason(guard_.check_target(folder_.string())), HasSubstr("is a folder"));
    EXPECT_THAT(reason(guard_.check_target(path(std::string(300, 'n')))), HasSubstr("File name too long"));
    EXPECT_TRUE(guard_.check_target(path("new")));
    EXPECT_FALSE(write_file(path("none/a"), "x", guard_));
    if (::geteuid() == 0) return;  // nothing is write-protected for root
    fs::permissions(file("mine", ""), fs::perms(0444));
    EXPECT_THAT(reason(write_file(path("mine"), "x", guard_)), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace gambrel::base_detail
