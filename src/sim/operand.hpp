// An operand of an implicit GEMM as addresses. Element (side i, depth k) lies at offset(i) + offset(k), and exists
// where its coordinates y(i) + y(k), x(i) + x(k) are inside the picture: padding has no address. Knows no cache and no
// CTA.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

// Coordinates and counts within a picture fit into 32 bits: a layer's sizes are checked when it is read.
constexpr std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(value); }

// A digit of an index in mixed radix, and how far one step of it goes in memory (elements) and in the picture.
struct Digit {
    std::int64_t radix = 1;
    std::int64_t offset = 0;
    std::int32_t y = 0, x = 0;
};
struct Index {
    std::array<Digit, 5> digits;  // the slowest first; unused ones have radix 1
    std::int64_t offset = 0;
    std::int32_t y = 0, x = 0;
    [[nodiscard]] std::int64_t size() const;
};
struct Point {
    std::int64_t offset;
    std::int32_t y, x;
};
// Points in arithmetic progression, all at one y.
struct AddressRun {
    std::int32_t first, count;
    std::int64_t offset, step;
    std::int32_t y, x, x_step;
};

// A stretch of an Index: its points and, where they are in progression, its runs.
struct Stretch {
    std::vector<Point> points;
    std::vector<AddressRun> runs;
    void assign(const Index& index, std::int64_t first, std::int64_t count);

private:
    void add_to_runs(std::int32_t i);
};

inline constexpr std::int64_t kSixteenths = 16;
// In sixteenths of a byte. Blocks of four-bit elements have a scale; the scales lie behind all elements.
struct ElementSize {
    std::int64_t data = 4 * kSixteenths;
    std::int64_t scale = 0;  // an element's share
    [[nodiscard]] std::int64_t all() const { return data + scale; }
};

struct AddressedOperand {
    Tensor tensor = Tensor::input;
    ElementSize element;
    Index side, depth;
    std::int64_t batch_offset = 0;  // elements from one GEMM of the batch to the next
    // Coordinates must be in [0, height) x [0, width). Zero height: every point exists.
    std::int32_t height = 0, width = 0;
    [[nodiscard]] bool side_is_inner() const;  // side is the more contiguous of the two
};

// What becomes of a request whose lines are the last ones of the request before it, and all of whose sectors that one
// has asked for: neighbouring taps of a filter make such requests. Loads that L1 merges within their step hit. An LRU
// cache of kMostRepeated ways or more holds these lines, and to touch them again in the same order changes nothing in
// it, so that they may stand as a number of hits.
enum class Repeats : std::uint8_t { as_requests, as_hits };
inline constexpr std::size_t kMostRepeated = 16;  // lines of such a request

// What one instruction of a warp covers, in elements.
struct RequestShape {
    std::int32_t side = 32, depth = 1;
    Repeats repeats = Repeats::as_requests;
};

// Appends what a warp requests, instruction by instruction, to load or store the block side x depth: every sector once
// for each instruction that touches it.
void append_requests(const AddressedOperand& operand, std::int64_t batch, const Stretch& side, const Stretch& depth,
                     RequestShape shape, Action action, std::vector<Access>& out);

}  // namespace gambrel::sim_detail
