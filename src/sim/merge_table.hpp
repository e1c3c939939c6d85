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
    // All that were added.
    [[nodiscard]] unsigned asked(std::uint64_t line, std::uint64_t hash) const;

private:
    struct Entry {
        std::uint64_t line = 0;
        std::uint32_t round = 0;
        unsigned sectors = 0;
    };
    [[nodiscard]] std::size_t place_of(std::uint64_t line, std::uint64_t hash) const;
    void grow();

    std::vector<Entry> entries_ = std::vector<Entry>(1024);
    std::size_t used_ = 0;
    std::uint32_t round_ = 1;
};

}  // namespace gambrel::sim_detail
