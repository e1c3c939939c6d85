// What the tests of estimates have in common: a GPU, a small layer, and a table as it is read from a file.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <gambrel/estimate.hpp>

namespace gambrel::sample {

inline const Machine& v100() { return *find_in_catalogue("v100-sxm2-16gb"); }

inline EstimatorOptions options_for(Method method) {
    EstimatorOptions options;
    options.method = method;
    options.machine = v100();
    return options;
}

inline Layer small_layer() {
    Layer layer;
    layer.name = "small";
    layer.op = Convolution{.n = 1, .c = 32, .h = 14, .w = 14, .k = 32};
    return layer;
}

inline std::shared_ptr<const LayerSet> table(const std::string& text) {
    auto read = read_layer_table(text, "t.csv");
    EXPECT_TRUE(read) << (read ? "" : to_text(read.error()));
    LayerSet set;
    set.title = "t.csv";
    set.table = std::move(*read);
    return std::make_shared<const LayerSet>(std::move(set));
}

}  // namespace gambrel::sample
