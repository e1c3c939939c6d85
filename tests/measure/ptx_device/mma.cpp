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

// One matrix instruction, decoded once. Fragments are kept as the registers hold them: the word of lane `l` in register
// `r` is word 32 r + l. A loop multiplies the same two operands over and over, so that the last products are remembered
// by the words that made them; only what is added to changes.
class Product {
public:
    explicit Product(const Instruction& in) : in_(in), t_(in.matrix) {
        if (t_.m == 0 || t_.elements.size() != 4 || !in.has("row") || !in.has("col")) fail("mma: " + in.text);
        volta_ = t_.m == 8 && t_.k == 4 && t_.elements[1] == Element::f16;
        scaled_ = in.has("block_scale");
        if (scaled_ && !in.has("ue8m0")) fail("mma: scales that are not UE8M0: " + in.text);
        const std::array counts =
            volta_ ? std::array{8, 4, 4, 8}
                   : std::array{t_.m * t_.n / 32, t_.m * t_.k / 32, t_.k * t_.n / 32, t_.m * t_.n / 32};
        for (std::size_t i = 0; i < 4; ++i) {
            per_[i] = elements_of_a_register(i);
            if (static_cast<int>(in.operands[i].parts.size()) * per_[i] != counts[i])
                fail("mma: the registers do not fit the shape: " + in.text);
        }
    }

    void run(Block& b, unsigned warp) {
        const double scale = scaled_ ? scale_of(b, 4, warp) * scale_of(b, 6, warp) : 1;
        if (b.gpu.is.cuts_fp8 && is_fp8(t_.elements[1]))
            add_exactly(b, warp, scale);
        else
            add_known(b, warp, scale);
        b.gpu.usage(b.sm).tensor +=
            t_.m * t_.n * t_.k * groups() * element_cost(t_.elements[1]) / b.gpu.is.products_per_cycle;
    }

private:
    struct Known {
        std::vector<std::uint64_t> words;  // of A, then of B
        std::vector<double> product;       // by lane and element of the result
    };

    [[nodiscard]] int groups() const { return volta_ ? 4 : 1; }
    [[nodiscard]] int elements_of_a_register(std::size_t operand) const {
        const int bits = bits_of(t_.elements[operand]);
        return bits == 64 ? 1 : 32 / bits;
    }
    [[nodiscard]] int count_of(std::size_t operand) const {
        return static_cast<int>(in_.operands[operand].parts.size()) * per_[operand];
    }
    [[nodiscard]] double element_of(std::size_t operand, std::uint64_t word, int within) const {
        const int bits = bits_of(t_.elements[operand]);
        return value_of(t_.elements[operand], word >> (within * bits) & mask_of(bits));
    }
    [[nodiscard]] Place accumulator_place(Element type, int lane, int i) const {
        return volta_ ? volta_c(type == Element::f16, lane, i) : place_of_c(lane, i);
    }
    [[nodiscard]] bool takes_part(int group, int lane) const { return !volta_ || lane % 16 / 4 == group; }

    static void append(std::vector<std::uint64_t>& words, Block& b, const Operand& operand, unsigned warp) {
        for (const Operand& part : operand.parts) {
            const std::uint64_t* const from = b.reg(part.reg) + warp;
            words.insert(words.end(), from, from + 32);
        }
    }

    // A and B of one group of lanes as matrices.
    void decode(const std::vector<std::uint64_t>& words, int group) {
        a_.assign(static_cast<std::size_t>(t_.m * t_.k), 0);
        b_.assign(static_cast<std::size_t>(t_.n * t_.k), 0);
        const std::size_t b_words = 32 * in_.operands[1].parts.size();
        for (int lane = 0; lane < 32; ++lane) {
            if (!takes_part(group, lane)) continue;
            const auto word = [&](std::size_t first, int i, int per) {
                return words[first + static_cast<std::size_t>(32 * (i / per) + lane)];
            };
            for (int i = 0; i < count_of(1); ++i) {
                const Place p = volta_ ? volta_a(lane, i) : place_of_a(t_.m, t_.k, bits_of(t_.elements[1]), lane, i);
                a_[static_cast<std::size_t>(p.row * t_.k + p.column)] = element_of(1, word(0, i, per_[1]), i % per_[1]);
            }
            for (int i = 0; i < count_of(2); ++i) {
                const Place p = volta_ ? volta_b(lane, i) : place_of_b(bits_of(t_.elements[2]), lane, i);
                b_[static_cast<std::size_t>(p.column * t_.k + p.row)] =
                    element_of(2, word(b_words, i, per_[2]), i % per_[2]);
            }
        }
    }

