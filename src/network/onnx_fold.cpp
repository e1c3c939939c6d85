#include "network/onnx_fold.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "network/onnx_graph.hpp"

namespace gambrel::network_detail {
namespace {

constexpr int kLongestChain = 8;  // nodes between a product and its softmax

struct Pattern {
    std::size_t last = 0;         // the node whose layer stands for all
    std::set<std::size_t> nodes;  // those whose layers go, without `last`
};

class Folding {
public:
    Folding(const OnnxModel& model, const std::vector<std::size_t>& first_layer, OnnxState& state)
        : graph_(model), first_layer_(first_layer), state_(state), dead_(state.network.layers.size()) {}

    FoldedPatterns run() {
        FoldedPatterns count;
        for (std::size_t i = 0; i < graph_.size(); ++i) {
            if (graph_.is(i, {"Softmax"}) && attention(i)) ++count.attentions;
            if (graph_.is(i, {"Sqrt"}) && norm(i)) ++count.norms;
        }
        std::vector<Layer>& layers = state_.network.layers;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            if (dead_[i]) continue;
            if (kept != i) layers[kept] = std::move(layers[i]);
            ++kept;
        }
        layers.resize(kept);
        return count;
    }

private:
    [[nodiscard]] const Dims* dims(std::string_view name) const {
        const auto it = state_.values.find(name);
        return it != state_.values.end() && it->second.known ? &it->second.dims : nullptr;
    }
    [[nodiscard]] bool constant(std::string_view name) const {
        const auto it = state_.values.find(name);
        return it != state_.values.end() && it->second.constant;
    }
    [[nodiscard]] bool one_number(std::string_view name) const {
        const Dims* found = dims(name);
        return found != nullptr && constant(name) && element_count(*found) == 1;
    }
    // The layer of a node that has exactly one.
    [[nodiscard]] Layer* layer_of(std::size_t node) const {
        if (first_layer_[node + 1] != first_layer_[node] + 1 || dead_[first_layer_[node]]) return nullptr;
        return &state_.network.layers[first_layer_[node]];
    }
    void replace(const Pattern& pattern) {
        for (const std::size_t node : pattern.nodes)
            for (std::size_t i = first_layer_[node]; i < first_layer_[node + 1]; ++i) dead_[i] = true;
    }

    // Back from a softmax over scaling and masks to the product of queries and keys.
    std::optional<std::size_t> scores_before(std::string_view name, Pattern& pattern, int left) const {
        const auto node = graph_.producer(name);
        if (!node || left == 0 || graph_.uses(name) != 1) return std::nullopt;
        if (graph_.is(*node, {"MatMul"})) return node;
        if (!graph_.is(*node, {"Mul", "Div", "Add", "Where", "Cast", "Reshape"})) return std::nullopt;
        for (const std::string_view input : graph_.node(*node).inputs)
            if (const auto found = scores_before(input, pattern, left - 1)) {
                pattern.nodes.insert(*node);
                return found;
            }
        return std::nullopt;
    }
    // Kernels read heads where they lie and scale as they go: transpositions and factors before a product vanish.
    void operand_before(std::string_view name, Pattern& pattern) const {
        for (int left = kLongestChain; left > 0; --left) {
            const auto node = graph_.producer(name);
            if (!node || graph_.uses(name) != 1) return;
            const OnnxNode& n = graph_.node(*node);
            const bool factor = graph_.is(*node, {"Mul", "Div"}) && n.inputs.size() == 2 && one_number(n.inputs[1]);
            if (!factor && !graph_.is(*node, {"Transpose"})) return;
            pattern.nodes.insert(*node);
            name = n.inputs[0];
        }
    }

