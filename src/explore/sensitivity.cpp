#include <cmath>

#include "explore/evaluator.hpp"

namespace gambrel {
namespace {

constexpr double kTenth = 1.1;

double elasticity(double before, double after, double factor) { return std::log(before / after) / std::log(factor); }

}  // namespace

std::vector<Sensitivity> sensitivities(const DesignEvaluator& evaluator, const Factors& at) {
    const WorkloadTime start = evaluator.evaluate(at);
    const double sms = evaluator.hardware().sms;
    std::vector<Sensitivity> all;
    for (const Resource r : all_resources()) {
        Factors more = at, twice = at;
        more[r] *= kTenth;
        twice[r] *= 2;
        if (r == Resource::sms) more[r] = std::ceil(sms * at[r] * kTenth) / sms;
        const WorkloadTime changed = evaluator.evaluate(more);
        Sensitivity s;
        s.resource = r;
        s.elasticity = elasticity(start.time, changed.time, more[r] / at[r]);
        Factors half_more = at;
        half_more[r] *= 1.5;
        s.half_more = start.time / evaluator.evaluate(half_more).time;
        s.doubled = start.time / evaluator.evaluate(twice).time;
        for (std::size_t i = 0; i < start.layers.size(); ++i)
            s.layers.push_back(elasticity(start.layers[i].time, changed.layers[i].time, more[r] / at[r]));
        all.push_back(std::move(s));
    }
    return all;
}

ResourceMap resource_map(const DesignEvaluator& evaluator, const Axis& x, const Axis& y, const Factors& around) {
    ResourceMap map{x, y, {}};
    auto scratch = evaluator.scratch();
    const double base = evaluator.time({}, scratch);
    for (const double fy : y.values)
        for (const double fx : x.values) {
            Factors f = around;
            f[x.resource] = fx;
            f[y.resource] = fy;
            map.speedup.push_back(base / evaluator.time(f, scratch));
        }
    return map;
}

}  // namespace gambrel
