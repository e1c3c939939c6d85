// Are PNG and PDF made, of the right size and always the same, and is it said what is missing where they cannot be?
#include <gtest/gtest.h>

#include <cmath>

#include "chart/rasterize.hpp"
#include "chart/sample.hpp"

namespace gambrel {
namespace {

TEST(Rasterize, gives_a_png_of_the_right_size) {
    const auto png = svg_to_png(svg(sample::sweep(), {Theme::light, 500, 400}), 2.0);
    ASSERT_TRUE(png) << to_text(png.error());
    EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
    const auto word = [&](std::size_t at) {
        unsigned v = 0;
        for (std::size_t i = 0; i < 4; ++i) v = v * 256 + static_cast<unsigned char>((*png)[at + i]);
        return v;
    };
    EXPECT_EQ(word(16), 1000u);
    EXPECT_GT(word(20), 700u);
}

TEST(Rasterize, gives_the_same_pdf_each_time) {
    const std::string drawing = svg(sample::times());
    const auto a = svg_to_pdf(drawing), b = svg_to_pdf(drawing);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->substr(0, 5), "%PDF-");
    EXPECT_NE(a->find("gambrel"), std::string::npos);
    EXPECT_EQ(*a, *b);
}

TEST(Rasterize, refuses_what_is_not_svg_and_what_is_too_large) {
    EXPECT_FALSE(svg_to_png("not xml"));
    EXPECT_FALSE(svg_to_pdf("<svg><unclosed></svg>"));
    const std::string drawing = svg(sample::sweep());
    for (const double scale : {0.0, -1.0, 1e9, std::nan("")}) EXPECT_FALSE(svg_to_png(drawing, scale)) << scale;
}

TEST(Rasterize, without_librsvg_the_package_is_named) {
    const auto missing = chart_detail::load_drawing_library("librsvg-that-is-not-installed.so.2");
    ASSERT_FALSE(missing);
    const std::string text = to_text(missing.error());
    for (const char* part : {"librsvg-that-is-not-installed.so.2", "librsvg2-2", ".svg"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    // A library that has none of the functions is not taken for it.
    const auto other = chart_detail::load_drawing_library("libm.so.6");
    ASSERT_FALSE(other);
    EXPECT_NE(to_text(other.error()).find("rsvg_handle_render_document"), std::string::npos);
}

}  // namespace
}  // namespace gambrel
