// Does each renderer draw each kind of chart as recorded, with its values, units and origin?
#include <algorithm>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "chart/page_json.hpp"
#include "chart/sample.hpp"
#include "chart/scale.hpp"
#include "chart/text.hpp"
#include "report/golden.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

void expect_recorded(const std::string& file, const std::string& text) { sample::expect_golden(file, text, "chart"); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

template <class What>
std::string json_text(const What& what) {
    return page_json(what).dump(1) + "\n";
}

TEST(Svg, of_each_kind_of_chart_is_as_recorded) {
    expect_recorded("sweep.svg", svg(sample::sweep()));
    expect_recorded("panels_dark.svg", svg("Two panels", "measured and modelled",
                                           std::vector<Chart>{sample::sweep(), sample::front()}, {Theme::dark}));
    expect_recorded("times.svg", svg(sample::times()));
    expect_recorded("elasticities.svg", svg(sample::elasticities()));
}

TEST(TerminalText, of_each_kind_of_chart_is_as_recorded) {
    TextStyle plain;
    plain.width = 80, plain.unicode = false;
    expect_recorded("sweep_100.txt", terminal_text(sample::sweep(), {}));
    expect_recorded("front_80.txt", terminal_text(sample::front(), plain));
    expect_recorded("times_100.txt", terminal_text(sample::times(), {}));
    expect_recorded("elasticities_80.txt", terminal_text(sample::elasticities(), plain));
    expect_recorded("table_100.txt", terminal_text(sample::table(), {}));
}

TEST(PageJson, of_each_kind_of_chart_is_as_recorded) {
    expect_recorded("sweep.json", json_text(sample::sweep()));
    expect_recorded("front.json", json_text(sample::front()));
    expect_recorded("times.json", json_text(sample::times()));
    expect_recorded("table.json", json_text(sample::table()));
}

TEST(Renderers, all_say_values_with_their_units) {
    const TextStyle style;
    for (const std::string& text : {svg(sample::sweep()), terminal_text(sample::sweep(), style)}) {
        for (const char* part :
             {"L1 10 TB/s", "DRAM 1 TB/s", "Working set [B]", "Bandwidth [B/s]", "5 TB/s", "64 KiB", "1 MiB"})
            EXPECT_TRUE(has(text, part)) << part << "\n" << text;
        EXPECT_FALSE(has(text, "FLOP"));
    }
    for (const std::string& text : {svg(sample::times()), terminal_text(sample::times(), style)})
        for (const char* part : {"4 ms", "2.00x, 2 ms", "Time [s]", "DRAM", "compute"})
            EXPECT_TRUE(has(text, part)) << part << "\n" << text;
    EXPECT_TRUE(has(svg(sample::times()), "start, DRAM: 3 ms, 75.0 %"));
    EXPECT_EQ(page_json(sample::sweep())["y"]["unit"], "B/s");
    EXPECT_EQ(page_json(sample::sweep())["series"][0]["marks"][0],
              (nlohmann::ordered_json{16384.0, 10e12, 9e12, 11e12, "9 samples", 0}));
    EXPECT_EQ(page_json(sample::times())["bars"][0]["parts"][4], 3e-3);
}

TEST(Renderers, all_say_where_the_numbers_come_from) {
    const TextStyle style;
    for (const std::string& text :
         {svg(sample::sweep()), terminal_text(sample::sweep(), style), json_text(sample::sweep())})
        EXPECT_TRUE(has(text, "Toy 100 · measured")) << text;
    for (const std::string& text :
         {svg(sample::times()), terminal_text(sample::times(), style), json_text(sample::times())})
        EXPECT_TRUE(has(text, "on Toy 100 · modelled")) << text;
}

TEST(Svg, a_mark_lies_where_its_value_is) {
    const Scale x = scale_of({0, 10}, {"x", "", false, false}, 100, 300);
    EXPECT_DOUBLE_EQ(x.at(0), 100);
    EXPECT_NEAR(x.at(10.5), 300, 1e-9) << "5 % of room above the largest";
    const Scale y = scale_of({1, 1000}, {"y", "s", true, false}, 0, 110);
    EXPECT_NEAR(y.at(1), 5, 1e-9);
    EXPECT_NEAR(y.at(10) - y.at(1), y.at(1000) - y.at(100), 1e-9) << "decades are equally wide";
}

TEST(Scale, spells_numbers_with_prefix_and_unit) {
    const ChartAxis rate{"", "B/s", true, false}, bytes{"", "B", true, true}, time{"", "s", false, false},
        plain{"", "", false, false};
    EXPECT_EQ(value_text(897e9, rate), "897 GB/s");
    EXPECT_EQ(value_text(1e12, rate), "1 TB/s");
    EXPECT_EQ(value_text(999.6e9, rate), "1 TB/s");
    EXPECT_EQ(value_text(131072, bytes), "128 KiB");
    EXPECT_EQ(value_text(1.5e-3, time), "1.5 ms");
    EXPECT_EQ(value_text(2.5e-6, time), "2.5 us");
    EXPECT_EQ(value_text(0, time), "0 s");
    EXPECT_EQ(value_text(0.25, plain), "0.25");
    EXPECT_EQ(value_text(-0.125, plain), "-0.125");
    EXPECT_EQ(value_text(std::numeric_limits<double>::infinity(), plain), "");
}

TEST(Scale, no_two_ticks_of_a_narrow_axis_are_spelled_alike) {
    const ChartAxis plain{"speed-up", "", false, false};
    for (const double high : {1.0001, 1.004, 1.05, 1.3, 9.999})
        for (const double room : {26.0, 44.0}) {
            std::vector<std::string> texts;
            for (const Tick& t : scale_of({1, high}, plain, 0, 340).ticks(room)) texts.push_back(t.text);
            ASSERT_GE(texts.size(), 2u);
            EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end()) << high << " " << room;
        }
}

