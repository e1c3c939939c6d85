// What is given instead of a file that can be read: FIFOs, devices, folders, binary, zeros. Each is read or refused in
// words that fit it, at once, and with little of its own text.
#include <fstream>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "app/command_folder.hpp"

namespace {

using gambrel::test::Outcome;
using testing::HasSubstr;
using testing::Not;

class StrangeInputs : public gambrel::test::CommandFolder {
protected:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    // The arguments with the name of a FIFO that the text comes through.
    Outcome through_fifo(const std::string& arguments, const std::string& text) const {
        write("what", text);
        return run(arguments, "rm -f fifo; mkfifo fifo && (timeout 20 sh -c 'cat what > fifo' &) ;");
    }
    static std::string noise() {
        std::mt19937 random(1);
        std::string text(20'000, '\0');
        for (char& c : text) c = static_cast<char>(random());
        return text;
    }
    const std::string model_ =
        R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 512, "vocab_size": 1000, "torch_dtype": "float16"})";
    const std::string trace_ =
        R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[
            {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":30,"ts":1,
             "args":{"device":0,"stream":7,"correlation":1,"grid":[8,8,1],"block":[128,1,1]}}]})";
};

TEST_F(StrangeInputs, a_fifo_with_a_name_is_read_by_every_reader) {
    const Outcome model = through_fifo("predict fifo --gpu a100 -q --no-chart", model_);
    EXPECT_EQ(model.status, 0) << model.err;
    const Outcome trace = through_fifo("analyze fifo --csv -", trace_);
    EXPECT_EQ(trace.status, 0) << trace.err;
    const Outcome table = through_fifo("predict --layers fifo --gpu a100 --csv -", "op,M,N,K\ngemm,64,64,64\n");
    EXPECT_EQ(table.status, 0) << table.err;
    write("t.json", trace_);
    const Outcome operators =
        through_fifo("analyze t.json --operators fifo", R"({"schema": "gambrel-operators-1", "operators": []})");
    EXPECT_EQ(operators.status, 0) << operators.err;
}

TEST_F(StrangeInputs, binary_is_refused_in_few_words_that_name_what_was_expected) {
    write("noise", noise());
    write("text", "hello\n");
    for (const char* command : {"analyze noise", "check noise --min-roof 1%", "compare noise noise"}) {
        const Outcome r = run(command);
        EXPECT_EQ(r.status, 2);
        EXPECT_THAT(r.err, HasSubstr("is neither text nor in a binary format that is read here")) << command;
        EXPECT_LT(r.err.size(), 400U);
    }
    EXPECT_THAT(run("predict alexnet --gpu noise").err, HasSubstr("noise: is not text, expected JSON"));
    EXPECT_THAT(run("predict alexnet --gpu /dev/null").err, HasSubstr("/dev/null: is empty, expected JSON"));
    EXPECT_THAT(run("predict /dev/null --gpu v100").err, HasSubstr("/dev/null: is empty"));
    EXPECT_THAT(run("predict text --gpu v100").err, HasSubstr("text: is text, expected an ONNX model"));
    EXPECT_THAT(run("predict . --gpu v100").err, HasSubstr(".: is a folder without a config.json"));
}

TEST_F(StrangeInputs, what_another_command_reads_is_named_with_that_command) {
    write("t.json", trace_);
    write("r.ncu-rep", std::string("NVR\0\1\2\3", 7));
    write("layers.csv", "name,op,M,N,K\na,gemm,64,64,64\n");
    write("m.onnx", noise());
    write("list.json", "[\n  {\"name\": \"a\"}]");
    write("log.txt", "[INFO] no kernel\n");
    for (const auto& [command, words] :
         {std::pair{"predict t.json --gpu v100", "t.json: is a trace, which `gambrel analyze` reads"},
          {"predict r.ncu-rep --gpu v100", "r.ncu-rep: is a report of Nsight Compute, which `gambrel analyze` reads"},
          {"analyze layers.csv", "layers.csv: is a table of layers, which `gambrel predict --layers` reads"},
          {"analyze m.onnx", "`gambrel predict` reads ONNX models"},
          {"analyze list.json", "list.json: is JSON, but neither a trace"},
          {"analyze log.txt", "log.txt: holds no table, but \"[INFO] no kernel\""},
          {"report t= -o r.html", "\"t=\": names no file"}}) {
        const Outcome r = run(command);
        EXPECT_EQ(r.status, 2) << command;
        EXPECT_THAT(r.err, HasSubstr(words)) << command;
    }
    write("log.csv",
          "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
          "\"0\",\"k\",\"gpu__time_duration.sum\",\"nsecond\",\"5\"\n");
    EXPECT_THAT(run("analyze log.csv --machine v100 --layers layers.csv --no-chart").err,
                HasSubstr("these files are not traces"));
}

TEST_F(StrangeInputs, two_gigabytes_of_zeros_are_refused_at_once) {
    ASSERT_EQ(std::system(("truncate -s 2G '" + path("zeros") + "'").c_str()), 0);
    for (const char* command : {"analyze zeros", "report zeros -o r.html", "predict alexnet --gpu zeros",
                                "explore alexnet --gpu v100 --costs zeros --vary sms=1:2"}) {
        const Outcome r = run(command, "timeout 5");
        EXPECT_EQ(r.status, 2) << command << r.err;
        EXPECT_LT(r.err.size(), 400U) << r.err;
    }
}

TEST_F(StrangeInputs, gzip_that_is_cut_in_its_first_line_says_so) {
    write("t.csv", "op,M,N,K,a_very_long_name_of_a_column_that_does_not_pack_well_0123456789\n1,2,3,4,5\n");
    ASSERT_EQ(std::system(("cd '" + path("") + "' && gzip t.csv && truncate -s 50 t.csv.gz").c_str()), 0);
    const Outcome r = run("predict --layers t.csv.gz --gpu v100");
    EXPECT_EQ(r.status, 2);
    EXPECT_THAT(r.err, HasSubstr("the file is truncated"));
    EXPECT_THAT(r.err, Not(HasSubstr("is missing")));
}

}  // namespace
