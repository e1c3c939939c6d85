#include "sim/tiled_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr std::int32_t kWarp = 32;

RequestShape request_shape(const WarpLoad& load) {
    const std::int32_t lanes = std::clamp(load.lanes, 1, kWarp), vector = std::max(1, load.vector);
    return load.k_major ? RequestShape{lanes, kWarp / lanes * vector} : RequestShape{lanes * vector, kWarp / lanes};
}

// Stores run along what is contiguous: 128 bytes an instruction, or 32 elements in runs as short as the mapping says.
RequestShape store_shape(const AddressedOperand& c, std::int32_t store_run) {
    const bool whole = store_run >= kWarp;
    const std::int32_t run =
        whole ? static_cast<std::int32_t>(128 * kSixteenths / c.element.data) : std::max(1, store_run);
    const std::int32_t runs = whole ? 1 : kWarp / run;
    return c.side_is_inner() ? RequestShape{run, runs} : RequestShape{runs, run};
}

constexpr std::int64_t kPartialSum = 4 * kSixteenths;  // partial sums are FP32 even of FP16 kernels

// Partial sums are stored as the output is, one copy after the other.
AddressedOperand workspace_of(const Operands& o) {
    AddressedOperand w = o.c;
    w.tensor = Tensor::workspace;
    w.element = {std::max(kPartialSum, o.c.element.data)};
    w.batch_offset = 1;  // the caller counts elements: copies of the output, and GEMMs in a copy
    return w;
}

}  // namespace

TiledStream::TiledStream(Operands operands, const Mapping& mapping, const OnGpu& gpu)
    : operands_(std::move(operands)), mapping_(mapping), steps_(0) {
    if (mapping.transposed_view) {
        // The mapping's loads are those of the layer's own A and B.
        std::swap(operands_.a, operands_.b);
        std::swap(mapping_.a, mapping_.b);
        std::swap(operands_.view.m, operands_.view.n);
        std::swap(operands_.c.side, operands_.c.depth);
        for (AddressedOperand& zeros : operands_.zeros) std::swap(zeros.side, zeros.depth);
    }
    const GemmView& view = operands_.view;
    // Grids are whole clusters; the CTAs that stand outside of the matrix have nothing to do.
    rows_ = ceil_div(ceil_div(view.m, mapping.cta.m), mapping.ctas_together().rows) * mapping.ctas_together().rows;
    columns_ =
        ceil_div(ceil_div(view.n, mapping.cta.n), mapping.ctas_together().columns) * mapping.ctas_together().columns;
    splits_ = std::max(1, mapping.split_k);
    // Splits that would have no k are not launched.
    while (splits_ > 1 && depth_of(splits_ - 1).first >= view.k) --splits_;
    workspace_ = workspace_of(operands_);
    if (splits_ > 1 && !sums_in_workspace(mapping)) operands_.c.element = workspace_.element;
    store_ = store_shape(operands_.c, mapping.store_run);
    for (std::int64_t split = 0; split < splits_; ++split) {
        const Range range = depth_of(split);
        steps_ = std::max(steps_, ceil_div(range.end - range.first, mapping.cta.k));
    }
    rules_ = {operands_.a.tensor != operands_.b.tensor, gpu.l1};
    const auto parts = [](std::int32_t size, std::int32_t ctas) { return size % ctas == 0 ? ctas : 1; };
    const std::int32_t of_a = parts(mapping.cta.m, mapping.ctas_together().columns);
    const std::int32_t of_b = parts(mapping.cta.n, mapping.ctas_together().rows);
    a_ = {.operand = &operands_.a,
          .side = &CtaState::rows,
          .pattern = &CtaState::pattern_a,
          .in_panel = &CtaState::panel_a,
          .tile = &CtaState::tile_a,
          .tiles = rows_ * of_a,
          .users = columns_ / of_a,
          .size = mapping.cta.m / of_a,
          .parts = of_a};
    b_ = {.operand = &operands_.b,
          .side = &CtaState::columns,
          .pattern = &CtaState::pattern_b,
          .in_panel = &CtaState::panel_b,
          .tile = &CtaState::tile_b,
          .tiles = columns_ * of_b,
          .users = rows_ / of_b,
          .size = mapping.cta.n / of_b,
          .parts = of_b};
    whole_ = rows_ * columns_ * view.batch * splits_;
    if (mapping.stream_k && splits_ == 1 && !mapping.groups_in_turn) share_last_wave(gpu.resident);
    prepare(a_, mapping_.a, gpu);
    prepare(b_, mapping_.b, gpu);
    // Large products have more lines than groups may have. The larger ones save more look-ups.
    const bool b_first = gpu.groups && first_requests(b_) > first_requests(a_);
    fill_panel(b_first ? b_ : a_, gpu);
    fill_panel(b_first ? a_ : b_, gpu);
    groups_.end_adding(!rules_.apart || a_.panel.asks_alone(groups_) || b_.panel.asks_alone(groups_));
    fill_stored();
}

