// Do the parts of a split and the groups of a convolution lie where their kernels have them?
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "sim/operands.hpp"
#include "sim/sample.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {
namespace {

TEST(Stream, parts_of_a_split_add_up_by_atomics_unless_there_is_a_workspace) {
    Mapping mapping = tile(32, 8, 8);
    mapping.split_k = 2;
    const auto actions = [&] {
        const auto stream = make_stream(layer({.n = 1, .c = 8, .h = 4, .w = 8, .k = 32}, Pass::wgrad), mapping);
        std::vector<Access> out;
        CtaState state;
        stream->open(0, state);
        stream->close(state, out);
        return std::pair{out.front().action(), static_cast<Tensor>(tensor_of(out.front().line()))};
    };
    EXPECT_EQ(actions(), std::pair(Action::atomic, Tensor::filter));
    mapping.sums = SplitSums::workspace;
    EXPECT_EQ(actions(), std::pair(Action::write, Tensor::workspace));
    mapping.split_k = 1;
    EXPECT_EQ(actions(), std::pair(Action::write, Tensor::filter));
}

TEST(Stream, chunks_of_a_split_end_at_images) {
    // Three images of ten pixels in chunks of at most four.
    const Layer wgrad = layer({.n = 3, .c = 4, .h = 2, .w = 5, .k = 8}, Pass::wgrad);
    Mapping m = tile(32, 8, 8);
    m.split_chunk = 4;
    m.split_k = 9;
    const auto stream = make_stream(wgrad, m);
    ASSERT_EQ(stream->ctas(), 9);
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (std::int64_t cta = 0; cta < 9; ++cta) {
        CtaState state;
        stream->open(cta, state);
        found.emplace_back(state.first_k, state.end_k);
    }
    std::sort(found.begin(), found.end());
    const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{0, 4},   {4, 8},   {8, 10},  {10, 14}, {14, 18},
                                                                      {18, 20}, {20, 24}, {24, 28}, {28, 30}};
    EXPECT_EQ(found, expected);
}

TEST(Stream, splits_of_a_tile_are_neighbours_where_the_mapping_says_so) {
    Mapping mapping = tile(32, 8, 8);
    mapping.split_k = 3;
    const Layer l = layer({.n = 1, .c = 16, .h = 8, .w = 16, .k = 64}, Pass::wgrad);
    const auto places = [&](bool splits_first) {
        mapping.splits_first = splits_first;
        const TiledStream stream(operands(std::get<Convolution>(l.op), l.pass, l.precision, l.layout), mapping);
        std::vector<std::array<std::int64_t, 3>> all;
        for (const std::int64_t cta : {0, 1, 2, 3, 4}) {
            const TiledStream::Place at = stream.place(cta);
            all.push_back({at.row, at.column, at.split});
        }
        return all;
    };
    using Places = std::vector<std::array<std::int64_t, 3>>;
    EXPECT_EQ(places(true), (Places{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}, {1, 0, 1}}));
    EXPECT_EQ(places(false), (Places{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}}));
}

TEST(Stream, groups_in_turn_are_kernels_of_their_own) {
    Mapping mapping = tile(32, 8, 8);
    mapping.groups_in_turn = true;
    mapping.split_k = 2;
    const Convolution v{.n = 2, .c = 32, .h = 8, .w = 8, .k = 32, .groups = 4};
    const TiledStream stream(operands(v, Pass::wgrad, Precision::fp32, Layout::nchw), mapping);
    ASSERT_EQ(stream.kernels(), 4);
    const std::int64_t each = stream.ctas() / stream.kernels();
    for (std::int64_t cta = 0; cta < stream.ctas(); ++cta) EXPECT_EQ(stream.place(cta).batch, cta / each);
    mapping.groups_in_turn = false;
    const TiledStream together(operands(v, Pass::wgrad, Precision::fp32, Layout::nchw), mapping);
    EXPECT_EQ(together.kernels(), 1);
    EXPECT_EQ(together.ctas(), stream.ctas());
}

}  // namespace
}  // namespace gambrel::sim_detail
