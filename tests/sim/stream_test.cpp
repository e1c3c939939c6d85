// Are the addresses right? Cases that can be counted by hand, and every element of random layers visited one by one.
#include "sim/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "sim/operands.hpp"
#include "sim/sample.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {
namespace {

TEST(Stream, one_aligned_warp_load_is_four_sectors) {
    // 32 pixels of one channel, one filter: 128 bytes in, one weight, 128 bytes out.
    const auto sectors = requested(layer({.n = 1, .c = 1, .h = 1, .w = 32, .k = 1}), tile(32, 1, 1));
    EXPECT_EQ(sectors.at(Tensor::input), 4U);
    EXPECT_EQ(sectors.at(Tensor::filter), 1U);
    EXPECT_EQ(sectors.at(Tensor::output), 4U);
}

TEST(Stream, misaligned_warp_load_is_five_sectors) {
    // Rows of 33 input pixels, 2 taps beside each other: the second tap begins 4 bytes further on.
    const auto sectors = requested(layer({.n = 1, .c = 1, .h = 1, .w = 33, .k = 1, .r = 1, .s = 2}), tile(32, 1, 1));
    EXPECT_EQ(sectors.at(Tensor::input), 4U + 5U);
}

TEST(Stream, stride_two_touches_twice_the_sectors) {
    const auto sectors = requested(layer({.n = 1, .c = 1, .h = 1, .w = 64, .k = 1, .stride_w = 2}), tile(32, 1, 1));
    EXPECT_EQ(sectors.at(Tensor::input), 8U);  // 63 floats from the first to the last
}

TEST(Stream, each_warp_of_a_strided_row_asks_for_its_own_pixels) {
    // 64 outputs are two requests for each of two taps: floats 0 to 62 and 64 to 126, then 1 to 63 and 65 to 127.
    const Convolution v{.n = 1, .c = 1, .h = 1, .w = 129, .k = 1, .r = 1, .s = 2, .stride_w = 2};
    EXPECT_EQ(requested(layer(v), tile(64, 1, 1)).at(Tensor::input), 4U * 8U);
}

TEST(Stream, padding_has_no_address) {
    // 3x3, pad 1 on a row of 32: only the middle row of taps exists. Left tap: pixels 0..30, 4 sectors; middle 4;
    // right 4.
    const auto sectors = requested(layer({.n = 1,
                                          .c = 1,
                                          .h = 1,
                                          .w = 32,
                                          .k = 1,
                                          .r = 3,
                                          .s = 3,
                                          .pad_top = 1,
                                          .pad_bottom = 1,
                                          .pad_left = 1,
                                          .pad_right = 1}),
                                   tile(32, 1, 1));
    EXPECT_EQ(sectors.at(Tensor::input), 12U);
}

TEST(Stream, filter_loads_of_four_take_half_a_sector_twice) {
    // 4 filters of 8 weights each. 8 lanes along k: one sector a filter. 4 along k: two requests, each the same sector.
    const Layer l = layer({.n = 1, .c = 8, .h = 1, .w = 1, .k = 4});
    Mapping mapping = tile(32, 4, 8);
    EXPECT_EQ(requested(l, mapping).at(Tensor::filter), 4U);
    mapping.b.lanes = 8;
    EXPECT_EQ(requested(l, mapping).at(Tensor::filter), 8U);
}

TEST(Stream, atomics_of_one_element_take_a_sector_each) {
    const Layer l = layer({.n = 2, .c = 8, .h = 4, .w = 8, .k = 4}, Pass::wgrad);
    Mapping mapping = tile(4, 8, 8);
    mapping.split_k = 2;
    mapping.store_run = 1;
    EXPECT_EQ(requested(l, mapping).at(Tensor::filter), 2U * 32);
    mapping.store_run = 2;
    EXPECT_EQ(requested(l, mapping).at(Tensor::filter), 2U * 16);
    // In a workspace: one copy written, read once, and the result: 32 floats are 4 sectors each.
    mapping.store_run = 32;
    mapping.sums = SplitSums::workspace;
    const auto sectors = requested(l, mapping);
    EXPECT_EQ(sectors.at(Tensor::workspace), 8U);
    EXPECT_EQ(sectors.at(Tensor::filter), 4U);
}

TEST(Stream, bands_walk_through_super_columns) {
    const Layer l = layer({.n = 1, .c = 1, .h = 1, .w = 3, .k = 5});
    Mapping mapping = tile(1, 1, 1);
    mapping.band = 2;
    const TiledStream stream(operands(std::get<Convolution>(l.op), Pass::fwd, Precision::fp32, Layout::nchw), mapping);
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (std::int64_t cta = 0; cta < stream.ctas(); ++cta)
        order.emplace_back(stream.place(cta).row, stream.place(cta).column);
    const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0},
                                                                      {2, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3},
                                                                      {2, 2}, {2, 3}, {0, 4}, {1, 4}, {2, 4}};
    EXPECT_EQ(order, expected);
}