void TiledStream::prepare(Loaded& loaded, const WarpLoad& load, const OnGpu& gpu) {
    loaded.shape = request_shape(load);
    loaded.shape.repeats = gpu.repeats();
    loaded.action = load_action(load);
    const AddressedOperand& operand = *loaded.operand;
    loaded.period = period_of(operand.depth, operand.element, mapping_.cta.k);
    fill_patterns(loaded);
    if (2 * loaded.period.steps > steps_) loaded.period = {};
}

std::size_t TiledStream::first_requests(const Loaded& loaded) const {
    CtaState state;
    state.end_k = depth_of(0).end;
    open(loaded, 0, state);
    std::vector<Access> out;
    append_step(loaded, state, 0, out);
    return out.size();
}

void TiledStream::fill_panel(Loaded& loaded, const OnGpu& gpu) {
    constexpr std::int64_t kWorthIt = 4;  // users
    const std::int64_t panels = operands_.view.batch * loaded.tiles * splits_ * steps_;
    if (loaded.users < kWorthIt || panels > static_cast<std::int64_t>(Panel::kMost)) return;
    CtaState state;
    Panel panel;
    panel.fill(panels, gpu.groups ? &groups_ : nullptr, [&](std::int64_t i, std::vector<Access>& out) {
        const std::int64_t step = i % steps_;
        if (step == 0) {
            const std::int64_t split = i / steps_ % splits_, tile = i / steps_ / splits_ % loaded.tiles;
            const Range range = depth_of(split);
            state.first_k = range.first;
            state.end_k = range.end;
            state.batch = i / steps_ / splits_ / loaded.tiles;
            open(loaded, tile, state);
        }
        if (state.first_k + step * mapping_.cta.k < state.end_k) append_step(loaded, state, step, out);
    });
    loaded.panel = std::move(panel);
}

// Of the batch and split that the state has.
void TiledStream::open(const Loaded& loaded, std::int64_t tile, CtaState& state) const {
    if (!loaded.panel.empty()) {
        state.*loaded.in_panel = ((state.batch * loaded.tiles + tile) * splits_ + state.split) * steps_;
        return;
    }
    state.*loaded.tile = tile;
    (state.*loaded.side).points.clear();  // assigned if a step must be made
    (state.*loaded.pattern).forget();
}

void TiledStream::append_step(const Loaded& loaded, CtaState& state, std::int64_t step,
                              std::vector<Access>& out) const {
    const std::size_t first = out.size();
    if (!loaded.panel.empty()) {
        const std::span<const Access> made = loaded.panel.of(state.*loaded.in_panel + step);
        out.insert(out.end(), made.begin(), made.end());
        return;
    }
    if (append_moved_step(loaded, state, step, out)) {
        if (loaded.parts > 1) add_received(loaded, first, out);
        return;
    }
    const bool whole = state.first_k + (step + 1) * mapping_.cta.k <= state.end_k;
    const auto make = [&](std::vector<Access>& to) { return make_step(loaded, state, step, to); };
    const auto fits = [&](std::span<const Access> moved) { return fit(moved, rules_.l1); };
    (state.*loaded.pattern).append(step, whole ? loaded.period : Period{}, out, make, fits);
    if (loaded.parts > 1) add_received(loaded, first, out);
}

// What the other CTAs of its cluster send stands as hits: it does not come from L2. Each sends as much as it loads, and
// that is as much as this one does.
void TiledStream::add_received(const Loaded& loaded, std::size_t first, std::vector<Access>& out) const {
    std::uint64_t sectors = 0;
    for (std::size_t i = first; i < out.size(); ++i)
        sectors += out[i].action() == Action::hits ? out[i].hits() : out[i].count();
    if (sectors > 0)
        out.push_back(Access::hits(loaded.operand->tensor, sectors * static_cast<std::uint64_t>(loaded.parts - 1)));
}

Movable TiledStream::make_step(const Loaded& loaded, CtaState& state, std::int64_t step,
                               std::vector<Access>& out) const {
    thread_local StepMerger merger;
    const std::int64_t first = state.first_k + step * mapping_.cta.k;
    const std::size_t begin = out.size();
    Stretch& side = state.*loaded.side;
    if (side.points.empty()) side.assign(loaded.operand->side, state.*loaded.tile * loaded.size, loaded.size);
    state.depth.assign(loaded.operand->depth, first, std::min<std::int64_t>(mapping_.cta.k, state.end_k - first));
    append_requests(*loaded.operand, state.batch, side, state.depth, loaded.shape, loaded.action, out);
    return merger.merge(out, begin, rules_);
}

TiledStream::Place TiledStream::place(std::int64_t cta) const {
    const std::int64_t tiles = rows_ * columns_;
    if (mapping_.splits_first) {
        // Exchanges the roles: the splits of a tile run fastest, then tiles, then GEMMs.
        const std::int64_t split = cta % splits_, rest = cta / splits_;
        Place at = tile_of(rest % tiles);
        at.batch = rest / tiles;
        at.split = split;
        return at;
    }
    const std::int64_t slice = cta / tiles;
    Place at = tile_of(cta % tiles);
    const bool in_turn = mapping_.groups_in_turn;
    at.batch = in_turn ? slice / splits_ : slice % operands_.view.batch;
    at.split = in_turn ? slice % splits_ : slice / operands_.view.batch;
    return at;
}

