#include "sim/attention_tensors.hpp"

#include <algorithm>
#include <cmath>

#include "base/arithmetic.hpp"
#include "sim/store_request.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr double kSum = 4;  // bytes of an FP32

// Puts tensors into the region of one Tensor.
class Region {
public:
    explicit Region(Tensor tensor) : next_(base_address(tensor)) {}
    RowTensor rows(std::int64_t positions, std::int64_t heads, double bytes) {
        const RowTensor made{next_, bytes, heads};
        const double size = real(positions) * real(heads) * bytes;
        next_ += ((static_cast<std::uint64_t>(std::ceil(size)) >> kLineShift) + 1) << kLineShift;
        return made;
    }

private:
    std::uint64_t next_;
};

}  // namespace

void RowTensor::append(std::int64_t position, std::int64_t head, std::int64_t count, Action action,
                       std::vector<Access>& out) const {
    const double first_row = real(position) * real(heads) + real(head);
    const std::uint64_t first = address + static_cast<std::uint64_t>(first_row * row);
    const std::uint64_t end = address + static_cast<std::uint64_t>(std::ceil((first_row + real(count)) * row));
    if (action == Action::write) {
        StoreRequest store(out);
        store.add_bytes(first, end - 1);
        store.finish();
        return;
    }
    const std::uint64_t last_sector = (end - 1) >> kSectorShift;
    for (std::uint64_t sector = first >> kSectorShift; sector <= last_sector;) {
        const std::uint64_t line = sector / kSectorsPerLine;
        const auto low = static_cast<unsigned>(sector % kSectorsPerLine);
        const auto high =
            static_cast<unsigned>(std::min<std::uint64_t>(last_sector - line * kSectorsPerLine, kSectorsPerLine - 1));
        out.emplace_back(line, (2U << high) - (1U << low), action);
        sector = (line + 1) * kSectorsPerLine;
    }
}

SequencePlace sequence_of(const Attention& a, std::int64_t sequence) {
    if (sequence < a.batch) return {sequence * a.q_len, a.q_len, sequence * a.kv_len, a.kv_len};
    const std::int64_t beside = sequence - a.batch;
    return {a.batch * a.q_len + beside, 1, a.batch * a.kv_len + beside * a.decode_kv_len, a.decode_kv_len};
}

AttentionTensors::AttentionTensors(const Attention& a, const Layer& layer, std::int64_t parts) {
    const double size = element_size(layer.precision).value(),
                 cached = element_size(a.kv_precision.value_or(layer.precision)).value();
    const double dk_elements = real(a.head_dim), dv_elements = real(a.head_dim_v);
    const std::int64_t queries = a.batch * a.q_len + a.decode_batch,
                       keys = a.batch * a.kv_len + a.decode_batch * a.decode_kv_len;
    Region input(Tensor::input), filter(Tensor::filter), output(Tensor::output), workspace(Tensor::workspace);
    q = input.rows(queries, a.heads, dk_elements * size);
    k = filter.rows(keys, a.kv_heads, dk_elements * cached);
    v = filter.rows(keys, a.kv_heads, a.latent ? 0 : dv_elements * cached);
    o = output.rows(queries, a.heads, dv_elements * size);
    if (layer.pass == Pass::fwd) {
        if (parts > 1) partial = workspace.rows(parts * queries, a.heads, dv_elements * kSum);
        return;
    }
    dq = input.rows(queries, a.heads, dk_elements * size);
    dk = filter.rows(keys, a.kv_heads, dk_elements * size);
    dv = filter.rows(keys, a.kv_heads, dv_elements * size);
    d_o = output.rows(queries, a.heads, dv_elements * size);
    // Position and head are exchanged: the numbers of the rows of one head lie beside each other.
    row_sums = output.rows(a.batch * a.heads, a.q_len, kSum);
    row_products = workspace.rows(a.batch * a.heads, a.q_len, kSum);
    dq_sums = workspace.rows(queries, a.heads, dk_elements * kSum);
    dk_of_heads = workspace.rows(keys, a.heads, dk_elements * size);
    dv_of_heads = workspace.rows(keys, a.heads, dv_elements * size);
}

}  // namespace gambrel::sim_detail
