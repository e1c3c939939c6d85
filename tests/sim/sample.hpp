// A layer and its mapping by hand, the sectors that its CTAs ask for, and its simulation on a V100.
#pragma once

#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <gambrel/sim.hpp>

#include "sim/hierarchy.hpp"
#include "sim/stream.hpp"

namespace gambrel {

inline const Machine& v100() { return *find_in_catalogue("v100-sxm2-16gb"); }

// 3x3, padded by one, stride one.
inline Convolution three_by_three(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t k) {
    Convolution v{.n = n, .c = c, .h = h, .w = w, .k = k, .r = 3, .s = 3};
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = 1;
    return v;
}

inline Layer layer(const Convolution& v, Pass pass = Pass::fwd, Precision precision = Precision::fp32) {
    Layer l;
    l.name = "test";
    l.op = v;
    l.pass = pass;
    l.precision = precision;
    return l;
}

inline Simulation simulated(const Layer& l, const SimulationOptions& options = {}, const Machine& machine = v100()) {
    const Result<Simulation> result = simulate(l, machine, mapping_for(l, machine), options);
    EXPECT_TRUE(result.has_value());
    return result.value_or(Simulation{});
}

namespace sim_detail {

// One warp to a CTA, whose loads are those of 32 pixels and of four filters.
inline Mapping tile(std::int32_t m, std::int32_t n, std::int32_t k) {
    Mapping mapping;
    mapping.cta = {m, n, k};
    mapping.warp = {m, n, k};
    mapping.threads = 32;
    mapping.a = {.lanes = 32};
    mapping.b = {.lanes = 4, .vector = 1, .k_major = true};
    return mapping;
}

inline void expect_same(const Counts& a, const Counts& b) {
    EXPECT_EQ(a.l1_read, b.l1_read);
    EXPECT_EQ(a.l1_hit, b.l1_hit);
    EXPECT_EQ(a.l1_write, b.l1_write);
    EXPECT_EQ(a.l2_read, b.l2_read);
    EXPECT_EQ(a.l2_hit, b.l2_hit);
    EXPECT_EQ(a.l2_write, b.l2_write);
    EXPECT_EQ(a.fabric, b.fabric);
    EXPECT_EQ(a.dram_read, b.dram_read);
    EXPECT_EQ(a.dram_write, b.dram_write);
    EXPECT_EQ(a.l1_filled, b.l1_filled);
    EXPECT_EQ(a.l2_filled, b.l2_filled);
}

// What all CTAs of a layer ask for, one after the other.
inline std::vector<Access> accesses(const Layer& l, const Mapping& mapping) {
    const auto stream = make_stream(l, mapping);
    std::vector<Access> out;
    CtaState state;
    for (std::int64_t cta = 0; cta < stream->ctas(); ++cta) {
        stream->open(cta, state);
        for (std::int64_t step = 0; step < stream->steps(cta); ++step) stream->step(state, step, out);
        stream->close(state, out);
    }
    return out;
}

// Sectors by tensor, every request counted.
inline std::map<Tensor, std::uint64_t> requested(const Layer& l, const Mapping& mapping) {
    std::map<Tensor, std::uint64_t> sectors;
    for (const Access access : accesses(l, mapping))
        sectors[static_cast<Tensor>(tensor_of(access.line()))] += access.count();
    return sectors;
}

}  // namespace sim_detail
}  // namespace gambrel
