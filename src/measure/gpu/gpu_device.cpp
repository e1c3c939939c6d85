#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

class EmptyProbe final : public PreparedProbe {
public:
    EmptyProbe(std::shared_ptr<Backend> backend, std::unique_ptr<Program> program, std::unique_ptr<Buffer> out)
        : backend_(std::move(backend)), program_(std::move(program)), out_(std::move(out)) {}

    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        Sample sample;
        const std::uint32_t none = 0, mark = ++mark_;
        const auto time = backend_->launch_many({program_.get(), 1, 1, {out_.get(), none}}, repetitions);
        if (!time) return tl::unexpected(time.error());
        sample.time = *time;
        sample.accesses = static_cast<double>(repetitions);
        // The launches leave nothing to look at, so the same program is asked once for a mark.
        if (const auto marked = backend_->launch({program_.get(), 1, 1, {out_.get(), mark}}); !marked)
            return tl::unexpected(marked.error());
        std::uint32_t found = 0;
        if (const auto read = backend_->read(std::as_writable_bytes(std::span(&found, 1)), *out_); !read)
            return tl::unexpected(read.error());
        if (found != mark) sample.fault = fmt::format("mark is {}, expected {}", found, mark);
        return sample;
    }

private:
    std::shared_ptr<Backend> backend_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Buffer> out_;
    std::uint32_t mark_ = 0;
};

class LinkProbe final : public PreparedProbe {
public:
    LinkProbe(std::shared_ptr<Backend> backend, Direction direction, std::unique_ptr<Buffer> buffer)
        : backend_(std::move(backend)), direction_(direction), buffer_(std::move(buffer)) {}

    Result<Sample> run(Bytes working_set, std::int64_t repetitions) override {
        const std::size_t bytes = std::min(static_cast<std::size_t>(working_set.value()), buffer_->size()) / 4 * 4;
        const auto pinned = backend_->pinned_bytes(bytes);
        if (!pinned) return tl::unexpected(pinned.error());
        const std::span<std::byte> host = pinned->first(bytes);
        // The pattern of this run is put at the source, and looked for where it should have arrived.
        const auto wanted = std::as_bytes(std::span(next_pattern(bytes / 4)));
        if (direction_ == Direction::host_to_device) {
            std::copy(wanted.begin(), wanted.end(), host.begin());
        } else if (const auto wrote = backend_->write(*buffer_, wanted); !wrote) {
            return tl::unexpected(wrote.error());
        }
        const auto time = backend_->transfer(direction_, *buffer_, bytes, repetitions);
        if (!time) return tl::unexpected(time.error());
        Sample sample;
        sample.time = *time;
        sample.bytes = Bytes(static_cast<double>(bytes) * static_cast<double>(repetitions));
        if (direction_ == Direction::host_to_device) {
            if (const auto read = backend_->read(host, *buffer_); !read) return tl::unexpected(read.error());
        }
        // memcmp first: the proof must not take longer than what it proves.
        if (std::memcmp(host.data(), wanted.data(), bytes) == 0) return sample;
        const auto [found, expected] = std::mismatch(host.begin(), host.end(), wanted.begin());
        sample.fault = fmt::format("byte {} is not what was sent", found - host.begin());
        return sample;
    }

private:
    // Words that differ everywhere, and from run to run in every page.
    const std::vector<std::uint32_t>& next_pattern(std::size_t words) {
        if (pattern_.size() != words) {
            pattern_.resize(words);
            for (std::size_t i = 0; i < words; ++i) pattern_[i] = static_cast<std::uint32_t>(i) * 2654435761U;
        }
        constexpr std::size_t kPageWords = 1024;
        for (std::size_t i = 0; i < words; i += kPageWords) ++pattern_[i];
        return pattern_;
    }

    std::shared_ptr<Backend> backend_;
    Direction direction_;
    std::unique_ptr<Buffer> buffer_;
    std::vector<std::uint32_t> pattern_;
};

class GpuDevice final : public Device {
public:
    GpuDevice(DeviceInfo info, Gpu gpu) : info_(std::move(info)), gpu_(std::move(gpu)) {}

    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> lost() const override { return gpu_.backend->lost(); }

    Result<Preparation> prepare(const Probe& probe, Bytes largest) override {
        switch (probe.action) {
            case ProbeAction::empty:
                return prepare_empty(gpu_);
            case ProbeAction::fma:
            case ProbeAction::add:
            case ProbeAction::multiply:
                return prepare_arithmetic(gpu_, probe);
            case ProbeAction::mma:
                return prepare_tensor(gpu_, probe);
            case ProbeAction::gemm:
                return gpu_.backend->prepare_gemm(probe);
            case ProbeAction::load:
            case ProbeAction::store:
            case ProbeAction::copy:
            case ProbeAction::triad:
                return probe.level == Level::shared ? prepare_shared(gpu_, probe, largest)
                                                    : prepare_memory(gpu_, probe, largest);
            case ProbeAction::chase:
                return prepare_chase(gpu_, probe, largest);
            case ProbeAction::host_to_device:
            case ProbeAction::device_to_host:
                return prepare_link(gpu_, probe, largest);
        }
        return refusal("unknown action");
    }

    void expect(const std::vector<Expected>& coming) override {
        std::vector<KernelSource> sources;
        for (const Expected& e : coming)
            if (auto source = source_of(e.probe, e.working_set)) sources.push_back(std::move(*source));
        gpu_.backend->expect(std::move(sources));
    }

