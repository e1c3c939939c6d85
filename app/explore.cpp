#include <charconv>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <gambrel/explore_report.hpp>

#include "app/command.hpp"
#include "app/explore_output.hpp"
#include "app/explore_run.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    NetworkFlags network;
    MachineFlags machine;
    ExploreOutput output;
    RunFlags run;
    std::vector<std::string> vary, limit;
    std::string costs, target, search = "auto", tiles = "fastest", map, pass_weights;
    std::uint64_t samples = 100'000, seed = 1, restarts = 64;
    std::size_t points = kRangePoints;
    bool convolutions = false;
};

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
    return all;
}

Result<double> positive(std::string_view text, const std::string& where) {
    if (text.ends_with("x")) text.remove_suffix(1);
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e9)
        return failure(where, fmt::format("\"{}\": expected a positive number, such as 2", text));
    return value;
}

struct Named {
    std::string name;
    double weight = 1;
};
// "resnet50=2,vgg16": names with weights.
Result<std::vector<Named>> weighted(const std::string& text, const std::string& where) {
    std::vector<Named> all;
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        const std::string_view part = rest.substr(0, comma);
        const auto equals = part.rfind('=');
        Named named{std::string(part.substr(0, equals)), 1};
        if (equals != std::string_view::npos) {
            const auto weight = positive(part.substr(equals + 1), where);
            if (!weight) return tl::unexpected(weight.error());
            named.weight = *weight;
        }
        all.push_back(named);
        rest.remove_prefix(std::min(rest.size(), comma + 1));
    }
    return all;
}

Network of_table(const LayerSet& layers) {
    Network network;
    network.name = layers.title;
    for (const LayerRow& row : layers.table->rows)
        network.layers.insert(network.layers.end(), row.layers.begin(), row.layers.end());
    return network;
}

Result<Workload> workload_of(const Flags& flags, Errors& notes) {
    const auto names = weighted(flags.network.network, "NETWORK");
    if (!names) return tl::unexpected(names.error());
    const auto passes = weighted(flags.pass_weights, "--pass-weights");
    if (!passes) return tl::unexpected(passes.error());
    for (const Named& pass : *passes)
        if (!pass_from(pass.name))
            return failure("--pass-weights", fmt::format("\"{}\": expected fwd, dgrad or wgrad", pass.name));
    Workload all;
    for (const Named& named : names->empty() ? std::vector<Named>{{"", 1}} : *names) {
        NetworkFlags one = flags.network;
        one.network = named.name;
        const auto layers = layers_of(one);
        if (!layers) return tl::unexpected(layers.error());
        const LayerSet& set = **layers;
        notes.insert(notes.end(), set.notes.begin(), set.notes.end());
        all.add(set.network ? *set.network : of_table(set), named.weight, flags.convolutions);
    }
    for (auto& item : all.items)
        for (const Named& pass : *passes)
            if (item.layer.pass == *pass_from(pass.name)) item.weight *= pass.weight;
    if (all.items.empty()) return failure("NETWORK", "has no layer that is modelled and asked for");
    return all;
}

Result<std::vector<Resource>> map_of(const std::string& text) {
    std::vector<Resource> resources;
    if (text.empty()) return resources;
    const auto comma = text.find(',');
    const auto x = resource_from(std::string_view(text).substr(0, comma));
    const auto y = comma == std::string::npos ? std::nullopt : resource_from(std::string_view(text).substr(comma + 1));
    if (!x || !y || *x == *y)
        return failure("--map", fmt::format("\"{}\": expected two resources, such as sms,dram.bandwidth", text));
    return std::vector<Resource>{*x, *y};
}

struct ExploreRequest {
    Machine machine;
    ModelInputs hardware;
    Space space;
    CostTable costs;
    SearchOptions options;
    std::vector<Resource> map;
};

void collect(Errors& all, const Errors& some) { all.insert(all.end(), some.begin(), some.end()); }

