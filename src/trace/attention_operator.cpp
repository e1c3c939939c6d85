// Fused attention, as the Attention layer that every other command models: bytes have one model.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

struct Problem {
    Attention shape;
    double tokens = 0;          // queries of all sequences
    std::optional<Flops> work;  // where lengths are known within bounds only
    std::string remark, fault;
};

const std::string& value_of(const Launch& l, std::string_view name) {
    return value_at(*l.call, l.rule->argument(name));
}

// "Flash_fwd_kernel_traits<64, 128, 64, ...": size of a head, then queries and keys of a block;
// "fmha_cutlassF_f32_aligned_64x128": queries and keys.
void add_tile(std::string_view kernel, Hints& hints) {
    std::size_t at = kernel.find("kernel_traits<");
    const bool flash = at != std::string_view::npos;
    at = flash ? at + 14 : kernel.find("aligned_");
    if (at == std::string_view::npos) return;
    if (!flash) at += 8;
    Dims numbers;
    for (std::size_t i = at; i < kernel.size() && numbers.size() < 3; ++i) {
        const char c = kernel[i];
        if (c == '>' || c == '_') break;
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) continue;
        std::int64_t n = 0;
        for (; i < kernel.size() && std::isdigit(static_cast<unsigned char>(kernel[i])) != 0; ++i)
            n = std::min<std::int64_t>(n * 10 + (kernel[i] - '0'), 1 << 20);
        numbers.push_back(n);
        --i;
    }
    const std::size_t first = flash ? 1 : 0;
    if (numbers.size() < first + 2) return;
    const std::int64_t m = numbers[first], n = numbers[first + 1];
    if (m >= 16 && m <= 512 && n >= 16 && n <= 512) hints.tile_m = m, hints.tile_n = n;
}

// Where the argument was not recorded. The kernels of FlashAttention 2 have it behind their traits, after whether they
// drop out; those that split keys have no dropout. Those of TensorRT-LLM say it.
std::optional<bool> is_causal(std::string_view kernel) {
    if (has(kernel, "fmhaSm")) return has(kernel, "Causal");
    std::size_t at = kernel.find("kernel_traits<");
    if (at == std::string_view::npos || !has(kernel, "flash_")) return std::nullopt;
    int depth = 0;
    for (; at < kernel.size(); ++at) {
        depth += kernel[at] == '<' ? 1 : kernel[at] == '>' ? -1 : 0;
        if (kernel[at] == '>' && depth == 0) break;
    }
    const int wanted = has(kernel, "splitkv") ? 1 : 2;
    for (int i = 0; i < wanted && at != std::string_view::npos; ++i) at = kernel.find(',', at + 1);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view value = kernel.substr(at + 1, 12);
    value = value.substr(0, value.find_first_of(",>"));
    if (has(value, "true") || has(value, "(bool)1")) return true;
    if (has(value, "false") || has(value, "(bool)0")) return false;
    return std::nullopt;
}

// As a flag, or as the type of a mask: 0 none, 1 and 2 causal. PyTorch 2.4 put an argument before the type, so that
// where newer versions have it older ones have a flag of something else.
std::optional<bool> recorded_causal(const Launch& l) {
    const std::string& type = value_of(l, "mask_type");
    const bool is_type = type == "0" || type == "1" || type == "2";
    const std::string& text = is_type ? type : value_of(l, "causal");
    if (text.empty()) return std::nullopt;
    return text == "True" || text == "1" || text == "2";
}

double pairs_of(const Attention& a, double q, double kv) {
    Attention one = a;
    one.q_len = std::max<std::int64_t>(1, std::llround(q)), one.kv_len = std::max<std::int64_t>(1, std::llround(kv));
    return one.pairs();
}

// What is known of sequences that lie one behind another: how many there are, and the longest. 0: unknown.
struct Sequences {
    double count = 0, longest_q = 0, longest_k = 0;
};

