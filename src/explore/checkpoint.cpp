#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include "explore/search.hpp"

#include "explore/vary_syntax.hpp"

namespace gambrel {
namespace {

using namespace explore_detail;

constexpr std::string_view kFirst = "gambrel-explore-checkpoint-2", kLast = "checksum ";

// FNV-1a: against slips and damage, not against malice; faults() looks at what the numbers say.
std::uint64_t checksum(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

template <class T>
bool number(std::string_view text, T& value) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc{} && end == text.data() + text.size();
}

std::string design_text(std::string_view what, const Design& d) {
    return fmt::format("{} {} {} {}\n", what, d.index, d.cost, d.time);
}

bool read_design(const std::vector<std::string_view>& words, Design& d) {
    return words.size() == 4 && number(words[1], d.index) && number(words[2], d.cost) && number(words[3], d.time) &&
           std::isfinite(d.cost) && std::isfinite(d.time) && d.cost > 0 && d.time > 0;
}

bool read_line(std::string_view line, Checkpoint& c) {
    const auto words = split(line, ' ');
    const std::string_view what = words[0];
    SearchResult& f = c.result;
    Design design;
    if (what == "best" || what == "cheapest") {
        if (!read_design(words, design)) return false;
        (what == "best" ? f.best : f.cheapest) = design;
        return true;
    }
    if (what == "bin") {
        if (!read_design(words, design)) return false;
        // Through a merge, so that bins are in order whatever the file holds.
        SearchResult one;
        one.bins.push_back(design);
        f.merge(one);
        return true;
    }
    if (words.size() != 2) return false;
    if (what == "fingerprint") return number(words[1], c.fingerprint);
    if (what == "next") return number(words[1], c.next);
    if (what == "bytes") return number(words[1], c.bytes);
    if (what == "evaluated") return number(words[1], f.evaluated);
    if (what == "kept") return number(words[1], f.kept);
    return false;
}

}  // namespace

std::string to_text(const Checkpoint& c) {
    std::string out = fmt::format("{}\nfingerprint {}\nnext {}\nbytes {}\nevaluated {}\nkept {}\n", kFirst,
                                  c.fingerprint, c.next, c.bytes, c.result.evaluated, c.result.kept);
    if (c.result.best) out += design_text("best", *c.result.best);
    if (c.result.cheapest) out += design_text("cheapest", *c.result.cheapest);
    for (const Design& d : c.result.bins) out += design_text("bin", d);
    return out + fmt::format("{}{:016x}\n", kLast, checksum(out));
}

Result<Checkpoint> checkpoint_from(std::string_view text, const std::string& source) {
    if (!text.starts_with(kFirst))
        return failure(
            source,
            fmt::format("does not begin with \"{}\", so it is not a checkpoint of this gambrel explore", kFirst));
    const auto last = text.rfind(kLast);
    if (last == std::string_view::npos) return failure(source, "has no checksum at its end: it was cut off");
    const std::string_view counted = text.substr(0, last);
    if (text.substr(last) != fmt::format("{}{:016x}\n", kLast, checksum(counted)))
        return failure(source, "does not match its checksum: it was damaged or changed");
    const auto lines = split(counted, '\n');
    Checkpoint c;
    for (std::size_t i = 1; i + 1 < lines.size(); ++i)
        if (!read_line(lines[i], c))
            return failure(fmt::format("{}: line {}", source, i + 1),
                           fmt::format("\"{}\" is not a line of a checkpoint", lines[i].substr(0, 80)));
    return c;
}

Errors faults(const Checkpoint& c, const Exploration& e, const std::string& source) {
    Errors wrong;
    const SearchResult& r = c.result;
    if (c.next > e.parts())
        wrong.push_back({source, fmt::format("counts {} parts of a search that has {}", c.next, e.parts())});
    const auto expected = e.designs_before(std::min(c.next, e.parts()));
    if ((expected && r.evaluated != *expected) || r.kept > r.evaluated || r.bins.empty() != (r.kept == 0) ||
        r.best.has_value() != (r.kept > 0))
        wrong.push_back({source, fmt::format("counts {} designs and {} within the limits, which {} parts cannot have",
                                             r.evaluated, r.kept, c.next)});
    auto scratch = e.evaluator().scratch();
    const auto check = [&](const Design& d, bool as_it_is) {
        if (d.index < e.space().size() && as_it_is) {
            const Factors f = e.space().at(d.index);
            if (d.cost == e.costs()(f) && d.time == e.evaluator().time(f, scratch) && e.within_limits(f, d)) return;
        }
        wrong.push_back({source, fmt::format("holds design {}, which this search cannot have found", d.index)});
    };
    for (const Design& d : r.bins) check(d, true);
    const auto in_bins = [&](const Design& d) { return std::find(r.bins.begin(), r.bins.end(), d) != r.bins.end(); };
    if (r.best) check(*r.best, in_bins(*r.best));
    if (r.cheapest) check(*r.cheapest, e.reaches_target(*r.cheapest));
    return wrong;
}

}  // namespace gambrel
