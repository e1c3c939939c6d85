#include "report/model_summary.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace report_detail {
namespace {

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f}", bytes.value() / 1e9); }

std::string step_of(Phase phase) {
    switch (phase) {
        case Phase::prefill:
            return "time to first token";
        case Phase::decode:
            return "time per output token";
        case Phase::train:
            break;
    }
    return "time of a training step";
}

}  // namespace

std::string memory_text(const ModelSummary& s) {
    if (s.capacity <= Bytes{}) return fmt::format("{} GB", gigabytes(s.memory));
    const std::string of = fmt::format("{} of {} GB", gigabytes(s.memory), gigabytes(s.capacity));
    if (s.fits) return fmt::format("fits: {}; largest batch {}", of, s.largest_batch);
    if (s.largest_batch < 1) return fmt::format("does not fit: {}, at any batch", of);
    return fmt::format("does not fit: {}; fits at batch {}", of, s.largest_batch);
}

std::string summary_text(const ModelSummary& s) {
    std::string text =
        fmt::format("{}, batch {}: {} {}, {} tokens/s, bound by {}\n", name(s.phase), s.batch, step_of(s.phase),
                    to_text(s.time, 3), fmt::format("{:.4g}", s.tokens_per_s), s.bound);
    return text + fmt::format("memory {} (weights {}, KV cache {}, activations {} GB)\n", memory_text(s),
                              gigabytes(s.weights), gigabytes(s.kv_cache), gigabytes(s.activations));
}

Json summary_json(const ModelSummary& s) {
    Json out;
    out["phase"] = name(s.phase);
    out["batch"] = s.batch;
    out["time_s"] = s.time.value();
    out["tokens_per_s"] = s.tokens_per_s;
    if (s.phase == Phase::prefill) out["time_to_first_token_s"] = s.time_to_first_token.value();
    if (s.phase == Phase::decode) out["time_per_output_token_s"] = s.time_per_output_token.value();
    out["memory_bytes"] = s.memory.value();
    out["weights_bytes"] = s.weights.value();
    out["kv_cache_bytes"] = s.kv_cache.value();
    out["activation_bytes"] = s.activations.value();
    out["capacity_bytes"] = s.capacity > Bytes{} ? Json(s.capacity.value()) : Json(nullptr);
    out["fits"] = s.fits;
    out["largest_batch"] = s.largest_batch;
    out["bound"] = s.bound;
    return out;
}

}  // namespace report_detail

using namespace report_detail;

namespace {

double time_of(const Estimates& estimates) {
    double time = 0;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates)
            if (e.kernel.time) time += e.kernel.time->value.value() * e.layer->repeat;
    return time;
}

// Cells of one GPU, of a transformer or of any other network.
std::vector<std::string> cells_of(const Estimates& e, double fastest) {
    const double time = time_of(e);
    std::vector<std::string> cells = {e.machine(), to_text(Seconds{time}, 3),
                                      fmt::format("{:.2f}", time > 0 ? fastest / time : 0)};
    if (e.summary)
        for (std::string cell :
             {fmt::format("{:.4g}", e.summary->tokens_per_s), memory_text(*e.summary), e.summary->bound})
            cells.push_back(std::move(cell));
    return cells;
}

double fastest_of(std::span<const Estimates> each) {
    double least = 0;
    for (const Estimates& e : each)
        if (const double time = time_of(e); time > 0 && (least == 0 || time < least)) least = time;
    return least;
}

}  // namespace

std::string side_by_side_text(std::span<const Estimates> each, const TextStyle& style) {
    if (each.empty()) return {};
    std::vector<TableColumn> columns = {{"GPU", false, 100, 12}, {"time", true, 95}, {"of the fastest", true, 60}};
    if (each.front().summary) {
        columns.push_back({"tokens/s", true, 90});
        columns.push_back({"memory", false, 80});
        columns.push_back({"bound", false, 50});
    }
    Table table(std::move(columns));
    const double fastest = fastest_of(each);
    for (const Estimates& e : each) {
        std::vector<TableCell> cells;
        for (std::string& text : cells_of(e, fastest)) cells.emplace_back(std::move(text));
        table.add({std::move(cells), "", {}});
    }
    return chart_detail::printable(each.front().layers->title, !style.unicode) + ", modelled\n" +
           terminal_text(table, style);
}

std::string side_by_side_csv(std::span<const Estimates> each) {
    std::string text = csv_line({"gpu", "time_s", "tokens_per_s", "memory_bytes", "fits", "largest_batch", "bound"});
    for (const Estimates& e : each) {
        const auto& s = e.summary;
        text += csv_line({e.machine(), exact(time_of(e)), s ? exact(s->tokens_per_s) : "",
                          s ? exact(s->memory.value()) : "", s ? (s->fits ? "true" : "false") : "",
                          s ? std::to_string(s->largest_batch) : "", s ? s->bound : ""});
    }
    return text;
}

std::string side_by_side_json(std::span<const Estimates> each) {
    Json out;
    out["schema"] = "gambrel-gpus-1";
    out["origin"] = "modelled";
    out["gpus"] = Json::array();
    for (const Estimates& e : each) {
        Json one;
        one["machine"] = e.machine();
        one["time_s"] = time_of(e);
        if (e.summary) one["summary"] = summary_json(*e.summary);
        out["gpus"].push_back(std::move(one));
    }
    if (!each.empty()) out["title"] = each.front().layers->title;
    return dumped(out, 1) + "\n";
}

}  // namespace gambrel
