#include "sim/l2_slice.hpp"

#include <algorithm>
#include <bit>

namespace gambrel::sim_detail {
L2Slice::L2Slice(const CacheShape& shape)
    : halves_(std::max(1U, shape.partitions)), checks_(shape.ecc_lines), partial_writes_(shape.partial_writes) {
    const std::uint64_t lines = std::max<std::uint64_t>(1, shape.l2_lines / kSlices / halves_);
    for (std::size_t p = 0; p < halves_; ++p) partitions_.emplace_back(lines, shape.l2_ways);
}

void L2Slice::add_checks(std::uint64_t line, bool write, TensorCounts& counts) {
    if (checks_.none()) return;
    const CheckBits::Moved moved = checks_.access(line, write);
    Counts& count = counts[static_cast<std::size_t>(Tensor::check_bits)];
    count.dram_read += moved.read;
    count.dram_write += moved.written;
}

void L2Slice::write_dram(std::uint64_t line, unsigned sectors, unsigned part, TensorCounts& counts) {
    if (part != 0) {
        counts[tensor_of(line)].dram_read += sector_count(part);
        add_checks(line, false, counts);
    }
    if (!written_pairs_.empty()) written_pairs_.erase(line);
    counts[tensor_of(line)].dram_write += sector_count(sectors);
    add_checks(line, true, counts);
}

inline void L2Slice::evict(const SectorCache::Outcome& outcome, TensorCounts& counts) {
    if (outcome.victim_dirty != 0) write_dram(outcome.victim_line, outcome.victim_dirty, outcome.victim_part, counts);
}

inline void L2Slice::refill(std::uint64_t line, const SectorCache::Outcome& outcome, bool fills, TensorCounts& counts) {
    evict(outcome, counts);
    if (!fills) return;
    Counts& count = counts[tensor_of(line)];
    count.dram_read += sector_count(outcome.missing);
    count.l2_filled += outcome.filled ? 1 : 0;
    if (!checks_.none() && outcome.missing != 0) add_checks(line, false, counts);
}

// Sectors that several stores complete become whole.
SectorCache::Outcome L2Slice::store_part(SectorCache& cache, Access access, Place place) {
    const std::uint64_t line = access.line();
    const SectorCache::Outcome outcome = cache.touch_part(line, place, access.sectors());
    if (outcome.missing == 0) return outcome;
    std::uint64_t& pairs = written_pairs_[line];
    const unsigned shift = 16 * static_cast<unsigned>(std::countr_zero(access.sectors()));
    const std::uint64_t sector = std::uint64_t{0xFFFF} << shift;
    pairs |= std::uint64_t{access.pairs()} << shift;
    if ((pairs & sector) == sector) {
        pairs &= ~sector;
        if (pairs == 0) written_pairs_.erase(line);
        cache.touch(line, place, access.sectors(), true);
    }
    return outcome;
}

void L2Slice::store(SectorCache& cache, Access access, Place place, TensorCounts& counts) {
    counts[tensor_of(access.line())].l2_write += access.count();
    const bool part = access.action() == Action::write_part && partial_writes_ != PartialWrites::masked;
    if (part && partial_writes_ == PartialWrites::read_when_leaving)
        evict(store_part(cache, access, place), counts);
    else
        refill(access.line(), cache.touch(access.line(), place, access.sectors(), true),
               part || access.action() == Action::atomic, counts);
}

inline void L2Slice::access_l2(unsigned partition, Access access, Place place, TensorCounts& counts) {
    const std::uint64_t line = access.line();
    if (is_store(access.action())) {
        store(partitions_[partition], access, place, counts);
        return;
    }
    const unsigned missing =
        partitions_[partition].read(line, place, access.sectors(), [&](const SectorCache::Outcome& outcome) {
            evict(outcome, counts);
            counts[tensor_of(line)].l2_filled += outcome.filled ? 1 : 0;
        });
    Reads& reads = reads_[access.account()];
    reads.asked += access.count();
    reads.missed += sector_count(missing);
    if (!checks_.none() && missing != 0) add_checks(line, false, counts);
}

inline void L2Slice::access_halves(Access access, Place place, unsigned home, TensorCounts& counts) {
    const std::uint64_t line = access.line();
    const unsigned partition = access.partition();
    if (is_store(access.action())) {
        // The half that is not the line's home keeps clean copies. Writes and atomics go home, and the copy is dropped.
        partitions_[1 - home].invalidate(line, place);
        if (home != partition) counts[tensor_of(line)].fabric += access.count();
        store(partitions_[home], access, place, counts);
    } else if (home == partition) {
        access_l2(home, access, place, counts);
    } else {
        read_copy(home, access, place, partitions_[partition].touch(line, place, access.sectors(), false), counts);
    }
}

void L2Slice::read_copy(unsigned home, Access access, Place place, const SectorCache::Outcome& near,
                        TensorCounts& counts) {
    const std::uint64_t line = access.line();
    Counts& count = counts[tensor_of(line)];
    count.l2_read += access.count();
    // A copy may drive out a line that is at home here.
    evict(near, counts);
    count.fabric += sector_count(near.missing);
    unsigned absent = 0;
    if (near.missing != 0) {
        const SectorCache::Outcome outcome = partitions_[home].touch(line, place, near.missing, false);
        refill(line, outcome, true, counts);
        absent = outcome.missing;
    }
    count.l2_hit += access.count() - sector_count(absent);
}

// A read that is the same as the one just before it, where L2 has two partitions.
inline void L2Slice::repeat(Access access, unsigned home, TensorCounts& counts) {
    if (home == access.partition()) {
        reads_[access.account()].asked += access.count();
        return;
    }
    Counts& count = counts[tensor_of(access.line())];
    count.l2_read += access.count();
    count.l2_hit += access.count();
}

// Most lines of groups that L1 lacks are in L2.
void L2Slice::access_member(Access access, TensorCounts& counts) {
    const std::size_t part = access.member_part(), number = access.member_number();
    if (partitions_[access.partition()].hit_line(part, number, access.sectors())) {
        reads_[access.account()].asked += access.count();
        return;
    }
    const HashedLine& line = lines_[number];
    const Access read = access.with_line(line.line, Action::read);
    const Place place = partitions_.front().place_of(line.hash);
    if (halves_ > 1)
        access_halves(read, place, home_of(line.hash), counts);
    else
        access_l2(0, read, place, counts);
}

void L2Slice::access(std::span<const Access> accesses) {
    // The host fetches the set of each so many accesses before it is looked at.
    constexpr std::size_t kAhead = 16;
    struct Wanted {
        Place place;
        unsigned home;
    };
    std::array<Wanted, 2 * kAhead> ring;
    const auto wanted = [&](std::size_t i) -> Wanted& { return ring[i % ring.size()]; };
    const auto each = [&](auto fetch, auto one) {
        for (std::size_t i = 0; i < std::min(kAhead, accesses.size()); ++i) fetch(i);
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (i + kAhead < accesses.size()) fetch(i + kAhead);
            one(accesses[i], i, counts_[accesses[i].counted()]);
        }
    };
    if (halves_ > 1) {
        // CTAs that run side by side want the same, and there are enough of them on GPUs with two partitions.
        const auto repeats = [&](std::size_t i) {
            return i > 0 && accesses[i] == accesses[i - 1] && !is_store(accesses[i].action());
        };
        each(
            [&](std::size_t i) {
                if (repeats(i)) {
                    wanted(i) = wanted(i - 1);
                    return;
                }
                const std::uint64_t hash = mixed(accesses[i].line());
                const Wanted at = wanted(i) = {partitions_.front().place_of(hash), home_of(hash)};
                partitions_[at.home].prefetch(at.place);
                if (accesses[i].partition() != at.home || is_store(accesses[i].action()))
                    partitions_[1 - at.home].prefetch(at.place);
            },
            [&](Access access, std::size_t i, TensorCounts& counts) {
                if (repeats(i))
                    repeat(access, wanted(i).home, counts);
                else if (access.action() == Action::read_member)
                    access_member(access, counts);
                else
                    access_halves(access, wanted(i).place, wanted(i).home, counts);
            });
    } else {
        each(
            [&](std::size_t i) {
                const Place place = partitions_.front().place_of(mixed(accesses[i].line()));
                wanted(i).place = place;
                partitions_.front().prefetch(place);
            },
            [&](Access access, std::size_t i, TensorCounts& counts) {
                if (access.action() == Action::read_member)
                    access_member(access, counts);
                else
                    access_l2(0, access, wanted(i).place, counts);
            });
    }
}

