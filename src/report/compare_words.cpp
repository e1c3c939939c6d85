#include "report/compare_words.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

template <class Q>
SumLine sum_line(std::string_view what, const Change& change, const Comparison& c) {
    const auto text = [](const std::optional<double>& v) { return v ? to_text(Q{*v}, 3) : std::string{}; };
    return {std::string(what), text(change.before), text(change.after), change_text(shown_ratio(change, c))};
}

std::string what_figures_are(const Comparison& c) {
    if (!c.is_prediction) return "Figures are relative changes: after / before - 1.";
    if (times_compare(c)) return "Figures are errors of the prediction: predicted / measured - 1.";
    return "Figures are errors of the model: modelled / simulated - 1. The simulator counts bytes, not "
           "cycles; "
           "its time is the shortest that they allow, so times have no error here.";
}

}  // namespace

bool times_compare(const Comparison& c) { return !c.is_prediction || c.after.origin != Origin::simulated; }

std::optional<double> shown_ratio(const Change& change, const Comparison& c) {
    return c.is_prediction ? Change{change.after, change.before}.ratio() : change.ratio();
}

std::string change_text(std::optional<double> ratio) {
    if (!ratio || !std::isfinite(*ratio)) return {};
    if (*ratio >= 10 || (*ratio > 0 && *ratio <= 0.1)) return fmt::format("x{:.3g}", *ratio);
    const std::string text = fmt::format("{:+.1f} %", 100 * (*ratio - 1));
    return text == "-0.0 %" ? "+0.0 %" : text;
}

std::string explained_text(const ComparedPair& pair) {
    const auto ratio = pair.time.ratio();
    if (!ratio || std::fabs(*ratio - 1) <= 1e-3) return {};
    if (pair.cause == Cause::efficiency) return "rate";
    std::string cause = pair.cause == Cause::clock ? "clock" : "count";
    if (pair.cause == Cause::roof)
        cause = bound_text(pair.explained_by) + (std::holds_alternative<Level>(pair.explained_by) ? " bytes" : " work");
    return fmt::format("{} ({:.0f} %)", cause, 100 * pair.explained);
}

const Kernel& shown_kernel(const ComparedPair& pair, const Comparison& c) {
    return pair.after ? c.after.rows[*pair.after].kernel : c.before.rows[*pair.before].kernel;
}

std::vector<std::string> summary_of(const Comparison& c) {
    std::vector<std::string> out;
    std::string text = fmt::format("{} matched by {}", plural(c.matched, "pair"), name(c.matched_by));
    if (c.matched_by_base_name > 0)
        text += fmt::format(" ({} of them by the name without template arguments)", count_text(c.matched_by_base_name));
    if (c.only_before > 0) text += fmt::format(", {} only in {}", count_text(c.only_before), c.before.title);
    if (c.only_after > 0) text += fmt::format(", {} only in {}", count_text(c.only_after), c.after.title);
    out.push_back(text + ".");
    out.push_back(what_figures_are(c));
    for (const Analysis* side : {&c.before, &c.after})
        if (side->partial)
            out.push_back(fmt::format("Partial result: the source of {} was cut short or interrupted.", side->title));
    if (!c.before.machines.empty() && !c.after.machines.empty() &&
        c.before.machines.front().name != c.after.machines.front().name)
        out.push_back(fmt::format("Two machines: {} and {}; each side is judged by its own roofs.",
                                  c.before.machines.front().name, c.after.machines.front().name));
    return out;
}

std::vector<SumLine> sums_of(const Comparison& c) {
    std::vector<SumLine> out{sum_line<Seconds>("time", c.total.time, c), sum_line<Flops>("FLOP", c.total.flop, c)};
    if (!times_compare(c)) out.front().change.clear();
    for (const Level l : all_levels())
        if (c.total.bytes[l].before || c.total.bytes[l].after)
            out.push_back(sum_line<Bytes>(std::string(name(l)) + " bytes", c.total.bytes[l], c));
    return out;
}

}  // namespace gambrel::report_detail