// CTAs of a cluster are neighbours, its rows first; clusters are walked through as tiles are without them.
TiledStream::Place TiledStream::tile_of(std::int64_t tile) const {
    const auto [height, breadth] = mapping_.ctas_together();
    const std::int64_t cluster = tile / (height * breadth), member = tile % (height * breadth);
    const std::int64_t rows = rows_ / height, columns = columns_ / breadth;
    const bool down = mapping_.order == CtaOrder::rows_first;
    // `along` is walked to its end for every band of `across`.
    const std::int64_t along = down ? rows : columns, across = down ? columns : rows;
    const std::int64_t band = std::clamp<std::int64_t>(mapping_.band, 1, across);
    const std::int64_t which = cluster / (along * band), first = which * band;
    const std::int64_t width = std::min(band, across - first), rest = cluster - which * along * band;
    const std::int64_t i = rest / width, j = first + rest % width;
    return {(down ? i : j) * height + member % height, (down ? j : i) * breadth + member / height, 0, 0};
}

TiledStream::Range TiledStream::depth_of(std::int64_t split) const {
    const std::int64_t k = operands_.view.k, images = operands_.images;
    const std::int64_t all = std::max(1, mapping_.split_k);
    if (mapping_.split_chunk > 0) {
        // Chunks end at images: none holds pixels of two.
        const std::int64_t pixels = k / images, length = std::min(pixels, mapping_.split_chunk);
        const std::int64_t chunks = ceil_div(pixels, length);
        const std::int64_t image = split / chunks, first = split % chunks * length;
        return {std::min(k, image * pixels + first), std::min(k, image * pixels + std::min(first + length, pixels))};
    }
    const std::int64_t grain = mapping_.split_grain > 0 ? mapping_.split_grain : mapping_.cta.k;
    const std::int64_t length = ceil_div(ceil_div(k, grain), all) * grain;
    return {std::min(k, split * length), std::min(k, (split + 1) * length)};
}

std::int64_t TiledStream::steps(std::int64_t cta) const {
    if (shares_tiles(cta)) return steps_of(pieces_of_[static_cast<std::size_t>(cta - whole_)]);
    const Range range = depth_of(place(cta).split);
    return ceil_div(range.end - range.first, mapping_.cta.k);
}

void TiledStream::open(std::int64_t cta, CtaState& state) const {
    state.cta = cta;
    if (shares_tiles(cta)) {
        state.piece = pieces_of_[static_cast<std::size_t>(cta - whole_)].first;
        state.piece_first = 0;
        open_piece(state);
        return;
    }
    const Place at = place(cta);
    const Range range = depth_of(at.split);
    state.batch = at.batch;
    state.split = at.split;
    state.first_k = range.first;
    state.end_k = range.end;
    open(a_, at.row * a_.parts + at.column % a_.parts, state);
    open(b_, at.column * b_.parts + at.row % b_.parts, state);
}

void TiledStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    if (shares_tiles(state.cta)) {
        if (!go_to_step(state, step, out)) return;
        step += pieces_[state.piece].first - state.piece_first;
    }
    append_step(a_, state, step, out);
    append_step(b_, state, step, out);
}

double TiledStream::work(std::int64_t cta) const {
    const auto* const piece =
        shares_tiles(cta) ? &pieces_[pieces_of_[static_cast<std::size_t>(cta - whole_)].first] : nullptr;
    const Place at = piece ? place_of(*piece) : place(cta);
    const Range range = piece ? Range{0, steps(cta) * mapping_.cta.k} : depth_of(at.split);
    const auto part = [](std::int64_t size, std::int64_t tile, std::int64_t length) {
        return static_cast<double>(std::max<std::int64_t>(0, std::min(length, size - tile * length)));
    };
    const double m = part(operands_.view.m, at.row, mapping_.cta.m),
                 n = part(operands_.view.n, at.column, mapping_.cta.n);
    return (m + n) * static_cast<double>(range.end - range.first) + m * n;
}

double TiledStream::shared_memory_bytes(std::int64_t cta) const {
    const Tile& tile = mapping_.cta;
    const Tile& warp = mapping_.warp;
    if (mapping_.family == KernelFamily::streaming) return 0;
    const double element = real(operands_.a.element.all()) / kSixteenths, k = tile.k;
    const double stored = (tile.m + tile.n) * k * element;
    const double warps = static_cast<double>(mapping_.threads) / kWarp;
    const double loaded = warps * (warp.m + warp.n) * (warp.k > 0 ? warp.k : k) * element;
    return static_cast<double>(steps(cta)) * (stored + loaded);
}

}  // namespace gambrel::sim_detail
