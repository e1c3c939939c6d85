// Traces through the real binary: several processes, pipes, pages, and files that are not what they seem.
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using gambrel::test::text_of;
using testing::HasSubstr;

class TraceCommand : public gambrel::test::CommandFolder {
protected:
    // A product and a copy for each rank, one after the other, on two streams.
    static std::string trace(int rank) {
        std::string text =
            R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"distributedInfo":{"rank":)" +
            std::to_string(rank) + R"(},"traceEvents":[)";
        for (int i = 0; i < 20; ++i) {
            const auto at = [&](int us) { return std::to_string(1000 * i + us); };
            const std::string id = std::to_string(2 * i + 1), next = std::to_string(2 * i + 2);
            text +=
                std::string(i == 0 ? "" : ",") +
                R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"dur":100,"ts":)" + at(0) +
                R"(,"args":{"Input Dims":[[1024,1024],[1024,1024]],"Input type":["c10::Half","c10::Half"]}},)" +
                R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"dur":1,"ts":)" + at(10) +
                R"(,"args":{"correlation":)" + id +
                R"(}},{"ph":"X","cat":"kernel","name":"ampere_fp16_s16816gemm_fp16_128x128_tn","pid":0,"tid":7,"dur":30,"ts":)" +
                at(200) + R"(,"args":{"device":0,"stream":7,"correlation":)" + id +
                R"(,"grid":[8,8,1],"block":[128,1,1]}},)" +
                R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":9,"dur":)" +
                std::to_string(5 + rank) + R"(,"ts":)" + at(300) +
                R"(,"args":{"device":0,"stream":9,"bytes":4096,"correlation":)" + next + "}}";
        }
        return text + "]}";
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
};

TEST_F(TraceCommand, several_processes_write_the_same_bytes_as_one) {
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun not found";
    std::filesystem::create_directory(path("ranks"));
    for (int rank = 0; rank < 5; ++rank) write("ranks/rank" + std::to_string(rank) + ".json", trace(rank));
    // The page holds the command, so it has to be the same one.
    ASSERT_EQ(run("analyze ranks -q --group rank --json out.json --csv out.csv -o out.html").status, 0);
    const std::string json = text_of(path("out.json")), csv = text_of(path("out.csv")),
                      page = text_of(path("out.html"));
    ASSERT_GT(json.size(), 1000u);
    EXPECT_THAT(json, HasSubstr("\"ranks\": 5"));
    const Outcome o = run("analyze ranks -q --group rank --json out.json --csv out.csv -o out.html",
                          "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                          "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n 2");
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(text_of(path("out.json")), json);
    EXPECT_EQ(text_of(path("out.csv")), csv);
    EXPECT_EQ(text_of(path("out.html")), page);
}

TEST_F(TraceCommand, a_page_has_the_timeline_and_json_does_not) {
    write("t.json", trace(0));
    ASSERT_EQ(run("analyze t.json -q --json t.out.json -o t.html").status, 0);
    EXPECT_THAT(text_of(path("t.html")), HasSubstr("\"lanes\":[[\"stream 7\",1],[\"stream 9\",1]]"));
    EXPECT_THAT(text_of(path("t.out.json")), testing::Not(HasSubstr("stream 7")));
}

TEST_F(TraceCommand, a_trace_through_a_pipe_is_the_file) {
    write("t.json", trace(0));
    const Outcome file = run("analyze t.json --csv -"), pipe = run("analyze - --csv -", "cat t.json |");
    ASSERT_EQ(file.status, 0) << file.err;
    ASSERT_EQ(pipe.status, 0) << pipe.err;
    EXPECT_EQ(pipe.out, file.out);
}

TEST_F(TraceCommand, what_cannot_be_read_is_an_error_that_says_why) {
    write("zero.json", ""), write("t.json", trace(0));
    const Outcome empty = run("analyze zero.json");
    EXPECT_EQ(empty.status, 2);
    EXPECT_THAT(empty.err, HasSubstr("zero.json: is empty"));
    ASSERT_EQ(std::system(("gzip -k '" + path("t.json") + "' && truncate -s 60 '" + path("t.json.gz") + "'").c_str()),
              0);
    const Outcome cut = run("analyze t.json.gz");
    EXPECT_EQ(cut.status, 2);
    EXPECT_THAT(cut.err, HasSubstr("truncated"));
    // Half of a trace is still read, and says that it is half.
    write("half.json", trace(0).substr(0, trace(0).size() / 2));
    const Outcome half = run("analyze half.json --json -");
    EXPECT_THAT(half.out, HasSubstr("\"partial\": true"));
    EXPECT_THAT(half.err, HasSubstr("cut short"));
}

}  // namespace
