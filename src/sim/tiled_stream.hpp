// The address stream of a tiled GEMM: which tile a CTA has (order, band, batch, split of k), what it loads at each
// k-step and what it stores at its end.
#pragma once

#include "sim/operands.hpp"
#include "sim/panel.hpp"
#include "sim/stream.hpp"
#include "sim/tile_patterns.hpp"

namespace gambrel::sim_detail {

inline bool sums_in_workspace(const Mapping& mapping) {
    return mapping.sums == SplitSums::workspace || mapping.sums == SplitSums::partial;
}

class TiledStream final : public AddressStream {
public:
    TiledStream(Operands operands, const Mapping& mapping, const OnGpu& gpu = {});

    struct Place {
        std::int64_t row, column, batch, split;
    };
    [[nodiscard]] Place place(std::int64_t cta) const;
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t columns() const { return columns_; }

    [[nodiscard]] std::int64_t ctas() const override { return whole_ + static_cast<std::int64_t>(pieces_of_.size()); }
    [[nodiscard]] std::int64_t kernels() const override { return mapping_.groups_in_turn ? operands_.view.batch : 1; }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override;
    void open(std::int64_t cta, CtaState& state) const override;
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double work(std::int64_t cta) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t cta) const override;
    [[nodiscard]] const LineGroups& groups() const override { return groups_; }

private:
    struct Range {
        std::int64_t first, end;
    };
    [[nodiscard]] Place tile_of(std::int64_t tile) const;
    [[nodiscard]] Range depth_of(std::int64_t split) const;
    // An operand as CTAs ask for it: the tiles along its side, the CTAs that share each of them, and where a running
    // CTA keeps what it needs for it.
    struct Loaded {
        const AddressedOperand* operand = nullptr;
        Stretch CtaState::*side = nullptr;
        StepPattern CtaState::*pattern = nullptr;
        std::int64_t CtaState::*in_panel = nullptr;
        std::int64_t CtaState::*tile = nullptr;
        std::int64_t tiles = 0, users = 0;
        std::int32_t size = 0;   // of a tile
        std::int64_t parts = 1;  // of a tile that CTAs of a cluster have in common: they are tiles by themselves here
        RequestShape shape = {};
        Action action = Action::read;
        Period period = {};
        TilePatterns patterns = {};
        Panel panel = {};
    };
    void fill_patterns(Loaded& loaded) const;
    void fill_stored();
    void prepare(Loaded& loaded, const WarpLoad& load, const OnGpu& gpu);
    [[nodiscard]] std::size_t first_requests(const Loaded& loaded) const;
    void fill_panel(Loaded& loaded, const OnGpu& gpu);
    void open(const Loaded& loaded, std::int64_t tile, CtaState& state) const;
    bool append_moved_step(const Loaded& loaded, const CtaState& state, std::int64_t step,
                           std::vector<Access>& out) const;
    void append_step(const Loaded& loaded, CtaState& state, std::int64_t step, std::vector<Access>& out) const;
    void add_received(const Loaded& loaded, std::size_t first, std::vector<Access>& out) const;
    Movable make_step(const Loaded& loaded, CtaState& state, std::int64_t step, std::vector<Access>& out) const;
    // Stream-K: the tiles of the last wave fall into pieces along k, and each CTA of it takes as many steps of them.
    struct Piece {
        std::int64_t tile, first, end;  // steps of the tile
        std::int64_t part;              // of the tile: the first one adds up the others
    };
    struct Pieces {
        std::size_t first, end;
    };
    void share_last_wave(std::int64_t resident);
    [[nodiscard]] bool shares_tiles(std::int64_t cta) const { return cta >= whole_; }
    [[nodiscard]] Place place_of(const Piece& piece) const;
    [[nodiscard]] std::int64_t steps_of(const Pieces& pieces) const;
    // False: the CTA has no piece left and waits for others.
    bool go_to_step(CtaState& state, std::int64_t step, std::vector<Access>& out) const;
    void open_piece(CtaState& state) const;
    void close_piece(CtaState& state, std::vector<Access>& out) const;
    [[nodiscard]] Action store_action() const {
        return splits_ > 1 && mapping_.sums != SplitSums::in_order ? Action::atomic : Action::write;
    }
    void assign_output(CtaState& state, const Place& at) const;
    void store(CtaState& state, const Place& at, std::vector<Access>& out) const;
    void reduce(CtaState& state, std::vector<Access>& out) const;
    void move_partial(CtaState& state, std::int64_t part, Action action, std::vector<Access>& out) const;
    void load_bias(CtaState& state, const Place& at, std::vector<Access>& out) const;

    Operands operands_;  // a is of the tile's rows and b of its columns: swapped where the mapping looks transposed
    Mapping mapping_;
    AddressedOperand workspace_;
    std::int64_t rows_, columns_, splits_, steps_;  // steps: of a CTA, at most
    std::int64_t whole_ = 0;                        // CTAs that have a tile or a split to themselves
    std::vector<Piece> pieces_;
    std::vector<Pieces> pieces_of_;  // the CTAs after those
    StepMerger::Rules rules_;
    LineGroups groups_;
    Loaded a_, b_;
    TilePatterns stored_;  // rows are tiles, columns are steps
    RequestShape store_;
};

}  // namespace gambrel::sim_detail
