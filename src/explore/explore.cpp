#include <algorithm>

#include <fmt/format.h>

#include "explore/exploration_report.hpp"
#include "explore/shared_search.hpp"

namespace gambrel {
namespace {

// What ranks compare, in words that an error can show.
std::string description(const ExploreRequest& request, const Exploration& exploration) {
    std::string text = "explore";
    for (const std::string& network : request.workload.networks) text += " " + network;
    text += fmt::format(" on {}, {} designs", request.machine.name, request.space.size());
    if (!request.designs.empty()) text += fmt::format(", --designs {}", request.designs);
    if (!request.resume.empty()) text += fmt::format(", --resume {}", request.resume);
    return text + fmt::format(", request {:016x}", exploration.fingerprint());
}

// What `gambrel predict` refuses of the start: a precision that the GPU does not have, operands larger than its memory.
Errors refusals(const ExploreRequest& request) {
    if (request.workload.items.empty()) return {{"workload", "has no layers"}};
    EstimatorOptions options;
    options.machine = request.machine;
    Estimator estimator(options);
    Errors all;
    for (const Workload::Item& item : request.workload.items) {
        Layer layer = item.layer;
        layer.hints.gpu.clear();
        if (const auto estimate = estimator(layer); !estimate)
            for (const Error& error : estimate.error())
                if (std::none_of(all.begin(), all.end(), [&](const Error& e) { return e.what == error.what; }))
                    all.push_back({layer.name, error.what});
    }
    return all;
}

}  // namespace

Result<ExplorationReport> explore(const ExploreRequest& request, World& world) {
    const DesignEvaluator evaluator(request.machine, request.hardware, request.workload, request.tiles);
    const Exploration exploration(evaluator, request.space, request.costs, request.search);
    if (Errors different = disagreement(world, description(request, exploration)); !different.empty())
        return tl::unexpected(std::move(different));
    if (Errors wrong = refusals(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
    ExplorationReport report;
    if (request.space.axes.empty()) {
        if (request.search.target || !request.designs.empty() || !request.resume.empty())
            return failure("space", "has no resource to vary, so there is nothing to search");
        report = exploration_report(evaluator, request.costs, request.proposed);
    } else {
        const auto found = explore_detail::shared_search(exploration, request, world);
        if (!found) return tl::unexpected(found.error());
        report = exploration_report(exploration, found->result);
        report.partial = found->next < exploration.parts();
        if (report.partial) report.title += " (partial: stopped early)";  // every picture shows the title
    }
    add_map(report, evaluator, request.space, request.map);
    return report;
}

Result<ExplorationReport> explore(const ExploreRequest& request) {
    World alone;
    return explore(request, alone);
}

}  // namespace gambrel
