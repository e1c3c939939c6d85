// A design to the time of a workload, fast: what no factor changes is prepared once and shared by all threads.
#pragma once

#include <memory>
#include <vector>

#include <gambrel/explore.hpp>

namespace gambrel {

// The numbers of a design, without a machine. SMs are whole.
ModelInputs scaled(ModelInputs hardware, const Factors& factors);
// What mapping asks of a machine, as the design has it: SMs, registers, shared memory. All else is the start's.
Machine with_room(Machine machine, const Factors& factors);

// Fills itself in as it meets designs with another number of SMs; safe to use from several threads, each with its own
// Scratch.
class DesignEvaluator {
public:
    class Scratch {
    public:
        ~Scratch();
        Scratch(Scratch&&) noexcept;

    private:
        friend class DesignEvaluator;
        struct State;
        explicit Scratch(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };
    DesignEvaluator(const Machine& machine, const ModelInputs& hardware, Workload workload,
                    Tiles tiles = Tiles::fastest);
    ~DesignEvaluator();
    DesignEvaluator(DesignEvaluator&&) noexcept;

    [[nodiscard]] Scratch scratch() const;
    // Weighted time, nothing allocated.
    double time(const Factors& factors, Scratch& scratch) const;
    [[nodiscard]] WorkloadTime evaluate(const Factors& factors) const;
    [[nodiscard]] const Workload& workload() const;
    [[nodiscard]] const Machine& machine() const;
    [[nodiscard]] const ModelInputs& hardware() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

std::vector<Sensitivity> sensitivities(const DesignEvaluator& evaluator, const Factors& at = {});
ResourceMap resource_map(const DesignEvaluator& evaluator, const Axis& x, const Axis& y, const Factors& around = {});

}  // namespace gambrel
