// Sectors by hand, and the closed forms of geometry.hpp against every address written out.
#include <cmath>

#include <gtest/gtest.h>

#include "delta/geometry.hpp"
#include "delta/oracle.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace delta_detail;
using namespace test;

TEST(Sectors, an_aligned_interval_has_one_for_each_32_bytes) {
    EXPECT_DOUBLE_EQ(sectors(128, 32), 4);
    EXPECT_DOUBLE_EQ(sectors(32, 32), 1);
    EXPECT_DOUBLE_EQ(sectors(4, 32), 1);
    EXPECT_DOUBLE_EQ(sectors(36, 32), 2);
}

TEST(Sectors, an_interval_that_may_start_anywhere_touches_a_part_of_one_more) {
    EXPECT_DOUBLE_EQ(sectors(128, 4), 4.875);  // 4 at one of 8 places, else 5
    EXPECT_DOUBLE_EQ(sectors(128, 16), 4.5);
    EXPECT_DOUBLE_EQ(sectors(4, 4), 1);  // an aligned float is in one
    EXPECT_DOUBLE_EQ(sectors(32, 4), 1.875);
}

TEST(Sectors, a_known_offset_is_taken) {
    EXPECT_DOUBLE_EQ(sectors(128, 32, 4), 5);
    EXPECT_DOUBLE_EQ(sectors(28, 32, 4), 1);
    EXPECT_DOUBLE_EQ(sectors(32, 32, 4), 2);
}

TEST(Sectors, are_the_mean_over_all_starts) {
    for (const int grain : {4, 8, 16, 32})
        for (int offset = 0; offset < grain; offset += 4)
            for (int length = 4; length < 200; length += 4) {
                double sum = 0;
                for (int start = offset; start < 32; start += grain) sum += (start + length - 1) / 32 + 1;
                ASSERT_DOUBLE_EQ(sectors(length, grain, offset), sum / (32 / grain)) << length << ' ' << grain;
            }
}

OperandAccess pixels_of(const Convolution& v, std::int32_t k = 8) {
    return pixel_operand(forward_window(v), {}, {128, 64, k}, 1, 4);
}

TEST(PixelLoads, of_an_aligned_1x1_are_four_sectors_for_32_floats) {
    const OperandAccess o = pixels_of(square(1, 16, 32, 64, 1));
    EXPECT_DOUBLE_EQ(o.elements, 32 * 32 * 16);
    EXPECT_DOUBLE_EQ(o.overfetch_request, 1);
    EXPECT_DOUBLE_EQ(o.overfetch_step, 1);
    EXPECT_DOUBLE_EQ(o.overfetch_cta, 1);
}

TEST(PixelLoads, of_an_odd_image_begin_anywhere) {
    // Planes of 33 x 33 floats begin at any multiple of 4 bytes: 4.875 sectors where one run holds the request.
    const OperandAccess o = pixels_of(square(1, 16, 33, 64, 1));
    EXPECT_GT(o.overfetch_request, 4.875 / 4);
    EXPECT_LT(o.overfetch_request, 1.03 * 4.875 / 4);  // 1 in 34 requests ends at the image
}

TEST(PixelLoads, with_stride_2_take_every_other_float_of_their_sectors) {
    const OperandAccess o = pixels_of(square(1, 16, 64, 64, 1, 0, 2));
    EXPECT_DOUBLE_EQ(o.overfetch_request, 2);  // 32 of 64 columns: 8 sectors for 128 bytes
}

TEST(PixelLoads, with_stride_8_take_a_sector_each) {
    EXPECT_DOUBLE_EQ(pixels_of(square(1, 16, 256, 64, 1, 0, 8)).overfetch_request, 8);
}

