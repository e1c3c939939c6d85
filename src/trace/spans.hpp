// Wall time, idle time and exposed communication of a timeline.
#pragma once

#include <gambrel/trace.hpp>

#include "trace/launch_model.hpp"

namespace gambrel::trace_detail {

void add_spans(const Timeline& timeline, const LaunchModel& model, TimelineSummary& sum);

}  // namespace gambrel::trace_detail