// The work lies between that of equal lengths and that of as many of the longest as there is room for.
void add_packed(const Launch& l, const Sequences& known, double queries, double keys, Problem& p) {
    const double most = known.count;
    if (most <= 0 || known.longest_q <= 0 || queries <= 0)
        return void(p.fault = "work unknown: the lengths of its packed sequences are not in the trace");
    const double longest = std::min(queries, known.longest_q), ratio = keys / queries;
    const double longest_k = known.longest_k > 0 ? std::min(keys, known.longest_k) : longest * ratio;
    const double fewest = std::max(1.0, queries / longest), count = std::max(fewest, most);
    const double upper = fewest * pairs_of(p.shape, longest, longest_k);
    const double lower = count * pairs_of(p.shape, queries / count, keys / count);
    p.shape.batch = std::llround(std::ceil(fewest));
    p.shape.q_len = std::llround(queries / double(p.shape.batch)),
    p.shape.kv_len = std::llround(keys / double(p.shape.batch));
    p.shape.kv_len = std::max(p.shape.kv_len, p.shape.q_len);
    constexpr double kNear = 1.25;
    if (upper > kNear * lower)
        return void(
            p.fault = fmt::format("work unknown: the lengths of its {:.0f} packed sequences are not in the trace, and "
                                  "between equal and longest lengths it differs {:.1f} times",
                                  most, upper / std::max(1.0, lower)));
    const double each = double(p.shape.heads) * 2 *
                        (l.rule->pass == "dgrad" ? 3.0 * double(p.shape.head_dim) + 2.0 * double(p.shape.head_dim_v)
                                                 : double(p.shape.head_dim + p.shape.head_dim_v));
    p.work = Flops{std::sqrt(upper * lower) * each};
    if (upper > 1.001 * lower)
        p.remark = fmt::format("packed sequences: work within {:.0f} % by their number and the longest",
                               50 * (upper / lower - 1));
}

// How many there are is the length of the list of their starts, and how long the longest is stands beside it.
Sequences recorded_sequences(const Launch& l, const OperatorInput& starts) {
    const Dims& list = starts.tensors.front();
    const Dims max_q = numbers_in(value_of(l, "max_q")), max_k = numbers_in(value_of(l, "max_k"));
    Sequences out;
    if (list.size() == 1 && list[0] > 1) out.count = double(list[0] - 1);
    if (!max_q.empty()) out.longest_q = double(max_q.front());
    if (!max_k.empty()) out.longest_k = double(std::max<std::int64_t>(1, max_k[0]));
    return out;
}

// Serving libraries record neither. A kernel that has CTAs for the blocks of the longest prompt, for sequences and for
// heads shows both: FlashAttention 2 in this order, TensorRT-LLM with heads before sequences and two blocks to a CTA.
Sequences sequences_by_grid(const Launch& l, const Attention& s) {
    const auto& grid = l.activity->shape.grid;
    Hints tile;
    add_tile(l.kernel(), tile);
    if (has(l.kernel(), "flash_fwd_") && tile.tile_m > 0 && grid[2] == s.heads)
        return {double(grid[1]), double(grid[0]) * double(tile.tile_m), 0};
    if (has(l.kernel(), "fmhaSm100") && has(l.kernel(), "Context") && grid[1] == s.heads)
        return {double(grid[2]), double(grid[0]) * 256, 0};
    return {};
}

// Queries of a serving library may come with all heads side by side: then the keys tell the size of a head.
std::optional<Dims> with_heads(const Dims& d, std::int64_t head) {
    if (d.size() != 2) return d;
    if (head <= 0 || d[1] % head != 0) return std::nullopt;
    return Dims{d[0], d[1] / head, head};
}

void add_prompts(const Launch& l, Problem& p) {
    const Attention& s = p.shape;
    if (has(l.kernel(), "liding") || has(l.kernel(), "Local"))
        return void(p.fault = "work unknown: how many positions its window has was not recorded");
    const Sequences known = sequences_by_grid(l, s);
    if (known.count <= 0 || known.count >= p.tokens)
        return void(p.fault = "work unknown: how many keys are in the cache was not recorded");
    add_packed(l, known, p.tokens, p.tokens, p);
    if (p.fault.empty()) p.remark = "keys in the cache were not recorded: taken as those of this call's tokens alone";
}

