// A machine and layers whose answers one can follow, and the built-in networks.
#pragma once

#include "explore/evaluator.hpp"

namespace gambrel::test {

inline const Machine& titan() { return *find_in_catalogue("titan-xp"); }

inline Workload workload(std::string_view network, std::int64_t batch = 32, bool convolutions_only = false) {
    Workload w;
    w.add(*builtin_network(network, {batch, 128}), 1, convolutions_only);
    return w;
}

inline Factors only(Resource resource, double factor) {
    Factors f;
    f[resource] = factor;
    return f;
}

inline double time_of(const DesignEvaluator& e, const Factors& f) {
    auto scratch = e.scratch();
    return e.time(f, scratch);
}

}  // namespace gambrel::test
