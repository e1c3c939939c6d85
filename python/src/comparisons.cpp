#include <filesystem>

#include "base/file_bytes.hpp"
#include "results.hpp"

namespace gambrel::python {
namespace {

struct ComparisonObject : Document {
    std::shared_ptr<const Comparison> comparison;

    [[nodiscard]] std::string text(const TextStyle& style) const override {
        return comparison_text({comparison.get(), 1}, style);
    }
    [[nodiscard]] std::string csv() const override { return comparison_csv({comparison.get(), 1}); }
    [[nodiscard]] std::string json() const override { return comparison_json({comparison.get(), 1}); }
    [[nodiscard]] Result<std::string> svg(const ChartStyle& style) const override {
        return comparison_svg(*comparison, style);
    }
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override {
        return result_page({comparison.get(), 1}, style);
    }
    [[nodiscard]] Table table() const override;
};

struct PairObject {
    std::shared_ptr<const Comparison> of;
    const ComparedPair* pair = nullptr;
};
const Kernel& kernel_of(const PairObject& o) {
    const ComparedPair& p = *o.pair;
    if (p.after) return o.of->after.rows[*p.after].kernel;
    return p.before ? o.of->before.rows[*p.before].kernel : o.of->before.total;
}
std::string cause_of(const PairObject& o) {
    const ComparedPair& p = *o.pair;
    return p.cause == Cause::roof ? to_text(p.explained_by) : p.cause == Cause::clock ? "clock" : "efficiency";
}
std::vector<PairObject> pairs_of(const std::shared_ptr<const Comparison>& comparison) {
    std::vector<PairObject> all;
    for (const ComparedPair& p : comparison->pairs) all.push_back({comparison, &p});
    return all;
}

Table ComparisonObject::table() const {
    const auto rows = pairs_of(comparison);
    Table t;
    t.add("name", rows, [](const PairObject& o) { return kernel_of(o).name.str(); });
    t.add("phase", rows, [](const PairObject& o) { return some(kernel_of(o).phase.str()); });
    t.add("in", rows, [](const PairObject& o) {
        return std::string(!o.pair->before ? "after" : !o.pair->after ? "before" : "both");
    });
    const auto change = [&](const std::string& column, auto of) {
        t.add(column + "_before", rows, [&](const PairObject& o) { return of(*o.pair).before; });
        t.add(column + "_after", rows, [&](const PairObject& o) { return of(*o.pair).after; });
        t.add(column + "_ratio", rows, [&](const PairObject& o) { return of(*o.pair).ratio(); });
    };
    change("time_s", [](const ComparedPair& p) { return p.time; });
    change("flop", [](const ComparedPair& p) { return p.flop; });
    change("l1_bytes", [](const ComparedPair& p) { return p.bytes[Level::l1]; });
    change("l2_bytes", [](const ComparedPair& p) { return p.bytes[Level::l2]; });
    change("dram_bytes", [](const ComparedPair& p) { return p.bytes[Level::dram]; });
    t.add("cause", rows, [](const PairObject& o) { return some(cause_of(o)); });
    t.add("explained_share", rows, [](const PairObject& o) { return std::optional(o.pair->explained); });
    return t;
}

ComparisonObject compare(const RunObject& before, const RunObject& after, const std::string& match) {
    CompareOptions options;
    bool known = match == "auto";
    for (const MatchBy by : {MatchBy::name, MatchBy::order, MatchBy::layer})
        if (match == name(by)) options.match_by = by, known = true;
    if (!known) fail("match", "\"" + match + "\": expected auto, name, order or layer");
    if (before.analysis->grouping != after.analysis->grouping)
        fail("compare", "the two runs are grouped differently; use .grouped(by) for both");
    ComparisonObject out;
    out.comparison = std::make_shared<const Comparison>(comparison(*before.analysis, *after.analysis, options));
    return out;
}

struct CheckObject : Document {
    CheckResult result;
    std::string title;

