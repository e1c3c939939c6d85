#include "network/model_blocks.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace gambrel::network_detail {
ModelBlocks::ModelBlocks(const TransformerConfig& config, const ModelOptions& options)
    : c_(config),
      o_(options),
      precision_(options.precision.value_or(config.precision)),
      tokens_(options.batch * options.sequence),
      gpus_(options.tensor_parallel),
      heads_(config.heads / options.tensor_parallel),
      kv_heads_(ceil_div(config.kv_heads, options.tensor_parallel)) {
    // Fewer heads of keys than GPUs: each GPU has a copy of one.
    while (heads_ % kv_heads_ != 0) ++kv_heads_;
}

Layer& ModelBlocks::push(const std::string& name) {
    Layer& layer = network_->layers.emplace_back();
    layer.name = name;
    layer.precision = precision_;
    layer.repeat = repeat_;
    layer.layout = Layout::nhwc;
    // Serving engines replay a decode step as one CUDA graph.
    if (o_.fused && o_.phase == Phase::decode) layer.hints.timing = Timing::graph;
    return layer;
}

void ModelBlocks::count(double elements, double share, bool quantized) {
    parameters_ += elements * repeat_;
    local_parameters_ += elements * share * repeat_;
    weight_bytes_ += elements * share * repeat_ * element_size(quantized ? *c_.weights : precision_);
}

// y = x W^T. `share` of the matrix is on this GPU; the sizes given are those of that part.
void ModelBlocks::linear(const std::string& name, std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                         double share) {
    const bool quantized = c_.weights && !c_.only_experts_quantized && name != "lm_head" && name != "router";
    Layer& layer = push(name);
    Gemm gemm;
    gemm.m = rows, gemm.n = outputs, gemm.k = inputs, gemm.b_transposed = true;
    layer.op = gemm;
    layer.bias = c_.biases;
    const bool multiplies = quantized && c_.multiplies_quantized();
    if (multiplies)
        layer.precision = *c_.weights;
    else if (quantized)
        layer.weights = c_.weights;
    count(real(outputs) * real(inputs) / share + (c_.biases ? real(outputs) / share : 0), share, quantized);
    if (multiplies && o_.phase != Phase::train) {
        Layer& narrow = network_->layers.emplace_back();
        narrow.name = name + ".quantize";
        narrow.precision = precision_;
        narrow.repeat = repeat_;
        if (o_.fused && o_.phase == Phase::decode) narrow.hints.timing = Timing::graph;
        Streaming s;
        s.kind = StreamingKind::quantization;
        s.read[0] = s.written = real(rows) * real(inputs);
        s.rows = real(rows);
        s.written_as = c_.weights;
        narrow.op = s;
        std::swap(network_->layers[network_->layers.size() - 2], network_->layers.back());
    }
}

void ModelBlocks::vector(const std::string& name, const Vector& v) {
    Layer& layer = push(name);
    Streaming s;
    s.kind = v.kind;
    const double all = v.rows * v.cols;
    for (std::size_t i = 0; i < static_cast<std::size_t>(v.read) && i < s.read.size(); ++i) s.read[i] = all;
    s.written = v.written * all;
    s.parameters = v.parameters * v.cols;
    s.rows = v.rows;
    s.table_rows = v.table_rows;
    layer.op = s;
    if (!o_.fused && (v.kind == StreamingKind::layer_norm || v.kind == StreamingKind::softmax))
        layer.hints.algorithm = "statistics first";
    if (!o_.fused && v.kind == StreamingKind::gather) layer.hints.algorithm = "index arithmetic";
    if (v.parameters > 0) count(v.parameters * v.cols, 1, false);
}

void ModelBlocks::norm(const std::string& name, bool with_residual) {
    const StreamingKind kind = c_.rms_norm ? StreamingKind::rms_norm : StreamingKind::layer_norm;
    const double parameters = c_.rms_norm ? 1 : 2, rows = real(tokens_), cols = real(c_.hidden);
    const bool joined = o_.fused || o_.compiled;
    if (with_residual && !joined) vector(name + ".add", {StreamingKind::elementwise, rows, cols, 2, 1});
    const double tensors = with_residual && joined ? 2 : 1;
    vector(name, {kind, rows, cols, tensors, tensors, parameters});
}

void ModelBlocks::all_reduce(const std::string& name) {
    if (gpus_ == 1) return;
    push(name).op = AllReduce{real(tokens_) * real(c_.hidden), gpus_};
}

void ModelBlocks::fused_attention(std::int64_t window) {
    Attention a;
    a.batch = o_.batch;
    a.q_len = o_.sequence;
    a.kv_len = o_.context + o_.sequence;
    a.heads = heads_, a.kv_heads = kv_heads_;
    a.head_dim = c_.head_dim, a.head_dim_v = c_.kv_rank > 0 ? c_.value_dim : c_.head_dim;
    a.causal = !c_.encoder;
    a.window = window;
    a.paged = !c_.encoder && o_.phase != Phase::train;
    a.kv_precision = o_.kv_precision;
    if (c_.kv_rank > 0) a.kv_heads = heads_;
    if (c_.kv_rank > 0 && o_.phase == Phase::decode) {
        a.latent = true;
        a.kv_heads = 1;
        a.head_dim = c_.kv_rank + c_.rope_dim;
        a.head_dim_v = c_.kv_rank;
    }
    push("attention").op = a;
}

