#include "measure/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "measure/gpu/tensor_kernels.hpp"
#include "measure/gpu/walk.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr double kInnerMargin = 1.1;  // beyond the inner level's capacity by this
constexpr double kOuterMargin = 0.9;  // of the level's own, the rest is for code, stack and other lines
constexpr double kDramFactor = 4;     // of the last cache: what stays in it is then no quarter of the set
constexpr double kLongestProduct = 0.05, kModestPeak = 1e13;  // s, FLOP/s
constexpr double kLeastDram = 64.0 * 1024 * 1024;

double capacity_in_sweep(const DeviceLevel& level, WorkingSetSharing sharing, int units) {
    const int sharers = std::min(std::max(level.sharers, 1), units);
    switch (sharing) {
        case WorkingSetSharing::own:
            return level.capacity.value() / sharers;
        case WorkingSetSharing::whole:
            return level.capacity.value();
        case WorkingSetSharing::split:
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

// An eighth of the memory.
double small_part(const DeviceInfo& info) {
    for (const DeviceLevel& l : info.levels)
        if (l.level == Level::dram) return l.capacity.value() / 8;
    return kLeastDram;
}

class Planner {
public:
    Planner(const DeviceInfo& info, bool quick) : info_(info), quick_(quick) {}

    void arithmetic(std::initializer_list<Pipe> pipes, std::initializer_list<ProbeAction> actions, int units = 0) {
        for (const Pipe pipe : pipes)
            for (const ProbeAction action : actions) first(Probe{.action = action, .pipe = pipe, .units = units});
    }
    void matrix(MatrixPath path, std::vector<CeilingStep>& to) const {
        for (const Pipe pipe : all_pipes())
            if (is_tensor(pipe)) to.push_back({Probe{.action = ProbeAction::mma, .pipe = pipe, .matrix = path}, {}});
        if (info_.kind != DeviceKind::cuda || !info_.compute_capability) return;
        const int cc = info_.compute_capability->major * 10 + info_.compute_capability->minor;
        for (const TensorKernel& row : tensor_kernels())
            if (row.variant != MatrixVariant::usual && row.path == path && cc >= row.first_cc && cc <= row.last_cc)
                to.push_back({probe_of(row), {}});
    }
    void warp_matrix() { matrix(MatrixPath::warp, plan_.first); }
    // Asynchronous matrix instructions and a foreign library: a fault of theirs would take the GPU's context, and all
    // that is measured after it, along.
    void risky_matrix() {
        matrix(MatrixPath::warpgroup, plan_.last);
        matrix(MatrixPath::tensor_memory, plan_.last);
        // Where Tensor Cores do FP64, the library's FP64 product is theirs and not a ceiling of the ordinary pipe.
        const Probe on_tensor_cores{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp64};
        const bool tensor_fp64 =
            info_.compute_capability && find_tensor_kernel(on_tensor_cores, *info_.compute_capability, true) != nullptr;
        for (const Pipe pipe : {tensor_fp64 ? Pipe::tensor_fp64 : Pipe::fp64, Pipe::fp32, Pipe::tensor_tf32,
                                Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_fp8, Pipe::tensor_int8})
            for (const int n : quick_ ? std::vector<int>{4096} : std::vector<int>{1024, 2048, 4096, 8192, 16384})
                if (product_time(pipe, n) < kLongestProduct) {
                    Probe probe{.action = ProbeAction::gemm, .pipe = pipe, .matrix = MatrixPath::library, .extent = n};
                    last(probe, {});
                    probe.variant = MatrixVariant::fast_accumulation;
                    if (pipe == Pipe::tensor_fp8 && adds_fp8_fast()) last(probe, {});
                }
    }
    // Before cc 10 the library adds FP8 products twice over for precision, unless it is asked not to.
    [[nodiscard]] bool adds_fp8_fast() const {
        return info_.kind == DeviceKind::cuda && info_.compute_capability &&
               *info_.compute_capability >= ComputeCapability{8, 9} && info_.compute_capability->major < 10;
    }
    // One product must be short beside the time for all of its samples.
    [[nodiscard]] double product_time(Pipe pipe, int n) const {
        const auto roof = info_.theoretical ? compute_ceiling(*info_.theoretical, pipe) : std::nullopt;
        return 2 * std::pow(n, 3) / (roof ? roof->value.value() : kModestPeak);
    }
    void first(const Probe& probe) { plan_.first.push_back({probe, {}}); }

    // `from` and `to` are the ends of the sweep in bytes.
    void sweep(Probe probe, std::string title, double from, double to, Bytes least = {}) {
        const int units = probe.units == 0 ? info_.units : probe.units;
        if (!(from > 0) || to < 2 * from) return;
        plan_.sweeps.push_back({probe, std::move(title), geometric(from, to, quick_ ? 3 : 4),
                                level_windows(info_, probe.sharing, units), least});
    }
    void at_level(ProbeAction action, Level level, WorkingSetSharing sharing, int units = 0) {
        const auto windows = level_windows(info_, sharing, units == 0 ? info_.units : units);
        const LevelWindow* window = find(windows, level);
        if (!window || inside(*window).value() == 0) return;
        // A chase comes back to a line only after all others: in a cache that others use too, a small set is still
        // there.
        const Bytes set = inside(*window, action == ProbeAction::chase ? 0.3 : 0.5, small_part(info_));
        plan_.last.push_back(
            {Probe{.action = action, .pipe = Pipe::fp64, .level = level, .sharing = sharing, .units = units}, set});
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

double dram_set(const DeviceInfo& info, WorkingSetSharing sharing, int units) {
    const auto windows = level_windows(info, sharing, units);
    const LevelWindow* dram = find(windows, Level::dram);
    return dram ? inside(*dram, 0.5, small_part(info)).value() : kLeastDram;
}

Plan host_plan(const DeviceInfo& info, bool quick) {
    Planner p(info, quick);
    p.arithmetic({Pipe::fp64, Pipe::fp32}, {ProbeAction::fma, ProbeAction::add, ProbeAction::multiply});
    if (info.units > 1) p.arithmetic({Pipe::fp64, Pipe::fp32}, {ProbeAction::fma, ProbeAction::add}, 1);
    const double l1 = p.capacity(Level::l1) > 0 ? p.capacity(Level::l1) : 32 * 1024;
    p.sweep({.action = ProbeAction::load, .pipe = Pipe::fp64}, "load, each core a set of its own", l1 / 8,
            dram_set(info, WorkingSetSharing::own, info.units) * 1.5);
    if (info.units > 1 && !quick)
        p.sweep({.action = ProbeAction::load, .pipe = Pipe::fp64, .units = 1}, "load, one core", l1 / 8,
                dram_set(info, WorkingSetSharing::own, 1) * 1.5);
    for (const Level level : {Level::l1, Level::l2, Level::l3, Level::dram}) {
        for (const ProbeAction action : {ProbeAction::store, ProbeAction::copy, ProbeAction::triad})
            if (!quick || level == Level::dram) p.at_level(action, level, WorkingSetSharing::own);
        p.at_level(ProbeAction::chase, level, WorkingSetSharing::own, 1);
    }
    return p.take();
}

// A smaller set has fewer tiles than groups walk at a time.
Bytes a_tile_for_each_group(const DeviceInfo& info) {
    Target target;
    target.vec_words = info.compute_capability && info.compute_capability->major >= 10 ? 8 : 4;
    const Shape shape = memory_shape(target, std::int64_t{1} << 30);
    const auto groups = memory_groups(target, WorkingSetSharing::whole, shape, info.units);
    return Bytes(static_cast<double>(groups) * static_cast<double>(tile_bytes(target, shape)));
}

Plan gpu_plan(const DeviceInfo& info, bool quick) {
    Planner p(info, quick);
    p.first({.action = ProbeAction::empty});
    p.arithmetic({Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::bf16, Pipe::int32}, {ProbeAction::fma});
    p.arithmetic({Pipe::fp64, Pipe::fp32}, {ProbeAction::add, ProbeAction::multiply});
    p.warp_matrix();
    const double l1 = p.capacity(Level::l1), l2 = p.capacity(Level::l2);
    p.sweep({.action = ProbeAction::load}, "load, each SM a set of its own", l1 / 16, l1 * 4);
    p.sweep({.action = ProbeAction::load, .sharing = WorkingSetSharing::whole}, "load, all SMs the same set", l1 / 4,
            l2, a_tile_for_each_group(info));
    p.sweep({.action = ProbeAction::load, .sharing = WorkingSetSharing::split}, "load, one set divided among the SMs",
            l2 / 8, dram_set(info, WorkingSetSharing::split, info.units) * 2);
    if (p.capacity(Level::shared) > 0)
        p.last({.action = ProbeAction::load, .level = Level::shared}, Bytes{p.capacity(Level::shared) / 2});
    for (const ProbeAction action : {ProbeAction::store, ProbeAction::copy, ProbeAction::triad})
        p.at_level(action, Level::dram, WorkingSetSharing::split);
    if (p.capacity(Level::shared) > 0)
        p.last({.action = ProbeAction::chase, .level = Level::shared, .units = 1},
               Bytes{p.capacity(Level::shared) / 2});
    for (const Level level : {Level::l1, Level::l2, Level::l3, Level::dram})
        p.at_level(ProbeAction::chase, level, WorkingSetSharing::own, 1);
    for (const ProbeAction action : {ProbeAction::host_to_device, ProbeAction::device_to_host})
        p.last({.action = action}, Bytes{kLeastDram});
    p.risky_matrix();
    return p.take();
}

}  // namespace

std::vector<LevelWindow> level_windows(const DeviceInfo& info, WorkingSetSharing sharing, int units) {
    std::vector<LevelWindow> windows;
    double inner = 0;
    for (const DeviceLevel& level : info.levels) {
        if (level.level == Level::shared || level.level == Level::dram) continue;
        // On GPUs, sets that SMs have in common are loaded past the L1.
        if (info.kind != DeviceKind::host && sharing != WorkingSetSharing::own && level.level == Level::l1) continue;
        const double end = capacity_in_sweep(level, sharing, units);
        if (end <= inner) continue;
        windows.push_back({level.level, inner, end});
        inner = end;
    }
    // Units that all walk one set follow the first that reads a line: the last cache serves them whatever its size.
    constexpr double kEnd = std::numeric_limits<double>::infinity();
    if (sharing != WorkingSetSharing::whole || windows.empty()) windows.push_back({Level::dram, inner, kEnd});
    return windows;
}

Bytes inside(const LevelWindow& w, double part, double most) {
    if (std::isinf(w.to)) return Bytes{std::max(kDramFactor * w.from, std::min(kLeastDram, most))};
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
    return info.kind == DeviceKind::host ? host_plan(info, quick) : gpu_plan(info, quick);
}

}  // namespace gambrel::measure_detail
