#include "network/streaming.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace gambrel {
namespace {

struct KindFacts {
    StreamingKind kind;
    double fwd, dgrad;
    bool saves_input;  // the backward pass reads the input (or, of the same size, the output) again
    bool per_output;   // its FLOP go with what is written, not with the largest tensor
};

// How each figure is counted is in docs/formats.md, "Streaming layers".
constexpr std::array<KindFacts, kStreamingKinds> kFacts = {{
    {StreamingKind::max_pool, 1, 1, true, true},
    {StreamingKind::average_pool, 1, 1, false, true},
    {StreamingKind::batch_norm, 2, 11, true, false},
    {StreamingKind::batch_norm_training, 5, 11, true, false},
    {StreamingKind::layer_norm, 8, 13, true, false},
    {StreamingKind::group_norm, 8, 13, true, false},
    {StreamingKind::rms_norm, 4, 9, true, false},
    {StreamingKind::local_response_norm, 2, 4, true, true},
    {StreamingKind::activation, 1, 1, true, false},
    {StreamingKind::transcendental, 4, 4, true, false},
    {StreamingKind::elementwise, 1, 1, false, false},
    {StreamingKind::softmax, 5, 4, true, false},
    {StreamingKind::concatenation, 0, 0, false, false},
    {StreamingKind::resize, 8, 8, false, true},
    {StreamingKind::reduction, 1, 1, false, false},
    {StreamingKind::gather, 0, 1, false, false},
    {StreamingKind::copy, 0, 0, false, false},
    {StreamingKind::rope, 3, 3, false, false},
    {StreamingKind::gated_activation, 6, 10, true, true},
    {StreamingKind::cross_entropy, 5, 3, true, false},
    {StreamingKind::divergence, 6, 4, true, false},
    {StreamingKind::quantization, 2, 0, false, false},
    {StreamingKind::dropout, 2, 1, false, false},
    {StreamingKind::routing, 4, 4, false, false},
    {StreamingKind::optimizer, 12, 12, false, false},
}};
static_assert([] {
    for (std::size_t i = 0; i < kStreamingKinds; ++i)
        if (static_cast<std::size_t>(kFacts[i].kind) != i) return false;
    return true;
}());

const KindFacts& facts_of(StreamingKind kind) { return kFacts[static_cast<std::size_t>(kind)]; }

double sum(const std::array<double, 4>& tensors) { return std::accumulate(tensors.begin(), tensors.end(), 0.0); }

}  // namespace

double flop_per_element(StreamingKind kind, Pass pass) {
    return pass == Pass::fwd ? facts_of(kind).fwd : facts_of(kind).dgrad;
}

namespace network_detail {

Flops streaming_flop(const Streaming& layer, Pass pass) {
    const double largest = std::max(layer.written, *std::max_element(layer.read.begin(), layer.read.end()));
    const double basis = facts_of(layer.kind).per_output ? layer.written : largest;
    return Flops{flop_per_element(layer.kind, pass) * basis * layer.window};
}

OperandBytes streaming_bytes(const Streaming& layer, Pass pass, Precision precision) {
    const Bytes size = element_size(precision);
    OperandBytes b;
    b.input = sum(layer.read) * size;
    b.filter = layer.parameters * size;
    b.output = layer.written * element_size(layer.written_as.value_or(precision));
    if (pass == Pass::fwd || layer.kind == StreamingKind::elementwise) {
        // Backward of an addition copies nothing; where a residual splits, its two gradients are added: the same again.
        b.read = b.input + b.filter;
        b.written = b.output;
        return b;
    }
    const Bytes saved = facts_of(layer.kind).saves_input ? b.input : Bytes{};
    b.read = b.output + saved + b.filter;
    b.written = b.input + b.filter;
    b.input += saved;
    b.filter *= 2;
    return b;
}

}  // namespace network_detail
}  // namespace gambrel
