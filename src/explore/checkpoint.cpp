#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include "explore/search.hpp"

#include "explore/vary_syntax.hpp"

namespace gambrel {
namespace {

using namespace explore_detail;

constexpr std::string_view kFirst = "gambrel-explore-checkpoint-1", kLast = "end";

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
        // Through a merge, so that bins are in order whatever the file says.
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
    return out + fmt::format("{}\n", kLast);
}

Result<Checkpoint> checkpoint_from(std::string_view text, const std::string& source) {
    const auto lines = split(text, '\n');
    if (lines.front() != kFirst)
        return failure(source, fmt::format("does not begin with \"{}\": no checkpoint of gambrel explore", kFirst));
    Checkpoint c;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i] == kLast) return c;
        if (!read_line(lines[i], c))
            return failure(fmt::format("{}: line {}", source, i + 1),
                           fmt::format("\"{}\" is none of a checkpoint's lines", lines[i].substr(0, 80)));
    }
    return failure(source, fmt::format("has no last line \"{}\": it was cut off", kLast));
}

}  // namespace gambrel
