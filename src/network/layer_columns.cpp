#include "network/layer_columns.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>

#include <fmt/format.h>

namespace gambrel::network_detail {
namespace {

struct Spellings {
    Column column;
    std::array<std::string_view, 4> names;  // the contract's first
};

// Case counts: `n` of a GEMM table is not a batch, and `S` is not a stride.
constexpr std::array<Spellings, kColumns> kSpellings = {{
    {Column::name, {"name", "layer"}},
    {Column::op, {"op"}},
    {Column::gpu, {"gpu", "system"}},
    {Column::sm_clock_mhz, {"sm_clock_mhz"}},
    {Column::timed_at, {"timed_at"}},
    {Column::precision, {"precision"}},
    {Column::pass, {"pass"}},
    {Column::layout, {"layout", "layout_label"}},
    {Column::algorithm, {"algorithm"}},
    {Column::algorithm_fwd, {"algorithm_fwd"}},
    {Column::algorithm_trust, {"alg_label_trust"}},
    {Column::kernel, {"kernel", "main_kernel", "kernel_name"}},
    {Column::tile_m, {"tile_m", "tile_a"}},
    {Column::tile_n, {"tile_n", "tile_b"}},
    {Column::tile_k, {"tile_k"}},
    {Column::split_k, {"split_k"}},
    {Column::grid_z, {"grid_z", "Grid z"}},
    {Column::kernels, {"n_kernels"}},
    {Column::framework, {"framework"}},
    {Column::invocations, {"invocations"}},
    {Column::tensor_flop, {"tc_flops"}},
    {Column::M, {"M", "m"}},
    {Column::N, {"N", "n"}},
    {Column::C, {"C"}},
    {Column::H, {"H"}},
    {Column::W, {"W"}},
    {Column::K, {"K", "k"}},
    {Column::K_reduction, {"Kred"}},
    {Column::R, {"R"}},
    {Column::S, {"S"}},
    {Column::pad, {"pad"}},
    {Column::pad_h, {"pad_h"}},
    {Column::pad_w, {"pad_w"}},
    {Column::pad_top, {"pad_top"}},
    {Column::pad_bottom, {"pad_bottom"}},
    {Column::pad_left, {"pad_left"}},
    {Column::pad_right, {"pad_right"}},
    {Column::stride, {"stride"}},
    {Column::stride_h, {"stride_h"}},
    {Column::stride_w, {"stride_w"}},
    {Column::dilation, {"dilation", "dil"}},
    {Column::dilation_h, {"dilation_h", "dil_h"}},
    {Column::dilation_w, {"dilation_w", "dil_w"}},
    {Column::groups, {"groups", "group"}},
    {Column::batch, {"batch"}},
    {Column::repeat, {"repeat"}},
    {Column::bias, {"bias"}},
    {Column::phase, {"phase"}},
    {Column::kind, {"kind"}},
    {Column::q_len, {"q_len"}},
    {Column::kv_len, {"kv_len"}},
    {Column::heads, {"heads"}},
    {Column::kv_heads, {"kv_heads"}},
    {Column::head_dim, {"head_dim"}},
    {Column::head_dim_v, {"head_dim_v"}},
    {Column::causal, {"causal"}},
    {Column::window, {"window"}},
    {Column::kv_precision, {"kv_precision"}},
    {Column::decode_batch, {"decode_batch"}},
    {Column::decode_kv_len, {"decode_kv_len"}},
    {Column::tokens, {"tokens"}},
    {Column::hidden, {"hidden"}},
    {Column::intermediate, {"intermediate"}},
    {Column::topk, {"topk"}},
    {Column::experts, {"experts"}},
    {Column::tp, {"tp"}},
    {Column::ep, {"ep"}},
    {Column::distribution, {"distribution"}},
    {Column::quant, {"quant"}},
    {Column::rows, {"rows"}},
    {Column::cols, {"cols"}},
    {Column::elements, {"elements"}},
    {Column::provider, {"provider"}},
    {Column::out_precision, {"out_precision"}},
    {Column::config, {"config"}},
    {Column::timing, {"timing"}},
    {Column::software, {"software"}},
    {Column::fma, {"fma"}},
    {Column::workspace, {"workspace_bytes"}},
    {Column::other_kernels, {"other_kernels"}},
    {Column::overwrites, {"reads_c", "inplace", "residual"}},
    {Column::counted, {"dram_bytes", "l2_bytes"}},
    {Column::network, {"network"}},
    {Column::seq, {"seq"}},
    {Column::mode, {"mode"}},
    {Column::notes, {"notes"}},
}};
static_assert([] {
    for (std::size_t i = 0; i < kColumns; ++i)
        if (static_cast<std::size_t>(kSpellings[i].column) != i) return false;
    return true;
}());

std::vector<Column> missing(const LayerColumns& columns, std::initializer_list<Column> wanted) {
    std::vector<Column> result;
    for (const Column column : wanted)
        if (!columns.has(column)) result.push_back(column);
    return result;
}

// A one-letter column is near to everything short: only longer names are worth a suspicion. Times are what tables are
// made for, and "time_m..." is near to "tile_m".
Errors suspects(const std::vector<std::string>& header, const std::set<std::string_view>& used,
                const LayerColumns& columns, const std::string& where) {
    std::vector<std::string> absent;
    for (const Spellings& s : kSpellings)
        if (!columns.has(s.column) && s.names[0].size() >= 4 && s.column != Column::mode && s.column != Column::notes &&
            s.column != Column::framework)
            absent.emplace_back(s.names[0]);
    Errors notes;
    for (const std::string& column : header) {
        if (used.contains(column) || column.size() < 4 || column.starts_with("time")) continue;
        if (const std::string near = nearest_name(column, absent); !near.empty())
            notes.push_back(
                {where, fmt::format("column \"{}\" is passed through; did you mean \"{}\"?", column, near)});
    }
    return notes;
}

}  // namespace

std::string_view name(Column column) { return kSpellings[static_cast<std::size_t>(column)].names[0]; }

Result<LayerColumns> LayerColumns::of(const std::vector<std::string>& header, const std::string& where) {
    if (header.size() == 1)
        for (const auto& [separator, name] : {std::pair{';', "semicolons"}, {'\t', "tabs"}})
            if (header.front().find(separator) != std::string::npos)
                return failure(where, fmt::format("has {} between its fields, expected commas", name));
    LayerColumns columns;
    columns.at_.fill(-1);
    std::set<std::string_view> used;
    Errors faults;
    for (const Spellings& s : kSpellings) {
        for (const std::string_view spelling : s.names) {
            const auto it = std::find(header.begin(), header.end(), spelling);
            if (spelling.empty() || it == header.end()) continue;
            used.insert(spelling);
            int& at = columns.at_[static_cast<std::size_t>(s.column)];
            if (at < 0) at = static_cast<int>(it - header.begin());
            if (std::find(it + 1, header.end(), spelling) != header.end())
                faults.push_back({where, fmt::format("column \"{}\" is given twice", spelling)});
        }
    }
    using enum Column;
    auto no_convolution = missing(columns, {N, C, H, W, K, R, S});
    auto no_gemm = missing(columns, {M, N});
    if (!columns.has(K) && !columns.has(K_reduction)) no_gemm.push_back(K);
    const bool attention = missing(columns, {q_len, kv_len, heads, head_dim}).empty();
    const bool moe = missing(columns, {tokens, hidden, intermediate, Column::experts}).empty();
    const bool vector = columns.has(op) && (columns.has(elements) || columns.has(rows));
    const bool whole = missing(columns, {Column::network, batch, seq}).empty();
    if (!no_convolution.empty() && !no_gemm.empty() && !attention && !moe && !vector && !whole) {
        const bool gemm = no_gemm.size() < no_convolution.size() && columns.has(M);
        for (const Column column : gemm ? no_gemm : no_convolution)
            faults.push_back({where, fmt::format("column \"{}\" is missing{}", network_detail::name(column),
                                                 did_you_mean(network_detail::name(column), header))});
    }
    if (!faults.empty()) return tl::unexpected(std::move(faults));
    columns.kind_by_default_ = no_convolution.empty() ? OperatorKind::convolution
                               : no_gemm.empty()      ? OperatorKind::gemm
                               : attention            ? OperatorKind::attention
                               : moe                  ? OperatorKind::experts
                               : whole                ? OperatorKind::network
                                                      : OperatorKind::vector;
    if (no_convolution.empty()) {
        const auto position = [&](Column column) {
            return static_cast<std::size_t>(columns.at_[static_cast<std::size_t>(column)]);
        };
        columns.shape_begin_ = columns.shape_last_ = position(N);
        for (const Column column :
             {C,          H,        W,         K,      R,        S,        pad,      pad_h,      pad_w,      pad_top,
              pad_bottom, pad_left, pad_right, stride, stride_h, stride_w, dilation, dilation_h, dilation_w, groups})
            if (columns.has(column)) {
                columns.shape_begin_ = std::min(columns.shape_begin_, position(column));
                columns.shape_last_ = std::max(columns.shape_last_, position(column));
            }
    }
    columns.suspects_ = network_detail::suspects(header, used, columns, where);
    return columns;
}

std::string_view LayerColumns::convolution_text(std::span<const std::string_view> cells, std::string_view row) const {
    if (shape_last_ <= shape_begin_ || shape_last_ >= cells.size()) return {};
    const std::string_view first = cells[shape_begin_], last = cells[shape_last_];
    const char *const begin = first.data(), *const end = last.data() + last.size();
    // A cell in which quotes were undoubled lies elsewhere, where order says nothing.
    const std::less_equal<const char*> not_after;
    if (!not_after(row.data(), begin) || !not_after(begin, last.data()) || !not_after(end, row.data() + row.size()))
        return {};
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace gambrel::network_detail
