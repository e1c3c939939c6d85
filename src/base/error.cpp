#include <gambrel/base.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/printable.hpp"

namespace gambrel {
namespace {

using base_detail::printable;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Two neighbours that changed places are one slip of the pen ("predcit").
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), two_above(b.size() + 1);
    const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i - 1]) == lower(b[j - 1]); };
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(two_above, above);
        std::swap(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(i, j) ? 0 : 1)});
            if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// Runs of letters and digits in lower case. Words of one or two letters say too little to compare by.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            words.back() += lower(c);
        else if (!words.back().empty())
            words.emplace_back();
    }
    std::erase_if(words, [](const auto& word) { return word.size() < 3; });
    return words;
}

// "resnet" begins "resnet50": people leave out what they take for granted.
bool share_a_word(std::span<const std::string> a, std::span<const std::string> b) {
    for (const auto& x : a)
        for (const auto& y : b)
            if (x.starts_with(y) || y.starts_with(x)) return true;
    return false;
}

// Equal but for case, or else all that are nearest by edit distance. One wrong letter in four is a slip; more is
// another word, and a wild guess helps nobody.
std::vector<std::string> slips(std::string_view name, std::span<const std::string> candidates) {
    std::size_t best = name.size() < 3 ? 0 : std::max<std::size_t>(1, name.size() / 4);
    std::vector<std::string> near;
    for (const auto& candidate : candidates) {
        const std::size_t longer = std::max(name.size(), candidate.size());
        // No nearer than the difference of their lengths, however long a key a file has.
        if (longer - std::min(name.size(), candidate.size()) > best) continue;
        const std::size_t distance = edit_distance(name, candidate);
        if (distance > best || name.empty()) continue;
        if (distance < best) best = distance, near.clear();
        near.push_back(candidate);
    }
    return near;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The beginning and the end of a long text, cut between characters.
std::string excerpt(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    std::size_t head = most * 2 / 3, tail = text.size() - most / 3;
    while (head > 0 && continues_character(text[head])) --head;
    while (tail < text.size() && continues_character(text[tail])) ++tail;
    return fmt::format("{} ... {}", text.substr(0, head), text.substr(tail));
}

// What an error quotes is the beginning and the end of the input's own text, however long that is: a file of one line
// of binary, a name of a megabyte. The words of the error itself stay whole.
std::string with_short_quotes(std::string_view text) {
    constexpr std::size_t kLongestQuote = 120, kShown = 90;
    std::string out;
    while (true) {
        const std::size_t open = text.find('"');
        const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
        if (close == std::string_view::npos) break;
        const std::string_view quote = text.substr(open + 1, close - open - 1);
        out += text.substr(0, open + 1);
        out += quote.size() > kLongestQuote ? excerpt(quote, kShown) : std::string(quote);
        out += '"';
        text.remove_prefix(close + 1);
    }
    return out += text;
}

}  // namespace

// Errors quote their input, so this is where text of others becomes text for a terminal.
std::string to_text(const Error& error) {
    const std::string what = printable(excerpt(with_short_quotes(error.what), 2000));
    if (error.where.empty()) return what;
    return fmt::format("{}: {}", printable(excerpt(with_short_quotes(error.where), 500)), what);
}

std::string to_text(const Errors& errors) {
    std::string lines;
    for (const auto& error : errors) lines += to_text(error) + "\n";
    return lines;
}

std::vector<std::string> similar_names(std::string_view name, std::span<const std::string> candidates) {
    auto similar = slips(name, candidates);
    if (!similar.empty()) return similar;
    const auto words = words_of(name);
    for (const auto& candidate : candidates)
        if (share_a_word(words, words_of(candidate))) similar.push_back(candidate);
    return similar;
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
    const auto near = slips(name, candidates);
    return near.empty() ? "" : near.front();
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    constexpr std::size_t kShown = 8;
    const auto similar = similar_names(name, candidates);
    if (similar.empty()) return "";
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < std::min(similar.size(), kShown); ++i) {
        const bool last = i + 1 == similar.size();
        text += fmt::format("{}\"{}\"", i == 0 ? "" : last ? " or " : ", ", similar[i]);
    }
    return text + (similar.size() > kShown ? fmt::format(" or one of {} others?", similar.size() - kShown) : "?");
}

}  // namespace gambrel
