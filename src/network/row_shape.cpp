#include "network/row_shape.hpp"

#include <algorithm>
#include <array>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace gambrel::network_detail {

void pad_to_same_size(Convolution& v) {
    const auto same = [](std::int64_t in, std::int64_t r, std::int64_t d, std::int64_t s) {
        const bool sane = in > 0 && in < (1LL << 40) && r > 0 && r < (1LL << 20) && d > 0 && d < (1LL << 20) && s > 0 &&
                          s < (1LL << 20);
        return sane ? std::max<std::int64_t>(0, ((in + s - 1) / s - 1) * s + (r - 1) * d + 1 - in) : 0;
    };
    const std::int64_t high = same(v.h, v.r, v.dilation_h, v.stride_h);
    const std::int64_t wide = same(v.w, v.s, v.dilation_w, v.stride_w);
    v.pad_top = high / 2, v.pad_bottom = high - high / 2, v.pad_left = wide / 2, v.pad_right = wide - wide / 2;
}

void name_by_shape(Layer& layer) {
    std::array<char, 7 * 24> text;
    char* end = nullptr;
    if (const auto* g = std::get_if<Gemm>(&layer.op)) {
        end = fmt::format_to(text.data(), FMT_COMPILE("gemm {}x{}x{}x{}"), g->batch, g->m, g->n, g->k);
    } else {
        const auto& v = std::get<Convolution>(layer.op);
        end = fmt::format_to(text.data(), FMT_COMPILE("conv {}x{}x{}x{} {}x{}x{}"), v.n, v.c, v.h, v.w, v.k, v.r, v.s);
    }
    layer.name.assign(text.data(), end);
}

}  // namespace gambrel::network_detail
