// What measure and explore put on a page: their charts, bars and tables. Formats only; what a view points to must
// outlive the call of html_page.
#pragma once

#include <gambrel/explore.hpp>
#include <gambrel/measure.hpp>
#include <gambrel/page.hpp>

namespace gambrel {

// `machine` is machine_analysis of what was measured: its Roofline stands beside the sweeps.
PageView measure_view(const Measurement& measurement, const Analysis& machine);
// `moved`: the start and the design that the reader is led to, layer by layer. Null if there is no such design.
PageView explore_view(const ExplorationReport& report, const Comparison* moved);

}  // namespace gambrel
