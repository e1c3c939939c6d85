#include "network/model_layers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic.hpp"
#include "network/model_blocks.hpp"

namespace gambrel::network_detail {
namespace {

constexpr std::int64_t kUsualLength = 2048, kMostCount = 1 << 24;

Errors option_faults(const TransformerConfig& c, const ModelOptions& o) {
    Errors faults;
    const auto range = [&](const char* flag, std::int64_t value, std::int64_t least) {
        if (value < least || value > kMostCount)
            faults.push_back({flag, fmt::format("is {}, expected {} to {}", value, least, kMostCount)});
    };
    range("--batch", o.batch, 1);
    range("--sequence", o.sequence, 0);
    range("--context", o.context, 0);
    range("--tensor-parallel", o.tensor_parallel, 1);
    if (!faults.empty()) return faults;
    if (c.encoder && o.phase == Phase::decode)
        faults.push_back({"--phase", fmt::format("decode: a {} has no cache to decode with; expected prefill or train",
                                                 c.family.empty() ? "encoder" : c.family)});
    if (c.heads % o.tensor_parallel != 0)
        faults.push_back({"--tensor-parallel",
                          fmt::format("{} does not divide the {} attention heads", o.tensor_parallel, c.heads)});
    return faults;
}

// Bytes of what one position of one sequence keeps in the cache, on one GPU; and those of a window's layers.
struct CacheBytes {
    double whole = 0, sliding = 0;
};
CacheBytes cache_bytes(const TransformerConfig& c, const ModelOptions& o) {
    const double size = element_size(o.kv_precision.value_or(o.precision.value_or(c.precision))).value();
    const double local = c.kv_rank > 0 ? static_cast<double>(c.kv_rank + c.rope_dim)
                                       : 2.0 * static_cast<double>(ceil_div(c.kv_heads, o.tensor_parallel)) *
                                             static_cast<double>(c.head_dim);
    return {local * size * static_cast<double>(c.layers - c.sliding_layers),
            local * size * static_cast<double>(c.sliding_layers)};
}

ModelRun run_of(const TransformerConfig& c, const ModelOptions& o, const Network& forward, Bytes weights) {
    ModelRun run;
    run.phase = o.phase;
    run.batch = o.batch;
    run.sequence = o.sequence;
    run.context = o.context;
    run.tensor_parallel = o.tensor_parallel;
    run.tokens = static_cast<double>(o.batch) * static_cast<double>(o.sequence);
    // Weights and gradients in the precision of training, a master copy and two moments in FP32.
    const double states = 12 / element_size(o.precision.value_or(c.precision)).value();
    run.weights = o.phase == Phase::train ? weights * (2 + states) : weights;
    if (!c.encoder && o.phase != Phase::train) {
        const CacheBytes cache = cache_bytes(c, o);
        const double length = static_cast<double>(o.context + o.sequence);
        const double seen = c.window > 0 ? std::min(length, static_cast<double>(c.window)) : length;
        run.kv_cache = Bytes{static_cast<double>(o.batch) * (cache.whole * length + cache.sliding * seen)};
    }
    for (const Layer& layer : forward.layers) {
        const OperandBytes bytes = compulsory_bytes(layer);
        if (o.phase == Phase::train)
            run.activations += bytes.output * layer.repeat;
        else
            run.activations = std::max(run.activations, bytes.input + bytes.output);
    }
    return run;
}

// Once for every parameter of this GPU: weight and gradient, master copy and moments.
Layer optimizer(double parameters, Precision precision) {
    Streaming s;
    s.kind = StreamingKind::optimizer;
    const bool mixed = element_size(precision).value() < 4;
    s.read = {parameters, parameters, parameters, mixed ? parameters / 2 : parameters};
    s.written = 3 * parameters + (mixed ? parameters / 2 : 0);
    Layer layer;
    layer.name = "optimizer";
    layer.op = s;
    layer.precision = Precision::fp32;
    return layer;
}

// Nothing but linear layers is computed in eight or four bits: --precision asks for those as a quantized checkpoint has
// them.
TransformerConfig quantized_as_asked(TransformerConfig c, ModelOptions& o) {
    if (!o.precision || element_size(*o.precision) >= element_size(Precision::bf16)) return c;
    c.weights = o.precision;
    c.multiplies_fp4 = true;
    c.only_experts_quantized = false;
    if (element_size(c.precision) > element_size(Precision::bf16)) c.precision = Precision::bf16;
    o.precision.reset();
    return c;
}

}  // namespace

Result<Network> model_network(const TransformerConfig& config, const ModelOptions& given, const std::string& name) {
    ModelOptions o = given;
    const TransformerConfig c = quantized_as_asked(config, o);
    if (Errors wrong = option_faults(c, o); !wrong.empty()) return tl::unexpected(std::move(wrong));
    Network network;
    network.name = name;
    if (given.precision != o.precision)
        network.notes.push_back(
            {name, fmt::format("linear layers {} {}; activations and attention are in {}, the cache in {}",
                               c.multiplies_quantized() ? "multiply in" : "have weights in", gambrel::name(*c.weights),
                               gambrel::name(c.precision), gambrel::name(o.kv_precision.value_or(c.precision)))});
    const std::int64_t usual = c.patches > 0   ? c.patches
                               : c.longest > 0 ? std::min(c.longest, kUsualLength)
                                               : kUsualLength;
    if (o.phase == Phase::decode) {
        if (o.context == 0) {
            o.context = usual;
            network.notes.push_back({name, fmt::format("--context is not given: {} positions are taken to be in the "
                                                       "cache",
                                                       o.context)});
        }
        if (o.sequence == 0) o.sequence = 1;
    } else if (o.sequence == 0) {
        o.sequence = usual;
        if (c.patches == 0)
            network.notes.push_back({name, fmt::format("--sequence is not given: {} positions", o.sequence)});
    }
    ModelBlocks blocks(c, o);
    blocks.add_all(network);
    network.parameters = blocks.parameters();
    network.model = run_of(c, o, network, blocks.weight_bytes());
    if (o.phase == Phase::train) {
        network = training(network);
        network.layers.push_back(optimizer(blocks.local_parameters(), o.precision.value_or(c.precision)));
    }
    if (c.experts > 0) network.notes.push_back({name, "tokens are taken to be spread evenly over the experts"});
    for (const Layer& layer : network.layers)
        for (const std::string& fault : faults(layer))
            return failure(name + ": " + layer.name, fault + "; a field of the configuration must be wrong");
    return network;
}

}  // namespace gambrel::network_detail

namespace gambrel {

Bytes ModelRun::memory_at(std::int64_t other_batch) const {
    return weights + (kv_cache + activations) * (static_cast<double>(other_batch) / static_cast<double>(batch));
}

}  // namespace gambrel
