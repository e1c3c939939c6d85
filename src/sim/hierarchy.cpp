#include "sim/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "sim/parallel.hpp"

namespace gambrel::sim_detail {
namespace {

unsigned bits(unsigned sectors) { return sector_count(sectors); }
bool reads(Action action) {
    return action == Action::read || action == Action::read_step || action == Action::read_merged;
}
bool reads(Access access) { return reads(access.action()); }

}  // namespace

Counts& Counts::operator+=(const Counts& o) {
    l1_read += o.l1_read;
    l1_write += o.l1_write;
    l1_hit += o.l1_hit;
    l2_read += o.l2_read;
    l2_write += o.l2_write;
    l2_hit += o.l2_hit;
    fabric += o.fabric;
    dram_read += o.dram_read;
    dram_write += o.dram_write;
    l1_filled += o.l1_filled;
    l2_filled += o.l2_filled;
    return *this;
}

Hierarchy::Hierarchy(const AddressStream& stream, CacheShape shape, std::uint32_t ctas_per_sm, unsigned threads)
    : stream_(stream), shape_(shape), threads_(std::max(1U, threads)) {
    sms_.reserve(shape.sms);
    for (std::uint32_t i = 0; i < shape.sms; ++i) {
        sms_.emplace_back(SectorCache(shape.l1_lines, shape.l1_ways));
        sms_.back().has_l1 = shape.l1_lines > 0;
        sms_.back().partition = shape.partitions > 1 && i >= shape.sms / 2 ? 1 : 0;
        sms_.back().slots.resize(ctas_per_sm);
    }
    const unsigned partitions = std::max(1U, shape.partitions);
    const std::uint64_t lines = std::max<std::uint64_t>(1, shape.l2_lines / kSlices / partitions);
    slices_.resize(kSlices);
    for (Slice& slice : slices_) {
        slice.cursor.resize(shape.sms);
        slice.checks = CheckBits(shape.ecc_lines);
        for (unsigned p = 0; p < partitions; ++p) slice.partitions.emplace_back(lines, shape.l2_ways);
    }
}

void Hierarchy::run(std::span<const Event> events, Counted counted) {
    for (Sm& sm : sms_) sm.events.clear();
    ends_.resize(std::max(ends_.size(), events.size()));
    for (std::size_t i = 0; i < events.size(); ++i) sms_[events[i].sm].events.push_back(static_cast<std::uint32_t>(i));
    parallel_for(sms_.size(), threads_, [&](std::size_t i) { run_sm(sms_[i], events, counted); });
    parallel_for(slices_.size(), threads_,
                 [&](std::size_t i) { run_slice(slices_[i], static_cast<unsigned>(i), events, counted); });
}

void Hierarchy::run_sm(Sm& sm, std::span<const Event> events, Counted counted) {
    for (std::vector<Access>& misses : sm.misses) misses.clear();
    TensorCounts uncounted{};
    for (const std::uint32_t i : sm.events) {
        const Event& event = events[i];
        CtaState& state = sm.slots[event.slot];
        TensorCounts& counts = counted.has(event.cta) ? sm.counts : uncounted;
        sm.requests.clear();
        sm.merged.clear();
        if (event.first) stream_.open(event.cta, state);
        if (event.last)
            stream_.close(state, sm.requests);
        else
            stream_.step(state, event.step, sm.requests);
        const Access* const end = sm.requests.data() + sm.requests.size();
        for (const Access* at = sm.requests.data(); at != end;) at = look_up(sm, at, end, counts);
        for (unsigned s = 0; s < kSlices; ++s) ends_[i].of[s] = static_cast<std::uint32_t>(sm.misses[s].size());
    }
}

// All accesses of one kind, which follow each other, so that the counters stay in registers.
const Access* Hierarchy::look_up(Sm& sm, const Access* at, const Access* end, TensorCounts& counts) const {
    const std::uint64_t kind = at->kind();
    const Action action = at->action();
    Counts& count = counts[tensor_of(at->line())];
    if (action == Action::hits) {
        count.l1_read += at->hits();
        count.l1_hit += at->hits();
        return at + 1;
    }
    std::uint64_t asked = 0, missed = 0, filled = 0;
    const auto miss = [&](std::uint64_t line, std::uint64_t hash, unsigned sectors) {
        // Lines that share check bits share the memory channel that has them.
        const std::uint64_t spread = shape_.ecc_lines > 0 ? mixed(line / shape_.ecc_lines) : hash;
        missed += bits(sectors);
        sm.misses[spread % kSlices].emplace_back(line, sectors, action);
    };
    // missing(line, hash, sectors): those that L1 does not hold.
    const auto each = [&](auto missing) {
        for (; at != end && at->kind() == kind; ++at) {
            const std::uint64_t line = at->line(), hash = mixed(line);
            asked += at->count();
            if (const unsigned absent = missing(line, hash, at->sectors()); absent != 0) miss(line, hash, absent);
        }
    };
    if (action == Action::read && sm.has_l1)
        each([&](std::uint64_t line, std::uint64_t hash, unsigned sectors) {
            const SectorCache::Outcome outcome = sm.l1.touch(line, hash, sectors, false);
            filled += outcome.filled ? 1 : 0;
            return outcome.missing;
        });
    else if (action == Action::read_step)
        each([&](std::uint64_t line, std::uint64_t hash, unsigned sectors) {
            return sm.merged.add(line, hash, sectors);
        });
    else  // Stores are written through without allocation; a copy that is there is updated. Merged reads are all new.
        each([](std::uint64_t, std::uint64_t, unsigned sectors) { return sectors; });
    if (reads(action)) {
        count.l1_read += asked;
        count.l1_hit += asked - missed;
    } else {
        count.l1_write += asked;
    }
    count.l1_filled += filled;
    return at;
}

void Hierarchy::add_checks(Slice& slice, std::uint64_t line, bool write, TensorCounts& counts) const {
    if (slice.checks.none()) return;
    const CheckBits::Moved moved = slice.checks.access(line, write);
    Counts& count = counts[static_cast<std::size_t>(Tensor::check_bits)];
    count.dram_read += moved.read;
    count.dram_write += moved.written;
}

void Hierarchy::write_dram(Slice& slice, std::uint64_t line, unsigned sectors, TensorCounts& counts) const {
    counts[tensor_of(line)].dram_write += bits(sectors);
    add_checks(slice, line, true, counts);
}

inline unsigned Hierarchy::touch_l2(Slice& slice, unsigned partition, Access access, unsigned sectors,
                                    TensorCounts& counts) const {
    const std::uint64_t line = access.line();
    const SectorCache::Outcome outcome = slice.partitions[partition].touch(line, mixed(line), sectors, !reads(access));
    if (outcome.victim_dirty != 0) write_dram(slice, outcome.victim_line, outcome.victim_dirty, counts);
    if (access.action() != Action::write && outcome.missing != 0) {
        counts[tensor_of(line)].dram_read += bits(outcome.missing);
        counts[tensor_of(line)].l2_filled += outcome.filled ? 1 : 0;
        add_checks(slice, line, false, counts);
    }
    return outcome.missing;
}

inline void Hierarchy::access_l2(Slice& slice, unsigned partition, Access access, TensorCounts& counts) const {
    Counts& count = counts[tensor_of(access.line())];
    const unsigned absent = touch_l2(slice, partition, access, access.sectors(), counts);
    if (reads(access)) {
        count.l2_read += access.count();
        count.l2_hit += access.count() - bits(absent);
    } else {
        count.l2_write += access.count();
    }
}

void Hierarchy::run_slice(Slice& slice, unsigned index, std::span<const Event> events, Counted counted) {
    for (std::size_t s = 0; s < sms_.size(); ++s) slice.cursor[s] = sms_[s].misses[index].data();
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        const Sm& sm = sms_[event.sm];
        const Access* const end = sm.misses[index].data() + ends_[i].of[index];
        TensorCounts& counts = slice.counts[counted.has(event.cta) ? 1 : 0];
        const Access* miss = std::exchange(slice.cursor[event.sm], end);
        if (shape_.partitions > 1)
            for (; miss != end; ++miss) access_halves(slice, sm.partition, *miss, counts);
        else
            for (; miss != end; ++miss) access_l2(slice, 0, *miss, counts);
    }
}

