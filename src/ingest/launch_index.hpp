// Finds the launch that a row of a table belongs to, by ID, process and context, kernel and (in summaries) shape.
// Invariant: rows may come in any order; while IDs only rise, as they nearly always do, nothing is looked up or hashed.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::ingest_detail {

struct LaunchKey {
    std::uint64_t id = 0, process = 0, context = 0, shape = 0;
    Symbol name;
    bool operator==(const LaunchKey&) const = default;

    // Numbers as they are; any other text by its hash.
    static std::uint64_t from_text(std::string_view text) {
        std::uint64_t number = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (fault == std::errc{} && end == text.data() + text.size()) return number;
        return std::hash<std::string_view>{}(text) | (std::uint64_t{1} << 63);
    }
};

class LaunchIndex {
public:
    // The number kept for this key, or null if the key is new.
    [[nodiscard]] const std::size_t* find(const LaunchKey& key) {
        if (keys_.empty() || key.id > largest_id_) return nullptr;
        for (; hashed_ < keys_.size(); ++hashed_) by_key_.emplace(keys_[hashed_].first, keys_[hashed_].second);
        const auto it = by_key_.find(key);
        return it == by_key_.end() ? nullptr : &it->second;
    }
    void add(const LaunchKey& key, std::size_t launch) {
        keys_.emplace_back(key, launch);
        if (key.id > largest_id_) largest_id_ = key.id;
    }
    void clear() { *this = {}; }

private:
    struct Hash {
        std::size_t operator()(const LaunchKey& key) const {
            std::size_t h = std::hash<Symbol>{}(key.name);
            for (const std::uint64_t part : {key.id, key.process, key.context, key.shape})
                h = (h ^ part) * 0x9E3779B97F4A7C15u;
            return h;
        }
    };
    std::vector<std::pair<LaunchKey, std::size_t>> keys_;
    std::unordered_map<LaunchKey, std::size_t, Hash> by_key_;
    std::size_t hashed_ = 0;
    std::uint64_t largest_id_ = 0;
};

}  // namespace gambrel::ingest_detail