TEST(PixelLoads, of_a_3x3_leave_out_the_padding) {
    const OperandAccess o = pixels_of(square(1, 1, 32, 64, 3, 1));
    EXPECT_DOUBLE_EQ(o.elements, 94.0 * 94);  // of 96 x 96: a row and a column of taps miss one pixel each side
    // Taps left and right of the middle cross into one more sector, or lose the one that lies outside.
    EXPECT_GE(o.overfetch_request, 1);
    EXPECT_LT(o.overfetch_request, 1.25);
    // A whole reduction reads the tile's 4 rows and one on each side, 24 sectors; one more at each end if it began
    // within a row.
    const double asked = 128 * 9 * (94.0 / 96) * 4;
    EXPECT_GE(o.overfetch_cta * asked, 24 * 32);
    EXPECT_LE(o.overfetch_cta * asked, 26 * 32 + 1e-9);
    EXPECT_GT(o.overfetch_step, o.overfetch_cta);
}

struct Case {
    std::string what;
    SlidingWindow walk;
};

std::vector<Case> many_walks() {
    std::vector<Case> cases;
    const auto add = [&](const std::string& what, const Convolution& v, Pass pass = Pass::fwd) {
        cases.push_back({what + " of " + std::to_string(v.h) + 'x' + std::to_string(v.w),
                         pass == Pass::fwd ? forward_window(v) : gradient_window(v)});
    };
    for (const std::int64_t size : {7, 14, 28, 56}) {
        const std::int64_t n = size < 20 ? 32 : 2;
        add("1x1", square(n, 4, size, 64, 1));
        add("3x3 padded", square(n, 4, size, 64, 3, 1));
        add("3x3", square(n, 4, size, 64, 3));
        add("3x3 stride 2", square(n, 4, size, 64, 3, 1, 2));
        add("5x5 padded", square(n, 3, size, 64, 5, 2));
        add("1x1 stride 2", square(n, 4, size, 64, 1, 0, 2));
    }
    add("7x7 stride 2", square(2, 3, 112, 64, 7, 3, 2));
    add("11x11 stride 4", square(2, 3, 112, 64, 11, 2, 4));
    add("3x3 stride 3", square(2, 4, 56, 64, 3, 0, 3));
    add("9x9 padded", square(1, 2, 56, 64, 9, 4));
    for (const std::int64_t dilation : {2, 12}) {
        Convolution v = square(2, 4, 48, 64, 3, dilation);
        v.dilation_h = v.dilation_w = dilation;
        add("3x3 dilated", v);
    }
    Convolution wide = square(1, 4, 96, 64, 3, 1);
    wide.w = 144;
    add("3x3 padded", wide);
    wide = square(1, 4, 192, 64, 1);
    wide.w = 288;
    add("1x1", wide);
    Convolution flat = square(2, 4, 33, 64, 3, 1);
    flat.s = 1, flat.pad_left = flat.pad_right = 0;
    add("3x1 padded", flat);
    flat = square(2, 4, 33, 64, 3, 1);
    flat.r = 1, flat.pad_top = flat.pad_bottom = 0;
    add("1x3 padded", flat);
    for (const std::int64_t size : {14, 28, 57}) {
        const std::int64_t n = size < 20 ? 32 : 2;
        add("gradient of 3x3 padded", square(n, 64, size, 4, 3, 1), Pass::dgrad);
        add("gradient of 1x1", square(n, 64, size, 8, 1), Pass::dgrad);
        add("gradient of 5x5", square(n, 64, size, 4, 5), Pass::dgrad);
    }
    return cases;
}

