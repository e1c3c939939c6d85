// Our host kernels beside likwid-bench's best, in one run: same threads and pinning, same working sets (both count 1 kB
// as 1000 B), huge pages for both, and as many runs of the same length, turn by turn. Prints the ratios and nothing
// else is judged: exit status 0 unless likwid-bench is missing (77). On a shared machine only the least disturbed run
// of each side says something of the hardware, so bests are compared; medians stand beside them. A run of likwid-bench
// sleeps for a second to calibrate its clock, so its kernels are chosen once and then run beside each number of busy
// processes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "measure/device.hpp"
#include "measure/host/host.hpp"
#include "measure/runner.hpp"
#include "measure/statistics.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::measure_detail;

constexpr double kFewest = 10;  // passes of a run, of both sides: in the first one the caches hold something else

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

double number_after(const std::string& text, const std::string& key) {
    const auto at = text.find(key);
    return at == std::string::npos ? 0 : std::atof(text.c_str() + at + key.size());
}

// One run of likwid-bench, which pins its threads to the hardware threads of the domain in order, as we do.
struct LikwidRun {
    double rate = 0;  // bytes or FLOP per second; 0 if it does not know the kernel
    double time = 0;  // s
};
LikwidRun likwid(const std::string& kernel, const Case& c, int cores, double iterations) {
    const std::string text =
        output_of(fmt::format("LD_PRELOAD={} likwid-bench -t {} -w S0:{:.0f}kB:{} -i {:.0f} 2>/dev/null",
                              GAMBREL_HUGE_PAGES, kernel, c.set_per_core * cores / 1000, cores, iterations));
    const bool compute = kind_of(c.probe) == CeilingKind::compute;
    return {number_after(text, compute ? "MFlops/s:" : "MByte/s:") * 1e6, number_after(text, "Time:")};
}

std::vector<Case> cases(const DeviceInfo& info) {
    const std::vector<std::string> loads{"load",    "load_sse",   "load_avx", "load_avx512", "load_mem",
                                         "sum_avx", "sum_avx512", "ddot_avx", "ddot_avx512"};
    std::vector<Case> all;
    const auto flops = [&](const std::string& what, Pipe pipe, const std::string& prefix) {
        all.push_back({what,
                       {.action = ProbeAction::fma, .pipe = pipe},
                       16000,
                       {prefix + "_avx_fma", prefix + "_avx512_fma", prefix + "_avx", prefix + "_avx512"}});
    };
    flops("FP64 FMA", Pipe::fp64, "peakflops");
    flops("FP32 FMA", Pipe::fp32, "peakflops_sp");
    double inner = 0;
    for (const DeviceLevel& l : info.levels) {
        const double each = l.capacity.value() / l.sharers;
        const double set = l.level == Level::dram ? 4 * inner : inner == 0 ? each / 2 : std::min(4 * inner, each / 2);
        all.push_back(  // whole kB and whole vectors
            {fmt::format("{} load", name(l.level)),
             {.action = ProbeAction::load},
             std::floor(set / 16000) * 16000,
             loads});
        inner = each;
    }
    return all;
}

struct Side {
    std::vector<double> rates;
    void add(double rate) {
        if (rate > 0) rates.push_back(rate);
    }
    [[nodiscard]] double best() const { return rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end()); }
    [[nodiscard]] double median() const { return median_of(rates); }
};

// A kernel of likwid for a ceiling, and how many iterations of it make a second.
struct Contender {
    std::string kernel;
    double per_second = 0, rate = 0;
};
// The best three: one run in an unquiet moment must not choose whom we are compared with.
std::vector<Contender> contenders(const Case& c, int cores) {
    constexpr int kTries = 4;  // in turn, so that a disturbance does not choose among them
    constexpr double kTry = 1e-3;
    constexpr double kSlowest = 5e9;  // bytes per second and core: fewer iterations than any kernel needs for kTry
    std::vector<Contender> all;
    for (const std::string& kernel : c.likwid) {
        double iterations = std::max(kFewest, kTry * kSlowest / c.set_per_core);
        LikwidRun run = likwid(kernel, c, cores, iterations);
        while (run.rate > 0 && run.time < kTry / 2 && iterations < 1e9) run = likwid(kernel, c, cores, iterations *= 8);
        if (run.rate > 0) all.push_back({kernel, iterations / run.time, run.rate});
    }
    // A disturbance may halve a rate, but kernels that are slower by more have lost.
    const auto best = std::max_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.rate < b.rate; });
    if (best != all.end()) std::erase_if(all, [least = best->rate / 2](auto& k) { return k.rate < least; });
    for (int i = 0; i < kTries; ++i)
        for (Contender& k : all) {
            const LikwidRun run = likwid(k.kernel, c, cores, std::max(kFewest, kTry * k.per_second));
            if (run.rate > k.rate) k = {k.kernel, k.per_second * run.rate / k.rate, run.rate};
        }
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.rate > b.rate; });
    if (all.size() > 3) all.resize(3);
    return all;
}