// One that is not there with these sectors.
void L2Slice::access_part(std::size_t part, const GroupRead& read) {
    const std::uint32_t lines = parts_[part].count;
    if (!only_counts(part, read.partition()) || !partitions_[read.partition()].miss_group(part, read.sectors, lines)) {
        touch_part(part, read, counts_[read.counted()]);
        return;
    }
    Reads& reads = reads_[read.account];
    reads.asked += std::uint64_t{lines} * read.count;
    reads.missed += std::uint64_t{lines} * read.count;
}

void L2Slice::touch_part(std::size_t part, const GroupRead& read, TensorCounts& counts) {
    const std::span<const SectorCache::GroupLine> lines(group_lines_.data() + parts_[part].first, parts_[part].count);
    const HashedLine* const hashed = lines_.data() + parts_[part].first;
    const std::size_t home = part % halves_;
    SectorCache& cache = partitions_[read.partition()];
    cache.prefetch(lines);
    if (home != read.partition() && halves_ > 1) {
        cache.touch_group(part, lines, read.sectors, [&](std::size_t i, const SectorCache::Outcome& outcome) {
            read_copy(static_cast<unsigned>(home), {hashed[i].line, read.sectors, Action::read},
                      cache.place_of(hashed[i].hash), outcome, counts);
        });
        return;
    }
    std::uint64_t missed = 0;
    cache.touch_group(part, lines, read.sectors, [&](std::size_t i, const SectorCache::Outcome& outcome) {
        missed += sector_count(outcome.missing);
        evict(outcome, counts);
        counts[read.tensor()].l2_filled += outcome.filled ? 1 : 0;
        if (!checks_.none() && outcome.missing != 0) add_checks(hashed[i].line, false, counts);
    });
    reads_[read.account].asked += lines.size() * read.count;
    reads_[read.account].missed += missed;
}

