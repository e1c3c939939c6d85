#include <ctime>

#include <fmt/chrono.h>

#include <gambrel/measure.hpp>

#include "measure/plan.hpp"
#include "measure/runner.hpp"

namespace gambrel {

using namespace measure_detail;

namespace {

// One run of a probe: enough repetitions that groups' times mean something, few enough to take no time.
constexpr std::int64_t kRepetitions = 16;

KernelCheck checked(Device& device, const Probe& probe, Bytes set, std::string title) {
    KernelCheck check;
    check.title = std::move(title);
    const auto fail = [&](const std::string& why) {
        check.outcome = KernelOutcome::failed;
        check.detail = why;
        return check;
    };
    if (const auto lost = device.lost()) return fail(*lost);
    auto prepared = device.prepare(probe, set);
    if (!prepared) return fail(one_line(prepared.error()));
    if (!prepared->probe) {
        check.outcome = KernelOutcome::unsupported;
        check.detail = prepared->reason;
        return check;
    }
    const auto sample = prepared->probe->run(set, probe.action == ProbeAction::gemm ? 1 : kRepetitions);
    if (!sample) return fail(one_line(sample.error()));
    check.time = sample->time;
    check.clock = sample->clock;
    check.groups = sample->groups;
    check.code = sample->code;
    if (sample->fault) return fail(*sample->fault);
    return check;
}

}  // namespace

Result<SelfTest> self_test(std::string_view name, const MeasureOptions& options) {
    auto device = open_device(name);
    if (!device) return tl::unexpected(device.error());
    SelfTest test;
    test.device = (*device)->info();
    const Plan plan = plan_for(test.device, true);
    const double all = static_cast<double>(plan.first.size() + plan.sweeps.size() + plan.last.size());
    const auto check = [&](const Probe& probe, Bytes set, const std::string& title) {
        test.interrupted = test.interrupted || (options.stop && options.stop());
        if (test.interrupted) return;
        if (options.progress) options.progress(static_cast<double>(test.kernels.size()) / all, title);
        test.kernels.push_back(checked(**device, probe, set, title));
    };
    for (const CeilingStep& step : plan.first) check(step.probe, step.working_set, title(step.probe));
    for (const SweepStep& step : plan.sweeps)
        check(step.probe, step.working_sets[step.working_sets.size() / 2], step.title);
    for (const CeilingStep& step : plan.last) check(step.probe, step.working_set, title(step.probe));
    if (test.device.kind != DeviceKind::simulated)
        test.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return test;
}

bool has_failures(const SelfTest& test) {
    for (const KernelCheck& k : test.kernels)
        if (k.outcome == KernelOutcome::failed) return true;
    return false;
}

}  // namespace gambrel
