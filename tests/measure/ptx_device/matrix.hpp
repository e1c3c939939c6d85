// What the three families of matrix instructions share: the product itself, and operands in shared memory.
#pragma once

#include <array>

#include "block.hpp"

namespace ptx {

struct ProductShape {
    int m = 0, n = 0, k = 0;
    double factor = 1;  // sign and scales
    bool cut = false;   // FP8 products are added with 13 bits
};
// C (m x n, by rows) += factor * A (m x k, by rows) * B (n x k, by columns of the matrix).
void multiply_add(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c,
                  const ProductShape& shape);

inline bool is_fp8(Element type) { return type == Element::e4m3 || type == Element::e5m2; }
// Time of one multiply-add relative to 16-bit elements.
inline double element_cost(Element type) { return type == Element::f64 ? 16 : bits_of(type) / 16.0; }

// A matrix descriptor: K-major without swizzle, core matrices of 8 rows x 16 bytes. The bits that tcgen05 and wgmma
// give other meanings are checked.
class SharedMatrix {
public:
    SharedMatrix(Block& block, std::uint64_t descriptor, bool tcgen05, const Instruction& by);
    // Bytes of `rows` x `depth` elements, row by row, behind those that are there.
    void append_bytes(Element type, int rows, int depth, std::vector<std::uint8_t>& to) const;

private:
    Block& block_;
    const Instruction& by_;
    std::uint64_t start_, lead_, stride_;
};

// The elements of such bytes, row by row.
std::vector<double> elements_of(const std::uint8_t* bytes, Element type, int rows, int depth);
std::size_t row_bytes(Element type, int depth);

// A loop multiplies the same operands over and over: the last products, by the bytes that made them.
class KnownProducts {
public:
    template <class Make>
    const std::vector<double>& of(const std::vector<std::uint8_t>& bytes, Make make) {
        for (const Known& k : known_)
            if (k.bytes == bytes) return k.product;
        Known& made = known_[next_++ % known_.size()];
        made.product = make();
        made.bytes = bytes;
        return made.product;
    }

private:
    struct Known {
        std::vector<std::uint8_t> bytes;
        std::vector<double> product;
    };
    std::array<Known, 4> known_;
    std::size_t next_ = 0;
};

// Shared memory that matrix units read must have been fenced after it was written.
void check_fenced(const Block& block, const Instruction& in);

void mma(Block& block, const Instruction& in, const std::uint8_t* mask);
void wgmma(Block& block, const Instruction& in, const std::uint8_t* mask);
void mbarrier(Block& block, const Instruction& in, const std::uint8_t* mask);
void tcgen05(Block& block, const Instruction& in, const std::uint8_t* mask);

}  // namespace ptx
