// What an exploration answers, as plain data that every report is a view of: designs side by side with what bounds
// them, sensitivities, the front of time against cost, a map of two resources; and how far scaling answers are to be
// trusted. It computes; it formats nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <gambrel/explore.hpp>

namespace gambrel {

struct DesignAnswer {
    std::string name, what;  // "start", "fastest", "option 3"
    Factors factors;
    double cost = 1, speedup = 1;
    Answer answer;
};

struct Conclusions {
    std::string title, machine;
    Machine base;
    Hardware hardware;
    Workload workload;
    std::string search;  // "grid of 5,760 designs"; empty if none was made
    std::uint64_t space = 0, evaluated = 0, kept = 0;
    std::optional<double> target;
    std::vector<DesignAnswer> designs;  // the start first
    std::vector<Sensitivity> sensitivities;
    std::vector<DesignAnswer> front;  // without layers
    std::optional<ResourceMap> map;
};

DesignAnswer design_answer(const Evaluator& evaluator, const CostTable& costs, std::string name, std::string what,
                           const Factors& factors, double base_time);
// Of designs that were thought of.
Conclusions conclusions(const Evaluator& evaluator, const CostTable& costs, std::span<const Option> options);
// Of a search: the start, the fastest within the limits, the cheapest that reaches the target.
Conclusions conclusions(const Exploration& exploration, const Findings& findings);
// The two resources that `map` names, else the two that matter most to the start.
void add_map(Conclusions& conclusions, const Evaluator& evaluator, const Space& space,
             std::span<const Resource> resources);

// Rows that were measured on two GPUs: how many times as fast the second was, and what is predicted of a design that is
// the first with factors to the second's numbers of resources.
struct RatioRow {
    std::string gpu, layer, op;
    double measured = 1;
    double predicted = 1;      // by the kernels that each GPU ran, and the second's host and pairing of instructions
    double factors_alone = 1;  // with the first's
    double by_rule = 1;        // as predicted, by the kernels of the first GPU alone
    double as_itself = 1;      // by the model of the second GPU's own machine
};
struct RatioProof {
    std::string from;
    std::vector<RatioRow> rows;
    std::size_t short_rows = 0;  // left out: host time would be compared, not GPUs
};
// The factors that lead from one machine's resources to another's.
Factors factors_between(const Machine& from, const Hardware& a, const Machine& to, const Hardware& b);
Result<RatioProof> ratio_proof(const LayerTable& table, const std::string& from, double min_time);

}  // namespace gambrel
