#include <algorithm>

#include "results.hpp"

namespace gambrel::python {
namespace {

constexpr const char* kPrecisionNames = "fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8 or int4";

Precision precision_in(const std::string& text) {
    return named<Precision>(text, "precision", precision_from, kPrecisionNames);
}
template <class T>
std::optional<T> optional_in(const std::optional<std::string>& text, const char* argument,
                             std::optional<T> (*from)(std::string_view), const char* expected) {
    return text ? std::optional(named<T>(*text, argument, from, expected)) : std::nullopt;
}

StreamingKind kind_in(const std::string& text) {
    for (std::size_t i = 0; i < kStreamingKinds; ++i)
        if (name(static_cast<StreamingKind>(i)) == text) return static_cast<StreamingKind>(i);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kStreamingKinds; ++i) names.emplace_back(name(static_cast<StreamingKind>(i)));
    fail("kind", "\"" + text + "\" is not a kind of streaming layer" + did_you_mean(text, names));
}

Layer layer_of(std::string title, decltype(Layer::op) op, const std::string& precision, bool trained) {
    Layer layer;
    layer.name = std::move(title);
    layer.op = std::move(op);
    layer.precision = precision_in(precision);
    layer.input_is_trained = trained;
    if (const auto wrong = faults(layer); !wrong.empty()) {
        Errors errors;
        for (const std::string& sentence : wrong) errors.push_back({layer.name, sentence});
        throw Failure(std::move(errors));
    }
    return layer;
}

using Sides = std::vector<std::int64_t>;

Layer convolution(std::string title, const Sides& input, const Sides& filter, const Sides& stride, const Sides& padding,
                  const Sides& dilation, std::int64_t groups, bool bias, bool transposed, const std::string& precision,
                  bool trained) {
    if (input.size() != 4 || filter.size() != 3) fail(title, "expected an input of n, c, h, w and a filter of k, r, s");
    if (stride.size() != 2 || dilation.size() != 2 || padding.size() != 4)
        fail(title, "expected a stride and a dilation of two sides and a padding of four: top, bottom, left, right");
    Convolution c;
    c.n = input[0], c.c = input[1], c.h = input[2], c.w = input[3];
    c.k = filter[0], c.r = filter[1], c.s = filter[2];
    c.stride_h = stride[0], c.stride_w = stride[1], c.dilation_h = dilation[0], c.dilation_w = dilation[1];
    c.pad_top = padding[0], c.pad_bottom = padding[1], c.pad_left = padding[2], c.pad_right = padding[3];
    c.groups = groups;
    Layer layer = layer_of(std::move(title), c, precision, trained);
    layer.bias = bias;
    if (transposed) layer.pass = Pass::dgrad;
    return layer;
}

Layer gemm(std::string title, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, bool filter,
           bool bias, bool a_transposed, bool b_transposed, const std::string& precision, bool trained) {
    Gemm g{m, n, k, batch, a_transposed, b_transposed, false, filter && batch > 1};
    Layer layer = layer_of(std::move(title), g, precision, trained);
    layer.has_filter = filter;
    layer.bias = bias;
    return layer;
}

Layer streaming(std::string title, const std::string& kind, const std::vector<double>& read, double written,
                double parameters, double window, double rows, const std::optional<std::string>& written_as,
                const std::string& precision, bool trained) {
    Streaming s;
    s.kind = kind_in(kind);
    for (std::size_t i = 0; i < read.size(); ++i) s.read[std::min<std::size_t>(i, s.read.size() - 1)] += read[i];
    s.written = written, s.parameters = parameters, s.window = window, s.rows = rows;
    if (written_as) s.written_as = precision_in(*written_as);
    return layer_of(std::move(title), s, precision, trained);
}

Layer attention(std::string title, std::int64_t batch, std::int64_t q_len, std::int64_t kv_len, std::int64_t heads,
                std::int64_t kv_heads, std::int64_t head_dim, std::int64_t head_dim_v, bool causal, std::int64_t window,
                const std::string& precision, bool trained) {
    Attention a;
    a.batch = batch, a.q_len = q_len, a.kv_len = kv_len, a.heads = heads, a.kv_heads = kv_heads;
    a.head_dim = head_dim, a.head_dim_v = head_dim_v, a.causal = causal, a.window = window;
    return layer_of(std::move(title), a, precision, trained);
}

Layer experts(std::string title, std::int64_t tokens, std::int64_t hidden, std::int64_t intermediate,
              std::int64_t count, std::int64_t topk, bool gated, const std::string& precision, bool trained) {
    MixtureOfExperts e;
    e.tokens = tokens, e.hidden = hidden, e.intermediate = intermediate, e.experts = count, e.topk = topk;
    e.gated = gated;
    return layer_of(std::move(title), e, precision, trained);
}

std::string operator_of(const Layer& layer) {
    static constexpr const char* kNames[] = {"convolution", "gemm", "", "attention", "experts", "all_reduce"};
    const auto* s = std::get_if<Streaming>(&layer.op);
    return s ? std::string(name(s->kind)) : kNames[layer.op.index()];
}

bool is_fastest(const std::string& algorithm) {
    if (algorithm != "fastest" && algorithm != "implicit")
        fail("algorithm", "\"" + algorithm + "\": expected fastest or implicit");
    return algorithm == "fastest";
}

NetworkObject load(const std::string& network, const std::string& table, std::int64_t batch, std::int64_t sequence,
                   const std::vector<std::pair<std::string, Sides>>& shapes,
                   const std::optional<std::string>& precision, const std::optional<std::string>& layout,
                   const std::optional<std::string>& pass, bool training, const std::optional<std::string>& phase,
                   std::int64_t context, std::int64_t tensor_parallel, bool fused,
                   const std::optional<std::string>& kv_precision, bool in_order, const std::string& algorithm) {
    LayerRequest r;
    r.network = network, r.table = table, r.batch = batch, r.sequence = sequence;
    for (const auto& [input, dims] : shapes) r.shapes.push_back({input, dims});
    r.precision = optional_in<Precision>(precision, "precision", precision_from, kPrecisionNames);
    r.layout = optional_in<Layout>(layout, "layout", layout_from, "nchw or nhwc");
    r.pass = optional_in<Pass>(pass, "pass_", pass_from, "fwd, dgrad or wgrad");
    r.training = training;
    r.phase = optional_in<Phase>(phase, "phase", phase_from, "prefill, decode or train");
    r.context = context, r.tensor_parallel = tensor_parallel, r.fused = fused;
    r.kv_precision = optional_in<Precision>(kv_precision, "kv_precision", precision_from, "bf16, fp16 or fp8");
    r.in_order = in_order;
    r.fastest_algorithm = is_fastest(algorithm);
    const nb::gil_scoped_release released;
    return {std::make_shared<const LayerSet>(checked(load_layers(r))), {}};
}

// Layers that a caller made, in the order in which they run; equal ones are not merged, so that each keeps its module.
NetworkObject made_of(
    const std::string& title, const std::vector<Layer>& layers,
    const std::vector<std::pair<std::string, std::string>>& origins,
    const std::vector<std::tuple<std::string, std::string, std::string, std::int64_t, double>>& unmodelled,
    double parameters, bool trained, const std::string& algorithm) {
    Network network;
    network.name = title;
    network.layers = layers;
    network.parameters = parameters;
    for (const auto& [op, reason, first, count, bytes] : unmodelled)
        network.unmodelled.push_back({op, reason, first, count, Bytes{bytes}, 0});
    if (layers.empty()) fail(title, "holds no layer");
    NetworkObject out;
    for (std::size_t i = 0; i < std::min(layers.size(), origins.size()); ++i)
        out.origins[layers[i].name] = {origins[i].first, origins[i].second};
    LayerSet set;
    set.title = title;
    set.network = trained ? training(network) : std::move(network);
    if (is_fastest(algorithm)) take_fastest_algorithms(set.network->layers);
    out.set = std::make_shared<const LayerSet>(std::move(set));
    return out;
}

// A layer table from text, for tables that come from Python and not from a file.
NetworkObject read_table(const std::string& csv, const std::string& source,
                         const std::optional<std::string>& precision) {
    LayerTableOptions options;
    options.precision = optional_in<Precision>(precision, "precision", precision_from, kPrecisionNames);
    LayerSet set;
    set.table = checked(read_layer_table(csv, source, options));
    set.title = source;
    set.notes = set.table->notes;
    return {std::make_shared<const LayerSet>(std::move(set)), {}};
}

}  // namespace

