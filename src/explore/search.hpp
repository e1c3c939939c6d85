// A search in parts that anyone can do in any order, on any thread or rank, and the state that a killed search resumes
// from. Invariant: part i of a search is always the same, and merging results gives the same in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "explore/evaluator.hpp"

namespace gambrel {

struct Design {
    std::uint64_t index = 0;  // in the space
    double cost = 1, time = 0;
    bool operator==(const Design&) const = default;
};

// What is known after some of the work, and bounded in size whatever the space: merging is the same in any order.
struct SearchResult {
    std::uint64_t evaluated = 0, kept = 0;  // kept: within the limits
    std::optional<Design> best;             // fastest within the limits
    std::optional<Design> cheapest;         // that reaches the target within the limits
    std::vector<Design> bins;               // the fastest of each half per cent of cost, by rising cost
    void add(const Design& design, bool reaches_target);
    void merge(const SearchResult& other);
    [[nodiscard]] std::vector<Design> front() const;  // none is both more expensive and slower than another
};

// The search of one space. It refers to its evaluator, space and costs, which must outlive it.
class Exploration {
public:
    Exploration(const DesignEvaluator& evaluator, const Space& space, const CostTable& costs, SearchOptions options);
    [[nodiscard]] Search search() const { return search_; }
    [[nodiscard]] std::uint64_t parts() const { return parts_; }
    // Designs of the parts before `part`; nothing for a guided search, whose parts differ in size.
    [[nodiscard]] std::optional<std::uint64_t> designs_before(std::uint64_t part) const;
    struct Part {
        SearchResult result;
        std::vector<Design> designs;  // those within the limits, in order, if asked for
    };
    [[nodiscard]] bool within_limits(const Factors& factors, const Design& design) const;
    [[nodiscard]] bool reaches_target(const Design& design) const;
    Part run(std::uint64_t part, DesignEvaluator::Scratch& scratch, bool keep_designs) const;
    [[nodiscard]] double base_time() const { return base_time_; }
    [[nodiscard]] const DesignEvaluator& evaluator() const { return evaluator_; }
    [[nodiscard]] const Space& space() const { return space_; }
    [[nodiscard]] const CostTable& costs() const { return costs_; }
    [[nodiscard]] const SearchOptions& options() const { return options_; }
    // Equal for equal requests only: a checkpoint belongs to one request.
    [[nodiscard]] std::uint64_t fingerprint() const;

private:
    struct SearchPart;
    struct Objective;
    Part guided(std::uint64_t part, DesignEvaluator::Scratch& scratch, bool keep_designs) const;
    const DesignEvaluator& evaluator_;
    const Space& space_;
    const CostTable& costs_;
    SearchOptions options_;
    Search search_;
    std::uint64_t parts_ = 0;
    double base_time_ = 0;
};

// Runs the parts [first, last) on `threads` threads, 0 for all cores. `done` is called in the order of parts, from one
// thread at a time, and ends the run early by returning false.
using PartDone = std::function<bool(std::uint64_t part, const Exploration::Part&)>;
struct PartRange {
    std::uint64_t first = 0, last = 0;
};
void run_parts(const Exploration& exploration, PartRange range, int threads, bool keep_designs, const PartDone& done);

// The state that a search resumes from: parts before `next` are in the result, and their designs in the first `bytes`
// of a file. Also how ranks tell each other what they found. The text ends with a checksum.
struct Checkpoint {
    std::uint64_t fingerprint = 0, next = 0, bytes = 0;
    SearchResult result;
};
std::string to_text(const Checkpoint& checkpoint);
Result<Checkpoint> checkpoint_from(std::string_view text, const std::string& source);
// What such a search cannot have found: parts that it does not have, designs outside its space or with another time.
Errors faults(const Checkpoint& checkpoint, const Exploration& exploration, const std::string& source);

}  // namespace gambrel
