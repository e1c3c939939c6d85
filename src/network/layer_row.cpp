#include "network/layer_row.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "network/operator_rows.hpp"
#include "network/row_cells.hpp"
#include "network/row_shape.hpp"
#include "network/row_words.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

constexpr int kLeastClock = 10, kMostClock = 10'000;  // one in GHz, kHz or Hz is not in MHz
constexpr std::int64_t kLargestTile = 1024, kMostParts = 1 << 20;

struct Passes {
    Pass first = Pass::fwd;
    std::optional<Pass> second = {};
};

class RowReader {
public:
    RowReader(LayerRow& row, const RowText& text, const LayerColumns& columns, const LayerTableOptions& options,
              RowMemo& memo)
        : row_(row), text_(text), columns_(columns), options_(options), memo_(memo), cells_(text.cells, columns) {}

    void run() {
        // Written in place, over the layer of the row before: strings that were long then keep their memory.
        static const Layer kBlank;
        if (row_.layers.empty()) row_.layers.resize(1);
        Layer& layer = row_.layers.front();
        layer = kBlank;
        describe(layer);
        const OperatorKind kind = operator_kind();
        if (kind == OperatorKind::attention)
            row_.layers = attention_layers(cells_, layer);
        else if (kind == OperatorKind::experts)
            row_.layers = expert_layers(cells_, layer);
        else if (kind == OperatorKind::vector)
            row_.layers = vector_layers(cells_, layer);
        else if (kind == OperatorKind::network)
            row_.layers = network_layers(cells_, layer);
        else
            read_matrix(layer, kind == OperatorKind::gemm);
        for (const Layer& one : row_.layers)
            for (std::string& wrong : faults(one)) cells_.fault(std::move(wrong));
        if (cells_.faults().empty() && !row_.layers.empty()) return;
        row_.layers.clear();
        row_.reason = fmt::format("{}", fmt::join(cells_.faults(), "; "));
    }

private:
    [[nodiscard]] std::string_view cell(Column column) const { return cells_.text(column); }
    // Into a string that is empty.
    void copy(Column column, std::string& to) const {
        if (columns_.has(column)) to = cell(column);
    }

    const Operation& operation() {
        if (!operation_) operation_ = &memo_.operations.of(cell(Column::op), operation_from);
        return *operation_;
    }

    OperatorKind operator_kind() {
        if (cell(Column::op).empty()) {
            const OperatorKind kind = columns_.kind_by_default();
            if (kind == OperatorKind::vector) cells_.fault("op is empty: expected a vector operator, such as softmax");
            return kind;
        }
        if (const auto kind = operation().kind) return *kind;
        const std::string op = lower(cell(Column::op));
        std::vector<std::string> known = {"conv", "gemm", "bmm", "linear", "matmul", "attention", "moe"};
        for (const std::string_view name : vector_ops()) known.emplace_back(name);
        cells_.fault(fmt::format("op \"{}\": expected conv, gemm, attention, moe or a vector operator{}", op,
                                 did_you_mean(op, known)));
        return OperatorKind::vector;
    }

    void read_matrix(Layer& layer, bool gemm) {
        const Passes passes = passes_of();
        if (gemm)
            layer.op = this->gemm(layer);
        else
            layer.op = convolution();
        if (!cells_.faults().empty()) return row_.layers.clear();
        layer.bias = cells_.flag(Column::bias);
        if (layer.name.empty() && options_.names) name_by_shape(layer);
        if (!gemm && cells_.has(Column::invocations) && knows_calls_of(cell(Column::framework))) {
            const bool matrix_units = number_from(cell(Column::tensor_flop)).value_or(1) > 0;
            row_.layers = profiled_call(cell(Column::framework), layer, passes.second.has_value(), matrix_units);
            return;
        }
        row_.layers.resize(passes.second ? 2 : 1);
        if (passes.second) {
            row_.layers.back() = row_.layers.front();
            give_pass(row_.layers.back(), *passes.second);
        }
        give_pass(row_.layers.front(), passes.first);
    }
    void give_pass(Layer& layer, Pass pass) {
        layer.pass = pass;
        layer.bias = layer.bias && pass == Pass::fwd;
        if (columns_.has(Column::algorithm_fwd) && std::holds_alternative<Convolution>(layer.op))
            by_deepbench(layer, cell(Column::algorithm_fwd), cell(Column::algorithm_trust));
    }

