// Does the closed-form model of attention move the bytes that the simulated caches move?
#include <gtest/gtest.h>

#include <gambrel/delta.hpp>
#include <gambrel/sim.hpp>

namespace gambrel {
namespace {

Attention heads_of(std::int64_t batch, std::int64_t q_len, std::int64_t kv_len, std::int64_t heads,
                   std::int64_t kv_heads, std::int64_t dim) {
    Attention a;
    a.batch = batch, a.q_len = q_len, a.kv_len = kv_len, a.heads = heads, a.kv_heads = kv_heads;
    a.head_dim = a.head_dim_v = dim;
    return a;
}

struct AttentionCase {
    std::string gpu;
    Attention a;
    Pass pass = Pass::fwd;
    double dram = 0.03;  // tolerance
};

TEST(AttentionBytes, of_the_model_are_those_of_the_simulation) {
    std::vector<AttentionCase> cases;
    for (const std::string gpu : {"a100-sxm4-80gb", "rtx-4090", "h100-sxm"}) {
        Attention causal = heads_of(2, 1024, 1024, 16, 4, 128), window = causal;
        causal.causal = window.causal = true;
        window.window = 256;
        cases.push_back({gpu, causal});
        cases.push_back({gpu, window});
        cases.push_back({gpu, heads_of(4, 512, 512, 16, 16, 64)});
        cases.push_back({gpu, heads_of(16, 1, 2048, 32, 8, 128)});
        cases.push_back({gpu, heads_of(1, 1, 16384, 32, 8, 128)});
        cases.push_back({gpu, causal, Pass::dgrad, 0.25});
    }
    for (const AttentionCase& c : cases) {
        Layer l;
        l.name = "attention";
        l.op = c.a;
        l.pass = c.pass;
        l.precision = Precision::fp16;
        const Machine& machine = *find_in_catalogue(c.gpu);
        const Prediction p = predict(l, machine, *model_inputs(machine));
        const auto simulation = simulate(l, machine, mapping_for(l, machine));
        ASSERT_TRUE(simulation);
        const SimulatedTraffic s = simulation->total();
        const std::string what = c.gpu + " " + std::to_string(c.a.batch) + " x " + std::to_string(c.a.q_len) +
                                 (c.a.window > 0 ? " window" : "") + (c.pass == Pass::fwd ? "" : " backward");
        EXPECT_NEAR(p.traffic.l2.total() / s.l2(), 1, 0.03) << what;
        EXPECT_NEAR(p.traffic.dram.total() / s.dram(), 1, c.dram) << what;
        const OperandBytes once = compulsory_bytes(l);
        EXPECT_GE(s.dram(), 0.999 * (once.read + once.written)) << what;
    }
}

}  // namespace
}  // namespace gambrel
