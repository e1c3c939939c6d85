// Any bytes are a Network whose layers have no faults, or Errors: no crash, no endless loop, no memory without bound.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gambrel/network.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const OnnxOptions& options : {OnnxOptions{}, OnnxOptions{4, {{"x", {2, 3, 8, 8}}}, Precision::fp16}}) {
        const auto network = read_onnx(bytes, "fuzz.onnx", options);
        if (!network) {
            if (network.error().empty()) std::abort();
            continue;
        }
        for (const Network& each : {*network, training(*network)}) {
            for (const Layer& layer : each.layers) {
                if (!faults(layer).empty()) std::abort();
                if (!std::isfinite(flop(layer).value())) std::abort();
                const OperandBytes moved = compulsory_bytes(layer);
                if (!(moved.read.value() >= 0 && moved.written.value() >= 0)) std::abort();
            }
        }
        for (const Unmodelled& op : network->unmodelled)
            if (op.count < 1 || op.reason.empty()) std::abort();
    }
    return 0;
}
