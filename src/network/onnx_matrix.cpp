// Convolutions and GEMMs of ONNX.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "network/onnx_node.hpp"
#include "network/onnx_window.hpp"

namespace gambrel::network_detail {
namespace {

struct ConvInputs {
    std::size_t data = 0, filter = 1, bias = 2;
};

Convolution two_sided(const Window& w, std::int64_t n, std::int64_t groups) {
    Convolution v;
    v.n = n, v.groups = groups;
    const std::size_t last = w.filter.size() - 1;
    v.s = w.filter[last], v.stride_w = w.stride[last], v.dilation_w = w.dilation[last];
    v.pad_left = w.begin[last], v.pad_right = w.end[last];
    if (last == 1) {
        v.r = w.filter[0], v.stride_h = w.stride[0], v.dilation_h = w.dilation[0];
        v.pad_top = w.begin[0], v.pad_bottom = w.end[0];
    }
    return v;
}

void check_rank(const NodeRun& run, const ConvInputs& at) {
    if (run.dims(at.data, 3).size() != run.dims(at.filter, 3).size())
        throw NotInferred{fmt::format("input {} and filter {} differ in rank", shape_text(run.dims(at.data)),
                                      shape_text(run.dims(at.filter)))};
}

void convolution(NodeRun& run, const ConvInputs& at) {
    check_rank(run, at);
    const Dims &x = run.dims(at.data), &f = run.dims(at.filter);
    const Window w = window_of(run, Dims(x.begin() + 2, x.end()), Dims(f.begin() + 2, f.end()));
    Dims y = {x[0], f[0]};
    y.insert(y.end(), w.output.begin(), w.output.end());
    const std::int64_t groups = run.integer("group", 1);
    if (groups < 1 || groups > x[1] || f[1] * groups != x[1])
        throw NotInferred{
            fmt::format("input {}, filter {}, group {} do not fit", shape_text(x), shape_text(f), groups)};
    run.out(0, y, run.in(at.data).type);
    if (x.size() > 4) throw NotInferred{"a convolution of three or more dimensions has no layer"};
    Convolution v = two_sided(w, x[0], groups);
    v.c = x[1], v.k = f[0], v.h = x.size() == 4 ? x[2] : 1, v.w = x.back();
    run.emit(v, Pass::fwd, at.data, at.filter, at.bias);
}

void conv(NodeRun& run) { convolution(run, {}); }
void conv_integer(NodeRun& run) { convolution(run, {0, 1, SIZE_MAX}); }
void qlinear_conv(NodeRun& run) { convolution(run, {0, 3, 8}); }

// The dgrad of the convolution that maps its output to its input.
void conv_transpose(NodeRun& run) {
    check_rank(run, {});
    const Dims &x = run.dims(0), &f = run.dims(1);
    const std::int64_t groups = run.integer("group", 1);
    Window w = transposed_window_of(run, Dims(x.begin() + 2, x.end()), Dims(f.begin() + 2, f.end()));
    if (groups < 1 || groups > x[1] || f[0] != x[1])
        throw NotInferred{fmt::format("input {}, filter {}", shape_text(x), shape_text(f))};
    Dims y = {x[0], f[1] * groups};
    y.insert(y.end(), w.output.begin(), w.output.end());
    run.out(0, y, run.in(0).type);
    if (x.size() > 4) throw NotInferred{"a convolution of three or more dimensions has no layer"};
    Convolution v = two_sided(w, x[0], groups);
    v.c = y[1], v.k = x[1], v.h = x.size() == 4 ? y[2] : 1, v.w = y.back();
    run.emit(v, Pass::dgrad, 0, 1, 2);
}

void gemm(NodeRun& run) {
    const Dims &a = run.dims(0, 2), &b = run.dims(1, 2);
    Gemm g;
    g.a_transposed = run.integer("transA", 0) != 0, g.b_transposed = run.integer("transB", 0) != 0;
    g.m = a[g.a_transposed ? 1 : 0], g.k = a[g.a_transposed ? 0 : 1], g.n = b[g.b_transposed ? 0 : 1];
    if (b[g.b_transposed ? 1 : 0] != g.k)
        throw NotInferred{fmt::format("{} times {} does not fit", shape_text(a), shape_text(b))};
    run.out(0, {g.m, g.n}, run.in(0).type);
    run.emit(g, 2);
}

void matmul_of(NodeRun& run, std::size_t first, std::size_t second) {
    Dims a = run.dims(first, 1), b = run.dims(second, 1);
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    Gemm g;
    g.m = a[a.size() - 2], g.k = a.back(), g.n = b.back();
    if (b[b.size() - 2] != g.k)
        throw NotInferred{fmt::format("{} times {} does not fit", shape_text(a), shape_text(b))};
    const Dims batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
    Dims y = broadcast(batch_a, batch_b);
    const double batch = element_count(y), of_a = element_count(batch_a), of_b = element_count(batch_b);
    if (batch > 0x1p31) throw NotInferred{"a batch of more than 2^31"};
    g.batch = to_integer(batch);
    g.a_shared = of_a == 1 && batch > 1, g.b_shared = of_b == 1 && batch > 1;
    if (g.b_shared && static_cast<double>(g.m) * batch <= 0x1p31) g.m *= g.batch, g.batch = 1, g.b_shared = false;
    if (!row) y.push_back(a[a.size() - 2]);
    if (!column) y.push_back(g.n);
    run.out(0, y, run.in(first).type);
    if (element_count(y) == 0 || g.k == 0) return;
    run.emit(g);
}

void matmul(NodeRun& run) { matmul_of(run, 0, 1); }
void qlinear_matmul(NodeRun& run) { matmul_of(run, 0, 3); }

// Two operands; a letter of both and the output is a batch, of both only is summed, of one and the output is kept.
void einsum(NodeRun& run) {
    std::string equation(run.text("equation"));
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    if (run.inputs() != 2 || comma == std::string::npos || arrow == std::string::npos || comma > arrow ||
        equation.find('.') != std::string::npos)
        throw NotInferred{fmt::format("equation \"{}\": only two operands and an output are modelled", equation)};
    const std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow - comma - 1);
    const std::string y = equation.substr(arrow + 2);
    if (run.dims(0).size() != a.size() || run.dims(1).size() != b.size())
        throw NotInferred{fmt::format("equation \"{}\" does not fit {} and {}", equation, shape_text(run.dims(0)),
                                      shape_text(run.dims(1)))};
    std::array<std::int64_t, 256> size{};
    for (std::size_t i = 0; i < a.size(); ++i) size[static_cast<unsigned char>(a[i])] = run.dims(0)[i];
    for (std::size_t i = 0; i < b.size(); ++i) size[static_cast<unsigned char>(b[i])] = run.dims(1)[i];
    Dims out;
    for (const char c : y) out.push_back(size[static_cast<unsigned char>(c)]);
    run.out(0, out, run.in(0).type);
    std::array<double, 4> extent = {1, 1, 1, 1};  // m, n, k, batch
    for (std::size_t c = 0; c < size.size(); ++c) {
        const auto in = [c](const std::string& s) { return s.find(static_cast<char>(c)) != std::string::npos; };
        if (!in(a) && !in(b)) continue;
        extent[in(a) && in(b) ? (in(y) ? 3 : 2) : in(a) ? 0 : 1] *= static_cast<double>(size[c]);
    }
    Gemm g;
    g.m = to_integer(extent[0]), g.n = to_integer(extent[1]), g.k = to_integer(extent[2]);
    g.batch = to_integer(extent[3]);
    run.emit(g);
}

// Scores, softmax and context as three layers: what a kernel that fuses them saves is not the network's to say.
void attention(NodeRun& run) {
    const Dims &q = run.dims(0, 3), &k = run.dims(1, 3), &v = run.dims(2, 3);
    const bool by_head = q.size() == 4;
    const std::int64_t q_heads = by_head ? q[1] : run.integer("q_num_heads", 0);
    const std::int64_t kv_heads = by_head ? k.at(1) : run.integer("kv_num_heads", 0);
    if (q.size() > 4 || k.size() != q.size() || v.size() != q.size() || q_heads < 1 || kv_heads < 1 || run.has(4))
        throw NotInferred{"only queries, keys and values without a cache are modelled"};
    const std::size_t rows = q.size() - 2;
    if (!by_head && (q_heads > q.back() || kv_heads > v.back())) throw NotInferred{"more heads than elements"};
    Gemm scores, context;
    scores.batch = q[0] * q_heads;
    scores.m = q[rows], scores.n = k[rows], scores.k = by_head ? q.back() : q.back() / q_heads,
    scores.b_transposed = true;
    const std::int64_t width = by_head ? v.back() : v.back() / kv_heads;
    context = {scores.m, width, scores.n, scores.batch};
    Dims y = q;
    y.back() = by_head ? width : width * q_heads;
    run.out(0, y, run.in(0).type);
    run.out(3, {q[0], q_heads, scores.m, scores.n}, run.in(0).type);
    const double weights =
        static_cast<double>(scores.batch) * static_cast<double>(scores.m) * static_cast<double>(scores.n);
    run.emit(scores);
    run.stream_whole(StreamingKind::softmax, weights);
    run.emit(context);
}

}  // namespace

Infer matrix_operator(std::string_view op) {
    static const std::unordered_map<std::string_view, Infer> kOperators = {{"Conv", conv},
                                                                           {"ConvInteger", conv_integer},
                                                                           {"QLinearConv", qlinear_conv},
                                                                           {"ConvTranspose", conv_transpose},
                                                                           {"Gemm", gemm},
                                                                           {"MatMul", matmul},
                                                                           {"MatMulInteger", matmul},
                                                                           {"QLinearMatMul", qlinear_matmul},
                                                                           {"Einsum", einsum},
                                                                           {"Attention", attention}};
    const auto it = kOperators.find(op);
    return it == kOperators.end() ? nullptr : it->second;
}

}  // namespace gambrel::network_detail
