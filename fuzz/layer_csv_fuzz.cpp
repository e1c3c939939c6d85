// Any bytes are a table whose rows have sound layers or a reason, never both and never neither, or Errors.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gambrel/network.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto table = read_layer_table({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    if (!table) {
        if (table.error().empty()) std::abort();
        return 0;
    }
    for (const LayerRow& row : table->rows) {
        if (row.layers.empty() == row.reason.empty()) std::abort();
        for (const Layer& layer : row.layers) {
            if (!faults(layer).empty() || !(flop(layer).value() > 0)) std::abort();
            if (!(compulsory_bytes(layer).written.value() > 0) || !gemm_view(layer)) std::abort();
        }
    }
    return 0;
}
