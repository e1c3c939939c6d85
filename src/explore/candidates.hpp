// The ways to run each layer that a design chooses from, for one number of SMs: everything that no other factor changes
// is computed here, once. Which of them fits and is fastest is the evaluator's question.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "explore/evaluator.hpp"

namespace gambrel::explore_detail {

// What of a candidate's work bounds its time from below, over all CTAs.
struct LeastWork {
    Pipe pipe = Pipe::fp32;
    // Whether its time can never be below least_time. Layers without tiles have no such bound. Products on the matrix
    // units of newer GPUs count the k that there is, not whole tiles of it, and a short one runs above the clock.
    bool bounds = false;
    // What keeps an SM busy: multiplications in FLOP of its pipe, issue slots, bytes of shared memory.
    Flops multiplied;
    double issued = 0;
    Bytes shared, l1;
    // That work as one SM would do it, each kind at its peak.
    [[nodiscard]] Cycles busy(const ModelInputs& h) const {
        const FlopPerCycle rate = std::max(FlopPerCycle{1}, h.flop_per_cycle[pipe]);
        return std::max(std::max(multiplied / rate, Cycles{issued / h.schedulers}), shared / h.shared_width);
    }
    // No model of it can be faster: all of one kind of work at its peak, shared out evenly.
    [[nodiscard]] double least_time(const ModelInputs& h, Cycles busy) const {
        return (std::max(busy, l1 / h.l1_width) / (h.sms * h.clock)).value();
    }
    static constexpr double kRounding = 1 - 1e-9;  // a bound must hold to the last bit
};

struct Candidate {
    PreparedLayer layer;
    LeastWork least;
};

// By mapping alone: what a CTA takes of an SM.
struct Footprint {
    std::int32_t threads = 0, registers = 0;
    double shared_memory = 0;
    bool operator==(const Footprint&) const = default;
};

struct Choice {
    const Candidate* candidate = nullptr;
    std::size_t footprint = 0, number = 0;  // number: among all choices of all layers
    LeastWork least;                        // the candidate's, beside what else most choices are judged by
};
struct Prepared {
    std::size_t count = 0;                     // of choices
    std::vector<Mapping> footprints;           // one mapping of each
    std::vector<std::vector<Choice>> choices;  // by layer
};

// Thread-safe; what it returns lives as long as it does.
class CandidatePool {
public:
    CandidatePool(const Machine& machine, const ModelInputs& hardware, const Workload& workload, Tiles tiles);
    const Prepared& prepared(int sms);

private:
    std::unique_ptr<Prepared> prepare(int sms);
    const Candidate* candidate(std::size_t layer, const Mapping& mapping);
    const Machine& machine_;
    const ModelInputs& hardware_;
    const Workload& workload_;
    Tiles tiles_;
    std::mutex mutex_;
    std::map<int, std::unique_ptr<Prepared>> prepared_;
    std::vector<std::deque<Candidate>> pool_;  // by layer: SM counts that map it alike share a candidate
};

}  // namespace gambrel::explore_detail
