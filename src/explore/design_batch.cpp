#include "explore/design_batch.hpp"

#include <algorithm>

namespace gambrel::explore_detail {
namespace {

constexpr double kNone = -1;  // no choice

}  // namespace

void DesignBatch::begin(KnownFits& fits) {
    fits_ = &fits;
    factors_.clear();
    rates_.clear();
    fits_of_.clear();
    inputs_of_.clear();
    inputs_.clear();
    ordered_ = false;
}

bool DesignBatch::add(const Factors& f) {
    if (factors_.size() == kMost) return false;
    const Fits* const fits = fits_->on(f, scaled_l2(hardware_, f));
    if (fits == nullptr) return false;
    sms_ = scaled_sms(hardware_, f);
    factors_.push_back(f);
    rates_.push_back(scaled_rates(hardware_, f));
    fits_of_.push_back(fits);
    inputs_of_.push_back(0);
    ordered_ = false;
    return true;
}

const ModelInputs& DesignBatch::inputs(std::uint32_t design) {
    std::uint32_t& place = inputs_of_[design];
    if (place == 0) {
        inputs_.push_back(scaled(hardware_, factors_[design]));
        place = static_cast<std::uint32_t>(inputs_.size());
    }
    return inputs_[place - 1];
}

Designs DesignBatch::together(const std::uint32_t* designs, std::size_t count) const {
    Designs all{&hardware_, sms_, {}};
    for (std::size_t i = 0; i < kAtOnce; ++i) all.rates[i] = &rates_[designs[std::min(i, count - 1)]];
    return all;
}

// By counting: slots are numbered from 0.
void DesignBatch::put_in_order(std::size_t footprint) {
    InOrder& order = in_order_[footprint];
    order.designs.clear();
    order.runs.clear();
    order.units.clear();
    order.seen.clear();
    for (const Fits* fits : fits_of_) order.seen.push_back(&(*fits)[footprint]);
    next_.clear();
    std::size_t fitting = 0;
    for (const Fit* seen : order.seen) {
        const Fit& fit = *seen;
        if (fit.occupancy.ctas_per_sm <= 0) continue;
        if (fit.slot >= next_.size()) next_.resize(fit.slot + 1);
        ++next_[fit.slot];
        ++fitting;
    }
    order.all = fitting == fits_of_.size();
    std::uint32_t first = 0;
    for (std::uint32_t& count : next_) {
        const std::uint32_t end = first + count;
        if (count > 0) order.runs.push_back({first, end});
        count = first;
        constexpr auto kBlock = static_cast<std::uint32_t>(kAtOnce);
        first = (end + kBlock - 1) / kBlock * kBlock;
    }
    order.designs.resize(first);
    for (std::size_t i = 0; i < fits_of_.size(); ++i)
        if (const Fit& fit = *order.seen[i]; fit.occupancy.ctas_per_sm > 0)
            order.designs[next_[fit.slot]++] = static_cast<std::uint32_t>(i);
    const Pipe pipe = fits_->prepared().footprints[footprint].pipe;
    for (const Run& run : order.runs) {
        for (std::size_t at = run.first; at < run.last; at += kAtOnce)
            order.units.push_back(unit_times(together(&order.designs[at], std::min(kAtOnce, run.last - at)), pipe));
    }
}

void DesignBatch::put_in_order() {
    in_order_.resize(fits_->prepared().footprints.size());
    for (std::size_t i = 0; i < in_order_.size(); ++i) put_in_order(i);
    ordered_ = true;
}

void DesignBatch::judge(std::size_t number) {
    const Choice& choice = (*choices_)[number];
    const InOrder& order = in_order_[choice.footprint];
    std::vector<double>& bounds = bounds_[number];
    bounds.resize(fits_of_.size());
    if (!order.all) std::fill(bounds.begin(), bounds.end(), kNever);
    for (const Run& run : order.runs) {
        const std::size_t block = run.first / kAtOnce, blocks = (run.last - run.first + kAtOnce - 1) / kAtOnce;
        if (found_.size() < blocks) found_.resize(blocks);
        const std::uint32_t slot = order.seen[order.designs[run.first]]->slot;
        least_times(fits_->placements().least(choice, slot), {&order.units[block], blocks}, found_.data());
        const double* const found = found_[0].data();
        for (std::size_t i = run.first; i < run.last; ++i) bounds[order.designs[i]] = found[i - run.first];
    }
}

// Of equals the first in order wins, whatever was evaluated before.
void DesignBatch::evaluate(std::size_t number, const Fit& fit, const std::uint32_t* designs, std::size_t count) {
    const Choice& choice = (*choices_)[number];
    const PreparedLayer& layer = choice.candidate->layer;
    Placements& placements = fits_->placements();
    if (!placements.known(choice, fit.slot)) placements.place(choice, fit.slot, fit.occupancy, inputs(designs[0]));
    const Placement::Basis& basis = placements.basis(choice, fit.slot);
    PerDesign found;
    if (!predicted_times(basis, together(designs, count), found))
        for (std::size_t i = 0; i < count; ++i)
            found[i] = predicted_time(layer, fit.occupancy, inputs(designs[i]), basis).value();
    const auto own = static_cast<std::int64_t>(number);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t d = designs[i];
        if (found[i] < times_[d] || (found[i] == times_[d] && own < chosen_[d])) times_[d] = found[i], chosen_[d] = own;
    }
}

