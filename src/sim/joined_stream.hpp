// Streams joined to one: kernels that follow each other, each with the CTAs of one or more streams in one grid.
#pragma once

#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class JoinedStream final : public AddressStream {
public:
    using Grid = std::vector<std::unique_ptr<AddressStream>>;  // the CTAs of each after those of the one before it
    explicit JoinedStream(std::vector<Grid> kernels);

    [[nodiscard]] std::int64_t ctas() const override { return ends_.empty() ? 0 : ends_.back(); }
    [[nodiscard]] std::int64_t kernels() const override { return static_cast<std::int64_t>(kernel_ends_.size()); }
    [[nodiscard]] std::int64_t end_of(std::int64_t kernel) const override;
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
    std::vector<std::int64_t> ends_;         // CTAs up to the end of each part
    std::vector<std::int64_t> kernel_ends_;  // ... and of each kernel
};

}  // namespace gambrel::sim_detail
