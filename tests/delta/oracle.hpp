// Every address of an operand's loads, one by one: what the closed forms of geometry.hpp are held against. Slow and
// plain on purpose; shares nothing with them but the description of the walk.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>

#include "delta/geometry.hpp"

namespace gambrel::test {

struct SectorCounts {
    double elements = 0;                       // asked for, without padding
    double requests = 0;                       // sectors: each warp's request for itself
    double steps = 0;                          // distinct in one k-step of a CTA
    double kept = 0;                           // distinct in all steps of a CTA
    std::unordered_set<std::int64_t> touched;  // of the whole tensor
};

// The byte address of pixel m and reduction index k of an input stored image, channel, row, column; -1 in the padding.
inline std::int64_t address(const delta_detail::SlidingWindow& w, std::int64_t m, std::int64_t k,
                            std::int64_t element) {
    const std::int64_t column = m % w.columns, row = m / w.columns % w.rows, image = m / (w.columns * w.rows);
    const std::int64_t tap_w = k % w.taps_w, tap_h = k / w.taps_w % w.taps_h, channel = k / (w.taps_w * w.taps_h);
    const std::int64_t y = row * w.stride_h - w.pad_h + tap_h * w.dilation_h;
    const std::int64_t x = column * w.stride_w - w.pad_w + tap_w * w.dilation_w;
    if (y < 0 || y >= w.in_h || x < 0 || x >= w.in_w) return -1;
    const auto channels = static_cast<std::int64_t>(w.channels);
    return (((image * channels + channel) * w.in_h + y) * w.in_w + x) * element;
}

// A warp takes 32 pixels side by side at one k, as cuDNN's NCHW kernels do.
inline SectorCounts enumerate_pixels(const delta_detail::SlidingWindow& w, const Tile& tile, std::int64_t element) {
    const auto images = static_cast<std::int64_t>(w.images), channels = static_cast<std::int64_t>(w.channels);
    const std::int64_t pixels = images * w.rows * w.columns, reduction = channels * w.taps_h * w.taps_w;
    SectorCounts counts;
    for (std::int64_t m0 = 0; m0 < pixels; m0 += tile.m) {
        std::unordered_set<std::int64_t> all;
        for (std::int64_t k0 = 0; k0 < reduction; k0 += tile.k) {
            std::unordered_set<std::int64_t> step;
            for (std::int64_t k = k0; k < std::min<std::int64_t>(reduction, k0 + tile.k); ++k)
                for (std::int64_t first = m0; first < std::min<std::int64_t>(pixels, m0 + tile.m); first += 32) {
                    std::set<std::int64_t> request;
                    for (std::int64_t m = first; m < std::min<std::int64_t>(pixels, first + 32); ++m)
                        if (const std::int64_t at = address(w, m, k, element); at >= 0) {
                            ++counts.elements;
                            request.insert(at / 32);
                        }
                    counts.requests += static_cast<double>(request.size());
                    step.insert(request.begin(), request.end());
                }
            counts.steps += static_cast<double>(step.size());
            all.insert(step.begin(), step.end());
        }
        counts.kept += static_cast<double>(all.size());
        counts.touched.insert(all.begin(), all.end());
    }
    return counts;
}

}  // namespace gambrel::test
