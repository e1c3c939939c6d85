// What went wrong, where, and what was expected. The library never prints and never exits: it returns Errors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace gambrel {

struct Error {
    std::string where;  // file and path inside it: "h100.json: levels[1].bandwidth"
    std::string what;   // the value found and what was expected
    bool operator==(const Error&) const = default;
};

// A loader reports all faults of its input at once, so the failure of a result is a list, never empty.
using Errors = std::vector<Error>;

template <class T>
using Result = tl::expected<T, Errors>;

inline tl::unexpected<Errors> failure(std::string where, std::string what) {
    return tl::unexpected<Errors>(Errors{Error{std::move(where), std::move(what)}});
}

std::string to_text(const Error& error);
std::string to_text(const Errors& errors);  // one line each

// The candidate nearest to `name` by edit distance without regard to case, or "" if none is near enough to suggest.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);
// "; did you mean \"bandwidth\"?" or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace gambrel
