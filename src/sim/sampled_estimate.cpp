#include "sim/sampled_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gambrel::sim_detail {
namespace {

// Student's t at 99 %, by degrees of freedom.
double student(std::size_t freedom) {
    static constexpr std::array<double, 10> kStudent{0, 63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250};
    return freedom < kStudent.size() ? kStudent[freedom] : 3.17;
}

// At L2 and DRAM windows can agree and still be wrong, because all have their CTAs in step or all in the same place of
// a column. The largest error beyond the rest of the bound over the layers of the test, rounded up.
constexpr double kUnseen = 0.01;
// A margin, as a share of the check bits that windows write: streaming layers on T4 and P40 are off by at most 0.3 % of
// DRAM's bytes, about a thirtieth of these bits.
constexpr double kUnordered = 0.25;

template <class F>
double sum(const TensorCounts& counts, F amount) {
    double total = 0;
    for (const Counts& c : counts) total += static_cast<double>(amount(c));
    return total;
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

}  // namespace

SampledEstimate::Window SampledEstimate::window(const TensorCounts& counted, const TensorCounts& others, double work,
                                                double other_work) {
    Window result{counted, work};
    for (unsigned t = 0; t < kTensors; ++t) {
        const auto written = static_cast<double>(counted[t].dram_write + others[t].dram_write);
        result.counts[t].dram_write = rounded(written * work / (work + other_work));
    }
    return result;
}

SampledEstimate::SampledEstimate(const TensorCounts& start, const TensorCounts& others, double work, double other_work)
    : start_(window(start, others, work, other_work)) {}

void SampledEstimate::add(const TensorCounts& counted, const TensorCounts& others, double work, double other_work) {
    windows_.push_back(window(counted, others, work, other_work));
}

TensorCounts SampledEstimate::total(double rest) const {
    TensorCounts result = start_.counts;
    double work = 0;
    for (const Window& window : windows_) work += window.work;
    for (unsigned t = 0; t < kTensors; ++t) {
        Counts sampled;
        for (const Window& window : windows_) sampled += window.counts[t];
        for (std::uint64_t Counts::*amount :
             {&Counts::l1_read, &Counts::l1_write, &Counts::l1_hit, &Counts::l2_read, &Counts::l2_write,
              &Counts::l2_hit, &Counts::fabric, &Counts::dram_read, &Counts::dram_write})
            result[t].*amount += rounded(static_cast<double>(sampled.*amount) * rest / work);
    }
    return result;
}

SamplingError SampledEstimate::error(double rest) const {
    const auto count = static_cast<double>(windows_.size());
    const TensorCounts all = total(rest);
    // `doubtful`: sectors that are counted as misses and may have been hits.
    const auto bound = [&](auto amount, auto doubtful, double unseen) {
        double sectors = 0, work = 0, squares = 0, doubt = 0;
        for (const Window& window : windows_) {
            sectors += sum(window.counts, amount);
            work += window.work;
            doubt += std::min(doubtful(window.counts), sum(window.counts, amount));
        }
        // Of the ratio of sectors to work.
        for (const Window& window : windows_)
            squares += std::pow(sum(window.counts, amount) - sectors / work * window.work, 2);
        const double deviation = std::sqrt(squares / (count - 1) * count);
        const double whole = sum(all, amount);
        return whole > 0 ? rest / work * (student(windows_.size() - 1) * deviation + doubt) / whole + unseen : 0;
    };
    const auto early_l1 = [](const TensorCounts& counts) {
        return sum(counts, [](const Counts& c) { return c.l1_filled * kSectorsPerLine; });
    };
    // How many check bits are written together depends on the order in which lines leave L2, and a window ends with all
    // at once.
    const auto early_l2 = [](const TensorCounts& counts) {
        const auto checks = static_cast<double>(counts[static_cast<std::size_t>(Tensor::check_bits)].dram_write);
        return sum(counts, [](const Counts& c) { return c.l2_filled * kSectorsPerLine; }) + kUnordered * checks;
    };
    return {bound([](const Counts& c) { return c.l1_read + c.l1_write; }, [](const TensorCounts&) { return 0.0; }, 0),
            bound([](const Counts& c) { return c.l2_read + c.l2_write; }, early_l1, kUnseen),
            bound([](const Counts& c) { return c.dram_read + c.dram_write; }, early_l2, kUnseen)};
}

}  // namespace gambrel::sim_detail
