#include "explore/known_fits.hpp"

#include <bit>

namespace gambrel::explore_detail {

std::size_t KnownFits::Hash::operator()(const Key& key) const {
    std::uint64_t mix = 0;
    for (const double value : {key.registers, key.shared, key.l2})
        mix = (mix ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15, mix ^= mix >> 32;
    return static_cast<std::size_t>(mix);
}

bool KnownFits::fill(const Key& key, Fits& fits) {
    const Bytes more_shared = limits_.shared_memory * (key.shared - 1);
    const bool unified = limits_.architecture->l1_holds_shared_memory;
    SmLimits limits = limits_;
    limits.registers *= key.registers;
    limits.shared_memory += more_shared;
    limits.shared_memory_per_cta *= key.shared;
    if (unified) limits.l1 += more_shared;
    for (std::size_t i = 0; i < prepared_.footprints.size(); ++i) {
        Occupancy o = occupancy(limits, prepared_.footprints[i]);
        if (unified && more_shared != Bytes{}) {
            // The steps of the carve-out end at what was built; beyond them L1 has what the CTAs leave.
            const Bytes used = o.ctas_per_sm * prepared_.footprints[i].shared_memory;
            o.l1 = std::clamp(limits.l1 - used, Bytes{}, std::min(o.l1, limits_.l1));
        }
        const auto slot = placements_.slot(i, o, Bytes{key.l2});
        if (!slot) return false;
        fits.push_back({o, *slot});
    }
    return true;
}

const Fits* KnownFits::on(const Factors& f, Bytes l2_capacity) {
    const Key key{f[Resource::registers], f[Resource::shared], l2_capacity.value()};
    if (const auto known = fits_.find(key); known != fits_.end()) return &known->second;
    constexpr std::size_t kMost = 4096;
    Fits fits;
    if (fits_.size() == kMost || !fill(key, fits)) return nullptr;
    return &fits_.emplace(key, std::move(fits)).first->second;
}

void KnownFits::forget() {
    fits_.clear();
    placements_.forget();
}

}  // namespace gambrel::explore_detail
