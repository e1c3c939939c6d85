#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <tuple>

#include <gambrel/mapping.hpp>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

// The call and those around it: an inner one may know the gradient only, an outer one the input.
class Shapes {
public:
    explicit Shapes(const Launch& launch) : l_(launch) {}

    const OperatorInput* tensor(std::string_view name) const {
        const OperatorInput* found = nullptr;
        each([&](const OperatorCall& call, const OperatorRule& rule) {
            const OperatorInput* input = argument(call, rule.argument(name));
            if (!found && input && input->tensors.size() == 1 && input->tensors.front().size() >= 3) found = input;
        });
        return found;
    }
    Dims value(std::string_view name) const {
        Dims found;
        each([&](const OperatorCall& call, const OperatorRule& rule) {
            if (found.empty()) found = numbers_in(value_at(call, rule.argument(name)));
        });
        return found;
    }
    bool flag(std::string_view name) const { return is_true(value_at(*l_.call, l_.rule->argument(name))); }

private:
    template <class Visit>
    void each(Visit visit) const {
        const OperatorCall* call = l_.call;
        for (int depth = 0; call && depth < 4; ++depth) {
            if (const OperatorRule* rule = l_.table->find(call->name.str());
                rule && rule->kind == OperatorRule::Kind::convolution)
                visit(*call, *rule);
            call = call->parent >= 0 ? &l_.timeline->calls[std::size_t(call->parent)] : nullptr;
        }
    }
    const Launch& l_;
};

constexpr std::int64_t kLargest = 1 << 16;  // stride, padding, dilation

// Height and width; of one dimension the height is 1.
std::array<std::int64_t, 2> sides(const Dims& dims) {
    return dims.size() == 3 ? std::array<std::int64_t, 2>{1, dims[2]} : std::array<std::int64_t, 2>{dims[2], dims[3]};
}
std::array<std::int64_t, 2> pair_of(const Dims& value, std::int64_t otherwise, bool one_dimension) {
    if (value.empty()) return {otherwise, otherwise};
    if (one_dimension && value.size() == 1) return {otherwise, value[0]};
    return {value[0], value[std::min<std::size_t>(1, value.size() - 1)]};
}

// Stride and padding that lead from one side to the other: the usual padding of half the filter, else any.
bool fit_side(std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t& stride, std::int64_t& pad) {
    if (out <= 0 || in <= 0) return false;
    stride = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(double(in) / double(out))));
    const auto gives = [&](std::int64_t p) {
        return (in + 2 * p - taps) >= 0 && (in + 2 * p - taps) / stride + 1 == out;
    };
    pad = (taps - 1) / 2;
    if (gives(pad)) return true;
    for (pad = 0; pad < taps; ++pad)
        if (gives(pad)) return true;
    return false;
}

struct Found {
    Convolution c;
    bool transposed = false;
    std::string fault;
};

Found convolution_of(const Launch& l) {
    const Shapes shapes(l);
    const OperatorInput *input = shapes.tensor("input"), *weight = shapes.tensor("weight"),
                        *output = shapes.tensor("output");
    if (!weight || (!input && !output)) return {{}, false, "shapes of its operands were not recorded"};
    const Dims& w = weight->tensors.front();
    if (w.size() > 4) return {{}, false, "convolutions in three dimensions are not modelled"};
    Found f;
    Convolution& c = f.c;
    const bool flat = w.size() == 3;
    f.transposed = l.rule->pass == "transposed" || shapes.flag("transposed");
    std::tie(c.r, c.s) = std::pair{sides(w)[0], sides(w)[1]};
    const auto stride = pair_of(shapes.value("stride"), 1, flat), pad = pair_of(shapes.value("padding"), 0, flat),
               dilation = pair_of(shapes.value("dilation"), 1, flat),
               extra = pair_of(shapes.value("output_padding"), 0, flat);
    for (const auto& value : {stride, pad, dilation, extra})
        if (std::max(value[0], value[1]) > kLargest || std::min(value[0], value[1]) < 0)
            return {{}, false, "its stride, padding or dilation is not valid"};
    std::tie(c.stride_h, c.stride_w) = std::pair{stride[0], stride[1]};
    std::tie(c.dilation_h, c.dilation_w) = std::pair{dilation[0], dilation[1]};
    c.pad_top = c.pad_bottom = pad[0];
    c.pad_left = c.pad_right = pad[1];
    if (f.transposed) {
        // The gradient of a convolution whose output is this one's input.
        if (!input) return {{}, true, "shapes of its operands were not recorded"};
        const Dims& x = input->tensors.front();
        const Dims groups = shapes.value("groups");
        c.groups = groups.empty() ? 1 : groups[0];
        c.n = x[0], c.k = x[1], c.c = w[1] * c.groups;
        c.h = (sides(x)[0] - 1) * c.stride_h - 2 * pad[0] + c.dilation_h * (c.r - 1) + extra[0] + 1;
        c.w = (sides(x)[1] - 1) * c.stride_w - 2 * pad[1] + c.dilation_w * (c.s - 1) + extra[1] + 1;
        return f;
    }
    if (!input) return {{}, false, "the shape of its input was not recorded"};
    const Dims& x = input->tensors.front();
    c.n = x[0], c.c = x[1], c.k = w[0];
    std::tie(c.h, c.w) = std::pair{sides(x)[0], sides(x)[1]};
    c.groups = w[1] > 0 ? std::max<std::int64_t>(1, c.c / w[1]) : 1;
    if (!shapes.value("stride").empty()) return f;
    const Dims& next = l.call->next_input;
    const Dims* out = output ? &output->tensors.front() : next.size() == x.size() && next[1] == c.k ? &next : nullptr;
    if (!out || (*out)[0] != c.n) return {{}, false, "its stride and padding were not recorded"};
    std::int64_t pad_h = 0, pad_w = 0;
    if (!fit_side(c.h, sides(*out)[0], c.r, c.stride_h, pad_h) ||
        !fit_side(c.w, sides(*out)[1], c.s, c.stride_w, pad_w))
        return {{}, false, "its stride and padding were not recorded, and no usual ones fit the shapes"};
    c.pad_top = c.pad_bottom = pad_h;
    c.pad_left = c.pad_right = pad_w;
    return f;
}

