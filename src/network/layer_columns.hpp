// The columns of a layer table: which of a header's columns means what. Invariant: each meaning has at most one column.
// It knows the spellings of the contract and of the published tables; what it does not know is passed through.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::network_detail {

enum class Column : std::uint8_t {
    name,
    op,
    gpu,
    sm_clock_mhz,
    timed_at,
    precision,
    pass,
    layout,
    algorithm,
    algorithm_fwd,
    algorithm_trust,
    kernel,
    tile_m,
    tile_n,
    tile_k,
    split_k,
    grid_z,
    kernels,
    framework,
    invocations,
    tensor_flop,
    M,
    N,
    C,
    H,
    W,
    K,
    K_reduction,
    R,
    S,
    pad,
    pad_h,
    pad_w,
    pad_top,
    pad_bottom,
    pad_left,
    pad_right,
    stride,
    stride_h,
    stride_w,
    dilation,
    dilation_h,
    dilation_w,
    groups,
    batch,
    repeat,
    bias,
    phase,
    kind,
    q_len,
    kv_len,
    heads,
    kv_heads,
    head_dim,
    head_dim_v,
    causal,
    window,
    kv_precision,
    decode_batch,
    decode_kv_len,
    tokens,
    hidden,
    intermediate,
    topk,
    experts,
    tp,
    ep,
    distribution,
    quant,
    rows,
    cols,
    elements,
    provider,
    out_precision,
    config,
    timing,
    software,
    fma,
    workspace,
    other_kernels,
    overwrites,
    counted,
    network,
    seq,
    mode,
    notes,
};
inline constexpr std::size_t kColumns = 86;

// What a row describes, by its `op` or, without one, by the table's columns.
enum class OperatorKind : std::uint8_t { convolution, gemm, attention, experts, vector, network };

class LayerColumns {
public:
    // Faults if no layer could be read under this header: the missing columns, each with the nearest one it has.
    static Result<LayerColumns> of(const std::vector<std::string>& header, const std::string& where);

    [[nodiscard]] bool has(Column column) const { return at_[static_cast<std::size_t>(column)] >= 0; }
    // The cell as it stands in the file, or "" where the table has no such column.
    [[nodiscard]] std::string_view raw_cell(std::span<const std::string_view> cells, Column column) const {
        const int at = at_[static_cast<std::size_t>(column)];
        return static_cast<std::size_t>(at) < cells.size() ? cells[static_cast<std::size_t>(at)] : std::string_view();
    }
    // Without the spaces around it.
    [[nodiscard]] std::string_view cell(std::span<const std::string_view> cells, Column column) const {
        std::string_view text = raw_cell(cells, column);
        while (text.starts_with(' ')) text.remove_prefix(1);
        while (text.ends_with(' ')) text.remove_suffix(1);
        return text;
    }
    // From the first to the last of the columns that the shape of a convolution is read from, in a row's text that
    // holds its cells; empty where the text holds not all of them.
    [[nodiscard]] std::string_view convolution_text(std::span<const std::string_view> cells,
                                                    std::string_view row) const;
    // Of rows without an `op`.
    [[nodiscard]] OperatorKind kind_by_default() const { return kind_by_default_; }
    // Columns that are passed through although they look like one that the table lacks.
    [[nodiscard]] const Errors& suspects() const { return suspects_; }

private:
    std::array<int, kColumns> at_{};
    std::size_t shape_begin_ = 0, shape_last_ = 0;  // positions of the columns of convolution_text
    OperatorKind kind_by_default_ = OperatorKind::convolution;
    Errors suspects_;
};

// The contract's name of a column, for messages.
std::string_view name(Column column);

}  // namespace gambrel::network_detail
