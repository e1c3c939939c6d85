#include <gambrel/compare.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace gambrel {
namespace {

double time_of(const Kernel& k) { return k.time ? k.time->value.value() : 0; }

double whole_time(const Analysis& a) {
    double whole = 0;
    for (const auto& row : a.rows) whole += time_of(row.kernel);
    return whole;
}

void check_roofs(const Analysis& a, double min_roof, double min_share, CheckResult& out) {
    const double whole = whole_time(a);
    std::size_t unjudged = 0;
    for (const auto& row : a.rows) {
        if (whole > 0 && time_of(row.kernel) < min_share * whole) continue;
        if (!row.verdict.of_roof) {
            ++unjudged;
            continue;
        }
        out.items.push_back({row.kernel.name.str(),
                             row.kernel.phase.str(),
                             "roof",
                             *row.verdict.of_roof,
                             min_roof,
                             {},
                             *row.verdict.of_roof >= min_roof});
    }
    if (unjudged > 0)
        out.notes.push_back(
            fmt::format("{} kernels have no verdict and were not checked against their roof", unjudged));
}

using Key = std::pair<std::string, std::string>;

void check_kernel(const Kernel& k, const BaselineKernel& base, const CheckLimits& limits, CheckResult& out) {
    const auto add = [&](std::string what, double found, double was, double allowance) {
        const double limit = was * (1 + allowance);
        out.items.push_back({k.name.str(), k.phase.str(), std::move(what), found, limit, was, found <= limit});
        return found <= limit;
    };
    // Another number of launches is another program; per launch it can still be compared.
    const double scale = static_cast<double>(k.launches) / static_cast<double>(base.launches);
    if (k.time && base.time &&
        !add("time", k.time->value.value(), base.time->value() * scale, limits.max_time + base.noise) && k.clock &&
        base.clock && base.clock->value() > 0) {
        const double clock = k.clock->value.value() / base.clock->value();
        if (std::fabs(clock - 1) > 0.01)
            out.notes.push_back(fmt::format(
                "{}: ran at {}, {} in the baseline ({:+.1f} %): the clock is part of the "
                "change of its time",
                short_name(k.name.str()), to_text(k.clock->value), to_text(*base.clock), 100 * (clock - 1)));
    }
    for (const Level l : all_levels())
        if (k.bytes[l] && base.bytes[l])
            add(fmt::format("{} bytes", name(l)), k.bytes[l]->value.value(), base.bytes[l]->value() * scale,
                limits.max_bytes);
    if (base.launches != k.launches)
        out.notes.push_back(fmt::format("{}: {} launches, {} in the baseline; limits are scaled to them",
                                        short_name(k.name.str()), k.launches, base.launches));
}

void check_baseline(const Analysis& a, const CheckLimits& limits, const Baseline& baseline, CheckResult& out) {
    std::map<Key, const BaselineKernel*> known;
    std::set<Key> seen;  // with --group launch a name comes more than once
    for (const auto& k : baseline.kernels) known[{k.name, k.phase}] = &k;
    double was = 0, noise = 0;
    for (const auto& k : baseline.kernels)
        if (k.time) was += k.time->value(), noise += k.noise * k.time->value();
    const double whole = whole_time(a);
    std::size_t small = 0;
    for (const auto& row : a.rows) {
        const auto found = known.find({row.kernel.name.str(), row.kernel.phase.str()});
        if (found == known.end()) {
            out.notes.push_back(fmt::format("{}: not in the baseline", short_name(row.kernel.name.str())));
            continue;
        }
        seen.insert(found->first);
        const auto& before = found->second->time;
        if (row.kernel.time && before && time_of(row.kernel) < limits.min_share * whole &&
            before->value() < limits.min_share * was)
            ++small;
        else
            check_kernel(row.kernel, *found->second, limits, out);
    }
    for (const auto& [key, k] : known)
        if (!seen.contains(key))
            out.notes.push_back(fmt::format("{}: in the baseline, not in this run", short_name(k->name)));
    if (small > 0)
        out.notes.push_back(
            fmt::format("{} kernels have less than {:g} % of the time each, now and in the baseline, and were not "
                        "compared with it (--min-share)",
                        small, 100 * limits.min_share));
    const double limit = was * (1 + limits.max_time) + noise;
    if (a.total.time && was > 0)
        out.items.push_back({"all kernels", "", "time", time_of(a.total), limit, was, time_of(a.total) <= limit});
}

}  // namespace

bool CheckResult::passed() const { return failures() == 0; }

std::size_t CheckResult::failures() const {
    return static_cast<std::size_t>(std::count_if(items.begin(), items.end(), [](auto& i) { return !i.passed; }));
}

Result<CheckResult> check(const Analysis& a, const CheckLimits& limits, const Baseline* baseline) {
    CheckResult out;
    out.partial = a.partial;
    if (limits.min_roof) check_roofs(a, *limits.min_roof, limits.min_share, out);
    if (!baseline) return out;
    Errors errors;
    for (const Machine& m : a.machines) {
        const std::string hash = machine_hash(m);
        if (hash == baseline->machine_hash) continue;
        if (m.name == baseline->machine)
            errors.push_back(
                {a.title, fmt::format("the numbers of {} (hash {}) are not those of the baseline (hash {}): the "
                                      "machine file has changed; write the baseline again",
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
