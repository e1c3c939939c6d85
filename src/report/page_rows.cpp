#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "chart/text.hpp"
#include "report/json_values.hpp"
#include "report/numbers.hpp"
#include "report/page_json.hpp"
#include "report/reasons.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

// Shares are for people: four digits, so that a page of ten thousand kernels stays small.
Json share(double fraction) {
    if (!std::isfinite(fraction)) return nullptr;
    if (fraction == 0) return 0;
    const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(fraction))));
    return std::round(fraction * scale) / scale;
}

// Names, phases and reasons repeat; a column holds indices into the list of texts.
class Texts {
public:
    Json index(const std::string& text) {
        const auto [at, is_new] = known_.try_emplace(text, list_.size());
        if (is_new) list_.push_back(text);
        return at->second;
    }
    [[nodiscard]] Json take() { return std::move(list_); }

private:
    std::unordered_map<std::string, std::size_t> known_;
    std::vector<std::string> list_;
};

template <class Get>
Json column(const std::vector<const AnalysisRow*>& rows, Get get) {
    Json out = Json::array();
    for (const AnalysisRow* row : rows) out.push_back(row ? Json(get(*row)) : Json(nullptr));
    return out;
}

bool all_null(const Json& column) {
    return std::all_of(column.begin(), column.end(), [](const Json& v) { return v.is_null(); });
}

// What one word says of all amounts of a kernel: the time's, and the traffic's if that is another.
std::string origin_of(const Kernel& k) {
    std::string out = k.time ? std::string(name(k.time->origin)) : "";
    for (const Level l : all_levels())
        if (k.bytes[l]) {
            const std::string of_bytes(name(k.bytes[l]->origin));
            if (out.empty()) return of_bytes;
            return out == of_bytes ? out : out + " time, " + of_bytes + " traffic";
        }
    return out;
}

// A counter that was not collected is worth a warning only where the verdict lacks something without it: FP64 is seldom
// collected for deep learning, and seldom used.
bool is_incomplete(const Kernel& k) {
    const bool whole = k.time && flop(k) && k.bytes[Level::l1] && k.bytes[Level::l2] && k.bytes[Level::dram];
    return std::any_of(k.reasons.begin(), k.reasons.end(),
                       [&](Symbol reason) { return !whole || !reason.str().starts_with("not in the file: "); });
}

bool is_above(const Roofline& v) {
    const auto above = [](const auto& roof) { return roof.of_ceiling > kRoofTolerance; };
    return std::any_of(v.pipes.begin(), v.pipes.end(), above) || std::any_of(v.levels.begin(), v.levels.end(), above);
}

Json of_compute_roof(const Roofline& v) {
    if (!v.achieved || !v.compute_roof || v.compute_roof->value() <= 0) return nullptr;
    return share(*v.achieved / *v.compute_roof);
}

void add_level_columns(Json& out, const std::vector<const AnalysisRow*>& rows) {
    out["bytes"] = Json::object();
    out["of_ceiling"] = Json::object();
    for (const Level level : all_levels()) {
        const std::string key(name(level));
        if (Json bytes = column(rows, [&](const AnalysisRow& r) { return value_of(r.kernel.bytes[level]); });
            !all_null(bytes))
            out["bytes"][key] = std::move(bytes);
        Json of = column(rows, [&](const AnalysisRow& r) -> Json {
            for (const auto& l : r.verdict.levels)
                if (l.level == level) return share(l.of_ceiling);
            return nullptr;
        });
        if (!all_null(of)) out["of_ceiling"][key] = std::move(of);
    }
    out["work"] = Json::object();
    for (const Pipe pipe : all_pipes())
        if (Json work = column(rows, [&](const AnalysisRow& r) { return value_of(r.kernel.work[pipe]); });
            !all_null(work))
            out["work"][std::string(name(pipe))] = std::move(work);
}

}  // namespace

Json page_rows(const Analysis& analysis, const std::vector<std::optional<std::size_t>>& order) {
    std::vector<const AnalysisRow*> rows;
    for (const auto& at : order) rows.push_back(at ? &analysis.rows[*at] : nullptr);
    Texts texts;
    Json out;
    out["name"] = column(rows, [&](auto& r) { return texts.index(r.kernel.name.str()); });
    // What is shown: without control and direction-changing characters, and short enough to read.
    out["shown"] = column(rows, [&](auto& r) { return texts.index(printable(r.kernel.name.str())); });
    std::vector<std::string_view> names;
    for (const AnalysisRow* r : rows)
        if (r) names.emplace_back(r->kernel.name.str());
    const std::vector<std::string> shorts = short_names(names, 64);
    std::size_t next = 0;
    out["short"] = column(rows, [&](auto&) { return texts.index(printable(shorts[next++])); });
    out["phase"] = column(rows, [&](auto& r) { return texts.index(r.kernel.phase.str()); });
    out["origin"] = column(rows, [&](auto& r) { return texts.index(origin_of(r.kernel)); });
    out["reason"] = column(rows, [&](auto& r) { return texts.index(printable(reason_text(r, true))); });
    out["bound"] = column(rows, [&](auto& r) { return texts.index(to_text(r.verdict.bound)); });
    out["nearest"] = column(rows, [&](auto& r) { return texts.index(to_text(r.verdict.nearest)); });
    out["basis"] = column(rows, [&](auto& r) { return texts.index(basis_name(r.verdict)); });
    out["why"] = column(rows, [&](auto& r) { return texts.index(printable(r.verdict.why)); });
    out["machine"] = column(rows, [](auto& r) { return r.machine; });
    out["launches"] = column(rows, [](auto& r) { return r.kernel.launches; });
    out["time"] = column(rows, [](auto& r) { return value_of(r.kernel.time); });
    out["flop"] = column(rows, [](auto& r) { return value_of(flop(r.kernel)); });
    out["clock"] = column(rows, [](auto& r) { return number(r.verdict.clock); });
    out["of_roof"] = column(rows, [](auto& r) { return r.verdict.of_roof ? share(*r.verdict.of_roof) : Json(); });
    out["of_compute"] = column(rows, [](auto& r) { return of_compute_roof(r.verdict); });
    out["above"] = column(rows, [](auto& r) { return is_above(r.verdict) ? 1 : 0; });
    out["incomplete"] = column(rows, [](auto& r) { return is_incomplete(r.kernel) ? 1 : 0; });
    out["headroom"] = column(rows, [](auto& r) { return number(r.verdict.headroom); });
    add_level_columns(out, rows);
    out["texts"] = texts.take();
    return out;
}

}  // namespace gambrel::report_detail
