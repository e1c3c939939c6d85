#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "explore/exploration_report.hpp"

#include "explore/toy.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::test;

struct Case {
    DesignEvaluator evaluator{titan(), *model_inputs(titan()), workload("alexnet", 64)};
    Space space;
    explicit Case(std::string_view vary = "sms=1:4,macs=1:2,l2.bandwidth=1:4,l2.capacity={1,2,4},dram.bandwidth=1:4")
        : space(*parse_space(vary, titan(), *model_inputs(titan()))) {}
    [[nodiscard]] Exploration explore(SearchOptions options) const {
        return {evaluator, space, default_costs(), std::move(options)};
    }
};

Limit cost_at_most(double cost) { return {Limit::What::cost, Resource::sms, true, cost}; }

struct Sweep {
    SearchResult result;
    std::vector<Design> designs;
};
Sweep run(const Exploration& e, int threads, std::uint64_t first = 0) {
    Sweep r;
    std::uint64_t expected = first;
    run_parts(e, {first, e.parts()}, threads, true, [&](std::uint64_t part, const Exploration::Part& p) {
        EXPECT_EQ(part, expected++);
        r.result.merge(p.result);
        r.designs.insert(r.designs.end(), p.designs.begin(), p.designs.end());
        return true;
    });
    return r;
}
std::string text_of(const Sweep& r) {
    std::string text = to_text(Checkpoint{0, 0, 0, r.result});
    for (const Design& d : r.designs) text += to_text(Checkpoint{d.index, 0, 0, {}});
    return text;
}

TEST(Exploration, threads_do_not_change_a_byte_of_any_search) {
    const Case c;
    for (const Search s : {Search::grid, Search::random, Search::guided}) {
        SearchOptions options;
        options.search = s;
        options.samples = 3000;
        options.restarts = 8;
        options.limits = {cost_at_most(2)};
        options.target = 1.5;
        const Exploration e = c.explore(options);
        const std::string one = text_of(run(e, 1));
        EXPECT_EQ(one, text_of(run(e, 2))) << name(s);
        EXPECT_EQ(one, text_of(run(e, 5))) << name(s);
    }
}

TEST(Exploration, another_seed_is_another_sample) {
    const Case c;
    SearchOptions options;
    options.search = Search::random;
    options.samples = 600;
    const std::string one = text_of(run(c.explore(options), 1));
    options.seed = 2;
    EXPECT_NE(one, text_of(run(c.explore(options), 1)));
}

TEST(Exploration, the_front_of_a_grid_is_that_of_all_its_designs) {
    const Case c("sms={1,2,3,4},l2.bandwidth={1,2,4},dram.bandwidth={1,1.5,2,3}");
    const Exploration e = c.explore({});
    EXPECT_EQ(e.search(), Search::grid);
    const Sweep r = run(e, 2);
    ASSERT_EQ(r.designs.size(), c.space.size());
    const auto front = r.result.front();
    for (const Design& d : r.designs)
        EXPECT_TRUE(std::any_of(front.begin(), front.end(), [&](const Design& f) {
            return f.cost <= d.cost * 1.005 && f.time <= d.time;
        })) << d.index;
    for (std::size_t i = 1; i < front.size(); ++i) {
        EXPECT_GT(front[i].cost, front[i - 1].cost);
        EXPECT_LT(front[i].time, front[i - 1].time);
    }
    double fastest = std::numeric_limits<double>::infinity();
    for (const Design& d : r.designs) fastest = std::min(fastest, d.time);
    EXPECT_EQ(r.result.best->time, fastest);
}

TEST(Exploration, limits_and_target_hold_for_what_is_found) {
    const Case c;
    SearchOptions options;
    options.limits = {cost_at_most(1.8)};
    options.target = 1.3;
    const Exploration e = c.explore(options);
    const Sweep r = run(e, 2);
    ASSERT_TRUE(r.result.best && r.result.cheapest);
    EXPECT_LE(r.result.best->cost, 1.8);
    EXPECT_GE(e.base_time() / r.result.cheapest->time, 1.3);
    for (const Design& d : r.designs) {
        EXPECT_LE(d.cost, 1.8);
        if (e.base_time() / d.time >= 1.3) {
            EXPECT_GE(d.cost, r.result.cheapest->cost);
        }
    }
    EXPECT_LT(r.result.kept, r.result.evaluated);
}

TEST(Exploration, guided_finds_nearly_what_the_whole_grid_holds) {
    const Case c;
    SearchOptions options;
    options.limits = {cost_at_most(2)};
    options.search = Search::grid;
    const Sweep grid = run(c.explore(options), 2);
    options.search = Search::guided;
    options.restarts = 32;
    const Sweep guided = run(c.explore(options), 2);
    ASSERT_TRUE(guided.result.best);
    EXPECT_LE(guided.result.best->time, grid.result.best->time * 1.02);
}

