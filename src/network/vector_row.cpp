#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "network/kernel_chains.hpp"
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
    // Fused losses find the gradient on the way: rows are read twice and written once.
    {"cross_entropy", StreamingKind::cross_entropy, 2, 1},
    {"megatron_cross_entropy", StreamingKind::cross_entropy, 2, 1},
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

namespace {

// How the row's provider reads its tensors.
enum class Provider : std::uint8_t { fused, eager, scalar };

Provider provider_of(std::string_view name) {
    for (const std::string_view eager : {"huggingface", "torch", "pytorch profiler"})
        if (name == eager) return Provider::eager;
    return name == "vllm 2023" ? Provider::scalar : Provider::fused;
}

// The words by which mapping knows a streaming kernel.
std::string how_it_reads(StreamingKind kind, Provider provider, std::string_view name) {
    const bool serving = name.starts_with("vllm"), row_norm = kind == StreamingKind::rms_norm;
    if (kind == StreamingKind::gather) return provider == Provider::fused ? "" : "index arithmetic";
    if (provider == Provider::scalar && (row_norm || kind == StreamingKind::gated_activation)) return "scalar rows";
    if ((serving && row_norm) || (provider == Provider::scalar && kind == StreamingKind::rope)) return "vector rows";
    const bool torch = name.starts_with("pytorch") || name == "huggingface" || name == "torch";
    if (torch && (kind == StreamingKind::layer_norm || kind == StreamingKind::softmax)) return "statistics first";
    return "";
}

struct Rows {
    double rows, columns;
    [[nodiscard]] double all() const { return rows * columns; }
};

// One kernel: tensors read and written, in which precision.
struct Step {
    StreamingKind kind;
    double read, written;
    Precision in, out;
};

Layer layer_of(const Step& step, const Rows& size, double parameters, Layer layer) {
    Streaming s;
    s.kind = step.kind;
    double left = step.read * size.all();
    for (std::size_t i = 0; i < s.read.size() && left > 0; ++i) {
        s.read[i] = std::min(left, size.all());
        left -= s.read[i];
    }
    s.written = step.written * size.all();
    s.parameters = parameters * size.columns;
    s.rows = size.rows;
    if (step.out != step.in) s.written_as = step.out;
    layer.precision = step.in;
    layer.op = s;
    return layer;
}

// Of the table that an embedding looks up, where the row's configuration says: {"V": "1024", ...}.
double table_rows(std::string_view config) {
    const auto json = nlohmann::json::parse(config, nullptr, false);
    if (!json.is_object() || !json.contains("V")) return 0;
    const auto& v = json["V"];
    return v.is_number() ? v.get<double>() : v.is_string() ? number_from(v.get<std::string>()).value_or(0) : 0;
}

// Rows of sums that PyTorch's gradient of an embedding leaves for its second kernel: one for every ten look-ups of the
// same row, and one for what is left.
double partial_sums(double look_ups, double table_rows) {
    constexpr double kLookUpsOfPart = 10;  // NROWS_PER_THREAD in EmbeddingBackwardKernel.cu
    if (table_rows <= 0) return 0;
    const double distinct = table_rows * -std::expm1(-look_ups / table_rows);
    return std::max(distinct, look_ups / kLookUpsOfPart + distinct / 2);
}

// Liger's benchmark clears L2 before each run, and the host works ahead in the meantime; each kernel has its share.
// Of other tables the host is not charged.
void count_host(std::vector<Layer>& layers, std::string_view software) {
    const bool counts = software.starts_with("Liger"), slower = software.starts_with(host_costs().slower_software);
    Seconds all;
    for (Layer& layer : layers) all += layer.hints.host *= slower ? host_costs().slower : 1;
    for (Layer& layer : layers) {
        if (!counts || all <= Seconds{}) layer.hints.host = {};
        layer.hints.host_ahead = host_costs().cleared * (layer.hints.host / std::max(all, Seconds{1e-9}));
    }
}

}  // namespace