    const std::vector<double>& product_of(const std::vector<std::uint64_t>& words) {
        for (const Known& k : known_)
            if (k.words == words) return k.product;
        Known& made = known_[next_++ % known_.size()];
        made.words = words;
        made.product.assign(static_cast<std::size_t>(32 * count_of(0)), 0);
        for (int group = 0; group < groups(); ++group) {
            decode(words, group);
            c_.assign(static_cast<std::size_t>(t_.m * t_.n), 0);
            multiply_add(a_, b_, c_, {t_.m, t_.n, t_.k, 1, false});
            each_result(group, [&](int lane, int i, double& cell) {
                made.product[static_cast<std::size_t>(i * 32 + lane)] = cell;
            });
        }
        return made.product;
    }

    // The cells of C in the order of the fragments of the result.
    template <class Visit>
    void each_result(int group, Visit visit) {
        for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; takes_part(group, lane) && i < count_of(0); ++i) {
                const Place p = accumulator_place(t_.elements[0], lane, i);
                visit(lane, i, c_[static_cast<std::size_t>(p.row * t_.n + p.column)]);
            }
    }

    void add_known(Block& b, unsigned warp, double scale) {
        if (t_.elements[0] != t_.elements[3]) fail("the model knows mma with C and D of one type: " + in_.text);
        words_.clear();
        append(words_, b, in_.operands[1], warp);
        append(words_, b, in_.operands[2], warp);
        const std::vector<double>& product = product_of(words_);
        const Element type = t_.elements[0];
        const int per = per_[0], bits = bits_of(type);
        const auto& to = in_.operands[0].parts;
        const auto& from = in_.operands[3].parts;
        for (std::size_t r = 0; r < to.size(); ++r) {
            const std::uint64_t* const c = b.reg(from[r].reg) + warp;
            std::uint64_t* const d = b.reg(to[r].reg) + warp;
            const double* const p = product.data() + r * static_cast<std::size_t>(32 * per);
            if (type == Element::f32) {
                for (int l = 0; l < 32; ++l) d[l] = bits_of(static_cast<float>(as_f32(c[l]) + scale * p[l]));
                continue;
            }
            for (int l = 0; l < 32; ++l) {
                std::uint64_t word = 0;
                for (int i = 0; i < per; ++i)
                    word |= element_bits(type, element_of(3, c[l], i) + scale * p[i * 32 + l]) << (i * bits);
                d[l] = word;
            }
        }
    }

    // Where the sum depends on what it is added to, nothing can be remembered.
    void add_exactly(Block& b, unsigned warp, double scale) {
        words_.clear();
        for (const std::size_t operand : {1U, 2U}) append(words_, b, in_.operands[operand], warp);
        decode(words_, 0);
        c_.assign(static_cast<std::size_t>(t_.m * t_.n), 0);
        const auto word_of = [&](std::size_t operand, int lane, int i) -> std::uint64_t& {
            return b.reg(in_.operands[operand]
                             .parts[static_cast<std::size_t>(i / per_[operand])]
                             .reg)[warp + static_cast<unsigned>(lane)];
        };
        each_result(0, [&](int lane, int i, double& cell) { cell = element_of(3, word_of(3, lane, i), i % per_[3]); });
        multiply_add(a_, b_, c_, {t_.m, t_.n, t_.k, scale, true});
        each_result(0, [&](int lane, int i, double& cell) {
            const int bits = bits_of(t_.elements[0]), at = i % per_[0] * bits;
            std::uint64_t& word = word_of(0, lane, i);
            word = (at == 0 ? 0 : word) | element_bits(t_.elements[0], cell) << at;
        });
    }

    // Block scales (UE8M0), all the same: which of them belongs where is not modelled.
    [[nodiscard]] double scale_of(Block& b, std::size_t operand, unsigned warp) const {
        const std::uint64_t word = value_at(b, in_.operands[operand].parts.front(), 32, warp);
        if (word != (word & 255) * 0x01010101U) fail("the model knows only equal scales: " + in_.text);
        return scaled_by(1.0, static_cast<int>(word & 255) - 127);
    }

    const Instruction& in_;
    const MatrixTypes& t_;
    bool volta_ = false, scaled_ = false;
    std::array<int, 4> per_{};  // elements of a register: of D, A, B and C
    std::array<Known, 4> known_;
    std::size_t next_ = 0;
    std::vector<std::uint64_t> words_;
    std::vector<double> a_, b_, c_;
};

}  // namespace

void mma(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    if (!in.decoded) in.decoded = std::make_shared<Product>(in);
    auto& product = *static_cast<Product*>(in.decoded.get());
    for (unsigned warp = 0; warp < b.threads; warp += 32)
        if (mask == nullptr || mask[warp] != 0) product.run(b, warp);
}

}  // namespace ptx
