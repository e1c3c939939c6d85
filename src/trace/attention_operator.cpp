// Fused attention. Every query block reads the keys and values that it may see: from L2, which holds them for a head.
#include <algorithm>
#include <cctype>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

struct Problem {
    double batch = 1, heads = 1, kv_heads = 1, q = 1, kv = 1, d = 1, dv = 1;
    double pairs = 0;     // of query and key that are multiplied, of one head of the batch
    bool packed = false;  // several sequences, whose lengths the trace does not have
};

const std::string& value_of(const Launch& l, std::string_view name) {
    return value_at(*l.call, l.rule->argument(name));
}

// "Flash_fwd_kernel_traits<64, 128, 64, ...": size of a head, then queries of a block.
double query_block(std::string_view kernel, std::vector<std::string>& remarks) {
    for (const std::string_view traits : {"kernel_traits<", "aligned_"}) {
        const auto at = kernel.find(traits);
        if (at == std::string_view::npos) continue;
        const bool cutlass = traits == "aligned_";  // fmha_cutlassF_f32_aligned_64x128
        std::size_t begin = at + traits.size();
        if (!cutlass) begin = kernel.find(',', begin) == std::string_view::npos ? begin : kernel.find(',', begin) + 1;
        double number = 0;
        for (; begin < kernel.size() &&
               (kernel[begin] == ' ' || kernel[begin] == '(' ||
                std::isalpha(static_cast<unsigned char>(kernel[begin])) != 0 || kernel[begin] == ')');
             ++begin) {
        }
        for (; begin < kernel.size() && kernel[begin] >= '0' && kernel[begin] <= '9'; ++begin)
            number = number * 10 + (kernel[begin] - '0');
        if (number >= 16 && number <= 512) return number;
    }
    remarks.emplace_back("its block of queries is not in its name: taken as 128");
    return 128;
}

std::string read_problem(const Launch& l, Problem& p) {
    const OperatorInput *q = argument(*l.call, l.rule->argument("query")),
                        *k = argument(*l.call, l.rule->argument("key")),
                        *v = argument(*l.call, l.rule->argument("value"));
    if (!q || !k || !v) return "shapes of its operands were not recorded";
    const Dims &a = q->tensors.front(), &b = k->tensors.front(), &c = v->tensors.front();
    if (a.size() != b.size() || b.size() != c.size() || (a.size() != 4 && a.size() != 3))
        return "its operands are not those of attention";
    const bool packed = a.size() == 3;
    const bool heads_first = l.rule->layout == "bhsd" && !packed;
    const auto at = [&](const Dims& d, std::size_t i) { return double(d[packed ? i - 1 : i]); };
    p.batch = packed ? 1 : double(a[0]);
    p.heads = at(a, heads_first ? 1 : 2), p.q = at(a, heads_first ? 2 : 1), p.d = at(a, 3);
    p.kv_heads = at(b, heads_first ? 1 : 2), p.kv = at(b, heads_first ? 2 : 1), p.dv = at(c, 3);
    const bool causal = value_of(l, "causal") == "True" || value_of(l, "causal") == "1" || value_of(l, "causal") == "2";
    const bool several = argument(*l.call, l.rule->argument("cumulative")) != nullptr;
    if (several) p.packed = true;
    const Dims window = numbers_in(value_of(l, "window"));
    // A query sees the keys before it, all of them in the last row; of a window no more than it is wide.
    double seen = causal ? p.kv - std::min(p.q, p.kv) / 2 + 0.5 : p.kv;
    if (!window.empty() && window[0] > 0) seen = std::min(seen, double(window[0]) + 1);
    p.pairs = p.q * seen;
    return {};
}

}  // namespace

Described describe_attention(const Launch& l) {
    Described out;
    Problem p;
    if (std::string fault = read_problem(l, p); !fault.empty()) return Described::refused(std::move(fault));
    const OperatorInput* q = argument(*l.call, l.rule->argument("query"));
    const auto precision = precision_of(q->type);
    if (!precision) return Described::refused("the type of its operands was not recorded");
    const double size = element_size(*precision).value();
    const double queries = p.batch * p.heads * p.q, keys = p.batch * p.kv_heads * p.kv;
    const double in_q = queries * p.d * size, in_kv = keys * (p.d + p.dv) * size, result = queries * p.dv * size;
    const bool backward = l.rule->pass == "dgrad";
    if (l.role == Role::before_attention) return stream(l, 2 * result, queries * 4, 2 * queries * p.dv);
    if (l.role == Role::after_attention) return stream(l, queries * p.d * 4, in_q, queries * p.d);
    if (l.role != Role::main) return Described::refused("what this helper kernel moves is not known");
    if (p.packed) return Described::refused("work unknown: the lengths of its packed sequences are not in the trace");
    // Two products forward; backward computes the scores again and four more.
    const double products = backward ? 3 * p.d + 2 * p.dv : p.d + p.dv;
    out.flop = Flops{2 * p.batch * p.heads * p.pairs * products};
    double mask = 0;
    if (const OperatorInput* m = argument(*l.call, l.rule->argument("mask")))
        mask = stored_elements(*m) * element_bytes(*m, l.kernel(), out.remarks);
    const double block = query_block(l.kernel(), out.remarks);
    const double per_pair = (p.d + p.dv) * size * p.batch * p.heads * p.pairs / block;
    Described::Traffic t;
    t.precision = *precision;
    if (backward) {
        // Blocks of keys walk over the queries and their gradients, and add into the queries' gradient (FP32).
        const double once = in_q + in_kv + 2 * result + in_kv + queries * p.d * 4;
        t.dram = Bytes{once + mask};
        t.l2 = Bytes{in_kv * 2 + per_pair * 2 + mask};
    } else {
        t.dram = Bytes{in_q + in_kv + result + mask};
        t.l2 = Bytes{std::max(t.dram.value(), in_q + per_pair + result + mask)};
    }
    t.l2 = std::max(t.l2, t.dram);
    t.l1 = t.l2;
    out.traffic = t;
    if (l.count > 1) out.share = l.share;
    return out;
}

}  // namespace gambrel::trace_detail
