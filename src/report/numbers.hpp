// Numbers as the reports spell them, and the counts that several reports state in the same words.
// Formats only: every figure is taken from the Analysis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

// The fewest digits that read back to the same double; "" for what is not finite.
std::string exact(double value);
void add_exact(std::string& text, double value);  // the same at the end of a text
inline constexpr std::size_t kLongestExact = 32;
// The same into a buffer of that length; the end of what was written.
char* put_exact(char* to, double value);
std::string intensity_text(double flop_per_byte);  // about three digits, never an exponent between 0.001 and 1e6
std::string percent_text(double fraction, int digits = 1);   // "55.2 %", "<0.1 %"
std::string count_text(std::uint64_t n);                     // "10,000"
std::string plural(std::uint64_t n, std::string_view noun);  // "1 kernel", "10,000 kernels"

// One unit for a whole column, chosen by its largest value, and as many decimals as its smallest needs (at most four).
struct ColumnUnit {
    double factor = 1;
    std::string text;
    int decimals = 0;
    [[nodiscard]] std::string format(double value) const;
};
ColumnUnit column_unit(const std::vector<double>& values, std::string_view unit, bool small_prefixes);

std::string_view bound_color(Bound bound);  // its name in the palette
// Whether the share of the nearest roof was made of counters or is the profiler's own percentage: "counters",
// "nsight-compute", "" without a verdict.
std::string basis_name(const Roofline& verdict);
std::string bound_text(Bound bound);  // for people: "DRAM", "Tensor FP16"; "" if nothing could be said

// Where the numbers of the kernels come from: "measured", "modelled"; a mix is said as a mix: "derived time and FLOP,
// simulated bytes". "" without kernels.
std::string origins_text(const Analysis& analysis);

// The time of the whole run: the total if it is known, else the sum of what is known.
Seconds known_time(const Analysis& analysis);
std::size_t distinct_names(const Analysis& analysis);
// "11 of 43 names, 290 of 525 launches (55.2 %), 31.8 ms (16.1 % of time), DRAM 5.2 GB"; "" if there are none.
std::string zero_flop_text(const Analysis& analysis);

}  // namespace gambrel::report_detail