    Passes passes_of() {
        if (const std::string_view given = cell(Column::pass); !given.empty()) {
            const std::string text = lower(given);
            if (text == "bwd" || text == "backward") return {Pass::dgrad, Pass::wgrad};
            if (const auto pass = pass_from(text)) return {*pass};
            cells_.fault(fmt::format("pass \"{}\": expected fwd, dgrad, wgrad or backward", text));
        }
        return {cell(Column::op).empty() ? Pass::fwd : operation().pass.value_or(Pass::fwd)};
    }

    void describe(Layer& layer) {
        copy(Column::name, layer.name);
        Hints& hints = layer.hints;
        copy(Column::gpu, hints.gpu);
        copy(Column::algorithm, hints.algorithm);
        copy(Column::kernel, hints.kernel);
        hints.tile_m = up_to(kLargestTile, Column::tile_m);
        hints.tile_n = up_to(kLargestTile, Column::tile_n);
        hints.tile_k = up_to(kLargestTile, Column::tile_k);
        hints.split_k = up_to(kMostParts, Column::split_k);
        hints.kernels = up_to(kMostParts, Column::kernels);
        hints.fma = amount(Column::fma);
        hints.workspace = Bytes{amount(Column::workspace)};
        if (const auto others = cell(Column::other_kernels); !others.empty()) {
            hints.bias_kernel = bias_kernel_of(others, hints.kernel);
            hints.adds_up_parts = hints.kernel.empty() && others.find("splitKreduce") != std::string_view::npos;
        }
        hints.overwrites = cells_.flag(Column::overwrites);
        layer.repeat = static_cast<double>(integer(Column::repeat, 1));
        layer.precision = options_.precision.value_or(Precision::fp32);
        if (const auto text = cell(Column::precision); !text.empty()) {
            if (const auto& storage = memo_.storage.of(text, storage_from)) {
                layer.precision = storage->precision;
                hints.math = storage->math;
                hints.tensor_core = storage->tensor_core;
                layer.weights = storage->weights;
                hints.base_clock = storage->base_clock;
            } else {
                const std::vector<std::string> known = {"fp64", "fp32", "tf32", "fp16", "bf16",
                                                        "fp8",  "int8", "fp4",  "int4"};
                cells_.fault(fmt::format("precision \"{}\": expected {}{}", text, fmt::join(known, ", "),
                                         did_you_mean(text, known)));
            }
        }
        if (const auto text = cell(Column::sm_clock_mhz); !text.empty()) {
            const auto mhz = number_from(text);
            if (mhz && *mhz >= kLeastClock && *mhz <= kMostClock)
                hints.sm_clock = Frequency{*mhz * 1e6};
            else
                cells_.fault(fmt::format("sm_clock_mhz \"{}\": expected MHz, a number from {} to {}", text, kLeastClock,
                                         kMostClock));
        }
        hints.cold = hints.profiled = !cell(Column::counted).empty();
        if (const auto text = cell(Column::timed_at); text == "base clock")
            hints.base_clock = true;
        else if (!text.empty())
            cells_.fault(
                fmt::format("timed_at \"{}\": expected \"base clock\"; sm_clock_mhz has a clock in MHz", text));
        if (hints.cold) hints.base_clock = true;
        if (hints.sm_clock) hints.base_clock = false;
        if (const auto text = cell(Column::timing); !text.empty()) {
            hints.timing = timing_from(text);
            if (!hints.timing)
                cells_.fault(fmt::format("timing \"{}\": expected kernel, graph, call, framework or stream", text));
        } else if (hints.cold) {
            hints.timing = Timing::kernel;  // a profiler's counters: the kernel ran alone, and its time is its own
        } else if (const auto software = cell(Column::software); !software.empty()) {
            hints.timing = memo_.software.of(software, timing_of_software);
        }
        const bool narrow = element_size(layer.precision) <= Bytes{1} && layer.precision != Precision::int8;
        if (const std::string_view quant = cell(Column::quant); narrow && !quant.empty()) {
            const auto scales = scales_from(quant);
            if (!scales) cells_.fault(fmt::format("quant \"{}\": expected tensor, block or none", quant));
            hints.quantizes_input = scales.value_or(InputScales::none);
        }
        for (std::string& how : {std::ref(hints.algorithm), std::ref(hints.kernel)}) {
            if (how.empty()) continue;
            const KernelWords& words = memo_.words.of(how, words_from);
            if (&how == &hints.algorithm && !words.algorithm.empty() && words.algorithm != how) how = words.algorithm;
            if (words.tensor_core) hints.tensor_core = true;
            if (words.nhwc) layer.layout = Layout::nhwc;
        }
        const auto text = cell(Column::layout);
        hints.any_layout = text.empty() && layer.layout == Layout::nchw;
        if (!text.empty()) {
            if (const auto& layout = memo_.layouts.of(text, layout_from))
                layer.layout = *layout;
            else
                cells_.fault(fmt::format("layout \"{}\": expected nchw or nhwc", text));
        }
    }

