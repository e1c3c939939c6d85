// What the probes of the host share: its threads, its memory, and how a run is timed.
#pragma once

#include <functional>

#include "measure/device.hpp"
#include "measure/host/arena.hpp"
#include "measure/host/team.hpp"
#include "measure/host/topology.hpp"

namespace gambrel::measure_detail {

class Host final : public Device {
public:
    explicit Host(std::unique_ptr<HostTopology> topology);

    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    Result<Preparation> prepare(const Probe& probe, Bytes largest) override;

    [[nodiscard]] double least_width(int core) const override { return team_.least_width(core); }

    Team& team() { return team_; }
    std::vector<Arena>& arenas() { return arenas_; }
    // The arenas are shared by all probes; a probe that finds another's data in them writes its own first.
    const PreparedProbe* owner = nullptr;

private:
    std::unique_ptr<HostTopology> topology_;
    Team team_;
    std::vector<Arena> arenas_;
    DeviceInfo info_;
};

class HostProbe : public PreparedProbe {
public:
    HostProbe(Host& device, const Probe& probe)
        : device_(device), probe_(probe), units_(probe.units == 0 ? device.info().units : probe.units) {}

protected:
    // Times `work` on all units; the clock is read on the first of them right after.
    Sample timed(const std::function<void(int)>& work) {
        Sample s;
        const Team::Run run = device_.team().run(units_, work);
        s.time = run.time;
        s.disturbed = run.disturbed;
        s.narrowest = run.narrowest;
        Frequency clock{0};
        device_.team().run(1, [&](int) { clock = core_clock(); });
        if (clock.value() > 0) s.clock = clock;
        return s;
    }
    Host& device_;
    Probe probe_;
    int units_;
};

std::unique_ptr<PreparedProbe> arithmetic_probe(Host& device, const Probe& probe);
std::unique_ptr<PreparedProbe> memory_probe(Host& device, const Probe& probe);
std::unique_ptr<PreparedProbe> chase_probe(Host& device, const Probe& probe);

}  // namespace gambrel::measure_detail
