#include <gtest/gtest.h>

#include <cstring>

#include <gambrel/report.hpp>

#include "chart/palette.hpp"
#include "chart/svg_writer.hpp"
#include "report/golden.hpp"
#include "report/roofline_layout.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

void expect_well_formed(const std::string& svg) {
    const auto png = svg_to_png(svg, 0.2);
    EXPECT_TRUE(png) << (png ? "" : to_text(png.error())) << "\n" << svg.substr(0, 2000);
}

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

TEST(RooflineSvg, of_the_training_step_is_as_recorded) {
    sample::expect_golden("training.svg", roofline_svg(sample::training()));
    sample::expect_golden("toy_dark.svg", roofline_svg(sample::toy(), {Theme::dark, 640, 420, 12, 400}));
}

TEST(RooflineSvg, is_well_formed_for_any_number_of_kernels_and_any_size) {
    for (const std::size_t n : {0u, 1u, 6u, 60u, 1000u})
        for (const double width : {10.0, 500.0, 960.0, 2400.0})
            for (const Theme theme : {Theme::light, Theme::dark})
                expect_well_formed(roofline_svg(sample::many(n), {theme, width, width * 0.6, 12, 400}));
}

TEST(RooflineSvg, is_well_formed_for_hostile_names) {
    std::vector<Kernel> kernels;
    for (const std::string name : {"<script>alert(1)</script>", "]]>", "a & b \"c\" 'd'", "\x01\x02\x1b[31m",
                                   "\xff\xc3\x28", "\xEF\xBF\xBF", "--><svg onload=x>", "核函数"})
        kernels.push_back(sample::kernel({name, 1, 1, 1e9, 0, 0, 0, 1e9, 1e9}));
    auto a = sample::analysis_of(kernels, sample::toy_machine(), "<title> & \x1b");
    const std::string svg = roofline_svg(a);
    expect_well_formed(svg);
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find("<svg onload"), std::string::npos);
    for (const char c : svg) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(RooflineSvg, degenerates_gracefully) {
    expect_well_formed(roofline_svg(Analysis{}));
    auto only_zero =
        sample::analysis_of({sample::kernel({"copy", 4, 0.25, 0, 0, 0, 0, 2e9})}, sample::toy_machine(), "zero");
    const std::string svg = roofline_svg(only_zero);
    expect_well_formed(svg);
    EXPECT_NE(svg.find("zero-FLOP kernels: 1 of 1 names"), std::string::npos);
    auto no_levels = sample::analysis_of({sample::kernel({"k", 1, 1, 1e9})}, sample::toy_machine(), "no bytes");
    EXPECT_NE(roofline_svg(no_levels).find("unknown: 1 kernel."), std::string::npos);
    auto wild = sample::analysis_of(
        {sample::kernel({"a", 1, 1e-300, 1e300, 0, 0, 0, 1e-300}), sample::kernel({"b", 1, 1e3, 1, 0, 0, 0, 1e30}),
         sample::kernel({"c", 1, 1, 1e9, 0, 0, 0, 1e9})},
        sample::toy_machine(), "wild");
    expect_well_formed(roofline_svg(wild));
    EXPECT_NE(roofline_svg(wild).find("Outside the axes"), std::string::npos);
}

TEST(RooflineSvg, draws_at_most_max_kernels_and_says_so) {
    const std::string svg = roofline_svg(sample::many(10000));
    EXPECT_EQ(count(svg, "class=\"kernel\""), 400u);
    EXPECT_NE(svg.find("Drawn: the 400 longest-running of 8,889 kernels."), std::string::npos);
}

TEST(RooflineSvg, gives_every_kernel_a_tooltip) {
    const std::string svg = roofline_svg(sample::toy());
    EXPECT_NE(svg.find("<title>triad: 1 s, 57.1 % of time, 2 GFLOP/s, AI DRAM 0.250, 80.0 % of the DRAM roof</title>"),
              std::string::npos)
        << svg;
}

TEST(RooflineSvg, rings_points_above_their_roof) {
    EXPECT_EQ(roofline_svg(sample::toy()).find("above its roof"), std::string::npos);
    auto a =
        sample::analysis_of({sample::kernel({"fast", 1, 1, 1e9, 0, 0, 0, 20e9, 1e9})}, sample::toy_machine(), "above");
    const std::string svg = roofline_svg(a);
    EXPECT_NE(svg.find("above its roof"), std::string::npos);
    EXPECT_EQ(count(svg, palette(Theme::light).warning), 2u);  // the ring and its legend
}

TEST(RooflineSvg, tells_measured_roofs_from_theoretical_ones) {
    auto a = sample::toy();
    EXPECT_EQ(roofline_svg(a).find("measured roof<"), std::string::npos);
    a.machines[0].levels[0].measured = {{Bandwidth{8e9}, Origin::measured, "a benchmark"}, {}};
    a.roofs = Roofs::measured;
    for (auto& row : a.rows) row.verdict.levels.clear();  // the chart then asks the machine itself
    const std::string svg = roofline_svg(a);
    EXPECT_NE(svg.find(">measured roof<"), std::string::npos);
    EXPECT_NE(svg.find(">theoretical roof<"), std::string::npos);
    EXPECT_NE(svg.find("DRAM 8 GB/s"), std::string::npos);
}

