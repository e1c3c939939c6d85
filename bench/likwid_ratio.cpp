// Our host kernels beside likwid-bench's best, in one run, same threads, same working sets, turn by turn. Prints the
// ratios and nothing else is judged: exit status 0 unless likwid-bench is missing (77). On a shared machine only the
// least disturbed run of each side says something of the hardware, so bests are compared; medians stand beside them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/device.hpp"
#include "measure/host/host.hpp"
#include "measure/runner.hpp"
#include "measure/statistics.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::measure_detail;

struct Case {
    std::string title;
    Probe probe;
    double set_per_core;  // bytes
    std::vector<std::string> likwid;
};

std::string output_of(const std::string& command) {
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 4096> buffer{};
    while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get())) text += buffer.data();
    return text;
}

// Bytes or FLOP per second; 0 if likwid does not know the kernel.
double likwid_rate(const std::string& kernel, double set, int cores, double iterations, bool compute) {
    const std::string text = output_of(fmt::format("likwid-bench -t {} -w S0:{:.0f}kB:{} -i {:.0f} 2>/dev/null", kernel,
                                                   set * cores / 1000, cores, std::max(iterations, 10.0)));
    const char* key = compute ? "MFlops/s:" : "MByte/s:";
    const auto at = text.find(key);
    return at == std::string::npos ? 0 : std::atof(text.c_str() + at + std::string(key).size()) * 1e6;
}

std::vector<Case> cases(const DeviceInfo& info) {
    const std::vector<std::string> loads{"load", "load_sse", "load_avx", "load_avx512", "load_mem"};
    std::vector<Case> all;
    const auto flops = [&](const std::string& what, Pipe pipe, const std::string& prefix) {
        all.push_back({what,
                       {.action = Action::fma, .pipe = pipe},
                       16000,
                       {prefix + "_avx_fma", prefix + "_avx512_fma", prefix + "_avx"}});
    };
    flops("FP64 FMA", Pipe::fp64, "peakflops");
    flops("FP32 FMA", Pipe::fp32, "peakflops_sp");
    double inner = 0;
    for (const DeviceLevel& l : info.levels) {
        const double each = l.capacity.value() / l.sharers;
        const double set = l.level == Level::dram ? 4 * inner : inner == 0 ? each / 2 : std::min(4 * inner, each / 2);
        all.push_back(
            {fmt::format("{} load", name(l.level)), {.action = Action::load}, std::floor(set / 4096) * 4096, loads});
        inner = each;
    }
    return all;
}

struct Side {
    std::vector<double> rates;
    [[nodiscard]] double best() const { return rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end()); }
    [[nodiscard]] double median() const { return median_of(rates); }
};

}  // namespace

int main(int argc, char** argv) {
    if (output_of("command -v likwid-bench").empty()) {
        std::fputs("likwid-bench not found; install likwid\n", stderr);
        return 77;
    }
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
    auto device = open_host("");
    if (!device) return std::fputs(to_text(device.error()).c_str(), stderr), 1;
    const int cores = (*device)->info().units;
    fmt::print("{}, {} threads, {} rounds\n{:<10} {:>10} {:>12} {:>12} {:>7} {:>14} {}\n", (*device)->info().detail,
               cores, rounds, "ceiling", "set/core", "ours", "likwid", "ratio", "median ratio", "likwid's best kernel");
    MeasureOptions options;
    Session session(**device, options);
    for (const Case& c : cases((*device)->info())) {
        auto p = (*device)->prepare(c.probe, Bytes{c.set_per_core});
        if (!p || !p->probe) continue;
        const bool compute = kind_of(c.probe) == CeilingKind::compute;
        const auto repetitions = calibrated(*p->probe, Bytes{c.set_per_core}, session).repetitions;
        Side ours, theirs;
        std::string best_kernel;
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < 40; ++i) {
                const auto s = p->probe->run(Bytes{c.set_per_core}, repetitions);
                if (s && !s->fault && !s->disturbed) ours.rates.push_back(value_of(c.probe, *s));
            }
            for (const std::string& kernel : c.likwid) {
                // About as long as ours; FLOP kernels do some FLOP for each byte, which makes them a little longer.
                const double iterations =
                    (compute ? 3e-4 * 50e9 : 1e-3 * std::max(ours.best(), 1e9)) / (c.set_per_core * cores);
                const double rate = likwid_rate(kernel, c.set_per_core, cores, iterations, compute);
                if (rate > theirs.best()) best_kernel = kernel;
                if (rate > 0) theirs.rates.push_back(rate);
            }
        }
        fmt::print("{:<10} {:>10} {:>12.5g} {:>12.5g} {:>7.3f} {:>14.3f} {}\n", c.title,
                   binary_text(Bytes{c.set_per_core}), ours.best(), theirs.best(), ours.best() / theirs.best(),
                   ours.median() / theirs.best(), best_kernel);
        std::fflush(stdout);
    }
    return 0;
}
