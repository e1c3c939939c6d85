// The machine that a profiler file describes: device attributes and peaks stored with a launch, and, for what the file
// does not say, the organisation that all GPUs of its compute capability share. Every number says which of these it is.
#pragma once

#include <gambrel/machine.hpp>

#include "ingest/profile.hpp"

namespace gambrel::ingest_detail {

void add_machine_metrics(MetricSet& metrics);

// `kernel` is the evaluated launch: its peaks are taken over.
Machine report_machine(const Profile& profile, const Launch& launch, const Kernel& kernel, const MetricSet& metrics);

// The name of the device of a launch, also where the file gives only a compute capability.
Symbol device_name(const Launch& launch);

}  // namespace gambrel::ingest_detail
