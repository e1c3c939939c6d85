#include <charconv>

#include "results.hpp"

namespace gambrel::python {
namespace {

// What layers would do: the run of their kernels, and how each came about.
struct PredictionObject : RunObject {
    std::shared_ptr<const Estimates> estimates;
    NetworkObject network;

    PredictionObject(std::shared_ptr<const Estimates> e, NetworkObject n)
        : RunObject(run_of(*e, n), options_of(*e)), estimates(std::move(e)), network(std::move(n)) {}

    static std::shared_ptr<const Run> run_of(const Estimates& estimates, const NetworkObject& network) {
        Run run = to_run(estimates);
        // The kernels of a run are its estimates in order.
        std::size_t kernel = 0;
        for (const EstimatedRow& row : estimates.rows)
            for (const Estimate& e : row.estimates) {
                const auto origin = network.origins.find(e.layer->name);
                Kernel& k = run.kernels.at(kernel++);
                if (origin == network.origins.end()) continue;
                k.module = Symbol(origin->second.module);
                k.op = Symbol(origin->second.op);
                k.phase = Symbol(e.layer->pass == Pass::fwd ? "forward" : "backward");
            }
        return std::make_shared<const Run>(std::move(run));
    }
    static AnalysisOptions options_of(const Estimates& estimates) {
        AnalysisOptions options;
        options.grouping = Grouping::launch;
        options.roofline.roofs = estimates.options.roofs;
        return options;
    }