void Hierarchy::access_halves(Slice& slice, unsigned partition, Access access, TensorCounts& counts) const {
    const std::uint64_t line = access.line(), hash = mixed(line);
    const auto home = static_cast<unsigned>(hash >> 31U & 1U);
    if (home == partition) {
        if (!reads(access)) slice.partitions[1 - home].invalidate(line, hash);
        access_l2(slice, home, access, counts);
        return;
    }
    // The near half keeps clean copies; writes and atomics go to the home of the line, and the copy is dropped.
    Counts& count = counts[tensor_of(line)];
    SectorCache& near = slice.partitions[partition];
    if (!reads(access)) {
        near.invalidate(line, hash);
        count.l2_write += access.count();
        count.fabric += access.count();
        touch_l2(slice, home, access, access.sectors(), counts);
        return;
    }
    count.l2_read += access.count();
    const SectorCache::Outcome outcome = near.touch(line, hash, access.sectors(), false);
    // A copy may drive out a line that is at home here.
    if (outcome.victim_dirty != 0) write_dram(slice, outcome.victim_line, outcome.victim_dirty, counts);
    const unsigned missing = outcome.missing;
    count.fabric += bits(missing);
    const unsigned absent = missing != 0 ? touch_l2(slice, home, access, missing, counts) : 0;
    count.l2_hit += access.count() - bits(absent);
}

