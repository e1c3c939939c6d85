// What a layer did or would do, as predict and simulate report it: one shape for both, labelled with its origin. A
// table's rows are kept as they were, so that nothing of the input is lost. Formats; computes nothing but sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/mapping.hpp>
#include <gambrel/network.hpp>
#include <gambrel/page.hpp>
#include <gambrel/report.hpp>

namespace gambrel {

struct LayerOutcome {
    std::string name;
    Pass pass = Pass::fwd;
    Precision precision = Precision::fp32;
    double repeat = 1;  // the amounts are of one run
    Tile tile;          // 0: not tiled
    double waves = 0;   // of CTAs over the machine; 0: unknown
    double flop = 0;
    double l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;
    double dram_read = 0;
    std::optional<double> time, time_low, time_high;  // s
    std::string bound;                                // what the time waits for
    std::string reason;                               // what is missing or assumed
};

// One row of the input; `layers` is empty where it could not be read, and two where a row is a whole backward pass.
struct OutcomeRow {
    const LayerRow* source = nullptr;
    std::vector<LayerOutcome> layers;
    std::string reason;
};

struct OutcomeReport {
    std::string title, machine;
    Origin origin = Origin::modelled;
    std::string model;                                  // "gambrel", "paper"; empty if there is only one
    const std::vector<std::string>* columns = nullptr;  // of the table; null: a network
    std::vector<OutcomeRow> rows;
    double unmodelled_share = 0;  // of the bytes of a network's operators
    std::vector<Unmodelled> unmodelled;
};

std::string outcome_text(const OutcomeReport& report, const TextStyle& style);
// The contract of shared/DESIGN.md: the input's columns, then pred_tile_m ... pred_reason.
std::string outcome_csv(const OutcomeReport& report);
// `roofline`: the same layers as kernels on their machine; what `gambrel compare` reads back.
std::string outcome_json(const OutcomeReport& report, const Analysis* roofline = nullptr);

// The strip of layers on a page; row i is that of kernel i, in the order of the report.
std::vector<PageLayer> page_layers(const OutcomeReport& report);

// An equation, what was put in, and what came out.
struct ExplainedTerm {
    std::string name, equation, values, result;
};
std::string explained_text(const std::string& title, const std::vector<ExplainedTerm>& terms, const TextStyle& style);

}  // namespace gambrel