// Requests that several CTAs make are made once and kept; a single column of CTAs shares none.
TEST(Stream, ctas_of_one_row_ask_for_what_a_single_one_asks_for) {
    const auto inputs = [](const TiledStream& stream, std::int64_t cta) {
        std::vector<Access> out;
        CtaState state;
        stream.open(cta, state);
        for (std::int64_t step = 0; step < stream.steps(cta); ++step) stream.step(state, step, out);
        std::erase_if(out, [](Access a) { return static_cast<Tensor>(tensor_of(a.line())) != Tensor::input; });
        return out;
    };
    // Neither rows nor steps are all of one size: 126 pixels, 54 deep, in two groups and two splits.
    Convolution v = three_by_three(2, 12, 9, 7, 10);
    v.groups = 2;
    Mapping mapping = tile(32, 1, 8);
    mapping.split_k = 2;
    const TiledStream wide(operands(v, Pass::fwd, Precision::fp32, Layout::nchw), mapping);
    v.k = 2;
    const TiledStream narrow(operands(v, Pass::fwd, Precision::fp32, Layout::nchw), mapping);
    ASSERT_EQ(wide.columns(), 5);
    ASSERT_EQ(narrow.columns(), 1);
    std::map<std::array<std::int64_t, 3>, std::vector<Access>> alone;
    for (std::int64_t cta = 0; cta < narrow.ctas(); ++cta) {
        const TiledStream::Place at = narrow.place(cta);
        alone[{at.row, at.batch, at.split}] = inputs(narrow, cta);
    }
    for (std::int64_t cta = 0; cta < wide.ctas(); ++cta) {
        const TiledStream::Place at = wide.place(cta);
        const std::vector<Access> asked = inputs(wide, cta);
        EXPECT_FALSE(asked.empty());
        EXPECT_TRUE((asked == alone[{at.row, at.batch, at.split}])) << cta;
    }
}

// What a pass reads and writes, from the definition of convolution, element by element.
struct Touched {
    std::set<std::uint64_t> input, filter, output;
    std::set<std::uint64_t> gradient;  // of the output, that a dgrad needs
};
Touched touched(const Convolution& v, std::int64_t element, Layout layout) {
    Touched t;
    const std::int64_t cg = v.c / v.groups, kg = v.k / v.groups, p = v.p(), q = v.q();
    const auto image = [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x, std::int64_t channels,
                           std::int64_t height, std::int64_t width) {
        return layout == Layout::nchw ? ((n * channels + c) * height + y) * width + x
                                      : ((n * height + y) * width + x) * channels + c;
    };
    const auto sector = [&](Tensor tensor, std::int64_t index) {
        return (base_address(tensor) + static_cast<std::uint64_t>(index * element)) >> kSectorShift;
    };
    for (std::int64_t n = 0; n < v.n; ++n)
        for (std::int64_t k = 0; k < v.k; ++k)
            for (std::int64_t y = 0; y < p; ++y)
                for (std::int64_t x = 0; x < q; ++x)
                    for (std::int64_t c = 0; c < cg; ++c)
                        for (std::int64_t r = 0; r < v.r; ++r)
                            for (std::int64_t s = 0; s < v.s; ++s) {
                                const std::int64_t h = y * v.stride_h - v.pad_top + r * v.dilation_h;
                                const std::int64_t w = x * v.stride_w - v.pad_left + s * v.dilation_w;
                                t.output.insert(sector(Tensor::output, image(n, k, y, x, v.k, p, q)));
                                t.filter.insert(sector(Tensor::filter, image(k, c, r, s, cg, v.r, v.s)));
                                if (h < 0 || h >= v.h || w < 0 || w >= v.w) continue;
                                t.gradient.insert(sector(Tensor::output, image(n, k, y, x, v.k, p, q)));
                                t.input.insert(sector(Tensor::input, image(n, k / kg * cg + c, h, w, v.c, v.h, v.w)));
                            }
    return t;
}