Pass pass_of(const Launch& l, bool transposed) {
    Pass pass = Pass::fwd;
    if (l.rule->pass == "dgrad") pass = Pass::dgrad;
    if (l.rule->pass == "wgrad") pass = Pass::wgrad;
    if (l.rule->pass == "both") {
        const KernelName name = parse_kernel_name(l.kernel());
        const std::string& mask = value_at(*l.call, l.rule->argument("mask"));
        if (name.pass)
            pass = *name.pass;
        else if (mask.starts_with("[False"))
            pass = Pass::wgrad;
        else
            pass = l.nth == 0 ? Pass::dgrad : Pass::wgrad;  // PyTorch calls for the gradient of the input first
        if (pass == Pass::fwd) pass = Pass::dgrad;
    }
    if (!transposed) return pass;
    return pass == Pass::fwd ? Pass::dgrad : pass == Pass::dgrad ? Pass::fwd : Pass::wgrad;
}

// Elements of input, filter and output.
struct Sizes {
    double input, filter, output;
};

Described winograd(const Launch& l, const Convolution& c, Pass pass, Precision precision, double size) {
    const std::int64_t side = has(l.kernel(), "9x9_5x5") ? 9 : 4;
    const std::int64_t alpha = side + c.r - 1;
    const double points = double(alpha * alpha);
    const double tiles =
        double(c.n) * std::ceil(double(c.p()) / double(side)) * std::ceil(double(c.q()) / double(side));
    const double in = points * tiles * double(c.c), filter = points * double(c.k) * double(c.c),
                 out = points * tiles * double(c.k);
    const double x = double(c.n * c.c) * double(c.h * c.w), y = double(c.n * c.k) * double(c.p() * c.q()),
                 w = double(c.k * c.c) * double(c.r * c.s);
    const bool wgrad = pass == Pass::wgrad;
    switch (l.role) {
        case Role::winograd_input:
            return stream(l, x * size, in * 4, in);
        case Role::winograd_filter:
            return wgrad ? stream(l, y * size, out * 4, out) : stream(l, w * size, filter * 4, filter);
        case Role::winograd_output:
            return wgrad ? stream(l, filter * 4, w * size, filter) : stream(l, out * 4, y * size, out);
        default:
            break;
    }
    Described d;
    Layer layer;
    layer.name = l.call->name.str();
    Gemm g;
    g.batch = alpha * alpha;
    g.m = wgrad ? c.c : static_cast<std::int64_t>(tiles);
    g.n = c.k;
    g.k = wgrad ? static_cast<std::int64_t>(tiles) : c.c;
    layer.op = g;
    layer.precision = precision;
    layer.hints.kernel = std::string(l.kernel());
    d.layer = std::move(layer);
    d.remarks.emplace_back("multiplies transformed tiles (Winograd): fewer FLOP than the plain sum");
    return d;
}