    std::int64_t integer(Column column, std::optional<std::int64_t> if_empty) {
        return cells_.integer(column, if_empty);
    }
    // Nothing, or 0, where it is not known.
    std::int64_t up_to(std::int64_t most, Column column) { return columns_.has(column) ? read_up_to(most, column) : 0; }
    std::int64_t read_up_to(std::int64_t most, Column column) {
        const std::int64_t value = integer(column, 0);
        if (value < 0 || value > most)
            cells_.fault(fmt::format("{} is {}, expected 0 to {}", name(column), value, most));
        return value;
    }
    double amount(Column column) {
        const std::string_view text = cell(column);
        if (text.empty()) return 0;
        const auto value = number_from(text);
        if (!value || *value < 0) cells_.fault(fmt::format("{} \"{}\": expected a number from 0", name(column), text));
        return value.value_or(0);
    }
    std::int64_t side(Column own, Column both, std::int64_t if_empty) {
        return cell(own).empty() ? integer(both, if_empty) : integer(own, if_empty);
    }

    Convolution convolution() {
        const std::string_view text = columns_.convolution_text(text_.cells, text_.text);
        if (const Convolution* known = memo_.shape.of(text)) return *known;
        const Convolution v = read_convolution();
        if (cells_.faults().empty()) memo_.shape.keep(text, v);
        return v;
    }

    Convolution read_convolution() {
        Convolution v;
        using enum Column;
        const auto need = [this](Column column) { return integer(column, std::nullopt); };
        v.n = need(N), v.c = need(C), v.h = need(H), v.w = need(W), v.k = need(K), v.r = need(R), v.s = need(S);
        v.stride_h = side(stride_h, stride, 1), v.stride_w = side(stride_w, stride, 1);
        v.dilation_h = side(dilation_h, dilation, 1), v.dilation_w = side(dilation_w, dilation, 1);
        v.groups = integer(groups, 1);
        pads(v);
        return v;
    }

    void pads(Convolution& v) {
        using enum Column;
        const std::string in_lower_case = lower(cell(pad));
        const std::string_view word = in_lower_case;
        if (word == "same") {
            pad_to_same_size(v);
        } else if (word != "valid") {
            v.pad_top = v.pad_bottom = side(pad_h, pad, 0);
            v.pad_left = v.pad_right = side(pad_w, pad, 0);
        }
        v.pad_top = integer(pad_top, v.pad_top), v.pad_bottom = integer(pad_bottom, v.pad_bottom);
        v.pad_left = integer(pad_left, v.pad_left), v.pad_right = integer(pad_right, v.pad_right);
    }

    Gemm gemm(Layer& layer) {
        Gemm g;
        g.m = integer(Column::M, std::nullopt);
        g.n = integer(Column::N, std::nullopt);
        g.k = integer(columns_.has(Column::K_reduction) ? Column::K_reduction : Column::K, std::nullopt);
        g.batch = integer(Column::batch, 1);
        const bool linear = operation().linear;
        g.b_transposed = g.b_shared = linear;  // y = x W^T, one W
        layer.has_filter = linear || g.batch == 1;
        // A grid deeper than the batch is split along k.
        const std::int64_t depth = integer(Column::grid_z, 0), batch = gemm_view(g, Pass::fwd).batch;
        if (layer.hints.split_k == 0 && batch > 0 && depth > batch && depth / batch <= g.k)
            layer.hints.split_k = depth / batch;
        return g;
    }

    LayerRow& row_;
    const RowText& text_;
    const LayerColumns& columns_;
    const LayerTableOptions& options_;
    RowMemo& memo_;
    RowCells cells_;
    const Operation* operation_ = nullptr;  // in the memo
};

}  // namespace

void read_row(LayerRow& row, const RowText& text, const LayerColumns& columns, const LayerTableOptions& options,
              RowMemo& memo) {
    RowReader(row, text, columns, options, memo).run();
}

}  // namespace gambrel::network_detail
