// What CTAs of a tiled kernel load and store, where it can be moved from another tile, step or GEMM of the batch.
#include <utility>

#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {

void TiledStream::fill_patterns(Loaded& loaded) const {
    CtaState state;
    state.end_k = operands_.view.k;
    TilePatterns patterns;
    patterns.fill(
        TilePatterns::shape_of(*loaded.operand, operands_.view.batch, loaded.size, mapping_.cta.k, loaded.users),
        [&](std::int64_t batch, std::int64_t tile, std::int64_t step, std::vector<Access>& out) {
            state.batch = batch;
            if (step == 0) open(loaded, tile, state);
            return make_step(loaded, state, step, out);
        });
    loaded.patterns = std::move(patterns);
}

// False: the step must be made.
bool TiledStream::append_moved_step(const Loaded& loaded, const CtaState& state, std::int64_t step,
                                    std::vector<Access>& out) const {
    const std::int64_t k = mapping_.cta.k;
    if (state.first_k % k != 0 || state.first_k + (step + 1) * k > state.end_k) return false;
    return loaded.patterns.append(state.batch, state.*loaded.tile, state.first_k / k + step, out,
                                  [&](std::span<const Access> moved) { return fit(moved, rules_.l1); });
}

void TiledStream::fill_stored() {
    CtaState state;
    TilePatterns stored;
    stored.fill(TilePatterns::shape_of(operands_.c, operands_.view.batch, mapping_.cta.m, mapping_.cta.n),
                [&](std::int64_t batch, std::int64_t row, std::int64_t column, std::vector<Access>& out) {
                    state.batch = batch;
                    assign_output(state, {row, column, batch, 0});
                    append_requests(operands_.c, batch, state.rows, state.columns, store_, store_action(), out);
                    return Movable::anywhere;
                });
    stored_ = std::move(stored);
}

}  // namespace gambrel::sim_detail
