#include "trace/same_kernel.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

namespace gambrel::trace_detail {
namespace {

constexpr std::size_t kMostChoices = 64;  // launches of one kernel that are compared
constexpr std::ptrdiff_t kNeighbours = 4;

}  // namespace

SameKernels::SameKernels(const Timeline& timeline, const std::function<bool(std::size_t)>& named)
    : timeline_(&timeline) {
    const auto& all = timeline.activities;
    using Kind = std::tuple<std::size_t, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint32_t,
                            std::int64_t, std::int32_t>;
    const std::hash<Symbol> number;  // one for each name
    std::map<Kind, std::uint32_t> kinds;
    kinds_.reserve(all.size());
    for (const Activity& a : all)
        kinds_.push_back(
            kinds
                .try_emplace(Kind{number(a.name), a.shape.grid, a.shape.block, a.device, a.shared_memory, a.registers},
                             static_cast<std::uint32_t>(kinds.size()))
                .first->second);
    order_.resize(all.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto stream = [&](std::size_t i) { return std::tuple(all[i].rank, all[i].gpu, all[i].stream); };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(stream(a), all[a].start_ns) < std::tuple(stream(b), all[b].start_ns);
    });
    place_.resize(all.size());
    stream_.resize(all.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        place_[order_[i]] = i;
        if (i > 0) stream_[i] = stream_[i - 1] + (stream(order_[i]) == stream(order_[i - 1]) ? 0 : 1);
    }
    // Of launches with one operator and equal neighbours one is enough.
    named_.resize(kinds.size());
    std::vector<std::vector<std::array<std::uint32_t, 3>>> seen(kinds.size());
    for (std::size_t p = 0; p < order_.size(); ++p) {
        const std::size_t i = order_[p];
        const std::uint32_t kind = kinds_[i];
        if (named_[kind].size() >= kMostChoices || all[i].kind != Activity::Kind::kernel || !named(i)) continue;
        const std::uint32_t before = p > 0 ? kinds_[order_[p - 1]] : ~0U;
        const std::uint32_t after = p + 1 < order_.size() ? kinds_[order_[p + 1]] : ~0U;
        const std::array<std::uint32_t, 3> key{static_cast<std::uint32_t>(all[i].call), before, after};
        if (std::find(seen[kind].begin(), seen[kind].end(), key) != seen[kind].end()) continue;
        seen[kind].push_back(key);
        named_[kind].push_back(i);
    }
}

int SameKernels::alike(std::size_t a, std::size_t b) const {
    int score = 0;
    for (const std::ptrdiff_t step : {std::ptrdiff_t{-1}, std::ptrdiff_t{1}})
        for (std::ptrdiff_t d = step; d != step * (kNeighbours + 1); d += step) {
            const auto at_a = static_cast<std::ptrdiff_t>(place_[a]) + d,
                       at_b = static_cast<std::ptrdiff_t>(place_[b]) + d;
            const auto size = static_cast<std::ptrdiff_t>(order_.size());
            if (at_a < 0 || at_b < 0 || at_a >= size || at_b >= size) break;
            const auto pa = static_cast<std::size_t>(at_a), pb = static_cast<std::size_t>(at_b);
            if (stream_[pa] != stream_[place_[a]] || stream_[pb] != stream_[place_[b]]) break;
            if (kinds_[order_[pa]] != kinds_[order_[pb]]) break;
            ++score;
        }
    return score;
}

std::vector<std::size_t> SameKernels::of(std::size_t index) const {
    std::vector<std::size_t> out;
    if (timeline_ == nullptr || timeline_->activities[index].shape.ctas() <= 0) return out;
    int best = -1;
    for (const std::size_t choice : named_[kinds_[index]]) {
        const int score = alike(index, choice);
        if (score < best) continue;
        if (score > best) out.clear();
        best = score;
        const auto same_call = [&](std::size_t i) {
            return timeline_->activities[i].call == timeline_->activities[choice].call;
        };
        if (std::none_of(out.begin(), out.end(), same_call)) out.push_back(choice);
    }
    return out;
}

}  // namespace gambrel::trace_detail
