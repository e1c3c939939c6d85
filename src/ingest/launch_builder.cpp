#include "ingest/launch_builder.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace gambrel::ingest_detail {

const LaunchBuilder::Name& LaunchBuilder::name(std::string_view text) {
    if (const auto it = names_.find(text); it != names_.end()) return it->second;
    const Symbol symbol(text);
    const bool kept = !request_.keep || request_.keep(symbol.str());
    return names_.emplace(symbol.str(), Name{symbol, kept}).first->second;
}

std::size_t LaunchBuilder::add(Launch launch) {
    profile_.launches.push_back(std::move(launch));
    return profile_.launches.size() - 1;
}

void LaunchBuilder::finish() {
    // Stable, so that of several values of one metric the first in the file stays the first.
    if (!in_order_) {
        std::stable_sort(pending_.begin(), pending_.end(),
                         [](const Pending& a, const Pending& b) { return a.launch < b.launch; });
    }
    profile_.values.reserve(pending_.size());
    constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> seen_in(request_.metrics.size(), kNever);
    for (const Pending& p : pending_) {
        // The details page repeats a metric under each of its sections.
        if (seen_in[p.value.metric] == p.launch) continue;
        seen_in[p.value.metric] = p.launch;
        ingest_detail::add_value(profile_, profile_.launches[p.launch], request_.metrics, p.value.metric,
                                 p.value.value);
    }
    pending_.clear();
}

void RowNotes::add(std::size_t line, std::string what) {
    constexpr std::uint64_t kShown = 10;
    if (++rows_ > kShown) return;
    notes_.push_back({fmt::format("{}: line {}", source_, line), std::move(what)});
}

void RowNotes::add_once(const std::string& key, std::string what) {
    if (said_.insert(key).second) notes_.push_back({source_, std::move(what)});
}

void RowNotes::finish(Profile& profile) {
    if (rows_ > 10)
        notes_.push_back({source_, fmt::format("{} rows in all could not be read; the first 10 are named", rows_)});
    profile.notes.insert(profile.notes.end(), std::make_move_iterator(notes_.begin()),
                         std::make_move_iterator(notes_.end()));
    profile.partial |= lost_;
    notes_.clear();
}

std::optional<std::array<std::uint32_t, 3>> dim3_from(std::string_view text) {
    std::array<std::uint32_t, 3> dims{1, 1, 1};
    std::size_t count = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        if (*at < '0' || *at > '9') {
            if (*at != ' ' && *at != ',' && *at != '(' && *at != ')' && *at != 'x') return std::nullopt;
            ++at;
            continue;
        }
        if (count == dims.size()) return std::nullopt;
        const auto [stop, fault] = std::from_chars(at, end, dims[count]);
        if (fault != std::errc{} || dims[count] == 0) return std::nullopt;
        ++count;
        at = stop;
    }
    return count == 0 ? std::nullopt : std::optional(dims);
}

std::optional<LaunchShape> shape_from(std::string_view grid, std::string_view block) {
    const auto g = dim3_from(grid), b = dim3_from(block);
    if (!g || !b) return std::nullopt;
    return LaunchShape{*g, *b};
}

std::string first_words(std::string_view text) {
    constexpr std::size_t kLongest = 200;
    std::size_t at = text.find("==ERROR==");
    if (at == std::string_view::npos) at = text.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos) return "";
    std::string_view line = text.substr(at, text.find_first_of("\r\n", at) - at);
    return std::string(line.substr(0, kLongest)) + (line.size() > kLongest ? "..." : "");
}

}  // namespace gambrel::ingest_detail
