// Names of several kernels in one view: those that differ look different.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gambrel/kernel.hpp>

namespace gambrel {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where they begin to differ.
std::size_t first_difference(const std::set<std::string_view>& names) {
    const std::string_view a = *names.begin(), b = *names.rbegin();  // the most different of a sorted set
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
    return at;
}

// The word there; of a word that is too long to stand behind a name, what follows the place.
std::string word_at(std::string_view name, std::size_t at, std::size_t longest) {
    while (at < name.size() && !in_word(name[at])) ++at;
    std::size_t begin = std::min(at, name.size()), end = begin;
    while (end < name.size() && in_word(name[end])) ++end;
    while (begin > 0 && in_word(name[begin - 1])) --begin;
    return std::string(end - begin <= longest ? name.substr(begin, end - begin) : name.substr(at, longest));
}

}  // namespace

std::vector<std::string> short_names(std::span<const std::string_view> full_names, std::size_t width) {
    std::map<std::string_view, std::string> shown;
    std::map<std::string, std::set<std::string_view>> owners;
    for (const std::string_view name : full_names)
        if (shown.try_emplace(name).second) owners[shown[name] = short_name(name, width)].insert(name);
    for (const auto& [text, names] : owners) {
        const std::size_t room = width / 3;
        if (names.size() < 2 || room < 4) continue;
        const std::size_t at = first_difference(names);
        std::set<std::string> taken;
        std::size_t number = 0;
        for (const std::string_view name : names) {
            std::string word = word_at(name, at, room - 1);
            if (word.empty() || !taken.insert(word).second) word = fmt::format("#{}", ++number);
            shown[name] = short_name(name, width - word.size() - 1) + "~" + word;
        }
    }
    std::vector<std::string> out;
    out.reserve(full_names.size());
    for (const std::string_view name : full_names) out.push_back(shown[name]);
    return out;
}

}  // namespace gambrel
