#include "sim/attention_gradient.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace gambrel::sim_detail {

AttentionGradientStream::AttentionGradientStream(const Layer& layer, const Mapping& mapping)
    : attention_(std::get<Attention>(layer.op)),
      tile_(mapping.cta),
      group_(attention_.heads / attention_.kv_heads),
      query_tiles_(ceil_div(attention_.q_len, tile_.m)),
      key_tiles_(ceil_div(attention_.kv_len, tile_.n)),
      tensors_(attention_, layer, 1),
      seen_by_(static_cast<std::size_t>(key_tiles_), Attention::Range{query_tiles_, 0}) {
    const Attention& a = attention_;
    const std::int64_t by_queries = query_tiles_ * a.batch * a.heads, by_keys = key_tiles_ * a.batch;
    ends_[prepare] = by_queries;
    ends_[multiply] = ends_[prepare] + by_keys * a.heads;
    ends_[round] = ends_[multiply] + by_queries;
    ends_[add_heads] = ends_[round] + (group_ > 1 ? by_keys * a.kv_heads : 0);
    for (std::int64_t tile = 0; tile < query_tiles_; ++tile) {
        const std::int64_t first = tile * tile_.m;
        const Attention::Range keys = a.keys_of(first, std::min<std::int64_t>(tile_.m, a.q_len - first));
        for (std::int64_t seen = keys.begin / tile_.n; seen < ceil_div(keys.end, tile_.n); ++seen) {
            Attention::Range& range = seen_by_[static_cast<std::size_t>(seen)];
            range = {std::min(range.begin, tile), tile + 1};
        }
    }
}

AttentionGradientStream::Work AttentionGradientStream::work_of(std::int64_t cta) const {
    const auto kernel = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), cta) - ends_.begin());
    Work w{};
    w.kernel = static_cast<Kernel>(kernel);
    const bool keys = w.kernel == multiply || w.kernel == add_heads;
    const std::int64_t at = cta - (kernel > 0 ? ends_[kernel - 1] : 0), tiles = keys ? key_tiles_ : query_tiles_;
    w.tile = at % tiles;
    w.sequence = at / tiles % attention_.batch;
    w.head = at / tiles / attention_.batch;
    const std::int64_t size = keys ? tile_.n : tile_.m, length = keys ? attention_.kv_len : attention_.q_len;
    w.first = w.sequence * length + w.tile * size;
    w.end = w.sequence * length + std::min((w.tile + 1) * size, length);
    return w;
}

AttentionGradientStream::Work AttentionGradientStream::queries_of(const Work& keys, std::int64_t step) const {
    Work w = keys;
    w.tile = seen_by_[static_cast<std::size_t>(keys.tile)].begin + step;
    const std::int64_t begin = keys.sequence * attention_.q_len;
    w.first = begin + w.tile * tile_.m;
    w.end = begin + std::min((w.tile + 1) * tile_.m, attention_.q_len);
    return w;
}

void AttentionGradientStream::rows(const RowTensor& tensor, const Work& w, Action action, std::vector<Access>& out) {
    if (tensor.empty()) return;
    for (std::int64_t position = w.first; position < w.end; ++position) tensor.append(position, w.head, 1, action, out);
}

// One number for each row of a head.
void AttentionGradientStream::row_numbers(const RowTensor& tensor, const Work& w, Action action,
                                          std::vector<Access>& out) const {
    const std::int64_t begin = w.sequence * attention_.q_len;
    tensor.append(w.sequence * attention_.heads + w.head, w.first - begin, w.end - w.first, action, out);
}

std::int64_t AttentionGradientStream::steps(std::int64_t cta) const {
    const Work w = work_of(cta);
    if (w.kernel != multiply) return 1;
    const Attention::Range seen = seen_by_[static_cast<std::size_t>(w.tile)];
    return 1 + std::max<std::int64_t>(0, seen.end - seen.begin);
}

void AttentionGradientStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    Work w = work_of(state.cta);
    const AttentionTensors& t = tensors_;
    constexpr Action kRead = Action::read_step;
    if (w.kernel == prepare) {
        for (const RowTensor* tensor : {&t.o, &t.d_o}) rows(*tensor, w, kRead, out);
    } else if (w.kernel == round) {
        rows(t.dq_sums, w, kRead, out);
    } else if (w.kernel == add_heads) {
        for (const RowTensor* tensor : {&t.dk_of_heads, &t.dv_of_heads})
            for (std::int64_t position = w.first; position < w.end; ++position)
                tensor->append(position, w.head * group_, group_, kRead, out);
    } else if (step == 0) {
        w.head /= group_;
        for (const RowTensor* tensor : {&t.k, &t.v}) rows(*tensor, w, kRead, out);
    } else {
        const Work queries = queries_of(w, step - 1);
        for (const RowTensor* tensor : {&t.q, &t.d_o}) rows(*tensor, queries, kRead, out);
        for (const RowTensor* tensor : {&t.row_sums, &t.row_products}) row_numbers(*tensor, queries, kRead, out);
        rows(t.dq_sums, queries, Action::atomic, out);
    }
}

void AttentionGradientStream::close(CtaState& state, std::vector<Access>& out) const {
    const Work w = work_of(state.cta);
    const AttentionTensors& t = tensors_;
    if (w.kernel == prepare) {
        row_numbers(t.row_products, w, Action::write, out);
        rows(t.dq_sums, w, Action::write, out);
    } else if (w.kernel == round) {
        rows(t.dq, w, Action::write, out);
    } else {
        const bool apart = w.kernel == multiply && group_ > 1;
        rows(apart ? t.dk_of_heads : t.dk, w, Action::write, out);
        rows(apart ? t.dv_of_heads : t.dv, w, Action::write, out);
    }
}

// Keys and values are stored once, queries and gradients of outputs for each step. The five products of a step read K
// twice and V once, Q and dO twice, and the scores' P and dS, which are written there before. A lower bound: warps that
// hold few rows read an operand more than once.
double AttentionGradientStream::shared_memory_bytes(std::int64_t cta) const {
    const Work w = work_of(cta);
    if (w.kernel != multiply) return 0;
    const double k = tile_.n * tensors_.k.row, v = tile_.n * tensors_.v.row;
    const double queries = tile_.m * (tensors_.q.row + tensors_.d_o.row);
    const double scores = real(tile_.m) * tile_.n * tensors_.q.row / real(attention_.head_dim);
    return k + v + real(steps(cta) - 1) * (queries + 2 * k + v + 2 * queries + 4 * scores);
}

}  // namespace gambrel::sim_detail
