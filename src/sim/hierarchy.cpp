#include "sim/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "sim/parallel.hpp"

namespace gambrel::sim_detail {

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
    : stream_(stream),
      shape_(shape),
      threads_(std::max(1U, threads)),
      l1_groups_(stream.groups(), SectorCache(shape.l1_lines, shape.l1_ways).sets()) {
    sms_.reserve(shape.sms);
    for (std::uint32_t i = 0; i < shape.sms; ++i) {
        sms_.emplace_back(L1Cache(shape.l1_lines, shape.l1_ways, l1_groups_));
        sms_.back().has_l1 = shape.l1_lines > 0;
        sms_.back().partition = shape.partitions > 1 && i >= shape.sms / 2 ? 1 : 0;
        sms_.back().slots.resize(ctas_per_sm);
    }
    slices_.reserve(kSlices);
    for (unsigned index = 0; index < kSlices; ++index) slices_.emplace_back(shape);
    members_ = L2Slice::share_groups(stream.groups(), shape.ecc_lines, slices_);
}

void Hierarchy::run(std::span<const Event> events, Counted counted) {
    for (Sm& sm : sms_) sm.events.clear();
    asked_.resize(std::max(asked_.size(), events.size()));
    for (std::size_t i = 0; i < events.size(); ++i) sms_[events[i].sm].events.push_back(static_cast<std::uint32_t>(i));
    parallel_for(sms_.size(), threads_, [&](std::size_t i) { run_sm(sms_[i], events, counted); });
    find_rounds(events);
    parallel_for(round_count_, threads_, [&](std::size_t i) { sort_round(rounds_[i]); });
    parallel_for(slices_.size(), threads_, [&](std::size_t i) { run_slice(static_cast<unsigned>(i)); });
}

// As many events as CTAs can run at the same time are about a step of each of them. What a CTA asks for in its second
// step of these it asks for after its first.
void Hierarchy::find_rounds(std::span<const Event> events) {
    const std::size_t slots = sms_.front().slots.size(), together = sms_.size() * slots;
    round_count_ = 0;
    std::size_t first = 0;  // round of these events
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i % together == 0) {
            first = round_count_;
            steps_of_slot_.assign(together, 0);
        }
        const std::size_t at = first + steps_of_slot_[events[i].sm * slots + events[i].slot]++;
        if (at == rounds_.size()) rounds_.emplace_back();
        Round& round = rounds_[at];
        if (at == round_count_) {
            ++round_count_;
            round.events.clear();
            round.groups.clear();
            round.places_end = 0;
        }
        round.events.push_back(static_cast<std::uint32_t>(i));
        const Asked& asked = asked_[i];
        round.places_end = std::max(round.places_end, asked.places_end);
        for (std::uint32_t group = asked.groups_begin; group != asked.groups_end; ++group)
            round.groups.push_back(sms_[asked.sm].group_misses[group]);
    }
}

void Hierarchy::sort_round(Round& round) const {
    round.lines.sort(round.places_end, [&](auto f) {
        for (const std::uint32_t i : round.events) f(sms_[asked_[i].sm].misses, asked_[i].begin, asked_[i].end);
    });
}

void Hierarchy::run_sm(Sm& sm, std::span<const Event> events, Counted counted) {
    if (!sm.events.empty()) sm.l1.prefetch();
    sm.misses.clear();
    sm.group_misses.clear();
    TensorCounts uncounted{};
    // For use within a step, and of all SMs, so that they stay in the host's caches.
    thread_local std::vector<Access> requests;
    thread_local MergeTable merged;
    for (const std::uint32_t i : sm.events) {
        const Event& event = events[i];
        CtaState& state = sm.slots[event.slot];
        const bool is_counted = counted.has(event.cta);
        sm.sender = Access::sender(sm.partition, is_counted);
        Asked& asked = asked_[i];
        asked = {.sm = event.sm,
                 .begin = static_cast<std::uint32_t>(sm.misses.size()),
                 .groups_begin = static_cast<std::uint32_t>(sm.group_misses.size())};
        requests.clear();
        merged.clear();
        sm.misses.begin_event();
        if (event.first) stream_.open(event.cta, state);
        if (event.last)
            stream_.close(state, requests);
        else
            stream_.step(state, event.step, requests);
        const Access* const end = requests.data() + requests.size();
        for (const Access* at = requests.data(); at != end;)
            at = look_up(sm, merged, at, end, is_counted ? sm.counts : uncounted);
        asked.end = static_cast<std::uint32_t>(sm.misses.size());
        asked.places_end = sm.misses.places_end();
        asked.groups_end = static_cast<std::uint32_t>(sm.group_misses.size());
    }
}

