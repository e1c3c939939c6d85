#include <algorithm>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results.hpp"

namespace gambrel::python {
namespace {

// A Python function as a filter by name, asked once for each name: names repeat over a hundred thousand launches.
class NameFilter {
public:
    explicit NameFilter(nb::handle keep) : keep_(keep) {}
    bool operator()(const std::string& name) {
        const std::lock_guard lock(mutex_);
        const auto [at, added] = known_.try_emplace(name, false);
        if (added && !failed_) at->second = asked(name);
        return at->second;
    }
    // The library must not see an exception of Python's: it is kept until the library is done.
    void rethrow() const {
        if (failed_) std::rethrow_exception(failed_);
    }

private:
    bool asked(const std::string& name) {
        const nb::gil_scoped_acquire held;
        try {
            return nb::cast<bool>(keep_(name, short_name(name, 200)));
        } catch (...) {
            failed_ = std::current_exception();
            return false;
        }
    }
    nb::handle keep_;  // the caller holds it: the GIL is not held here
    std::mutex mutex_;
    std::unordered_map<std::string, bool> known_;
    std::exception_ptr failed_;
};

RunObject analyze(const std::vector<std::string>& paths, const MachineObject* machine, std::optional<double> clock,
                  const std::string& roofs, const std::string& group, const std::string& flop_rule, int nvtx_depth,
                  const std::vector<std::string>& operators, const NetworkObject* network, const nb::object& keep) {
    LoadOptions load;
    load.machine = machine_in(machine);
    if (flop_rule != "corrected" && flop_rule != "paper")
        fail("flop_rule", "\"" + flop_rule + "\": expected corrected or paper");
    load.flop_rule = flop_rule == "paper" ? FlopRule::paper : FlopRule::corrected;
    load.nvtx_depth = nvtx_depth;
    load.operator_files = operators;
    if (network) load.network = network->layers();
    AnalysisOptions options;
    options.grouping = grouping_from(group);
    options.time_sum = flop_rule == "paper" ? TimeSum::mean_rate : TimeSum::exact;
    options.roofline.clock = clock_in(clock);
    options.roofline.use_reported_peaks = machine == nullptr;
    const std::optional<Roofs> wanted = roofs == "auto" ? std::nullopt : std::optional(roofs_from(roofs));
    return watched(nb::none(), [&](Watch&) {
        std::optional<NameFilter> filter;
        if (!keep.is_none()) load.keep = std::ref(filter.emplace(keep));
        Result<Run> loaded = load_run(paths, load);
        if (filter) filter->rethrow();
        auto run = std::make_shared<const Run>(checked(std::move(loaded)));
        options.roofline.roofs = wanted.value_or(default_roofs(*run));
        return RunObject(std::move(run), options);
    });
}

}  // namespace

Grouping grouping_from(const std::string& text) {
    const auto found = gambrel::grouping_from(text);
    if (!found) fail("group", fmt::format("\"{}\": expected one of {}", text, fmt::join(grouping_names(), ", ")));
    return *found;
}

Roofs roofs_from(const std::string& text) {
    if (text != "theoretical" && text != "measured")
        fail("roofs", "\"" + text + "\": expected theoretical or measured");
    return text == "measured" ? Roofs::measured : Roofs::theoretical;
}

RunObject::RunObject(std::shared_ptr<const Run> r, AnalysisOptions o) : run(std::move(r)), options(std::move(o)) {
    analysis = std::make_shared<const Analysis>(gambrel::analysis(*run, options));
}

KernelObject RunObject::kernel(std::size_t row) const {
    const AnalysisRow& r = analysis->rows.at(row);
    KernelObject out{{analysis, &r}, nullptr};
    if (r.machine < analysis->machines.size()) out.machine = {analysis, &analysis->machines[r.machine]};
    return out;
}

std::string RunObject::text(const TextStyle& style) const { return text_table(*analysis, style); }
std::string RunObject::csv() const { return gambrel::csv(*analysis); }
std::string RunObject::json() const { return gambrel::json(*analysis); }
Result<std::string> RunObject::svg(const ChartStyle& style) const { return roofline_svg(*analysis, style); }
Result<std::string> RunObject::page(const PageStyle& style) const { return result_page(*analysis, style); }

Table RunObject::table() const {
    const auto& rows = analysis->rows;
    Table t;
    const auto symbol = [&](const char* column, Symbol Kernel::*field) {
        t.add(column, rows, [&](const AnalysisRow& r) { return some((r.kernel.*field).str()); });
    };
    const auto amount = [&](const std::string& column, auto of) {
        t.add(column, rows, [&](const AnalysisRow& r) { return base_units(of(r)); });
    };
    t.add("name", rows, [](const AnalysisRow& r) { return r.kernel.name.str(); });
    symbol("phase", &Kernel::phase);
    t.add("launches", rows, [](const AnalysisRow& r) { return static_cast<std::int64_t>(r.kernel.launches); });
    amount("time_s", [](const AnalysisRow& r) { return r.kernel.time; });
    for (const auto& [column, pipe] :
         {std::pair{"flop_fp64", Pipe::fp64}, {"flop_fp32", Pipe::fp32}, {"flop_fp16", Pipe::fp16}})
        amount(column, [at = pipe](const AnalysisRow& r) { return r.kernel.work[at]; });
    amount("flop_tensor", [](const AnalysisRow& r) { return tensor_flop(r.kernel); });
    amount("flop", [](const AnalysisRow& r) { return flop(r.kernel); });
    const std::pair<const char*, Level> levels[] = {{"l1", Level::l1}, {"l2", Level::l2}, {"dram", Level::dram}};
    for (const auto& [name, level] : levels)
        amount(std::string(name) + "_bytes", [at = level](const AnalysisRow& r) { return r.kernel.bytes[at]; });
    for (const auto& [name, level] : levels)
        amount(std::string("ai_") + name, [at = level](const AnalysisRow& r) { return intensity(r.kernel, at); });
    amount("flop_per_s", [](const AnalysisRow& r) { return flop_rate(r.kernel); });
    t.add("bound", rows, [](const AnalysisRow& r) { return some(to_text(r.verdict.bound)); });
    t.add("of_roof", rows, [](const AnalysisRow& r) { return r.verdict.of_roof; });
    amount("headroom_s", [](const AnalysisRow& r) { return r.verdict.headroom; });
    amount("clock_hz", [](const AnalysisRow& r) { return r.kernel.clock; });
    symbol("operator", &Kernel::op);
    symbol("module", &Kernel::module);
    symbol("rank", &Kernel::rank);
    symbol("time_class", &Kernel::time_class);
    t.add("reason", rows, [](const AnalysisRow& r) {
        std::string all;
        for (const Symbol s : r.kernel.reasons) all += (all.empty() ? "" : "; ") + s.str();
        return some(all);
    });
    return t;
}

void bind_runs(nb::module_& m) {
    using Item = std::tuple<KernelObject, double, double>;
    nb::class_<AdviceObject>(m, "Advice", "What to change, by a rule, with its evidence and expected gain.")
        .def_prop_ro("rule", [](const AdviceObject& a) { return a.advice.rule; })
        .def_prop_ro("text", [](const AdviceObject& a) { return a.advice.text; })
        .def_prop_ro("evidence", [](const AdviceObject& a) { return a.advice.evidence; })
        .def_prop_ro(
            "rests_on", [](const AdviceObject& a) { return a.advice.rests_on; }, "Counters and facts.")
        .def_ro("kernels", &AdviceObject::kernels, "Largest gain first; empty where it is about the whole run.")
        .def_prop_ro(
            "gain", [](const AdviceObject& a) { return a.advice.gain.value(); }, "s of the whole run")
        .def_prop_ro("step_speedup", [](const AdviceObject& a) { return a.advice.step_speedup; })
        .def_prop_ro(
            "at_most", [](const AdviceObject& a) { return a.advice.at_most; },
            "Whether the gain is a bound, not an estimate.")
        .def("__repr__", [](const AdviceObject& a) { return "<Advice " + a.advice.rule + ": " + a.advice.text + ">"; });
    nb::class_<RunObject, Document>(m, "Run",
                                    "Kernels on their machines, each judged: the hierarchical Roofline of a run.")
        .def_prop_ro("title", [](const RunObject& r) { return r.analysis->title; })
        .def_prop_ro("origin", [](const RunObject& r) { return std::string(name(r.analysis->origin)); })
        .def_prop_ro(
            "partial", [](const RunObject& r) { return r.analysis->partial; }, "Whether the source was cut short.")
        .def_prop_ro("kernels",
                     [](const RunObject& r) {
                         std::vector<KernelObject> all;
                         for (std::size_t i = 0; i < r.analysis->rows.size(); ++i) all.push_back(r.kernel(i));
                         return all;
                     })
        .def("__len__", [](const RunObject& r) { return r.analysis->rows.size(); })
        .def_prop_ro("total",
                     [](const RunObject& r) {
                         return KernelObject{std::make_shared<const AnalysisRow>(AnalysisRow{r.analysis->total, {}, 0}),
                                             nullptr};
                     })
        .def_prop_ro(
            "time", [](const RunObject& r) { return base_units(r.analysis->total.time); }, "s of all kernels")
        .def_prop_ro("flop", [](const RunObject& r) { return base_units(flop(r.analysis->total)); })
        .def_prop_ro("machines",
                     [](const RunObject& r) {
                         std::vector<MachineObject> all;
                         for (const Machine& machine : r.analysis->machines)
                             all.emplace_back(std::shared_ptr<const Machine>(r.analysis, &machine));
                         return all;
                     })
        .def_prop_ro("notes", [](const RunObject& r) { return r.analysis->notes; })
        .def_prop_ro(
            "timeline", [](const RunObject& r) { return r.analysis->timeline; }, "Of a trace.")
        .def_prop_ro("zero_flop_launches", [](const RunObject& r) { return r.analysis->zero_flop_launches; })
        .def_prop_ro(
            "at_roofs", [](const RunObject& r) { return answer(*r.analysis).at_roofs.value(); },
            "s, were every kernel that could be judged at its roof.")
        .def_prop_ro(
            "first",
            [](const RunObject& r) {
                std::vector<Item> items;
                for (const Answer::Item& i : answer(*r.analysis).first)
                    items.emplace_back(r.kernel(i.row), i.headroom.value(), i.step_speedup);
                return items;
            },
            "What to work on first: kernel, its headroom in s, speed-up of the whole if it reached its roof.")
        .def_prop_ro(
            "advice",
            [](const RunObject& r) {
                std::vector<AdviceObject> all;
                for (Advice& a : advice(*r.analysis)) {
                    std::vector<KernelObject> kernels;
                    for (const std::size_t row : a.rows) kernels.push_back(r.kernel(row));
                    all.push_back({std::move(a), std::move(kernels)});
                }
                return all;
            },
            "What to change, the largest gain first.")
        .def(
            "grouped",
            [](const RunObject& r, const std::string& by) {
                AnalysisOptions options = r.options;
                options.grouping = grouping_from(by);
                return RunObject(r.run, options);
            },
            "by"_a, "The same run summed by launch, kernel, operator, module, phase or rank.");
    m.def(
        "dotted_modules",
        [](const RunObject& r) {
            Run run = *r.run;
            for (Kernel& k : run.kernels) {
                std::string path = k.module.str();
                std::replace(path.begin(), path.end(), '/', '.');
                k.module = Symbol(path);
            }
            return RunObject(std::make_shared<const Run>(std::move(run)), r.options);
        },
        "run"_a,
        "The same run with paths of modules as PyTorch writes them; in a trace each call is a part of its own.");
    m.def("analyze", &analyze, "paths"_a, "machine"_a.none() = nb::none(), "clock"_a = nb::none(), "roofs"_a = "auto",
          "group"_a = "kernel", "flop_rule"_a = "corrected", "nvtx_depth"_a = 1,
          "operators"_a = std::vector<std::string>{}, "network"_a.none() = nb::none(), "keep"_a = nb::none());
}

}  // namespace gambrel::python