// Scores are written and read back; a causal mask is added, not skipped.
void ModelBlocks::eager_attention() {
    const std::int64_t keys = o_.context + o_.sequence, batch = o_.batch * heads_;
    const double scores = real(batch) * real(o_.sequence), vectors = real(tokens_) * real(heads_);
    // A compiler lets the products read heads where they lie, and joins scaling and mask with the softmax.
    if (!o_.compiled) vector("attention.transpose", {StreamingKind::copy, vectors, real(c_.head_dim), 3, 3});
    Layer& product = push("attention.scores");
    product.has_filter = false;
    Gemm s;
    s.m = o_.sequence, s.n = keys, s.k = c_.head_dim, s.batch = batch, s.b_transposed = true;
    product.op = s;
    if (!o_.compiled) {
        vector("attention.scale", {StreamingKind::elementwise, scores, real(keys)});
        vector("attention.mask", {StreamingKind::elementwise, scores, real(keys)});
    }
    vector("attention.softmax", {StreamingKind::softmax, scores, real(keys)});
    if (o_.phase == Phase::train) vector("attention.dropout", {StreamingKind::dropout, scores, real(keys)});
    Layer& context = push("attention.context");
    context.has_filter = false;
    Gemm v;
    v.m = o_.sequence, v.n = c_.head_dim, v.k = keys, v.batch = batch;
    context.op = v;
    vector("attention.merge", {StreamingKind::copy, vectors, real(c_.head_dim)});
}

// MLA: queries and keys come from compressed vectors; decode multiplies the projections of keys and values into the
// queries and outputs instead of expanding the cache.
void ModelBlocks::latent_attention() {
    const double share = 1.0 / real(gpus_);
    const std::int64_t query = heads_ * (c_.nope_dim + c_.rope_dim);
    if (c_.query_rank > 0) {
        linear("attention.query_down", tokens_, c_.query_rank, c_.hidden, 1);
        linear("attention.query_up", tokens_, query, c_.query_rank, share);
    } else {
        linear("attention.query", tokens_, query, c_.hidden, share);
    }
    linear("attention.kv_down", tokens_, c_.kv_rank + c_.rope_dim, c_.hidden, 1);
    vector("attention.rope", {StreamingKind::rope, real(tokens_), real(heads_ * c_.rope_dim + c_.rope_dim)});
    if (o_.phase == Phase::decode) {
        for (const auto& [name, inner, outer] : {std::tuple{"attention.absorb_keys", c_.nope_dim, c_.kv_rank},
                                                 {"attention.absorb_values", c_.kv_rank, c_.value_dim}}) {
            Gemm g;
            g.m = tokens_, g.n = outer, g.k = inner, g.batch = heads_;
            push(name).op = g;
            count(real(heads_ * inner * outer) / share, share, false);
        }
    } else {
        linear("attention.kv_up", tokens_, heads_ * (c_.nope_dim + c_.value_dim), c_.kv_rank, share);
    }
}

void ModelBlocks::attention_block(std::int64_t window, double repeat) {
    repeat_ = repeat;
    const double share = 1.0 / real(gpus_);
    const std::int64_t query = heads_ * c_.head_dim, key = kv_heads_ * c_.head_dim;
    const bool joined = o_.fused || o_.compiled;
    norm("attention.norm", true);
    if (c_.kv_rank > 0) {
        latent_attention();
    } else if (o_.fused || c_.family == "gpt2") {
        linear("attention.qkv", tokens_, query + 2 * key, c_.hidden, share);
    } else {
        linear("attention.query", tokens_, query, c_.hidden, share);
        linear("attention.key", tokens_, key, c_.hidden, share);
        linear("attention.value", tokens_, key, c_.hidden, share);
    }
    if (c_.rotary && c_.kv_rank == 0)
        vector("attention.rope",
               {StreamingKind::rope, real(tokens_), real(query + key), joined ? 1.0 : 3.0, joined ? 1.0 : 3.0});
    if (o_.fused || c_.kv_rank > 0)
        fused_attention(window);
    else
        eager_attention();
    linear("attention.output", tokens_, c_.hidden, c_.kv_rank > 0 ? heads_ * c_.value_dim : query, share);
    all_reduce("attention.all_reduce");
}

// GPT-2 approximates GELU by a tanh, which eager PyTorch computes in eight kernels.
void ModelBlocks::gelu_by_parts(const std::string& name, double rows, double columns) {
    const double once = repeat_;
    repeat_ = once * 5;
    vector(name + ".activation.scale", {StreamingKind::elementwise, rows, columns});
    repeat_ = once;
    vector(name + ".activation.tanh", {StreamingKind::transcendental, rows, columns});
    repeat_ = once * 2;
    vector(name + ".activation.join", {StreamingKind::elementwise, rows, columns, 2, 1});
    repeat_ = once;
}

