// Streams joined to one: kernels that follow each other, each with the CTAs of one or more streams in one grid.
#pragma once

#include "sim/stream_of_parts.hpp"

namespace gambrel::sim_detail {

class JoinedStream final : public StreamOfParts {
public:
    using Grid = Parts;  // the CTAs of each after those of the one before it
    explicit JoinedStream(std::vector<Grid> kernels);

    [[nodiscard]] std::int64_t ctas() const override { return ends_.empty() ? 0 : ends_.back(); }
    [[nodiscard]] std::int64_t kernels() const override { return static_cast<std::int64_t>(kernel_ends_.size()); }
    [[nodiscard]] std::int64_t end_of(std::int64_t kernel) const override;

private:
    [[nodiscard]] Place place(std::int64_t cta) const override;

    std::vector<std::int64_t> ends_;         // CTAs up to the end of each part
    std::vector<std::int64_t> kernel_ends_;  // ... and of each kernel
};

}  // namespace gambrel::sim_detail
