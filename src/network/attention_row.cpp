#include <fmt/format.h>

#include "network/operator_rows.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

std::optional<Precision> precision_cell(RowCells& cells, Column column) {
    const std::string_view text = cells.text(column);
    if (text.empty()) return std::nullopt;
    const auto precision = precision_from(text);
    if (!precision) cells.fault(fmt::format("{} \"{}\": expected bf16, fp16 or fp8", name(column), text));
    return precision;
}

// "power_law_1.2" is what serving benchmarks call it; the number is the exponent.
double imbalance_of(RowCells& cells) {
    const std::string text = lower(cells.text(Column::distribution));
    if (text.empty() || text == "balanced" || text == "uniform") return 0;
    constexpr std::string_view kPowerLaw = "power_law_";
    if (text.starts_with(kPowerLaw))
        if (const auto exponent = number_from(std::string_view(text).substr(kPowerLaw.size()))) return *exponent;
    cells.fault(fmt::format("distribution \"{}\": expected balanced or power_law_1.2", text));
    return 0;
}

std::string attention_name(const Attention& a, std::string_view phase) {
    const std::string others = a.decode_batch > 0 ? fmt::format(" + {}x1x{}", a.decode_batch, a.decode_kv_len) : "";
    return fmt::format("attention {} {}x{}x{}{} {}/{}x{}", phase, a.batch, a.q_len, a.kv_len, others, a.heads,
                       a.kv_heads, a.head_dim);
}

}  // namespace

std::vector<Layer> attention_layers(RowCells& cells, const Layer& common) {
    using enum Column;
    const std::string phase_cell = lower(cells.text(Column::phase)), kind_cell = lower(cells.text(Column::kind));
    const bool decode = phase_cell == "decode";
    if (!phase_cell.empty() && !decode && phase_cell != "prefill" && phase_cell != "mixed" && phase_cell != "fwd" &&
        phase_cell != "bwd")
        cells.fault(fmt::format("phase \"{}\": expected prefill, decode, mixed, fwd or bwd", phase_cell));
    Attention a;
    a.batch = cells.integer(batch, 1);
    a.kv_len = cells.integer(kv_len, decode ? std::nullopt : std::optional(cells.integer(q_len, 1)));
    a.q_len = cells.integer(q_len, decode ? std::optional<std::int64_t>(1) : std::nullopt);
    a.heads = cells.integer(heads, std::nullopt);
    a.kv_heads = cells.integer(kv_heads, a.heads);
    a.head_dim = cells.integer(head_dim, std::nullopt);
    a.head_dim_v = cells.integer(head_dim_v, a.head_dim);
    a.causal = decode || cells.flag(causal);
    a.window = cells.integer(window, 0);
    a.kv_precision = precision_cell(cells, Column::kv_precision);
    if (!kind_cell.empty() && kind_cell != "mha" && kind_cell != "gqa" && kind_cell != "mqa" && kind_cell != "mla")
        cells.fault(fmt::format("kind \"{}\": expected mha, gqa, mqa or mla", kind_cell));
    if (kind_cell == "mha" && a.kv_heads != a.heads)
        cells.fault(
            fmt::format("kind \"mha\" has as many kv_heads as heads, but kv_heads is {} and heads {}; expected "
                        "gqa",
                        a.kv_heads, a.heads));
    if (a.causal && a.q_len > a.kv_len)
        cells.fault(fmt::format("q_len {} is more than kv_len {}, at whose end new positions stand under a causal mask",
                                a.q_len, a.kv_len));
    // MLA keeps one compressed vector a position; prefill works on the expanded keys and values.
    a.latent = kind_cell == "mla" && a.kv_heads == 1 && decode;
    a.paged = decode || phase_cell == "prefill" || phase_cell == "mixed";
    if (phase_cell == "mixed") {
        a.decode_batch = cells.integer(decode_batch, 0);
        // The cell has the positions in the cache; the query's own is one more.
        if (a.decode_batch > 0) a.decode_kv_len = cells.integer(decode_kv_len, std::nullopt) + 1;
    }
    Layer layer = common;
    // LLMServingSim's profiles of vLLM before it paged prompts: the kernel's own time. Their times are those of CTAs
    // that visit all keys: 1024 queries of 16 heads, 128 CTAs, take two rounds of 84 SMs at the time of 1024 keys.
    if (phase_cell == "prefill" && lower(cells.text(framework)) == "vllm flash-attention") {
        a.paged = a.causal = false;
        if (!layer.hints.timing) layer.hints.timing = Timing::kernel;
    }
    if (lower(cells.text(framework)) == "pyt_flash_attention") layer.hints.algorithm = "flash-attention 2";
    layer.op = a;
    if (phase_cell == "bwd") layer.pass = Pass::dgrad;
    if (layer.name.empty()) layer.name = attention_name(a, phase_cell.empty() ? "fwd" : phase_cell);
    return {layer};
}

std::vector<Layer> expert_layers(RowCells& cells, const Layer& common) {
    using enum Column;
    MixtureOfExperts m;
    m.tokens = cells.integer(tokens, std::nullopt);
    m.hidden = cells.integer(hidden, std::nullopt);
    m.intermediate = cells.integer(intermediate, std::nullopt);
    m.topk = cells.integer(topk, 1);
    m.experts = cells.integer(Column::experts, std::nullopt);
    m.tensor_parallel = cells.integer(tp, 1);
    m.expert_parallel = cells.integer(ep, 1);
    m.imbalance = imbalance_of(cells);
    m.busiest_gpu = m.imbalance > 0;
    Layer layer = common;
    layer.op = m;
    if (layer.precision == Precision::fp8 && layer.hints.quantizes_input != InputScales::blocks)
        layer.hints.algorithm = "tensor scales";
    if (layer.name.empty())
        layer.name =
            fmt::format("moe {} tokens, {} of {} experts {}x{}", m.tokens, m.topk, m.experts, m.hidden, m.intermediate);
    return {layer};
}

}  // namespace gambrel::network_detail
