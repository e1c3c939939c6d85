// Unit texts of profilers to factors: "Kbyte" 1e3, "usecond" 1e3 (to ns), "cycle/nsecond" 1e9 (to per second).
// Invariant: value * factor is in ncu's base unit: byte, inst, cycle, %, ns; rates are per second. Knows no metric.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gambrel::ingest_detail {

// ncu scales by 1000 (3.35 Mbyte in 23.42 us are printed as 143.20 Gbyte/s). nvprof scales bytes by 1024: its traces
// show 1.003906 KB in 1.568 us as 0.610586 GB/s, and 1028 B / 1.568 us is 0.610586 * 2^30 B/s.
enum class ByteScale : std::uint8_t { decimal, binary };

// Empty for a unit nobody has told us of.
std::optional<double> base_unit_factor(std::string_view unit, ByteScale scale = ByteScale::decimal);

}  // namespace gambrel::ingest_detail
