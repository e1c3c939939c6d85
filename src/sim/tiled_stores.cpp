// What a CTA of a tiled kernel stores at its end, or at the end of a piece of a tile.
#include <algorithm>

#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr std::int32_t kWarpLanes = 32;

}  // namespace

void TiledStream::close(CtaState& state, std::vector<Access>& out) const {
    if (shares_tiles(state.cta)) {
        close_piece(state, out);
        return;
    }
    const Place at = place(state.cta);
    if (splits_ > 1 && sums_in_workspace(mapping_)) {
        assign_output(state, at);
        reduce(state, out);
    } else {
        store(state, at, out);
    }
}

void TiledStream::assign_output(CtaState& state, const Place& at) const {
    state.rows.assign(operands_.c.side, at.row * mapping_.cta.m, mapping_.cta.m);
    state.columns.assign(operands_.c.depth, at.column * mapping_.cta.n, mapping_.cta.n);
}

void TiledStream::store(CtaState& state, const Place& at, std::vector<Access>& out) const {
    // Of splits that add to memory the first adds the bias too.
    if (at.split == 0) load_bias(state, at, out);
    const bool in_order = mapping_.sums == SplitSums::in_order;
    if (mapping_.overwrites || (in_order && at.split > 0)) {
        assign_output(state, at);
        append_requests(operands_.c, state.batch, state.rows, state.columns, store_, Action::read, out);
    }
    if (!stored_.append(state.batch, at.row, at.column, out, [](auto) { return true; })) {
        assign_output(state, at);
        append_requests(operands_.c, state.batch, state.rows, state.columns, store_, store_action(), out);
    }
    for (const AddressedOperand& zeros : operands_.zeros) {
        // They may be a few pixels more than those that taps reach.
        const auto rest = [](const Index& index, std::int64_t tile, std::int64_t tiles, std::int64_t size) {
            return tile + 1 == tiles ? index.size() - tile * size : size;
        };
        const std::int64_t m = mapping_.cta.m, n = mapping_.cta.n;
        state.rows.assign(zeros.side, at.row * m, rest(zeros.side, at.row, rows_, m));
        state.columns.assign(zeros.depth, at.column * n, rest(zeros.depth, at.column, columns_, n));
        append_requests(zeros, state.batch, state.rows, state.columns, store_, Action::write, out);
    }
}

// The partial sums of one part of a tile lie where its output does, in one of several copies of that.
void TiledStream::move_partial(CtaState& state, std::int64_t part, Action action, std::vector<Access>& out) const {
    const std::int64_t copy = operands_.view.m * operands_.view.n * operands_.view.batch;
    const std::int64_t first = part * copy + state.batch * operands_.c.batch_offset;
    append_requests(workspace_, first, state.rows, state.columns, store_, action, out);
}

// Every split but the last leaves its partial sums; the last reads them all and writes the result.
void TiledStream::reduce(CtaState& state, std::vector<Access>& out) const {
    if (state.split + 1 < splits_) {
        move_partial(state, state.split, Action::write, out);
        return;
    }
    for (std::int64_t split = 0; split + 1 < splits_; ++split) move_partial(state, split, Action::read_step, out);
    load_bias(state, place(state.cta), out);
    append_requests(operands_.c, state.batch, state.rows, state.columns, store_, Action::write, out);
}

// Every warp loads the bias of its columns, a lane for each.
void TiledStream::load_bias(CtaState& state, const Place& at, std::vector<Access>& out) const {
    if (!operands_.bias) return;
    const bool turned = mapping_.transposed_view;
    const Tile &cta = mapping_.cta, &warp = mapping_.warp;
    const std::int64_t channels = turned ? cta.m : cta.n, first = (turned ? at.row : at.column) * channels;
    const std::int32_t other = turned ? cta.n : cta.m, of_warp = turned ? warp.n : warp.m;
    state.depth.assign(operands_.bias->side, first, channels);
    Stretch one;
    one.assign(operands_.bias->depth, 0, 1);
    for (std::int32_t w = 0; w < (of_warp > 0 ? std::max(1, other / of_warp) : 1); ++w)
        append_requests(*operands_.bias, state.batch, state.depth, one, {kWarpLanes, 1}, Action::read, out);
}

}  // namespace gambrel::sim_detail
