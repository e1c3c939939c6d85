// Every kernel of a run beside its machine and verdict, with totals and the census of kernels that do no FLOP.
// What all reports are views of; computed here once, so that report formats and never computes. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gambrel/error.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {

struct AnalysisRow {
    Kernel kernel;
    Roofline verdict;
    std::size_t machine = 0;  // index into Analysis::machines
};

struct PhaseSummary {
    Symbol phase;
    Kernel sum;
    std::uint64_t zero_flop_launches = 0;
    Seconds zero_flop_time{};
};

struct Analysis {
    std::string title;  // what was analysed, for headings
    Grouping grouping = Grouping::kernel;
    std::vector<Machine> machines;
    std::vector<AnalysisRow> rows;  // by falling time; launches keep file order
    Kernel total;
    std::uint64_t zero_flop_launches = 0;
    std::size_t zero_flop_names = 0;
    Seconds zero_flop_time{};
    PerLevel<Bytes> zero_flop_bytes{};
    std::vector<PhaseSummary> phases;  // in order of appearance; empty if there are no phases
    std::vector<Error> notes;
    Roofs roofs = Roofs::theoretical;
};

struct AnalysisOptions {
    Grouping grouping = Grouping::kernel;
    TimeSum time_sum = TimeSum::exact;
    RooflineOptions roofline;
};

// `machine_of` gives the index into `machines` for a launch.
Analysis analysis(std::vector<Kernel> launches, std::vector<Machine> machines,
                  const std::function<std::size_t(const Kernel&)>& machine_of, const AnalysisOptions& options = {});

}  // namespace gambrel
