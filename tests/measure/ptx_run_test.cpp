// Does a whole run of `measure` find what is true of the GPU: every ceiling, every level under its right name, every
// latency? The GPU executes PTX and its rates, capacities and latencies are known.
// Two compute capabilities are run always, at a clock so slow that a sample is a few thousand cycles: what comes before
// and after the loop of a matrix kernel, or fills shared memory, is then a part of it that a real GPU would not notice.
// `make test-gpu-model` sets GAMBREL_TEST_ALL_GPUS, which runs all at a faster clock and allows no more than 2 % there
// too.
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "measure/gpu/tensor_kernels.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

struct Chip {
    int cc;
    int l1_kib;       // as cuda_device.cpp has it for this compute capability
    double products;  // 16-bit multiply-adds of an SM a cycle, about as the real one has
    bool always;
};
// As ctest lists the tests.
void PrintTo(const Chip& chip, std::ostream* out) {
    *out << "compute capability " << chip.cc / 10 << '.' << chip.cc % 10;
}
constexpr Chip kChips[] = {{70, 128, 512, true},   {75, 96, 512, false},  {80, 192, 1024, false},
                           {89, 128, 1024, false}, {90, 256, 2048, true}, {100, 256, 4096, false},
                           {120, 128, 1024, false}};
constexpr double kSms = 2, kL2 = 2 << 20;
constexpr double kL1Rate = 128, kL2Rate = 128, kDramRate = 32;  // bytes a cycle: of an SM, of all, of all
constexpr double kIssue = 4;                                    // warps of an SM a cycle

bool all_gpus() { return std::getenv("GAMBREL_TEST_ALL_GPUS") != nullptr; }
// A launch of a millisecond is then 128,000 cycles: what comes before and after the loop, and
// the loop's own branch, take 1.7 % at most (BF16 FMA).
double clock_rate() { return all_gpus() ? 128e6 : 4e6; }
// A short run at 4 MHz gives a kernel so few turns of its loop that its start and end take up to a fifth of a rate (18
// % of BF16, 9 % of FP32). It judges names, levels, capacities and latencies; the run of all GPUs judges rates too.
double tolerance_of(const MeasuredCeiling& c) {
    if (c.kind == CeilingKind::latency) return 0.05;
    const bool has_ends = c.kind == CeilingKind::compute || c.level == Level::shared;
    return !all_gpus() && has_ends ? 0.2 : 0.02;
}

class PtxRun : public PtxGpu, public testing::WithParamInterface<Chip> {
protected:
    void SetUp() override {
        PtxGpu::SetUp();
        if (IsSkipped()) return;
        const Chip chip = GetParam();
        if (!chip.always && !all_gpus()) GTEST_SKIP() << "run by `make test-gpu-model`";
        set("PTX_CC", chip.cc);
        set("PTX_SMS", kSms);
        set("PTX_CLOCK", clock_rate());
        set("PTX_PRODUCTS", chip.products);
        set("PTX_L1", chip.l1_kib * 1024);
        set("PTX_L2", kL2);
        set("PTX_L1_RATE", kL1Rate);
        set("PTX_L2_RATE", kL2Rate);
        set("PTX_DRAM_RATE", kDramRate);
        set("PTX_MEMORY", 80e6);
    }
    static Measurement measured() {
        auto device = open_device("cuda:0");
        EXPECT_TRUE(device) << to_text(device.error());
        if (!device) return {};
        MeasureOptions options;
        options.quick = true;
        options.budget = Seconds{2};
        return characterize(**device, options);
    }
};

double element_cost(std::string_view operand) {
    if (operand == "OPERAND_FP64") return 16;
    if (operand == "OPERAND_TF32") return 2;
    if (operand == "OPERAND_FP16" || operand == "OPERAND_BF16") return 1;
    return operand == "OPERAND_FP4" ? 0.25 : 0.5;
}

