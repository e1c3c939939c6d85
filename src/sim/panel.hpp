// What CTAs of one column ask of B at each step, made once: those of all its rows ask for the same. Invariant: as long
// as it is not empty it has all of B. It knows no tile; whose requests these are is the caller's business.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

class Panel {
public:
    // Beyond this they no longer stay in the host's caches, and to make them costs less than to fetch them.
    static constexpr std::size_t kMost = std::size_t{1} << 20U;

    [[nodiscard]] bool empty() const { return ends_.empty(); }
    [[nodiscard]] std::span<const Access> of(std::int64_t i) const {
        const auto at = static_cast<std::size_t>(i);
        const std::size_t first = at == 0 ? 0 : ends_[at - 1];
        return {accesses_.data() + first, ends_[at] - first};
    }
    // make(i, out) appends the requests of i in [0, count).
    template <class F>
    void fill(std::int64_t count, F make) {
        for (std::int64_t i = 0; i < count; ++i) {
            make(i, accesses_);
            ends_.push_back(accesses_.size());
            if (accesses_.size() <= kMost) continue;
            *this = {};
            return;
        }
    }

private:
    std::vector<Access> accesses_;
    std::vector<std::size_t> ends_;
};

}  // namespace gambrel::sim_detail
