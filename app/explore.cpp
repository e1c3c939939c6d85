#include <charconv>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/explore_output.hpp"
#include "app/interrupt.hpp"
#include "app/mpi_world.hpp"
#include "app/network_flags.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

struct ExploreFlags {
    NetworkFlags network;
    MachineFlags machine;
    ExploreOutput output;
    std::vector<std::string> vary, limit;
    std::string costs, target, search = "auto", tiles = "fastest", map, pass_weights, designs, resume;
    std::uint64_t samples = 100'000, seed = 1, restarts = 64;
    std::size_t points = kRangePoints;
    int threads = 0;
    bool convolutions = false;
};

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
    return all;
}

Result<double> positive(const std::string_view given, const std::string& where) {
    std::string_view text = given;
    if (text.ends_with("x")) text.remove_suffix(1);
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e9)
        return failure(where, fmt::format("\"{}\": expected a positive number, such as 2", given));
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

Result<Workload> workload_of(const ExploreFlags& flags, Errors& notes) {
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
        notes.insert(notes.end(), (*layers)->notes.begin(), (*layers)->notes.end());
        all.add(**layers, named.weight, flags.convolutions);
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

Result<ExploreRequest> request_of(const ExploreFlags& flags, Errors& notes) {
    const auto start = estimator_of(flags.machine);
    if (!start) return tl::unexpected(start.error());
    if (!start->machine)
        return failure("--machine",
                       "which GPU to start from? a name of `gambrel machines`, such as v100, or a machine file");
    ExploreRequest r;
    r.machine = *start->machine;
    const auto inputs = model_inputs(r.machine, start->clock, start->roofs);
    if (!inputs) return tl::unexpected(inputs.error());
    r.hardware = *inputs;
    Errors wrong = faults(flags.output);
    const auto take = [&](auto&& result, auto& into) {
        if (result)
            into = std::move(*result);
        else
            wrong.insert(wrong.end(), result.error().begin(), result.error().end());
    };
    if (!flags.vary.empty())
        take(parse_space(joined(flags.vary), r.machine, r.hardware, "--vary", flags.points), r.space);
    take(parse_limits(joined(flags.limit), r.machine, r.hardware), r.search.limits);
    if (!flags.costs.empty()) take(load_costs(flags.costs), r.costs);
    if (!flags.target.empty()) take(positive(flags.target, "--target"), r.search.target);
    take(map_of(flags.map), r.map);
    if (flags.vary.empty() && !(flags.target.empty() && flags.designs.empty() && flags.resume.empty()))
        wrong.push_back({"--vary", "what may be scaled? such as --vary sms=1:4,l2.bandwidth=1:4,dram.bandwidth=1:4"});
    take(workload_of(flags, notes), r.workload);
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
    r.tiles = flags.tiles == "rule" ? Tiles::rule : Tiles::fastest;
    r.search.search = *search_from(flags.search);
    r.search.samples = flags.samples;
    r.search.seed = flags.seed;
    r.search.restarts = flags.restarts;
    r.designs = flags.designs;
    r.resume = flags.resume;
    r.threads = flags.threads;
    r.inputs = flags.output.output.inputs;
    r.force = flags.output.output.force;
    return r;
}

int run_explore(const ExploreFlags& flags) {
    MpiWorld world;
    Errors notes;
    auto request = request_of(flags, notes);
    if (!request) {
        // The other ranks wait to compare what they were asked.
        disagreement(world, "explore, with errors in its command line");
        return bad_input(request.error());
    }
    const bool first = world.rank() == 0, quiet = flags.output.output.quiet || !first;
    if (!quiet) print_notes(notes);
    const InterruptGuard guard;
    request->stop = InterruptGuard::asked;
    std::optional<ProgressBar> bar(quiet);
    request->progress = [&](double fraction, std::string_view doing) { bar->show(fraction, doing); };
    const auto report = explore(*request, world);
    bar.reset();
    if (!report) return first ? bad_input(report.error()) : kBadInput;
    if (!first) return kDone;
    if (report->partial)
        say(fmt::format("note: interrupted; the results are those of the designs evaluated so far{}",
                        flags.resume.empty() ? "" : ", and the same command goes on from there"));
    const int status = emit(*report, flags.output);
    return status != kDone ? status : found_what_was_asked(*report) ? kDone : kNo;
}

}  // namespace

Action setup_explore(Parser& command) {
    auto flags = std::make_shared<ExploreFlags>();
    flags->network.add_to(command);
    flags->network.add_algorithm_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--vary", flags->vary).one_value();
    command.add_option("--limit", flags->limit).one_value();
    command.add_option("--costs", flags->costs);
    command.add_option("--target", flags->target);
    command.add_option("--search", flags->search).one_of({"auto", "grid", "random", "guided"});
    command.add_option("--samples", flags->samples).count();
    command.add_option("--restarts", flags->restarts).range(1, 1'000'000);
    command.add_option("--seed", flags->seed);
    command.add_option("--points", flags->points).range(2, 1000);
    command.add_option("--tiles", flags->tiles).one_of({"rule", "fastest"});
    command.add_option("--map", flags->map);
    command.add_option("--pass-weights", flags->pass_weights);
    command.add_flag("--convolutions", flags->convolutions);
    command.add_option("--designs", flags->designs);
    command.add_option("--resume", flags->resume);
    command.add_option("--threads", flags->threads).range(1, 4096);
    return [flags] {
        flags->output.output.inputs = {flags->network.network, flags->network.layers, flags->machine.machine,
                                       flags->costs};
        return run_explore(*flags);
    };
}

}  // namespace gambrel::app
