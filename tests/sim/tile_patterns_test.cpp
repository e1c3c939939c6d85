// Are requests that were made for one tile and moved to another the ones that the other makes?
#include <gtest/gtest.h>

#include "sim/operands.hpp"
#include "sim/sample.hpp"
#include "sim/tile_patterns.hpp"

namespace gambrel::sim_detail {
namespace {

// A shape of tiles and how an operand of it is asked for.
struct Tiled {
    const AddressedOperand& operand;
    std::int64_t batch, tile, step;
    Action action = Action::read;
    [[nodiscard]] std::vector<Access> made(std::int64_t b, std::int64_t t, std::int64_t s) const {
        Stretch side, depth;
        side.assign(operand.side, t * tile, tile);
        depth.assign(operand.depth, s * step, step);
        std::vector<Access> out;
        append_requests(operand, b, side, depth, {32, 1}, action, out);
        return out;
    }
};

// How many tiles were made; all whole ones come out as they would be made, those that are cut short are refused.
std::int64_t made_for(const Tiled& tiled) {
    std::int64_t made = 0;
    TilePatterns patterns;
    const TilePatterns::Shape shape = TilePatterns::shape_of(tiled.operand, tiled.batch, tiled.tile, tiled.step);
    patterns.fill(shape, [&](std::int64_t b, std::int64_t t, std::int64_t s, std::vector<Access>& out) {
        const std::vector<Access> requests = tiled.made(b, t, s);
        out.insert(out.end(), requests.begin(), requests.end());
        ++made;
        return Movable::anywhere;
    });
    if (patterns.empty()) return 0;
    for (std::int64_t b = 0; b < tiled.batch; ++b)
        for (std::int64_t t = 0; t < shape.tiles.count(); ++t)
            for (std::int64_t s = 0; s < shape.steps.count(); ++s) {
                std::vector<Access> moved;
                const bool whole = (t + 1) * tiled.tile <= tiled.operand.side.size() &&
                                   (s + 1) * tiled.step <= tiled.operand.depth.size();
                EXPECT_EQ(patterns.append(b, t, s, moved, [](auto) { return true; }), whole);
                if (!whole) continue;
                EXPECT_EQ(moved, tiled.made(b, t, s)) << "of " << b << ", tile " << t << ", step " << s;
            }
    return made;
}

TEST(TilePatterns, make_the_tiles_of_as_many_images_as_end_with_a_tile_and_move_them) {
    // Planes of 8 x 8 floats are two lines. Tiles of 128 pixels are two images, steps of 8 are 8 of 9 taps: nine steps
    // of one tile are made.
    const Operands o = operands(three_by_three(8, 16, 8, 8, 64), Pass::fwd, Precision::fp32, Layout::nchw, 8);
    EXPECT_EQ(made_for({o.a, 1, 128, 8}), 9);
    // Two tiles of 96 pixels are three images.
    EXPECT_EQ(made_for({o.a, 1, 96, 8}), 2 * 9);
}

TEST(TilePatterns, move_only_by_whole_lines) {
    // Planes of 7 x 7 floats: images of 16 channels are 24.5 lines, two of them 49. Tiles of 49 pixels are an image.
    const Operands o = operands(three_by_three(8, 16, 7, 7, 64), Pass::fwd, Precision::fp32, Layout::nchw, 8);
    // Steps come again after 36, of which there are 18: two tiles of all steps.
    EXPECT_EQ(made_for({o.a, 1, 49, 8}), 2 * 18);
}

TEST(TilePatterns, hold_for_both_layouts_all_passes_groups_and_stores) {
    Convolution grouped = three_by_three(4, 32, 12, 12, 32);
    grouped.groups = 8;
    for (const Layout layout : {Layout::nchw, Layout::nhwc})
        for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
            const Operands o = operands(grouped, pass, Precision::fp16, layout, 8);
            for (const AddressedOperand* operand : {&o.a, &o.b}) made_for({*operand, 8, 32, 8});
            // Of a wgrad, the filters are few.
            EXPECT_EQ(made_for({o.c, 8, 36, 4, Action::write}) > 0, pass != Pass::wgrad);
        }
}

TEST(TilePatterns, stay_empty_where_hardly_anything_comes_again) {
    // One image: its rows have other borders than the next ones.
    const Operands o = operands(three_by_three(1, 2, 16, 16, 8), Pass::fwd, Precision::fp32, Layout::nchw, 8);
    EXPECT_EQ(made_for({o.a, 1, 64, 8}), 0);
}

TEST(TilePatterns, are_made_again_where_they_would_not_fit) {
    const Operands o = operands(three_by_three(8, 16, 8, 8, 64), Pass::fwd, Precision::fp32, Layout::nchw, 8);
    const Tiled tiled{o.a, 1, 128, 8};
    TilePatterns patterns;
    patterns.fill(TilePatterns::shape_of(o.a, 1, 128, 8),
                  [&](std::int64_t b, std::int64_t t, std::int64_t s, std::vector<Access>& out) {
                      out = tiled.made(b, t, s);
                      return s == 0 ? Movable::where_fit : Movable::nowhere;
                  });
    std::vector<Access> out;
    EXPECT_TRUE(patterns.append(0, 0, 0, out, [](auto) { return false; }));  // where it was made
    EXPECT_FALSE(patterns.append(0, 0, 1, out, [](auto) { return true; }));
    out.clear();
    EXPECT_FALSE(patterns.append(0, 1, 0, out, [](auto) { return false; }));
    EXPECT_TRUE(out.empty());
    EXPECT_TRUE(patterns.append(0, 1, 0, out, [](auto) { return true; }));
}

}  // namespace
}  // namespace gambrel::sim_detail
