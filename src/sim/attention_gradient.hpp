// The address stream of fused attention, backward, as flash attention has it. Four kernels: one finds the product of O
// and dO of each row and clears the sums of dQ; the main one, whose CTAs each hold a tile of keys and values and walk
// along the queries that see it, adding to dQ in memory; one rounds dQ; and, where query heads share keys, one adds up
// the gradients of keys. docs/simulator.md, "Attention".
#pragma once

#include <array>

#include "sim/attention_tensors.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class AttentionGradientStream final : public AddressStream {
public:
    AttentionGradientStream(const Layer& layer, const Mapping& mapping);

    [[nodiscard]] std::int64_t ctas() const override { return ends_.back(); }
    [[nodiscard]] std::int64_t kernels() const override { return kKernels; }
    [[nodiscard]] std::int64_t end_of(std::int64_t kernel) const override {
        return ends_[static_cast<std::size_t>(kernel)];
    }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override;
    void open(std::int64_t cta, CtaState& state) const override { state.cta = cta; }
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t cta) const override;

private:
    enum Kernel : std::uint8_t { prepare, multiply, round, add_heads };
    static constexpr std::int64_t kKernels = 4;
    // `tile` is one of queries, but of keys in `multiply` and `add_heads`; first and end are positions of its rows.
    struct Work {
        Kernel kernel;
        std::int64_t tile, sequence, head, first, end;
    };
    [[nodiscard]] Work work_of(std::int64_t cta) const;
    static void rows(const RowTensor& tensor, const Work& work, Action action, std::vector<Access>& out);
    void row_numbers(const RowTensor& tensor, const Work& queries, Action action, std::vector<Access>& out) const;
    [[nodiscard]] Work queries_of(const Work& keys, std::int64_t step) const;

    Attention attention_;
    Tile tile_;
    std::int64_t group_, query_tiles_, key_tiles_;
    AttentionTensors tensors_;
    std::array<std::int64_t, kKernels> ends_{};  // of the CTAs of each kernel
    std::vector<Attention::Range> seen_by_;      // tiles of queries that see each tile of keys
};

}  // namespace gambrel::sim_detail
