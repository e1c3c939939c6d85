// Operators of ONNX that stream: pooling, norms, activations, element-wise, softmax, reductions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "network/onnx_node.hpp"
#include "network/onnx_window.hpp"

namespace gambrel::network_detail {
namespace {

template <StreamingKind Kind>
void pool(NodeRun& run) {
    const Dims& x = run.dims(0, 3);
    const Window w = window_of(run, Dims(x.begin() + 2, x.end()), {});
    Dims y = {x[0], x[1]};
    y.insert(y.end(), w.output.begin(), w.output.end());
    run.out(0, y, run.in(0).type);
    run.out(1, y, kOnnxInt64);
    run.stream(Kind, element_count(w.filter));
}

template <StreamingKind Kind>
void global_pool(NodeRun& run) {
    Dims y = run.dims(0, 2);
    double window = 1;
    for (std::size_t i = 2; i < y.size(); ++i) {
        window *= static_cast<double>(y[i]);
        y[i] = 1;
    }
    run.out(0, y, run.in(0).type);
    run.stream(Kind, std::max(1.0, window));
}

// Scale and shift are learned; the running mean and variance of a batch norm are read, but are not parameters.
template <StreamingKind Kind>
void norm(NodeRun& run) {
    const Dims& x = run.dims(0);
    run.out(0, x, run.in(0).type);
    // Mean and deviation, if asked for: one of each channel, or of each row that is normalised.
    Dims statistics = x;
    if (Kind == StreamingKind::batch_norm) {
        statistics = {x.size() > 1 ? x[1] : 1};
    } else if (run.outputs() > 1) {
        for (std::size_t i = run.axis(run.integer("axis", -1), x.size()); i < x.size(); ++i) statistics[i] = 1;
    }
    for (std::size_t i = 1; i < run.outputs(); ++i) run.out(i, statistics, run.in(0).type);
    Streaming s{Kind, {run.elements(0)}, 0, 0, 1};
    for (std::size_t i = 1; i < std::min<std::size_t>(run.inputs(), 3); ++i) {
        if (!run.has(i)) continue;
        s.parameters += run.elements(i);
        run.count_parameter(i);
    }
    run.stream(s, 0);
}

void lrn(NodeRun& run) {
    run.out(0, run.dims(0), run.in(0).type);
    run.stream(StreamingKind::local_response_norm,
               static_cast<double>(std::clamp<std::int64_t>(run.integer("size", 1), 1, 1 << 20)));
}

std::optional<std::vector<double>> folded(const NodeRun& run) {
    const auto& values = run.in(0).values;
    if (!values) return std::nullopt;
    const std::string_view op = run.node().op;
    std::vector<double> result = *values;
    for (double& v : result) {
        if (op == "Neg")
            v = -v;
        else if (op == "Abs")
            v = std::abs(v);
        else if (op == "Floor")
            v = std::floor(v);
        else if (op == "Ceil")
            v = std::ceil(v);
        else if (op == "Sqrt")
            v = std::sqrt(v);
        else if (op == "Not")
            v = v == 0 ? 1 : 0;
        else
            return std::nullopt;
    }
    return result;
}

template <StreamingKind Kind>
void unary(NodeRun& run) {
    run.out(0, run.dims(0), run.in(0).type, folded(run));
    run.stream(Streaming{Kind, {run.in(0).constant ? 0 : run.elements(0)}, 0, 0, 1}, 0);
}

void prelu(NodeRun& run) {
    run.out(0, run.dims(0), run.in(0).type);
    run.stream(StreamingKind::activation);
}

double apply(std::string_view op, double a, double b, bool integers) {
    if (op == "Add") return a + b;
    if (op == "Sub") return a - b;
    if (op == "Mul") return a * b;
    if (op == "Div") return integers ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    if (op == "Mod") return b == 0 ? 0 : a - b * std::floor(a / b);
    if (op == "Pow") return std::pow(a, b);
    if (op == "Min") return std::min(a, b);
    if (op == "Max") return std::max(a, b);
    if (op == "Equal") return a == b ? 1 : 0;
    if (op == "Greater") return a > b ? 1 : 0;
    if (op == "Less") return a < b ? 1 : 0;
    if (op == "GreaterOrEqual") return a >= b ? 1 : 0;
    if (op == "LessOrEqual") return a <= b ? 1 : 0;
    if (op == "And") return a != 0 && b != 0 ? 1 : 0;
    if (op == "Or") return a != 0 || b != 0 ? 1 : 0;
    return std::nan("");
}

// Values of shapes are scalars or lists of one dimension: equal lengths, or one of them of length one.
std::optional<std::vector<double>> folded_pair(const NodeRun& run) {
    if (run.inputs() != 2 || !run.in(0).values || !run.in(1).values) return std::nullopt;
    const auto &a = *run.in(0).values, &b = *run.in(1).values;
    if (run.dims(0).size() > 1 || run.dims(1).size() > 1 || a.empty() || b.empty()) return std::nullopt;
    const bool integers = run.in(0).type == kOnnxInt64 || run.in(0).type == kOnnxInt32;
    std::vector<double> result(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = apply(run.node().op, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i], integers);
        if (std::isnan(result[i])) return std::nullopt;
    }
    return result;
}

void combine_as(NodeRun& run, std::optional<int> type) {
    Dims y = run.dims(0);
    for (std::size_t i = 1; i < run.inputs(); ++i) y = broadcast(y, run.dims(i));
    run.out(0, y, type.value_or(run.in(0).type), folded_pair(run));
    run.stream(StreamingKind::elementwise, static_cast<double>(std::max<std::size_t>(run.inputs(), 2) - 1));
}
void combine(NodeRun& run) { combine_as(run, std::nullopt); }
void comparison(NodeRun& run) { combine_as(run, kOnnxBool); }

void where(NodeRun& run) {
    const Dims y = broadcast(run.dims(0), broadcast(run.dims(1), run.dims(2)));
    std::optional<std::vector<double>> values;
    if (y.size() <= 1 && run.in(0).values && run.in(1).values && run.in(2).values) {
        const auto &c = *run.in(0).values, &a = *run.in(1).values, &b = *run.in(2).values;
        if (!a.empty() && !b.empty() && !c.empty()) {
            const auto at = [](const std::vector<double>& v, std::size_t i) { return v[v.size() == 1 ? 0 : i]; };
            values.emplace();
            for (std::size_t i = 0; i < std::max({a.size(), b.size(), c.size()}); ++i)
                values->push_back(at(c, i) != 0 ? at(a, i) : at(b, i));
        }
    }
    run.out(0, y, run.in(1).type, values);
    run.stream(StreamingKind::elementwise);
}

Dims reduced(const NodeRun& run, const std::optional<std::vector<std::int64_t>>& axes) {
    const Dims& x = run.dims(0);
    const bool keep = run.integer("keepdims", 1) != 0;
    std::vector<bool> gone(x.size(), !axes || axes->empty());
    if (axes && axes->empty() && run.integer("noop_with_empty_axes", 0) != 0) gone.assign(x.size(), false);
    if (axes)
        for (const std::int64_t a : *axes) gone[run.axis(a, x.size())] = true;
    Dims y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!gone[i])
            y.push_back(x[i]);
        else if (keep)
            y.push_back(1);
    }
    return y;
}

