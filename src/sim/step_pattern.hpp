// The requests of a CTA for one operand, step by step. They are made for one period of steps only: a step that is a
// whole number of periods later asks for the same sectors of lines that lie further on. Invariant: gives what making
// every step would give.
#pragma once

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
            move({accesses_.data() + made.first, made.count}, static_cast<std::uint64_t>(periods) * period.lines, out);
            if (made.where == Movable::anywhere || fits({out.data() + first, out.size() - first})) return;
            out.resize(first);
            make(out);
            return;
        }
        const Movable where = make(out);
        if (where == Movable::nowhere) return;
        made = {step, accesses_.size(), out.size() - first, where};
        accesses_.insert(accesses_.end(), out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
    }

private:
    struct Made {
        std::int64_t step = -1;
        std::size_t first = 0, count = 0;
        Movable where = Movable::nowhere;
    };
    static void move(std::span<const Access> accesses, std::uint64_t lines, std::vector<Access>& out) {
        const std::size_t first = out.size();
        out.insert(out.end(), accesses.begin(), accesses.end());
        for (std::size_t i = first; i < out.size(); ++i) out[i].move(lines);
    }

    std::vector<Made> made_;
    std::vector<Access> accesses_;
};

}  // namespace gambrel::sim_detail
