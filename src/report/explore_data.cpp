#include <fmt/format.h>
#include <gambrel/version.hpp>
#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include "report/fields.hpp"

#include "report/explore_charts.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;
using Json = nlohmann::ordered_json;

Json factors_json(const Factors& f) {
    Json out = Json::object();
    for (const Resource r : all_resources()) out[std::string(name(r))] = f[r];
    return out;
}

Json exposed_json(const std::array<double, kTerms>& exposed) {
    Json out = Json::object();
    for (std::size_t t = 0; t < kTerms; ++t) out[fmt::format("{}_s", name(static_cast<Term>(t)))] = exposed[t];
    return out;
}

Json layers_json(const ExplorationReport& c, const EvaluatedDesign& d) {
    Json out = Json::array();
    for (std::size_t i = 0; i < d.timing.layers.size(); ++i) {
        const LayerTime& l = d.timing.layers[i];
        out.push_back({{"name", c.workload.items[i].layer.name},
                       {"network", c.workload.networks[c.workload.items[i].network]},
                       {"pass", name(c.workload.items[i].layer.pass)},
                       {"runs", c.workload.items[i].weight},
                       {"time_s", l.time},
                       {"bound", name(l.bound)},
                       {"exposed", exposed_json(l.exposed)},
                       {"tile", {l.tile.m, l.tile.n, l.tile.k}},
                       {"ctas_per_sm", l.ctas_per_sm},
                       {"l1_bytes", l.l1_bytes},
                       {"l2_bytes", l.l2_bytes},
                       {"dram_bytes", l.dram_bytes}});
    }
    return out;
}

Json design_json(const ExplorationReport& c, const EvaluatedDesign& d) {
    return {{"name", d.name},
            {"what", d.what},
            {"factors", factors_json(d.factors)},
            {"cost", d.cost},
            {"speedup", d.speedup},
            {"time_s", d.timing.time},
            {"network_time_s", d.timing.network_time},
            {"exposed", exposed_json(d.timing.exposed)},
            {"layers", layers_json(c, d)}};
}

std::string csv_row(const std::string& kind, const EvaluatedDesign& d, bool terms, bool partial) {
    std::vector<std::string> cells{kind, d.name, exact(d.cost), exact(d.speedup), exact(d.timing.time)};
    for (const double f : d.factors) cells.push_back(exact(f));
    for (const double part : d.timing.exposed) cells.push_back(terms ? exact(part) : "");
    cells.emplace_back(partial ? "1" : "0");
    return csv_line(cells);
}

}  // namespace

std::string explore_json(const ExplorationReport& c) {
    Json out;
    out["schema"] = "gambrel-explore-1";
    out["version"] = kVersion;
    out["origin"] = "modelled";
    out["machine"] = c.machine;
    out["networks"] = c.workload.networks;
    Json start = Json::object();
    for (const Resource r : all_resources()) start[std::string(name(r))] = base_value(c.base, c.hardware, r);
    out["start"] = start;
    out["search"] = {
        {"kind", c.search}, {"space", c.space}, {"evaluated", c.evaluated}, {"kept", c.kept}, {"partial", c.partial}};
    out["library_tiles_time_s"] = c.library_time;
    out["answer"] = explore_answer(c);
    out["target_speedup"] = c.target ? Json(*c.target) : Json(nullptr);
    out["designs"] = Json::array();
    for (const EvaluatedDesign& d : c.designs) out["designs"].push_back(design_json(c, d));
    out["sensitivities"] = Json::array();
    for (const Sensitivity& s : c.sensitivities)
        out["sensitivities"].push_back({{"resource", name(s.resource)},
                                        {"elasticity", s.elasticity},
                                        {"speedup_doubled", s.doubled},
                                        {"speedup_half_more", s.half_more},
                                        {"layers", s.layers}});
    out["front"] = Json::array();
    for (const EvaluatedDesign& d : c.front)
        out["front"].push_back({{"cost", d.cost},
                                {"speedup", d.speedup},
                                {"time_s", d.timing.time},
                                {"factors", factors_json(d.factors)}});
    if (c.map)
        out["map"] = {{"x", name(c.map->x.resource)},
                      {"y", name(c.map->y.resource)},
                      {"x_factors", c.map->x.values},
                      {"y_factors", c.map->y.values},
                      {"speedup", c.map->speedup}};
    return out.dump(1) + "\n";
}

std::string explore_csv(const ExplorationReport& c) {
    std::vector<std::string> heading{"kind", "name", "cost", "speedup", "time_s"};
    for (const Resource r : all_resources()) heading.emplace_back(name(r));
    for (std::size_t t = 0; t < kTerms; ++t) heading.push_back(fmt::format("{}_s", name(static_cast<Term>(t))));
    heading.emplace_back("partial");
    std::string out = csv_line(heading);
    for (const EvaluatedDesign& d : c.designs) out += csv_row("design", d, true, c.partial);
    for (const EvaluatedDesign& d : c.front) out += csv_row("front", d, false, c.partial);
    return out;
}

}  // namespace gambrel
