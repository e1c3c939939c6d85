#include <gambrel/predictor.hpp>

#include <array>

#include <fmt/format.h>

namespace gambrel {

std::string not_modelled(const Layer& layer) {
    static constexpr std::array<std::string_view, 4> kOthers = {"WINOGRAD", "FFT", "DIRECT", "winograd"};
    for (const std::string_view other : kOthers)
        if (layer.hints.algorithm.find(other) != std::string::npos ||
            layer.hints.kernel.find(other) != std::string::npos)
            return std::string(other) + " is not modelled: predicted as implicit GEMM";
    return {};
}

Result<const Predictor::Known*> Predictor::known(const Layer& layer) {
    const std::optional<Frequency> clock = layer.hints.sm_clock ? layer.hints.sm_clock : options_.clock;
    const std::pair<std::string, double> key{layer.hints.gpu, clock ? clock->value() : 0};
    if (const auto found = known_.find(key); found != known_.end()) return &found->second;
    const Machine* machine = layer.hints.gpu.empty() ? nullptr : find_in_catalogue(layer.hints.gpu);
    if (!machine && layer.hints.gpu.empty() && options_.machine) machine = &*options_.machine;
    if (!machine && layer.hints.gpu.empty())
        return tl::unexpected(Errors{{layer.name, "no machine given: use --machine, or a column gpu"}});
    if (!machine)
        return tl::unexpected(Errors{
            {layer.name, "gpu \"" + layer.hints.gpu + "\" is not in the catalogue (gambrel machines lists it)"}});
    const auto placed = known_.emplace(key, Known{machine, hardware(*machine, clock, options_.roofs)});
    return &placed.first->second;
}

Result<Predicted> Predictor::operator()(const Layer& layer) {
    const auto where = known(layer);
    if (!where) return tl::unexpected(where.error());
    const Known& k = **where;
    Predicted result;
    result.machine = k.machine;
    result.hardware = &k.hardware;
    if (options_.tile) {
        Mapping mapping = mapping_for(layer, *k.machine);
        mapping = with_tile(mapping, layer, *k.machine, *options_.tile);
        mapping.source = Mapping::Source::given;
        result.prediction = predict(layer, mapping, occupancy(*k.machine, mapping), k.hardware, options_.model);
    } else {
        result.prediction = predict(layer, *k.machine, k.hardware, options_.model, options_.search);
    }
    const Mapping& m = result.prediction.mapping;
    if (m.family == KernelFamily::tiled && result.prediction.occupancy.ctas_per_sm == 0)
        return tl::unexpected(Errors{
            {layer.name,
             fmt::format("a tile of {} x {} x {} cannot be launched on {}: {} threads of {} registers "
                         "and {:.0f} bytes of shared memory are more than an SM has",
                         m.cta.m, m.cta.n, m.cta.k, k.machine->id, m.threads, m.registers, m.shared_memory.value())}});
    result.reason = not_modelled(layer);
    return result;
}

}  // namespace gambrel
