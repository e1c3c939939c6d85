#include "network/layer_row.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

struct Storage {
    Precision precision;
    std::optional<Precision> math;
    std::optional<bool> tensor_core;
};

// Spellings that say more than how elements are stored: those of DeepBench, cudnn-benchmark and mixed-precision runs.
std::optional<Storage> storage_from(std::string_view text) {
    const std::string key = lower(text);
    if (key == "tensorcorehalf") return Storage{Precision::fp16, {}, true};
    if (key == "fp16in_fp16mul_fp32acc") return Storage{Precision::fp16, Precision::fp16, {}};
    if (key == "fp16in_fp32math") return Storage{Precision::fp16, Precision::fp32, false};
    if (key == "fp32in_fp16mul_fp32acc") return Storage{Precision::fp32, Precision::fp16, {}};
    if (key == "int8_acc32") return Storage{Precision::int8, {}, {}};
    if (const auto precision = precision_from(key)) return Storage{*precision, {}, {}};
    return std::nullopt;
}

class RowReader {
public:
    RowReader(LayerRow& row, const LayerColumns& columns, const LayerTableOptions& options)
        : row_(row), columns_(columns), options_(options) {}

    void run() {
        Layer layer;
        const bool gemm = is_gemm();
        const std::vector<Pass> passes = passes_of();
        describe(layer);
        if (gemm)
            layer.op = this->gemm(layer);
        else
            layer.op = convolution();
        if (faults_.empty()) {
            layer.pass = passes.front();
            faults_ = faults(layer);
        }
        layer.bias = flag(Column::bias);
        if (layer.name.empty()) layer.name = default_name(layer);
        if (!faults_.empty()) {
            row_.reason = fmt::format("{}", fmt::join(faults_, "; "));
            return;
        }
        for (const Pass pass : passes) {
            row_.layers.push_back(layer);
            row_.layers.back().pass = pass;
            row_.layers.back().bias = layer.bias && pass == Pass::fwd;
            if (pass == Pass::fwd && layer.hints.algorithm.empty())
                row_.layers.back().hints.algorithm = cell(Column::algorithm_fwd);
        }
    }

private:
    [[nodiscard]] std::string_view cell(Column column) const { return columns_.cell(row_.cells, column); }

    // CUDNN_CONV_FWD, conv2d, bmm, linear, ...
    bool is_gemm() {
        const std::string op = lower(cell(Column::op));
        if (op.empty()) return columns_.gemm_by_default();
        if (op.find("conv") != std::string::npos) return false;
        for (const std::string_view word : {"gemm", "bmm", "matmul", "linear", "mm"})
            if (op.find(word) != std::string::npos) return true;
        const std::vector<std::string> known = {"conv", "gemm", "bmm", "linear", "matmul"};
        faults_.push_back(fmt::format("op \"{}\": expected conv or gemm{}", op, did_you_mean(op, known)));
        return false;
    }

    std::vector<Pass> passes_of() {
        const std::string text = lower(cell(Column::pass)), op = lower(cell(Column::op));
        if (text == "bwd" || text == "backward") return {Pass::dgrad, Pass::wgrad};
        if (!text.empty()) {
            if (const auto pass = pass_from(text)) return {*pass};
            faults_.push_back(fmt::format("pass \"{}\": expected fwd, dgrad, wgrad or backward", text));
        }
        if (op.ends_with("bwd_data")) return {Pass::dgrad};
        if (op.ends_with("bwd_filter") || op.ends_with("bwd_weights")) return {Pass::wgrad};
        return {Pass::fwd};
    }