    bool attention(std::size_t softmax) {
        Pattern pattern;
        pattern.nodes.insert(softmax);
        const auto scores = scores_before(graph_.node(softmax).inputs.at(0), pattern, kLongestChain);
        if (!scores) return false;
        pattern.nodes.insert(*scores);
        std::string_view name = graph_.node(softmax).outputs[0];
        auto next = graph_.only_consumer(name);
        for (int left = kLongestChain; next && left > 0 && graph_.is(*next, {"Cast", "Dropout", "Reshape"}); --left) {
            pattern.nodes.insert(*next);
            name = graph_.node(*next).outputs[0];
            next = graph_.only_consumer(name);
        }
        if (!next || !graph_.is(*next, {"MatMul"}) || graph_.node(*next).inputs[0] != name) return false;
        const OnnxNode &product = graph_.node(*scores), &context = graph_.node(*next);
        Layer* layer = layer_of(*next);
        const auto shape = shape_of(product, context);
        if (layer == nullptr || !shape) return false;
        for (const std::string_view operand : {product.inputs[0], product.inputs[1], context.inputs[1]})
            operand_before(operand, pattern);
        if (const auto merge = graph_.only_consumer(context.outputs[0]); merge && graph_.is(*merge, {"Transpose"}))
            pattern.nodes.insert(*merge);
        layer->op = *shape;
        layer->bias = false;
        layer->has_filter = false;
        replace(pattern);
        return true;
    }
    // Masks are tensors in a graph, so nothing is known to be masked.
    [[nodiscard]] std::optional<Attention> shape_of(const OnnxNode& product, const OnnxNode& context) const {
        if (product.inputs.size() != 2 || context.inputs.size() != 2) return std::nullopt;
        const Dims *q = dims(product.inputs[0]), *k = dims(product.inputs[1]), *v = dims(context.inputs[1]);
        if (!q || !k || !v || q->size() < 3 || k->size() != q->size() || v->size() != q->size()) return std::nullopt;
        const std::size_t rank = q->size();
        const auto outer = [&](const Dims& d) { return Dims(d.begin(), d.end() - 2); };
        if (outer(*q) != outer(*k) || outer(*q) != outer(*v)) return std::nullopt;
        Attention a;
        a.heads = a.kv_heads = rank > 3 ? (*q)[rank - 3] : 1;
        const double batch = element_count(outer(*q)) / static_cast<double>(std::max<std::int64_t>(1, a.heads));
        if (batch < 1 || batch > 0x1p31) return std::nullopt;
        a.batch = to_integer(batch);
        a.q_len = (*q)[rank - 2], a.head_dim = (*q)[rank - 1];
        a.kv_len = (*k)[rank - 1], a.head_dim_v = (*v)[rank - 1];
        if ((*k)[rank - 2] != a.head_dim || (*v)[rank - 2] != a.kv_len || !faults(a).empty()) return std::nullopt;
        return a;
    }

    // The tensor before a cast that nothing but the norm takes; the cast joins the pattern.
    std::string_view before_cast(std::string_view name, std::size_t uses, Pattern& pattern) const {
        const auto node = producer_is(name, {"Cast"});
        if (!node || graph_.uses(name) != uses) return name;
        pattern.nodes.insert(*node);
        return graph_.node(*node).inputs[0];
    }
    std::optional<std::size_t> producer_is(std::string_view name, std::initializer_list<std::string_view> ops) const {
        const auto node = graph_.producer(name);
        return node && graph_.is(*node, ops) && !graph_.node(*node).inputs.empty() ? node : std::nullopt;
    }

