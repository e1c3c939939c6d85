// The same network on several GPUs, and the sentence that says which is fastest and why.
#include <algorithm>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/estimate_words.hpp"
#include "report/fields.hpp"
#include "report/model_summary.hpp"
#include "report/numbers.hpp"

namespace gambrel {

using namespace report_detail;

namespace {

// Of a network that is not a transformer, which counts tokens; absent where the batch is not known.
std::optional<double> samples_per_s(const Estimates& e) {
    const std::int64_t batch = batch_of(e);
    if (e.summary || batch <= 0 || e.time() <= Seconds{}) return std::nullopt;
    return static_cast<double>(batch) / e.time().value();
}

// Cells of one GPU, of a transformer or of any other network.
std::vector<std::string> gpu_cells(const Estimates& e, double fastest) {
    if (!e.refused.empty()) return {e.machine(), "-", "-"};
    const double time = e.time().value();
    std::vector<std::string> cells = {e.machine(), to_text(Seconds{time}, 3),
                                      fmt::format("{:.2f}", time > 0 ? fastest / time : 0)};
    if (const auto samples = samples_per_s(e)) cells.push_back(count_text(static_cast<std::uint64_t>(*samples + 0.5)));
    if (e.summary)
        for (std::string cell :
             {fmt::format("{:.4g}", e.summary->tokens_per_s), memory_text(*e.summary), e.summary->bound})
            cells.push_back(std::move(cell));
    return cells;
}

double fastest_of(std::span<const Estimates> each) {
    double least = 0;
    for (const Estimates& e : each)
        if (const double time = e.time().value(); time > 0 && (least == 0 || time < least)) least = time;
    return least;
}

// "waits 66 ms longer for DRAM (864 GB/s against 2.04 TB/s)".
std::string difference_text(const GpuRanking::Slower& s) {
    const std::string longer = to_text(s.longer, 3);
    const auto against = [&](auto unit) {
        using Q = decltype(unit);
        return s.resource > 0 && s.best > 0
                   ? fmt::format("{} against {}", to_text(Q{s.resource}, 3), to_text(Q{s.best}, 3))
                   : std::string();
    };
    std::string had = s.because == Term::compute ? against(FlopRate{}) : against(Bandwidth{});
    if (s.because == Term::compute) {
        if (!had.empty()) had = fmt::format(" ({} {})", title(s.pipe), had);
        return fmt::format("computes {} longer{}", longer, had);
    }
    if (!had.empty()) had = fmt::format(" ({})", had);
    return fmt::format("waits {} longer for {}{}", longer, name(s.because), had);
}

}  // namespace

namespace {

std::string ranking_answer(std::span<const Estimates> each) {
    constexpr double kSame = 1.005;
    const auto ranking = gpu_ranking(each);
    if (!ranking) return {};
    const Estimates& best = each[ranking->fastest];
    std::string text;
    for (const GpuRanking::Slower& s : ranking->slower) {
        const Estimates& other = each[s.index];
        const Seconds time = ranking->time * s.ratio;
        text += text.empty() ? best.machine() + " is " : "; ";
        if (s.ratio < 1 / kSame)
            text += fmt::format("{:.2f}x slower than {}", 1 / s.ratio, other.machine());
        else if (s.ratio < kSame)
            text += fmt::format("as fast as {}", other.machine());
        else
            text += fmt::format("{:.2f}x as fast as {}", s.ratio, other.machine());
        text += fmt::format(" ({} against {})", to_text(ranking->time, 3), to_text(time, 3));
        const bool too_small = !other.fits && best.fits;
        if (too_small) text += ", whose memory is too small for the network";
        if (s.ratio >= kSame && s.longer > Seconds{}) text += (too_small ? " and " : ", which ") + difference_text(s);
    }
    text += ".";
    if (!best.fits) text += " The network fits into the memory of none of them.";
    return text;
}

}  // namespace

std::string side_by_side_answer(std::span<const Estimates> each) {
    std::string text = ranking_answer(each);
    for (const Estimates& e : each)
        if (!e.refused.empty())
            text += fmt::format("{}{} has no estimate: {}.", text.empty() ? "" : " ", e.machine(), e.refused);
    return text;
}

std::string side_by_side_text(std::span<const Estimates> each, const TextStyle& style) {
    if (each.empty()) return {};
    std::vector<TableColumn> columns = {{"GPU", false, 100, 12}, {"time", true, 95}, {"of the fastest", true, 60}};
    const auto with_summary = [](const Estimates& e) { return e.summary.has_value(); };
    const auto with_samples = [](const Estimates& e) { return samples_per_s(e).has_value(); };
    if (const auto some = std::find_if(each.begin(), each.end(), with_samples); some != each.end())
        columns.push_back({fmt::format("{}/s", sample_noun(*some)), true, 90});
    if (std::any_of(each.begin(), each.end(), with_summary)) {
        columns.push_back({"tokens/s", true, 90});
        columns.push_back({"memory", false, 80});
        columns.push_back({"bound", false, 50});
    }
    Table table(std::move(columns));
    const double fastest = fastest_of(each);
    for (const Estimates& e : each) {
        std::vector<TableCell> cells;
        for (std::string& text : gpu_cells(e, fastest)) cells.emplace_back(std::move(text));
        TableRow row{std::move(cells), "", {}};
        if (!e.refused.empty()) row.below = chart_detail::wrapped("  no estimate: " + e.refused, style.width, 2);
        table.add(std::move(row));
    }
    std::string text = chart_detail::printable(each.front().layers->title, !style.unicode) + ", modelled\n" +
                       terminal_text(table, style);
    for (const std::string& line : chart_detail::wrapped(ranking_answer(each), style.width, 0)) text += line + "\n";
    return text;
}

std::string side_by_side_csv(std::span<const Estimates> each) {
    std::string text = csv_line(
        {"gpu", "time_s", "tokens_per_s", "memory_bytes", "fits", "largest_batch", "bound", "reason", "samples_per_s"});
    for (const Estimates& e : each) {
        const auto& s = e.summary;
        const auto samples = samples_per_s(e);
        text += csv_line({e.machine(), e.refused.empty() ? exact(e.time().value()) : "",
                          s ? exact(s->tokens_per_s) : "", s ? exact(s->memory.value()) : "",
                          s ? (s->fits ? "true" : "false") : "", s ? std::to_string(s->largest_batch) : "",
                          s ? s->bound : "", e.refused, samples ? exact(*samples) : ""});
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
        if (e.refused.empty())
            one["time_s"] = e.time().value();
        else
            one["reason"] = e.refused;
        if (const auto samples = samples_per_s(e)) one["samples_per_s"] = *samples;
        if (e.summary) one["summary"] = summary_json(*e.summary);
        out["gpus"].push_back(std::move(one));
    }
    if (!each.empty()) out["title"] = each.front().layers->title;
    if (const std::string answer = side_by_side_answer(each); !answer.empty()) out["answer"] = answer;
    return dumped(out, 1) + "\n";
}

}  // namespace gambrel
