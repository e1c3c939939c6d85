// Is a table that is written while it is read the same, byte for byte, as one that is read first, and is nothing lost
// where it goes wrong?
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command_folder.hpp"

namespace gambrel::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StreamedTable : public CommandFolder {
protected:
    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    [[nodiscard]] std::size_t files() const {
        const auto all = std::filesystem::directory_iterator(folder_);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    // Rows that take every way through reader and writer: quotes, formulas, missing cells, two passes, bad numbers,
    // unknown GPUs, GPUs without the precision, text behind a quote, a line that is not closed, Windows line ends.
    static std::string mixed(int times) {
        std::string text =
            "name,op,gpu,precision,M,N,K,C,H,W,R,S,pass,algorithm,kernel,sm_clock_mhz,note\n"
            "\n";
        for (int i = 0; i < times; ++i) {
            const std::string m = std::to_string(64 + i % 500);
            text += "a" + m + ",gemm,v100,fp32," + m + ",512,768,,,,,,,,,,plain\n";
            text += "b,gemm,a100,bf16," + m + ",512,768,,,,,,,,,1200,\"quoted, and \"\"doubled\"\"\"\n";
            text += "c,conv,v100,fp32,,8,64,64,28,28,3,3,backward,,,,-3\n";
            text += "d,gemm,k80,fp16," + m + ",512,768,,,,,,,,,,=1+1\r\n";
            text += "e,conv,v100,fp32,,8,64,64,28,28,3,3,fwd,WINOGRAD_NONFUSED,,,'+7\n";
            text += "f,gemm,v101,fp32,1,2,3,,,,,,,,,,\n";
            text += "g,gemm,v100,fp32,x,2,3,,,,,,,,,,\n";
            text += "h,gemm,t4,fp8,1,2,3,,,,,,,,,,\n";
            text += "short,gemm\n";
            text += "m,gemm,v100,fp5,1,2,3,,,,,,,,,,\n";
            text += "n,gem,v100,fp32,1,2,3,,,,,,,,,,\n";
            text += "\"j\" k,gemm\n";
            text += "\xC3\xA9\xFF,gemm,,fp32,16,16,16,,,,,,,,volta_sgemm_128x64_nn,, 8 \n";
        }
        return text + "last,gemm,v100,fp32,16,\"16";
    }
};

// A page shows all rows together, so beside one the table is read whole.
TEST_F(StreamedTable, is_the_same_as_the_table_read_whole) {
    write("t.csv", mixed(300));
    for (const char* flags : {"--gpu v100", "--gpu v100 --model paper", "--gpu t4 --best-mapping --clock 1000", ""}) {
        const std::string command = std::string("predict --layers t.csv -q ") + flags;
        ASSERT_EQ(run(command + " --csv streamed.csv").status, 0) << flags;
        ASSERT_EQ(run(command + " --csv whole.csv --json whole.json").status, 0) << flags;
        const std::string whole = text_of(path("whole.csv"));
        EXPECT_GT(whole.size(), 300'000u);  // more than is written at a time
        EXPECT_EQ(text_of(path("streamed.csv")), whole) << flags;
        EXPECT_EQ(run(command + " --csv -").out, whole) << flags;
        EXPECT_EQ(run(command + " -o streamed.csv").status, 0) << flags;
        EXPECT_EQ(text_of(path("streamed.csv")), whole) << flags;
    }
    const Outcome streamed = run("predict --layers t.csv --gpu v100 --csv -");
    const Outcome whole = run("predict --layers t.csv --gpu v100 --csv - --json w.json -f");
    EXPECT_THAT(streamed.err, AllOf(HasSubstr("line 8: gpu \"v101\""), HasSubstr("(and 299 more rows"),
                                    HasSubstr("more reasons for rows without an estimate")));
    EXPECT_EQ(streamed.err + "wrote w.json\n", whole.err);
    EXPECT_EQ(streamed.out, whole.out);
}

TEST_F(StreamedTable, in_which_nothing_can_be_estimated_leaves_what_was_there) {
    write("bad.csv", "M,N,K,gpu,precision\n1,2,x,v100,fp32\n1,2,3,v101,fp32\n");
    write("good.csv", "M,N,K,gpu,precision\n1,2,3,v100,fp32\n");
    ASSERT_EQ(run("predict --layers good.csv -q --csv out.csv").status, 0);
    const std::string before = text_of(path("out.csv"));
    const std::size_t there = files();
    for (const char* target : {"out.csv", "-", "/dev/stdout"}) {
        const Outcome o = run(std::string("predict --layers bad.csv -q --csv ") + target);
        EXPECT_EQ(o.status, 2) << target;
        EXPECT_THAT(o.out, IsEmpty()) << target;
        EXPECT_THAT(o.err, AllOf(HasSubstr("bad.csv: line 2: K \"x\""), HasSubstr("bad.csv: line 3: gpu \"v101\"")));
    }
    EXPECT_EQ(text_of(path("out.csv")), before);
    EXPECT_EQ(files(), there);
}

TEST_F(StreamedTable, may_be_longer_than_one_that_is_kept) {
    std::string text = "M,N,K,gpu,precision,rest\n";
    for (int i = 0; i < 501'000; ++i) text += "x,,,,,\n";
    write("long.csv", text + "1,2,3,v100,fp32,\n");
    EXPECT_EQ(run("predict --layers long.csv -q --csv out.csv").status, 0);
    const std::string out = text_of(path("out.csv"));
    EXPECT_THAT(out.substr(out.size() - 200), HasSubstr("\n1,2,3,v100,fp32,,"));
    const Outcome kept = run("predict --layers long.csv --csv out.csv");
    EXPECT_EQ(kept.status, 2);
    EXPECT_THAT(kept.err, HasSubstr("--quiet"));
}

// The reader of the pipe waits, so the writer is in the middle of its table when the signal comes.
TEST_F(StreamedTable, that_is_interrupted_says_so) {
    std::string text = "M,N,K,gpu,precision\n";
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i % 999 + 1) + ",64,64,v100,fp32\n";
    write("t.csv", text);
    const Outcome o = run("",
                          "mkfifo f; sh -c '\"$0\" predict --layers t.csv -q --csv f & pid=$!; exec 3<f; "
                          "head -c 1 <&3 >/dev/null; kill -TERM $pid; cat <&3 >/dev/null; wait $pid'");
    EXPECT_EQ(o.status, 143);
    EXPECT_THAT(o.err, HasSubstr("interrupted: f"));
}

}  // namespace
}  // namespace gambrel::test