// Of the least disturbed of many short runs: one that was held up would make all later runs too short to be compared.
double time_of_repetition(PreparedProbe& probe, Bytes set, Session& session) {
    constexpr int kTries = 100;
    constexpr double kLong = 0.5e-3;  // s
    std::int64_t repetitions = std::max<std::int64_t>(1, calibrated(probe, set, session).repetitions);
    double each = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTries; ++i) {
        const auto sample = probe.run(set, repetitions);
        if (!sample || sample->fault) continue;
        each = std::min(each, sample->time.value() / static_cast<double>(repetitions));
        if (each * static_cast<double>(repetitions) < kLong) repetitions *= 2;
    }
    return each;
}

// Processes that use a core each and do nothing.
class BusyProcesses {
public:
    explicit BusyProcesses(int count) {
        for (int i = 0; i < count; ++i)
            if (const pid_t child = fork(); child == 0)
                for (volatile int turns = 0;;) turns = turns + 1;
            else if (child > 0)
                children_.push_back(child);
    }
    BusyProcesses(const BusyProcesses&) = delete;
    BusyProcesses& operator=(const BusyProcesses&) = delete;
    ~BusyProcesses() {
        for (const pid_t child : children_) kill(child, SIGKILL), waitpid(child, nullptr, 0);
    }

private:
    std::vector<pid_t> children_;
};

void print(const Case& c, int busy, double length, const Side& ours, const Side& theirs, const std::string& kernel) {
    fmt::print("{:<10} {:>4} {:>11} {:>6.0f} ms {:>4} {:>11.5g} {:>11.5g} {:>7.3f} {:>13.3f} {}\n", c.title, busy,
               binary_text(Bytes{c.set_per_core}), 1e3 * length, theirs.rates.size(), ours.best(), theirs.best(),
               ours.best() / theirs.best(), ours.median() / theirs.median(), kernel);
    std::fflush(stdout);
}

// Short runs fit into what the scheduler gives at a time; long ones leave no start-up cost to blame, but say something
// of the hardware only where nothing else runs.
struct Length {
    double seconds;
    int runs_per_round;
};

}  // namespace

int main(int argc, char** argv) {
    if (output_of("command -v likwid-bench").empty()) {
        std::fputs("likwid-bench not found; install likwid\n", stderr);
        return 77;
    }
    // likwid_ratio [ROUNDS] [SECONDS of a long run; 0 for none] [CEILING, as "DRAM"; "" for all] [BUSY PROCESSES...]
    const std::string only = argc > 3 ? argv[3] : "";
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
    std::vector<Length> lengths{{1e-3, 10}};
    std::vector<int> busy;
    for (int i = 4; i < argc; ++i) busy.push_back(std::atoi(argv[i]));
    if (busy.empty()) busy = {0};
    if (const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5; seconds > 0) lengths.push_back({seconds, 3});
    auto device = open_host("");
    if (!device) return std::fputs(to_text(device.error()).c_str(), stderr), 1;
    const int cores = (*device)->info().units;
    fmt::print("{}, {} threads, {} rounds\n{:<10} {:>4} {:>11} {:>9} {:>4} {:>11} {:>11} {:>7} {:>13} {}\n",
               (*device)->info().detail, cores, rounds, "ceiling", "busy", "set/core", "run", "runs", "ours", "likwid",
               "best", "median ratio", "likwid's best kernel");
    MeasureOptions options;
    Session session(**device, options);
    for (const Case& c : cases((*device)->info())) {
        if (c.title.find(only) == std::string::npos) continue;
        auto p = (*device)->prepare(c.probe, Bytes{c.set_per_core});
        if (!p || !p->probe) continue;
        const double each = time_of_repetition(*p->probe, Bytes{c.set_per_core}, session);
        const std::vector<Contender> rivals = contenders(c, cores);
        if (rivals.empty()) continue;
        for (const int count : busy) {
            const BusyProcesses beside(count);
            for (const Length& length : lengths) {
                const auto repetitions = static_cast<std::int64_t>(std::max(kFewest, length.seconds / each));
                Side ours;
                std::vector<Side> theirs(rivals.size());
                for (int i = 0; i < rounds * length.runs_per_round; ++i) {
                    for (std::size_t r = 0; r < rivals.size(); ++r) {
                        const double iterations = std::max(kFewest, length.seconds * rivals[r].per_second);
                        theirs[r].add(likwid(rivals[r].kernel, c, cores, iterations).rate);
                    }
                    // With what disturbed it, as likwid's.
                    const auto s = p->probe->run(Bytes{c.set_per_core}, repetitions);
                    if (s && !s->fault) ours.add(value_of(c.probe, *s));
                }
                const auto best = std::max_element(theirs.begin(), theirs.end(),
                                                   [](const Side& a, const Side& b) { return a.best() < b.best(); });
                print(c, count, length.seconds, ours, *best,
                      rivals[static_cast<std::size_t>(best - theirs.begin())].kernel);
            }
        }
    }
    return 0;
}
