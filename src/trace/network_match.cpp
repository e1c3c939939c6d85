#include "trace/network_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gambrel/mapping.hpp>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

enum class Kind : std::uint8_t { none, product, attention };

Kind kind_of(std::string_view kernel) {
    if (role_of(kernel) != Role::main) return Kind::none;
    for (const std::string_view word :
         {"flash", "fmha", "attention", "Attention", "BatchDecode", "BatchPrefill", "_mha_"})
        if (has(kernel, word)) return has(kernel, "ombine") ? Kind::none : Kind::attention;
    for (const std::string_view word : {"gemm", "Gemm", "GEMM", "nvjet", "cutlass", "scudnn", "cudnn", "implicit_con",
                                        "gemv", "_mm_", "conv", "matmul"})
        if (has(kernel, word)) return Kind::product;
    return Kind::none;
}

Kind kind_of(const Layer& layer) {
    if (std::holds_alternative<Attention>(layer.op)) return Kind::attention;
    return gemm_view(layer) ? Kind::product : Kind::none;
}

// Layers of equal repeat that follow each other are a block that runs so often, as blocks of a transformer do.
std::vector<Layer> written_out(const std::vector<Layer>& network) {
    constexpr std::size_t kMost = 20000;
    std::vector<Layer> out;
    for (std::size_t begin = 0, end = 0; begin < network.size(); begin = end) {
        for (end = begin; end < network.size() && network[end].repeat == network[begin].repeat; ++end) {
        }
        const double times = std::clamp(network[begin].repeat, 1.0, 1000.0);
        for (double i = 0; i < times && out.size() < kMost; ++i)
            for (std::size_t l = begin; l < end; ++l)
                if (kind_of(network[l]) != Kind::none) out.push_back(network[l]);
    }
    for (Layer& layer : out) layer.repeat = 1;
    return out;
}

// Libraries before Hopper give every tile a CTA of its own; what came after may keep its CTAs and hand them tile after
// tile, and then the grid shows the GPU, not the layer.
bool has_a_cta_for_each_tile(std::string_view kernel) {
    if (has(kernel, "tream")) return false;  // stream-K
    constexpr std::array<std::string_view, 11> kFamilies = {"ampere_",    "volta_",     "turing_",   "maxwell_",
                                                            "sm70_xmma",  "sm75_xmma",  "sm80_xmma", "sm86_xmma",
                                                            "cutlass_70", "cutlass_75", "cutlass_80"};
    return std::any_of(kFamilies.begin(), kFamilies.end(), [&](auto family) { return has(kernel, family); });
}

struct Event {
    std::size_t index = 0;
    Kind kind = Kind::none;
    Tile tile;
    LaunchShape shape;
    bool may_stay = false;  // its CTAs may take tile after tile
    double sms = 0;         // of its GPU; 0: unknown
};

struct Fit {
    int score = 0;
    std::int32_t split = 1;  // CTAs to a tile
    [[nodiscard]] bool checked() const { return score > 1; }
};
constexpr int kFits = 3, kMayFit = 1, kDoesNot = -4;

// Its CTAs are the layer's tiles, or those of split-K, which lie along the last axis of the grid where it has several.
std::optional<Fit> fit_of_tiles(const LaunchShape& shape, double rows, double columns, double batch) {
    constexpr double kMostParts = 64;
    const auto [x, y, z] = shape.grid;
    const double tiles = rows * columns, plane = double(x) * y, ctas = shape.ctas();
    if (ctas == tiles * batch) return Fit{kFits, 1};
    const double parts = y == 1 && z == 1 ? x / (tiles * batch) : plane == tiles ? z / batch : 0;
    if (parts >= 2 && parts <= kMostParts && parts == std::round(parts))
        return Fit{kFits - 1, static_cast<std::int32_t>(parts)};
    // Swizzled: a few columns of tiles lie side by side in the grid, and the last group may have empty places.
    for (const double group : {2.0, 4.0, 8.0})
        for (const auto& [a, b] : {std::pair{rows, columns}, std::pair{columns, rows}})
            if (z == batch &&
                ((x == a * group && y == std::ceil(b / group)) || (y == a * group && x == std::ceil(b / group))))
                return Fit{kFits - 1, 1};
    return std::nullopt;
}

