#include <fmt/format.h>

#include "measure/host/host_device.hpp"
#include "measure/host/kernels.hpp"

namespace gambrel::measure_detail {
namespace {

class ArithmeticProbe final : public HostProbe {
public:
    using HostProbe::HostProbe;

    Result<Sample> run(Bytes, std::int64_t trips) override {
        const auto& set = probe_.pipe == Pipe::fp64 ? host_kernels().fp64 : host_kernels().fp32;
        const auto loop = probe_.action == ProbeAction::fma   ? set.fma
                          : probe_.action == ProbeAction::add ? set.add
                                                              : set.multiply;
        std::vector<double> sums(static_cast<std::size_t>(units_));
        Sample s = timed([&](int me) { sums[static_cast<std::size_t>(me)] = loop(trips); });
        const double operations = static_cast<double>(set.operations) * static_cast<double>(trips);
        s.flop = operations * units_ * (probe_.action == ProbeAction::fma ? 2 : 1);
        const double expected = probe_.action == ProbeAction::multiply ? set.multiply_sum : operations;
        for (const double sum : sums)
            if (sum != expected) s.fault = fmt::format("the chains add up to {}, expected {}", sum, expected);
        return s;
    }
};

class ChaseProbe final : public HostProbe {
public:
    using HostProbe::HostProbe;

    Result<Sample> run(Bytes set, std::int64_t steps) override {
        const auto bytes = static_cast<std::size_t>(set.value());
        if (bytes > device_.arenas().front().size() || bytes < 2 * kLineWords * sizeof(std::uint64_t))
            return failure(title(probe_), fmt::format("{} cannot be chased", binary_text(set)));
        if (device_.owner != this || bytes != made_) {
            device_.team().run(1, [&](int) {
                lines_ = make_chase(device_.arenas().front().words(), bytes);
                at_ = device_.arenas().front().words();
                // Into the cache it is meant for. A set beyond all caches was written in the order of the walk, so what
                // they hold of it lies at the far end; to walk around it once would take seconds.
                if (probe_.level != Level::dram) at_ = chase(at_, static_cast<std::int64_t>(lines_));
            });
            device_.owner = this, made_ = bytes;
        }
        // A sample is a few thousand steps. From the first line each time they would be the same few hundred KiB, and
        // the latency that of the cache which holds them, however large the set is.
        const std::uint64_t expected = (at_[1] + static_cast<std::uint64_t>(steps)) % lines_;
        Sample s = timed([&](int) { at_ = chase(at_, steps); });
        s.accesses = static_cast<double>(steps);
        if (at_[1] != expected) s.fault = fmt::format("the chase ended at {}, expected {}", at_[1], expected);
        return s;
    }

private:
    std::size_t made_ = 0, lines_ = 1;
    const std::uint64_t* at_ = nullptr;  // where the last sample ended
};

}  // namespace

std::unique_ptr<PreparedProbe> arithmetic_probe(Host& device, const Probe& probe) {
    return std::make_unique<ArithmeticProbe>(device, probe);
}
std::unique_ptr<PreparedProbe> chase_probe(Host& device, const Probe& probe) {
    return std::make_unique<ChaseProbe>(device, probe);
}

}  // namespace gambrel::measure_detail
