// The address stream of a strided dgrad: the kernel's own stream for every class of input pixels that the same taps
// reach, all in one grid. Tiles of all classes are walked through column by column, as those of one GEMM are.
#pragma once

#include "sim/operands.hpp"
#include "sim/stream_of_parts.hpp"

namespace gambrel::sim_detail {

class GradientStream final : public StreamOfParts {
public:
    // Every part has `columns` times its rows of CTAs, rows fastest.
    GradientStream(Parts parts, std::int64_t columns);
    [[nodiscard]] std::int64_t ctas() const override { return rows_ * columns_; }
    [[nodiscard]] std::int64_t kernels() const override { return parts().front()->kernels(); }

private:
    [[nodiscard]] Place place(std::int64_t cta) const override;

    std::int64_t rows_ = 0, columns_;
};

std::unique_ptr<AddressStream> gradient_stream(std::vector<Operands> classes, const Mapping& mapping, const OnGpu& gpu);

}  // namespace gambrel::sim_detail