Problem read_problem(const Launch& l) {
    Problem p;
    const OperatorInput *q = argument(*l.call, l.rule->argument("query")),
                        *k = argument(*l.call, l.rule->argument("key")),
                        *v = argument(*l.call, l.rule->argument("value"));
    if (!q || !k || !v) return p.fault = "shapes of its operands were not recorded", p;
    const bool serving = l.rule->layout == "thd";
    if (k->tensors.front().empty()) return p.fault = "its operands are not those of attention", p;
    const std::int64_t head = k->tensors.front().back();
    const auto queries = serving ? with_heads(q->tensors.front(), head) : q->tensors.front();
    if (!queries) return p.fault = "its operands are not those of attention", p;
    const Dims &a = *queries, &b = k->tensors.front(), &c = v->tensors.front();
    if (a.size() != b.size() || b.size() != c.size() || (a.size() != 4 && a.size() != 3))
        return p.fault = "its operands are not those of attention", p;
    const bool packed = a.size() == 3;
    const bool heads_first = l.rule->layout == "bhsd" && !packed;
    const auto at = [&](const Dims& d, std::size_t i) { return d[packed ? i - 1 : i]; };
    Attention& s = p.shape;
    s.batch = packed ? 1 : a[0];
    s.heads = at(a, heads_first ? 1 : 2), s.q_len = at(a, heads_first ? 2 : 1), s.head_dim = at(a, 3);
    s.kv_heads = at(b, heads_first ? 1 : 2), s.kv_len = at(b, heads_first ? 2 : 1), s.head_dim_v = at(c, 3);
    s.causal = recorded_causal(l).value_or(is_causal(l.kernel()).value_or(serving));
    const Dims window = numbers_in(value_of(l, "window"));
    if (s.causal && !window.empty() && window[0] > 0) s.window = window[0] + 1;
    p.tokens = double(s.batch) * double(s.q_len);
    const OperatorInput* starts = argument(*l.call, l.rule->argument("cumulative"));
    if (starts && faults(s).empty())
        add_packed(l, recorded_sequences(l, *starts), p.tokens, double(s.batch) * double(s.kv_len), p);
    if (serving && faults(s).empty()) add_prompts(l, p);
    return p;
}

}  // namespace

Described describe_attention(const Launch& l) {
    Problem p = read_problem(l);
    if (!p.fault.empty() && p.tokens == 0) return Described::refused(std::move(p.fault));
    const OperatorInput* q = argument(*l.call, l.rule->argument("query"));
    const auto precision = precision_of(q->type);
    if (!precision) return Described::refused("the type of its operands was not recorded");
    const double size = element_size(*precision).value(), d = double(p.shape.head_dim), dv = double(p.shape.head_dim_v);
    const double queries = p.tokens * double(p.shape.heads);
    if (l.role == Role::before_attention) return stream(l, 2 * queries * dv * size, queries * 4, 2 * queries * dv);
    if (l.role == Role::after_attention) return stream(l, queries * d * 4, queries * d * size, queries * d);
    if (l.role != Role::main) return Described::refused("what this helper kernel moves is not known");
    if (!p.fault.empty()) return Described::refused(std::move(p.fault));
    Described out;
    Layer layer;
    layer.name = l.call->name.str();
    layer.op = p.shape;
    layer.pass = l.rule->pass == "dgrad" ? Pass::dgrad : Pass::fwd;
    layer.precision = *precision;
    layer.hints.timing = Timing::kernel;
    add_tile(l.kernel(), layer.hints);
    if (const OperatorInput* m = argument(*l.call, l.rule->argument("mask")))
        out.extra = Bytes{stored_elements(*m) * element_bytes(*m, l.kernel(), out.remarks)};
    out.flop = p.work;
    if (!p.remark.empty()) out.remarks.push_back(std::move(p.remark));
    if (l.count > 1) out.share = l.share;
    out.layer = std::move(layer);
    return out;
}

}  // namespace gambrel::trace_detail
