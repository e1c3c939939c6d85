// Which sectors one step of a CTA has asked for already: what L1 does with loads that it does not keep. It knows no
// cache and counts nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

// Sectors that one step has asked for: a hash table that is emptied by counting rounds.
class MergeTable {
public:
    void clear();
    // The sectors that were not there yet.
    unsigned add(std::uint64_t line, std::uint64_t hash, unsigned sectors);
    // How many lines were there before this one, which is added if it is not there.
    std::size_t number_of(std::uint64_t line, std::uint64_t hash) { return entry_of(line, hash).number; }

private:
    static constexpr std::uint32_t kMostLines = (1U << 28U) - 1;  // of a step, which has thousands
    struct Entry {
        std::uint64_t line = 0;
        std::uint32_t round = 0;
        std::uint32_t sectors : 4 = 0, number : 28 = 0;
    };
    static_assert(sizeof(Entry) == 16);
    [[nodiscard]] std::size_t place_of(std::uint64_t line, std::uint64_t hash) const;
    Entry& entry_of(std::uint64_t line, std::uint64_t hash);
    void grow();

    std::vector<Entry> entries_ = std::vector<Entry>(1024);
    std::uint32_t used_ = 0, round_ = 1;
};

}  // namespace gambrel::sim_detail