Fit fit_of(const Event& e, const Layer& layer) {
    if (e.kind != kind_of(layer)) return {kDoesNot, 1};
    const auto view = gemm_view(layer);
    const double ctas = e.shape.ctas();
    if (e.kind == Kind::attention || e.tile.m <= 0 || e.tile.n <= 0 || ctas <= 0 || !view) return {kMayFit, 1};
    double most = 0;
    for (const auto& [m, n] : {std::pair{e.tile.m, e.tile.n}, std::pair{e.tile.n, e.tile.m}}) {
        const double rows = std::ceil(double(view->m) / m), columns = std::ceil(double(view->n) / n);
        if (const auto fit = fit_of_tiles(e.shape, rows, columns, double(view->batch))) return *fit;
        most = std::max(most, rows * columns * double(view->batch));
    }
    // CTAs that stay fill the GPU, but for what clusters leave over; of an unknown GPU, two to an SM of the largest.
    const bool fills = e.sms > 0 ? ctas >= 0.85 * e.sms : ctas <= 300;
    return {e.may_stay && fills && most > ctas ? kMayFit : kDoesNot, 1};
}

// Scores of all pairs. Kernels and layers repeat, so few pairs differ.
class Scores {
public:
    Scores(const std::vector<Event>& events, const std::vector<Layer>& layers) {
        std::map<std::tuple<Kind, std::array<std::int64_t, 3>>, std::size_t> layer_classes;
        std::vector<const Layer*> examples;
        for (const Layer& layer : layers) {
            const auto view = gemm_view(layer);
            const std::tuple key{kind_of(layer),
                                 view ? std::array{view->m, view->n, view->batch} : std::array<std::int64_t, 3>{}};
            const auto [it, fresh] = layer_classes.try_emplace(key, examples.size());
            if (fresh) examples.push_back(&layer);
            layer_.push_back(it->second);
        }
        std::map<std::tuple<Kind, int, int, std::array<std::uint32_t, 3>, bool, double>, std::size_t> event_classes;
        for (const Event& e : events) {
            const std::tuple key{e.kind, int(e.tile.m), int(e.tile.n), e.shape.grid, e.may_stay, e.sms};
            const auto [it, fresh] = event_classes.try_emplace(key, event_classes.size());
            event_.push_back(it->second * examples.size());
            if (!fresh) continue;
            for (const Layer* layer : examples) scores_.push_back(fit_of(e, *layer).score);
        }
    }
    [[nodiscard]] int of(std::size_t event, std::size_t layer) const { return scores_[event_[event] + layer_[layer]]; }

private:
    std::vector<std::size_t> event_, layer_;
    std::vector<int> scores_;
};

// The best alignment of the kernels to the layers again and again: a kernel or a layer may be left out at a cost.
std::vector<std::int32_t> aligned(const std::vector<Event>& events, const std::vector<Layer>& layers) {
    constexpr int kGap = 1;
    enum Step : std::uint8_t { take, skip_kernel, skip_layer };
    const std::size_t n = layers.size();
    const Scores scores(events, layers);
    std::vector<int> before(n, 0), now(n);
    std::vector<std::uint8_t> steps(events.size() * n);
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const int with = before[(j + n - 1) % n] + scores.of(i, j);
            const int without = before[j] - kGap;
            now[j] = std::max(with, without);
            steps[i * n + j] = with >= without ? take : skip_kernel;
        }
        // Twice around: a skip may pass the end of the network.
        for (std::size_t k = 1; k < 2 * n; ++k) {
            const std::size_t j = k % n, left = (k - 1) % n;
            if (now[left] - kGap > now[j]) now[j] = now[left] - kGap, steps[i * n + j] = skip_layer;
        }
        before.swap(now);
    }
    std::vector<std::int32_t> out(events.size(), -1);
    std::size_t j = static_cast<std::size_t>(std::max_element(before.begin(), before.end()) - before.begin());
    for (std::size_t i = events.size(); i > 0;) {
        const auto step = steps[(i - 1) * n + j];
        if (step == take) out[i - 1] = static_cast<std::int32_t>(j);
        if (step != skip_layer) --i;
        if (step != skip_kernel) j = (j + n - 1) % n;
    }
    return out;
}

