#include <gambrel/base.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace gambrel {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string to_text(const Error& error) {
    return error.where.empty() ? error.what : fmt::format("{}: {}", error.where, error.what);
}

std::string to_text(const Errors& errors) {
    std::string lines;
    for (const auto& error : errors) lines += to_text(error) + "\n";
    return lines;
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
    // A third of the letters wrong is a slip; more is another word, and a wild guess helps nobody.
    std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
    std::string nearest;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best) best = distance, nearest = candidate;
    }
    return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    const std::string nearest = nearest_name(name, candidates);
    return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

}  // namespace gambrel
