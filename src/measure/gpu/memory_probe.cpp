#include <algorithm>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"
#include "measure/gpu/programs.hpp"
#include "measure/gpu/walk.hpp"

namespace gambrel::measure_detail {

namespace {

constexpr double kTriadScale = 3;

int arrays_of(ProbeAction action) { return action == ProbeAction::triad ? 3 : action == ProbeAction::copy ? 2 : 1; }

// Through all caches, or past the L1.
bool is_near(const Probe& probe) {
    return probe.level ? *probe.level == Level::l1 : probe.sharing == WorkingSetSharing::own;
}

class MemoryProbe final : public PreparedProbe {
public:
    MemoryProbe(const Gpu& gpu, const Probe& probe, const Target& target)
        : backend_(gpu.backend),
          probe_(probe),
          target_(target),
          units_(probe.units > 0 ? std::min(probe.units, gpu.units) : gpu.units),
          near_(is_near(probe)),
          programs_(*gpu.backend) {}

    Result<void> build(Bytes largest) {
        const std::int64_t each = static_cast<std::int64_t>(largest.value()) / arrays_of(probe_.action);
        const std::int64_t copies = probe_.sharing == WorkingSetSharing::own ? units_ : 1;
        for (int i = 0; i < arrays_of(probe_.action); ++i) {
            auto array = backend_->allocate(static_cast<std::size_t>(each * copies));
            if (!array) return tl::unexpected(array.error());
            arrays_.push_back(std::move(*array));
        }
        const auto most_threads = static_cast<std::size_t>(units_) * 1024;
        // Groups of the smallest sets have 32 threads.
        const std::size_t times = most_threads / 32 * kGroupTimeBytes;
        if (auto made = allocate_all(*backend_, {{&out_, most_threads * 4}, {&times_, times}, {&spare_, times}}); !made)
            return made;
        largest_ = each;
        return probe_.action == ProbeAction::load ? fill(*arrays_[0], arrays_[0]->size(), 0) : Result<void>{};
    }

    Result<Sample> run(Bytes working_set, std::int64_t repetitions) override {
        const std::int64_t each = static_cast<std::int64_t>(working_set.value()) / arrays_of(probe_.action);
        if (each > largest_)
            return failure(title(probe_),
                           fmt::format("working set of {} B; the probe was prepared for {} B", each, largest_));
        const Shape shape = memory_shape(target_, each);
        const auto walk =
            plan_walk(probe_.sharing, each, target_, shape, memory_groups(target_, probe_.sharing, shape, units_));
        if (!walk)
            return failure(title(probe_), fmt::format("working set of {} B; at least {} B are walked at a time", each,
                                                      tile_bytes(target_, shape)));
        return run_walk(*walk, shape, repetitions);
    }

private:
    Result<Sample> run_walk(const TileWalk& walk, const Shape& shape, std::int64_t repetitions) {
        const auto program = programs_.get(memory_source(target_, {probe_.action, probe_.pipe, near_}, shape));
        if (!program) return tl::unexpected(program.error());
        Sample sample;
        const std::int64_t most = std::max<std::int64_t>(1, kMostTrips / walk.steps);
        for (std::int64_t left = repetitions; left > 0 && !sample.fault; left -= std::min(left, most)) {
            const auto rounds = static_cast<std::uint32_t>(std::min(left, most));
            if (auto ready = make_ready(walk); !ready) return tl::unexpected(ready.error());
            const auto time = backend_->launch(
                {*program, walk.groups, static_cast<std::uint32_t>(shape.threads), arguments(walk, rounds)});
            if (!time) return tl::unexpected(time.error());
            sample.time += *time;
            // A set of its own belongs to one SM: two groups on one would share its L1.
            const Occupancy occupancy = probe_.sharing == WorkingSetSharing::own && !target_.cpu
                                            ? Occupancy::one_group_per_unit
                                            : Occupancy::any;
            if (auto noted = note_times(sample, *backend_, *times_, walk.groups, occupancy); !noted)
                return tl::unexpected(noted.error());
            auto fault = check(walk, shape, rounds);
            if (!fault) return tl::unexpected(fault.error());
            if (*fault) sample.fault = std::move(*fault);
        }
        const double moved = static_cast<double>(walk.walked_tiles() * tile_bytes(target_, shape)) *
                             arrays_of(probe_.action) * static_cast<double>(repetitions);
        sample.bytes = Bytes(moved);
        if (probe_.action == ProbeAction::triad) sample.flop = moved / (3.0 * static_cast<double>(number_bytes())) * 2;
        return sample;
    }

    std::vector<Argument> arguments(const TileWalk& walk, std::uint32_t rounds) const {
        std::vector<Argument> all;
        for (const auto& array : arrays_) all.emplace_back(array.get());
        if (probe_.action == ProbeAction::load) all.emplace_back(out_.get());
        all.insert(all.end(), {times_.get(), walk.group_step, walk.step, walk.steps, walk.skew, rounds});
        if (probe_.action == ProbeAction::store) all.insert(all.end(), {kFillFactor, mark_});
        if (probe_.action == ProbeAction::triad) all.push_back(number(kTriadScale));
        return all;
    }

    // Each run moves numbers that were not there before: a launch that did nothing cannot pass.
    Result<void> make_ready(const TileWalk& walk) {
        mark_ = mark_ % 1000 + 1;
        const auto bytes = static_cast<std::size_t>(walk.total_tiles() * walk.tile) * 4 * words();
        if (probe_.action == ProbeAction::copy) return fill(*arrays_[1], bytes, mark_);
        if (probe_.action != ProbeAction::triad) return {};
        for (const std::size_t i : {1U, 2U})
            if (auto filled = fill_numbers(*arrays_[i], bytes, mark_); !filled) return filled;
        return {};
    }

