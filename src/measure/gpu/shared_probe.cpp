#include <algorithm>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"
#include "measure/gpu/programs.hpp"
#include "measure/gpu/walk.hpp"

namespace gambrel::measure_detail {

namespace {

// Shared memory moves in 128-bit words at most, whatever global memory does.
Target shared_target(Target target) {
    if (target.dialect == Dialect::cuda) target.vec_words = 4;
    return target;
}

class SharedProbe final : public PreparedProbe {
public:
    SharedProbe(const Gpu& gpu, const Probe& probe)
        : backend_(gpu.backend),
          groups_(static_cast<std::uint32_t>(probe.units > 0 ? std::min(probe.units, gpu.units) : gpu.units)),
          programs_(*gpu.backend) {}

    Result<void> build() {
        const Target target = shared_target(backend_->target());
        const auto bytes = static_cast<std::size_t>(target.shared_bytes);
        const std::size_t out_bytes = std::size_t{groups_} * 512 * 4;
        if (auto made =
                allocate_all(*backend_, {{&data_, bytes}, {&out_, out_bytes}, {&times_, groups_ * kGroupTimeBytes}});
            !made)
            return made;
        std::vector<std::uint32_t> words(bytes / 4);
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i) * kFillFactor;
        return backend_->write(*data_, std::as_bytes(std::span(words)));
    }

    Result<Sample> run(Bytes working_set, std::int64_t repetitions) override {
        const Target target = shared_target(backend_->target());
        const std::int64_t wanted = std::min(static_cast<std::int64_t>(working_set.value()), target.shared_bytes);
        Shape shape = memory_shape(target, wanted);
        const std::int64_t tile = tile_bytes(target, shape);
        if (wanted < tile)
            return failure("shared memory",
                           fmt::format("working set of {} B; at least {} B are walked at a time", wanted, tile));
        shape.set_bytes = wanted / tile * tile;
        const auto program = programs_.get(shared_load_source(target, shape));
        if (!program) return tl::unexpected(program.error());
        Sample sample;
        const std::int64_t most = kMostTrips / (shape.set_bytes / tile);
        for (std::int64_t left = repetitions; left > 0 && !sample.fault; left -= std::min(left, most)) {
            const auto rounds = static_cast<std::uint32_t>(std::min(left, most));
            const auto time = backend_->launch({*program,
                                                groups_,
                                                static_cast<std::uint32_t>(shape.threads),
                                                {data_.get(), out_.get(), times_.get(), rounds}});
            if (!time) return tl::unexpected(time.error());
            sample.time += *time;
            const std::uint32_t once = ramp_sum(static_cast<std::uint64_t>(shape.set_bytes / 4), kFillFactor, 0);
            const std::size_t sums = std::size_t{groups_} * static_cast<std::size_t>(shape.threads);
            auto fault = check_word_sum(*backend_, *out_, sums, once * rounds * groups_);
            if (!fault) return tl::unexpected(fault.error());
            sample.fault = std::move(*fault);
            if (auto noted = note_times(sample, *backend_, *times_, groups_, Occupancy::one_group_per_unit); !noted)
                return tl::unexpected(noted.error());
        }
        sample.bytes = Bytes(static_cast<double>(shape.set_bytes) * groups_ * static_cast<double>(repetitions));
        return sample;
    }

private:
    std::shared_ptr<Backend> backend_;
    std::uint32_t groups_;
    Programs programs_;
    std::unique_ptr<Buffer> data_, out_, times_;
};

}  // namespace

Result<Preparation> prepare_shared(const Gpu& gpu, const Probe& probe, Bytes) {
    if (probe.action != ProbeAction::load) return refusal("shared memory is only loaded from and chased through");
    auto made = std::make_unique<SharedProbe>(gpu, probe);
    if (auto built = made->build(); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