Result<ExploreRequest> request_of(const Flags& flags) {
    const auto chosen = estimator_of(flags.machine);
    if (!chosen) return tl::unexpected(chosen.error());
    if (!chosen->machine)
        return failure("--machine",
                       "which GPU to start from? a name of `gambrel machines`, such as v100, or a machine file");
    const auto inputs = model_inputs(*chosen->machine, chosen->clock, chosen->roofs);
    if (!inputs) return tl::unexpected(inputs.error());
    ExploreRequest q{*chosen->machine, *inputs, {}, default_costs(), {}, {}};
    Errors wrong = faults(flags.output);
    const auto take = [&](auto&& result, auto& into) {
        if (result)
            into = std::move(*result);
        else
            collect(wrong, result.error());
    };
    if (!flags.vary.empty())
        take(parse_space(joined(flags.vary), q.machine, q.hardware, "--vary", flags.points), q.space);
    take(parse_limits(joined(flags.limit), q.machine, q.hardware), q.options.limits);
    if (!flags.costs.empty()) take(load_costs(flags.costs), q.costs);
    if (!flags.target.empty()) take(positive(flags.target, "--target"), q.options.target);
    take(map_of(flags.map), q.map);
    if (flags.vary.empty() && !(flags.target.empty() && flags.run.designs.empty() && flags.run.resume.empty()))
        wrong.push_back({"--vary", "what may be scaled? such as --vary sms=1:4,l2.bandwidth=1:4,dram.bandwidth=1:4"});
    q.options.search = *search_from(flags.search);
    q.options.samples = flags.samples;
    q.options.seed = flags.seed;
    q.options.restarts = flags.restarts;
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
    return q;
}

int run(const Flags& flags) {
    const auto q = request_of(flags);
    if (!q) return bad_input(q.error());
    Errors notes;
    auto work = workload_of(flags, notes);
    if (!work) return bad_input(work.error());
    const DesignEvaluator evaluator(q->machine, q->hardware, std::move(*work),
                                    flags.tiles == "rule" ? Tiles::rule : Tiles::fastest);
    if (q->space.axes.empty()) {
        if (!flags.output.output.quiet) print_notes(notes);
        ExplorationReport c = exploration_report(evaluator, q->costs, std::span<const ProposedDesign>{});
        add_map(c, evaluator, q->space, q->map);
        return emit(c, flags.output);
    }
    const World world;
    const Exploration exploration(evaluator, q->space, q->costs, q->options);
    if (world.rank() != 0) {
        if (world.agreed(true)) world.share(exploration, nullptr, flags.run);
        return kDone;
    }
    if (!flags.output.output.quiet) print_notes(notes);
    Recorder recorder(exploration, flags.run);
    const auto opened = recorder.open();
    if (!world.agreed(opened.has_value())) return bad_input(opened.error());
    world.share(exploration, &recorder, flags.run);
    const auto closed = recorder.close();
    if (!closed) return bad_input(closed.error());
    if (!*closed)
        say(fmt::format("note: ended early; what follows is of the designs looked at so far{}",
                        flags.run.resume.empty() ? "" : ", and the same command goes on from there"));
    ExplorationReport c = exploration_report(exploration, recorder.result());
    add_map(c, evaluator, q->space, q->map);
    const int status = emit(c, flags.output);
    const bool reached = !q->options.target || recorder.result().cheapest;
    return status != kDone ? status : reached && recorder.result().kept > 0 ? kDone : kNo;
}

}  // namespace

Action setup_explore(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    flags->network.add_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--vary", flags->vary)->allow_extra_args(false);
    command.add_option("--limit", flags->limit)->allow_extra_args(false);
    command.add_option("--costs", flags->costs);
    command.add_option("--target", flags->target);
    command.add_option("--search", flags->search)->check(CLI::IsMember({"auto", "grid", "random", "guided"}));
    command.add_option("--samples", flags->samples)->check(CLI::PositiveNumber);
    command.add_option("--restarts", flags->restarts)->check(CLI::Range(1, 1'000'000));
    command.add_option("--seed", flags->seed);
    command.add_option("--points", flags->points)->check(CLI::Range(2, 1000));
    command.add_option("--tiles", flags->tiles)->check(CLI::IsMember({"rule", "fastest"}));
    command.add_option("--map", flags->map);
    command.add_option("--pass-weights", flags->pass_weights);
    command.add_flag("--convolutions", flags->convolutions);
    command.add_option("--designs", flags->run.designs);
    command.add_option("--resume", flags->run.resume);
    command.add_option("--threads", flags->run.threads)->check(CLI::Range(1, 4096));
    return [flags] {
        flags->run.quiet = flags->output.output.quiet;
        return run(*flags);
    };
}

}  // namespace gambrel::app
