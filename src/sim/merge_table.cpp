#include "sim/merge_table.hpp"

#include <algorithm>

namespace gambrel::sim_detail {

void MergeTable::clear() {
    if (++round_ == 0) {
        std::fill(entries_.begin(), entries_.end(), Entry{});
        round_ = 1;
    }
    used_ = 0;
}

std::size_t MergeTable::place_of(std::uint64_t line, std::uint64_t hash) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (hash >> 16U) & mask;
    while (entries_[at].round == round_ && entries_[at].line != line) at = (at + 1) & mask;
    return at;
}

MergeTable::Entry& MergeTable::entry_of(std::uint64_t line, std::uint64_t hash) {
    if (2 * std::size_t{used_} >= entries_.size()) grow();
    Entry& entry = entries_[place_of(line, hash)];
    if (entry.round != round_) {
        entry = {line, round_, 0, used_ & kMostLines};
        ++used_;
    }
    return entry;
}

unsigned MergeTable::add(std::uint64_t line, std::uint64_t hash, unsigned sectors) {
    Entry& entry = entry_of(line, hash);
    const unsigned missing = sectors & ~unsigned{entry.sectors};
    entry.sectors |= sectors & kAllSectors;
    return missing;
}

void MergeTable::grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
        if (entry.round == round_) entries_[place_of(entry.line, mixed(entry.line))] = entry;
}

}  // namespace gambrel::sim_detail