TensorCounts L2Slice::counts(bool counted) const {
    TensorCounts all = counts_[counted ? 1 : 0];
    for (unsigned partition = 0; partition < 2; ++partition)
        for (unsigned t = 0; t < kTensors; ++t) {
            const Access of = Access(base_address(static_cast<Tensor>(t)) >> kLineShift, 0, Action::read);
            const Reads& reads = reads_[of.sent_by(Access::sender(partition, counted)).account()];
            all[t].l2_read += reads.asked;
            all[t].l2_hit += reads.asked - reads.missed;
            all[t].dram_read += reads.missed;
        }
    return all;
}

void L2Slice::flush(bool counted, bool in_order) {
    struct Dirty {
        std::uint64_t line;
        unsigned sectors, part;
    };
    std::vector<Dirty> dirty;
    for (SectorCache& cache : partitions_)
        cache.flush([&](std::uint64_t line, unsigned sectors, unsigned part) {
            dirty.push_back({line, sectors, part});
        });
    // In order of addresses, not of hashes: lines that share check bits are written one after the other.
    if (in_order && !checks_.none())
        std::sort(dirty.begin(), dirty.end(), [](const Dirty& a, const Dirty& b) { return a.line < b.line; });
    TensorCounts& counts = counts_[counted ? 1 : 0];
    for (const Dirty& of : dirty) write_dram(of.line, of.sectors, of.part, counts);
    counts[static_cast<std::size_t>(Tensor::check_bits)].dram_write += checks_.flush();
}

void L2Slice::clear() {
    for (SectorCache& cache : partitions_) cache.clear();
    checks_.clear();
    written_pairs_.clear();
    clear_counts();
}

void L2Slice::wind_clock() {
    for (SectorCache& cache : partitions_) cache.wind_clock();
}

}  // namespace gambrel::sim_detail
