// A search in parts that anyone can do in any order, on any thread or rank, and the state that a killed search resumes from.
// Invariant: part i of a search is always the same, and merging results gives the same in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <gambrel/explore.hpp>

namespace gambrel {

// What is known after some of the work, and bounded in size whatever the space: merging is the same in any order.
struct SearchResult {
    std::uint64_t evaluated = 0, kept = 0;  // kept: within the limits
    std::optional<Design> best;             // fastest within the limits
    std::optional<Design> cheapest;         // that reaches the target within the limits
    std::vector<Design> bins;               // by cost: the fastest of each half per cent
    void add(const Design& design, bool reaches_target);
    void merge(const SearchResult& other);
    [[nodiscard]] std::vector<Design> front() const;  // none is both dearer and slower than another
};

// Work in parts that anyone can do in any order. Part i of a search is always the same.
class Exploration {
public:
    Exploration(const DesignEvaluator& evaluator, const Space& space, const CostTable& costs, SearchOptions options);
    [[nodiscard]] Search search() const { return search_; }
    [[nodiscard]] std::uint64_t parts() const { return parts_; }
    [[nodiscard]] std::uint64_t designs() const;  // that will be evaluated; of a guided search at most
    struct Part {
        SearchResult result;
        std::vector<Design> designs;  // those within the limits, in order, if asked for
    };
    Part run(std::uint64_t part, DesignEvaluator::Scratch& scratch, bool keep_designs) const;
    [[nodiscard]] double base_time() const { return base_time_; }
    [[nodiscard]] const DesignEvaluator& evaluator() const { return evaluator_; }
    [[nodiscard]] const Space& space() const { return space_; }
    [[nodiscard]] const CostTable& costs() const { return costs_; }
    [[nodiscard]] const SearchOptions& options() const { return options_; }
    // The same for the same question and no other: what a file to resume from must have been written for.
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

// Parts first to last - 1 in all cores of this process (threads 0), or so many; `done` is called in the order of parts,
// from one thread at a time, and ends the run early by returning false.
using PartDone = std::function<bool(std::uint64_t part, const Exploration::Part&)>;
struct PartRange {
    std::uint64_t first = 0, last = 0;
};
void run_parts(const Exploration& exploration, PartRange range, int threads, bool keep_designs, const PartDone& done);

// A search that can go on where it stopped: parts before `next` are in the result, and their designs in the first
// `bytes` of a file. Also how ranks tell each other what they found.
struct Checkpoint {
    std::uint64_t fingerprint = 0, next = 0, bytes = 0;
    SearchResult result;
};
std::string to_text(const Checkpoint& checkpoint);
Result<Checkpoint> checkpoint_from(std::string_view text, const std::string& source);

// Of a search: the start, the fastest within the limits, the cheapest that reaches the target.
ExplorationReport exploration_report(const Exploration& exploration, const SearchResult& found);

}  // namespace gambrel
