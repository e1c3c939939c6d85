#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/golden.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

void expect_fits(const std::string& text, int width) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) ASSERT_LE(chart_detail::display_width(line), width) << line;
}

TEST(MachineSheet, of_the_sample_is_as_recorded) {
    sample::expect_golden("sheet_100.txt", machine_sheet(sample::v100_like(), {}));
}

TEST(MachineSheet, never_exceeds_its_width_and_cites_every_number) {
    auto m = sample::v100_like();
    m.clocks.boost->cite = "核函数 " + std::string(300, 'c') + " \x1b[31m end";
    for (int width = 40; width <= 200; ++width) {
        TextStyle style;
        style.width = width;
        const std::string text = machine_sheet(m, style);
        expect_fits(text, width);
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        EXPECT_NE(text.find("white paper"), std::string::npos);
    }
}

TEST(MachineSheet, rates_of_integer_pipes_are_operations_and_not_flop) {
    std::istringstream in(machine_sheet(*find_in_catalogue("t4"), {}));
    int integer = 0, floating = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.find("INT") != std::string::npos && line.find("OP/") != std::string::npos) {
            EXPECT_EQ(line.find("FLOP"), std::string::npos) << line;
            ++integer;
        }
        floating += line.find("TFLOP/s") != std::string::npos;
    }
    EXPECT_GE(integer, 4);
    EXPECT_GE(floating, 2);
}

TEST(MachineList, never_exceeds_its_width_for_all_the_catalogue) {
    for (int width = 40; width <= 200; ++width) {
        TextStyle style;
        style.width = width;
        expect_fits(machine_list(catalogue(), style), width);
    }
}

TEST(MachineList, has_a_row_for_each_machine) {
    const std::vector<Machine> machines{sample::toy_machine(), sample::v100_like()};
    TextStyle style;
    style.width = 160;
    sample::expect_golden("machines_160.txt", machine_list(machines, style));
    sample::expect_golden("machines.csv", machine_list_csv(machines));
    const std::string all = machine_list_csv(catalogue());
    EXPECT_EQ(static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')), catalogue().size() + 1);
}

}  // namespace
}  // namespace gambrel
