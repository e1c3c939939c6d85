#include "compare/matching.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace gambrel::compare_detail {
namespace {

using Key = std::pair<std::string, std::string>;

double time_of(const AnalysisRow& row) { return row.kernel.time ? row.kernel.time->value.value() : 0; }

// The n-th row of a key on one side belongs to the n-th on the other: a layer that runs twice is two rows.
template <class KeyOf>
std::vector<Match> by_key(const Analysis& before, const Analysis& after, KeyOf key_of) {
    std::map<Key, std::deque<std::size_t>> waiting;
    for (std::size_t i = 0; i < after.rows.size(); ++i) waiting[key_of(after.rows[i].kernel)].push_back(i);
    std::vector<bool> used(after.rows.size(), false);
    std::vector<Match> out;
    for (std::size_t i = 0; i < before.rows.size(); ++i) {
        auto found = waiting.find(key_of(before.rows[i].kernel));
        if (found == waiting.end() || found->second.empty()) {
            out.push_back({i, std::nullopt});
            continue;
        }
        out.push_back({i, found->second.front()});
        used[found->second.front()] = true;
        found->second.pop_front();
    }
    for (std::size_t i = 0; i < after.rows.size(); ++i)
        if (!used[i]) out.push_back({std::nullopt, i});
    return out;
}

// A phase that only one side has (a file's name, where another file was read) must not keep equal names apart.
bool phases_agree(const Analysis& before, const Analysis& after) {
    const auto has = [](const Analysis& a, Symbol phase) {
        return std::any_of(a.rows.begin(), a.rows.end(), [&](const auto& r) { return r.kernel.phase == phase; });
    };
    return std::any_of(before.rows.begin(), before.rows.end(),
                       [&](const auto& r) { return has(after, r.kernel.phase); });
}

// "ns::kernel" of "void ns::kernel<float, 4>(float*)".
std::string base_name(const std::string& name) {
    const std::string_view whole(name);
    const std::string_view head = whole.substr(0, whole.find_first_of("<("));
    const auto space = head.find_last_of(' ');
    return std::string(space == std::string_view::npos ? head : head.substr(space + 1));
}

// Rows that have no equal name on the other side: a pair where one row on each side is all that is left of a base name.
// Several, such as the many kernels of one template, cannot be told apart.
void join_by_base_name(const Analysis& before, const Analysis& after, bool phases, std::vector<Match>& matches) {
    struct Left {
        std::vector<std::size_t> before, after;  // places in `matches`
    };
    std::map<Key, Left> left;
    for (std::size_t i = 0; i < matches.size(); ++i) {
        const Match& m = matches[i];
        if (m.before && m.after) continue;
        const Kernel& k = m.before ? before.rows[*m.before].kernel : after.rows[*m.after].kernel;
        Left& same = left[Key{base_name(k.name.str()), phases ? k.phase.str() : ""}];
        (m.before ? same.before : same.after).push_back(i);
    }
    for (const auto& [key, same] : left) {
        if (key.first.empty() || same.before.size() != 1 || same.after.size() != 1) continue;
        Match& pair = matches[same.before.front()];
        pair.after = std::exchange(matches[same.after.front()].after, std::nullopt);
        pair.by_base_name = true;
    }
    std::erase_if(matches, [](const Match& m) { return !m.before && !m.after; });
}

std::vector<Match> by_name(const Analysis& before, const Analysis& after) {
    const bool phases = phases_agree(before, after);
    auto matches = by_key(before, after, [phases](const Kernel& k) {
        return Key{k.name.str(), phases ? k.phase.str() : ""};
    });
    join_by_base_name(before, after, phases, matches);
    return matches;
}

std::vector<Match> by_order(const Analysis& before, const Analysis& after) {
    std::vector<Match> out;
    for (std::size_t i = 0; i < std::max(before.rows.size(), after.rows.size()); ++i)
        out.push_back({i < before.rows.size() ? std::optional(i) : std::nullopt,
                       i < after.rows.size() ? std::optional(i) : std::nullopt});
    return out;
}

// The last part of a phase "step/conv1" that is a layer of the other side; else the kernel's own name, as models name
// kernels after their layers. The longest range that names a layer is the one whose kernel it is.
std::string layer_of(const Kernel& k, const std::set<std::string>& layers) {
    if (layers.contains(k.name.str())) return k.name.str();
    std::string rest = k.phase.str();
    while (!rest.empty()) {
        const std::size_t slash = rest.rfind('/');
        std::string part = slash == std::string::npos ? rest : rest.substr(slash + 1);
        if (layers.contains(part)) return part;
        rest.resize(slash == std::string::npos ? 0 : slash);
    }
    return k.name.str();
}

std::vector<Match> by_layer(const Analysis& before, const Analysis& after) {
    const auto names = [](const Analysis& a) {
        std::set<std::string> out;
        for (const auto& row : a.rows) out.insert(row.kernel.name.str());
        return out;
    };
    const std::set<std::string> of_before = names(before), of_after = names(after);
    const bool phases = phases_agree(before, after);
    return by_key(before, after, [&](const Kernel& k) {
        std::string layer = layer_of(k, of_after);
        if (layer == k.name.str()) layer = layer_of(k, of_before);
        return Key{std::move(layer), phases ? k.phase.str() : ""};
    });
}

bool is_modelled(const Analysis& a) { return a.origin == Origin::modelled || a.origin == Origin::simulated; }

}  // namespace

std::vector<Match> matched(const Analysis& before, const Analysis& after, MatchBy by) {
    switch (by) {
        case MatchBy::order:
            return by_order(before, after);
        case MatchBy::layer:
            return by_layer(before, after);
        case MatchBy::name:
        case MatchBy::automatic:
            break;
    }
    return by_name(before, after);
}

MatchBy chosen(const Analysis& before, const Analysis& after) {
    if (is_modelled(before) && is_modelled(after)) return MatchBy::layer;
    double paired = 0, all = 0;
    for (const auto& m : by_name(before, after)) {
        const double time =
            (m.before ? time_of(before.rows[*m.before]) : 0) + (m.after ? time_of(after.rows[*m.after]) : 0);
        all += time;
        if (m.before && m.after) paired += time;
    }
    // Half of the time without a partner: names that differ by design (two frameworks, two libraries). Order is then
    // all that is left, and only if it is an order of execution on both sides.
    const bool ordered = before.grouping == Grouping::launch && after.grouping == Grouping::launch;
    return paired >= 0.5 * all || !ordered ? MatchBy::name : MatchBy::order;
}

}  // namespace gambrel::compare_detail
