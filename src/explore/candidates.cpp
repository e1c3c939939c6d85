#include "explore/candidates.hpp"

#include <algorithm>

namespace gambrel::explore_detail {
namespace {

// cuDNN's three widths, and what an SM with more registers and shared memory could hold.
constexpr std::array<Tile, 6> kConvolution = {
    {{128, 32, 4}, {128, 64, 8}, {128, 128, 8}, {256, 128, 8}, {128, 256, 8}, {256, 256, 8}}};
constexpr std::array<Tile, 3> kLarger = {{{256, 128, 0}, {128, 256, 0}, {256, 256, 0}}};

// A thread has at most 255 registers, and its sums are half of what it needs.
constexpr double kMostOutputs = 128;

// As much as any design could offer: what does not fit a design is left out there, not made smaller here.
constexpr double kPlenty = 16;

std::vector<Tile> tiles_of(const Layer& layer, const Mapping& rule, const Machine& machine) {
    if (std::holds_alternative<Convolution>(layer.op) && !is_tensor(rule.pipe))
        return {kConvolution.begin(), kConvolution.end()};
    const auto known = known_tiles(machine, rule.pipe);
    std::vector<Tile> tiles(known.begin(), known.end());
    for (Tile tile : kLarger) {
        const auto same = [&](const Tile& t) { return t.m == tile.m && t.n == tile.n; };
        tile.k = rule.cta.k;
        if (std::none_of(tiles.begin(), tiles.end(), same)) tiles.push_back(tile);
    }
    return tiles;
}

bool sums_fit(const Mapping& m, const Machine& machine) {
    const auto& matrix = architecture_of(machine).matrix;
    const double threads = m.threads - (is_tensor(m.pipe) && matrix ? matrix->producer_threads : 0);
    return static_cast<double>(m.cta.m) * m.cta.n / threads <= kMostOutputs;
}

// From the terms of one SM that runs the CTAs one after the other at a clock that does not fall: no wave is rounded up
// there, so they are the work itself. Layers without tiles have no such bound. Kernels on the matrix units of newer
// GPUs count the k that there is, not whole tiles of it.
LeastWork work_of_one_sm(const PreparedLayer& layer, ModelInputs h) {
    const Mapping& mapping = layer.mapping;
    if (mapping.family != KernelFamily::tiled || mapping.a.asynchronous) return {};
    h.sms = 1;
    h.fed = FlopRate{};
    Occupancy alone;
    alone.ctas_per_sm = 1;
    const TimeTerms terms = predict(layer, alone, h).terms;
    LeastWork least;
    least.pipe = mapping.pipe;
    least.multiplied = (terms[Term::compute] * h.clock) * std::max(FlopPerCycle{1}, h.flop_per_cycle[mapping.pipe]);
    least.issued = (terms[Term::issue] * h.clock).value() * h.schedulers;
    least.shared = (terms[Term::shared] * h.clock) * h.shared_width;
    least.l1 = layer.l1.total();
    return least;
}

LeastWork shared_out(LeastWork work, int sms) {
    work.multiplied *= 1.0 / sms;
    work.issued *= 1.0 / sms;
    work.shared *= 1.0 / sms;
    return work;
}

}  // namespace

CandidatePool::CandidatePool(const Machine& machine, const ModelInputs& hardware, const Workload& workload, Tiles tiles)
    : machine_(machine), hardware_(hardware), workload_(workload), tiles_(tiles), pool_(workload.items.size()) {}

const Candidate* CandidatePool::candidate(std::size_t index, const Layer& run, const Mapping& mapping) {
    for (const Candidate& known : pool_[index])
        if (known.layer.mapping == mapping) return &known;
    const PreparedLayer layer = gambrel::prepare(run, mapping);
    return &pool_[index].emplace_back(Candidate{layer, work_of_one_sm(layer, hardware_)});
}

// By the library's rule, and by every tile that a design may choose instead.
std::vector<Mapping> CandidatePool::mappings_of(const Layer& layer, const Machine& start, const Machine& roomy) const {
    const Mapping rule = mapping_for(layer, start);
    std::vector<Mapping> mappings{rule};
    const bool given = rule.source != Mapping::Source::rule;
    if (tiles_ != Tiles::fastest || rule.family != KernelFamily::tiled || given) return mappings;
    for (const Tile& tile : tiles_of(layer, rule, start)) {
        const Mapping m = with_tile(rule, layer, roomy, tile);
        if (sums_fit(m, start) && std::find(mappings.begin(), mappings.end(), m) == mappings.end())
            mappings.push_back(m);
    }
    return mappings;
}

std::unique_ptr<Prepared> CandidatePool::prepare(int sms) {
    Machine start = machine_;
    start.sm.sms = Sourced<double>{static_cast<double>(sms), Origin::assumed, "a design"};
    Factors plenty;
    plenty[Resource::registers] = plenty[Resource::shared] = kPlenty;
    const Machine roomy = with_room(start, plenty);
    auto made = std::make_unique<Prepared>();
    std::vector<Footprint> seen;
    for (std::size_t i = 0; i < workload_.items.size(); ++i) {
        auto& choices = made->choices.emplace_back();
        for (const Layer& run : by_library_algorithms(workload_.items[i].layer, start))
            for (const Mapping& m : mappings_of(run, start, roomy)) {
                const Footprint footprint{m.threads, m.registers, m.shared_memory.value(), m.pipe};
                const auto at = std::find(seen.begin(), seen.end(), footprint);
                const auto number = static_cast<std::size_t>(at - seen.begin());
                if (at == seen.end()) {
                    seen.push_back(footprint);
                    made->footprints.push_back(m);
                    made->sharing.push_back(0);
                }
                const Candidate* const known = candidate(i, run, m);
                choices.push_back({known, number, made->sharing[number]++, shared_out(known->least, sms)});
            }
    }
    return made;
}

const Prepared& CandidatePool::prepared(int sms) {
    const std::scoped_lock lock(mutex_);
    auto& slot = prepared_[sms];
    if (!slot) slot = prepare(sms);
    return *slot;
}

}  // namespace gambrel::explore_detail
