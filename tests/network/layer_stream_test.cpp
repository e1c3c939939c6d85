// Does a table that comes as gzip or through a pipe give the rows of the plain file, and hold only a window of it?
#include <gambrel/network.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text_window.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string table_text(int rows) {
    std::string text = "\xEF\xBB\xBFname,op,M,N,K,note\n";
    for (int i = 0; i < rows; ++i) {
        text += "r" + std::to_string(i) + ",gemm," + std::to_string(64 + i % 100) +
                ",64,64,\"a \"\"word\"\"\nand a line\"\n";
        if (i % 1000 == 7) text += "\n\r\n";
        if (i % 1000 == 9) text += "bad" + std::to_string(i) + ",\"not closed,1,2,3\n";
    }
    return text;
}

class LayerStream : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("gambrel_layer_stream_" + std::to_string(::getpid()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string plain(const std::string& name, const std::string& text) {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    std::string packed(const std::string& name, const std::string& text, const char* mode = "wb") {
        gzFile file = gzopen(path(name).c_str(), mode);
        EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
        gzclose(file);
        return path(name);
    }
    std::filesystem::path folder_;
};

struct Seen {
    std::size_t line;
    std::vector<std::string> cells;
    std::string reason;
    bool operator==(const Seen&) const = default;
};

std::vector<Seen> rows_of(Result<LayerTableReader> reader) {
    EXPECT_TRUE(reader) << (reader ? "" : to_text(reader.error()));
    std::vector<Seen> seen;
    LayerRow row;
    while (reader && reader->next()) {
        reader->read(row);
        seen.push_back({reader->line(), {reader->cells().begin(), reader->cells().end()}, row.reason});
    }
    EXPECT_TRUE(reader->faults().empty()) << to_text(reader->faults());
    return seen;
}

TEST_F(LayerStream, gives_the_rows_of_the_plain_file_from_gzip_and_from_a_pipe) {
    const std::string text = table_text(20'000);
    const std::vector<Seen> expected = rows_of(LayerTableReader::open(text, "t.csv"));
    ASSERT_THAT(expected, SizeIs(testing::Gt(20'000U)));
    EXPECT_TRUE(rows_of(LayerTableReader::open_file(plain("t.csv", text))) == expected);
    EXPECT_TRUE(rows_of(LayerTableReader::open_file(packed("t.csv.gz", text))) == expected);
    packed("two.gz", text.substr(0, 5000));
    EXPECT_TRUE(rows_of(LayerTableReader::open_file(packed("two.gz", text.substr(5000), "ab"))) == expected)
        << "members of one file after another";
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path("fifo"), std::ios::binary) << text; });
    EXPECT_TRUE(rows_of(LayerTableReader::open_file(path("fifo"))) == expected);
    writer.join();
}

TEST_F(LayerStream, the_text_of_a_row_is_given_where_its_cells_written_again_give_that_text) {
    const std::string text =
        "op,M,N,K,note\ngemm,64, "
        "32,16,a=b\r\ngemm,64,32,16,\"a,b\"\ngemm,64,32,16,\"a\"\ngemm,64,32,16,'=b\ngemm,64,32,16\n"
        "gemm,64,32,16,";
    auto reader = LayerTableReader::open(text, "t.csv");
    ASSERT_TRUE(reader);
    std::vector<std::string> texts;
    while (reader->next()) texts.emplace_back(reader->canonical_text());
    EXPECT_THAT(texts,
                testing::ElementsAre("gemm,64, 32,16,a=b", "gemm,64,32,16,\"a,b\"", "", "", "", "gemm,64,32,16,"));
}

TEST_F(LayerStream, rows_are_named_by_their_shape_unless_nobody_asks_for_names) {
    const std::string text = "op,M,N,K\ngemm,64,32,16\n";
    for (const bool names : {true, false}) {
        auto reader = LayerTableReader::open(text, "t.csv", {.names = names});
        ASSERT_TRUE(reader && reader->next());
        LayerRow row;
        reader->read(row);
        ASSERT_THAT(row.layers, SizeIs(1));
        EXPECT_EQ(row.layers.front().name, names ? "gemm 1x64x32x16" : "");
    }
}

TEST_F(LayerStream, holds_only_a_window_of_what_it_unpacks) {
    const std::string text = table_text(200'000);
    ASSERT_GT(text.size(), 5U << 20);
    auto window = base_detail::TextWindow::open(packed("t.csv.gz", text));
    ASSERT_TRUE(window);
    std::string read;
    std::size_t most = 0;
    for (std::size_t step = 0; !window->reaches_end(); read += window->text().substr(0, step)) {
        window->advance(step, 100'000);
        most = std::max(most, window->text().size());
        step = window->reaches_end() ? window->text().size() : 1000;
    }
    EXPECT_TRUE(read == text);
    EXPECT_LT(most, 200'000U);
}

TEST_F(LayerStream, does_not_give_the_row_that_a_truncated_file_cuts_in_two) {
    const std::string text = table_text(20'000);
    packed("t.csv.gz", text);
    std::filesystem::resize_file(path("t.csv.gz"), std::filesystem::file_size(path("t.csv.gz")) / 2);
    auto reader = LayerTableReader::open_file(path("t.csv.gz"));
    ASSERT_TRUE(reader);
    const std::vector<Seen> expected = rows_of(LayerTableReader::open(text, "t.csv"));
    std::size_t rows = 0;
    while (reader->next()) {
        ASSERT_LT(rows, expected.size());
        ASSERT_TRUE(std::equal(reader->cells().begin(), reader->cells().end(), expected[rows].cells.begin(),
                               expected[rows].cells.end()));
        ++rows;
    }
    EXPECT_GT(rows, 1000U);
    EXPECT_THAT(to_text(reader->faults()), HasSubstr("the file is truncated"));
    EXPECT_FALSE(load_layer_table(path("t.csv.gz")));
}

TEST_F(LayerStream, refuses_a_row_that_has_no_end_instead_of_holding_it) {
    std::string text = "name,op,M,N,K,note\na,gemm,64,64,64,x\nlong,gemm,64,64,64,";
    text.append(std::size_t{20} << 20, 'x');
    text += "\nb,gemm,64,64,64,x\n";
    const std::vector<Seen> rows = rows_of(LayerTableReader::open_file(packed("t.csv.gz", text)));
    ASSERT_THAT(rows, SizeIs(3));
    EXPECT_THAT(rows[1].reason, HasSubstr("too long"));
    EXPECT_EQ(rows[2].cells[0], "b");
    EXPECT_EQ(rows[2].line, 4U);
}

// Rows that repeat the shape of the row before are not read again; those that only look like it are.
TEST(LayerTableReader, a_row_reads_the_same_after_any_other_row) {
    const std::string header = "op,N,C,H,W,K,note,R,S,pad,groups,algorithm\n";
    const std::vector<std::string> rows = {"conv,1,64,56,56,64,x,3,3,1,1,GEMM",
                                           "conv,1,64,56,56,64,x,3,3,1,1,FFT",
                                           "conv,1,64,56,56,64,x,3,3,2,1,FFT",
                                           "conv,1,64,56,56,64,x,3,3,same,1,FFT",
                                           "conv,1,64,56,56,64,\"x,y\",3,3,1,1,FFT",
                                           "conv,1,64,56,56,64,\"x,y\",3,3,1,1,GEMM",
                                           "conv,1,64,56,56,64,\"a \"\"b\"\"\",3,3,1,1,",
                                           "conv,\"1\",64,56,56,64,x,3,3,1,1,FFT",
                                           "conv,1,64,x,56,64,x,3,3,1,1,FFT",
                                           "conv,1,64,x,56,64,x,3,3,1,1,FFT",
                                           "conv,1,64,56,56,64,x,3,3,1,3,FFT",
                                           "conv,1,64,56,56,64,x,3,3,1,3,FFT",
                                           "conv,1,64,56,56,64,x,3,3,1,\"1\",FFT",
                                           "conv,1,64,56,56,64,x,3,3,1",
                                           "gemm,1,64,56,56,64,x,3,3,1,1,FFT",
                                           "conv,1,64,56,56,64,x,3,3,1,1,FFT,more"};
    const auto read = [&](const std::string& text) {
        std::vector<LayerRow> all(1);
        auto table = *LayerTableReader::open(text, "test");
        for (; table.next(); all.emplace_back()) table.read(all.back());
        all.pop_back();
        return all;
    };
    for (const std::string& before : rows)
        for (const std::string& row : rows) {
            const auto both = read(header + before + "\n" + row + "\n"), alone = read(header + row + "\n");
            ASSERT_THAT(both, SizeIs(2)) << before << "\n" << row;
            ASSERT_THAT(alone, SizeIs(1)) << row;
            EXPECT_EQ(both[1].reason, alone[0].reason) << before << "\n" << row;
            ASSERT_EQ(both[1].layers.size(), alone[0].layers.size()) << before << "\n" << row;
            for (std::size_t i = 0; i < alone[0].layers.size(); ++i)
                EXPECT_EQ(both[1].layers[i].op, alone[0].layers[i].op) << before << "\n" << row;
        }
}

}  // namespace
}  // namespace gambrel
