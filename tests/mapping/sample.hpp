// Machines by name and layers of plain shape, for the tests of mapping and delta.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <gambrel/machine.hpp>
#include <gambrel/network.hpp>

namespace gambrel::test {

inline const Machine& machine(const std::string& name) {
    static const Machine none;
    const Machine* found = find_in_catalogue(name);
    EXPECT_NE(found, nullptr) << name;
    return found ? *found : none;
}

inline Convolution square(std::int64_t n, std::int64_t c, std::int64_t size, std::int64_t k, std::int64_t filter,
                          std::int64_t pad = 0, std::int64_t stride = 1) {
    Convolution v;
    v.n = n, v.c = c, v.h = v.w = size, v.k = k, v.r = v.s = filter;
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = pad;
    v.stride_h = v.stride_w = stride;
    return v;
}

inline Layer layer_of(const Convolution& v, Pass pass = Pass::fwd, Precision precision = Precision::fp32) {
    Layer layer{"layer", v};
    layer.pass = pass;
    layer.precision = precision;
    return layer;
}
inline Layer layer_of(const Gemm& g, Pass pass = Pass::fwd, Precision precision = Precision::fp32) {
    Layer layer{"layer", g};
    layer.pass = pass;
    layer.precision = precision;
    return layer;
}
inline Layer convolution_layer() { return layer_of(square(32, 128, 28, 128, 3, 1)); }

// Every layer that differs of all built-in networks, forward and backward.
inline const std::vector<Layer>& all_layers(std::int64_t batch = 8) {
    static std::map<std::int64_t, std::vector<Layer>> made;
    if (const auto found = made.find(batch); found != made.end()) return found->second;
    std::vector<Layer> all;
    for (const BuiltinNetwork& each : builtin_networks()) {
        const auto network = builtin_network(each.name, {.batch = batch});
        EXPECT_TRUE(network) << each.name;
        for (const Layer& layer : merged(training(*network).layers)) all.push_back(layer);
    }
    return made[batch] = merged(all);
}

inline std::vector<Layer> in_precision(const std::vector<Layer>& layers, Precision precision) {
    std::vector<Layer> out = layers;
    for (Layer& layer : out) layer.precision = precision;
    return out;
}

}  // namespace gambrel::test