// The bounds are of today and may only tighten. Worst are 7x7 images (a third of a tile's runs end at one) and the
// k-steps of strided filters.
TEST(PixelLoads, agree_with_every_address_written_out) {
    const Tile tile{128, 64, 8};
    double mean_request = 0, mean_step = 0, mean_kept = 0;
    const std::vector<Case> cases = many_walks();
    for (const Case& c : cases) {
        const SectorCounts exact = enumerate_pixels(c.walk, tile, 4);
        const OperandAccess o = pixel_operand(c.walk, {}, tile, 1, 4);
        EXPECT_NEAR(o.elements / exact.elements, 1, 1e-12) << c.what;
        const double bytes = o.elements * 4;
        const double request = bytes * o.overfetch_request / (32 * exact.requests) - 1,
                     step = bytes * o.overfetch_step / (32 * exact.steps) - 1,
                     kept = bytes * o.overfetch_cta / (32 * exact.kept) - 1;
        EXPECT_LT(std::abs(request), 0.21) << c.what;
        EXPECT_LT(std::abs(step), 0.31) << c.what;
        EXPECT_LT(std::abs(kept), 0.25) << c.what;
        mean_request += std::abs(request) / static_cast<double>(cases.size());
        mean_step += std::abs(step) / static_cast<double>(cases.size());
        mean_kept += std::abs(kept) / static_cast<double>(cases.size());
    }
    RecordProperty("mean_error_of_requests", std::to_string(mean_request));
    EXPECT_LT(mean_request, 0.035);
    EXPECT_LT(mean_step, 0.07);
    EXPECT_LT(mean_kept, 0.07);
}

TEST(PixelLoads, of_layers_with_long_rows_agree_within_a_few_per_cent) {
    for (const Case& c : many_walks()) {
        if (c.walk.columns < 28 || c.walk.stride_h > 1 || c.walk.pad_w > 1) continue;
        const SectorCounts exact = enumerate_pixels(c.walk, {128, 64, 8}, 4);
        const OperandAccess o = pixel_operand(c.walk, {}, {128, 64, 8}, 1, 4);
        EXPECT_NEAR(o.elements * 4 * o.overfetch_request / (32 * exact.requests), 1, 0.025) << c.what;
        EXPECT_NEAR(o.elements * 4 * o.overfetch_step / (32 * exact.steps), 1, 0.055) << c.what;
        EXPECT_NEAR(o.elements * 4 * o.overfetch_cta / (32 * exact.kept), 1, 0.065) << c.what;
    }
}

TEST(Filters, stored_along_k_are_read_by_runs_of_their_k_step) {
    // 64 channels of 1x1: rows of 256 bytes, a request takes 8 floats of four filters: 4 whole sectors.
    const Layer layer = layer_of(square(8, 64, 32, 64, 1));
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    ASSERT_EQ(m.b.run(), 8);
    const Grid g = grid(*kernel_view(layer), m);
    const Geometry geometry_of = geometry(layer, *kernel_view(layer), m, g);
    EXPECT_DOUBLE_EQ(geometry_of.b.overfetch_request, 1);
    EXPECT_DOUBLE_EQ(geometry_of.b.elements, 64.0 * 64 * static_cast<double>(g.rows));
    EXPECT_EQ(geometry_of.b.unique, Bytes{64.0 * 64 * 4});
}

TEST(Filters, of_odd_length_begin_anywhere) {
    // 3 channels of 7x7: rows of 147 floats, so that 8 floats begin at any multiple of 4 bytes.
    const Layer layer = layer_of(square(8, 3, 112, 64, 7, 3, 2));
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    EXPECT_DOUBLE_EQ(geometry(layer, *kernel_view(layer), m, grid(*kernel_view(layer), m)).b.overfetch_request, 1.875);
}

TEST(StridedInputs, are_touched_with_the_columns_that_are_skipped_and_without_the_rows) {
    const Layer layer = layer_of(square(8, 64, 56, 128, 1, 0, 2));
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    const SlidingWindow w = forward_window(std::get<Convolution>(layer.op));
    const SectorCounts exact = enumerate_pixels(w, {128, 64, 8}, 4);
    const double unique = geometry(layer, *kernel_view(layer), m, grid(*kernel_view(layer), m)).a.unique.value();
    EXPECT_NEAR(unique / (32.0 * static_cast<double>(exact.touched.size())), 1, 0.02);
}

}  // namespace
}  // namespace gambrel
