// The columns of a layer table: which of a header's columns means what. Invariant: each meaning has at most one column.
// It knows the spellings of the contract and of the published tables; what it does not know is passed through.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
    precision,
    pass,
    layout,
    algorithm,
    algorithm_fwd,
    kernel,
    tile_m,
    tile_n,
    tile_k,
    split_k,
    grid_z,
    kernels,
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
    fma,
    overwrites,
    counted,
};
inline constexpr std::size_t kColumns = 45;

class LayerColumns {
public:
    // Faults if no layer could be read under this header: the missing columns, each with the nearest one it has.
    static Result<LayerColumns> of(const std::vector<std::string>& header, const std::string& where);

    [[nodiscard]] bool has(Column column) const { return at_[static_cast<std::size_t>(column)] >= 0; }
    // The cell, or "" where the table has no such column.
    [[nodiscard]] std::string_view cell(const std::vector<std::string>& cells, Column column) const;
    // Without an `op` column: whether the table is of GEMMs.
    [[nodiscard]] bool gemm_by_default() const { return gemm_by_default_; }
    // Columns that are passed through although they look like one that the table lacks.
    [[nodiscard]] const Errors& suspects() const { return suspects_; }

private:
    std::array<int, kColumns> at_{};
    bool gemm_by_default_ = false;
    Errors suspects_;
};

// The contract's name of a column, for messages.
std::string_view name(Column column);

}  // namespace gambrel::network_detail
