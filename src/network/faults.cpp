#include <cmath>

#include <fmt/format.h>

#include <gambrel/layer.hpp>

#include "network/check.hpp"

namespace gambrel {
namespace {

using namespace network_detail;

constexpr std::int64_t kLargestFilter = std::int64_t{1} << 16;

}  // namespace

std::vector<std::string> faults(const Convolution& v) {
    Check check;
    const auto size = [&](const char* what, std::int64_t value) { check.range(what, value, 1, kLargestSize); };
    const auto window = [&](const char* what, std::int64_t value) { check.range(what, value, 1, kLargestFilter); };
    const auto pad = [&](const char* what, std::int64_t value) {
        check.range(what, value, 0, kLargestFilter * kLargestFilter / 2);
    };
    size("N", v.n), size("C", v.c), size("H", v.h), size("W", v.w), size("K", v.k);
    window("R", v.r), window("S", v.s);
    window("stride_h", v.stride_h), window("stride_w", v.stride_w);
    window("dilation_h", v.dilation_h), window("dilation_w", v.dilation_w);
    pad("pad_top", v.pad_top), pad("pad_bottom", v.pad_bottom);
    pad("pad_left", v.pad_left), pad("pad_right", v.pad_right);
    check.range("groups", v.groups, 1, kLargestSize);
    if (!check.clean()) return check.take();

    if (v.c % v.groups != 0) check.fault(fmt::format("C {} is not divisible by groups {}", v.c, v.groups));
    if (v.k % v.groups != 0) check.fault(fmt::format("K {} is not divisible by groups {}", v.k, v.groups));
    const auto fits = [&](char side, std::int64_t filter, std::int64_t dilation, std::int64_t padded) {
        const std::int64_t extent = dilation * (filter - 1) + 1;
        if (extent > padded)
            check.fault(
                fmt::format("the filter's {} extent {} is larger than the padded input {}", side, extent, padded));
    };
    fits('H', v.r, v.dilation_h, v.h + v.pad_top + v.pad_bottom);
    fits('W', v.s, v.dilation_w, v.w + v.pad_left + v.pad_right);
    if (check.clean()) {
        check.elements("the input", {v.n, v.c, v.h, v.w});
        check.elements("the filter", {v.k, v.c / v.groups, v.r, v.s});
        check.elements("the output", {v.n, v.k, v.p(), v.q()});
    }
    return check.take();
}

std::vector<std::string> faults(const Gemm& g) {
    Check check;
    const auto size = [&](const char* what, std::int64_t value) { check.range(what, value, 1, kLargestSize); };
    size("M", g.m), size("N", g.n), size("K", g.k), size("batch", g.batch);
    check.elements("A", {g.m, g.k, g.batch});
    check.elements("B", {g.k, g.n, g.batch});
    check.elements("C", {g.m, g.n, g.batch});
    return check.take();
}

std::vector<std::string> faults(const Layer& layer) {
    Check check;
    if (!(layer.repeat >= 1)) check.fault(fmt::format("repeat is {}, expected at least 1", layer.repeat));
    // A dgrad of a convolution may be the forward pass of a transposed one.
    const bool gradient =
        layer.pass == Pass::wgrad || (layer.pass == Pass::dgrad && !std::holds_alternative<Convolution>(layer.op));
    const bool multiplies = std::holds_alternative<Convolution>(layer.op) || std::holds_alternative<Gemm>(layer.op);
    if (layer.bias && (gradient || !multiplies))
        check.fault(fmt::format("a bias in {}: expected one only where a convolution or GEMM runs forward",
                                gradient                                      ? name(layer.pass)
                                : std::holds_alternative<Streaming>(layer.op) ? "a streaming layer"
                                                                              : "a layer that is neither"));
    if (const auto* s = std::get_if<Streaming>(&layer.op)) {
        if (layer.pass == Pass::wgrad) check.fault("a streaming layer has no wgrad: dgrad is all of its backward pass");
        for (const double elements : {s->read[0], s->read[1], s->read[2], s->read[3], s->parameters, s->written})
            if (!(elements >= 0 && elements <= kMostElements))
                check.fault(fmt::format("a tensor has {} elements, expected 0 to 2^53", elements));
        if (!(s->window >= 1 && std::isfinite(s->window)))
            check.fault(fmt::format("window is {}, expected at least 1", s->window));
        return check.take();
    }
    if (std::holds_alternative<Attention>(layer.op) && layer.pass == Pass::wgrad)
        check.fault("attention has no wgrad: dgrad is all of its backward pass");
    if (const auto* a = std::get_if<AllReduce>(&layer.op)) {
        if (!(a->elements >= 0 && a->elements <= kMostElements))
            check.fault(fmt::format("an all-reduce of {} elements, expected 0 to 2^53", a->elements));
        check.range("ranks", a->ranks, 1, 1 << 20);
        return check.take();
    }
    auto found = std::visit(
        [](const auto& op) {
            if constexpr (requires { faults(op); })
                return faults(op);
            else
                return std::vector<std::string>{};
        },
        layer.op);
    if (const std::int64_t parts = layer.hints.split_k; parts > 1 && found.empty())
        if (const auto view = gemm_view(layer); view && parts > view->k)
            check.fault(fmt::format("split_k {} is more than the {} elements of the reduction", parts, view->k));
    for (auto& fault : check.take()) found.push_back(std::move(fault));
    return found;
}

}  // namespace gambrel