// Designs that see the same stand together in `wanted_`.
void DesignBatch::evaluate_wanted(std::size_t number, std::size_t count) {
    const InOrder& order = in_order_[(*choices_)[number].footprint];
    for (std::size_t first = 0, last = 0; first < count; first = last) {
        const Fit& fit = *order.seen[wanted_[first]];
        const std::size_t most = std::min(count, first + kAtOnce);
        for (last = first + 1; last < most && order.seen[wanted_[last]]->slot == fit.slot;) ++last;
        evaluate(number, fit, &wanted_[first], last - first);
    }
}

// Nobody can guess for which designs a choice is wanted, so there is no branch.
template <class Wanted>
void DesignBatch::evaluate_where(std::size_t number, Wanted wanted) {
    const InOrder& order = in_order_[(*choices_)[number].footprint];
    std::size_t count = 0;
    for (const Run& run : order.runs)
        for (std::size_t i = run.first; i < run.last; ++i) {
            wanted_[count] = order.designs[i];
            count += static_cast<std::size_t>(wanted(order.designs[i]));
        }
    evaluate_wanted(number, count);
}

void DesignBatch::find_likely(std::size_t choices) {
    const std::size_t n = fits_of_.size();
    if (bounds_.size() < choices) bounds_.resize(choices);
    least_.bounds.assign(n, kNever);
    least_.numbers.assign(n, kNone);
    for (std::size_t c = 0; c < choices; ++c) {
        judge(c);
        take_less(bounds_[c], static_cast<double>(c), least_);
    }
}

// The choice with the least bound goes first: it is nearly always the fastest, and then no other needs a prediction.
const std::vector<double>& DesignBatch::times(std::size_t layer) {
    if (!ordered_) put_in_order();
    choices_ = &fits_->prepared().choices[layer];
    const std::size_t n = fits_of_.size(), choices = choices_->size();
    times_.assign(n, kNever);
    chosen_.assign(n, -1);
    wanted_.resize(n + 1);
    if (choices == 1) {
        evaluate_where(0, [](std::uint32_t) { return true; });
        return times_;
    }
    find_likely(choices);
    const std::vector<double>& likely = least_.numbers;
    for (std::size_t c = 0; c < choices; ++c) {
        const auto number = static_cast<double>(c);
        std::size_t wanting = 0;
        for (std::size_t i = 0; i < n; ++i) wanting += static_cast<std::size_t>(likely[i] == number);
        if (wanting > 0) evaluate_where(c, [&](std::uint32_t i) { return likely[i] == number; });
    }
    // What was evaluated is not evaluated again.
    for (std::size_t i = 0; i < n; ++i)
        if (likely[i] != kNone) bounds_[static_cast<std::size_t>(likely[i])][i] = kNever;
    for (std::size_t c = 0; c < choices; ++c) {
        const double *const bound = bounds_[c].data(), *const time = times_.data();
        std::size_t hopeful = 0;
        for (std::size_t i = 0; i < n; ++i) hopeful += static_cast<std::size_t>(bound[i] <= time[i]);
        if (hopeful > 0) evaluate_where(c, [&](std::uint32_t i) { return bound[i] <= time[i]; });
    }
    return times_;
}

const Choice* DesignBatch::chosen() const {
    return chosen_[0] < 0 ? nullptr : &(*choices_)[static_cast<std::size_t>(chosen_[0])];
}

}  // namespace gambrel::explore_detail
