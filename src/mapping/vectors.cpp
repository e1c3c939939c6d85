// Products of a matrix with a vector, or with few of them, by kernels that have no tiles in shared memory.
#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

bool is_named(const Layer& layer, const char* part) { return layer.hints.kernel.find(part) != std::string::npos; }

// Their CTAs go along k step by step; those for one vector have all of k on its way.
bool takes_several_vectors(const Layer& layer) { return is_named(layer, "gemmSN"); }

}  // namespace

bool streams_matrix(const Layer& layer, const KernelName& name, Pipe pipe) {
    const auto* g = std::get_if<Gemm>(&layer.op);
    if (!g || is_tensor(pipe) || layer.hints.tile_m > 0) return false;
    const bool without_tiles = is_named(layer, "gemv") || is_named(layer, "dot_kernel") || is_named(layer, "largek");
    if (without_tiles || takes_several_vectors(layer)) return true;
    return name.tile.m == 0 && layer.hints.kernel.empty() && std::min(g->m, g->n) == 1;
}

void stream_matrix(Mapping& m, const Layer& layer) {
    m.family = KernelFamily::streaming;
    m.threads = 256;
    m.registers = 32;
    m.layout = layer.layout;
    if (takes_several_vectors(layer)) m.vector_step = 32;
}

}  // namespace gambrel::mapping_detail