// All accesses of one kind, which follow each other, so that the counters stay in registers.
const Access* Hierarchy::look_up(Sm& sm, MergeTable& merged, const Access* at, const Access* end,
                                 TensorCounts& counts) const {
    const std::uint64_t kind = at->kind();
    const Action action = at->action();
    Counts& count = counts[tensor_of(at->line())];
    if (action == Action::hits) {
        count.l1_read += at->hits();
        count.l1_hit += at->hits();
        return at + 1;
    }
    if (action == Action::read_group || action == Action::merged_group) {
        look_up_group(sm, *at, count);
        return at + 1;
    }
    sm.misses.reserve(static_cast<std::size_t>(end - at));
    // Stores are written through without allocation; a copy that is there is updated.
    if (is_store(action)) {
        for (; at != end && at->kind() == kind; ++at) {
            count.l1_write += at->count();
            add_miss(sm, *at, mixed(at->line()));
        }
        return at;
    }
    std::uint64_t asked = 0, missed = 0, filled = 0;
    // missing(line, hash, sectors): those that L1 does not hold; again(hash, sectors): of the line of the read before.
    const auto each = [&](auto missing, auto again) {
        Access before(0, 0, Action::hits);  // is like none
        for (std::uint64_t hash = 0; at != end && at->kind() == kind; before = *at++) {
            asked += at->count();
            unsigned absent = 0;
            if (at->is_like(before)) {
                absent = again(hash, at->sectors());
            } else {
                hash = mixed(at->line());
                absent = missing(at->line(), hash, at->sectors());
            }
            if (absent == 0) continue;
            missed += sector_count(absent);
            add_miss(sm, at->with_sectors(absent), hash);
        }
    };
    const auto all = [](std::uint64_t, unsigned sectors) { return sectors; };
    if (action == Action::read && sm.has_l1)
        each([&](std::uint64_t line, std::uint64_t hash,
                 unsigned sectors) { return sm.l1.read(line, hash, sectors, filled); },
             [&](std::uint64_t hash, unsigned sectors) { return sm.l1.read_again(hash, sectors); });
    else if (action == Action::read_step)
        each([&](std::uint64_t line, std::uint64_t hash, unsigned sectors) { return merged.add(line, hash, sectors); },
             [&](std::uint64_t hash, unsigned sectors) { return merged.add(at->line(), hash, sectors); });
    else  // Merged reads are all new.
        each([](std::uint64_t, std::uint64_t, unsigned sectors) { return sectors; }, all);
    count.l1_read += asked;
    count.l1_hit += asked - missed;
    count.l1_filled += filled;
    return at;
}

void Hierarchy::look_up_group(Sm& sm, Access access, Counts& count) const {
    const std::size_t group = access.group();
    const std::span<const HashedLine> lines = stream_.groups().lines(group);
    const std::uint64_t asked = lines.size() * access.count();
    count.l1_read += asked;
    // What L1 lacks of each line, unless it is all or nothing.
    std::array<std::uint8_t, L1Cache::kMostGroup> one_by_one;
    const std::uint8_t* missing = one_by_one.data();
    std::uint64_t found = 0;
    if (access.action() == Action::read_group && sm.has_l1) {
        if (stream_.groups().alone()) {
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const unsigned absent = sm.l1.read(lines[i].line, lines[i].hash, access.sectors(), count.l1_filled);
                one_by_one[i] = static_cast<std::uint8_t>(absent);
                found += access.count() - sector_count(absent);
            }
        } else {
            found = sm.l1.touch_group(group, access.sectors(), count.l1_filled);
            missing = sm.l1.missing().data();
        }
    }
    count.l1_hit += found;
    if (found == asked) return;
    if (found == 0) {
        sm.group_misses.push_back({static_cast<std::uint32_t>(group), static_cast<std::uint8_t>(access.sectors()),
                                   static_cast<std::uint8_t>(access.count()),
                                   static_cast<std::uint8_t>(access.sent_by(sm.sender).account())});
        return;
    }
    sm.misses.reserve(lines.size());
    const L2Slice::Member* const members = members_.data() + stream_.groups().first(group);
    for (std::size_t i = 0; i < lines.size(); ++i)
        sm.misses.add_if(missing[i] != 0, members[i].access.with_sectors(missing[i]).sent_by(sm.sender),
                         members[i].slice);
}

void Hierarchy::run_slice(unsigned index) {
    L2Slice& slice = slices_[index];
    slice.wind_clock();
    for (const Round& round : std::span(rounds_).first(round_count_)) {
        slice.access(round.lines.of(index));
        for (const GroupRead& group : round.groups) slice.access_group(group);
    }
}

void Hierarchy::flush(bool counted, bool in_order) {
    for (L2Slice& slice : slices_) slice.flush(counted, in_order);
}

void Hierarchy::end_kernel() {
    for (Sm& sm : sms_) sm.l1.clear();
}

void Hierarchy::clear() {
    end_kernel();
    for (L2Slice& slice : slices_) slice.clear();
    clear_counts();
}

void Hierarchy::clear_counts() {
    for (Sm& sm : sms_) sm.counts = {};
    for (L2Slice& slice : slices_) slice.clear_counts();
}

TensorCounts Hierarchy::counts() const {
    TensorCounts total{};
    for (unsigned t = 0; t < kTensors; ++t) {
        for (const Sm& sm : sms_) total[t] += sm.counts[t];
        for (const L2Slice& slice : slices_) total[t] += slice.counts(true)[t];
    }
    return total;
}

TensorCounts Hierarchy::uncounted() const {
    TensorCounts total{};
    for (unsigned t = 0; t < kTensors; ++t)
        for (const L2Slice& slice : slices_) total[t] += slice.counts(false)[t];
    return total;
}

}  // namespace gambrel::sim_detail
