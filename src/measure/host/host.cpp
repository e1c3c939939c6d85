#include "measure/host/host.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "measure/host/host_device.hpp"
#include "measure/host/kernels.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

std::string host_name() {
    std::array<char, 256> buffer{};
    return gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "localhost";
}

std::string cpu_model(const HostTopology& topology) {
    const std::string model = topology.cpu_fact("CPUModel");
    return model.empty() ? "CPU of " + host_name() : model;
}

// What the instruction set promises a core: two pipes for FMA and two for loads on every x86 with AVX2 and on most ARM
// cores with NEON. Where it is another number the percentages say so; hence "assumed".
Machine theoretical_machine(const DeviceInfo& info, const HostKernels& kernels, int pipe_bytes, Frequency clock) {
    Machine m;
    m.id = "host";
    m.name = info.name;
    m.architecture = std::string(kernels.target);
    m.note = "A host: an SM stands for a core.";
    const std::string pipes = fmt::format("two pipes of {} bytes, {}", pipe_bytes, kernels.target);
    m.clocks.boost = Sourced<Frequency>{clock, Origin::measured, "a chain of dependent additions before the run"};
    m.sm.sms = Sourced<double>{static_cast<double>(info.units), Origin::measured, "hwloc: cores of this process"};
    const double per_cycle = kernels.fused ? 4 : 2;
    const auto bytes = static_cast<double>(pipe_bytes);
    m.pipes[Pipe::fp64].dense = Sourced<FlopPerCycle>{FlopPerCycle{per_cycle * bytes / 8}, Origin::assumed, pipes};
    m.pipes[Pipe::fp32].dense = Sourced<FlopPerCycle>{FlopPerCycle{per_cycle * bytes / 4}, Origin::assumed, pipes};
    for (const DeviceLevel& l : info.levels) {
        MemoryLevel& level = m.at(l.level);
        level.per_sm = l.sharers == 1 && l.level != Level::dram;
        level.capacity = Sourced<Bytes>{l.capacity, Origin::measured, "hwloc"};
        if (l.level == Level::l1)
            level.width = Sourced<BytesPerCycle>{BytesPerCycle{2 * bytes}, Origin::assumed, "loads: " + pipes};
    }
    return m;
}

}  // namespace

int vector_pipe_bytes(std::string_view vendor, std::string_view family, int vector_bytes) {
    const bool zen4 = vendor == "AuthenticAMD" && family == "25";  // of family 25, Zen 3 has no longer vectors
    return zen4 ? std::min(vector_bytes, 32) : vector_bytes;
}

Host::Host(std::unique_ptr<HostTopology> topology)
    : topology_(std::move(topology)), team_(*topology_), arenas_(static_cast<std::size_t>(team_.size())) {
    const HostKernels& k = host_kernels();
    Frequency clock{0};
    team_.run(1, [&](int) {
        for (int i = 0; i < 50; ++i) clock = std::max(clock, core_clock());
    });
    info_.kind = DeviceKind::host;
    info_.name = cpu_model(*topology_);
    info_.id = host_name();
    info_.detail = fmt::format("{}, {}-byte vectors{}", k.target, k.vector_bytes,
                               team_.pinned() ? ", threads pinned" : ", threads NOT pinned");
    info_.units = team_.size();
    info_.levels = topology_->levels();
    info_.clock = clock;
    const int pipe_bytes = vector_pipe_bytes(topology_->cpu_fact("CPUVendor"), topology_->cpu_fact("CPUFamilyNumber"),
                                             static_cast<int>(k.vector_bytes));
    info_.theoretical = theoretical_machine(info_, k, pipe_bytes, clock);
}

Result<Preparation> Host::prepare(const Probe& probe, Bytes largest) {
    const CeilingKind kind = kind_of(probe);
    if (kind == CeilingKind::compute) {
        if (probe.pipe != Pipe::fp64 && probe.pipe != Pipe::fp32)
            return Preparation{nullptr, "the host has no such pipe"};
        if (probe.action == ProbeAction::mma || probe.action == ProbeAction::gemm)
            return Preparation{nullptr, "the host has no such instruction"};
        const auto& set = probe.pipe == Pipe::fp64 ? host_kernels().fp64 : host_kernels().fp32;
        if (set.fma == nullptr || (probe.action == ProbeAction::fma && !host_kernels().fused))
            return Preparation{nullptr, fmt::format("{} has no such instruction", host_kernels().target)};
        return Preparation{arithmetic_probe(*this, probe), {}};
    }
    if (kind == CeilingKind::launch || kind == CeilingKind::link) return Preparation{nullptr, "a host has none"};
    if (probe.level == Level::shared) return Preparation{nullptr, "a host has no shared memory"};
    if (probe.sharing == WorkingSetSharing::whole && probe.action != ProbeAction::load)
        return Preparation{nullptr, "on a host a set that all cores walk is only read"};
    const int units = probe.units == 0 ? info_.units : probe.units;
    const bool one = probe.sharing == WorkingSetSharing::whole || kind == CeilingKind::latency;
    const auto bytes =
        static_cast<std::size_t>(probe.sharing == WorkingSetSharing::split ? largest.value() / units : largest.value());
    for (int i = 0; i < (one ? 1 : units); ++i) {
        Arena& arena = arenas_[static_cast<std::size_t>(i)];
        if (bytes > arena.size()) owner = nullptr;
        if (!arena.reserve(bytes)) return failure(title(probe), "no memory for " + binary_text(largest));
    }
    if (kind == CeilingKind::latency) return Preparation{chase_probe(*this, probe), {}};
    return Preparation{memory_probe(*this, probe), {}};
}

Result<std::unique_ptr<Device>> open_host(std::string_view rest) {
    if (!rest.empty()) return failure("--device", fmt::format("cpu takes no number; \"{}\" found", rest));
    auto topology = HostTopology::load();
    if (!topology) return tl::unexpected(topology.error());
    return std::make_unique<Host>(std::move(*topology));
}

std::vector<DeviceFound> find_host() {
    const auto topology = HostTopology::load();
    if (!topology) return {};
    return {{"cpu", fmt::format("{}, {} core{}", cpu_model(**topology), (*topology)->cores(),
                                (*topology)->cores() == 1 ? "" : "s")}};
}

}  // namespace gambrel::measure_detail
