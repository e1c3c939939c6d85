// tcgen05 and mbarrier: one thread multiplies matrices in shared memory into tensor memory, and a barrier says when.
#include <algorithm>
#include <cstring>

#include "matrix.hpp"

namespace ptx {
namespace {

// Bits of the instruction descriptor; "PTX ISA, tcgen05, Instruction descriptor" names the fields.
struct InstructionDescriptor {
    int m = 0, n = 0, k = 0;
    Element a = Element::f16, b = Element::f16, d = Element::f32;
    double sign = 1;
};

Element f16_type(std::uint32_t code) {
    if (code > 1) fail("instruction descriptor: type of kind::f16");
    return code == 0 ? Element::f16 : Element::bf16;
}
Element plain_type(const std::string& kind, std::uint32_t code) {
    if (kind == "f16") return f16_type(code);
    if (kind == "tf32" && code == 2) return Element::tf32;
    if (kind == "f8f6f4" && code <= 1) return code == 0 ? Element::e4m3 : Element::e5m2;
    if (kind == "f8f6f4" && (code == 3 || code == 4)) return code == 3 ? Element::e2m3 : Element::e3m2;
    if (kind == "i8" && code <= 1) return code == 0 ? Element::u8 : Element::s8;
    fail("instruction descriptor: type of kind::" + kind);
}

InstructionDescriptor plain_descriptor(std::uint32_t id, const std::string& kind, int cc) {
    const auto bits = [id](int low, int count) { return id >> low & static_cast<std::uint32_t>(mask_of(count)); };
    if (bits(6, 1) != 0 || bits(23, 1) != 0 || bits(29, 3) != 0) fail("instruction descriptor: reserved bits");
    InstructionDescriptor d;
    d.m = static_cast<int>(bits(24, 5)) * 16;
    d.a = plain_type(kind, bits(7, 3)), d.b = plain_type(kind, bits(10, 3));
    d.k = 256 / bits_of(d.a);
    d.sign = (bits(13, 1) ^ bits(14, 1)) != 0 ? -1 : 1;
    if (kind != "i8") {
        if (bits(4, 2) != 1) fail("instruction descriptor: type of D");
        return d;
    }
    d.d = Element::s32;
    if (bits(4, 2) != 2) fail("instruction descriptor: type of D of kind::i8");
    if (bits(13, 2) != 0) fail("instruction descriptor: kind::i8 cannot negate");
    if (cc == 103) fail("compute capability 10.3 has no kind::i8");
    return d;
}

InstructionDescriptor scaled_descriptor(std::uint32_t id, const Instruction& in, int cc) {
    const auto bits = [id](int low, int count) { return id >> low & static_cast<std::uint32_t>(mask_of(count)); };
    const bool plain = in.has("kind::mxf4") && in.has("scale_vec::2X");
    if (!plain && !(in.has("kind::mxf4nvf4") && in.has("scale_vec::4X"))) fail("the model does not know " + in.text);
    if (bits(4, 3) != 0 || bits(24, 3) != 0 || bits(29, 2) != 0) fail("instruction descriptor: reserved bits");
    if (bits(7, 3) != 1 || bits(10, 3) != 1) fail("instruction descriptor: types of kind::mxf4");
    if ((bits(23, 1) != 0) != plain) fail("instruction descriptor: scales are UE8M0 for kind::mxf4, UE4M3 for nvf4");
    if (bits(13, 2) != 0) fail("instruction descriptor: whether kind::mxf4 can negate is not documented");
    InstructionDescriptor d;
    d.m = static_cast<int>(bits(27, 2)) * 128;
    d.a = d.b = Element::e2m1;
    d.k = bits(31, 1) != 0 ? 96 : 64;
    if (d.k == 96 && cc != 103) fail("instruction descriptor: only compute capability 10.3 has K = 96");
    return d;
}

// Scales lie in tensor memory, a byte for every 32 (UE8M0) or 16 (UE4M3) elements along k, repeated in the four parts
// of the lanes. One word for each row, behind the bytes that are there.
void append_scales(Block& b, int rows, std::uint32_t at, std::uint32_t d, int n, std::vector<std::uint8_t>& to) {
    if (at >> 16 != 0) fail("scales: lanes");
    for (int row = 0; row < rows; ++row) {
        const std::uint32_t column = (at & 0xffff) + static_cast<std::uint32_t>(row) / 32;
        const auto lane = static_cast<std::uint32_t>(row) % 32;
        if (column >= b.tensor.columns) fail("scales: beyond the allocated columns");
        if (column >= d && column < d + static_cast<std::uint32_t>(n)) fail("scales overlap D");
        const std::uint32_t word = b.tensor.at(lane, column);
        for (std::uint32_t part = 1; part < 4; ++part)
            if (b.tensor.at(lane + 32 * part, column) != word) fail("scales are not repeated in the four parts");
        for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
}

void apply_scales(std::vector<double>& matrix, int rows, int k, bool ue4m3, const std::uint8_t* scales) {
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < k; ++i) {
            const std::uint8_t scale = scales[4 * row + i / (ue4m3 ? 16 : 32)];
            matrix[static_cast<std::size_t>(row * k + i)] *=
                ue4m3 ? small_float(scale, 4, 3, 7) : scaled_by(1.0, static_cast<int>(scale) - 127);
        }
}

// What one product is made of: the types and shape, A, B and their scales.
std::vector<double> product_of(const InstructionDescriptor& is, bool scaled, bool ue4m3, const std::uint8_t* bytes) {
    const auto m = static_cast<std::size_t>(is.m), n = static_cast<std::size_t>(is.n);
    auto a_matrix = elements_of(bytes, is.a, is.m, is.k);
    bytes += m * row_bytes(is.a, is.k);
    auto b_matrix = elements_of(bytes, is.b, is.n, is.k);
    bytes += n * row_bytes(is.b, is.k);
    if (scaled) {
        apply_scales(a_matrix, is.m, is.k, ue4m3, bytes);
        apply_scales(b_matrix, is.n, is.k, ue4m3, bytes + 4 * m);
    }
    std::vector<double> product(m * n, 0.0);
    multiply_add(a_matrix, b_matrix, product, {is.m, is.n, is.k, 1, false});
    return product;
}

void add_to_tensor_memory(TensorMemory& tensor, std::uint32_t first_column, const InstructionDescriptor& is, bool adds,
                          const std::vector<double>& product) {
    const double* p = product.data();
    for (int row = 0; row < is.m; ++row) {
        std::uint32_t* const cells = &tensor.at(static_cast<std::uint32_t>(row), first_column);
        if (is.d == Element::f32)
            for (int i = 0; i < is.n; ++i, ++p)
                cells[i] = static_cast<std::uint32_t>(
                    bits_of(static_cast<float>((adds ? as_f32(cells[i]) : 0) + is.sign * *p)));
        else
            for (int i = 0; i < is.n; ++i, ++p)
                cells[i] = static_cast<std::uint32_t>(
                    element_bits(is.d, (adds ? value_of(is.d, cells[i]) : 0) + is.sign * *p));
    }
}

void multiply(Block& b, const Instruction& in, unsigned thread) {
    check_fenced(b, in);
    std::string kind;
    for (const std::string& word : in.words)
        if (word.starts_with("kind::")) kind = word.substr(6);
    const auto value = [&](std::size_t i, int width) { return value_at(b, in.operands[i], width, thread); };
    const auto id = static_cast<std::uint32_t>(value(3, 32));
    if ((id & 15) != 0) fail("instruction descriptor: sparsity or saturation");
    if ((id >> 15 & 3) != 0) fail("the model does not have transposed operands");
    const bool scaled = in.has("block_scale");
    InstructionDescriptor is =
        scaled ? scaled_descriptor(id, in, b.gpu.is.cc) : plain_descriptor(id, kind, b.gpu.is.cc);
    is.n = static_cast<int>(id >> 17 & 63) * 8;
    if (is.m != 128 || is.n % 16 != 0 || is.n < 16 || is.n > 256) fail("tcgen05.mma: shape");
    const auto d = static_cast<std::uint32_t>(b.address(in.operands[0], thread));
    if (d >> 16 != 0 || d + static_cast<std::uint32_t>(is.n) > b.tensor.columns) fail("tcgen05.mma: place of D");
    constexpr std::size_t kHead = 5;
    static std::vector<std::uint8_t> bytes;
    bytes.assign({static_cast<std::uint8_t>(is.a), static_cast<std::uint8_t>(is.b), static_cast<std::uint8_t>(is.k),
                  static_cast<std::uint8_t>(is.m / 16), static_cast<std::uint8_t>(is.n / 16)});
    SharedMatrix(b, value(1, 64), true, in).append_bytes(is.a, is.m, is.k, bytes);
    SharedMatrix(b, value(2, 64), true, in).append_bytes(is.b, is.n, is.k, bytes);
    if (scaled) {
        const auto place = [&](std::size_t i) { return static_cast<std::uint32_t>(b.address(in.operands[i], thread)); };
        append_scales(b, is.m, place(4), d, is.n, bytes);
        append_scales(b, is.n, place(5), d, is.n, bytes);
    }
    if (!in.decoded) in.decoded = std::make_shared<KnownProducts>();
    const auto& product = static_cast<KnownProducts*>(in.decoded.get())->of(bytes, [&] {
        return product_of(is, scaled, kind == "mxf4nvf4", bytes.data() + kHead);
    });
    const bool adds = b.reg(in.operands.back().reg)[thread] != 0;
    add_to_tensor_memory(b.tensor, d, is, adds, product);
    ++b.tensor.uncommitted;
    const double faster = is.k == 96 ? 1.5 : 1;  // what the depth of 96 is for
    b.gpu.usage(b.sm).tensor += is.m * is.n * is.k * element_cost(is.a) / b.gpu.is.products_per_cycle / faster;
}

void allocate(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    const Participants who = participants(b, mask);
    if (who.count != 32) fail("tcgen05.alloc by more than one warp");
    if (!b.tensor.may_allocate) fail("tcgen05.alloc after the permit was given up");
    const std::uint64_t columns = in.operands[1].immediate;
    if (columns < 32 || columns > TensorMemory::kColumns || (columns & (columns - 1)) != 0) fail("tcgen05.alloc: size");
    b.tensor.columns = static_cast<std::uint32_t>(columns);
    b.tensor.cells.assign(std::size_t{TensorMemory::kLanes} * TensorMemory::kColumns, 0x7fc0dead);  // a NaN
    const std::uint32_t base = 0;
    std::memcpy(b.shared_at(b.address(in.operands[0], who.first), 4, in), &base, 4);
}

void transfer(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    if (b.tensor.uncommitted != 0 || b.tensor.unwaited != 0)
        fail("tensor memory is read or written before the products are done");
    const bool load = in.words[1] == "ld";
    const Operand& memory = in.operands[load ? 1 : 0];
    const std::vector<Operand>& values = in.operands[load ? 0 : 1].parts;
    if (!in.has("32x32b") || !in.has("x" + std::to_string(values.size()))) fail("the model does not know " + in.text);
    each_thread(b, mask, [&](unsigned t) {
        const auto at = static_cast<std::uint32_t>(b.address(memory, t));
        const std::uint32_t lane = at >> 16, first = at & 0xffff;
        if (lane != t / 32 % 4 * 32) fail("a warp reaches for lanes of tensor memory that belong to another");
        if (first + values.size() > b.tensor.columns) fail("a column of tensor memory beyond those allocated");
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            std::uint32_t& cell = b.tensor.at(lane + t % 32, first + i);
            if (load)
                b.reg(values[i].reg)[t] = cell;
            else
                cell = static_cast<std::uint32_t>(value_at(b, values[i], 32, t));
        }
    });
}

void commit(Block& b, const Instruction& in, unsigned thread) {
    const auto it = b.barriers.find(static_cast<std::uint32_t>(b.address(in.operands[0], thread)));
    if (it == b.barriers.end()) fail("tcgen05.commit to what is not an mbarrier");
    b.tensor.unwaited += b.tensor.uncommitted;
    b.tensor.uncommitted = 0;
    if (--it->second.pending == 0) ++it->second.phase, it->second.pending = it->second.expected;
}

void release(Block& b, const Instruction& in, const std::uint8_t* mask) {
    check_whole_warps(b, in, mask);
    if (b.reg(in.operands[0].reg)[participants(b, mask).first] != 0 || in.operands[1].immediate != b.tensor.columns)
        fail("tcgen05.dealloc of what was not allocated");
    b.tensor.columns = 0;
}

}  // namespace

