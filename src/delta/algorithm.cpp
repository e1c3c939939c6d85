// The algorithm that a library's search finds: it times all that it has, and the model predicts the time of each.
#include <utility>

#include <gambrel/delta.hpp>

namespace gambrel {

Layer by_fastest_algorithm(const Layer& layer, const Machine& machine, const ModelInputs& inputs) {
    std::vector<Layer> all = by_library_algorithms(layer, machine);
    std::size_t fastest = 0;
    Seconds least;
    for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i) {
        const Mapping mapping = mapping_for(all[i], machine, inputs.limits);
        const Occupancy fits = occupancy(inputs.limits, mapping);
        if (fits.ctas_per_sm == 0) continue;
        const Seconds time = predicted_time(prepare(all[i], mapping), fits, inputs);
        if (least == Seconds{} || time < least) least = time, fastest = i;
    }
    return std::move(all[fastest]);
}

}  // namespace gambrel
