// When to stop repeating, and what repeated samples say of the hardware. Does no timing itself.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel::measure_detail {

// Ranks (0-based, inclusive) of the order statistics that enclose the median with at least 95 % confidence; the whole
// range if there are fewer than six samples, because then none does.
struct RankInterval {
    std::size_t low = 0, high = 0;
};
RankInterval median_interval(std::size_t count);

double median_of(std::vector<double> values);  // 0 if there are none

inline constexpr double kSettledInterval = 0.01;
inline constexpr std::size_t kLeastSamples = 6;
// Optional stopping: a test after every sample finds a spuriously narrow interval sooner or later. So the first look is
// at 25 samples, and the quartiles must promise a narrow interval too.
inline constexpr std::size_t kFirstLook = 25;

// The 95 % interval of the median that the quartiles promise, relative to the median, were the samples normal.
double interval_by_quartiles(std::vector<double> samples);

// What other programs do to samples. `none`: nothing else uses the device, noise goes both ways, and the median is the
// estimate. Otherwise a sample can only be too slow, so that the hardware is what the fastest samples that agree show.
enum class Disturbance : std::uint8_t { none, lowers_rates, raises_times };

// How many instructions a core could issue in a cycle around a sample. A core that shares its silicon with another
// thread is narrower, but how wide it is when whole is known only after a while. Width 0: unknown.
struct IssueWidth {
    int unit = 0;
    double width = 0;
};

// Gathers samples of one quantity and estimates it.
class Repeater {
public:
    explicit Repeater(Disturbance disturbance = Disturbance::none) : disturbance_(disturbance) {}

    void add(double value, bool disturbed = false, IssueWidth narrowest = {});
    void add(const Repeater& other);
    // What is known of the cores by now: samples whose core was narrower than `least(unit)` were disturbed.
    void mark_narrow(const std::function<double(int unit)>& least);
    [[nodiscard]] bool settled() const { return settled_; }
    [[nodiscard]] std::size_t count() const { return samples_.size(); }
    [[nodiscard]] std::size_t disturbed() const;
    [[nodiscard]] Statistics all() const;

    struct Estimate {
        Statistics value;
        // Fewer than six samples agree, or fewer than six of them are known to have run undisturbed.
        bool disturbed = false;
    };
    [[nodiscard]] Estimate estimate() const;

private:
    struct Sample {
        double value = 0;
        bool disturbed = false;
        IssueWidth narrowest;
    };
    [[nodiscard]] Estimate of_all() const;
    [[nodiscard]] Estimate of_fastest() const;

    Disturbance disturbance_;
    std::vector<Sample> samples_;
    std::size_t next_look_ = kFirstLook;
    bool settled_ = false;
};

}  // namespace gambrel::measure_detail
