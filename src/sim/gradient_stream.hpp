// The address stream of a strided dgrad: the kernel's own stream for every class of input pixels that the same taps
// reach, all in one grid. Tiles of all classes are walked through column by column, as those of one GEMM are.
#pragma once

#include "sim/operands.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class GradientStream final : public AddressStream {
public:
    // Every part has `columns` times its rows of CTAs, rows fastest.
    GradientStream(std::vector<std::unique_ptr<AddressStream>> parts, std::int64_t columns);
    [[nodiscard]] std::int64_t ctas() const override { return rows_ * columns_; }
    [[nodiscard]] std::int64_t kernels() const override { return parts_.front()->kernels(); }
    [[nodiscard]] std::int64_t steps(std::int64_t cta) const override;
    void open(std::int64_t cta, CtaState& state) const override;
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double work(std::int64_t cta) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t cta) const override;

private:
    struct Place {
        std::size_t part;
        std::int64_t cta;  // of that part
    };
    [[nodiscard]] Place place(std::int64_t cta) const;

    std::vector<std::unique_ptr<AddressStream>> parts_;
    std::int64_t rows_ = 0, columns_;
};

std::unique_ptr<AddressStream> gradient_stream(std::vector<Operands> classes, const Mapping& mapping);

}  // namespace gambrel::sim_detail
