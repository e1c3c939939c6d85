#include "matrix.hpp"

#include <algorithm>

namespace ptx {
namespace {

// Everything cut to 13 bits below the largest exponent before it is added.
double cut_sum(const double* a, const double* b, int k, double factor, double c) {
    int top = c != 0 ? exponent_of(c) : -1000;
    for (int i = 0; i < k; ++i)
        if (a[i] * b[i] != 0) top = std::max(top, exponent_of(a[i] * b[i]));
    const auto cut = [top](double x) { return scaled_by(std::trunc(scaled_by(x, 13 - top)), top - 13); };
    double sum = cut(c);
    for (int i = 0; i < k; ++i) sum += cut(factor * a[i] * b[i]);
    return sum;
}

}  // namespace

void multiply_add(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c,
                  const ProductShape& s) {
    for (int row = 0; row < s.m; ++row)
        for (int column = 0; column < s.n; ++column) {
            const double* const x = a.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(s.k);
            const double* const y = b.data() + static_cast<std::size_t>(column) * static_cast<std::size_t>(s.k);
            double& cell =
                c[static_cast<std::size_t>(row) * static_cast<std::size_t>(s.n) + static_cast<std::size_t>(column)];
            if (s.cut) {
                cell = cut_sum(x, y, s.k, s.factor, cell);
                continue;
            }
            double sum = 0;
            for (int k = 0; k < s.k; ++k) sum += x[k] * y[k];
            cell += s.factor * sum;
        }
}

SharedMatrix::SharedMatrix(Block& block, std::uint64_t d, bool tcgen05, const Instruction& by)
    : block_(block),
      by_(by),
      start_((d & 0x3fff) << 4),
      lead_((d >> 16 & 0x3fff) << 4),
      stride_((d >> 32 & 0x3fff) << 4) {
    const std::uint64_t swizzle = tcgen05 ? d >> 61 : d >> 62, version = d >> 46 & 7;
    if (swizzle != 0) fail("the model does not have swizzled matrices: " + by.text);
    if (version != (tcgen05 ? 1U : 0U)) fail("bits 46 to 48 of a matrix descriptor: " + by.text);
    if ((d >> 49 & 7) != 0) fail("base offset of a matrix descriptor: " + by.text);
    if ((d >> 14 & 3) != 0 || (d >> 30 & 3) != 0) fail("reserved bits of a matrix descriptor: " + by.text);
}

namespace {

// Six-bit numbers: sixteen in twelve bytes, then four bytes of padding.
bool has_six_bits(Element type) { return type == Element::e3m2 || type == Element::e2m3; }

double element_at(const std::uint8_t* row, Element type, int k) {
    const bool six = has_six_bits(type);
    const int bits = bits_of(type), bytes = six ? 2 : std::max(1, bits / 8);
    const int from_bit = six ? k / 16 * 128 + k % 16 * 6 : k * bits;
    std::uint64_t word = 0;
    for (int i = 0; i < bytes; ++i) word |= static_cast<std::uint64_t>(row[from_bit / 8 + i]) << (8 * i);
    if (six) return value_of(type, word >> (from_bit % 8) & mask_of(6));
    if (bits < 8) word = word >> (k * bits % 8) & mask_of(bits);
    return value_of(type, word);
}

}  // namespace

std::size_t row_bytes(Element type, int depth) {
    return static_cast<std::size_t>(has_six_bits(type) ? depth / 16 * 16 : depth * bits_of(type) / 8);
}

void SharedMatrix::append_bytes(Element type, int rows, int depth, std::vector<std::uint8_t>& to) const {
    const std::size_t bytes = row_bytes(type, depth);
    for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(rows); ++row)
        for (std::uint64_t byte = 0; byte < bytes; byte += 16) {
            const std::uint64_t at = start_ + row / 8 * stride_ + row % 8 * 16 + byte / 16 * lead_;
            const std::uint8_t* const from = block_.shared_at(at, 16, by_);
            to.insert(to.end(), from, from + 16);
        }
}

std::vector<double> elements_of(const std::uint8_t* bytes, Element type, int rows, int depth) {
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(rows * depth));
    for (int row = 0; row < rows; ++row)
        for (int k = 0; k < depth; ++k)
            all.push_back(element_at(bytes + static_cast<std::size_t>(row) * row_bytes(type, depth), type, k));
    return all;
}

void check_fenced(const Block& b, const Instruction& in) {
    if (std::find(b.unfenced.begin(), b.unfenced.end(), 1) != b.unfenced.end())
        fail("shared memory was written without fence.proxy.async before " + in.text);
}

Handler matrix_handler(const Instruction& in) {
    const std::string& name = in.words.front();
    if (name == "mma") return mma;
    if (name == "wgmma") return wgmma;
    if (name == "mbarrier") return mbarrier;
    return name == "tcgen05" ? tcgen05 : nullptr;
}

}  // namespace ptx
