// What the three families of matrix instructions share: the product itself, and operands in shared memory.
#pragma once

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
    [[nodiscard]] double element(Element type, int row, int k) const;
    // All of `rows` x `depth`, row by row.
    [[nodiscard]] std::vector<double> elements(Element type, int rows, int depth) const;

private:
    Block& block_;
    const Instruction& by_;
    std::uint64_t start_, lead_, stride_;
};

// Shared memory that matrix units read must have been fenced after it was written.
void check_fenced(const Block& block, const Instruction& in);

void mma(Block& block, const Instruction& in, const std::uint8_t* mask);
void wgmma(Block& block, const Instruction& in, const std::uint8_t* mask);
void mbarrier(Block& block, const Instruction& in, const std::uint8_t* mask);
void tcgen05(Block& block, const Instruction& in, const std::uint8_t* mask);

}  // namespace ptx
