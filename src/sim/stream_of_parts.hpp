// A stream that is made of others: each of its CTAs is one of a part. What follows which is up to those that derive.
#pragma once

#include <utility>

#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class StreamOfParts : public AddressStream {
public:
    using Parts = std::vector<std::unique_ptr<AddressStream>>;

    [[nodiscard]] std::int64_t steps(std::int64_t cta) const final {
        const Place at = place(cta);
        return parts_[at.part]->steps(at.cta);
    }
    void open(std::int64_t cta, CtaState& state) const final {
        const Place at = place(cta);
        state.part = at.part;
        parts_[at.part]->open(at.cta, state);
    }
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const final {
        parts_[state.part]->step(state, step, out);
    }
    void close(CtaState& state, std::vector<Access>& out) const final { parts_[state.part]->close(state, out); }
    [[nodiscard]] double work(std::int64_t cta) const final {
        const Place at = place(cta);
        return parts_[at.part]->work(at.cta);
    }
    [[nodiscard]] double shared_memory_bytes(std::int64_t cta) const final {
        const Place at = place(cta);
        return parts_[at.part]->shared_memory_bytes(at.cta);
    }

protected:
    struct Place {
        std::size_t part;
        std::int64_t cta;  // of that part
    };
    StreamOfParts() = default;
    explicit StreamOfParts(Parts parts) : parts_(std::move(parts)) {}
    [[nodiscard]] virtual Place place(std::int64_t cta) const = 0;
    [[nodiscard]] const Parts& parts() const { return parts_; }
    void add(std::unique_ptr<AddressStream> part) { parts_.push_back(std::move(part)); }

private:
    Parts parts_;
};

}  // namespace gambrel::sim_detail
