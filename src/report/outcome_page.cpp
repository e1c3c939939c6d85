#include <fmt/format.h>
#include <gambrel/outcome.hpp>

namespace gambrel {

std::vector<PageLayer> page_layers(const OutcomeReport& report) {
    std::vector<PageLayer> layers;
    for (const OutcomeRow& row : report.rows)
        for (const LayerOutcome& o : row.layers) {
            PageLayer layer;
            layer.name = o.name;
            layer.detail = fmt::format("{} {}", name(o.pass), name(o.precision));
            if (o.tile.m > 0) layer.detail += fmt::format(", tile {}x{}x{}", o.tile.m, o.tile.n, o.tile.k);
            if (o.repeat > 1) layer.detail += fmt::format(", {} times", o.repeat);
            layer.time = Seconds{o.time.value_or(0) * o.repeat};
            layer.bottleneck = o.bound;
            layer.row = layers.size();
            layers.push_back(std::move(layer));
        }
    return layers;
}

}  // namespace gambrel