// Why the network is refused: the first kernel that no layer fits.
std::string first_misfit(const Timeline& timeline, const std::vector<Event>& events, const std::vector<Layer>& layers) {
    for (const Event& e : events) {
        const auto fits = [&](const Layer& layer) { return fit_of(e, layer).score > 0; };
        if (std::any_of(layers.begin(), layers.end(), fits)) continue;
        const std::string& name = timeline.activities[e.index].name.str();
        if (e.tile.m <= 0) return fmt::format("; {} is like none of its layers", short_name(name, 60));
        return fmt::format("; {} has {:.0f} CTAs for tiles of {} x {}, and no layer makes so many",
                           short_name(name, 60), e.shape.ctas(), e.tile.m, e.tile.n);
    }
    return {};
}

// The kernel that adds the partial sums of a split product runs right behind it in its stream.
void add_sums_of_parts(const Timeline& timeline, const std::vector<std::size_t>& open, NetworkMatch& out) {
    std::map<std::tuple<std::uint32_t, std::int32_t, std::int64_t>, std::size_t> last;  // of a stream, so far
    for (const std::size_t i : open) {
        const Activity& a = timeline.activities[i];
        const auto [it, fresh] = last.try_emplace({a.rank, a.gpu, a.stream}, i);
        const std::size_t before = std::exchange(it->second, i);
        if (fresh || out.of[before] < 0 || out.split[before] < 2 || role_of(a.name.str()) != Role::split_reduce)
            continue;
        out.of[i] = out.of[before];
        out.split[i] = out.split[before];
    }
}

}  // namespace

NetworkMatch match_network(const Timeline& timeline, const std::vector<std::size_t>& open,
                           const std::vector<Layer>& network) {
    NetworkMatch out;
    out.of.assign(timeline.activities.size(), -1);
    out.split.assign(timeline.activities.size(), 1);
    out.layers = written_out(network);
    std::vector<Event> events;
    for (const std::size_t i : open) {
        const Activity& a = timeline.activities[i];
        const Kind kind = kind_of(a.name.str());
        if (kind == Kind::none) continue;
        events.push_back({i, kind, parse_kernel_name(a.name.str()).tile, a.shape,
                          !has_a_cta_for_each_tile(a.name.str()), timeline.devices[a.device].sms});
    }
    constexpr std::size_t kMostCells = std::size_t{1} << 28;
    if (events.empty() || out.layers.empty()) {
        out.note = "no kernel without shapes multiplies, or no layer does: nothing to match";
        return out;
    }
    if (events.size() > kMostCells / out.layers.size()) {
        out.note = fmt::format("{} kernels and {} layers are too many to match", events.size(), out.layers.size());
        return out;
    }
    const auto layer_of = aligned(events, out.layers);
    std::size_t matched = 0, checked = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (layer_of[i] < 0) continue;
        ++matched;
        if (fit_of(events[i], out.layers[static_cast<std::size_t>(layer_of[i])]).checked()) ++checked;
    }
    constexpr double kEnough = 0.7;
    const bool fits = double(matched) >= kEnough * double(events.size());
    out.note = fmt::format(
        "{} of {} kernels that multiply and have no shapes follow the order of the network's {} layers{}", matched,
        events.size(), out.layers.size(),
        fits ? fmt::format(
                   "; {} of them have as many CTAs as their layer has tiles, the others show nothing that could be "
                   "checked",
                   checked)
             : ": it is not this network, or not in this order or batch, and they stay unknown" +
                   first_misfit(timeline, events, out.layers));
    if (!fits) return out;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (layer_of[i] < 0) continue;
        out.of[events[i].index] = layer_of[i];
        out.split[events[i].index] = fit_of(events[i], out.layers[static_cast<std::size_t>(layer_of[i])]).split;
    }
    add_sums_of_parts(timeline, open, out);
    return out;
}

std::string result_size(const Activity& a) {
    const Tile tile = parse_kernel_name(a.name.str()).tile;
    if (kind_of(a.name.str()) != Kind::product || tile.m <= 0 || tile.n <= 0 || a.shape.ctas() <= 0) return {};
    return fmt::format(
        "; {} tiles of {} x {} by its name and grid, so a result of at most {:.3g} elements; the depth is not "
        "known (--network supplies it)",
        a.shape.ctas(), tile.m, tile.n, a.shape.ctas() * double(tile.m) * double(tile.n));
}

}  // namespace gambrel::trace_detail
