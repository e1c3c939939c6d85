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

unsigned MergeTable::asked(std::uint64_t line, std::uint64_t hash) const {
    const Entry& entry = entries_[place_of(line, hash)];
    return entry.round == round_ ? entry.sectors : 0;
}

unsigned MergeTable::add(std::uint64_t line, std::uint64_t hash, unsigned sectors) {
    if (2 * used_ >= entries_.size()) grow();
    Entry& entry = entries_[place_of(line, hash)];
    if (entry.round != round_) {
        entry = {line, round_, 0};
        ++used_;
    }
    const unsigned missing = sectors & ~entry.sectors;
    entry.sectors |= sectors;
    return missing;
}

void MergeTable::grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    const std::uint32_t round = round_;
    used_ = 0;
    for (const Entry& entry : old)
        if (entry.round == round) add(entry.line, mixed(entry.line), entry.sectors);
}

}  // namespace gambrel::sim_detail