Described helper(const Launch& l, const Convolution& c, Pass pass, const Sizes& e, double size) {
    const double result = pass == Pass::fwd ? e.output : pass == Pass::dgrad ? e.input : e.filter;
    switch (l.role) {
        case Role::to_nhwc: {
            // The larger grid is of the larger operand; nth is by falling grid.
            std::array<double, 2> operands = {pass == Pass::fwd ? e.input : e.output,
                                              pass == Pass::wgrad ? e.input : e.filter};
            std::sort(operands.begin(), operands.end(), std::greater<>());
            double n = operands[std::size_t(std::min(l.nth, 1))];
            // A grid that is too small for the larger operand is of the other.
            constexpr double kMostOfThread = 256;
            const auto& block = l.activity->shape.block;
            const double threads = l.activity->shape.ctas() * block[0] * block[1] * block[2];
            if (threads > 0 && n > kMostOfThread * threads) n = operands[1];
            Launch whole = l;
            whole.share = 1;
            return stream(whole, n * size, n * size, 0);
        }
        case Role::to_nchw:
            return stream(l, result * size, result * size, 0);
        case Role::split_reduce:
            return stream(l, std::max(2.0, l.split_k) * result * 4, result * size, result * l.split_k);
        case Role::scale:
            return stream(l, 0, result * size, 0);
        case Role::im2col:
            return stream(l, e.input * size, double(c.n * c.p() * c.q()) * double(c.c * c.r * c.s) * size, 0);
        case Role::offsets: {
            const auto& s = l.activity->shape;
            return stream(l, 0, 4.0 * s.grid[0] * s.grid[1] * s.grid[2] * s.block[0] * s.block[1] * s.block[2], 0);
        }
        case Role::elementwise:
            return stream(l, result * size, result * size, result);
        case Role::fft:
            return Described::refused("convolutions by Fourier transform are not modelled");
        default:
            return Described::refused("what this helper kernel moves is not known");
    }
}

}  // namespace

Described describe_convolution(const Launch& l) {
    const Found found = convolution_of(l);
    if (!found.fault.empty()) return Described::refused(found.fault);
    const Convolution& c = found.c;
    if (const auto wrong = faults(c); !wrong.empty())
        return Described::refused("its shape is not valid: " + wrong.front());
    Described out;
    const Pass pass = pass_of(l, found.transposed);
    const Shapes shapes(l);
    const OperatorInput* input = shapes.tensor("input");
    Precision precision = Precision::fp32;
    if (const auto p = precision_of(input->type))
        precision = *p;
    else if (const auto q = precision_in_kernel(l.kernel()))
        precision = *q;
    else
        out.remarks.emplace_back("the type was not recorded: taken as FP32");
    const KernelName name = parse_kernel_name(l.kernel());
    if (precision == Precision::fp32 && name.tensor_core.value_or(false)) precision = Precision::tf32;
    const double size = element_size(precision).value();
    if (l.winograd && (l.role == Role::main || l.role == Role::winograd_input || l.role == Role::winograd_filter ||
                       l.role == Role::winograd_output))
        return winograd(l, c, pass, precision, size);
    const Sizes e{double(c.n * c.c) * double(c.h * c.w), double(c.k * c.c / c.groups) * double(c.r * c.s),
                  double(c.n * c.k) * double(c.p() * c.q())};
    if (l.role != Role::main) return helper(l, c, pass, e, size);
    if (!l.dominant && l.rule->pass != "both")
        return Described::refused("one of several kernels of the operator: its part is not known");
    Layer layer;
    layer.name = l.call->name.str();
    layer.op = c;
    layer.pass = pass;
    layer.precision = precision;
    const bool last =
        input->strides.size() == 1 && input->strides.front().size() >= 3 && input->strides.front()[1] == 1;
    layer.layout = name.nhwc.value_or(last) ? Layout::nhwc : Layout::nchw;
    layer.hints.kernel = std::string(l.kernel());
    if (name.tensor_core.has_value()) layer.hints.tensor_core = name.tensor_core;
    if (has(l.kernel(), "winograd")) {
        // Fused kernels transform tiles of 2 x 2 outputs: 16 multiplications for the 36 of a 3 x 3 filter.
        out.flop = kernel_flop(layer) / 2.25;
        out.remarks.emplace_back("Winograd on tiles of 2 x 2: 2.25 times fewer FLOP than the plain sum");
    }
    if (l.count > 1 && l.rule->pass != "both") {
        out.share = l.share;
        out.remarks.emplace_back("several kernels of one call multiply: work and bytes are shared out by their grids");
    }
    out.layer = std::move(layer);
    return out;
}

}  // namespace gambrel::trace_detail
