#include <gambrel/compare.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace gambrel {
namespace {

void check_roofs(const Analysis& a, double min_roof, double min_share, CheckResult& out) {
    double whole = 0;
    for (const auto& row : a.rows)
        if (row.kernel.time) whole += row.kernel.time->value.value();
    std::size_t unjudged = 0;
    for (const auto& row : a.rows) {
        const double time = row.kernel.time ? row.kernel.time->value.value() : 0;
        if (whole > 0 && time < min_share * whole) continue;
        if (!row.verdict.of_roof) {
            ++unjudged;
            continue;
        }
        out.items.push_back({row.kernel.name.str(), row.kernel.phase.str(), "roof", *row.verdict.of_roof, min_roof,
                             *row.verdict.of_roof >= min_roof});
    }
    if (unjudged > 0)
        out.notes.push_back(fmt::format("{} kernels have no verdict and were not held to the roof", unjudged));
}

using Key = std::pair<std::string, std::string>;

void check_kernel(const Kernel& k, const BaselineKernel& base, const CheckLimits& limits, CheckResult& out) {
    const auto add = [&](std::string what, double found, double limit) {
        out.items.push_back({k.name.str(), k.phase.str(), std::move(what), found, limit, found <= limit});
    };
    // Another number of launches is another program; per launch it can still be compared.
    const double scale = static_cast<double>(k.launches) / static_cast<double>(base.launches);
    if (k.time && base.time)
        add("time", k.time->value.value(), base.time->value() * scale * (1 + limits.max_time + base.noise));
    for (const Level l : all_levels())
        if (k.bytes[l] && base.bytes[l])
            add(fmt::format("{} bytes", name(l)), k.bytes[l]->value.value(),
                base.bytes[l]->value() * scale * (1 + limits.max_bytes));
    if (base.launches != k.launches)
        out.notes.push_back(fmt::format("{}: {} launches, {} in the baseline; limits are scaled to them",
                                        short_name(k.name.str()), k.launches, base.launches));
}

void check_baseline(const Analysis& a, const CheckLimits& limits, const Baseline& baseline, CheckResult& out) {
    std::map<Key, const BaselineKernel*> known;
    std::set<Key> seen;  // with --group launch a name comes more than once
    for (const auto& k : baseline.kernels) known[{k.name, k.phase}] = &k;
    for (const auto& row : a.rows) {
        const auto found = known.find({row.kernel.name.str(), row.kernel.phase.str()});
        if (found == known.end()) {
            out.notes.push_back(fmt::format("{}: not in the baseline", short_name(row.kernel.name.str())));
            continue;
        }
        check_kernel(row.kernel, *found->second, limits, out);
        seen.insert(found->first);
    }
    for (const auto& [key, k] : known)
        if (!seen.contains(key))
            out.notes.push_back(fmt::format("{}: in the baseline, not in this run", short_name(k->name)));
    double was = 0, noise = 0;
    for (const auto& k : baseline.kernels)
        if (k.time) was += k.time->value(), noise += k.noise * k.time->value();
    if (a.total.time && was > 0)
        out.items.push_back({"all kernels", "", "time", a.total.time->value.value(),
                             was * (1 + limits.max_time) + noise,
                             a.total.time->value.value() <= was * (1 + limits.max_time) + noise});
}

}  // namespace

bool CheckResult::passed() const { return failures() == 0; }

std::size_t CheckResult::failures() const {
    return static_cast<std::size_t>(std::count_if(items.begin(), items.end(), [](auto& i) { return !i.passed; }));
}

Result<CheckResult> check(const Analysis& a, const CheckLimits& limits, const Baseline* baseline) {
    CheckResult out;
    if (limits.min_roof) check_roofs(a, *limits.min_roof, limits.min_share, out);
    if (!baseline) return out;
    Errors errors;
    for (const Machine& m : a.machines) {
        const std::string hash = machine_hash(m);
        if (hash == baseline->machine_hash) continue;
        if (m.name == baseline->machine)
            errors.push_back(
                {a.title, fmt::format("the numbers of {} (hash {}) are not those of the baseline (hash {}): the "
                                      "machine file has changed; write the baseline anew",
                                      m.name, hash, baseline->machine_hash)});
        else
            errors.push_back(
                {a.title, fmt::format("ran on {} (hash {}), the baseline is of {} (hash {}); devices are not mixed",
                                      m.name.empty() ? "an unnamed GPU" : m.name, hash, baseline->machine,
                                      baseline->machine_hash)});
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    check_baseline(a, limits, *baseline, out);
    return out;
}

}  // namespace gambrel
