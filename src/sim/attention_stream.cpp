#include "sim/attention_stream.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr std::int64_t kJoinedRows = 8;  // of a CTA that adds up the parts of a split

}  // namespace

AttentionStream::AttentionStream(const Layer& layer, const Mapping& mapping)
    : attention_(std::get<Attention>(layer.op)),
      tile_(mapping.cta),
      packed_(std::max(1, mapping.packed_heads)),
      parts_(std::max(1, mapping.split_k)),
      group_(attention_.heads / attention_.kv_heads),
      rows_of_reader_(mapping.warp.m > 0 ? mapping.warp.m : mapping.cta.m),
      tensors_(attention_, layer, parts_),
      row_tiles_(ceil_div(attention_.q_len * packed_, tile_.m)),
      units_(attention_.batch * row_tiles_ + attention_.decode_batch) {
    main_ctas_ = units_ * (attention_.heads / packed_) * parts_;
    const std::int64_t queries = attention_.batch * attention_.q_len + attention_.decode_batch;
    joining_ctas_ = parts_ > 1 ? ceil_div(queries * attention_.heads, kJoinedRows) : 0;
}

// Rows run fastest, then sequences, then heads, as in the grids of flash attention. The parts of a split stand beside
// each other; they are made where all CTAs run at once, so that their order says nothing.
AttentionStream::Work AttentionStream::work_of(std::int64_t cta) const {
    Work w{};
    w.part = cta % parts_;
    const std::int64_t unit = cta / parts_ % units_, prompts = attention_.batch * row_tiles_;
    w.head = cta / parts_ / units_;
    const std::int64_t row_tile = unit < prompts ? unit % row_tiles_ : 0;
    w.sequence = unit < prompts ? unit / row_tiles_ : attention_.batch + unit - prompts;
    const SequencePlace place = sequence_of(attention_, w.sequence);
    w.first_row = row_tile * tile_.m;
    w.end_row = std::min(w.first_row + tile_.m, place.queries * packed_);
    Attention::Range keys{0, place.keys};
    if (w.sequence < attention_.batch) {
        const std::int64_t first = w.first_row / packed_;
        keys = attention_.keys_of(first, ceil_div(w.end_row, packed_) - first);
    }
    const std::int64_t first = keys.begin / tile_.n, end = ceil_div(keys.end, tile_.n);
    const std::int64_t length = ceil_div(end - first, parts_);
    w.first_tile = std::min(end, first + w.part * length);
    w.end_tile = std::min(end, w.first_tile + length);
    return w;
}

template <class F>
void AttentionStream::each_query(const Work& w, F f) const {
    const SequencePlace place = sequence_of(attention_, w.sequence);
    for (std::int64_t row = w.first_row; row < w.end_row;) {
        const std::int64_t head = row % packed_, count = std::min(packed_ - head, w.end_row - row);
        f(place.first_query + row / packed_, w.head * packed_ + head, count);
        row += count;
    }
}

std::int64_t AttentionStream::steps(std::int64_t cta) const {
    if (joins(cta)) return parts_;
    const Work w = work_of(cta);
    return w.end_tile > w.first_tile ? 1 + w.end_tile - w.first_tile : 0;
}

void AttentionStream::open(std::int64_t cta, CtaState& state) const { state.cta = cta; }

void AttentionStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    if (joins(state.cta)) {
        const std::int64_t queries = attention_.batch * attention_.q_len + attention_.decode_batch;
        const std::int64_t first = (state.cta - main_ctas_) * kJoinedRows,
                           count = std::min(kJoinedRows, queries * attention_.heads - first);
        tensors_.partial.append(step * queries, first, count, Action::read_step, out);
        return;
    }
    const Work w = work_of(state.cta);
    if (step == 0) {
        each_query(w, [&](std::int64_t position, std::int64_t head, std::int64_t count) {
            tensors_.q.append(position, head, count, Action::read_step, out);
        });
        return;
    }
    const SequencePlace place = sequence_of(attention_, w.sequence);
    const std::int64_t tile = w.end_tile - step, head = w.head * packed_ / group_;
    const std::int64_t first = tile * tile_.n, end = std::min(first + tile_.n, place.keys);
    for (const RowTensor* tensor : {&tensors_.k, &tensors_.v}) {
        if (tensor->empty()) continue;
        for (std::int64_t key = first; key < end; ++key)
            tensor->append(place.first_key + key, head, 1, Action::read_step, out);
    }
}

void AttentionStream::close(CtaState& state, std::vector<Access>& out) const {
    if (joins(state.cta)) {
        const std::int64_t queries = attention_.batch * attention_.q_len + attention_.decode_batch;
        const std::int64_t first = (state.cta - main_ctas_) * kJoinedRows,
                           count = std::min(kJoinedRows, queries * attention_.heads - first);
        tensors_.o.append(0, first, count, Action::write, out);
        return;
    }
    const Work w = work_of(state.cta);
    const std::int64_t queries = attention_.batch * attention_.q_len + attention_.decode_batch;
    each_query(w, [&](std::int64_t position, std::int64_t head, std::int64_t count) {
        if (parts_ > 1)
            tensors_.partial.append(w.part * queries + position, head, count, Action::write, out);
        else
            tensors_.o.append(position, head, count, Action::write, out);
    });
}

double AttentionStream::work(std::int64_t cta) const {
    const RowTensor &q = tensors_.q, &k = tensors_.k, &v = tensors_.v, &o = tensors_.o;
    if (joins(cta)) return real(kJoinedRows) * (real(parts_) * tensors_.partial.row + o.row);
    const Work w = work_of(cta);
    const double rows = real(w.end_row - w.first_row), keys = real(w.end_tile - w.first_tile) * tile_.n;
    return rows * (q.row + (parts_ > 1 ? tensors_.partial.row : o.row)) + keys * (k.row + v.row);
}

// Queries, keys and values are stored once. For each tile of keys the products read the queries once, and keys and
// values once for every group of rows that one instruction's warps hold.
double AttentionStream::shared_memory_bytes(std::int64_t cta) const {
    if (joins(cta)) return 0;
    const Work w = work_of(cta);
    const double rows = real(w.end_row - w.first_row) * tensors_.q.row;
    const double keys = real(tile_.n) * (tensors_.k.row + tensors_.v.row);
    const double readers = real(ceil_div(tile_.m, rows_of_reader_));
    return rows + real(w.end_tile - w.first_tile) * (keys * (1 + readers) + rows);
}

}  // namespace gambrel::sim_detail