void bind_layers(nb::module_& m) {
    nb::class_<Layer>(m, "Layer",
                      "One layer: an operator with shapes, pass and precision. FLOP and bytes are of one run.")
        .def_ro("name", &Layer::name)
        .def_prop_ro("op", &operator_of)
        .def_prop_ro("pass_", [](const Layer& l) { return std::string(name(l.pass)); })
        .def_prop_ro("precision", [](const Layer& l) { return std::string(name(l.precision)); })
        .def_ro("repeat", &Layer::repeat)
        .def_prop_ro("flop", [](const Layer& l) { return flop(l).value(); })
        .def_prop_ro(
            "bytes", [](const Layer& l) { return (compulsory_bytes(l).read + compulsory_bytes(l).written).value(); },
            "Compulsory bytes: every operand once.")
        .def_static("convolution", &convolution, "name"_a, "input"_a, "filter"_a, "stride"_a = Sides{1, 1},
                    "padding"_a = Sides{0, 0, 0, 0}, "dilation"_a = Sides{1, 1}, "groups"_a = 1, "bias"_a = false,
                    "transposed"_a = false, "precision"_a = "fp32", "input_is_trained"_a = true)
        .def_static("gemm", &gemm, "name"_a, "m"_a, "n"_a, "k"_a, "batch"_a = 1, "filter"_a = true, "bias"_a = false,
                    "a_transposed"_a = false, "b_transposed"_a = false, "precision"_a = "fp32",
                    "input_is_trained"_a = true)
        .def_static("streaming", &streaming, "name"_a, "kind"_a, "read"_a, "written"_a, "parameters"_a = 0.0,
                    "window"_a = 1.0, "rows"_a = 0.0, "written_as"_a = nb::none(), "precision"_a = "fp32",
                    "input_is_trained"_a = true)
        .def_static("attention", &attention, "name"_a, "batch"_a, "q_len"_a, "kv_len"_a, "heads"_a, "kv_heads"_a,
                    "head_dim"_a, "head_dim_v"_a, "causal"_a = false, "window"_a = 0, "precision"_a = "fp32",
                    "input_is_trained"_a = true)
        .def_static("experts", &experts, "name"_a, "tokens"_a, "hidden"_a, "intermediate"_a, "count"_a, "topk"_a,
                    "gated"_a = true, "precision"_a = "fp32", "input_is_trained"_a = true)
        .def("__repr__", [](const Layer& l) {
            return "<Layer " + l.name + ": " + operator_of(l) + ", " + to_text(flop(l), 3) + ">";
        });
    nb::class_<Unmodelled>(m, "Unmodelled", "An operator that has no layer here, and why.")
        .def_ro("op", &Unmodelled::op)
        .def_ro("reason", &Unmodelled::reason)
        .def_ro("first", &Unmodelled::first)
        .def_ro("count", &Unmodelled::count)
        .def_prop_ro("bytes", [](const Unmodelled& u) { return u.bytes.value(); })
        .def("__repr__", [](const Unmodelled& u) { return "<Unmodelled " + u.op + ": " + u.reason + ">"; });
    nb::class_<NetworkObject>(m, "Network", "Layers in the order in which they run.")
        .def_prop_ro("title", [](const NetworkObject& n) { return n.set->title; })
        .def_prop_ro("layers", &NetworkObject::layers)
        .def_prop_ro("notes", [](const NetworkObject& n) { return n.set->notes; })
        .def_prop_ro(
            "modules",
            [](const NetworkObject& n) {
                std::map<std::string, std::string> all;
                for (const auto& [layer, origin] : n.origins) all[layer] = origin.module;
                return all;
            },
            "Of a module: the path of the module of each layer.")
        .def_prop_ro("unmodelled",
                     [](const NetworkObject& n) {
                         return n.set->network ? n.set->network->unmodelled : std::vector<Unmodelled>{};
                     })
        .def_prop_ro(
            "parameters",
            [](const NetworkObject& n) {
                const bool known = n.set->network && n.set->network->parameters > 0;
                return known ? std::optional(n.set->network->parameters) : std::nullopt;
            },
            "None where the source does not say.")
        .def_prop_ro("flop",
                     [](const NetworkObject& n) {
                         double sum = 0;
                         for (const Layer& l : n.layers()) sum += flop(l).value() * l.repeat;
                         return sum;
                     })
        .def_prop_ro(
            "matrix_flop",
            [](const NetworkObject& n) {
                Network all;
                all.layers = n.layers();
                return totals(all).matrix_flop.value();
            },
            "FLOP of convolutions, GEMMs, attention and experts.")
        .def("__len__", [](const NetworkObject& n) { return n.layers().size(); })
        .def("__repr__", [](const NetworkObject& n) {
            return "<Network " + n.set->title + ", " + std::to_string(n.layers().size()) + " layers>";
        });
    m.def("load_network", &load, "network"_a = "", "table"_a = "", "batch"_a = 0, "sequence"_a = 0,
          "shapes"_a = std::vector<std::pair<std::string, Sides>>{}, "precision"_a = nb::none(),
          "layout"_a = nb::none(), "pass_"_a = nb::none(), "training"_a = false, "phase"_a = nb::none(),
          "context"_a = 0, "tensor_parallel"_a = 0, "fused"_a = true, "kv_precision"_a = nb::none(),
          "in_order"_a = false, "algorithm"_a = "fastest");
    m.def("make_network", &made_of, "title"_a, "layers"_a, "origins"_a, "unmodelled"_a, "parameters"_a, "training"_a,
          "algorithm"_a = "fastest");
    m.def("read_table", &read_table, "csv"_a, "source"_a, "precision"_a = nb::none());
    m.def("network_names", [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const BuiltinNetwork& n : builtin_networks()) all.emplace_back(n.name, n.what);
        for (const BuiltinNetwork& n : builtin_models()) all.emplace_back(n.name, n.what);
        return all;
    });
}

}  // namespace gambrel::python
