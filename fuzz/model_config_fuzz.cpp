// Any bytes are a Network whose layers have no faults, or Errors: no crash, no endless loop, no memory without bound.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gambrel/network.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const Phase phase : {Phase::prefill, Phase::decode, Phase::train})
        for (const bool fused : {true, false}) {
            ModelOptions options;
            options.phase = phase;
            options.fused = fused;
            options.batch = 4;
            const auto network = read_model_config(bytes, "config.json", options);
            if (!network) {
                if (network.error().empty()) std::abort();
                continue;
            }
            for (const Layer& layer : network->layers) {
                if (!faults(layer).empty()) std::abort();
                if (!std::isfinite(flop(layer).value())) std::abort();
                const OperandBytes moved = compulsory_bytes(layer);
                if (!(moved.read.value() >= 0 && moved.written.value() >= 0)) std::abort();
            }
            if (!(network->model && network->model->memory().value() >= 0)) std::abort();
        }
    return 0;
}