// What the model is, by the title of the ceiling.
std::map<std::string, double> truth(const Chip& chip) {
    const int cc = chip.cc;
    const double clock = clock_rate(), lanes = 32 * kIssue * kSms * clock;
    std::map<std::string, double> all{{"FP64 FMA", 2 * lanes},
                                      {"FP32 FMA", 2 * lanes},
                                      {"FP16 FMA", 4 * lanes},
                                      {"INT32 FMA", 2 * lanes},
                                      {"FP64 add", lanes},
                                      {"FP32 add", lanes},
                                      {"FP64 multiply", lanes},
                                      {"FP32 multiply", lanes},
                                      {"L1 load", kL1Rate * kSms * clock},
                                      {"L2 load", kL2Rate * clock},
                                      {"L2 load, all the same set", kL2Rate * clock},
                                      {"L2 load, one set divided", kL2Rate * clock},
                                      {"DRAM load, one set divided", kDramRate * clock},
                                      {"DRAM store", kDramRate * clock},
                                      {"DRAM copy", kDramRate * clock},
                                      {"DRAM triad", kDramRate * clock},
                                      {"shared load", kL1Rate * kSms * clock},
                                      {"shared latency", 23 / clock},
                                      {"L1 latency", 33 / clock},
                                      {"L2 latency", 210 / clock},
                                      {"DRAM latency", 500 / clock},
                                      {"host to device", 25e9},
                                      {"device to host", 25e9}};
    if (cc >= 80) all["BF16 FMA"] = 4 * lanes;
    for (const TensorKernel& row : tensor_kernels())
        if (cc >= row.first_cc && cc <= row.last_cc)
            all[title(probe_of(row))] = 2 * chip.products / element_cost(row.operand) * kSms * clock;
    return all;
}

TEST_P(PtxRun, finds_every_ceiling_level_and_latency_that_is_true_and_no_other) {
    if (IsSkipped()) return;
    const Measurement m = measured();
    const auto expected = truth(GetParam());
    std::set<std::string> seen;
    std::pair<double, std::string> worst_rate{0, "none"}, worst_latency{0, "none"};
    for (const MeasuredCeiling& c : m.ceilings) {
        ASSERT_FALSE(c.fault) << c.title << ": " << *c.fault;
        if (c.kind == CeilingKind::launch) continue;
        const auto it = expected.find(c.title);
        ASSERT_NE(it, expected.end()) << c.title << " is not a ceiling of this GPU";
        EXPECT_NEAR(c.value.median / it->second, 1, tolerance_of(c))
            << c.title << ", working set " << (c.working_set ? c.working_set->value() : 0);
        auto& worst = c.kind == CeilingKind::latency ? worst_latency : worst_rate;
        worst = std::max(worst, {std::abs(c.value.median / it->second - 1), c.title});
        seen.insert(c.title);
    }
    for (const auto& [what, value] : expected) {
        // A set of its own for each SM leaves the L2 by halves; whether the sweep reaches far enough depends on the L1.
        EXPECT_TRUE(what == "L2 load" || seen.contains(what)) << what << " was not measured";
    }
    for (const Level level : {Level::l1, Level::l2, Level::dram})
        EXPECT_TRUE(std::any_of(m.ceilings.begin(), m.ceilings.end(), [&](const auto& c) {
            return c.primary && c.level == level;
        })) << name(level);
    std::cout << fmt::format(
        "compute capability {}.{} at {} MHz: {} ceilings; farthest from the truth: {} by {:.2f} %, {} by {:.2f} %\n",
        GetParam().cc / 10, GetParam().cc % 10, clock_rate() / 1e6, seen.size(), worst_rate.second,
        100 * worst_rate.first, worst_latency.second, 100 * worst_latency.first);
}

INSTANTIATE_TEST_SUITE_P(Cc, PtxRun, testing::ValuesIn(kChips),
                         [](const auto& chip) { return "cc" + std::to_string(chip.param.cc); });

}  // namespace
}  // namespace gambrel::measure_detail
