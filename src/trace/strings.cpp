#include <algorithm>
#include <cstring>

#include "trace/events.hpp"

namespace gambrel::trace_detail {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

std::uint64_t mixed(std::uint64_t a) {
    a ^= a >> 32U;
    a *= 0x9E3779B97F4A7C15ULL;
    return a ^ (a >> 29U);
}

// Eight bytes at a time: names and shapes are some ten to a few hundred bytes long.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t h = text.size() * 0xD6E8FEB86659FD93ULL;
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        h = mixed(h ^ word);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    return mixed(h ^ word);
}

}  // namespace

Strings::Strings() : slots_(1024), texts_{std::string_view{}} {}

std::uint32_t Strings::id(std::string_view text) {
    if (text.empty()) return 0;
    if (texts_.size() * 2 > slots_.size()) grow();
    const std::uint64_t full = hash_of(text);
    const auto hash = static_cast<std::uint32_t>(full >> 32U);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        Slot& slot = slots_[i];
        if (slot.id == 0) {
            if (used_ + text.size() > room_) {
                room_ = std::max(kBlock, text.size());
                blocks_.push_back(std::make_unique_for_overwrite<char[]>(room_));
                used_ = 0;
            }
            char* const at = blocks_.back().get() + used_;
            std::memcpy(at, text.data(), text.size());
            used_ += text.size();
            slot = {hash, static_cast<std::uint32_t>(texts_.size())};
            texts_.emplace_back(at, text.size());
            return slot.id;
        }
        if (slot.hash == hash && texts_[slot.id] == text) return slot.id;
    }
}

void Strings::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.id == 0) continue;
        std::size_t i = slot.hash & mask;
        while (slots_[i].id != 0) i = (i + 1) & mask;
        slots_[i] = slot;
    }
}

}  // namespace gambrel::trace_detail
