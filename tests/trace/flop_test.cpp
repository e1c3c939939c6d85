// Is the FLOP of an operator in a trace what torch.utils.flop_counter counts for it? tools/make_flop_table.py made the
// table.
#include <gambrel/trace.hpp>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace gambrel {
namespace {

struct Case {
    std::string op, arguments;
    double flop = 0;
};

std::vector<Case> counted_by_torch() {
    std::vector<Case> out;
    std::ifstream in(GAMBREL_SOURCE_DIR "/tests/trace/flop_counter.tsv");
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        Case c;
        std::string flop;
        if (line.starts_with('#') || !std::getline(fields, c.op, '\t') || !std::getline(fields, flop, '\t')) continue;
        std::getline(fields, c.arguments);
        c.flop = std::stod(flop);
        out.push_back(std::move(c));
    }
    return out;
}

TEST(Flop, every_operator_that_torch_counts_has_the_same_flop_here) {
    const auto cases = counted_by_torch();
    ASSERT_GT(cases.size(), 100u);
    std::string text = R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[)";
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto at = [&](int us) { return std::to_string(1000 * i + static_cast<std::size_t>(us)); };
        const std::string id = std::to_string(i + 1);
        text += (i == 0 ? "" : ",") + (R"({"ph":"X","cat":"cpu_op","name":")" + cases[i].op) +
                R"(","pid":1,"tid":1,"ts":)" + at(0) + R"(,"dur":100,"args":)" + cases[i].arguments +
                R"(},{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"dur":1,"ts":)" + at(10) +
                R"(,"args":{"correlation":)" + id +
                R"(}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":900000,"ts":)" + at(200) +
                R"(,"args":{"device":0,"stream":7,"correlation":)" + id + R"(,"grid":[64,1,1],"block":[256,1,1]}})";
    }
    const auto timeline = read_timeline(text + "]}", "t");
    ASSERT_TRUE(timeline) << to_text(timeline.error());
    const auto run = to_run(*timeline);
    ASSERT_TRUE(run) << to_text(run.error());
    ASSERT_EQ(run->kernels.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto known = flop(run->kernels[i]);
        ASSERT_TRUE(known) << cases[i].op << ' ' << cases[i].arguments << ": " << run->kernels[i].reasons.back().str();
        EXPECT_DOUBLE_EQ(known->value.value(), cases[i].flop) << cases[i].op << ' ' << cases[i].arguments;
    }
}

}  // namespace
}  // namespace gambrel