std::vector<Layer> vector_layers(RowCells& cells, const Layer& common) {
    const VectorOp* op = find(lower(cells.text(Column::op)));
    if (!op) return {};
    Rows size{static_cast<double>(cells.integer(Column::rows, 0)), static_cast<double>(cells.integer(Column::cols, 0))};
    const auto all = static_cast<double>(cells.integer(Column::elements, static_cast<std::int64_t>(size.all())));
    for (const Column column : {Column::rows, Column::cols, Column::elements})
        if (const auto text = cells.text(column); !text.empty() && cells.integer(column, 1) < 1)
            cells.fault(fmt::format("{} is {}, expected at least 1", name(column), text));
    if (size.all() > 0 && all != size.all())
        cells.fault(fmt::format("elements {} is not rows {} x cols {}", all, size.rows, size.columns));
    if (all <= 0 && cells.faults().empty())
        cells.fault("neither elements nor rows and cols are given, and config is not read");
    if (size.all() <= 0) size = {1, all};
    Precision out = common.precision;
    if (const auto text = cells.text(Column::out_precision); !text.empty()) {
        const auto precision = precision_from(text);
        if (!precision) cells.fault(fmt::format("out_precision \"{}\": expected fp8, bf16 or fp32", text));
        out = precision.value_or(out);
    }
    Layer layer = common;
    // Megatron's kernels are benchmarked in the precision that they train in.
    if (op->name.starts_with("megatron") && !cells.has(Column::precision)) layer.precision = out = Precision::bf16;
    const std::string pass = lower(cells.text(Column::pass));
    if (layer.name.empty()) layer.name = fmt::format("{} {} {}x{}", op->name, pass, size.rows, size.columns);
    if (!layer.hints.timing && cells.text(Column::software).find("events") != std::string_view::npos)
        layer.hints.timing = Timing::framework;
    // cuDNN's benchmark of norms: a profiler's times of kernels, L2 cleared before each.
    if (!layer.hints.timing && cells.text(Column::software).find("iterations") != std::string_view::npos) {
        layer.hints.timing = Timing::kernel;
        layer.hints.cold = true;
    }
    const std::string library = lower(cells.text(Column::provider));
    const KernelChain* chain = kernel_chain(op->name, library);
    ChainSize chained{size.rows, size.columns};
    if (chain && chain->needs_table) {
        chained.table = table_rows(cells.text(Column::config)) * size.columns;
        chained.parts = partial_sums(size.rows, chained.table / size.columns) * size.columns;
        if (chained.table <= 0) chain = nullptr;
    }
    std::vector<Layer> layers;
    const ChainKernel* before = nullptr;
    const auto add = [&](const std::vector<ChainKernel>& kernels, Pass of) {
        layer.pass = of;
        for (const ChainKernel& kernel : kernels) {
            layers.push_back(chain_layer(kernel, before, chained, layer));
            before = &kernel;
        }
    };
    const bool backward = pass == "bwd" || pass == "fwd+bwd";
    if (pass != "bwd" || (chain && chain->with_forward)) {
        if (chain) add(chain->forward, Pass::fwd);
        if (layers.empty()) {
            layer.hints.algorithm = how_it_reads(op->kind, provider_of(library), library);
            layers.push_back(
                layer_of({op->kind, op->read, op->written, layer.precision, out}, size, op->parameters, layer));
            if (op->kind == StreamingKind::gather)
                std::get<Streaming>(layers.back().op).table_rows = table_rows(cells.text(Column::config));
        }
    }
    if (backward && chain) {
        add(chain->backward, Pass::dgrad);
        if (pass == "fwd+bwd") add(chain->both, Pass::dgrad);
    } else if (backward) {
        layers.push_back(
            layer_of({op->kind, op->read, op->written, layer.precision, out}, size, op->parameters, layer));
        layers.back().pass = Pass::dgrad;
    }
    count_host(layers, cells.text(Column::software));
    if (!pass.empty() && pass != "fwd" && pass != "bwd" && pass != "fwd+bwd")
        cells.fault(fmt::format("pass \"{}\": expected fwd, bwd or fwd+bwd", pass));
    return layers;
}

}  // namespace gambrel::network_detail
