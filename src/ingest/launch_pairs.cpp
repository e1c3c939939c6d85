#include "ingest/launch_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace gambrel::ingest_detail {

namespace {

using LaunchKind = std::pair<Symbol, std::optional<LaunchShape>>;  // what makes two launches of two runs alike

struct LaunchKindHash {
    std::size_t operator()(const LaunchKind& kind) const {
        std::size_t h = std::hash<Symbol>{}(kind.first);
        if (!kind.second) return h;
        for (const auto* dims : {&kind.second->grid, &kind.second->block}) {
            for (const std::uint32_t d : *dims) h = h * 1000003u + d;
        }
        return h;
    }
};

bool has_shapes(const Profile& profile) {
    return std::all_of(profile.launches.begin(), profile.launches.end(),
                       [](const Launch& l) { return l.shape.has_value(); });
}

}  // namespace

bool same_kernel(const Launch& a, const Launch& b) {
    if (a.name != b.name) return false;
    if (a.shape && b.shape && *a.shape != *b.shape) return false;
    return a.device.empty() || b.device.empty() || a.device == b.device;
}

std::size_t first_difference(const Profile& a, const Profile& b) {
    const std::size_t common = std::min(a.launches.size(), b.launches.size());
    std::size_t i = 0;
    while (i < common && same_kernel(a.launches[i], b.launches[i])) ++i;
    return i;
}

std::vector<std::size_t> paired_by_occurrence(const Profile& like, const Profile& other) {
    if (like.launches.size() != other.launches.size()) return {};
    const bool shapes = has_shapes(like) && has_shapes(other);
    const auto kind = [&](const Launch& l) { return LaunchKind{l.name, shapes ? l.shape : std::nullopt}; };
    struct Queue {
        std::vector<std::size_t> launches;
        std::size_t next = 0;
    };
    std::unordered_map<LaunchKind, Queue, LaunchKindHash> queues;
    for (std::size_t i = 0; i < other.launches.size(); ++i) queues[kind(other.launches[i])].launches.push_back(i);
    std::vector<std::size_t> pairs;
    pairs.reserve(like.launches.size());
    for (const Launch& launch : like.launches) {
        const auto it = queues.find(kind(launch));
        if (it == queues.end() || it->second.next == it->second.launches.size()) return {};
        pairs.push_back(it->second.launches[it->second.next++]);
    }
    return pairs;
}

bool same_run(const Profile& a, const Profile& b) {
    if (a.launches.size() != b.launches.size() || first_difference(a, b) != a.launches.size()) return false;
    std::unordered_map<MetricId, double> values;
    for (std::size_t i = 0; i < a.launches.size(); ++i) {
        values.clear();
        const auto each = [](const Profile& p, const Launch& l, auto&& use) {
            for (std::size_t v = l.first_value; v < l.first_value + l.values; ++v) use(p.values[v]);
        };
        each(a, a.launches[i], [&](const MetricValue& v) { values[v.metric] = v.value; });
        bool same = true;
        each(b, b.launches[i], [&](const MetricValue& v) {
            const auto it = values.find(v.metric);
            if (it != values.end() && std::fabs(it->second - v.value) > 0.01 * std::fabs(v.value)) same = false;
        });
        if (!same) return false;
    }
    return true;
}

}  // namespace gambrel::ingest_detail
