// The ways to run each layer that a design chooses from, for one number of SMs: everything that no other factor changes
// is computed here, once. Which of them fits and is fastest is the evaluator's question.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <gambrel/placement.hpp>

#include "explore/evaluator.hpp"

namespace gambrel::explore_detail {

struct Candidate {
    PreparedLayer layer;
    LeastWork least;  // were it done by one SM; none where nothing is known before it is placed
};

// By mapping alone: what a CTA takes of an SM, and what it multiplies with.
struct Footprint {
    std::int32_t threads = 0, registers = 0;
    double shared_memory = 0;
    Pipe pipe = Pipe::fp32;
    bool operator==(const Footprint&) const = default;
};

struct Choice {
    const Candidate* candidate = nullptr;
    std::size_t footprint = 0, number = 0;  // number: among the choices of all layers with this footprint
    LeastWork least;                        // however it is placed: the candidate's, shared out evenly
};
struct Prepared {
    std::vector<Mapping> footprints;           // one mapping of each
    std::vector<std::size_t> sharing;          // by footprint: the choices that have it
    std::vector<std::vector<Choice>> choices;  // by layer
};

// Thread-safe; what it returns lives as long as it does.
class CandidatePool {
public:
    CandidatePool(const Machine& machine, const ModelInputs& hardware, const Workload& workload, Tiles tiles);
    const Prepared& prepared(int sms);

private:
    std::unique_ptr<Prepared> prepare(int sms);
    [[nodiscard]] std::vector<Mapping> mappings_of(const Layer& layer, const Machine& start,
                                                   const Machine& roomy) const;
    // `run`: the layer of that number by one of its algorithms.
    const Candidate* candidate(std::size_t layer, const Layer& run, const Mapping& mapping);
    const Machine& machine_;
    const ModelInputs& hardware_;
    const Workload& workload_;
    Tiles tiles_;
    std::mutex mutex_;
    std::map<int, std::unique_ptr<Prepared>> prepared_;
    std::vector<std::deque<Candidate>> pool_;  // by layer: SM counts that map it alike share a candidate
};

}  // namespace gambrel::explore_detail
