// Which row is which, and on which side, in the table of a comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/compare.hpp>
#include <gambrel/report.hpp>

#include "report/sample.hpp"

namespace gambrel {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Kernel gemm(double time, std::string phase) {
    return sample::kernel({"gemm_128x128", 1, time, 40e9, 0, 0, 0, 1e9, 1e9, std::move(phase)});
}

std::string text_of(const std::vector<Kernel>& before, const std::vector<Kernel>& after) {
    const Analysis a = sample::analysis_of(before, sample::toy_machine(), "before");
    const Analysis b = sample::analysis_of(after, sample::toy_machine(), "after");
    return comparison_text(std::vector{comparison(a, b)}, {.width = 160});
}

TEST(CompareText, a_kernel_of_two_phases_has_its_phase_and_a_lonely_one_its_side) {
    const Kernel softmax = sample::kernel({"softmax", 1, 0.7, 1e9, 0, 0, 0, 1e9, 1e9, "attention"});
    const Kernel flash = sample::kernel({"flash", 1, 0.3, 1e9, 0, 0, 0, 1e9, 1e9, "attention"});
    const std::string text =
        text_of({gemm(0.9, "mlp"), gemm(0.8, "attention"), softmax}, {gemm(0.9, "mlp"), gemm(0.6, "attention"), flash});
    EXPECT_THAT(text, ContainsRegex("gemm_128x128 .*900 ms .*900 ms .*mlp\n"));
    EXPECT_THAT(text, ContainsRegex("gemm_128x128 .*800 ms .*600 ms .*attention\n"));
    EXPECT_THAT(text, ContainsRegex("softmax .*700 ms .*- .*only before"));
    EXPECT_THAT(text, ContainsRegex("flash .*- .*300 ms .*only after"));
}

TEST(CompareText, names_that_tell_the_rows_apart_need_no_phase) {
    EXPECT_THAT(text_of({gemm(0.9, "mlp")}, {gemm(0.8, "mlp")}), Not(HasSubstr("phase")));
}

}  // namespace
}  // namespace gambrel