    [[nodiscard]] std::size_t words() const { return static_cast<std::size_t>(target_.vec_words); }

    Result<void> fill(const Buffer& buffer, std::size_t bytes, std::uint32_t bias) {
        return launch_fill(false, {&buffer, static_cast<std::uint32_t>(bytes / 4 / words()), kFillFactor, bias});
    }
    Result<void> fill_numbers(const Buffer& buffer, std::size_t bytes, double factor) {
        return launch_fill(true, {&buffer, static_cast<std::uint32_t>(bytes / number_bytes()), number(factor)});
    }
    [[nodiscard]] std::size_t number_bytes() const { return probe_.pipe == Pipe::fp64 ? 8 : 4; }
    [[nodiscard]] Argument number(double x) const {
        return probe_.pipe == Pipe::fp64 ? Argument(x) : Argument(static_cast<float>(x));
    }
    Result<void> launch_fill(bool numbers, std::vector<Argument> with) {
        const Shape shape{target_.cpu ? 1 : 256, 1, 1, 0};
        const auto program =
            programs_.get(fill_source(target_, numbers ? std::optional(probe_.pipe) : std::nullopt, shape));
        if (!program) return tl::unexpected(program.error());
        const auto time = backend_->launch({*program, static_cast<std::uint32_t>(units_) * 4,
                                            static_cast<std::uint32_t>(shape.threads), std::move(with)});
        if (!time) return tl::unexpected(time.error());
        return {};
    }

    Result<std::optional<std::string>> check(const TileWalk& walk, const Shape& shape, std::uint32_t rounds) {
        const std::uint64_t count = static_cast<std::uint64_t>(walk.total_tiles()) * walk.tile * words();
        if (probe_.action == ProbeAction::load) {
            const std::uint32_t factor = rounds * (walk.shared_set ? walk.groups : 1);
            return compare(walk.groups, shape, factor * ramp_sum(count, kFillFactor, 0));
        }
        // What was written is read back by the load kernel, past the L1, every tile once.
        TileWalk back = walk;
        back.groups = walk.shared_set ? 1 : walk.groups;
        back.steps = static_cast<std::uint32_t>(walk.total_tiles() / back.groups);
        back.step = walk.tile;
        back.group_step = back.steps * back.step;
        back.skew = 0;
        const auto program = programs_.get(memory_source(target_, {ProbeAction::load, probe_.pipe, false}, shape));
        if (!program) return tl::unexpected(program.error());
        const std::uint32_t once = 1;
        const auto time = backend_->launch(
            {*program,
             back.groups,
             static_cast<std::uint32_t>(shape.threads),
             {arrays_[0].get(), out_.get(), spare_.get(), back.group_step, back.step, back.steps, back.skew, once}});
        if (!time) return tl::unexpected(time.error());
        const std::uint32_t expected = probe_.action == ProbeAction::triad
                                           ? number_ramp_sum(probe_.pipe, count, mark_ * (1 + kTriadScale))
                                           : ramp_sum(count, kFillFactor, mark_);
        return compare(back.groups, shape, expected);
    }
    Result<std::optional<std::string>> compare(std::uint32_t groups, const Shape& shape, std::uint32_t expected) {
        return check_word_sum(*backend_, *out_, std::size_t{groups} * static_cast<std::size_t>(shape.threads),
                              expected);
    }

    std::shared_ptr<Backend> backend_;
    Probe probe_;
    Target target_;
    int units_;
    bool near_;
    Programs programs_;
    std::vector<std::unique_ptr<Buffer>> arrays_;
    std::unique_ptr<Buffer> out_, times_;
    std::unique_ptr<Buffer> spare_;  // the load kernel that checks must not overwrite the times of the run
    std::int64_t largest_ = 0;
    std::uint32_t mark_ = 0;
};

}  // namespace

KernelSource memory_kernel_source(const Target& target, const Probe& probe, Bytes set) {
    const std::int64_t each = static_cast<std::int64_t>(set.value()) / arrays_of(probe.action);
    return memory_source(target, {probe.action, probe.pipe, is_near(probe)}, memory_shape(target, each));
}

Result<Preparation> prepare_memory(const Gpu& gpu, const Probe& probe, Bytes largest) {
    Target target = gpu.backend->target();
    if (probe.vector_bytes != 0) {
        const bool possible = target.dialect == Dialect::cuda
                                  ? probe.vector_bytes == 16 || probe.vector_bytes == 4 * target.vec_words
                                  : probe.vector_bytes == 16 || probe.vector_bytes == 32 || probe.vector_bytes == 64;
        if (!possible) return refusal(fmt::format("no kernel with accesses of {} B", probe.vector_bytes));
        target.vec_words = probe.vector_bytes / 4;
    }
    if (probe.action == ProbeAction::triad) {
        if (probe.pipe != Pipe::fp32 && probe.pipe != Pipe::fp64) return refusal("the triad is in FP32 or FP64");
        if (std::string reason = arithmetic_refusal(target, ProbeAction::fma, probe.pipe); !reason.empty())
            return refusal(std::move(reason));
    }
    auto made = std::make_unique<MemoryProbe>(gpu, probe, target);
    if (auto built = made->build(largest); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
