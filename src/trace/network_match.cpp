#include "trace/network_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/mapping.hpp>

#include "trace/described.hpp"

namespace gambrel::trace_detail {
namespace {

enum class Kind : std::uint8_t { none, product, attention };

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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

// How well a kernel fits a layer: its CTAs are the layer's tiles, or a whole number of them (split-K), or fewer where
// they stay and take tile after tile.
int score(Kind kind, const Tile& tile, double blocks, const Layer& layer) {
    constexpr int kFits = 3, kMayFit = 1, kDoesNot = -4;
    if (kind != kind_of(layer)) return kDoesNot;
    const auto view = gemm_view(layer);
    if (kind == Kind::attention || tile.m <= 0 || tile.n <= 0 || blocks <= 0 || !view) return kMayFit;
    for (const auto& [m, n] : {std::pair{tile.m, tile.n}, std::pair{tile.n, tile.m}}) {
        const double tiles = std::ceil(double(view->m) / m) * std::ceil(double(view->n) / n) * double(view->batch);
        const double parts = blocks / tiles;
        if (std::abs(parts - std::round(parts)) < 1e-9 && parts >= 1 && parts <= 64)
            return parts == 1 ? kFits : kFits - 1;
    }
    constexpr double kMostPersistent = 300;  // CTAs that stay on the SMs of the largest GPU, two to an SM
    return blocks <= kMostPersistent ? kMayFit : kDoesNot;
}

struct Event {
    std::size_t index = 0;
    Kind kind = Kind::none;
    Tile tile;
    double blocks = 0;
};

// The best alignment of the kernels to the layers again and again: a kernel or a layer may be left out at a cost.
std::vector<std::int32_t> aligned(const std::vector<Event>& events, const std::vector<Layer>& layers) {
    constexpr int kGap = 1;
    enum Step : std::uint8_t { take, skip_kernel, skip_layer };
    const std::size_t n = layers.size();
    std::vector<int> before(n, 0), now(n);
    std::vector<std::uint8_t> steps(events.size() * n);
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const int with =
                before[(j + n - 1) % n] + score(events[i].kind, events[i].tile, events[i].blocks, layers[j]);
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

}  // namespace

NetworkMatch match_network(const Timeline& timeline, const std::vector<std::size_t>& open,
                           const std::vector<Layer>& network) {
    NetworkMatch out;
    out.of.assign(timeline.activities.size(), -1);
    out.layers = written_out(network);
    std::vector<Event> events;
    for (const std::size_t i : open) {
        const Activity& a = timeline.activities[i];
        const Kind kind = kind_of(a.name.str());
        if (kind != Kind::none) events.push_back({i, kind, parse_kernel_name(a.name.str()).tile, a.shape.ctas()});
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
    const auto matched = static_cast<std::size_t>(
        std::count_if(layer_of.begin(), layer_of.end(), [](std::int32_t l) { return l >= 0; }));
    constexpr double kEnough = 0.7;
    const bool fits = double(matched) >= kEnough * double(events.size());
    out.note =
        fmt::format("{} of {} kernels that multiply and have no shapes follow the order of the network's {} layers{}",
                    matched, events.size(), out.layers.size(),
                    fits ? "" : ": it is not this network, or not in this order, and they stay unknown");
    if (fits)
        for (std::size_t i = 0; i < events.size(); ++i) out.of[events[i].index] = layer_of[i];
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