void mbarrier(Block& b, const Instruction& in, const std::uint8_t* mask) {
    if (in.words[1] == "init") {
        each_thread(b, mask, [&](unsigned t) {
            const auto at = static_cast<std::uint32_t>(b.address(in.operands[0], t));
            if (at % 8 != 0) fail("an mbarrier that is not aligned");
            const auto count = static_cast<int>(value_at(b, in.operands[1], 32, t));
            b.barriers[at] = {count, count, 0};
            b.unfenced[t] = 1;
        });
        return;
    }
    if (in.words[1] != "try_wait") fail("the model does not know " + in.text);
    each_thread(b, mask, [&](unsigned t) {
        const auto it = b.barriers.find(static_cast<std::uint32_t>(b.address(in.operands[1], t)));
        if (it == b.barriers.end()) fail("a wait for what is not an mbarrier");
        const bool over = (it->second.phase & 1) != value_at(b, in.operands[2], 32, t);
        b.reg(in.operands[0].reg)[t] = over ? 1 : 0;
        if (over)
            b.tensor.unwaited = 0;
        else if (b.tensor.uncommitted == 0 && it->second.pending == it->second.expected)
            fail("deadlock: a wait for a phase that nothing will complete");
    });
}

void tcgen05(Block& b, const Instruction& in, const std::uint8_t* mask) {
    if (b.gpu.is.cc < 100 || b.gpu.is.cc >= 120) fail("this GPU has no tcgen05");
    const std::string& what = in.words[1];
    if (what.starts_with("fence::") || what.starts_with("wait::")) return;
    if (what == "alloc") return allocate(b, in, mask);
    if (what == "relinquish_alloc_permit") {
        check_whole_warps(b, in, mask);
        b.tensor.may_allocate = false;
        return;
    }
    if (b.tensor.columns == 0) fail("tensor memory is not allocated: " + in.text);
    if (what == "dealloc") return release(b, in, mask);
    if (what == "ld" || what == "st") return transfer(b, in, mask);
    const Participants who = participants(b, mask);
    if (who.count != 1) fail("tcgen05." + what + " by more than one thread");
    if (what == "commit") return commit(b, in, who.first);
    if (what != "mma") fail("the model does not know " + in.text);
    multiply(b, in, who.first);
}

}  // namespace ptx
