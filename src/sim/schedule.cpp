#include "sim/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace gambrel::sim_detail {
namespace {

// std::normal_distribution is not the same in every standard library; results must be.
double gaussian(std::mt19937_64& random) {
    const auto uniform = [&] { return (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace

Schedule::Schedule(const AddressStream& stream, Shape shape, Contention contention, std::uint64_t seed,
                   std::int64_t first, std::int64_t end)
    : stream_(stream),
      contention_(contention),
      keep_(std::exp(-1 / std::max(1e-3, contention.memory))),
      next_(first),
      end_(end),
      sms_(shape.sms),
      leaves_(std::bit_ceil(std::size_t{shape.sms})),
      turns_(2 * leaves_),
      random_(seed) {
    // Each competitor adds its variance; alone on its SM a CTA has nobody to lose slots to.
    contention_.spread *= std::sqrt(static_cast<double>(shape.ctas_per_sm) - 1);
    fresh_ = std::sqrt(1 - keep_ * keep_) * contention_.spread;
    for (Sm& sm : sms_) sm.slots.resize(shape.ctas_per_sm);
    for (std::uint32_t slot = 0; slot < shape.ctas_per_sm; ++slot)
        for (std::uint32_t sm = 0; sm < shape.sms && next_ < end_; ++sm) {
            launch(sm, slot);
            Resident& resident = sms_[sm].slots[slot];
            if (shape.in_progress)
                resident.step = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(resident.steps + 1));
        }
    for (std::uint32_t sm = 0; sm < shape.sms; ++sm)
        if (sms_[sm].residents > 0) put(turn_of(sm));
}

void Schedule::launch(std::uint32_t sm, std::uint32_t slot) {
    Sm& where = sms_[sm];
    where.slots[slot] = {next_, 0, stream_.steps(next_), false, where.clock, 0};
    ++where.residents;
    ++next_;
}

void Schedule::advance(Sm& sm, double time) const {
    if (sm.residents > 0) sm.clock += (time - sm.since) / sm.residents;
    sm.since = time;
}

Schedule::Turn Schedule::turn_of(std::uint32_t sm) const {
    const Sm& where = sms_[sm];
    Turn turn{std::numeric_limits<double>::infinity(), sm, 0};
    double due = turn.time;
    for (std::uint32_t slot = 0; slot < where.slots.size(); ++slot) {
        if (where.slots[slot].cta >= 0 && where.slots[slot].due < due) {
            due = where.slots[slot].due;
            turn.slot = slot;
        }
    }
    turn.time = where.since + std::max(0.0, due - where.clock) * where.residents;
    return turn;
}

void Schedule::put(Turn turn) {
    std::size_t at = leaves_ + turn.sm;
    turns_[at] = turn;
    // Of each pair the earlier one, without a branch, which the host could not predict, and in registers, because to
    // load what was just stored takes longer than to choose. Times are not negative, so they compare as their bits do.
    using Words = std::array<std::uint64_t, 2>;
    auto earlier = std::bit_cast<Words>(turn);
    for (; at > 1; at /= 2) {
        const auto other = std::bit_cast<Words>(turns_[at ^ 1U]);
        // Of equal times the SM with the lower number is first.
        const std::uint64_t changes = other[0] < earlier[0] + at % 2 ? ~std::uint64_t{0} : 0;
        for (std::size_t i = 0; i < earlier.size(); ++i) earlier[i] ^= (earlier[i] ^ other[i]) & changes;
        turns_[at / 2] = std::bit_cast<Turn>(earlier);
    }
}

void Schedule::take_step(Resident& resident) {
    ++resident.step;
    resident.due += 1;
    if (contention_.spread > 0) {
        const double lead = keep_ * resident.lead + fresh_ * gaussian(random_);
        resident.due -= lead - resident.lead;
        resident.lead = lead;
    }
}

void Schedule::next(std::size_t limit, std::vector<Event>& events) {
    events.clear();
    while (events.size() < limit && turns_[1].time < std::numeric_limits<double>::infinity()) {
        const Turn turn = turns_[1];
        Sm& sm = sms_[turn.sm];
        advance(sm, turn.time);
        Resident& resident = sm.slots[turn.slot];
        const bool last = resident.step >= resident.steps;
        events.push_back(
            {resident.cta, resident.step, turn.sm, turn.slot, !std::exchange(resident.started, true), last});
        if (!last) {
            take_step(resident);
        } else {
            resident.cta = -1;
            --sm.residents;
            if (next_ < end_) launch(turn.sm, turn.slot);
        }
        put(sm.residents > 0 ? turn_of(turn.sm) : Turn{.sm = turn.sm});
    }
}

}  // namespace gambrel::sim_detail
