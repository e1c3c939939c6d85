#include "network/model_layers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic.hpp"
#include "network/model_blocks.hpp"

namespace gambrel::network_detail {
namespace {

constexpr std::int64_t kUsualLength = 2048, kMostCount = 1 << 24, kMostNamed = 256;

// Engines share out whole heads, and whole columns of every MLP; a head of keys may have a copy on several GPUs.
std::string why_not_shared_by(const TransformerConfig& c, std::int64_t gpus) {
    const auto divides = [&](std::int64_t size) { return size % gpus == 0; };
    if (!divides(c.heads)) return fmt::format("{} does not divide the {} attention heads", gpus, c.heads);
    if (c.kv_rank == 0 && !divides(c.kv_heads) && gpus % c.kv_heads != 0)
        return fmt::format("{} neither divides the {} heads of keys nor is a multiple of them", gpus, c.kv_heads);
    const bool dense = c.experts == 0 || c.dense_layers > 0;
    if (dense && !divides(c.intermediate))
        return fmt::format("{} does not divide the intermediate size {}", gpus, c.intermediate);
    if (c.experts > 0 && !divides(c.expert_intermediate))
        return fmt::format("{} does not divide the intermediate size {} of an expert", gpus, c.expert_intermediate);
    if (c.experts > 0 && !divides(c.shared_intermediate))
        return fmt::format("{} does not divide the intermediate size {} of the shared expert", gpus,
                           c.shared_intermediate);
    return {};
}

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
    if (const std::string why = why_not_shared_by(c, o.tensor_parallel); !why.empty()) {
        std::vector<std::int64_t> valid;
        for (std::int64_t gpus = 1; gpus <= std::min(c.heads, kMostNamed); ++gpus)
            if (why_not_shared_by(c, gpus).empty()) valid.push_back(gpus);
        faults.push_back({"--tensor-parallel", fmt::format("{}; expected {}", why, fmt::join(valid, ", "))});
    }
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

ModelRun run_of(const TransformerConfig& c, const ModelOptions& o, const Network& forward, const ModelBlocks& blocks) {
    ModelRun run;
    run.phase = o.phase;
    run.batch = o.batch;
    run.sequence = o.sequence;
    run.context = o.context;
    run.tensor_parallel = o.tensor_parallel;
    run.tokens = static_cast<double>(o.batch) * static_cast<double>(o.sequence);
    run.weights = blocks.weight_bytes();
    // Gradients as the weights; two moments in FP32, and a master copy of weights that are not.
    const bool mixed = element_size(o.precision.value_or(c.precision)) < element_size(Precision::fp32);
    if (o.phase == Phase::train)
        run.weights = 2 * run.weights + blocks.local_parameters() * (mixed ? 3 : 2) * element_size(Precision::fp32);
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
// them. Asked for more bits, a checkpoint that multiplies in fewer is widened; weights of four bits that are widened
// when they are multiplied stay as they are.
TransformerConfig quantized_as_asked(TransformerConfig c, ModelOptions& o) {
    if (!o.precision) return c;
    if (element_size(*o.precision) >= element_size(Precision::bf16)) {
        if (c.multiplies_quantized()) c.weights.reset();
        return c;
    }
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
    if (given.precision && config.weights && given.precision == o.precision)
        network.notes.push_back(
            {name, c.weights ? fmt::format("weights stay in {}, as the configuration stores them; --precision {} is "
                                           "what they are multiplied in",
                                           gambrel::name(*c.weights), gambrel::name(*given.precision))
                             : fmt::format("weights are in {} as --precision asks, not in {} as the configuration "
                                           "stores them",
                                           gambrel::name(*given.precision), gambrel::name(*config.weights))});
    const std::int64_t usual = c.patches > 0   ? c.patches
                               : c.longest > 0 ? std::min(c.longest, kUsualLength)
                                               : kUsualLength;
    if (o.phase == Phase::decode) {
        if (o.sequence == 0) o.sequence = 1;
        if (o.context == 0) {
            // The new position is one of those that the model takes.
            o.context = c.longest > o.sequence ? std::min(c.longest - o.sequence, kUsualLength) : usual;
            network.notes.push_back({name, fmt::format("--context is not given: {} positions are taken to be in the "
                                                       "cache",
                                                       o.context)});
        }
    } else if (o.sequence == 0) {
        o.sequence = usual;
        if (c.patches == 0)
            network.notes.push_back({name, fmt::format("--sequence is not given: {} positions", o.sequence)});
    }
    if (c.longest > 0 && o.context + o.sequence > c.longest)
        network.notes.push_back({name, fmt::format("{} positions are more than the {} that the model takes "
                                                   "(max_position_embeddings)",
                                                   o.context + o.sequence, c.longest)});
    ModelBlocks blocks(c, o);
    blocks.add_all(network);
    network.parameters = blocks.parameters();
    network.model = run_of(c, o, network, blocks);
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
