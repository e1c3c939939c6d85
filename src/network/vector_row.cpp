#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "network/operator_rows.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

// One kernel of an operator: tensors of rows x cols elements that it reads and writes.
struct VectorOp {
    std::string_view name;
    StreamingKind kind;
    double read, written;   // tensors of the size that `rows`, `cols` give
    double parameters = 0;  // rows of `cols` elements
};
constexpr std::array<VectorOp, 32> kOps = {{
    {"add", StreamingKind::elementwise, 2, 1},
    {"addu", StreamingKind::elementwise, 1, 1},
    {"sub", StreamingKind::elementwise, 2, 1},
    {"mul", StreamingKind::elementwise, 2, 1},
    {"mulu", StreamingKind::elementwise, 1, 1},
    {"div", StreamingKind::elementwise, 2, 1},
    {"divu", StreamingKind::elementwise, 1, 1},
    {"pow", StreamingKind::transcendental, 2, 1},
    {"powu", StreamingKind::elementwise, 1, 1},
    {"relu", StreamingKind::activation, 1, 1},
    {"relu_squared", StreamingKind::activation, 1, 1},
    {"gelu", StreamingKind::transcendental, 1, 1},
    {"tanh", StreamingKind::transcendental, 1, 1},
    {"softmax", StreamingKind::softmax, 1, 1},
    {"layer_norm", StreamingKind::layer_norm, 1, 1, 2},
    {"rms_norm", StreamingKind::rms_norm, 1, 1, 1},
    {"megatron_rms_norm", StreamingKind::rms_norm, 1, 1, 1},
    {"fused_add_rms_norm", StreamingKind::rms_norm, 2, 2, 1},
    {"rope", StreamingKind::rope, 1, 1},
    {"llama4_rope", StreamingKind::rope, 1, 1},
    {"silu_mul", StreamingKind::gated_activation, 2, 1},
    {"swiglu", StreamingKind::gated_activation, 2, 1},
    {"megatron_swiglu", StreamingKind::gated_activation, 2, 1},
    {"geglu", StreamingKind::gated_activation, 2, 1},
    {"embedding", StreamingKind::gather, 1, 1},
    {"cross_entropy", StreamingKind::cross_entropy, 1, 0},
    {"megatron_cross_entropy", StreamingKind::cross_entropy, 1, 0},
    {"kl_div", StreamingKind::divergence, 2, 0},
    {"jsd", StreamingKind::divergence, 2, 0},
    {"tvd", StreamingKind::divergence, 2, 0},
    {"fp8_quant_static", StreamingKind::quantization, 1, 1},
    {"dropout", StreamingKind::dropout, 1, 1},
}};

const VectorOp* find(std::string_view op) {
    const auto it = std::find_if(kOps.begin(), kOps.end(), [&](const VectorOp& o) { return o.name == op; });
    return it == kOps.end() ? nullptr : &*it;
}

constexpr auto kNames = [] {
    std::array<std::string_view, kOps.size()> names{};
    for (std::size_t i = 0; i < kOps.size(); ++i) names[i] = kOps[i].name;
    return names;
}();

}  // namespace

bool is_vector_op(std::string_view op) { return find(op) != nullptr; }
std::span<const std::string_view> vector_ops() { return kNames; }

std::vector<Layer> vector_layers(RowCells& cells, const Layer& common) {
    const VectorOp* op = find(lower(cells.text(Column::op)));
    if (!op) return {};
    const auto row_count = cells.integer(Column::rows, 0), col_count = cells.integer(Column::cols, 0);
    const auto all = cells.integer(Column::elements, row_count * col_count);
    if (all <= 0 && cells.faults().empty()) cells.fault("neither elements nor rows and cols are given");
    Streaming s;
    s.kind = op->kind;
    for (std::size_t i = 0; i < static_cast<std::size_t>(op->read); ++i) s.read[i] = static_cast<double>(all);
    s.written = op->written * static_cast<double>(all);
    s.parameters = op->parameters * static_cast<double>(col_count);
    s.rows = static_cast<double>(row_count);
    if (const auto text = cells.text(Column::out_precision); !text.empty()) {
        s.written_as = precision_from(text);
        if (!s.written_as) cells.fault(fmt::format("out_precision \"{}\": expected fp8, bf16 or fp32", text));
    }
    Layer layer = common;
    layer.op = s;
    const std::string pass = lower(cells.text(Column::pass));
    if (layer.name.empty()) layer.name = fmt::format("{} {} {}x{}", op->name, pass, row_count, col_count);
    std::vector<Layer> layers;
    if (pass != "bwd") layers.push_back(layer);
    layer.pass = Pass::dgrad;
    if (pass == "bwd" || pass == "fwd+bwd") layers.push_back(layer);
    if (!pass.empty() && pass != "fwd" && pass != "bwd" && pass != "fwd+bwd")
        cells.fault(fmt::format("pass \"{}\": expected fwd, bwd or fwd+bwd", pass));
    return layers;
}

}  // namespace gambrel::network_detail
