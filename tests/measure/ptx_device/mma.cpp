// mma.sync: products of fragments in registers, laid out as the PTX ISA draws them for each shape and type.
#include <array>

#include "block.hpp"
#include "matrix.hpp"

namespace ptx {
namespace {

struct Place {
    int row, column;
};

// Where element `i` of a lane's fragment lies in its matrix. `bits` are those of an element.
Place place_of_a(int m, int k, int bits, int lane, int i) {
    const int row = lane / 4, quarter = lane % 4, per = bits == 64 ? 1 : 32 / bits;
    const int reg = i / per, within = i % per;
    if (m == 8) return {row, quarter * per + within};
    const int half = k >= 8 * per ? 4 * per : 0;
    return {row + 8 * (reg % 2), quarter * per + within + half * (reg / 2)};
}
Place place_of_b(int bits, int lane, int i) {
    const int per = bits == 64 ? 1 : 32 / bits;
    return {lane % 4 * per + i % per + 4 * per * (i / per), lane / 4};
}
Place place_of_c(int lane, int i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

// Volta's m8n8k4 is four products, each of eight lanes: 0-3 with 16-19 and so on.
Place volta_a(int lane, int i) { return {lane % 4 + (lane >= 16 ? 4 : 0), i}; }
Place volta_b(int lane, int i) { return {i, lane % 4 + (lane >= 16 ? 4 : 0)}; }
Place volta_c(bool half, int lane, int i) {
    const int upper = lane >= 16 ? 4 : 0;
    if (half) return {lane % 4 + upper, i};
    return {lane % 2 + (i & 2) + upper, (i & 4) + (lane & 2) + i % 2};
}

class Product {
public:
    Product(Block& b, const Instruction& in) : b_(b), in_(in), t_(in.matrix) {
        if (t_.m == 0 || t_.elements.size() != 4 || !in.has("row") || !in.has("col")) fail("mma: " + in.text);
        volta_ = t_.m == 8 && t_.k == 4 && t_.elements[1] == Element::f16;
        counts_ = volta_ ? std::array{8, 4, 4, 8}
                         : std::array{t_.m * t_.n / 32, t_.m * t_.k / 32, t_.k * t_.n / 32, t_.m * t_.n / 32};
        for (std::size_t i = 0; i < 4; ++i) {
            const int bits = bits_of(t_.elements[i]);
            if (static_cast<int>(in.operands[i].parts.size()) * (bits == 64 ? 1 : 32 / bits) != counts_[i])
                fail("mma: the registers do not fit the shape: " + in.text);
        }
        a_.resize(static_cast<std::size_t>(t_.m * t_.k));
        b_matrix_.resize(static_cast<std::size_t>(t_.n * t_.k));
        c_.resize(static_cast<std::size_t>(t_.m * t_.n));
    }

    void run(unsigned warp) {
        const double scale = in_.has("block_scale") ? scale_of(4, warp) * scale_of(6, warp) : 1;
        const int groups = volta_ ? 4 : 1;
        for (int group = 0; group < groups; ++group) {
            const auto lanes = [&](auto visit) {
                for (int lane = 0; lane < 32; ++lane)
                    if (!volta_ || lane % 16 / 4 == group) visit(lane);
            };
            lanes([&](int lane) { read(warp, lane); });
            multiply_add(a_, b_matrix_, c_, {t_.m, t_.n, t_.k, scale, b_.gpu.is.cuts_fp8 && is_fp8(t_.elements[1])});
            lanes([&](int lane) { write(warp, lane); });
        }
        b_.gpu.usage(b_.sm).tensor +=
            t_.m * t_.n * t_.k * groups * element_cost(t_.elements[1]) / b_.gpu.is.products_per_cycle;
    }

private:
    [[nodiscard]] double fragment(std::size_t operand, unsigned thread, int i) const {
        const Element type = t_.elements[operand];
        const int bits = bits_of(type), per = bits == 64 ? 1 : 32 / bits;
        const Operand& reg = in_.operands[operand].parts[static_cast<std::size_t>(i / per)];
        return value_of(type, b_.reg(reg.reg)[thread] >> (i % per * bits) & mask_of(bits));
    }
    [[nodiscard]] Place accumulator_place(Element type, int lane, int i) const {
        return volta_ ? volta_c(type == Element::f16, lane, i) : place_of_c(lane, i);
    }
    void read(unsigned warp, int lane) {
        const unsigned thread = warp + static_cast<unsigned>(lane);
        for (int i = 0; i < counts_[1]; ++i) {
            const Place p = volta_ ? volta_a(lane, i) : place_of_a(t_.m, t_.k, bits_of(t_.elements[1]), lane, i);
            a_[static_cast<std::size_t>(p.row * t_.k + p.column)] = fragment(1, thread, i);
        }
        for (int i = 0; i < counts_[2]; ++i) {
            const Place p = volta_ ? volta_b(lane, i) : place_of_b(bits_of(t_.elements[2]), lane, i);
            b_matrix_[static_cast<std::size_t>(p.column * t_.k + p.row)] = fragment(2, thread, i);
        }
        for (int i = 0; i < counts_[3]; ++i) {
            const Place p = accumulator_place(t_.elements[3], lane, i);
            c_[static_cast<std::size_t>(p.row * t_.n + p.column)] = fragment(3, thread, i);
        }
    }
    void write(unsigned warp, int lane) {
        const Element type = t_.elements[0];
        const int bits = bits_of(type), per = bits == 64 ? 1 : 32 / bits;
        const auto& registers = in_.operands[0].parts;
        for (std::size_t r = 0; r < registers.size(); ++r) {
            std::uint64_t word = 0;
            for (int i = 0; i < per; ++i) {
                const Place p = accumulator_place(type, lane, static_cast<int>(r) * per + i);
                word |= element_bits(type, c_[static_cast<std::size_t>(p.row * t_.n + p.column)]) << (i * bits);
            }
            b_.reg(registers[r].reg)[warp + static_cast<unsigned>(lane)] = word;
        }
    }
    // Block scales (UE8M0), all the same: which of them belongs where is not modelled.
    [[nodiscard]] double scale_of(std::size_t operand, unsigned warp) const {
        const std::uint64_t word = value_at(b_, in_.operands[operand].parts.front(), 32, warp);
        if (!in_.has("ue8m0")) fail("mma: scales that are not UE8M0: " + in_.text);
        if (word != (word & 255) * 0x01010101U) fail("the model knows only equal scales: " + in_.text);
        return scaled_by(1.0, static_cast<int>(word & 255) - 127);
    }

    Block& b_;
    const Instruction& in_;
    const MatrixTypes& t_;
    bool volta_ = false;
    std::array<int, 4> counts_{};
    std::vector<double> a_, b_matrix_, c_;
};

}  // namespace

void mma(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    Product product(b, in);
    for (unsigned warp = 0; warp < b.threads; warp += 32)
        if (mask == nullptr || mask[warp] != 0) product.run(warp);
}

}  // namespace ptx