    Result<CountedRun> counted(const Probe& probe, PreparedProbe& prepared, Bytes set,
                               std::int64_t repetitions) override {
        const std::string entry = probe.level == Level::shared ? "shared_load" : std::string(name(probe.action));
        if (auto started = gpu_.backend->start_counting(entry); !started) return tl::unexpected(started.error());
        auto sample = prepared.run(set, repetitions);
        const auto bytes = gpu_.backend->stop_counting();
        if (!sample) return tl::unexpected(sample.error());
        if (!bytes) return tl::unexpected(bytes.error());
        return CountedRun{std::move(*sample), *bytes};
    }

private:
    // The kernel that a probe will compile, where it takes long enough to be worth knowing before.
    [[nodiscard]] std::optional<KernelSource> source_of(const Probe& probe, Bytes set) const {
        const Target& target = gpu_.backend->target();
        switch (probe.action) {
            case ProbeAction::fma:
            case ProbeAction::add:
            case ProbeAction::multiply:
                if (!arithmetic_refusal(target, probe.action, probe.pipe).empty()) return std::nullopt;
                return arithmetic_source(target, probe.action, probe.pipe, arithmetic_shape(target, probe.chains));
            case ProbeAction::mma: {
                const TensorKernel* row = find_tensor_kernel(probe, target.cc, target.accelerated);
                if (row == nullptr || row->least_compiler > target.compiler) return std::nullopt;
                return tensor_source(*row, probe.random);
            }
            case ProbeAction::load:
            case ProbeAction::store:
            case ProbeAction::copy:
            case ProbeAction::triad:
                if (probe.level == Level::shared) return std::nullopt;
                return memory_kernel_source(target, probe, set);
            default:
                return std::nullopt;
        }
    }

    DeviceInfo info_;
    Gpu gpu_;
};

}  // namespace

Result<void> Backend::start_counting(const std::string&) {
    return failure("counters", "this device has none that gambrel can read");
}

Result<Preparation> Backend::prepare_gemm(const Probe&) { return refusal("no matrix library for this device"); }

Result<Preparation> prepare_empty(const Gpu& gpu) {
    auto program = gpu.backend->compile(empty_source(gpu.backend->target(), {1, 1, 1, 0}));
    if (!program) return tl::unexpected(program.error());
    auto out = gpu.backend->allocate(sizeof(std::uint32_t));
    if (!out) return tl::unexpected(out.error());
    return prepared(std::make_unique<EmptyProbe>(gpu.backend, std::move(*program), std::move(*out)));
}

Result<Preparation> prepare_link(const Gpu& gpu, const Probe& probe, Bytes largest) {
    auto buffer = gpu.backend->allocate(static_cast<std::size_t>(largest.value()));
    if (!buffer) return tl::unexpected(buffer.error());
    const Direction direction =
        probe.action == ProbeAction::host_to_device ? Direction::host_to_device : Direction::device_to_host;
    return prepared(std::make_unique<LinkProbe>(gpu.backend, direction, std::move(*buffer)));
}

std::unique_ptr<Device> make_gpu_device(DeviceInfo info, Gpu gpu) {
    return std::make_unique<GpuDevice>(std::move(info), std::move(gpu));
}

Result<void> allocate_all(Backend& backend, std::initializer_list<BufferWanted> wanted) {
    for (const BufferWanted& one : wanted) {
        auto made = backend.allocate(one.bytes);
        if (!made) return tl::unexpected(made.error());
        *one.buffer = std::move(*made);
    }
    return {};
}

Result<void> note_times(Sample& sample, Backend& backend, const Buffer& times, std::uint32_t groups,
                        Occupancy occupancy) {
    const Condition now = backend.condition();
    sample.throttled = now.throttled;
    sample.clock = now.clock;
    sample.code = now.code;
    sample.groups.resize(groups);
    static_assert(sizeof(GroupTime) == kGroupTimeBytes);
    if (auto read = backend.read(std::as_writable_bytes(std::span(sample.groups)), times); !read) return read;
    const GroupTime& first = sample.groups.front();
    if (first.cycles == 0) return sample.groups.clear(), Result<void>{};
    // The device's own timer, read beside the cycles; a driver that does not offer it leaves the time of the launch.
    const double seconds = first.nanoseconds > 0 ? 1e-9 * static_cast<double>(first.nanoseconds) : sample.time.value();
    if (seconds > 0) sample.clock = Cycles(static_cast<double>(first.cycles)) / Seconds(seconds);
    if (occupancy == Occupancy::any || sample.fault) return {};
    std::set<std::uint64_t> units;
    for (const GroupTime& group : sample.groups)
        if (!units.insert(group.unit).second)
            sample.fault = fmt::format("two groups ran on SM {}, but each needs one of its own", group.unit);
    return {};
}

Result<std::optional<std::string>> check_word_sum(Backend& backend, const Buffer& out, std::size_t count,
                                                  std::uint32_t expected) {
    std::vector<std::uint32_t> words(count);
    if (const auto read = backend.read(std::as_writable_bytes(std::span(words)), out); !read)
        return tl::unexpected(read.error());
    const std::uint32_t found = std::accumulate(words.begin(), words.end(), 0U);
    std::fill(words.begin(), words.end(), ~expected);
    if (const auto wrote = backend.write(out, std::as_bytes(std::span(words))); !wrote)
        return tl::unexpected(wrote.error());
    if (found == expected) return std::optional<std::string>{};
    return fmt::format("sum of all words is {}, expected {}", found, expected);
}

}  // namespace gambrel::measure_detail
