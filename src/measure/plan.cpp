#include "measure/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace gambrel::measure_detail {
namespace {

constexpr double kInnerMargin = 1.1;  // beyond the inner level's capacity by this
constexpr double kOuterMargin = 0.9;  // of the level's own, the rest is for code, stack and other lines
constexpr double kDramFactor = 4;     // of the last cache: what stays in it is then no quarter of the set
constexpr double kLongestProduct = 0.05, kModestPeak = 1e13;  // s, FLOP/s
constexpr double kLeastDram = 64.0 * 1024 * 1024;

double capacity_in_sweep(const DeviceLevel& level, Spread spread, int units) {
    const int sharers = std::min(std::max(level.sharers, 1), units);
    switch (spread) {
        case Spread::own:
            return level.capacity.value() / sharers;
        case Spread::whole:
            return level.capacity.value();
        case Spread::split:
            return level.capacity.value() * units / sharers;
    }
    return 0;
}

std::vector<Bytes> geometric(double from, double to, double per_octave) {
    std::vector<Bytes> sets;
    constexpr double kGrain = 1024;  // whole vectors of every unit
    const int count = static_cast<int>(std::ceil(std::log2(to / from) * per_octave));
    for (int i = 0; i <= count; ++i) {
        const double size = std::round(from * std::exp2(i / per_octave) / kGrain) * kGrain;
        if (size >= kGrain && (sets.empty() || Bytes{size} > sets.back())) sets.emplace_back(size);
    }
    return sets;
}

const LevelWindow* find(const std::vector<LevelWindow>& windows, Level level) {
    const auto it = std::find_if(windows.begin(), windows.end(), [&](const auto& w) { return w.level == level; });
    return it == windows.end() ? nullptr : &*it;
}

class Planner {
public:
    Planner(const DeviceInfo& info, bool quick) : info_(info), quick_(quick) {}

    void arithmetic(std::initializer_list<Pipe> pipes, std::initializer_list<Action> actions, int units = 0) {
        for (const Pipe pipe : pipes)
            for (const Action action : actions) first(Probe{.action = action, .pipe = pipe, .units = units});
    }
    void matrix() {
        for (const Pipe pipe : all_pipes())
            if (is_tensor(pipe))
                for (const MatrixPath path : {MatrixPath::warp, MatrixPath::warpgroup, MatrixPath::tensor_memory})
                    first(Probe{.action = Action::mma, .pipe = pipe, .matrix = path});
        // Where Tensor Cores do FP64, the library's FP64 product is theirs and no ceiling of the ordinary pipe.
        const bool tensor_fp64 = info_.theoretical && compute_ceiling(*info_.theoretical, Pipe::tensor_fp64);
        for (const Pipe pipe : {tensor_fp64 ? Pipe::tensor_fp64 : Pipe::fp64, Pipe::fp32, Pipe::tensor_tf32,
                                Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_fp8, Pipe::tensor_int8})
            for (const int n : quick_ ? std::vector<int>{4096} : std::vector<int>{1024, 2048, 4096, 8192, 16384})
                if (product_time(pipe, n) < kLongestProduct)
                    first(Probe{.action = Action::gemm, .pipe = pipe, .matrix = MatrixPath::library, .extent = n});
    }
    // One product must be short beside the time for all of its samples.
    [[nodiscard]] double product_time(Pipe pipe, int n) const {
        const auto roof = info_.theoretical ? compute_ceiling(*info_.theoretical, pipe) : std::nullopt;
        return 2 * std::pow(n, 3) / (roof ? roof->value.value() : kModestPeak);
    }
    void first(const Probe& probe) { plan_.first.push_back({probe, {}}); }

