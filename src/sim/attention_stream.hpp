// The address stream of fused attention, forward: a CTA holds a tile of queries and walks along the tiles of keys and
// values that its rows see, from the last to the first. Loads go past L1 into shared memory. A split along the keys
// leaves partial outputs that a second kernel joins. docs/simulator.md, "Attention".
#pragma once

#include "sim/attention_tensors.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class AttentionStream final : public AddressStream {
public:
    AttentionStream(const Layer& layer, const Mapping& mapping);

    [[nodiscard]] std::int64_t ctas() const override { return main_ctas_ + joining_ctas_; }
    [[nodiscard]] std::int64_t kernels() const override { return joining_ctas_ > 0 ? 2 : 1; }
    [[nodiscard]] std::int64_t end_of(std::int64_t kernel) const override { return kernel == 0 ? main_ctas_ : ctas(); }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override;
    void open(std::int64_t cta, CtaState& state) const override;
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double work(std::int64_t cta) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t cta) const override;

private:
    // Of a CTA: `head` counts those that have CTAs of their own, each of packed_heads query heads; rows are (query,
    // packed head) with heads beside each other; tiles are of keys.
    struct Work {
        std::int64_t sequence, head, part;
        std::int64_t first_row, end_row, first_tile, end_tile;
    };
    [[nodiscard]] Work work_of(std::int64_t cta) const;
    // f(position, query head, rows beside each other) of every query of a CTA.
    template <class F>
    void each_query(const Work& work, F f) const;
    [[nodiscard]] bool joins(std::int64_t cta) const { return cta >= main_ctas_; }

    Attention attention_;
    Tile tile_;
    std::int64_t packed_, parts_, group_, rows_of_reader_;
    AttentionTensors tensors_;
    std::int64_t row_tiles_, units_;  // of a prompt and head; of all sequences and one head
    std::int64_t main_ctas_, joining_ctas_;
};

}  // namespace gambrel::sim_detail
