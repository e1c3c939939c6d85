#include <string>

#include "network/builder.hpp"
#include "network/builtin.hpp"

namespace gambrel::network_detail {
namespace {

constexpr std::int64_t kHidden = 768, kHeads = 12, kInner = 3072, kBlocks = 12;
constexpr std::int64_t kHeadSize = kHidden / kHeads;

Tensor attention(NetworkBuilder& net, const std::string& name, Tensor x, const BuiltinOptions& options) {
    const std::int64_t length = options.sequence, heads = options.batch * kHeads;
    const Tensor by_head{options.batch, kHeads, length, kHeadSize, true};
    for (const char* part : {"query", "key", "value"})
        net.copy(name + "." + part + ".transpose", net.linear(name + "." + part, x, kHidden), by_head);
    Gemm scores;
    scores.m = scores.n = length, scores.k = kHeadSize, scores.batch = heads, scores.b_transposed = true;
    Tensor s = net.batched_gemm(name + ".scores", scores, {options.batch, kHeads, length, length});
    // Scale by 1/sqrt(64), then the mask of padding.
    s = net.pointwise(name + ".scale", s, StreamingKind::elementwise);
    s = net.softmax(name + ".softmax", net.add(name + ".mask", s, {options.batch, 1, 1, length}));
    Gemm context;
    context.m = length, context.n = kHeadSize, context.k = length, context.batch = heads;
    Tensor y = net.batched_gemm(name + ".context", context, by_head);
    y = net.copy(name + ".context.transpose", y, {options.batch, 1, length, kHidden, true});
    return net.linear(name + ".output", y, kHidden);
}

}  // namespace

Network bert_base(const BuiltinOptions& options) {
    NetworkBuilder net("bert-base", "");
    net.input("input_ids", {options.batch, 1, 1, options.sequence});
    const Tensor tokens{options.batch, 1, options.sequence, kHidden, true};
    const Tensor word = net.gather("embedding.word", tokens, 30522);
    const Tensor position = net.gather("embedding.position", tokens, 512);
    const Tensor segment = net.gather("embedding.segment", tokens, 2);
    Tensor x = net.add("embedding.add1", net.add("embedding.add2", word, position), segment);
    x = net.norm("embedding.norm", x, StreamingKind::layer_norm, 2 * kHidden);
    for (std::int64_t block = 0; block < kBlocks; ++block) {
        const std::string name = "block" + std::to_string(block);
        const Tensor attended = attention(net, name + ".attention", x, options);
        x = net.norm(name + ".norm1", net.add(name + ".add1", attended, x), StreamingKind::layer_norm, 2 * kHidden);
        Tensor y = net.linear(name + ".inner", x, kInner);
        y = net.linear(name + ".outer", net.pointwise(name + ".gelu", y, StreamingKind::transcendental), kHidden);
        x = net.norm(name + ".norm2", net.add(name + ".add2", y, x), StreamingKind::layer_norm, 2 * kHidden);
    }
    Tensor first = net.copy("pooler.first", x, {options.batch, 1, 1, kHidden, true});
    first = net.linear("pooler", first, kHidden);
    net.pointwise("pooler.tanh", first, StreamingKind::transcendental);
    return net.take();
}

}  // namespace gambrel::network_detail
