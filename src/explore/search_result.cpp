#include <algorithm>
#include <cmath>
#include <tuple>

#include "explore/search.hpp"

namespace gambrel {
namespace {

constexpr double kBin = 0.005;  // of a cost

// Ties go to the cheaper, then to the first: so the order of the work cannot be seen in its result.
bool faster(const Design& a, const Design& b) {
    return std::tie(a.time, a.cost, a.index) < std::tie(b.time, b.cost, b.index);
}
bool cheaper(const Design& a, const Design& b) {
    return std::tie(a.cost, a.time, a.index) < std::tie(b.cost, b.time, b.index);
}

long bin_of(const Design& d) { return std::lround(std::floor(std::log(d.cost) / kBin)); }

void keep_in_bin(std::vector<Design>& bins, const Design& d) {
    // Bins rise with the cost, so only the neighbours in cost can be of the same one. A logarithm is dear.
    const long bin = bin_of(d);
    const auto at =
        std::lower_bound(bins.begin(), bins.end(), d.cost, [](const Design& b, double cost) { return b.cost < cost; });
    const auto first = at == bins.begin() ? at : at - 1, last = at == bins.end() ? at : at + 1;
    const auto same = std::find_if(first, last, [&](const Design& b) { return bin_of(b) == bin; });
    if (same == last)
        bins.insert(at, d);
    else if (faster(d, *same))
        *same = d;
}

}  // namespace

void SearchResult::add(const Design& d, bool reaches_target) {
    ++kept;
    if (!best || faster(d, *best)) best = d;
    if (reaches_target && (!cheapest || cheaper(d, *cheapest))) cheapest = d;
    keep_in_bin(bins, d);
}

void SearchResult::merge(const SearchResult& other) {
    evaluated += other.evaluated;
    kept += other.kept;
    if (other.best && (!best || faster(*other.best, *best))) best = other.best;
    if (other.cheapest && (!cheapest || cheaper(*other.cheapest, *cheapest))) cheapest = other.cheapest;
    for (const Design& d : other.bins) keep_in_bin(bins, d);
}

std::vector<Design> SearchResult::front() const {
    std::vector<Design> sorted = bins, result;
    std::sort(sorted.begin(), sorted.end(), cheaper);
    for (const Design& d : sorted)
        if (result.empty() || d.time < result.back().time) result.push_back(d);
    return result;
}

}  // namespace gambrel