    [[nodiscard]] std::string text(const TextStyle& style) const override { return estimates_text(*estimates, style); }
    [[nodiscard]] std::string csv() const override { return estimates_csv(*estimates); }
    [[nodiscard]] std::string json() const override { return estimates_json(*estimates, *analysis); }
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override {
        return result_page(*estimates, *analysis, style);
    }
    [[nodiscard]] Table table() const override;
};

// One layer's estimate, or why there is none.
struct LayerObject {
    std::shared_ptr<const Estimates> of;
    const EstimatedRow* row = nullptr;
    const Estimate* estimate = nullptr;
    NetworkObject::Origin origin;
};

std::vector<LayerObject> layers_of(const PredictionObject& p) {
    std::vector<LayerObject> all;
    for (const EstimatedRow& row : p.estimates->rows) {
        for (const Estimate& e : row.estimates) {
            const auto origin = p.network.origins.find(e.layer->name);
            all.push_back(
                {p.estimates, &row, &e, origin == p.network.origins.end() ? NetworkObject::Origin{} : origin->second});
        }
        if (row.estimates.empty()) all.push_back({p.estimates, &row, nullptr, {}});
    }
    return all;
}

template <class F>
auto of_layer(F of) {
    return [of](const LayerObject& l) {
        using Value = decltype(of(*l.estimate));
        if constexpr (std::is_same_v<Value, std::optional<double>>)
            return l.estimate ? of(*l.estimate) : std::nullopt;
        else
            return l.estimate ? std::optional<Value>(of(*l.estimate)) : std::nullopt;
    };
}
std::string name_of(const LayerObject& l) {
    if (l.estimate) return l.estimate->layer->name;
    return l.row->source ? "line " + std::to_string(l.row->source->line) : "";
}

Table PredictionObject::table() const {
    const auto rows = layers_of(*this);
    Table t;
    const auto add = [&](const char* column, auto of) { t.add(column, rows, of_layer(of)); };
    t.add("name", rows, name_of);
    t.add("module", rows, [](const LayerObject& l) { return some(l.origin.module); });
    t.add("operator", rows, [](const LayerObject& l) { return some(l.origin.op); });
    add("pass", [](const Estimate& e) { return std::string(name(e.layer->pass)); });
    add("precision", [](const Estimate& e) { return std::string(name(e.layer->precision)); });
    add("repeat", [](const Estimate& e) { return e.layer->repeat; });
    add("time_s", [](const Estimate& e) { return base_units(e.kernel.time); });
    add("time_low_s",
        [](const Estimate& e) { return e.interval ? std::optional(e.interval->low.value()) : std::nullopt; });
    add("time_high_s",
        [](const Estimate& e) { return e.interval ? std::optional(e.interval->high.value()) : std::nullopt; });
    add("flop", [](const Estimate& e) { return flop(*e.layer).value(); });
    add("l1_bytes", [](const Estimate& e) { return base_units(e.kernel.bytes[Level::l1]); });
    add("l2_bytes", [](const Estimate& e) { return base_units(e.kernel.bytes[Level::l2]); });
    add("dram_bytes", [](const Estimate& e) { return base_units(e.kernel.bytes[Level::dram]); });
    add("bound", [](const Estimate& e) { return e.bound; });
    add("waves", [](const Estimate& e) { return e.waves(); });
    add("tile_m", [](const Estimate& e) { return static_cast<double>(e.mapping.cta.m); });
    add("tile_n", [](const Estimate& e) { return static_cast<double>(e.mapping.cta.n); });
    add("tile_k", [](const Estimate& e) { return static_cast<double>(e.mapping.cta.k); });
    add("machine", [](const Estimate& e) { return e.on->machine.name; });
    t.add("origin", rows, [&](const LayerObject&) { return std::string(name(analysis->origin)); });
    t.add("reason", rows, [](const LayerObject& l) { return some(l.row->reason); });
    return t;
}

PredictionObject predict(const NetworkObject& network, const MachineObject* machine, std::optional<double> clock,
                         const std::string& roofs, const std::string& method, bool best_mapping,
                         const std::optional<std::tuple<int, int, int>>& tile, int sample, std::uint64_t seed,
                         unsigned threads, bool warm, const nb::object& progress) {
    EstimatorOptions options;
    options.machine = machine_in(machine);
    options.clock = clock_in(clock);
    options.roofs = roofs_from(roofs);
    options.method = method == "paper" ? Method::paper : method == "simulation" ? Method::simulation : Method::model;
    options.search = best_mapping;
    if (tile) options.tile = Tile{std::get<0>(*tile), std::get<1>(*tile), std::get<2>(*tile)};
    options.simulation.sample = sample;
    options.simulation.seed = seed;
    options.simulation.threads = threads;
    options.simulation.warm = warm;
    auto estimates = watched(progress, [&](Watch& watch) {
        return std::make_shared<const Estimates>(checked(estimate(
            network.set, options, [&](double done, const std::string& layer) { return watch.go_on(done, layer); })));
    });
    return {std::move(estimates), network};
}

std::vector<std::tuple<std::string, std::string, std::string, std::string>> explain(const PredictionObject& p,
                                                                                    const std::string& layer) {
    std::vector<std::string> names;
    for (const EstimatedRow& row : p.estimates->rows)
        for (const Estimate& e : row.estimates) {
            names.push_back(e.layer->name);
            if (e.layer->name != layer) continue;
            std::vector<std::tuple<std::string, std::string, std::string, std::string>> terms;
            for (const ExplainedTerm& t : explanation(e)) terms.emplace_back(t.name, t.equation, t.values, t.result);
            return terms;
        }
    fail("layer", "no layer \"" + layer + "\"" + did_you_mean(layer, names));
}

void bind_layer_estimates(nb::module_& m) {
    nb::class_<LayerObject>(m, "LayerEstimate", "What one layer would do, of one run of it.")
        .def_prop_ro("name", name_of)
        .def_prop_ro("module", [](const LayerObject& l) { return l.origin.module; })
        .def_prop_ro("op", [](const LayerObject& l) { return l.origin.op; })
        .def_prop_ro("layer", of_layer([](const Estimate& e) { return *e.layer; }))
        .def_prop_ro("time", of_layer([](const Estimate& e) { return base_units(e.kernel.time); }), "s")
        .def_prop_ro("interval", of_layer([](const Estimate& e) {
                         return e.interval ? std::optional(std::pair(e.interval->low.value(), e.interval->high.value()))
                                           : std::nullopt;
                     }),
                     "s; 80 % of measured times lie within.")
        .def_prop_ro("flop", of_layer([](const Estimate& e) { return flop(*e.layer).value(); }))
        .def_prop_ro("bytes",
                     [](const LayerObject& l) {
                         Amounts all;
                         for (const Level level : all_levels())
                             if (l.estimate && l.estimate->kernel.bytes[level])
                                 all[std::string(name(level))] = l.estimate->kernel.bytes[level]->value.value();
                         return all;
                     })
        .def_prop_ro("bound", of_layer([](const Estimate& e) { return e.bound; }), "What the time waits for.")
        .def_prop_ro("waves", of_layer([](const Estimate& e) { return e.waves(); }))
        .def_prop_ro("tile", of_layer([](const Estimate& e) {
                         return std::tuple(e.mapping.cta.m, e.mapping.cta.n, e.mapping.cta.k);
                     }))
        .def_prop_ro(
            "reason", [](const LayerObject& l) { return l.row->reason; }, "Why there is no estimate; else empty.")
        .def("__repr__", [](const LayerObject& l) {
            const auto time = l.estimate && l.estimate->kernel.time ? to_text(l.estimate->kernel.time->value, 3) : "";
            return "<LayerEstimate " + name_of(l) + (time.empty() ? ", " + l.row->reason : ", " + time) + ">";
        });
    nb::class_<ModelSummary>(m, "ModelSummary", "Time, rate and memory of a transformer on one GPU of its group.")
        .def_prop_ro("phase", [](const ModelSummary& s) { return std::string(name(s.phase)); })
        .def_prop_ro(
            "time", [](const ModelSummary& s) { return s.time.value(); }, "s of a step")
        .def_ro("tokens_per_s", &ModelSummary::tokens_per_s)
        .def_prop_ro("time_to_first_token", [](const ModelSummary& s) { return s.time_to_first_token.value(); })
        .def_prop_ro("time_per_output_token", [](const ModelSummary& s) { return s.time_per_output_token.value(); })
        .def_prop_ro("memory", [](const ModelSummary& s) { return s.memory.value(); })
        .def_prop_ro("weights", [](const ModelSummary& s) { return s.weights.value(); })
        .def_prop_ro("kv_cache", [](const ModelSummary& s) { return s.kv_cache.value(); })
        .def_prop_ro("activations", [](const ModelSummary& s) { return s.activations.value(); })
        .def_ro("fits", &ModelSummary::fits)
        .def_ro("batch", &ModelSummary::batch)
        .def_ro("largest_batch", &ModelSummary::largest_batch)
        .def_ro("bound", &ModelSummary::bound);
}

}  // namespace

void bind_predictions(nb::module_& m) {
    bind_layer_estimates(m);
    nb::class_<PredictionObject, RunObject>(m, "Prediction", "What a network would do on a GPU, modelled or simulated.")
        .def_prop_ro("layers", &layers_of)
        .def_prop_ro("network", [](const PredictionObject& p) { return p.network; })
        .def_prop_ro("machine", [](const PredictionObject& p) { return p.estimates->machine(); })
        .def_prop_ro(
            "summary", [](const PredictionObject& p) { return p.estimates->summary; },
            "Of a transformer that came from its configuration.")
        .def_prop_ro(
            "fits", [](const PredictionObject& p) { return p.estimates->fits; },
            "False where the network needs more memory than the machine has.")
        .def_prop_ro("notes", [](const PredictionObject& p) { return p.estimates->notes; })
        .def_prop_ro("unmodelled",
                     [](const PredictionObject& p) {
                         return p.network.set->network ? p.network.set->network->unmodelled : std::vector<Unmodelled>{};
                     })
        .def("explain", &explain, "layer"_a, "Name, equation, values and result of each term of a layer's time.");
    m.def("predict", &predict, "network"_a, "machine"_a.none() = nb::none(), "clock"_a = nb::none(),
          "roofs"_a = "measured", "method"_a = "gambrel", "best_mapping"_a = false, "tile"_a = nb::none(),
          "sample"_a = 0, "seed"_a = 1, "threads"_a = 0, "warm"_a = false, "progress"_a = nb::none());
}

}  // namespace gambrel::python