TEST(Exploration, a_huge_space_is_searched_without_being_held) {
    const Case c(
        "sms=1:4:0.1,macs=1:4:0.25,l2.bandwidth=1:4:0.05,l2.capacity=1:8:0.1,dram.bandwidth=1:4:0.05,clock=1:2:0.1");
    EXPECT_GT(c.space.size(), 1'000'000'000u);
    SearchOptions options;
    options.restarts = 2;
    const Exploration e = c.explore(options);
    EXPECT_EQ(e.search(), Search::guided);
    const Sweep r = run(e, 2);
    EXPECT_GT(r.result.front().size(), 1u);
    EXPECT_LT(r.result.evaluated, 100'000u);
}

TEST(Exploration, a_search_resumes_from_its_checkpoint_as_if_it_had_never_stopped) {
    const Case c;
    SearchOptions options;
    options.samples = 5000;
    options.search = Search::random;
    const Exploration e = c.explore(options);
    const Sweep whole = run(e, 2);
    Checkpoint half{e.fingerprint(), 0, 0, {}};
    run_parts(e, {0, e.parts()}, 2, false, [&](std::uint64_t part, const Exploration::Part& p) {
        half.next = part + 1;
        half.result.merge(p.result);
        return part + 1 < e.parts() / 2;
    });
    EXPECT_EQ(half.next, e.parts() / 2);
    const auto read = checkpoint_from(to_text(half), "file");
    ASSERT_TRUE(read) << to_text(read.error());
    SearchResult found = read->result;
    found.merge(run(e, 2, read->next).result);
    EXPECT_EQ(to_text(Checkpoint{0, 0, 0, found}), to_text(Checkpoint{0, 0, 0, whole.result}));
}

TEST(Exploration, a_fingerprint_distinguishes_requests) {
    const Case c, other("sms=1:4");
    SearchOptions options;
    const auto print = c.explore(options).fingerprint();
    EXPECT_EQ(print, c.explore(options).fingerprint());
    EXPECT_NE(print, other.explore(options).fingerprint());
    options.limits = {cost_at_most(2)};
    EXPECT_NE(print, c.explore(options).fingerprint());
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(Checkpoint, cut_off_changed_or_foreign_text_is_refused) {
    const std::string good = to_text(Checkpoint{1, 2, 3, {}});
    EXPECT_TRUE(checkpoint_from(good, "f"));
    for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(checkpoint_from(good.substr(0, n), "f")) << n;
    EXPECT_FALSE(checkpoint_from(replaced(good, "next 2", "next 9"), "f"));
    EXPECT_FALSE(checkpoint_from(good + "x", "f"));
    EXPECT_FALSE(checkpoint_from("{}", "f"));
}

// Numbers whose checksum is right, in a file that no search of this request can have written.
TEST(Checkpoint, numbers_that_the_search_cannot_have_found_are_refused) {
    const Case c;
    SearchOptions options;
    options.target = 1.2;
    const Exploration e = c.explore(options);
    Checkpoint good{e.fingerprint(), 3, 0, {}};
    run_parts(e, {0, 3}, 1, false,
              [&](std::uint64_t, const Exploration::Part& p) { return good.result.merge(p.result), true; });
    ASSERT_TRUE(good.result.best && good.result.cheapest);
    EXPECT_TRUE(faults(good, e, "f").empty()) << to_text(faults(good, e, "f"));
    const auto refused = [&](auto change) {
        Checkpoint lie = good;
        change(lie);
        return !faults(lie, e, "f").empty();
    };
    EXPECT_TRUE(refused([&](Checkpoint& l) { l.next = e.parts() + 1; }));
    EXPECT_TRUE(refused([&](Checkpoint& l) { l.next = 2; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.evaluated += 1; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.kept = l.result.evaluated + 1; }));
    EXPECT_TRUE(refused([&](Checkpoint& l) { l.result.bins[0].index = c.space.size(); }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.bins[0].time /= 2; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.bins[0].cost /= 2; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.best->time /= 2; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.cheapest->index += 1; }));
    EXPECT_TRUE(refused([](Checkpoint& l) { l.result.best.reset(); }));
}

TEST(Sensitivity, elasticities_of_rates_are_from_zero_to_one_and_the_bottleneck_leads) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), workload("vgg16", 64, true), Tiles::rule);
    for (const Sensitivity& s : sensitivities(e)) {
        if (s.resource == Resource::sms) continue;  // waves make steps
        EXPECT_GE(s.elasticity, -1e-9) << name(s.resource);
        EXPECT_LE(s.elasticity, 1 + 1e-9) << name(s.resource);
        if (s.resource == Resource::macs) {
            EXPECT_GT(s.elasticity, 0.8);
        }
    }
}

TEST(ExplorationReport, designs_of_the_study_go_from_compute_alone_to_balanced) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), workload("resnet152", 256, true));
    const auto options = proposed_designs();
    const ExplorationReport c = exploration_report(e, default_costs(), options);
    ASSERT_EQ(c.designs.size(), 10u);
    EXPECT_EQ(c.designs[0].speedup, 1);
    EXPECT_LT(c.designs[2].speedup, 4);                     // four times the SMs alone
    EXPECT_LT(c.designs[5].speedup, 1.2);                   // bandwidth alone
    EXPECT_GT(c.designs[8].speedup, c.designs[7].speedup);  // larger tiles
    EXPECT_GT(c.designs[9].speedup, c.designs[8].speedup);
}

}  // namespace
