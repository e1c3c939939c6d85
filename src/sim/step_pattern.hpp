// The requests of a CTA for one operand, step by step. They are made for one period of steps only: a step that is a
// whole number of periods later asks for the same sectors of lines that lie further on. Invariant: gives what making
// every step would give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/operand.hpp"

namespace gambrel::sim_detail {

// After so many steps the same points of a picture come again, so many lines further on. No steps: they do not.
struct Period {
    std::int64_t steps = 0;
    std::uint64_t lines = 0;
};
// Of steps of `k` along an index of elements of this size.
Period period_of(const Index& index, const ElementSize& element, std::int64_t k);

// Where the requests of a step may be moved to.
enum class Movable : std::uint8_t { nowhere, where_fit, anywhere };

// Requests from `first` on to the end of a list. Those that stand as hits have no address and are put last, where they
// count as much.
class MovableRequests {
public:
    MovableRequests() = default;
    MovableRequests(std::vector<Access>& list, std::size_t first) : first_(first), count_(list.size() - first) {
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        const auto hits =
            std::stable_partition(begin, list.end(), [](Access access) { return access.action() != Action::hits; });
        moving_ = static_cast<std::size_t>(hits - begin);
    }
    // Of the same list, so many lines further on.
    void append(const std::vector<Access>& list, std::uint64_t lines, std::vector<Access>& out) const {
        const std::size_t end = out.size();
        out.insert(out.end(), list.data() + first_, list.data() + first_ + count_);
        if (lines != 0) Access::move({out.data() + end, moving_}, lines);
    }

private:
    std::size_t first_ = 0, count_ = 0, moving_ = 0;
};

class StepPattern {
public:
    void forget() { made_.clear(); }
    // make(out) appends the requests of `step` and returns where they may be moved to; fits(requests) says whether
    // those that are movable where_fit stay as they are. No period: make is called for every step.
    template <class Make, class Fits>
    void append(std::int64_t step, Period period, std::vector<Access>& out, Make make, Fits fits) {
        if (period.steps == 0) {
            make(out);
            return;
        }
        if (made_.empty()) {
            made_.resize(static_cast<std::size_t>(period.steps));
            accesses_.clear();
        }
        Made& made = made_[static_cast<std::size_t>(step % period.steps)];
        const std::size_t first = out.size();
        if (made.step >= 0) {
            const std::int64_t periods = (step - made.step) / period.steps;
            made.requests.append(accesses_, static_cast<std::uint64_t>(periods) * period.lines, out);
            if (made.where == Movable::anywhere || fits({out.data() + first, out.size() - first})) return;
            out.resize(first);
            make(out);
            return;
        }
        const Movable where = make(out);
        if (where == Movable::nowhere) return;
        const std::size_t begin = accesses_.size();
        accesses_.insert(accesses_.end(), out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
        made = {step, MovableRequests(accesses_, begin), where};
    }

private:
    struct Made {
        std::int64_t step = -1;
        MovableRequests requests;
        Movable where = Movable::nowhere;
    };

    std::vector<Made> made_;
    std::vector<Access> accesses_;
};

}  // namespace gambrel::sim_detail
