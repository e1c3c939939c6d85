// Which launches of two runs of one program are the same launch: by kernel name, launch shape and device where known.
// It moves no values.
#pragma once

#include <cstddef>
#include <vector>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

// What one of the two does not say is not a difference.
bool same_kernel(const Launch& a, const Launch& b);

// The first launch at which the two name different kernels; the common length if they never do.
std::size_t first_difference(const Profile& a, const Profile& b);

// For each launch of `like`, the launch of `other` that is the same occurrence of the same kernel; empty if the two do
// not hold the same kernels the same number of times.
std::vector<std::size_t> paired_by_occurrence(const Profile& like, const Profile& other);

// Pages of one report that ncu printed one by one: the same launches, and the same values where both have a metric.
// The details page rounds to two decimals of a scaled unit, hence one percent.
bool same_run(const Profile& a, const Profile& b);

}  // namespace gambrel::ingest_detail