TEST(RooflineSvg, is_the_same_for_the_same_input) {
    EXPECT_EQ(roofline_svg(sample::many(60)), roofline_svg(sample::many(60)));
}

TEST(RooflinePlot, lets_no_kernel_of_a_microsecond_stretch_the_axes) {
    auto kernels = sample::training_step();
    const auto without = sample::analysis_of(kernels, sample::v100_like(), "");
    kernels.push_back(sample::kernel({"index", 1, 2e-6, 1, 0, 0, 0, 1e5}));
    const auto with = sample::analysis_of(kernels, sample::v100_like(), "");
    const RooflinePlot a = roofline_plot(without, {400, {}}), b = roofline_plot(with, {400, {}});
    EXPECT_EQ(a.x.low, b.x.low);
    EXPECT_EQ(a.y.low, b.y.low);
    EXPECT_EQ(b.caption.back(), "Outside the axes: points of 1 kernel (<0.01 % of time).");
}

TEST(RooflinePlot, takes_the_roofs_at_the_time_weighted_clock) {
    const auto a = sample::training();
    const RooflinePlot data = roofline_plot(a, {400, {}});
    ASSERT_EQ(data.slopes.size(), 3u);
    double sum = 0, time = 0;
    for (const auto& row : a.rows) {
        sum += row.verdict.clock->value() * row.kernel.time->value.value();
        time += row.kernel.time->value.value();
    }
    EXPECT_NEAR(data.slopes[0].value / (80 * 128 * sum / time), 1, 1e-12);
    EXPECT_NEAR(data.slopes[2].value, 897e9, 1);
    // FP64 and FP16 are pipes of the machine that no kernel used.
    ASSERT_EQ(data.flats.size(), 2u);
    EXPECT_EQ(data.flats[0].what, Bound{Pipe::tensor_fp16});
    EXPECT_EQ(data.flats[1].what, Bound{Pipe::fp32});
}

void expect_no_overlap(const Analysis& a, const ChartStyle& style) {
    const RooflinePlot data = roofline_plot(a, {style.max_kernels, {}});
    const Scene scene = chart_scene(data, style);
    std::vector<Box> labels;
    for (const auto& k : scene.kernels) {
        if (!k.placed) continue;
        EXPECT_TRUE(scene.plot.holds(k.placed->box)) << k.label;
        for (const auto& other : labels) EXPECT_FALSE(k.placed->box.overlaps(other)) << k.label;
        labels.push_back(k.placed->box);
    }
    for (const auto& roof : scene.roofs)
        for (const auto& box : roof.label_boxes)
            for (const auto& label : labels) EXPECT_FALSE(box.overlaps(label)) << roof.roof->label;
    for (const auto& k : scene.kernels)
        for (const auto& p : k.points) {
            const Box mark{p.x - k.radius, p.y - k.radius, p.x + k.radius, p.y + k.radius};
            for (const auto& label : labels) EXPECT_FALSE(mark.overlaps(label));
        }
    for (std::size_t i = 0; i < scene.roofs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            for (const auto& x : scene.roofs[i].label_boxes)
                for (const auto& y : scene.roofs[j].label_boxes) EXPECT_FALSE(x.overlaps(y));
}

TEST(RooflineLayout, lets_no_label_cover_another_a_point_or_a_roof_label) {
    for (const std::size_t n : {1u, 6u, 12u, 60u, 400u})
        for (const double width : {480.0, 960.0, 1600.0}) {
            SCOPED_TRACE(fmt::format("{} kernels, width {}", n, width));
            expect_no_overlap(sample::many(n), {Theme::light, width, width * 0.62, 12, 400});
        }
    expect_no_overlap(sample::training(), {});
}

TEST(RooflineLayout, places_all_names_of_a_realistic_run) {
    const auto a = sample::training();
    const RooflinePlot data = roofline_plot(a, {400, {}});
    const Scene scene = chart_scene(data, {});
    for (const auto& k : scene.kernels) {
        ASSERT_TRUE(k.placed) << k.number;
        EXPECT_FALSE(k.placed->shortened) << k.label;
    }
    for (const auto& roof : scene.roofs) EXPECT_FALSE(roof.label_boxes.empty()) << roof.roof->label;
}

TEST(RooflineLayout, puts_the_ridge_point_where_slope_and_flat_meet) {
    const auto a = sample::toy();
    const RooflinePlot data = roofline_plot(a, {400, {}});
    const Scene scene = chart_scene(data, {});
    ASSERT_EQ(scene.ridges.size(), 1u);  // 100 GFLOP/s over 10 GB/s: 10 FLOP/B
    const double x = scene.plot.x0 + (1 - data.x.low) / data.x.span() * scene.plot.width();
    EXPECT_NEAR(scene.ridges[0].x, x, 1e-9);
    EXPECT_NEAR(scene.roofs[0].line.x1, x, 1e-9);
    EXPECT_NEAR(scene.roofs[1].line.x0, x, 1e-9);
}

}  // namespace
}  // namespace gambrel