void reduce(NodeRun& run) {
    const Dims y = reduced(run, run.list_or_input("axes", 1));
    std::optional<std::vector<double>> values;
    if (run.node().op == "ReduceProd" && element_count(y) == 1 && run.in(0).values) {
        values = {1.0};
        for (const double v : *run.in(0).values) (*values)[0] *= v;
    }
    run.out(0, y, run.in(0).type, values);
    run.stream(Streaming{StreamingKind::reduction, {run.elements(0)}, 0, 0, 1}, 0);
}

void arg_reduce(NodeRun& run) {
    run.out(0, reduced(run, std::vector<std::int64_t>{run.integer("axis", 0)}), kOnnxInt64);
    run.stream(Streaming{StreamingKind::reduction, {run.elements(0)}, 0, 0, 1}, 0);
}

void test_of_each(NodeRun& run) {
    run.out(0, run.dims(0), kOnnxBool);
    run.stream(Streaming{StreamingKind::activation, {run.elements(0)}, 0, 0, 1}, 0);
}

void quantize(NodeRun& run) {
    const bool forward = run.node().op == "QuantizeLinear";
    run.out(0, run.dims(0), forward ? (run.has(2) ? run.in(2).type : kOnnxUint8) : run.in(1).type);
    run.stream(Streaming{StreamingKind::elementwise, {run.in(0).constant ? 0 : run.elements(0)}, 0, 0, 1}, 0);
}

}  // namespace

Infer streaming_operator(std::string_view op) {
    using enum StreamingKind;
    static const std::unordered_map<std::string_view, Infer> kOperators = [] {
        std::unordered_map<std::string_view, Infer> table = {
            {"MaxPool", pool<max_pool>},
            {"AveragePool", pool<average_pool>},
            {"LpPool", pool<average_pool>},
            {"GlobalAveragePool", global_pool<average_pool>},
            {"GlobalMaxPool", global_pool<max_pool>},
            {"BatchNormalization", norm<batch_norm>},
            {"LayerNormalization", norm<layer_norm>},
            {"GroupNormalization", norm<group_norm>},
            {"InstanceNormalization", norm<group_norm>},
            {"RMSNormalization", norm<rms_norm>},
            {"SimplifiedLayerNormalization", norm<rms_norm>},
            {"LRN", lrn},
            {"PRelu", prelu},
            {"Where", where},
            {"Softmax", unary<softmax>},
            {"LogSoftmax", unary<softmax>},
            {"ArgMax", arg_reduce},
            {"ArgMin", arg_reduce},
            {"QuantizeLinear", quantize},
            {"DequantizeLinear", quantize},
            {"Clip", unary<activation>},
            {"Hardmax", unary<softmax>},
            {"LpNormalization", unary<rms_norm>},
            {"IsNaN", test_of_each},
            {"IsInf", test_of_each},
            {"Trilu", unary<copy>},
            {"CumSum", unary<activation>},
        };
        for (const char* name : {"Relu", "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "HardSwish", "Neg", "Abs",
                                 "Floor", "Ceil", "Round", "Sign", "Not"})
            table[name] = unary<activation>;
        for (const char* name : {"Sigmoid", "Tanh", "Gelu", "Erf", "Elu", "Selu", "Celu", "Softplus", "Softsign",
                                 "Mish", "Exp", "Log", "Sqrt", "Reciprocal", "Tan", "Sin", "Cos", "Swish"})
            table[name] = unary<transcendental>;
        for (const char* name : {"Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "BitwiseAnd",
                                 "BitwiseOr", "BitwiseXor", "BitShift"})
            table[name] = combine;
        for (const char* name : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor"})
            table[name] = comparison;
        for (const char* name : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                                 "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"})
            table[name] = reduce;
        return table;
    }();
    const auto it = kOperators.find(op);
    return it == kOperators.end() ? nullptr : it->second;
}

}  // namespace gambrel::network_detail
