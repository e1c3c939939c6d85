#include <algorithm>
#include <cmath>

#include <gambrel/compare.hpp>

#include "compare/matching.hpp"

namespace gambrel {
namespace {

using namespace compare_detail;

void fill(ComparedPair& pair, const Kernel* before, const Kernel* after) {
    const auto change = [&](auto get) {
        return Change{before ? base_units(get(*before)) : std::nullopt, after ? base_units(get(*after)) : std::nullopt};
    };
    pair.time = change([](const Kernel& k) { return k.time; });
    pair.flop = change([](const Kernel& k) { return flop(k); });
    pair.flop_rate = change([](const Kernel& k) { return flop_rate(k); });
    pair.clock = change([](const Kernel& k) { return k.clock; });
    const auto launches = [](const Kernel* k) {
        return k ? std::optional(static_cast<double>(k->launches)) : std::nullopt;
    };
    pair.launches = {launches(before), launches(after)};
    for (const Level l : all_levels()) {
        pair.bytes[l] = change([l](const Kernel& k) { return k.bytes[l]; });
        pair.intensity[l] = change([l](const Kernel& k) { return intensity(k, l); });
    }
}

// Work or bytes at one roof. Its shortest time is amount / ceiling.
struct RoofAmount {
    Bound roof;
    double amount, ceiling;
    [[nodiscard]] double shortest() const { return amount / ceiling; }
};

std::vector<RoofAmount> roof_amounts(const Roofline& v) {
    std::vector<RoofAmount> out;
    const auto add = [&](Bound roof, double shortest, double ceiling) {
        if (ceiling > 0) out.push_back({roof, shortest * ceiling, ceiling});
    };
    for (const auto& p : v.pipes) add(p.pipe, p.shortest.value(), p.ceiling.value());
    for (const auto& l : v.levels) add(l.level, l.shortest.value(), l.ceiling.value());
    return out;
}

const RoofAmount* find(const std::vector<RoofAmount>& roofs, Bound roof) {
    const auto it = std::find_if(roofs.begin(), roofs.end(), [&](auto& r) { return r.roof == roof; });
    return it == roofs.end() ? nullptr : &*it;
}

const RoofAmount* binding(const std::vector<RoofAmount>& roofs) {
    const auto it =
        std::max_element(roofs.begin(), roofs.end(), [](auto& a, auto& b) { return a.shortest() < b.shortest(); });
    return it == roofs.end() ? nullptr : &*it;
}

// The roofs before, each with the ceiling that it has after.
std::vector<RoofAmount> at_clock_of(const std::vector<RoofAmount>& after, std::vector<RoofAmount> before) {
    for (RoofAmount& r : before)
        if (const RoofAmount* now = find(after, r.roof)) r.ceiling = now->ceiling;
    return before;
}

constexpr double kLeastPart = 0.1;     // less than a tenth of the change explains nothing
constexpr double kLeastChange = 1e-3;  // equal for all that a clock can tell

// The side before, with one thing taken from the side after and its own efficiency kept. docs/model/roofline.md,
// "Which roof explains a change". On one machine ceilings move with the clock, so a roof is exchanged by its amount
// alone.
void explain(ComparedPair& pair, const Roofline& before, const Roofline& after, bool one_machine) {
    if (!pair.time.before || !pair.time.after || !before.of_roof || !(*before.of_roof > 0)) return;
    const auto was = roof_amounts(before), now = roof_amounts(after);
    const auto clocked = one_machine ? at_clock_of(now, was) : was;
    const RoofAmount *first = binding(was), *moved = binding(clocked), *last = binding(now);
    if (!first || !last || !(first->shortest() > 0) || !(*pair.time.before > 0)) return;
    TimeFactors factors;
    factors.clock = moved->shortest() / first->shortest();
    (std::holds_alternative<Level>(last->roof) ? factors.bytes : factors.work) = last->shortest() / moved->shortest();
    factors.rate = *pair.time.after / *pair.time.before / (last->shortest() / first->shortest());
    pair.factors = factors;

    const double error = std::fabs(*pair.time.after - *pair.time.before);
    if (error <= kLeastChange * *pair.time.before) return;
    const auto consider = [&](double shortest, Cause cause, Bound roof) {
        const double part = 1 - std::fabs(*pair.time.after - shortest / *before.of_roof) / error;
        if (part > std::max(pair.explained, kLeastPart))
            pair.explained = part, pair.cause = cause, pair.explained_by = roof;
    };
    // First, because bytes and work follow the number of launches.
    if (const auto count = pair.launches.ratio(); count && *count != 1)
        consider(*count * first->shortest(), Cause::count, {});
    for (const RoofAmount& exchanged : now) {
        const RoofAmount* old = find(was, exchanged.roof);
        double longest = exchanged.amount / (one_machine && old ? old->ceiling : exchanged.ceiling);
        for (const RoofAmount& r : was)
            if (r.roof != exchanged.roof) longest = std::max(longest, r.shortest());
        consider(longest, Cause::roof, exchanged.roof);
    }
    if (one_machine) consider(moved->shortest(), Cause::clock, {});
}

// How near to the hardware a side is.
int nearness(const Analysis& a) { return a.origin == Origin::modelled ? 0 : a.origin == Origin::simulated ? 1 : 2; }

bool one_machine(const Analysis& before, const AnalysisRow& a, const Analysis& after, const AnalysisRow& b) {
    return a.machine < before.machines.size() && b.machine < after.machines.size() &&
           before.machines[a.machine].name == after.machines[b.machine].name;
}

double longer(const ComparedPair& p) { return std::max(p.time.before.value_or(0), p.time.after.value_or(0)); }

}  // namespace

std::string_view name(MatchBy by) {
    switch (by) {
        case MatchBy::automatic:
            return "auto";
        case MatchBy::name:
            return "name";
        case MatchBy::order:
            return "order";
        case MatchBy::layer:
            return "layer";
    }
    return "";
}

std::optional<double> Change::ratio() const {
    if (!before || !after || *before == 0) return std::nullopt;
    return *after / *before;
}

Comparison comparison(Analysis before, Analysis after, const CompareOptions& options) {
    Comparison out;
    out.matched_by = options.match_by == MatchBy::automatic ? chosen(before, after) : options.match_by;
    out.is_prediction = nearness(before) < nearness(after);
    for (const Match& m : matched(before, after, out.matched_by)) {
        ComparedPair pair;
        pair.before = m.before, pair.after = m.after, pair.by_base_name = m.by_base_name;
        const AnalysisRow* a = m.before ? &before.rows[*m.before] : nullptr;
        const AnalysisRow* b = m.after ? &after.rows[*m.after] : nullptr;
        fill(pair, a ? &a->kernel : nullptr, b ? &b->kernel : nullptr);
        if (a && b) explain(pair, a->verdict, b->verdict, one_machine(before, *a, after, *b));
        if (m.by_base_name) ++out.matched_by_base_name;
        ++(a && b ? out.matched : a ? out.only_before : out.only_after);
        out.pairs.push_back(pair);
    }
    std::stable_sort(out.pairs.begin(), out.pairs.end(), [](auto& a, auto& b) { return longer(a) > longer(b); });
    fill(out.total, &before.total, &after.total);
    const auto share = [](std::optional<double> part, std::optional<double> whole) {
        return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
    };
    for (ComparedPair& pair : out.pairs)
        pair.share = {share(pair.time.before, out.total.time.before), share(pair.time.after, out.total.time.after)};
    out.before = std::move(before), out.after = std::move(after);
    return out;
}

}  // namespace gambrel
