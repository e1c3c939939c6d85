// Functions of placement.hpp for several designs, compiled once for each width of vectors: at_once.cpp chooses.
#pragma once

#include "delta/least_formula.hpp"
#include "delta/streaming_formula.hpp"

namespace gambrel::delta_detail {

// ModelInputs of several designs, from one lane's on.
template <int kWidth>
struct LaneInputs {
    using Number = Lanes<kWidth>;
    struct Rates {
        const PerPipe<FlopPerCycle>& of_start;
        Number macs;
        auto operator[](Pipe pipe) const { return of_start[pipe] * macs; }
    };
    template <int B, int F, int S, int C>
    static auto of(const DesignRates* const* designs, Quantity<B, F, S, C> DesignRates::*field) {
        return Quantity<B, F, S, C, Number>{Number::made([&](int lane) { return (designs[lane]->*field).value(); })};
    }
    static Number of(const DesignRates* const* designs, double DesignRates::*field) {
        return Number::made([&](int lane) { return designs[lane]->*field; });
    }

    LaneInputs(const Designs& designs, std::size_t first) : LaneInputs(designs, &designs.rates[first]) {}
    LaneInputs(const Designs& designs, const DesignRates* const* rates)
        : clock(of(rates, &DesignRates::clock)),
          sms(designs.sms),
          schedulers(of(rates, &DesignRates::schedulers)),
          flop_per_cycle{designs.start->flop_per_cycle, of(rates, &DesignRates::macs)},
          shared_width(of(rates, &DesignRates::shared_width)),
          l1_width(of(rates, &DesignRates::l1_width)),
          l2_bandwidth(of(rates, &DesignRates::l2_bandwidth)),
          dram_bandwidth(of(rates, &DesignRates::dram_bandwidth)),
          fed(of(rates, &DesignRates::fed)),
          l2_latency(designs.start->l2_latency),
          dram_latency(designs.start->dram_latency),
          burst(designs.start->burst),
          matrix_clock(designs.start->matrix_clock),
          check_bits(designs.start->check_bits),
          launch(designs.start->launch),
          calibration(designs.start->calibration) {}

    [[nodiscard]] auto l1_width_of_all() const { return l1_width * sms; }

    Quantity<0, 0, -1, 1, Number> clock;
    double sms;
    Number schedulers;
    Rates flop_per_cycle;
    Quantity<1, 0, 0, -1, Number> shared_width, l1_width;
    Quantity<1, 0, -1, 0, Number> l2_bandwidth, dram_bandwidth;
    Quantity<0, 1, -1, 0, Number> fed;
    Cycles l2_latency, dram_latency;
    double burst, matrix_clock, check_bits;
    Seconds launch;
    const Calibration* calibration;
};

struct AtOnceFunctions {
    void (*tiled)(const LaunchCounts&, const Designs&, PerDesign&);
    void (*streaming)(const StreamingCounts&, const Designs&, PerDesign&);
    void (*units)(const Designs&, Pipe, UnitTimes&);
    void (*least)(const LeastWork&, std::span<const UnitTimes>, PerDesign*);
    void (*take_less)(std::span<const double>, double number, double* least, double* numbers);
};

template <int kWidth>
void put(Lanes<kWidth> lanes, PerDesign& to, std::size_t first) {
    for (int i = 0; i < kWidth; ++i) to[first + static_cast<std::size_t>(i)] = lanes[i];
}
template <int kWidth>
Lanes<kWidth> taken_from(const PerDesign& from, std::size_t first) {
    return Lanes<kWidth>::made([&](int i) { return from[first + static_cast<std::size_t>(i)]; });
}

template <int kWidth>
constexpr AtOnceFunctions at_once_in_lanes() {
    AtOnceFunctions f{};
    f.tiled = [](const LaunchCounts& n, const Designs& designs, PerDesign& times) {
        for (std::size_t i = 0; i < kAtOnce; i += kWidth)
            put(time_of_counts(n, LaneInputs<kWidth>(designs, i)).value(), times, i);
    };
    f.streaming = [](const StreamingCounts& n, const Designs& designs, PerDesign& times) {
        for (std::size_t i = 0; i < kAtOnce; i += kWidth) {
            BasicTimeTerms<Lanes<kWidth>> terms;
            put(time_of_counts(n, LaneInputs<kWidth>(designs, i), terms).value(), times, i);
        }
    };
    f.units = [](const Designs& designs, Pipe pipe, UnitTimes& to) {
        for (std::size_t i = 0; i < kAtOnce; i += kWidth) {
            const auto u = unit_times_of(LaneInputs<kWidth>(designs, i), pipe);
            put(u.flop.value(), to.flop, i);
            put(u.slot.value(), to.slot, i);
            put(u.cycle.value(), to.cycle, i);
            put(u.shared.value(), to.shared, i);
            put(u.l1.value(), to.l1, i);
            put(u.l2.value(), to.l2, i);
            put(u.dram.value(), to.dram, i);
        }
    };
    f.least = [](const LeastWork& w, std::span<const UnitTimes> units, PerDesign* times) {
        for (const UnitTimes& u : units) {
            for (std::size_t i = 0; i < kAtOnce; i += kWidth) {
                const auto lanes = [i](const PerDesign& of) { return taken_from<kWidth>(of, i); };
                using Number = Lanes<kWidth>;
                BasicUnitTimes<Number> unit;
                unit.flop = decltype(unit.flop){lanes(u.flop)};
                unit.slot = decltype(unit.slot){lanes(u.slot)};
                unit.cycle = decltype(unit.cycle){lanes(u.cycle)};
                unit.shared = decltype(unit.shared){lanes(u.shared)};
                unit.l1 = decltype(unit.l1){lanes(u.l1)};
                unit.l2 = decltype(unit.l2){lanes(u.l2)};
                unit.dram = decltype(unit.dram){lanes(u.dram)};
                put(least_time_of(w, unit).value(), *times, i);
            }
            ++times;
        }
    };
    f.take_less = [](std::span<const double> bounds, double number, double* least, double* numbers) {
        using Number = Lanes<kWidth>;
        std::size_t i = 0;
        for (; i + kWidth <= bounds.size(); i += kWidth) {
            const auto lanes = [i](const double* from) {
                return Number::made([&](int lane) { return from[i + static_cast<std::size_t>(lane)]; });
            };
            const Number bound = lanes(&bounds[0]), before = lanes(least), of = lanes(numbers);
            const Number found = smaller(before, bound), by = select(bound < before, Number{number}, of);
            for (int lane = 0; lane < kWidth; ++lane) {
                least[i + static_cast<std::size_t>(lane)] = found[lane];
                numbers[i + static_cast<std::size_t>(lane)] = by[lane];
            }
        }
        for (; i < bounds.size(); ++i)
            if (bounds[i] < least[i]) least[i] = bounds[i], numbers[i] = number;
    };
    return f;
}

// Null where the build has no such vectors.
const AtOnceFunctions* at_once_avx2();
const AtOnceFunctions* at_once_avx512();

}  // namespace gambrel::delta_detail
