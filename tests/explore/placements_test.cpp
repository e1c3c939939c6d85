// Is a design's time the same, to the last bit, whatever was evaluated before it and whatever was left out as hopeless?
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include <gambrel/explore.hpp>

#include "explore/candidates.hpp"
#include "explore/toy.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::test;

struct Question {
    const char *gpu, *network;
    bool convolutions;
    Precision precision = Precision::fp32;
    bool fastest_algorithm = false;
};
Workload asked_of(const Question& question) {
    Workload work;
    Network network = *builtin_network(question.network, {16, 128});
    if (question.fastest_algorithm) take_fastest_algorithms(network.layers);
    work.add(with_precision(network, question.precision), 1, question.convolutions);
    return work;
}
class Placements : public testing::TestWithParam<Question> {
protected:
    const Machine& gpu_ = *find_in_catalogue(GetParam().gpu);
    const ModelInputs inputs_ = *model_inputs(gpu_);
    const Workload work_ = asked_of(GetParam());
    const DesignEvaluator evaluator_{gpu_, inputs_, work_};
    // More numbers of SMs than placements are kept of.
    const Space space_ = *parse_space(
        "l2.capacity=0.5:8:0.05,sms=0.5:2:0.125,macs=1:4,l1.bandwidth=1:4,l2.bandwidth=1:4,dram.bandwidth=1:4,"
        "registers=0.5:4,shared=0.5:4,clock=0.8:1.5",
        gpu_, inputs_);
    // Products on matrix units come closest here to what all their tiles would take at their peak.
    [[nodiscard]] static Factors dense() {
        Factors f;
        f[Resource::macs] = f[Resource::l2_bandwidth] = 4;
        f[Resource::l2_capacity] = 8;
        f[Resource::dram_bandwidth] = 2;
        f[Resource::registers] = 1.25;
        f[Resource::clock] = 0.8;
        return f;
    }
    [[nodiscard]] Factors design(std::uint64_t i) const { return space_.at(i * 1'000'003 % space_.size()); }
};

TEST_P(Placements, a_time_does_not_depend_on_the_designs_before) {
    auto used = evaluator_.scratch();
    for (std::uint64_t i = 0; i < 150; ++i) {
        Factors f = design(i);
        // Long runs with one number of SMs, as a grid has them, and changes between.
        if (i % 30 >= 10) f[Resource::sms] = 1;
        ASSERT_EQ(evaluator_.time(f, used), time_of(evaluator_, f)) << i;
    }
}

TEST_P(Placements, a_time_does_not_depend_on_the_designs_beside_it) {
    auto used = evaluator_.scratch();
    std::vector<Factors> designs;
    // A part of a random search, and one along the last axes as a grid has it; too many for one batch.
    for (std::uint64_t i = 0; i < 300; ++i) designs.push_back(design(i));
    for (std::uint64_t i = 0; i < 300; ++i) designs.push_back(space_.at(space_.size() / 2 + i));
    std::vector<double> times(designs.size());
    evaluator_.times(designs, used, times);
    for (std::size_t i = 0; i < designs.size(); i += i < 300 ? 7 : 23)
        ASSERT_EQ(times[i], time_of(evaluator_, designs[i])) << i;
}

TEST_P(Placements, what_was_forgotten_is_computed_again) {
    auto used = evaluator_.scratch();
    // More capacities than placements are kept of, twice in the same order, so that each is forgotten in between.
    for (int i = 0; i < 600; ++i) {
        const Factors f = only(Resource::l2_capacity, 0.25 + (i % 300) * 0.01);
        const double again = evaluator_.time(f, used);
        if (i >= 300 && i % 20 == 0) {
            ASSERT_EQ(again, time_of(evaluator_, f)) << i;
        }
    }
}

TEST_P(Placements, no_tile_that_was_left_out_is_faster) {
    explore_detail::CandidatePool pool(gpu_, inputs_, work_, Tiles::fastest);
    auto used = evaluator_.scratch();
    for (std::uint64_t i = 0; i < 30; ++i) {
        Factors f = i == 0 ? dense() : design(i);
        f[Resource::shared] = 1;  // a design's own carve-out is the evaluator's to bound
        const ModelInputs h = scaled(inputs_, f);
        SmLimits limits = sm_limits(gpu_);
        limits.registers *= f[Resource::registers];
        const auto& prepared = pool.prepared(static_cast<int>(h.sms));
        double total = 0;
        for (std::size_t l = 0; l < work_.items.size(); ++l) {
            double best = std::numeric_limits<double>::infinity();
            for (const auto& choice : prepared.choices[l]) {
                const Occupancy o = occupancy(limits, choice.candidate->layer.mapping);
                if (o.ctas_per_sm > 0) best = std::min(best, predict(choice.candidate->layer, o, h).time.value());
            }
            total += work_.items[l].weight * best;
        }
        ASSERT_EQ(evaluator_.time(f, used), total) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Placements,
                         testing::Values(Question{"titan-xp", "resnet152", true}, Question{"v100", "resnet50", false},
                                         Question{"a100", "resnet50", true, Precision::fp32, true},
                                         Question{"k80", "alexnet-grouped", false}, Question{"t4", "bert-base", false},
                                         Question{"h100", "bert-base", false, Precision::bf16}),
                         [](const auto& question) {
                             std::string name = question.param.gpu;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
