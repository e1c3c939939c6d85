// Does any command answer what cannot be, lose a file, or end with the wrong status?
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command_folder.hpp"

namespace gambrel::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class NothingLost : public CommandFolder {
protected:
    void SetUp() override {
        CommandFolder::SetUp();
        write("layers.csv", kLayers);
    }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    // The exit status of a command line that is not gambrel's alone.
    [[nodiscard]] int shell(const std::string& command) const {
        const int status = std::system(("cd '" + folder_.string() + "' && " + command).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    static constexpr const char* kLayers = "name,N,C,H,W,K,R,S\nconv,1,32,14,14,32,3,3\n";
    const std::string binary_ = "'" GAMBREL_BINARY "'";
};

TEST_F(NothingLost, no_output_replaces_an_input) {
    for (const char* flags : {"--csv layers.csv", "--json layers.csv", "-o layers.csv", "-o ./layers.csv --force"}) {
        const Outcome o = run(std::string("predict --layers layers.csv --gpu v100 ") + flags);
        EXPECT_EQ(o.status, 2) << flags;
        EXPECT_THAT(o.err, HasSubstr("is not replaced")) << flags;
        EXPECT_EQ(text_of(path("layers.csv")), kLayers) << flags;
    }
}

TEST_F(NothingLost, a_file_of_another_is_replaced_only_by_force) {
    write("notes.csv", "my own notes\n");
    const std::string command = "predict --layers layers.csv --gpu v100 -q ";
    for (const char* flag : {"--csv notes.csv", "-o notes.csv"}) {
        EXPECT_EQ(run(command + flag).status, 2) << flag;
        EXPECT_EQ(text_of(path("notes.csv")), "my own notes\n");
    }
    EXPECT_EQ(run(command + "-o notes.csv --force").status, 0);
    EXPECT_THAT(text_of(path("notes.csv")), StartsWith("name,"));
    EXPECT_EQ(run(command + "-o notes.csv").status, 0) << "a file that gambrel wrote may be written again";
}

TEST_F(NothingLost, pipes_and_devices_are_written_and_never_read) {
    EXPECT_EQ(
        shell("timeout 20 " + binary_ + " predict --layers layers.csv --gpu v100 -q --json /dev/stdout > out.json"), 0);
    EXPECT_THAT(text_of(path("out.json")), StartsWith("{"));
    EXPECT_EQ(shell("mkfifo f && (cat f > got.csv &) && timeout 20 " + binary_ +
                    " predict --layers layers.csv --gpu v100 -q --csv f && sleep 0.2"),
              0);
    EXPECT_THAT(text_of(path("got.csv")), StartsWith("name,"));
}

TEST_F(NothingLost, a_closed_or_full_stderr_costs_a_message_and_not_the_result) {
    for (const char* redirection : {"2>&-", "2>/dev/full"}) {
        EXPECT_EQ(shell(binary_ + " predict --layers layers.csv --gpu v100 --csv z.csv >/dev/null " + redirection), 0)
            << redirection;
        EXPECT_THAT(text_of(path("z.csv")), StartsWith("name,")) << redirection;
        EXPECT_EQ(shell(binary_ + " predict --layers none.csv --gpu v100 " + redirection), 2) << redirection;
    }
    EXPECT_EQ(shell(binary_ + " --help >/dev/full 2>/dev/null"), 2);
    EXPECT_EQ(shell(binary_ + " --version >/dev/full 2>/dev/null"), 2);
}

TEST_F(NothingLost, nothing_estimated_is_an_error) {
    EXPECT_EQ(run("predict --layers layers.csv").status, 2);
    write("empty.csv", "name,N,C,H,W,K,R,S\n");
    EXPECT_EQ(run("predict --layers empty.csv --gpu v100").status, 2);
}

TEST_F(NothingLost, what_does_not_fit_into_memory_is_said) {
    const Outcome layer = run("predict resnet50 --gpu v100 --batch 65536 --training");
    EXPECT_EQ(layer.status, 2);
    EXPECT_THAT(layer.err, HasSubstr("more than the 16 GiB"));
    EXPECT_LT(std::count(layer.err.begin(), layer.err.end(), '\n'), 10) << layer.err;  // not a line for each layer
    EXPECT_THAT(layer.err, HasSubstr("more layers could not be estimated; the CSV output has the reason of each"));
    const Outcome network = run("predict resnet50 --gpu v100 --batch 512 --training --json - -q");
    EXPECT_EQ(network.status, 0);
    EXPECT_THAT(network.out, HasSubstr("\"fits\": false"));
}

TEST_F(NothingLost, modelled_and_simulated_tables_say_so) {
    EXPECT_THAT(run("predict --layers layers.csv --gpu v100 --csv -").out, HasSubstr(",modelled\n"));
    const Outcome o = run("simulate --layers layers.csv --gpu v100 --csv -");
    EXPECT_THAT(o.out, HasSubstr(",simulated\n"));
    EXPECT_THAT(run("simulate --layers layers.csv --gpu v100").out, HasSubstr("lower bound"));
    EXPECT_THAT(run("simulate --layers layers.csv --gpu v100 --json -").out, HasSubstr("\"time_origin\": \"derived\""));
}

TEST_F(NothingLost, an_interrupted_simulation_is_partial_and_ends_with_the_signal) {
    for (const auto& [signal, status] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 129}}) {
        const std::string command =
            "timeout --preserve-status -s " + std::string(signal) + " 2 " + binary_ +
            " simulate resnet152 --batch 128 --gpu v100 -q --csv part.csv --json part.json >/dev/null 2>err";
        EXPECT_EQ(shell(command), status) << text_of(path("err"));
        EXPECT_THAT(text_of(path("part.csv")), HasSubstr(", partial")) << signal;
        EXPECT_THAT(text_of(path("part.json")), HasSubstr("\"partial\": true")) << signal;
    }
}

