// One profile from several files of a folder, as made by one profiler run per metric.
// Invariant: values are joined only where the files say the same of which kernels ran; what does not fit is left as it
// was, with a note that says where. It judges no values.
#pragma once

#include <vector>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

// Profiles of one folder and tool whose metrics are disjoint become one: launch by launch if the sequences of kernels
// are the same, summaries by kernel name. Two profiles with a metric in common are two runs to compare, so neither is
// joined.
std::vector<Profile> joined(std::vector<Profile> profiles, Errors& notes);

}  // namespace gambrel::ingest_detail
