// wgmma: four warps multiply matrices in shared memory, into registers that are theirs again after a wait.
#include "matrix.hpp"

namespace ptx {
namespace {

void check_accumulators(const Block& b, const Instruction& in) {
    for (const Operand& o : in.operands[0].parts)
        if (b.warpgroup.written[static_cast<std::size_t>(o.reg)] > b.warpgroup.fenced)
            fail("wgmma: an accumulator was written after the last wgmma.fence");
}

double sign_of(const Instruction& in, bool is_integer, std::size_t operands) {
    if (is_integer) return 1;
    if (operands == 8 && (in.operands[6].immediate != 0 || in.operands[7].immediate != 0))
        fail("the model does not have transposed operands: " + in.text);
    const auto factor = [&](std::size_t i) {
        return static_cast<double>(static_cast<std::int64_t>(in.operands[i].immediate));
    };
    return factor(4) * factor(5);
}

// Element e of a thread: rows by warp and lane, columns in steps of eight.
std::size_t cell_of(unsigned t, int e, int n) {
    const auto warp = static_cast<int>(t / 32), lane = static_cast<int>(t % 32);
    return static_cast<std::size_t>((16 * warp + lane / 4 + 8 * (e / 2 % 2)) * n + 8 * (e / 4) + 2 * (lane % 4) +
                                    e % 2);
}

// The product of the operands, by element and thread as the registers of the result hold it.
std::vector<double> product_by_register(const MatrixTypes& is, const std::vector<std::uint8_t>& bytes) {
    const std::size_t first_of_b = static_cast<std::size_t>(is.m) * row_bytes(is.elements[1], is.k);
    std::vector<double> c(static_cast<std::size_t>(is.m * is.n)), by_register(c.size());
    multiply_add(elements_of(bytes.data(), is.elements[1], is.m, is.k),
                 elements_of(bytes.data() + first_of_b, is.elements[2], is.n, is.k), c, {is.m, is.n, is.k, 1, false});
    for (int e = 0; e < is.n / 2; ++e)
        for (unsigned t = 0; t < 128; ++t) by_register[static_cast<std::size_t>(e) * 128 + t] = c[cell_of(t, e, is.n)];
    return by_register;
}

struct Accumulators {
    Block& b;
    const Instruction& in;
    unsigned first;
    double sign;

    std::uint64_t* of(int e) { return b.reg(in.operands[0].parts[static_cast<std::size_t>(e)].reg) + first; }
    const std::uint64_t* adds() { return b.reg(in.operands[3].reg) + first; }

    void add(const std::vector<double>& product) {
        const Element type = in.matrix.elements[0];
        const std::uint64_t* const old = adds();
        for (int e = 0; e < in.matrix.n / 2; ++e) {
            std::uint64_t* const d = of(e);
            const double* const p = product.data() + static_cast<std::size_t>(e) * 128;
            if (type == Element::f32)
                for (unsigned t = 0; t < 128; ++t)
                    d[t] = bits_of(static_cast<float>((old[t] != 0 ? as_f32(d[t]) : 0) + sign * p[t]));
            else
                for (unsigned t = 0; t < 128; ++t)
                    d[t] = element_bits(type, (old[t] != 0 ? value_of(type, d[t]) : 0) + sign * p[t]);
        }
    }
    // Where the sum depends on what it is added to.
    void add_cut(const std::vector<double>& a, const std::vector<double>& b_matrix) {
        const auto& [m, n, k, types] = in.matrix;
        std::vector<double> c(static_cast<std::size_t>(m * n));
        for (int e = 0; e < n / 2; ++e)
            for (unsigned t = 0; t < 128; ++t) c[cell_of(t, e, n)] = adds()[t] != 0 ? value_of(types[0], of(e)[t]) : 0;
        multiply_add(a, b_matrix, c, {m, n, k, sign, true});
        for (int e = 0; e < n / 2; ++e)
            for (unsigned t = 0; t < 128; ++t) of(e)[t] = element_bits(types[0], c[cell_of(t, e, n)]);
    }
};

void multiply(Block& b, const Instruction& in, unsigned first) {
    const auto& [m, n, k, types] = in.matrix;
    const bool is_integer = types.at(1) == Element::s8;
    const std::uint64_t da = b.reg(in.operands[1].reg)[first], db = b.reg(in.operands[2].reg)[first];
    for (unsigned t = first; t < first + 128; ++t)
        if (b.reg(in.operands[1].reg)[t] != da || b.reg(in.operands[2].reg)[t] != db)
            fail("wgmma: descriptors differ within the warpgroup");
    static std::vector<std::uint8_t> bytes;
    bytes.clear();
    SharedMatrix(b, da, false, in).append_bytes(types[1], m, k, bytes);
    SharedMatrix(b, db, false, in).append_bytes(types[2], n, k, bytes);
    Accumulators accumulators{b, in, first, sign_of(in, is_integer, in.operands.size())};
    if (b.gpu.is.cuts_fp8 && is_fp8(types[1])) {
        const std::size_t first_of_b = static_cast<std::size_t>(m) * row_bytes(types[1], k);
        accumulators.add_cut(elements_of(bytes.data(), types[1], m, k),
                             elements_of(bytes.data() + first_of_b, types[2], n, k));
    } else {
        if (!in.decoded) in.decoded = std::make_shared<KnownProducts>();
        accumulators.add(static_cast<KnownProducts*>(in.decoded.get())->of(bytes, [&] {
            return product_by_register(in.matrix, bytes);
        }));
    }
    b.gpu.usage(b.sm).tensor += m * n * k * element_cost(types[1]) / b.gpu.is.products_per_cycle;
}

void start_product(Block& b, const Instruction& in, const std::uint8_t* mask) {
    if (b.gpu.is.cc != 90 || b.kernel.target.find("sm_90a") == std::string::npos) fail("wgmma needs sm_90a");
    if (mask != nullptr || b.threads % 128 != 0) fail("the model knows wgmma by whole groups only");
    const auto& [m, n, k, types] = in.matrix;
    const bool sixteen = types.at(1) == Element::f16 || types[1] == Element::bf16;
    const std::size_t operands = types[1] == Element::s8 ? 4 : sixteen ? 8 : 6;
    if (in.operands.size() != operands) fail("wgmma: operands of this type: " + in.text);
    if (k * bits_of(types[1]) != 256 || static_cast<int>(in.operands[0].parts.size()) != n / 2)
        fail("wgmma: shape: " + in.text);
    check_fenced(b, in);
    check_accumulators(b, in);
    for (unsigned first = 0; first < b.threads; first += 128) multiply(b, in, first);
    for (const Operand& o : in.operands[0].parts)
        b.warpgroup.unfinished[static_cast<std::size_t>(o.reg)] = b.warpgroup.open_group;
}

}  // namespace

void wgmma(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    WarpgroupState& state = b.warpgroup;
    const std::string& what = in.words[1];
    if (what == "fence") {
        state.fenced = state.now;
    } else if (what == "commit_group") {
        ++state.open_group;
    } else if (what == "wait_group") {
        const auto left = static_cast<std::uint32_t>(in.operands[0].immediate);
        if (state.open_group - 1 > left)
            state.finished_group = std::max(state.finished_group, state.open_group - 1 - left);
    } else if (what == "mma_async") {
        start_product(b, in, mask);
    } else {
        fail("the model does not know " + in.text);
    }
}

}  // namespace ptx
