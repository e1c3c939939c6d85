#include "base/file_bytes.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace gambrel::base_detail {
namespace {

std::string gzipped(const std::string& text) {
    z_stream z{};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, text.size()) + 32, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

std::string noise(std::size_t size) {
    std::mt19937 random(1);
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

class FileBytesTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("gambrel_file_bytes_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string written(const std::string& bytes) const {
        const std::string path = (folder_ / "file").string();
        std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path;
    }
    std::filesystem::path folder_;
};

TEST_F(FileBytesTest, a_plain_file_is_seen_byte_for_byte) {
    const std::string text = noise(100'000);
    const auto file = FileBytes::open(written(text));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->view(), text);
}

TEST_F(FileBytesTest, a_gzip_file_is_recognised_by_content_and_unpacked) {
    const std::string text = noise(300'000) + std::string(1'000'000, 'a');
    const auto file = FileBytes::open(written(gzipped(text)));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->view(), text);
}

TEST_F(FileBytesTest, the_view_stays_valid_when_the_file_is_moved) {
    auto file = FileBytes::open(written(gzipped("ab")));
    ASSERT_TRUE(file);
    FileBytes moved = std::move(*file);
    auto other = FileBytes::open(written("plain"));
    ASSERT_TRUE(other);
    moved = std::move(*other);
    EXPECT_EQ(moved.view(), "plain");
    EXPECT_EQ(other->view(), "ab");
    {
        auto brief = FileBytes::open(written(gzipped(std::string(1'000'000, 'c'))));
        ASSERT_TRUE(brief);
        moved = std::move(*brief);
    }
    EXPECT_EQ(moved.view(), std::string(1'000'000, 'c'));
}

TEST_F(FileBytesTest, an_empty_file_is_an_empty_view) {
    const auto file = FileBytes::open(written(""));
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->view().empty());
}

TEST_F(FileBytesTest, a_pipe_is_read_to_its_end) {
    const std::string path = (folder_ / "pipe").string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const std::string text = noise(2'500'000);
    std::thread writer(
        [&] { std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size())); });
    const auto file = FileBytes::open(path);
    writer.join();
    ASSERT_TRUE(file);
    EXPECT_EQ(file->view(), text);
}

TEST_F(FileBytesTest, what_cannot_be_opened_is_an_error_with_its_path) {
    const auto missing = FileBytes::open((folder_ / "none").string());
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().front().where.find("none"), std::string::npos);
    EXPECT_NE(missing.error().front().what.find("No such file"), std::string::npos);
    const auto folder = FileBytes::open(folder_.string());
    ASSERT_FALSE(folder);
    EXPECT_NE(folder.error().front().what.find("is a folder"), std::string::npos);
}

TEST(Gunzip, joins_the_members_of_a_file) {
    const auto text = gunzip(gzipped("first,") + gzipped("") + gzipped("second") + std::string(512, '\0'), "f.gz");
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, "first,second");
}

TEST(Gunzip, refuses_what_unpacks_beyond_the_limit) {
    const std::string bomb = gzipped(std::string(10'000'000, '\0'));
    ASSERT_LT(bomb.size(), 20'000U);
    const auto refused = gunzip(bomb, "bomb.gz", 9'999'999);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().front().where, "bomb.gz");
    EXPECT_NE(refused.error().front().what.find("9999999"), std::string::npos);
    const auto allowed = gunzip(bomb, "bomb.gz", 10'000'000);
    ASSERT_TRUE(allowed) << to_text(allowed.error());
    EXPECT_EQ(allowed->size(), 10'000'000U);
}

TEST(Gunzip, refuses_a_bomb_long_before_it_fills_the_memory) {
    const std::string member = gzipped(std::string(10'000'000, '\0'));
    std::string bomb;
    for (int i = 0; i < 100; ++i) bomb += member;  // 1 GB in 1 MB
    const auto refused = gunzip(bomb, "bomb.gz");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().front().what.find("more than 100 times its size, the limit"), std::string::npos);
    const auto small = gunzip(gzipped(std::string(60'000'000, '\0')), "small.gz");
    EXPECT_TRUE(small) << "what is small may pack as well as it likes";
}

TEST_F(FileBytesTest, a_mapped_file_is_known_by_its_addresses_while_it_is_mapped) {
    const std::string path = written("some text");
    const char* address = nullptr;
    {
        auto file = FileBytes::open(path);
        ASSERT_TRUE(file);
        const FileBytes moved = std::move(*file);
        address = moved.view().data();
        EXPECT_STREQ(mapped_file_at(address), path.c_str());
        EXPECT_STREQ(mapped_file_at(address + 8), path.c_str());
        EXPECT_EQ(mapped_file_at(address + 9), nullptr);
    }
    EXPECT_EQ(mapped_file_at(address), nullptr);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(FileBytes::open(path));  // slots are given back
    EXPECT_STREQ(mapped_file_at(FileBytes::open(path)->view().data()), path.c_str());
}

TEST(Gunzip, says_where_a_stream_ends_too_early_or_is_damaged) {
    const std::string good = gzipped(noise(200'000));
    for (const std::size_t cut :
         {std::size_t{2}, std::size_t{9}, std::size_t{70'000}, good.size() - 8, good.size() - 1}) {
        const auto cut_short = gunzip(std::string_view(good).substr(0, cut), "f.gz");
        ASSERT_FALSE(cut_short) << cut;
        EXPECT_NE(cut_short.error().front().what.find("truncated"), std::string::npos) << cut;
    }
    std::string bad = good;
    bad[good.size() - 6] = static_cast<char>(bad[good.size() - 6] ^ 1);  // in the checksum
    const auto damaged = gunzip(bad, "f.gz");
    ASSERT_FALSE(damaged);
    EXPECT_NE(damaged.error().front().what.find("damaged at byte"), std::string::npos);
    const auto tail = gunzip(gzipped("text") + "garbage", "f.gz");
    ASSERT_FALSE(tail);
    EXPECT_NE(tail.error().front().what.find("7 bytes after the end"), std::string::npos);
}

}  // namespace
}  // namespace gambrel::base_detail
