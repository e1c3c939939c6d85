#include <gambrel/network.hpp>

#include <algorithm>
#include <unordered_map>

namespace gambrel {

Totals totals(const Network& network) {
    Totals sum;
    for (const Layer& layer : network.layers) {
        const Flops work = flop(layer) * layer.repeat;
        const OperandBytes bytes = compulsory_bytes(layer);
        sum.flop += work;
        if (!std::holds_alternative<Streaming>(layer.op) && !std::holds_alternative<AllReduce>(layer.op))
            sum.matrix_flop += work;
        sum.bytes += (bytes.read + bytes.written) * layer.repeat;
    }
    for (const Unmodelled& op : network.unmodelled) sum.unmodelled += op.bytes;
    return sum;
}

double unmodelled_share(const Network& network) {
    const Totals sum = totals(network);
    const Bytes all = sum.bytes + sum.unmodelled;
    return all.value() > 0 ? sum.unmodelled / all : 0;
}

std::vector<Layer> merged(std::span<const Layer> layers) {
    std::vector<Layer> result;
    // Only layers of equal work can be equal; a table of thousands of rows is not compared row by row.
    std::unordered_map<double, std::vector<std::size_t>> by_work;
    for (const Layer& layer : layers) {
        const auto same = [&](std::size_t i) {
            const Layer& other = result[i];
            return other.op == layer.op && other.pass == layer.pass && other.precision == layer.precision &&
                   other.weights == layer.weights && other.layout == layer.layout &&
                   other.input_is_trained == layer.input_is_trained && other.has_filter == layer.has_filter &&
                   other.bias == layer.bias && other.hints == layer.hints;
        };
        auto& candidates = by_work[flop(layer).value() + compulsory_bytes(layer).written.value()];
        const auto it = std::find_if(candidates.begin(), candidates.end(), same);
        if (it == candidates.end()) {
            candidates.push_back(result.size());
            result.push_back(layer);
        } else {
            result[*it].repeat += layer.repeat;
        }
    }
    return result;
}

namespace {

// Statistics of a channel are over all pictures, so the whole tensor passes before its values are read again; in the
// backward pass the gradient of the output, too.
void find_statistics(Streaming& s, Pass pass) {
    s.kind = StreamingKind::batch_norm_training;
    s.read_again = (pass == Pass::fwd ? 1 : 2) * s.read[0];
    s.rows = s.rows_per_sm = 1;
}

}  // namespace

Network training(const Network& network) {
    Network result = network;
    for (Layer& layer : result.layers)
        if (auto* s = std::get_if<Streaming>(&layer.op); s != nullptr && s->kind == StreamingKind::batch_norm)
            find_statistics(*s, Pass::fwd);
    const std::vector<Layer> forward = result.layers;
    for (auto layer = forward.rbegin(); layer != forward.rend(); ++layer) {
        // The backward pass of these is one layer: it finds all gradients at once.
        const bool one_pass = std::holds_alternative<Streaming>(layer->op) ||
                              std::holds_alternative<Attention>(layer->op) ||
                              std::holds_alternative<AllReduce>(layer->op);
        const auto add = [&](Pass pass) {
            result.layers.push_back(*layer);
            result.layers.back().pass = pass;
            result.layers.back().bias = false;
            auto* s = std::get_if<Streaming>(&result.layers.back().op);
            if (s != nullptr && s->kind == StreamingKind::batch_norm_training) find_statistics(*s, pass);
        };
        // A transposed convolution runs forward as a dgrad; the gradient of its input is then a plain convolution.
        const Pass to_input = layer->pass == Pass::dgrad ? Pass::fwd : Pass::dgrad;
        // A norm learns its scale even where its input learns nothing.
        const auto* streaming = std::get_if<Streaming>(&layer->op);
        const bool learns = streaming != nullptr && streaming->parameters > 0;
        if (layer->input_is_trained || learns) add(to_input);
        if (!one_pass && (layer->has_filter || layer->input_is_trained)) add(Pass::wgrad);
    }
    return result;
}

Network with_precision(Network network, Precision precision) {
    for (Layer& layer : network.layers)
        if (layer.precision != Precision::int8) layer.precision = precision;
    return network;
}

Network with_layout(Network network, Layout layout) {
    for (Layer& layer : network.layers) layer.layout = layout;
    return network;
}

}  // namespace gambrel