void Hierarchy::flush(bool counted, bool in_order) {
    std::vector<std::pair<std::uint64_t, unsigned>> dirty;
    for (Slice& slice : slices_) {
        dirty.clear();
        for (SectorCache& cache : slice.partitions)
            cache.flush([&](std::uint64_t line, unsigned sectors) { dirty.emplace_back(line, sectors); });
        // In order of addresses, not of hashes: lines that share check bits are written one after the other.
        if (in_order && !slice.checks.none()) std::sort(dirty.begin(), dirty.end());
        TensorCounts& counts = slice.counts[counted ? 1 : 0];
        for (const auto& [line, sectors] : dirty) write_dram(slice, line, sectors, counts);
        counts[static_cast<std::size_t>(Tensor::check_bits)].dram_write += slice.checks.flush();
    }
}

void Hierarchy::end_kernel() {
    for (Sm& sm : sms_) sm.l1.clear();
}

void Hierarchy::clear() {
    end_kernel();
    for (Slice& slice : slices_)
        for (SectorCache& cache : slice.partitions) cache.clear();
    for (Slice& slice : slices_) slice.checks.clear();
    clear_counts();
}

void Hierarchy::clear_counts() {
    for (Sm& sm : sms_) sm.counts = {};
    for (Slice& slice : slices_) slice.counts = {};
}

TensorCounts Hierarchy::counts() const {
    TensorCounts total{};
    for (unsigned t = 0; t < kTensors; ++t) {
        for (const Sm& sm : sms_) total[t] += sm.counts[t];
        for (const Slice& slice : slices_) total[t] += slice.counts[1][t];
    }
    return total;
}

TensorCounts Hierarchy::uncounted() const {
    TensorCounts total{};
    for (unsigned t = 0; t < kTensors; ++t)
        for (const Slice& slice : slices_) total[t] += slice.counts[0][t];
    return total;
}

}  // namespace gambrel::sim_detail