TEST(Stream, strided_dgrad_has_the_ctas_and_steps_of_the_kernel_view) {
    // 1x1 of stride 2: a quarter of the pixels is multiplied, the others are zeros of the same CTAs.
    const Layer l = layer({.n = 2, .c = 64, .h = 32, .w = 32, .k = 40, .stride_h = 2, .stride_w = 2}, Pass::dgrad);
    Mapping mapping = tile(32, 16, 8);
    const auto stream = make_stream(l, mapping);
    const Grid expected = grid(*kernel_view(l), mapping);
    EXPECT_EQ(stream->ctas(), expected.ctas());
    for (std::int64_t cta = 0; cta < stream->ctas(); ++cta) EXPECT_EQ(stream->steps(cta), expected.k_steps);
    // 3x3: four classes with 1, 2, 2 and 4 of the taps.
    const Layer three = layer({.n = 1,
                               .c = 16,
                               .h = 16,
                               .w = 16,
                               .k = 8,
                               .r = 3,
                               .s = 3,
                               .pad_top = 1,
                               .pad_bottom = 0,
                               .pad_left = 1,
                               .pad_right = 0,
                               .stride_h = 2,
                               .stride_w = 2},
                              Pass::dgrad);
    const auto classes = make_stream(three, mapping);
    ASSERT_EQ(classes->ctas(), 8);  // 64 pixels of each class by 32
    std::multiset<std::int64_t> steps;
    for (std::int64_t cta = 0; cta < 8; cta += 2) steps.insert(classes->steps(cta));
    EXPECT_EQ(steps, (std::multiset<std::int64_t>{1, 2, 2, 4}));
}

TEST(Stream, touches_what_the_definition_of_convolution_does) {
    std::mt19937_64 random(5);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    int tried = 0;
    while (tried < 250) {
        Convolution v{.n = pick(1, 2),
                      .c = pick(1, 6),
                      .h = pick(1, 9),
                      .w = pick(1, 12),
                      .k = pick(1, 5),
                      .r = pick(1, 3),
                      .s = pick(1, 3),
                      .pad_top = pick(0, 1),
                      .pad_bottom = pick(0, 1),
                      .pad_left = pick(0, 2),
                      .pad_right = pick(0, 2),
                      .stride_h = pick(1, 2),
                      .stride_w = pick(1, 3),
                      .dilation_h = pick(1, 2),
                      .dilation_w = pick(1, 2),
                      .groups = 1};
        if (pick(0, 4) == 0) {
            v.groups = v.k = v.c = pick(2, 5);
        } else if (pick(0, 3) == 0) {
            v.groups = 2;
            v.c *= 2;
            v.k *= 2;
        }
        if (!faults(v).empty()) continue;
        ++tried;
        const Layout layout = pick(0, 1) == 0 ? Layout::nchw : Layout::nhwc;
        const Precision precision = std::array{Precision::int8, Precision::fp16, Precision::fp32,
                                               Precision::fp64}[static_cast<std::size_t>(pick(0, 3))];
        Mapping mapping = tile(static_cast<std::int32_t>(pick(3, 40)), static_cast<std::int32_t>(pick(2, 9)),
                               static_cast<std::int32_t>(pick(1, 9)));
        mapping.layout = layout;
        mapping.transposed_view = pick(0, 1) == 1;
        mapping.groups_in_turn = pick(0, 1) == 1;
        if (v.depthwise() && pick(0, 1) == 0) {
            mapping.family = KernelFamily::depthwise;
            mapping.threads = 64;
        }
        const Touched expected = touched(v, static_cast<std::int64_t>(element_size(precision).value()), layout);
        for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
            std::map<unsigned, std::set<std::uint64_t>> sectors;
            for (const Access access : accesses(layer(v, pass, precision), mapping))
                for (unsigned s = 0; s < kSectorsPerLine; ++s)
                    if ((access.sectors() >> s & 1U) != 0)
                        sectors[tensor_of(access.line())].insert(access.line() * kSectorsPerLine + s);
            SCOPED_TRACE(testing::Message() << "layer " << tried << " pass " << name(pass));
            // Taps that only reach pixels of a remainder that the picture is too small to have are not read.
            const bool small = v.h < v.stride_h || v.w < v.stride_w;
            if (pass == Pass::dgrad) {
                // Written whole, zeros too; outputs whose taps are all padding are not read.
                EXPECT_EQ(sectors[2], expected.gradient);
                EXPECT_EQ(sectors[0].size(), (static_cast<std::uint64_t>(v.n * v.c * v.h * v.w) *
                                                  static_cast<std::uint64_t>(element_size(precision).value()) +
                                              31) /
                                                 32);
            } else {
                EXPECT_EQ(sectors[0], expected.input);
            }
            if (pass != Pass::dgrad || !small) {
                EXPECT_EQ(sectors[1], expected.filter);
            }
            if (pass != Pass::dgrad) {
                EXPECT_EQ(sectors[2], expected.output);
            }
        }
    }
}

}  // namespace
}  // namespace gambrel::sim_detail