// As timeout and batch systems do, which signal a process and then its group.
TEST_F(NothingLost, the_same_signal_twice_in_a_moment_is_one_request) {
    // The second comes while the run still goes on, or while what it found is written.
    for (int ms = 2; ms <= 40; ms += 2) {
        EXPECT_EQ(shell("rm -f part.csv; { " + binary_ +
                        " simulate resnet152 --batch 128 --gpu v100 -q --csv part.csv >/dev/null 2>err & } ; p=$!; " +
                        "sleep 0.2; kill -TERM $p; sleep " + std::to_string(ms / 1000.0) + "; kill -TERM $p; wait $p"),
                  143);
        ASSERT_THAT(text_of(path("part.csv")), HasSubstr(", partial")) << ms << " ms " << text_of(path("err"));
    }
}

TEST_F(NothingLost, wrong_flags_have_readable_errors) {
    const Outcome batch = run("predict resnet50 --gpu v100 --batch 0");
    EXPECT_EQ(batch.status, 2);
    EXPECT_LT(batch.err.size(), 200U);
    EXPECT_EQ(run("foo --help").status, 2);
    EXPECT_THAT(run("predict resnet50 --gpu v100 --clock fast").err, HasSubstr("is not a valid clock"));
}

TEST_F(NothingLost, explain_names_the_machine_it_explains) {
    const Outcome o = run("predict alexnet --gpu v100 --explain conv1");
    EXPECT_THAT(o.out, StartsWith("conv1 on Tesla V100-SXM2-16GB\n"));
}

TEST_F(NothingLost, a_precision_comes_from_the_table_or_the_flag_and_never_from_a_path) {
    ASSERT_EQ(
        shell("mkdir bf16_runs && printf 'M,N,K,op,gpu,time_us\\n512,512,512,gemm,a100,100\\n' > bf16_runs/t.csv"), 0);
    const Outcome o = run("validate bf16_runs/t.csv --csv -");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, Not(HasSubstr("bf16,")));
    EXPECT_THAT(o.err, HasSubstr("precision"));
}

TEST_F(NothingLost, a_readme_beside_the_profiles_does_not_make_them_partial) {
    const std::string examples = GAMBREL_SOURCE_DIR "/examples/";
    ASSERT_EQ(shell("mkdir run && cp " + examples + "step.csv run/ && echo 'how it was made' > run/README"), 0);
    EXPECT_THAT(run("analyze run --machine v100 --json - -q").out, Not(HasSubstr("\"partial\"")));
    ASSERT_EQ(shell("head -c 300 " + examples + "step.ncu-rep > run/cut.ncu-rep"), 0);
    EXPECT_THAT(run("analyze run --machine v100 --json - -q").out, HasSubstr("\"partial\": true"));
}

}  // namespace
}  // namespace gambrel::test
