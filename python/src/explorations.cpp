#include "results.hpp"

namespace gambrel::python {
namespace {

struct ExplorationObject : Document {
    std::shared_ptr<const ExplorationReport> report;

    [[nodiscard]] std::string text(const TextStyle& style) const override { return explore_text(*report, style); }
    [[nodiscard]] std::string csv() const override { return explore_csv(*report); }
    [[nodiscard]] std::string json() const override { return explore_json(*report); }
    [[nodiscard]] Result<std::string> svg(const ChartStyle& style) const override {
        return explore_svg(*report, ExploreChart::designs, style);
    }
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override {
        return result_page(*report, style);
    }
    [[nodiscard]] Table table() const override;
};

Amounts factors_of(const EvaluatedDesign& d) {
    Amounts all;
    for (const Resource r : all_resources()) all[std::string(name(r))] = d.factors[r];
    return all;
}

Table ExplorationObject::table() const {
    struct Row {
        const char* kind;
        const EvaluatedDesign* design;
    };
    std::vector<Row> rows;
    for (const EvaluatedDesign& d : report->designs) rows.push_back({"design", &d});
    for (const EvaluatedDesign& d : report->front) rows.push_back({"front", &d});
    Table t;
    t.add("kind", rows, [](const Row& r) { return std::string(r.kind); });
    t.add("name", rows, [](const Row& r) { return some(r.design->name); });
    t.add("cost", rows, [](const Row& r) { return std::optional(r.design->cost); });
    t.add("speedup", rows, [](const Row& r) { return std::optional(r.design->speedup); });
    t.add("time_s", rows, [](const Row& r) { return std::optional(r.design->timing.time); });
    for (const Resource resource : all_resources())
        t.add(std::string(name(resource)), rows,
              [resource](const Row& r) { return std::optional(r.design->factors[resource]); });
    return t;
}

ExplorationObject explore_networks(const std::vector<std::pair<NetworkObject, double>>& networks,
                                   const MachineObject& machine, std::optional<double> clock, const std::string& roofs,
                                   const std::string& vary, const std::string& limit, const std::string& costs,
                                   std::optional<double> target, const std::vector<std::string>& map,
                                   const std::string& search, std::uint64_t samples, std::uint64_t restarts,
                                   std::uint64_t seed, const std::string& tiles, bool convolutions, int threads,
                                   const nb::object& progress) {
    ExploreRequest r;
    r.machine = *machine.machine;
    r.hardware = checked(model_inputs(r.machine, clock_in(clock), roofs_from(roofs)));
    if (!vary.empty()) r.space = checked(parse_space(vary, r.machine, r.hardware, "vary"));
    r.search.limits = checked(parse_limits(limit, r.machine, r.hardware, "limit"));
    if (!costs.empty()) r.costs = checked(load_costs(costs));
    r.search.target = target;
    if (vary.empty() && target) fail("vary", "what may be scaled? such as \"sms=1:4,dram.bandwidth=1:4\"");
    for (const std::string& resource : map)
        r.map.push_back(named<Resource>(resource, "map", resource_from, "a resource such as sms or dram.bandwidth"));
    if (!r.map.empty() && r.map.size() != 2) fail("map", "expected two resources, such as sms and dram.bandwidth");
    r.search.search = named<Search>(search, "search", search_from, "auto, grid, random or guided");
    r.search.samples = samples, r.search.restarts = restarts, r.search.seed = seed;
    if (tiles != "fastest" && tiles != "rule") fail("tiles", "\"" + tiles + "\": expected fastest or rule");
    r.tiles = tiles == "rule" ? Tiles::rule : Tiles::fastest;
    r.threads = threads;
    for (const auto& [network, weight] : networks) r.workload.add(*network.set, weight, convolutions);
    if (r.workload.items.empty()) fail("network", "has no layer that is modelled and asked for");
    ExplorationObject out;
    out.report = watched(progress, [&](Watch& watch) {
        r.stop = [&] { return watch.stopped(); };
        r.progress = [&](double fraction, std::string_view doing) { watch.report(fraction, doing); };
        return std::make_shared<const ExplorationReport>(checked(explore(r)));
    });
    return out;
}

std::vector<std::pair<std::string, double>> waits_of(const EvaluatedDesign& d) {
    std::vector<std::pair<std::string, double>> all;
    for (std::size_t i = 0; i < kTerms; ++i) all.emplace_back(name(static_cast<Term>(i)), d.timing.exposed[i]);
    return all;
}

}  // namespace

void bind_explorations(nb::module_& m) {
    nb::class_<EvaluatedDesign>(m, "Design", "The start machine with its resources scaled by factors.")
        .def_ro("name", &EvaluatedDesign::name)
        .def_ro("what", &EvaluatedDesign::what)
        .def_prop_ro("factors", &factors_of, "By resource; 1 is the start.")
        .def_ro("cost", &EvaluatedDesign::cost)
        .def_ro("speedup", &EvaluatedDesign::speedup)
        .def_prop_ro(
            "time", [](const EvaluatedDesign& d) { return d.timing.time; }, "s")
        .def_prop_ro("waits", &waits_of, "s by what the time waits for; sums up to it.")
        .def("__repr__", [](const EvaluatedDesign& d) {
            return "<Design " + d.name + ": " + std::to_string(d.speedup) + "x at cost " + std::to_string(d.cost) + ">";
        });
    nb::class_<Sensitivity>(m, "Sensitivity", "How time follows one resource.")
        .def_prop_ro("resource", [](const Sensitivity& s) { return std::string(name(s.resource)); })
        .def_ro("elasticity", &Sensitivity::elasticity,
                "1 where time follows the resource, 0 where it does not matter.")
        .def_ro("doubled", &Sensitivity::doubled, "Speed-up at twice as much.");
    nb::class_<ExplorationObject, Document>(m, "Exploration", "Many designs side by side.")
        .def_prop_ro("title", [](const ExplorationObject& e) { return e.report->title; })
        .def_prop_ro("machine", [](const ExplorationObject& e) { return e.report->machine; })
        .def_prop_ro("partial", [](const ExplorationObject& e) { return e.report->partial; })
        .def_prop_ro("search", [](const ExplorationObject& e) { return e.report->search; })
        .def_prop_ro("space", [](const ExplorationObject& e) { return e.report->space; })
        .def_prop_ro("evaluated", [](const ExplorationObject& e) { return e.report->evaluated; })
        .def_prop_ro("designs", [](const ExplorationObject& e) { return e.report->designs; })
        .def_prop_ro("front", [](const ExplorationObject& e) { return e.report->front; })
        .def_prop_ro("sensitivities", [](const ExplorationObject& e) { return e.report->sensitivities; })
        .def_prop_ro(
            "recommended",
            [](const ExplorationObject& e) {
                const EvaluatedDesign* best = recommended_design(*e.report);
                return best ? std::optional(*best) : std::nullopt;
            },
            "The cheapest design that reaches the target, else the fastest.")
        .def_prop_ro("found", [](const ExplorationObject& e) { return found_what_was_asked(*e.report); });
    m.def("explore", &explore_networks, "networks"_a, "machine"_a, "clock"_a = nb::none(), "roofs"_a = "measured",
          "vary"_a = "", "limit"_a = "", "costs"_a = "", "target"_a = nb::none(), "map"_a = std::vector<std::string>{},
          "search"_a = "auto", "samples"_a = 100'000, "restarts"_a = 64, "seed"_a = 1, "tiles"_a = "fastest",
          "convolutions"_a = false, "threads"_a = 0, "progress"_a = nb::none());
}

}  // namespace gambrel::python
