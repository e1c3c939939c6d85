// Are the rows of a table the same whether they are estimated as they are read or one by one?
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/estimate.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {
namespace {

struct TakenRow {
    std::vector<std::string> cells;
    std::string text, reason;
    double time = 0;
};

struct Taken {
    std::vector<TakenRow> rows;
    Errors notes;
};

Taken taken(const std::string& text, std::size_t most = 1'000'000) {
    auto table = LayerTableReader::open(text, "t.csv");
    EXPECT_TRUE(table);
    Taken out;
    const auto done = estimate_rows(*table, "t.csv", {}, [&](const StreamedRow& row) {
        out.rows.push_back({{row.cells.begin(), row.cells.end()},
                            std::string(row.text),
                            std::string(row.reason),
                            row.figures ? row.figures->time.value() : 0});
        return out.rows.size() < most;
    });
    EXPECT_TRUE(done) << to_text(done.error());
    if (done) out.notes = done->notes;
    return out;
}

const std::string kHeader = "op,gpu,precision,M,N,K,note\n";
std::string product(int m, const std::string& note = "") {
    return fmt::format("gemm,v100,fp32,{},64,64,{}\n", m, note);
}

// Rows are read, estimated and given out in groups, which a cell that had to be copied ends early.
TEST(EstimateRows, every_row_has_the_cells_and_the_time_that_it_has_alone) {
    std::string text = kHeader;
    std::vector<std::string> lines;
    for (int i = 0; i < 70; ++i) {
        const std::string copied = fmt::format("\"row {} says \"\"a\"\", in more letters than a string holds\"", i);
        const std::string note = i % 5 == 2 ? copied : i % 7 == 3 ? "\"not needed\"" : "plain";
        lines.push_back(product(64 + 16 * i, note));
        text += lines.back();
    }
    const Taken all = taken(text);
    ASSERT_EQ(all.rows.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Taken alone = taken(kHeader + lines[i]);
        EXPECT_EQ(all.rows[i].cells, alone.rows[0].cells) << i;
        EXPECT_EQ(all.rows[i].text, alone.rows[0].text) << i;
        EXPECT_GT(all.rows[i].time, 0) << i;
        EXPECT_EQ(all.rows[i].time, alone.rows[0].time) << i;
    }
    EXPECT_EQ(all.rows[7].cells.back(), "row 7 says \"a\", in more letters than a string holds");
}

TEST(EstimateRows, a_reason_names_the_line_of_the_first_row_that_has_it) {
    std::string text = kHeader;
    for (int line = 2; line <= 40; ++line) {
        if (line == 7 || line == 9)
            text += "gemm,v100,fp32,x,64,64,\n";  // cannot be read
        else if (line == 12 || line == 13)
            text += "gemm,nothing,fp32,64,64,64,\n";  // can be read, but not estimated
        else if (line == 20)
            text += "\n";
        else if (line == 33)
            text += "gemm,v100,fp32,4000000,4000000,64,\n";  // larger than its memory
        else
            text += product(line);
    }
    const Taken all = taken(text);
    EXPECT_EQ(all.rows.size(), 38U);
    std::vector<std::string> places;
    for (const Error& note : all.notes)
        if (note.where.starts_with("line")) places.push_back(note.where);
    EXPECT_THAT(places, testing::ElementsAre("line 7", "line 12", "line 33"));
}

TEST(EstimateRows, no_row_is_given_out_after_the_one_that_stops) {
    std::string text = kHeader;
    for (int i = 1; i <= 40; ++i) text += product(i);
    EXPECT_EQ(taken(text, 21).rows.size(), 21U);
}

// They are written into CSV as they are.
TEST(EstimateRows, what_a_time_waits_for_has_a_name_without_commas_and_quotes) {
    std::vector<std::string> names;
    for (const Bound off : {OffRoof::latency, OffRoof::occupancy, OffRoof::sm}) names.push_back(to_text(off));
    for (std::size_t i = 0; i < kTerms; ++i) names.emplace_back(name(static_cast<Term>(i)));
    for (std::size_t i = 0; i < kPipes; ++i) names.emplace_back(name(static_cast<Pipe>(i)));
    for (std::size_t i = 0; i < kLevels; ++i) names.emplace_back(name(static_cast<Level>(i)));
    const std::string plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ ";
    for (const std::string& name : names) EXPECT_EQ(name.find_first_not_of(plain), std::string::npos) << name;
}

}  // namespace
}  // namespace gambrel