void ModelBlocks::dense_block(const std::string& name, std::int64_t intermediate) {
    const double share = 1.0 / real(gpus_), rows = real(tokens_);
    const std::int64_t inner = std::max<std::int64_t>(1, intermediate / gpus_);
    if (!c_.gated) {
        linear(name + ".up", tokens_, inner, c_.hidden, share);
        if (!o_.fused && !o_.compiled && c_.family == "gpt2")
            gelu_by_parts(name, rows, real(inner));
        else
            vector(name + ".activation", {StreamingKind::transcendental, rows, real(inner)});
    } else if (o_.fused) {
        linear(name + ".gate_up", tokens_, 2 * inner, c_.hidden, share);
        vector(name + ".activation", {StreamingKind::gated_activation, rows, real(inner), 2, 1});
    } else {
        linear(name + ".gate", tokens_, inner, c_.hidden, share);
        linear(name + ".up", tokens_, inner, c_.hidden, share);
        if (o_.compiled) {
            vector(name + ".activation", {StreamingKind::gated_activation, rows, real(inner), 2, 1});
        } else {
            vector(name + ".activation", {StreamingKind::transcendental, rows, real(inner)});
            vector(name + ".multiply", {StreamingKind::elementwise, rows, real(inner), 2, 1});
        }
    }
    linear(name + ".down", tokens_, c_.hidden, inner, share);
}

void ModelBlocks::expert_block() {
    linear("router", tokens_, c_.experts, c_.hidden, 1);
    vector("router.topk", {StreamingKind::routing, real(tokens_), real(c_.experts)});
    MixtureOfExperts m;
    m.tokens = tokens_, m.hidden = c_.hidden, m.intermediate = c_.expert_intermediate;
    m.experts = c_.experts, m.topk = c_.topk, m.tensor_parallel = gpus_;
    m.gated = c_.gated;
    Layer& layer = push("experts");
    layer.op = m;
    if (c_.multiplies_quantized())
        layer.precision = *c_.weights;
    else
        layer.weights = c_.weights;
    const double matrices = c_.gated ? 3 : 2;
    count(real(c_.experts) * matrices * real(c_.hidden) * real(c_.expert_intermediate), 1.0 / real(gpus_),
          c_.weights.has_value());
    if (c_.shared_intermediate > 0) dense_block("shared", c_.shared_intermediate);
}

void ModelBlocks::add_all(Network& network) {
    network_ = &network;
    const double rows = real(tokens_), cols = real(c_.hidden), share = 1.0 / real(gpus_);
    if (c_.patches > 0) {
        linear("patches", tokens_, c_.hidden, c_.patch_elements, 1);
    } else {
        vector("embedding",
               {.kind = StreamingKind::gather, .rows = rows, .cols = cols, .table_rows = real(c_.vocabulary)});
        // Serving engines share out the vocabulary, of the embedding as of the head: each GPU looks up the tokens
        // that it has, and a sum joins them.
        count(real(c_.vocabulary) * cols, share, false);
        all_reduce("embedding.all_reduce");
    }
    if (!c_.rotary) {
        vector("positions", {StreamingKind::elementwise, rows, cols, 2, 1});
        count(real(std::max<std::int64_t>(c_.longest, 1)) * cols, 1, false);
    }
    for (const auto& [window, repeat] :
         {std::pair{std::int64_t{0}, c_.layers - c_.sliding_layers}, {c_.window, c_.sliding_layers}})
        if (repeat > 0) attention_block(window, real(repeat));
    const std::int64_t dense = c_.experts > 0 ? c_.dense_layers : c_.layers;
    repeat_ = real(c_.layers);
    norm("mlp.norm", true);
    if (dense > 0) {
        repeat_ = real(dense);
        dense_block("mlp", c_.intermediate);
    }
    if (dense < c_.layers) {
        repeat_ = real(c_.layers - dense);
        expert_block();
    }
    repeat_ = real(c_.layers);
    all_reduce("mlp.all_reduce");
    repeat_ = 1;
    norm("norm", true);
    if (c_.encoder) return;
    // Serving computes the next token of each sequence alone; training and eager PyTorch every one.
    const std::int64_t outputs = o_.phase == Phase::train || !o_.fused ? tokens_ : o_.batch;
    const std::int64_t vocabulary = ceil_div(c_.vocabulary, gpus_);
    const double before = parameters_, local = local_parameters_;
    const Bytes bytes = weight_bytes_;
    linear("lm_head", outputs, vocabulary, c_.hidden, share);
    network.layers.back().bias = false;
    if (c_.tied_embeddings) parameters_ = before, local_parameters_ = local, weight_bytes_ = bytes;
    if (o_.phase == Phase::train) vector("loss", {StreamingKind::cross_entropy, real(outputs), real(vocabulary), 1, 0});
}

}  // namespace gambrel::network_detail