    // `from` and `to` are the ends of the sweep in bytes.
    void sweep(Probe probe, std::string title, double from, double to) {
        const int units = probe.units == 0 ? info_.units : probe.units;
        if (!(from > 0) || to < 2 * from) return;
        plan_.sweeps.push_back(
            {probe, std::move(title), geometric(from, to, quick_ ? 3 : 4), level_windows(info_, probe.spread, units)});
    }
    void at_level(Action action, Level level, Spread spread, int units = 0) {
        const auto windows = level_windows(info_, spread, units == 0 ? info_.units : units);
        const LevelWindow* window = find(windows, level);
        if (!window || inside(*window).value() == 0) return;
        // A chase comes back to a line only after all others: in a cache that others use too, a small set is still
        // there.
        const Bytes set = inside(*window, action == Action::chase ? 0.3 : 0.5);
        plan_.last.push_back(
            {Probe{.action = action, .pipe = Pipe::fp64, .level = level, .spread = spread, .units = units}, set});
    }
    void last(const Probe& probe, Bytes working_set) { plan_.last.push_back({probe, working_set}); }
    [[nodiscard]] double capacity(Level level) const {
        for (const DeviceLevel& l : info_.levels)
            if (l.level == level) return l.capacity.value();
        return 0;
    }
    Plan take() { return std::move(plan_); }

private:
    const DeviceInfo& info_;
    bool quick_;
    Plan plan_;
};

double dram_set(const DeviceInfo& info, Spread spread, int units) {
    const auto windows = level_windows(info, spread, units);
    const LevelWindow* dram = find(windows, Level::dram);
    return dram ? inside(*dram).value() : kLeastDram;
}

Plan host_plan(const DeviceInfo& info, bool quick) {
    Planner p(info, quick);
    p.arithmetic({Pipe::fp64, Pipe::fp32}, {Action::fma, Action::add, Action::multiply});
    if (info.units > 1) p.arithmetic({Pipe::fp64, Pipe::fp32}, {Action::fma, Action::add}, 1);
    const double l1 = p.capacity(Level::l1) > 0 ? p.capacity(Level::l1) : 32 * 1024;
    p.sweep({.action = Action::load, .pipe = Pipe::fp64}, "load, each core a set of its own", l1 / 8,
            dram_set(info, Spread::own, info.units) * 1.5);
    if (info.units > 1 && !quick)
        p.sweep({.action = Action::load, .pipe = Pipe::fp64, .units = 1}, "load, one core", l1 / 8,
                dram_set(info, Spread::own, 1) * 1.5);
    for (const Level level : {Level::l1, Level::l2, Level::l3, Level::dram}) {
        for (const Action action : {Action::store, Action::copy, Action::triad})
            if (!quick || level == Level::dram) p.at_level(action, level, Spread::own);
        p.at_level(Action::chase, level, Spread::own, 1);
    }
    return p.take();
}

Plan gpu_plan(const DeviceInfo& info, bool quick) {
    Planner p(info, quick);
    p.first({.action = Action::empty});
    p.arithmetic({Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::bf16, Pipe::int32}, {Action::fma});
    p.arithmetic({Pipe::fp64, Pipe::fp32}, {Action::add, Action::multiply});
    p.matrix();
    const double l1 = p.capacity(Level::l1), l2 = p.capacity(Level::l2);
    p.sweep({.action = Action::load}, "load, each SM a set of its own", l1 / 16, l1 * 4);
    p.sweep({.action = Action::load, .spread = Spread::whole}, "load, all SMs the same set", l1 / 4, l2);
    p.sweep({.action = Action::load, .spread = Spread::split}, "load, one set divided among the SMs", l2 / 8,
            dram_set(info, Spread::split, info.units) * 2);
    if (p.capacity(Level::shared) > 0)
        p.last({.action = Action::load, .level = Level::shared}, Bytes{p.capacity(Level::shared) / 2});
    for (const Action action : {Action::store, Action::copy, Action::triad})
        p.at_level(action, Level::dram, Spread::split);
    if (p.capacity(Level::shared) > 0)
        p.last({.action = Action::chase, .level = Level::shared, .units = 1}, Bytes{p.capacity(Level::shared) / 2});
    for (const Level level : {Level::l1, Level::l2, Level::l3, Level::dram})
        p.at_level(Action::chase, level, Spread::own, 1);
    for (const Action action : {Action::host_to_device, Action::device_to_host})
        p.last({.action = action}, Bytes{kLeastDram});
    return p.take();
}

}  // namespace

std::vector<LevelWindow> level_windows(const DeviceInfo& info, Spread spread, int units) {
    std::vector<LevelWindow> windows;
    double inner = 0;
    for (const DeviceLevel& level : info.levels) {
        if (level.level == Level::shared || level.level == Level::dram) continue;
        const double end = capacity_in_sweep(level, spread, units);
        if (end <= inner) continue;
        windows.push_back({level.level, inner, end});
        inner = end;
    }
    // Units that all walk one set follow the first that reads a line: the last cache serves them whatever its size.
    constexpr double kEnd = std::numeric_limits<double>::infinity();
    if (spread != Spread::whole || windows.empty()) windows.push_back({Level::dram, inner, kEnd});
    return windows;
}

Bytes inside(const LevelWindow& w, double part) {
    if (std::isinf(w.to)) return Bytes{std::max(kDramFactor * w.from, kLeastDram)};
    const double low = kInnerMargin * w.from, high = kOuterMargin * w.to;
    if (low >= high) return Bytes{0};
    const double set = w.from > 0 ? low * std::pow(high / low, part) : high / 2;
    return Bytes{std::floor(set / 1024) * 1024};
}

std::string misfit(Bytes set, const LevelWindow& w) {
    const double low = std::isinf(w.to) ? 2 * w.from : w.from, high = w.to;
    if (set.value() > low && set.value() <= high) return {};
    const std::string end = std::isinf(w.to) ? "" : fmt::format(" to {}", binary_text(Bytes{w.to}));
    return fmt::format(
        "the working set of {} is not one of {}, which serves {}{}", binary_text(set), name(w.level),
        std::isinf(w.to) ? "twice " + binary_text(Bytes{w.from}) + " and more" : binary_text(Bytes{w.from}), end);
}

Plan plan_for(const DeviceInfo& info, bool quick) {
    return info.kind == "host" ? host_plan(info, quick) : gpu_plan(info, quick);
}

}  // namespace gambrel::measure_detail
