// All kernels of a convolution as a framework calls it, for tables that sum a profiler's counters over a call. What
// each framework runs is what its script does in github.com/cyanguwa/DeepLearningProfiling, Basic-Kernels/python, at
// 1290c76.
#include <algorithm>

#include "network/operator_rows.hpp"

namespace gambrel::network_detail {
namespace {

struct Call {
    bool pytorch = false;       // tensors are stored NCHW; else NHWC, of which FP32 kernels take none
    bool makes_input = false;   // the call itself fills the input with random numbers
    bool matrix_units = false;  // Tensor Cores were busy in some kernel
    std::vector<Layer> kernels = {};
};

// `index` where each element's place is computed by divisions, as in kernels that pad or turn a tensor over.
void stream(Call& call, const Layer& layer, StreamingKind kind, double read, double written, bool index = false) {
    Streaming s;
    s.kind = kind;
    s.read[0] = read;
    s.written = written;
    if (index) s.rows = 1;
    Layer one = layer;
    one.op = s;
    one.pass = Pass::fwd;
    one.hints.algorithm = index ? "index arithmetic" : "";
    one.hints.tensor_core.reset();
    call.kernels.push_back(std::move(one));
}

void copy(Call& call, const Layer& layer, double elements) {
    stream(call, layer, StreamingKind::copy, elements, elements, true);
}

void convolve(Call& call, Layer layer, Pass pass) {
    const auto& v = std::get<Convolution>(layer.op);
    const auto input = static_cast<double>(v.n * v.c * v.h * v.w);
    const auto output = static_cast<double>(v.n * v.k * v.p() * v.q());
    const bool narrow = layer.precision == Precision::fp16;
    // cuDNN pads both sides alike; TensorFlow adds the odd row and column by a kernel of its own.
    if (v.pad_top != v.pad_bottom || v.pad_left != v.pad_right) copy(call, layer, input);
    if (!call.pytorch && !narrow) {
        copy(call, layer, input);
        copy(call, layer, output);
    }
    layer.pass = pass;
    layer.layout = narrow && !call.pytorch ? Layout::nhwc : Layout::nchw;
    layer.hints.other_layout = narrow && call.pytorch;
    if (narrow && !call.matrix_units) layer.hints.tensor_core = false;
    if (narrow && !call.matrix_units && pass == Pass::fwd) layer.hints.algorithm = "IMPLICIT_GEMM";
    const bool three = v.r == 3 && v.s == 3 && v.stride_h == 1 && v.stride_w == 1;
    if (!narrow && three && pass != Pass::wgrad) layer.hints.algorithm = "WINOGRAD";
    call.kernels.push_back(layer);
    if (pass == Pass::fwd && call.pytorch)
        stream(call, layer, StreamingKind::elementwise, output, output);  // adds the bias
}

void gradients(Call& call, const Layer& layer, std::initializer_list<Pass> passes) {
    const auto& v = std::get<Convolution>(layer.op);
    const auto output = static_cast<double>(v.n * v.k * v.p() * v.q());
    stream(call, layer, StreamingKind::copy, 0, output);  // the gradient of a sum: ones
    for (const Pass pass : passes) convolve(call, layer, pass);
    if (call.pytorch) stream(call, layer, StreamingKind::reduction, output, 0);  // gradient of the bias
}

}  // namespace

std::vector<Layer> profiled_call(std::string_view framework, const Layer& layer, bool backward, bool matrix_units) {
    Call call;
    call.pytorch = framework == "PT";
    call.matrix_units = matrix_units;
    const auto& v = std::get<Convolution>(layer.op);
    const auto input = static_cast<double>(v.n * v.c * v.h * v.w);
    const auto output = static_cast<double>(v.n * v.k * v.p() * v.q());
    // A graph of TensorFlow 1 draws new input in every run, and its gradient needs no forward pass.
    if (framework == "TF1") stream(call, layer, StreamingKind::copy, 0, input);
    if (framework != "TF1" || !backward) convolve(call, layer, Pass::fwd);
    if (backward && call.pytorch) {
        stream(call, layer, StreamingKind::reduction, output, 0);  // the sum whose gradient is taken
        gradients(call, layer, {Pass::wgrad});                     // the input asks for none
    } else if (backward && framework == "TF1") {
        gradients(call, layer, {Pass::wgrad});
    } else if (backward) {
        // One tape is asked twice, for the input's and for the filter's gradient, and finds both each time.
        gradients(call, layer, {Pass::dgrad, Pass::wgrad});
        gradients(call, layer, {Pass::dgrad, Pass::wgrad});
    }
    // A row is described by its first layer.
    std::stable_partition(call.kernels.begin(), call.kernels.end(),
                          [](const Layer& one) { return std::holds_alternative<Convolution>(one.op); });
    return std::move(call.kernels);
}

bool knows_calls_of(std::string_view framework) {
    return framework == "PT" || framework == "TF1" || framework == "TF2";
}

}  // namespace gambrel::network_detail
