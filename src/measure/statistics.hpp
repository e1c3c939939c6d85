// When to stop repeating: the 95 % interval of the median is narrow, or the time is spent. Does no timing itself.
#pragma once

#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel::measure_detail {

// Ranks (0-based, inclusive) of the order statistics that enclose the median with at least 95 % confidence; the whole
// range where there are fewer than six samples, because none does.
struct RankInterval {
    std::size_t low = 0, high = 0;
};
RankInterval median_interval(std::size_t count);

double median_of(std::vector<double> values);  // 0 if there are none

inline constexpr double kSettledInterval = 0.01;
inline constexpr std::size_t kLeastSamples = 6;
inline constexpr std::size_t kFirstLook = 25;  // of fewer some lie close together by chance, in one run or another

// The 95 % interval that the quartiles promise, as a part of the median, were the samples normally distributed. Who
// looks again and again finds order statistics of the middle that lie close together by chance, or in one mode of two;
// the quartiles do so less often.
double interval_by_quartiles(std::vector<double> samples);

// Gathers samples and knows when they suffice. Disturbed samples count only where there are no others.
// Sorting for each new sample would cost more than a short run, so the verdict is renewed only when the count has grown
// by an eighth.
class Repeater {
public:
    void add(double value, bool disturbed = false);
    [[nodiscard]] bool settled() const { return settled_; }
    [[nodiscard]] std::size_t count() const { return clean_.size() + disturbed_.size(); }
    [[nodiscard]] std::size_t clean() const { return clean_.size(); }
    // Of the undisturbed, if there are any.
    [[nodiscard]] Statistics result() const;

private:
    std::vector<double> clean_, disturbed_;
    std::size_t next_look_ = kFirstLook;
    bool settled_ = false;
};

}  // namespace gambrel::measure_detail