    void describe(Layer& layer) {
        layer.name = cell(Column::name);
        Hints& hints = layer.hints;
        hints.gpu = cell(Column::gpu);
        hints.algorithm = cell(Column::algorithm);
        hints.kernel = cell(Column::kernel);
        hints.tile_m = integer(Column::tile_m, 0);
        hints.tile_n = integer(Column::tile_n, 0);
        hints.tile_k = integer(Column::tile_k, 0);
        hints.split_k = integer(Column::split_k, 0);
        hints.kernels = integer(Column::kernels, 0);
        hints.fma = number(cell(Column::fma)).value_or(0);
        hints.overwrites = flag(Column::overwrites);
        hints.profiled = !cell(Column::counted).empty();
        layer.repeat = static_cast<double>(integer(Column::repeat, 1));
        layer.precision = options_.precision.value_or(Precision::fp32);
        if (const auto text = cell(Column::precision); !text.empty()) {
            if (const auto storage = storage_from(text)) {
                layer.precision = storage->precision;
                hints.math = storage->math;
                hints.tensor_core = storage->tensor_core;
            } else {
                const std::vector<std::string> known = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
                faults_.push_back(fmt::format("precision \"{}\": expected {}{}", text, fmt::join(known, ", "),
                                              did_you_mean(text, known)));
            }
        }
        if (const auto text = cell(Column::sm_clock_mhz); !text.empty()) {
            const auto mhz = number(text);
            if (mhz && *mhz > 0)
                hints.sm_clock = Frequency{*mhz * 1e6};
            else
                faults_.push_back(fmt::format("sm_clock_mhz \"{}\": expected a number above 0", text));
        }
        const std::string how = lower(hints.algorithm) + " " + lower(hints.kernel);
        if (how.find("tensor core") != std::string::npos) hints.tensor_core = true;
        if (how.find("nhwc") != std::string::npos) layer.layout = Layout::nhwc;
        if (const auto text = cell(Column::layout); !text.empty()) {
            if (const auto layout = layout_from(text))
                layer.layout = *layout;
            else
                faults_.push_back(fmt::format("layout \"{}\": expected nchw or nhwc", text));
        }
    }

    // Tables written by way of floating point have "128.0".
    std::int64_t integer(Column column, std::optional<std::int64_t> if_empty) {
        const std::string_view text = cell(column);
        if (text.empty()) {
            if (!if_empty) faults_.push_back(fmt::format("{} is empty, expected a whole number", name(column)));
            return if_empty.value_or(1);
        }
        const auto value = number(text);
        if (value && *value == std::floor(*value) && std::abs(*value) < 0x1p53)
            return static_cast<std::int64_t>(*value);
        faults_.push_back(fmt::format("{} \"{}\": expected a whole number", name(column), text));
        return 1;
    }
    bool flag(Column column) {
        const std::string text = lower(cell(column));
        if (text.empty() || text == "0" || text == "no" || text == "false") return false;
        if (text != "1" && text != "yes" && text != "true")
            faults_.push_back(fmt::format("{} \"{}\": expected 1 or 0, yes or no", name(column), text));
        return true;
    }
    std::int64_t side(Column own, Column both, std::int64_t if_empty) {
        return cell(own).empty() ? integer(both, if_empty) : integer(own, if_empty);
    }

    Convolution convolution() {
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
        const std::string word = lower(cell(pad));
        if (word == "same") {
            // TensorFlow's rule: as many outputs as ceil(input / stride), the odd element of padding behind.
            const auto same = [](std::int64_t in, std::int64_t r, std::int64_t d, std::int64_t s) {
                const bool sane = in > 0 && in < (1LL << 40) && r > 0 && r < (1LL << 20) && d > 0 && d < (1LL << 20) &&
                                  s > 0 && s < (1LL << 20);
                return sane ? std::max<std::int64_t>(0, ((in + s - 1) / s - 1) * s + (r - 1) * d + 1 - in) : 0;
            };
            const std::int64_t high = same(v.h, v.r, v.dilation_h, v.stride_h);
            const std::int64_t wide = same(v.w, v.s, v.dilation_w, v.stride_w);
            v.pad_top = high / 2, v.pad_bottom = high - high / 2, v.pad_left = wide / 2, v.pad_right = wide - wide / 2;
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
        const std::string op = lower(cell(Column::op));
        const bool linear = op.find("linear") != std::string::npos;
        g.b_transposed = g.b_shared = linear;  // y = x W^T, one W
        layer.has_filter = linear || g.batch == 1;
        // A grid deeper than the batch is split along k.
        const std::int64_t depth = integer(Column::grid_z, 0), batch = gemm_view(g, Pass::fwd).batch;
        if (layer.hints.split_k == 0 && batch > 0 && depth > batch) layer.hints.split_k = depth / batch;
        return g;
    }

    static std::string default_name(const Layer& layer) {
        if (const auto* g = std::get_if<Gemm>(&layer.op))
            return fmt::format("gemm {}x{}x{}x{}", g->batch, g->m, g->n, g->k);
        const auto& v = std::get<Convolution>(layer.op);
        return fmt::format("conv {}x{}x{}x{} {}x{}x{}", v.n, v.c, v.h, v.w, v.k, v.r, v.s);
    }

    LayerRow& row_;
    const LayerColumns& columns_;
    const LayerTableOptions& options_;
    std::vector<std::string> faults_;
};

}  // namespace

void read_row(LayerRow& row, const LayerColumns& columns, const LayerTableOptions& options) {
    RowReader(row, columns, options).run();
}

}  // namespace gambrel::network_detail
