// Stream-K: the CTAs of the last, incomplete wave share out the k of its tiles evenly, so that none idles. A CTA takes
// pieces of tiles one after the other. Of a tile that several CTAs share the one that has its first piece, which comes
// last to it, adds up what the others have left in a workspace (Osama et al., Stream-K, arXiv 2301.03598).
#include <algorithm>

#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {

void TiledStream::share_last_wave(std::int64_t resident) {
    const std::int64_t tiles = whole_;
    const std::int64_t rest = resident > 0 ? tiles % resident : 0, all = rest * steps_;
    if (all == 0) return;
    whole_ = tiles - rest;
    const std::int64_t ctas = std::min(resident, all);
    std::int64_t part = 0;
    for (std::int64_t cta = 0; cta < ctas; ++cta) {
        const std::size_t first = pieces_.size();
        for (std::int64_t at = all * cta / ctas, end = all * (cta + 1) / ctas; at < end;) {
            const std::int64_t tile = at / steps_, stop = std::min(end, (tile + 1) * steps_);
            part = at % steps_ == 0 ? 0 : part + 1;
            pieces_.push_back({whole_ + tile, at % steps_, stop - tile * steps_, part});
            at = stop;
        }
        pieces_of_.push_back({first, pieces_.size()});
    }
}

// One that has to add up what others leave waits for them: all CTAs have as many steps, so that they end together.
std::int64_t TiledStream::steps_of(const Pieces& pieces) const {
    std::int64_t steps = 0;
    for (std::size_t i = pieces.first; i < pieces.end; ++i) steps += pieces_[i].end - pieces_[i].first;
    const bool waits = pieces.end < pieces_.size() && pieces_[pieces.end].tile == pieces_[pieces.end - 1].tile &&
                       pieces_[pieces.end - 1].part == 0;
    return steps + (waits ? 1 : 0);
}

bool TiledStream::go_to_step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    const std::size_t end = pieces_of_[static_cast<std::size_t>(state.cta - whole_)].end;
    for (;;) {
        const std::int64_t length = pieces_[state.piece].end - pieces_[state.piece].first;
        if (step - state.piece_first < length) return true;
        if (state.piece + 1 == end) return false;
        close_piece(state, out);
        state.piece_first += length;
        ++state.piece;
        open_piece(state);
    }
}

TiledStream::Place TiledStream::place_of(const Piece& piece) const {
    Place at = tile_of(piece.tile % (rows_ * columns_));
    at.batch = piece.tile / (rows_ * columns_);
    return at;
}

void TiledStream::open_piece(CtaState& state) const {
    const Place at = place_of(pieces_[state.piece]);
    state.batch = at.batch;
    state.split = 0;
    state.first_k = 0;
    state.end_k = operands_.view.k;
    open(a_, at.row * a_.parts + at.column % a_.parts, state);
    open(b_, at.column * b_.parts + at.row % b_.parts, state);
}

void TiledStream::close_piece(CtaState& state, std::vector<Access>& out) const {
    const Piece& piece = pieces_[state.piece];
    const Place at = place_of(piece);
    assign_output(state, at);
    if (piece.part > 0) {
        move_partial(state, piece.part - 1, Action::write, out);
        return;
    }
    for (std::size_t i = state.piece + 1; i < pieces_.size() && pieces_[i].tile == piece.tile; ++i)
        move_partial(state, pieces_[i].part - 1, Action::read_step, out);
    store(state, at, out);
}

}  // namespace gambrel::sim_detail