    [[nodiscard]] std::string text(const TextStyle& style) const override { return check_text(result, style); }
    [[nodiscard]] std::string csv() const override {
        fail("check", "has no CSV; use to_json(), to_junit() or to_dict()");
    }
    [[nodiscard]] std::string json() const override { return check_json(result, title); }
    [[nodiscard]] Result<std::string> svg(const ChartStyle&) const override { return failure("check", "has no chart"); }
    [[nodiscard]] Result<std::string> page(const PageStyle&) const override { return failure("check", "has no page"); }
    [[nodiscard]] Table table() const override {
        const auto& rows = result.items;
        Table t;
        t.add("name", rows, [](const CheckItem& i) { return i.name; });
        t.add("phase", rows, [](const CheckItem& i) { return some(i.phase); });
        t.add("what", rows, [](const CheckItem& i) { return i.what; });
        t.add("found", rows, [](const CheckItem& i) { return std::optional(i.found); });
        t.add("limit", rows, [](const CheckItem& i) { return std::optional(i.limit); });
        t.add("baseline", rows, [](const CheckItem& i) { return i.baseline; });
        t.add("passed", rows, [](const CheckItem& i) { return static_cast<std::int64_t>(i.passed); });
        return t;
    }
};

CheckObject check_run(const RunObject& run, std::optional<double> min_roof, const Baseline* baseline, double min_share,
                      double max_time, double max_bytes) {
    if (!min_roof && !baseline) fail("check", "nothing to check; give min_roof=0.6 or baseline=");
    CheckLimits limits;
    limits.min_roof = min_roof;
    limits.min_share = min_share, limits.max_time = max_time, limits.max_bytes = max_bytes;
    CheckObject out;
    out.result = checked(check(*run.analysis, limits, baseline));
    out.title = run.analysis->title;
    // Nothing to judge is not a pass.
    if (out.result.items.empty()) fail(out.title, "no kernel could be checked");
    return out;
}

void bind_checks(nb::module_& m) {
    nb::class_<Baseline>(m, "Baseline", "The baseline of one machine that later runs are checked against.")
        .def_ro("machine", &Baseline::machine)
        .def_ro("title", &Baseline::title)
        .def_ro("runs", &Baseline::runs)
        .def("to_json", [](const Baseline& b) { return to_json(b); })
        .def("__len__", [](const Baseline& b) { return b.kernels.size(); });
    m.def(
        "baseline_of",
        [](const std::vector<const RunObject*>& runs) {
            std::vector<Analysis> all;
            for (const RunObject* run : runs) all.push_back(*run->analysis);
            return checked(baseline_of(all));
        },
        "runs"_a);
    m.def(
        "is_baseline",
        [](const std::string& path) {
            return !std::filesystem::is_directory(path) &&
                   names_baseline(checked(base_detail::FileBytes::open(path)).view());
        },
        "path"_a);
    m.def(
        "load_baseline",
        [](const std::string& path) {
            const auto bytes = checked(base_detail::FileBytes::open(path));
            return checked(parse_baseline(bytes.view(), path));
        },
        "path"_a);
    nb::class_<CheckItem>(m, "CheckItem", "One thing that a gate looked at; shares for \"roof\", else base units.")
        .def_ro("name", &CheckItem::name)
        .def_ro("phase", &CheckItem::phase)
        .def_ro("what", &CheckItem::what)
        .def_ro("found", &CheckItem::found)
        .def_ro("limit", &CheckItem::limit)
        .def_ro("baseline", &CheckItem::baseline)
        .def_ro("passed", &CheckItem::passed);
    nb::class_<CheckObject, Document>(m, "Check", "A gate's verdict. A profile that was cut short does not pass.")
        .def_prop_ro("passed", [](const CheckObject& c) { return c.result.passed() && !c.result.partial; })
        .def_prop_ro("partial", [](const CheckObject& c) { return c.result.partial; })
        .def_prop_ro("failures", [](const CheckObject& c) { return c.result.failures(); })
        .def_prop_ro("items", [](const CheckObject& c) { return c.result.items; })
        .def_prop_ro("notes", [](const CheckObject& c) { return c.result.notes; })
        .def("__bool__", [](const CheckObject& c) { return c.result.passed() && !c.result.partial; })
        .def("to_markdown", [](const CheckObject& c) { return check_markdown(c.result, c.title); })
        .def("to_junit", [](const CheckObject& c) { return check_junit(c.result, c.title); });
    m.def("check", &check_run, "run"_a, "min_roof"_a = nb::none(), "baseline"_a.none() = nb::none(),
          "min_share"_a = 0.01, "max_time"_a = 0.05, "max_bytes"_a = 0.02);
}

}  // namespace

void bind_comparisons(nb::module_& m) {
    nb::class_<Change>(m, "Change", "An amount on both sides, in base units.")
        .def_ro("before", &Change::before)
        .def_ro("after", &Change::after)
        .def_prop_ro("ratio", &Change::ratio);
    nb::class_<PairObject>(m, "Pair", "A kernel on both sides, or on one of them.")
        .def_prop_ro("name", [](const PairObject& o) { return kernel_of(o).name.str(); })
        .def_prop_ro("phase", [](const PairObject& o) { return kernel_of(o).phase.str(); })
        .def_prop_ro("matched", [](const PairObject& o) { return o.pair->before && o.pair->after; })
        .def_prop_ro("time", [](const PairObject& o) { return o.pair->time; })
        .def_prop_ro("flop", [](const PairObject& o) { return o.pair->flop; })
        .def_prop_ro("bytes",
                     [](const PairObject& o) {
                         std::map<std::string, Change> all;
                         for (const Level l : all_levels()) all[std::string(name(l))] = o.pair->bytes[l];
                         return all;
                     })
        .def_prop_ro("cause", &cause_of, "What explains the change of time: a roof, the clock, or efficiency.")
        .def_prop_ro("explained", [](const PairObject& o) { return o.pair->explained; });
    nb::class_<ComparisonObject, Document>(m, "Comparison", "Two runs side by side.")
        .def_prop_ro("pairs", [](const ComparisonObject& c) { return pairs_of(c.comparison); })
        .def_prop_ro("total",
                     [](const ComparisonObject& c) {
                         return PairObject{c.comparison, &c.comparison->total};
                     })
        .def_prop_ro("before", [](const ComparisonObject& c) { return c.comparison->before.title; })
        .def_prop_ro("after", [](const ComparisonObject& c) { return c.comparison->after.title; })
        .def_prop_ro("matched_by",
                     [](const ComparisonObject& c) { return std::string(name(c.comparison->matched_by)); })
        .def_prop_ro("matched", [](const ComparisonObject& c) { return c.comparison->matched; })
        .def_prop_ro("only_before", [](const ComparisonObject& c) { return c.comparison->only_before; })
        .def_prop_ro("only_after", [](const ComparisonObject& c) { return c.comparison->only_after; })
        .def_prop_ro(
            "is_prediction", [](const ComparisonObject& c) { return c.comparison->is_prediction; },
            "The side after is nearer to the hardware: ratios are errors.");
    m.def("compare", &compare, "before"_a, "after"_a, "match"_a = "auto");
    bind_checks(m);
}

}  // namespace gambrel::python