TEST(TerminalText, never_exceeds_its_width) {
    for (const int width : {40, 50, 80, 131, 250})
        for (const bool unicode : {false, true}) {
            TextStyle style;
            style.width = width, style.unicode = unicode;
            for (const std::string& text :
                 {terminal_text(sample::sweep(), style), terminal_text(sample::front(), style),
                  terminal_text(sample::times(), style), terminal_text(sample::elasticities(), style),
                  terminal_text(sample::table(), style)}) {
                std::istringstream lines(text);
                for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
            }
        }
}

TEST(TerminalText, of_a_table_leaves_out_what_does_not_fit_and_what_is_empty) {
    TextStyle style;
    const std::string wide = terminal_text(sample::table(), style);
    EXPECT_TRUE(has(wide, "remark") && has(wide, "sms x2") && has(wide, "6 ms"));
    EXPECT_FALSE(has(wide, "empty"));
    style.width = 18;
    EXPECT_FALSE(has(terminal_text(sample::table(), style), "remark"));
    EXPECT_TRUE(has(terminal_text(sample::table(), style), "4 ms"));
}

TEST(Renderers, draw_charts_without_data) {
    const TextStyle style;
    EXPECT_TRUE(has(terminal_text(Chart{}, style), "nothing to draw"));
    EXPECT_TRUE(has(svg("Sweeps", "measured", {}), "nothing to draw"));
    EXPECT_TRUE(svg_to_png(svg(Chart{}), 0.2));
    EXPECT_TRUE(svg_to_png(svg(BarChart{}), 0.2));
    EXPECT_FALSE(terminal_text(BarChart{}, style).empty());
    EXPECT_EQ(page_json(Chart{})["series"].size(), 0u);
}

TEST(Renderers, names_of_others_are_text) {
    const std::string evil = "<script>alert(1)</script>\x1b[31m\xff\xEF\xBF\xBE";
    Chart chart = sample::front();
    BarChart bars = sample::times();
    chart.title = chart.note = chart.series[0].name = chart.series[1].marks[0].label = chart.x.label = evil;
    bars.title = bars.bars[0].label = bars.bars[0].note = bars.bars[1].text = bars.parts[0] = evil;
    for (const std::string& text : {svg(chart), svg(bars)}) {
        EXPECT_TRUE(svg_to_png(text, 0.2)) << text.substr(0, 500);
        EXPECT_FALSE(has(text, "<script"));
    }
    for (const std::string& text : {terminal_text(chart, {}), terminal_text(bars, {})}) {
        EXPECT_FALSE(has(text, "\x1b"));
        EXPECT_EQ(text, encode_utf8(decode_utf8(text)));
    }
}

}  // namespace
}  // namespace gambrel