    // sqrt(mean(c^2) + epsilon), and c divided by it; c is x, or x less its mean.
    bool norm(std::size_t root) {
        Pattern pattern;
        const auto add = producer_is(graph_.node(root).inputs.at(0), {"Add"});
        if (!add || graph_.node(*add).inputs.size() != 2) return false;
        const bool second = one_number(graph_.node(*add).inputs[0]);
        const auto mean = producer_is(graph_.node(*add).inputs[second ? 1 : 0], {"ReduceMean"});
        if (!mean) return false;
        const auto square = producer_is(graph_.node(*mean).inputs[0], {"Pow", "Mul"});
        if (!square) return false;
        const OnnxNode& squared = graph_.node(*square);
        if (squared.inputs.size() != 2 || (squared.op == "Mul" && squared.inputs[0] != squared.inputs[1])) return false;
        const std::string_view centred = squared.inputs[0];
        for (const std::size_t node : {*add, *mean, *square})
            if (graph_.uses(graph_.node(node).outputs[0]) != 1) return false;
        pattern.nodes.insert({*add, *mean, *square, root});
        auto next = graph_.only_consumer(graph_.node(root).outputs[0]);
        if (next && graph_.is(*next, {"Reciprocal"})) {
            pattern.nodes.insert(*next);
            next = graph_.only_consumer(graph_.node(*next).outputs[0]);
        }
        if (!next || !graph_.is(*next, {"Div", "Mul"}) || graph_.node(*next).inputs.size() != 2) return false;
        const auto& divided = graph_.node(*next).inputs;
        if (divided[0] != centred && divided[1] != centred) return false;
        pattern.last = *next;
        return finish_norm(before_mean(centred, squared.op == "Mul" ? 3 : 2, pattern), pattern);
    }
    struct Centred {
        std::string_view input;
        bool less_mean;
    };
    // `uses`: how often the norm itself takes the tensor that it squares.
    Centred before_mean(std::string_view centred, std::size_t uses, Pattern& pattern) const {
        const auto sub = producer_is(centred, {"Sub"});
        if (sub && graph_.uses(centred) == uses && graph_.node(*sub).inputs.size() == 2) {
            const OnnxNode& n = graph_.node(*sub);
            const auto mean = producer_is(n.inputs[1], {"ReduceMean"});
            if (mean && graph_.uses(n.inputs[1]) == 1 && graph_.node(*mean).inputs[0] == n.inputs[0]) {
                pattern.nodes.insert({*sub, *mean});
                return {before_cast(n.inputs[0], 2, pattern), true};
            }
        }
        return {before_cast(centred, uses, pattern), false};
    }
    // Scale and shift follow, then the norm is one layer.
    bool finish_norm(const Centred& from, Pattern& pattern) {
        double parameters = 0;
        for (const std::string_view op : {"Mul", "Add"}) {
            const auto [next, cast] = after_cast(pattern.last);
            if (!next || !graph_.is(*next, {op}) || graph_.node(*next).inputs.size() != 2) continue;
            const auto& inputs = graph_.node(*next).inputs;
            const std::string_view other = constant(inputs[0]) ? inputs[0] : inputs[1];
            if (!constant(other) || dims(other) == nullptr) continue;
            parameters += element_count(*dims(other));
            pattern.nodes.insert({pattern.last, cast});
            pattern.last = *next;
        }
        pattern.nodes.erase(pattern.last);
        Layer* layer = layer_of(pattern.last);
        const Dims *x = dims(from.input), *y = dims(graph_.node(pattern.last).outputs[0]);
        if (layer == nullptr || x == nullptr || y == nullptr || *x != *y) return false;
        const StreamingKind kind = from.less_mean ? StreamingKind::layer_norm : StreamingKind::rms_norm;
        layer->op = Streaming{kind, {element_count(*x)}, parameters, element_count(*y), 1};
        replace(pattern);
        return true;
    }
    // The only node that takes what `node` gives, and the cast that stands between them, or `node` itself.
    [[nodiscard]] std::pair<std::optional<std::size_t>, std::size_t> after_cast(std::size_t node) const {
        const auto next = graph_.only_consumer(graph_.node(node).outputs[0]);
        if (!next || !graph_.is(*next, {"Cast"})) return {next, node};
        return {graph_.only_consumer(graph_.node(*next).outputs[0]), *next};
    }

    OnnxGraph graph_;
    const std::vector<std::size_t>& first_layer_;
    OnnxState& state_;
    std::vector<bool> dead_;
};

}  // namespace

FoldedPatterns fold_patterns(const OnnxModel& model, const std::vector<std::size_t>& first_layer, OnnxState& state) {
    return Folding(model, first_layer, state).run();
}

}  // namespace gambrel::network_detail
