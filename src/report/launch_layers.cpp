// What a page needs to compute the kernels of a trace for another machine.
#include <gambrel/report.hpp>

namespace gambrel {
namespace {

constexpr std::size_t kMostLayers = 2000;  // a quarter of a kilobyte each

}  // namespace

void LaunchLayers::add(const Kernel& launch, const LaunchLayer& of) {
    if (!of.layer || layers_ > kMostLayers) return;
    Row& row = rows_[{launch.name, launch.phase, launch.device}];
    const auto [at, fresh] = row.index.try_emplace(&of, row.layers.size());
    if (fresh) {
        row.layers.push_back({of, 0});
        ++layers_;
        // A trace times the kernel alone. Where it splits k, that would say how partial sums are written, too, which
        // the bytes of the trace do not assume.
        Hints& hints = row.layers.back().of.layer->hints;
        if (hints.split_k <= 1) hints.timing = Timing::kernel;
    }
    row.layers[at->second].launches += static_cast<double>(launch.launches);
}

std::optional<PageModel> LaunchLayers::page_model(const Analysis& analysis) const {
    if (rows_.empty() || layers_ > kMostLayers || analysis.grouping != Grouping::kernel) return std::nullopt;
    PageModel model;
    model.roofs = Roofs::measured;  // those that the model of a trace takes
    model.machines = analysis.machines;
    model.traced = true;
    for (const Machine& m : model.machines)
        if (m.own_architecture || !missing_numbers(m).empty()) return std::nullopt;
    for (std::size_t i = 0; i < analysis.rows.size(); ++i) {
        const Kernel& k = analysis.rows[i].kernel;
        if (k.time_class.str() != name(TimeClass::modelled)) continue;
        const auto row = rows_.find({k.name, k.phase, k.device});
        if (row == rows_.end()) continue;
        for (const Counted& counted : row->second.layers) {
            const double times = counted.launches * counted.of.share;
            model.layers.push_back(
                {*counted.of.layer, i, analysis.rows[i].machine, {}, times, counted.of.extra * times});
        }
    }
    if (model.layers.empty()) return std::nullopt;
    return model;
}

}  // namespace gambrel
