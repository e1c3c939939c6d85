// A design to the time of a workload, fast: what no factor changes is prepared once and shared by all threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <gambrel/explore.hpp>
#include <gambrel/placement.hpp>

namespace gambrel {

// The numbers of a design, without a machine. SMs are whole.
ModelInputs scaled(ModelInputs hardware, const Factors& factors);
double scaled_sms(const ModelInputs& hardware, const Factors& factors);
Bytes scaled_l2(const ModelInputs& hardware, const Factors& factors);
// Of these numbers what a search varies most.
DesignRates scaled_rates(const ModelInputs& hardware, const Factors& factors);
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
    // Weighted time.
    double time(const Factors& factors, Scratch& scratch) const;
    // The same of many designs, to the last bit and much faster.
    void times(std::span<const Factors> designs, Scratch& scratch, std::span<double> times) const;
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
