// A handful of accesses that are given to caches as they stand, so that their outcome can be counted by hand.
#pragma once

#include <utility>
#include <vector>

#include "sim/hierarchy.hpp"

namespace gambrel::sim_detail {

// CTA i makes access i, in as many steps as asked for.
class Script final : public AddressStream {
public:
    explicit Script(std::vector<Access> accesses, std::int64_t steps = 1, LineGroups groups = {})
        : accesses_(std::move(accesses)), steps_(steps), groups_(std::move(groups)) {}
    [[nodiscard]] std::int64_t ctas() const override { return static_cast<std::int64_t>(accesses_.size()); }
    [[nodiscard]] std::int64_t steps(std::int64_t) const override { return steps_; }
    void open(std::int64_t cta, CtaState& state) const override { state.cta = cta; }
    void step(CtaState& state, std::int64_t, std::vector<Access>& out) const override {
        out.push_back(accesses_[static_cast<std::size_t>(state.cta)]);
    }
    void close(CtaState&, std::vector<Access>&) const override {}
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }
    [[nodiscard]] const LineGroups& groups() const override { return groups_; }

private:
    std::vector<Access> accesses_;
    std::int64_t steps_;
    LineGroups groups_;
};

// After accesses in order, each by the SM beside it.
inline TensorCounts all_after(const std::vector<Access>& accesses, const std::vector<std::uint32_t>& sms,
                              CacheShape shape, bool flushed = false, LineGroups groups = {}) {
    const Script script(accesses, 1, std::move(groups));
    Hierarchy hierarchy(script, shape, 1, 1);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const Event event{static_cast<std::int64_t>(i), 0, sms[i], 0, true, false};
        hierarchy.run({&event, 1}, {});
    }
    if (flushed) hierarchy.flush();
    return hierarchy.counts();
}

}  // namespace gambrel::sim_detail
